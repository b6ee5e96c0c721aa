"""Results to JSON and back: equal to the last bit, names and details included, whatever the numbers are."""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pydine
from pydine.cli import app
from pydine.questions.ranking import RankedColumn, Ranking
from pydine.results import IndependenceTestResult, InformationEstimate, PairwiseInformation, PointwiseInformation

NAMES = st.text(max_size=8)
NUMBERS = st.floats()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text() | arrays.arrays(np.float64, (2, 3)),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=6,
)
DETAILS = st.dictionaries(st.text(), ANYTHING, max_size=4)


@st.composite
def estimates(draw):
    dimensions = draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 3)))
    names = tuple(tuple(draw(st.lists(NAMES, min_size=d, max_size=d))) for d in dimensions)
    return InformationEstimate(
        draw(NUMBERS), draw(NUMBERS), draw(NAMES), draw(st.integers(0)), dimensions, draw(st.integers(0)), names,
        draw(DETAILS), None, draw(st.none() | st.tuples(NUMBERS, NUMBERS)),
        draw(st.just(((), (), ())) | st.just(tuple(("nominal",) * d for d in dimensions))),
        draw(st.tuples(NUMBERS, NUMBERS)),
    )  # fmt: skip


@st.composite
def outcomes(draw):
    null = draw(st.none() | arrays.arrays(np.float64, 5))
    blocks = draw(st.dictionaries(NAMES, NUMBERS, max_size=3))
    return IndependenceTestResult(
        draw(NUMBERS), draw(NUMBERS), draw(estimates()), draw(NUMBERS), draw(NAMES), draw(NAMES), null, blocks
    )


@st.composite
def pointwise(draw):
    n = draw(st.integers(1, 4))
    values, x, y = (draw(arrays.arrays(np.float64, shape)) for shape in (n, (n, 2), (n, 1)))
    observed = (x, y) if draw(st.booleans()) else None
    return PointwiseInformation(values, np.arange(n)[::-1].copy(), (x, y), draw(estimates()), observed)


@st.composite
def pairwise(draw):
    p = draw(st.integers(2, 3))
    kinds = ("values", "standard_errors", "pvalues", "adjusted_pvalues")
    matrices = {kind: draw(arrays.arrays(np.float64, (p, p))) for kind in kinds}
    matrices["errors"] = tuple(draw(arrays.arrays(np.float64, (p, p))) for _ in range(2))
    counts = {"n_samples": 10, "n_dropped": 0, "n_units": p, "n_general": 1}
    bases = np.array(draw(st.lists(st.lists(st.sampled_from(["", "flow", "gaussian"]), min_size=p, max_size=p),
                                   min_size=p, max_size=p)))  # fmt: skip
    given_ = draw(st.just("rest") | st.lists(NAMES, max_size=2).map(tuple))
    names = tuple(draw(st.lists(NAMES, min_size=p, max_size=p)))
    more = {"is_shared": True, "adjustment": "bh", "backend": "polars"}
    return PairwiseInformation(names=names, bases=bases, given=given_, **matrices, **counts, **more)


@st.composite
def rankings(draw):
    columns = draw(st.lists(st.builds(RankedColumn, NAMES, estimates(), estimates(), *[NUMBERS] * 4, st.booleans()),
                            max_size=2))  # fmt: skip
    return Ranking(draw(NAMES), tuple(columns), draw(NUMBERS), 10, 2)


def state(value):
    """All of a result as plain objects whose repr tells them apart: NaN, -0.0, lists and tuples."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tolist()
    if hasattr(value, "to_json"):
        return type(value).__name__, {name: state(item) for name, item in vars(value).items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [state(item) for item in value]
    if hasattr(value, "items"):
        return {repr(key): state(item) for key, item in value.items()}
    return value


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(estimates() | outcomes() | pointwise() | pairwise() | rankings())
@pytest.mark.slow
def test_what_comes_back_is_what_was_written(result):
    text = result.to_json()
    again = type(result).from_json(text)
    assert repr(state(again)) == repr(state(result))
    assert again.to_json() == text
    json.loads(text, parse_constant=pytest.fail)  # strict JSON


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(60)
    x, y = z + rng.standard_normal((2, 60))
    return {"x": x, "y": x + y, "z": z}


@pytest.mark.slow
def test_results_of_every_door(data):
    named = {"x": "x", "y": "y", "z": "z", "data": data}
    mixed = {"x": data["x"], "steps": np.round(data["z"]), "labels": np.where(data["y"] > 0.0, "high", "low")}
    for result in (
        pydine.mutual_information("x", "labels", "steps", data=mixed),
        pydine.pointwise_information("x", "labels", "steps", data=mixed),
        pydine.rank(mixed, "x", progress=False),
        pydine.pairwise_information(mixed),
        pydine.wide_information(data, alpha=1.0),
        pydine.mutual_information(**named),
        pydine.independence_test(**named, n_permutations=19),
        pydine.independence_test(**named, method="analytic"),
        pydine.pointwise_information(**named),
        pydine.pairwise_information(data),
        pydine.mutual_information(data["x"], 2.0 * data["x"]),
    ):
        again = type(result).from_json(result.to_json(indent=2).encode())
        assert repr(again) == repr(result)
        assert result.to_json() == again.to_json()
    assert again.value == math.inf


def test_the_form():
    """What a program in another language reads."""
    result = InformationEstimate(math.inf, math.nan, "gaussian", 9, (1, 1, 0), details={"a": math.nan, "b": (1,)})
    assert json.loads(result.to_json()) == {
        "pydine": "InformationEstimate", "version": 1, "value": "inf", "standard_error": None, "base": "gaussian",
        "n_samples": 9, "dimensions": [1, 1, 0], "n_dropped": 0, "names": [["x"], ["y"], []],
        "details": {"a": {"$float": "nan"}, "b": {"$tuple": [1]}}, "errors": None, "kinds": [[], [], []],
        "entropies": ["inf", "inf"], "degrees_of_freedom": "inf", "sampling": "",
    }  # fmt: skip


@pytest.mark.parametrize("steps", [False, True])
def test_the_command_line_agrees(steps, data, tmp_path, capsys, monkeypatch):
    data = {**data, "x": np.round(data["x"])} if steps else data
    rows = np.column_stack([data[name] for name in data])
    (tmp_path / "d.csv").write_text("x,y,z\n" + "\n".join(",".join(map(repr, row)) for row in rows.tolist()))
    monkeypatch.chdir(tmp_path)
    app.command_line("mi")(["mi", "d.csv", "-x", "x", "-y", "y", "-z", "z", "--json"], standalone_mode=False)
    printed = json.loads(capsys.readouterr().out)
    ours = json.loads(pydine.mutual_information("x", "y", "z", data=data).to_json())
    assert printed["information"] == ours["value"]
    same = set(printed) & set(ours)
    assert {"standard_error", "base", "n_samples", "n_dropped", "kinds"} <= same
    assert {name: printed[name] for name in same} == {name: ours[name] for name in same}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot be read"),
        ("[1]", "names no class"),
        ('{"value": NaN}', "NaN is not valid JSON"),
        ('{"pydine": "Ranking", "version": 1}', "holds a Ranking"),
        (
            '{"pydine": "InformationEstimate", "version": 2}',
            "have version 1 at most, but has 2; install a newer pydine",
        ),
        ('{"pydine": "InformationEstimate", "version": 1, "value": 1}', "does not fit .other fields: standard_error"),
        (b"\xff", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_other_texts_are_refused(text, why):
    with pytest.raises(ValueError, match=rf"^text must .*{why}.*\.$"):
        InformationEstimate.from_json(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [("value", "a"), ("value", True), ("n_samples", 1.5), ("base", 3), ("names", [["x"]]), ("dimensions", 3),
     ("details", {"a": {"$float": "1"}}), ("details", {"a": {"$exec": "1"}}), ("details", {"$array": ["O", [1], [1]]}),
     ("details", [1]), ("color", 1)],
)  # fmt: skip
def test_fields_that_do_not_fit_are_refused(field, value):
    tree = json.loads(InformationEstimate(1.0, 0.1, "gaussian", 9, (1, 1, 0)).to_json())
    with pytest.raises(ValueError, match=r"^text must hold a InformationEstimate that to_json wrote, but does not fit"):
        InformationEstimate.from_json(json.dumps({**tree, field: value}))


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ValueError, match="a result with a object in it cannot be written as JSON"):
        InformationEstimate(1.0, 0.1, "gaussian", 9, (1, 1, 0), details={"a": object()}).to_json()

"""One question, one answer: whichever door it is asked through, however it is put."""

import io
import json
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.cli import app
from pydine.integrations import causal_learn, dowhy, pgmpy, tigramite
from pydine.questions.ranking import rank
from pydine.questions.search import SearchTest, TableTest

CLOSE = {"rel": 1e-9, "abs": 1e-9}
N = 200


def ordinary(rng, dz):
    z = rng.standard_normal((N, dz))
    x, y = rng.standard_normal((2, N)) + 0.8 * z.sum(axis=1)
    return x, y + 0.5 * x, z


def curved(rng, dz):
    z = rng.standard_normal((N, dz))
    x = np.sin(2.0 * z[:, 0]) + rng.standard_normal(N)
    return x, z[:, -1] ** 2 + 0.7 * x**2 + rng.standard_normal(N), z


def tied(rng, dz):
    x, y, z = ordinary(rng, dz)
    return np.round(x), np.round(2.0 * y), np.round(z, 1)


def clustered(rng, dz):
    z, which = rng.standard_normal((N, dz)), rng.integers(0, 3, N)
    x, y = np.array([[0.0, 2.0, 4.0], [0.0, 3.0, -1.0]])[:, which] + 0.5 * rng.standard_normal((2, N))
    return x, y, z


def labels(rng, dz):
    x, y, z = ordinary(rng, dz)
    return (x > 0.0) * 1.0, y, z


def counted(rng, dz):
    x, y, z = ordinary(rng, dz)
    return rng.poisson(np.exp(0.4 * x)) * 1.0, np.where(rng.random(N) < 0.3, 0.0, np.exp(y)), z


def words(rng, dz):
    """Text, with more than two labels, as a side and, with dz = 2, among what is given."""
    x, y, z = ordinary(rng, dz)
    given = [z[:, 0], np.array(["low", "high"])[(z[:, 1] > 0.0) * 1]] if dz == 2 else list(z.T)
    return np.array(["left", "middle", "right"])[np.digitize(x, [-0.7, 0.7])], y, given


def labels_of_both(rng, dz):
    x, y, z = ordinary(rng, dz)
    return np.digitize(x, [-0.5, 0.5]) * 1.0, (y > 0.0) * 1.0, z


def steps_given(rng, dz):
    x, y, z = ordinary(rng, dz)
    return x, y, np.round(z)


def determined(rng, dz):
    _, y, z = ordinary(rng, dz)
    return np.exp(z[:, 0]), y, z


def grouped(rng, dz):
    _, y, z = ordinary(rng, dz)
    return (z[:, 0] > 0.0) * 1.0, y, z


def combined(rng, dz):
    _, y, z = ordinary(rng, dz)
    return z @ np.arange(1.0, dz + 1.0), y, z


def equal(rng, dz):
    x, _, z = ordinary(rng, dz)
    return x, -(x**3), z


QUESTIONS = {
    **{f"ordinary, dz = {dz}": (ordinary, dz) for dz in range(6)},
    **{f"curved, dz = {dz}": (curved, dz) for dz in (1, 3)},
    **{f"tied, dz = {dz}": (tied, dz) for dz in (0, 1, 3)},
    **{f"clustered, dz = {dz}": (clustered, dz) for dz in (0, 2)},
    **{f"labels, dz = {dz}": (labels, dz) for dz in (0, 2)},
    **{f"counts and point masses, dz = {dz}": (counted, dz) for dz in (0, 1)},
    **{f"words, dz = {dz}": (words, dz) for dz in (0, 2)},
    **{f"steps and labels, dz = {dz}": (labels_of_both, dz) for dz in (0, 1)},
    "given steps, dz = 2": (steps_given, 2),
    **{f"z determines x, dz = {dz}": (determined, dz) for dz in (1, 3)},
    "z determines a label, dz = 2": (grouped, 2),
    "a sum of z is x, dz = 2": (combined, 2),
    **{f"x equals y, dz = {dz}": (equal, dz) for dz in (0, 2)},
}


# One of each kind, with as few columns in z as show it, is enough in between; the others are of the whole suite.
QUICK = {
    "ordinary, dz = 0",
    "ordinary, dz = 2",
    "curved, dz = 1",
    "tied, dz = 0",
    "clustered, dz = 0",
    "labels, dz = 0",
    "z determines x, dz = 1",
    "a sum of z is x, dz = 2",
    "x equals y, dz = 0",
}
assert set(QUESTIONS) > QUICK


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in QUESTIONS], scope="module"
)
def asked(request):
    """A frame with the columns x, y, z0, z1, ..., and the names of the latter."""
    make, dz = QUESTIONS[request.param]
    x, y, z = make(np.random.default_rng([7, dz]), dz)
    given = z if isinstance(z, list) else list(z.T)
    names = [f"z{i}" for i in range(dz)]
    return pd.DataFrame({"x": x, "y": y, **dict(zip(names, given, strict=True))}), names


def arguments(asked):
    """The columns of x, y and z, z as a frame or None."""
    frame, given = asked
    return frame["x"], frame["y"], frame[given] if given else None


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        for category in (pydine.TiesWarning, pydine.DeterminedWarning):
            warnings.simplefilter("ignore", category)
        yield


def figures(estimate, pvalue=0.0):
    """A value, its standard error and those downwards and upwards, and a p-value."""
    error = estimate.standard_error
    return (estimate.value, error, *(estimate.errors or (error, error)), pvalue)


def same(told):
    """What figures must be, infinity and NaN included."""
    return pytest.approx(told, **CLOSE, nan_ok=True)


class Told:
    """What the functions say of a question: the estimate by default, that of the Gaussian base, and the test."""

    def __init__(self, asked):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.estimate = pydine.mutual_information(*arguments(asked))
            self.gaussian = pydine.mutual_information(*arguments(asked), base="gaussian")
            self.test = pydine.independence_test(*arguments(asked), method="analytic")

    @property
    def default(self):
        return figures(self.estimate, self.test.pvalue)

    @property
    def plain(self):
        return self.gaussian.value, self.test.pvalue


@pytest.fixture(scope="module")
def told(asked):
    return Told(asked)


def in_pairs(found):
    first = found.values[0, 1], found.standard_errors[0, 1], *(side[0, 1] for side in found.errors)
    return (*first, found.pvalues[0, 1])


def test_the_estimator(asked, told):
    assert figures(pydine.DINE().fit(*arguments(asked)).information_) == same(figures(told.estimate))


def test_the_test_s_own_estimate(told):
    assert figures(told.test.estimate) == same(figures(told.gaussian))


def test_all_pairs_of_these_columns(asked, told):
    frame, given = asked
    assert in_pairs(pydine.pairwise_information(frame, given=given or None)) == same(told.default)


def test_very_many_columns(asked, told):
    """Of columns of numbers, by the Gaussian closed form."""
    frame, given = asked
    if any(kind != "continuous" for kinds in told.estimate.kinds for kind in kinds):
        pytest.skip("columns are not all continuous")
    found = pydine.wide_information(frame, given=given or None, alpha=1.0)
    assert not found.is_shared
    if len(found):
        assert (found.values[0], found.standard_errors[0], found.pvalues[0]) == same(
            (told.gaussian.value, told.gaussian.standard_error, told.test.pvalue)
        )
    else:  # nothing is left of a side
        assert told.plain == (0.0, 1.0)


@pytest.mark.slow
def test_few_pairs_given_others_are_questions_of_their_own():
    """And if they are not, in a larger table, the result says so."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal((N, 2))
    frame = pd.DataFrame(z @ rng.standard_normal((2, 4)) + rng.standard_normal((N, 4)), columns=list("abcd"))
    frame[["z0", "z1"]] = z
    found = pydine.pairwise_information(frame, given=["z0", "z1"])
    estimate = pydine.mutual_information("b", "d", ["z0", "z1"], data=frame)
    result = pydine.independence_test("b", "d", ["z0", "z1"], data=frame, method="analytic")
    assert (found.values[1, 3], found.errors[0][1, 3], found.pvalues[1, 3]) == same(
        (estimate.value, figures(estimate)[2], result.pvalue)
    )
    assert not found.is_shared
    assert pydine.wide_information(frame, given=["z0", "z1"]).is_shared


@pytest.mark.slow
def test_a_table_on_disk(asked, told, tmp_path):
    frame, given = asked
    frame.to_parquet(path := tmp_path / "table.parquet")
    estimate = pydine.mutual_information("x", "y", given or None, data=path)
    result = pydine.independence_test("x", "y", given or None, data=path, method="analytic")
    assert figures(estimate, result.pvalue) == same(told.default)
    assert in_pairs(pydine.pairwise_information(path, given=given or None)) == same(told.default)


@pytest.mark.slow
def test_the_command_line(asked, told, tmp_path, monkeypatch):
    frame, given = asked
    frame.to_csv(path := tmp_path / "table.csv", index=False)
    known = [word for name in given for word in ("-z", name)]

    def said(*command):
        monkeypatch.setattr(sys, "argv", ["pydine", *command, "--json"])
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()), pytest.raises(SystemExit) as end:
            app.main()
        assert not end.value.code
        return json.loads(out.getvalue())

    def number(value):  # JSON has no infinity
        return np.inf if value is None else float(value)

    estimate = said("mi", str(path), "-x", "x", "-y", "y", *known)
    found = (number(estimate[name]) for name in ("information", "low", "high"))
    assert (*found,) == same((told.estimate.value, *told.estimate.confidence_interval(0.95)))
    assert said("test", str(path), "-x", "x", "-y", "y", *known, "--method", "analytic")["pvalue"] == same(
        told.test.pvalue
    )


@pytest.mark.slow
def test_a_ranking(asked, told):
    frame, given = asked
    ranking = rank(frame, "y", ["x", *given])
    (column,) = [column for column in ranking if column.name == "x"]
    if any(other.copy_of for other in ranking):
        pytest.skip("a ranking leaves copies out of the rest, where a single question is given them")
    assert figures(column.given_rest, column.pvalue_given_rest) == same(told.default)


def test_feature_selection(asked, told):
    (frame, given), (x, y, _) = asked, arguments(asked)
    if frame["y"].nunique() == 2 or not pd.api.types.is_numeric_dtype(frame["x"]):
        pytest.skip("scikit-learn's selectors take numbers, and take two values for classes")
    scores, pvalues = pydine.mutual_information_score(x.to_numpy()[:, None], y.to_numpy(), target="numbers")
    alone = told if not given else Told((frame[["x", "y"]], []))
    assert (scores[0], pvalues[0]) == same((alone.estimate.value, alone.test.pvalue))


@pytest.mark.slow
def test_the_selector_s_own_figures():
    """What it says of a feature that it did not select is the answer given those that it did."""
    x, y, z = curved(np.random.default_rng(0), 2)
    X = np.column_stack([x, z, np.random.default_rng(1).standard_normal(N)])
    selector = pydine.ConditionalSelector().fit(X, y)
    for feature in range(X.shape[1]):
        given = X[:, [i for i in selector.selected_ if i != feature]]
        value = pydine.mutual_information(X[:, feature], y, given).value
        pvalue = pydine.independence_test(X[:, feature], y, given, method="analytic").pvalue
        assert (selector.information_[feature], selector.pvalues_[feature]) == pytest.approx((value, pvalue), **CLOSE)


def test_searches(asked, told):
    frame, given = asked
    places = range(2, 2 + len(given))
    for answer in (SearchTest().ask(*arguments(asked)), TableTest(frame).ask_columns(0, 1, places)):
        assert (answer.information, answer.pvalue) == same(told.plain)


def in_numbers(frame):
    """Columns as libraries for causal discovery take them, (n, p), labels by the alphabet; and which are labels."""
    labels = [i for i, name in enumerate(frame) if not pd.api.types.is_numeric_dtype(frame[name])]
    coded = [pd.factorize(frame[name], sort=True)[0] if i in labels else frame[name] for i, name in enumerate(frame)]
    return np.column_stack(coded).astype(float), labels


@pytest.mark.slow
def test_the_adapters(asked, told):
    frame, given = asked
    columns, labels = in_numbers(frame)
    places, told_p = tuple(range(2, columns.shape[1])), same(told.test.pvalue)
    by_name = pgmpy.DineTest(frame)
    by_name("x", "y", given)
    assert (by_name.effect_size_, by_name.p_value_) == same(told.plain)
    assert dowhy.DineTest()(*arguments(asked)) == told_p
    marked = np.zeros(columns.T.shape, dtype=int)
    marked[labels] = 1
    test = tigramite.DineTest(time=False)
    measure = test.get_dependence_measure(columns.T, np.array([0, 1] + [2] * len(given)), marked)
    assert test.get_analytic_significance(measure) == told_p
    if not labels:  # causal-learn has but numbers
        assert causal_learn.DineTest(columns)(0, 1, places) == told_p


def test_ways_to_put_it(asked, told):
    """Sides swapped, columns of z in another order, rows in another order, a column negated."""
    (frame, given), (x, y, z) = asked, arguments(asked)
    rows = np.random.default_rng(5).permutation(N)
    ways = [(y, x, z), (x, y, z if z is None else z[given[::-1]]), arguments((frame.iloc[rows], given))]
    if pd.api.types.is_numeric_dtype(x):
        ways.append((-x, y, z))
    for way in ways:
        again = Told.__new__(Told)
        again.estimate = pydine.mutual_information(*way)
        again.test = pydine.independence_test(*way, method="analytic")
        assert again.default == pytest.approx(told.default, rel=1e-6, abs=1e-8, nan_ok=True)

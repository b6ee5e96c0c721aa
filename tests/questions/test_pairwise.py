"""All pairs of a table: the same as one by one, whatever the container, the jobs and the cache."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pydine
from pydine.inputs.checks import LeftOutWarning
from pydine.nulls.pvalues import adjusted
from pydine.questions.pairwise import pairwise_information

MATRICES = ("values", "standard_errors", "pvalues", "adjusted_pvalues")


def make(n=400):
    rng = np.random.default_rng(0)
    z, a, e, f, g = rng.standard_normal((5, n))
    x = np.sin(2 * z) + 0.5 * a
    return {
        "x": x,
        "near": np.exp(x + 0.5 * e),
        "square": a**2 + 0.4 * f,
        "alone": g,
        "z": z,
        "w": 0.5 * z + rng.standard_normal(n),
    }


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def found(data):
    return pairwise_information(data, "z")


def at(found, x, y):
    return found.names.index(x), found.names.index(y)


def test_shape_of_the_answer(found):
    assert found.names == ("x", "near", "square", "alone", "w")
    for name in MATRICES:
        matrix = getattr(found, name)
        assert matrix.shape == (5, 5)
        np.testing.assert_array_equal(matrix, matrix.T)
        assert np.isnan(np.diag(matrix)).all()
        assert np.isfinite(matrix[np.triu_indices(5, 1)]).all()
    assert set(np.diag(found.bases)) == {""}
    assert found.given == ("z",)
    assert found.n_units == 5
    assert found.n_samples == 400


def test_it_agrees_with_the_single_estimate(found, data):
    """The functions of z that are projected out are those of all columns and not of two, so not to the last digit."""
    for x, y in (("x", "near"), ("x", "alone"), ("near", "w"), ("square", "alone")):
        single = pydine.mutual_information(x, y, "z", data=data)
        assert found.values[at(found, x, y)] == pytest.approx(single.value, abs=0.012)
        assert found.standard_errors[at(found, x, y)] == pytest.approx(single.standard_error, abs=0.005)


def test_it_agrees_with_the_single_test(data):
    """Without z nothing is projected but the mean: the p-values are those of the test itself."""
    found = pairwise_information(data, base="gaussian")
    assert found.n_general == 0
    for x, y in (("x", "near"), ("x", "alone"), ("square", "x"), ("z", "x")):
        single = pydine.independence_test(x, y, data=data, method="analytic")
        assert found.pvalues[at(found, x, y)] == pytest.approx(single.pvalue, rel=1e-9)
        value = single.estimate.value
        assert found.values[at(found, x, y)] == pytest.approx(value, abs=2e-3 + 0.01 * abs(value))


def test_what_is_not_gaussian_is_fitted_by_itself(found, data):
    where = at(found, "x", "square")
    assert found.n_general >= 1
    single = pydine.mutual_information("x", "square", "z", data=data)
    assert found.bases[where] == single.base != "gaussian"
    assert found.values[where] == single.value  # from the same units
    assert found.bases[at(found, "x", "near")] == "gaussian"


def test_every_pair_with_one_base(data):
    some = {name: data[name] for name in ("x", "near", "alone")}
    found = pairwise_information(some, base="student", test=False)
    assert set(found.bases[np.triu_indices(3, 1)]) == {"student"}
    assert found.n_general == 3
    assert np.isnan(found.pvalues).all()
    assert np.isnan(found.adjusted_pvalues).all()
    assert found.values[0, 1] == pydine.mutual_information("x", "near", data=data, base="student").value


@pytest.mark.slow
def test_given_the_rest(data):
    some = {name: data[name] for name in ("x", "near", "z", "w")}
    found = pairwise_information(some, "rest")
    assert found.given == "rest"
    assert found.n_units == 12
    for x, y, rest in (("x", "near", ["z", "w"]), ("near", "z", ["x", "w"])):
        single = pydine.independence_test(x, y, rest, data=data, method="analytic")
        assert found.pvalues[at(found, x, y)] == single.pvalue
    assert found.values[at(found, "x", "near")] == pytest.approx(
        float(pydine.mutual_information("x", "near", ["z", "w"], data=data)), abs=1e-12
    )
    assert set(map(frozenset, found.graph(0.01).edges)) >= {frozenset(("x", "near")), frozenset(("x", "z"))}
    assert not found.graph(0.01).has_edge("near", "w")


@pytest.mark.slow
def test_intervals_of_groups_are_those_of_the_question(data):
    """Several columns have more chance than one: an interval knows how many."""
    found = pairwise_information(data, groups={"one": ["x", "square"], "two": ["near", "alone"]}, base="gaussian")
    assert found.widths == tuple(2 if name in ("one", "two") else 1 for name in found.names)
    asked = pydine.mutual_information(["x", "square"], ["near", "alone"], data=data, base="gaussian")
    table = found.columns()
    row = [set(pair) for pair in zip(table["x"], table["y"], strict=True)].index({"one", "two"})
    assert (table["low"][row], table["high"][row]) == pytest.approx(tuple(asked.confidence_interval()), abs=1e-9)
    assert type(found).from_json(found.to_json()).widths == found.widths


def test_intervals_of_labels_are_those_of_the_question():
    rng = np.random.default_rng(0)
    codes, size = rng.integers(5, size=(2, 300)), rng.standard_normal(300)
    table = {"colour": codes[0].astype(str), "shape": codes[1].astype(str), "size": size}
    found = pairwise_information(table)
    for i, j in ((0, 1), (0, 2)):
        asked = pydine.mutual_information(found.names[i], found.names[j], data=table)
        assert found.terms[i, j] == asked.terms > 1


@pytest.mark.slow
def test_a_group_is_one_variable(data):
    found = pairwise_information(data, groups={"both": ["near", "w"]})
    assert found.names == ("x", "square", "alone", "z", "both")
    assert found.n_units == 6
    for name in ("x", "alone"):
        single = pydine.independence_test(name, ["near", "w"], data=data, method="analytic")
        assert found.pvalues[at(found, name, "both")] == pytest.approx(single.pvalue, rel=1e-9)
    single = pydine.mutual_information("x", ["near", "w"], data=data)
    assert found.bases[at(found, "x", "both")] == single.base
    assert found.values[at(found, "x", "both")] == pytest.approx(single.value, abs=1e-9)
    two = pairwise_information(data, groups={"one": ["x", "square"], "two": ["near", "alone"]}, base="gaussian")
    single = pydine.mutual_information(["x", "square"], ["near", "alone"], data=data, base="gaussian")
    assert two.values[at(two, "one", "two")] == pytest.approx(single.value, abs=1e-9)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.slow
def test_frames_in_frames_out(data, found, kind):
    again = pairwise_information(kind(data), ["z"])
    np.testing.assert_array_equal(again.values, found.values)
    frame, matrix = again.to_frame(), again.to_matrix()
    assert isinstance(frame, kind)
    assert isinstance(matrix, kind)
    columns = ["x", "y", "information", "standard_error", "low", "high", "pvalue", "adjusted_pvalue", "base", "n"]
    assert list(frame.columns) == [*columns, "correlation", "explained"]
    assert len(frame) == 10
    values = np.asarray(frame["information"])
    assert (np.diff(values) <= 0).all()
    assert (np.asarray(frame["low"]) >= 0).all()
    if kind is pd.DataFrame:
        assert matrix.loc["x", "near"] == found.values[0, 1]
        assert list(matrix.index) == list(found.names)
    else:
        assert matrix.columns == ["variable", *found.names]


def test_arrays_go_by_position(data):
    array = np.column_stack(list(data.values()))
    found = pairwise_information(array, [4], base="gaussian", test=False)
    assert found.names == ("column 0", "column 1", "column 2", "column 3", "column 5")


@pytest.mark.slow
def test_neither_jobs_nor_the_cache_change_anything(data, found, tmp_path):
    for options in ({"n_jobs": 2}, {"cache": tmp_path}, {"cache": tmp_path, "n_jobs": 2}):
        again = pairwise_information(data, "z", **options)
        for name in MATRICES:
            np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_the_order_of_columns_does_not_matter_without_z(data):
    backwards = dict(reversed(data.items()))
    one, other = (pairwise_information(d, base="gaussian") for d in (data, backwards))
    np.testing.assert_allclose(other.pvalues[::-1, ::-1], one.pvalues, rtol=1e-9)
    np.testing.assert_allclose(other.values[::-1, ::-1], one.values, atol=1e-9)


@pytest.mark.slow
def test_monotone_maps_change_nothing(data):
    mapped = {name: np.exp(column) if i % 2 else column**3 for i, (name, column) in enumerate(data.items())}
    one, other = (pairwise_information(d, "z", base="gaussian") for d in (data, mapped))
    np.testing.assert_allclose(other.values, one.values, atol=1e-6)


def test_a_copy_has_infinite_information():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 100))
    found = pairwise_information({"a": a, "b": b, "a again": np.exp(a)})
    assert found.values[0, 2] == np.inf
    assert np.isnan(found.standard_errors[0, 2])
    assert 0 < found.pvalues[0, 2] < 1e-9
    assert next(iter(found.to_frame()["x"])) == "a"
    assert "inf nats" in repr(found)
    plt.close(found.plot().figure)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    found = pairwise_information(rng.standard_normal((60, 90)))
    first, second = np.triu_indices(90, 1)
    assert np.abs(found.values[first, second].mean()) < 5e-4  # the bias is taken off
    assert np.mean(found.pvalues[first, second] < 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.slow
def test_a_false_discovery_is_rare():
    rng = np.random.default_rng(1)
    tables = [rng.standard_normal((150, 12)) for _ in range(40)]
    any_found = [np.nanmin(pairwise_information(t, base="gaussian").adjusted_pvalues) <= 0.05 for t in tables]
    assert np.mean(any_found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_adjusted_pvalues():
    pvalues = np.array([0.01, 0.04, 0.03, 0.5])
    np.testing.assert_allclose(adjusted(pvalues, "bh"), [0.04, 0.16 / 3, 0.16 / 3, 0.5])
    np.testing.assert_allclose(adjusted(pvalues, "holm"), [0.04, 0.09, 0.09, 0.5])


def test_holm_is_stricter(data):
    bh, holm = (pairwise_information(data, adjust=a, base="gaussian") for a in ("bh", "holm"))
    pair = np.triu_indices(6, 1)
    assert (holm.adjusted_pvalues[pair] >= bh.adjusted_pvalues[pair]).all()
    assert holm.adjustment == "holm"


def test_rows_with_nan_are_left_out_if_asked_for(data):
    holed = {**data, "x": data["x"].copy()}
    holed["x"][[3, 5]] = np.nan
    with pytest.raises(ValueError, match="nan_policy='omit'"):
        pairwise_information(holed)
    rest = pairwise_information({k: holed[k] for k in ("x", "z", "w")}, "rest", base="gaussian", nan_policy="omit")
    assert (rest.n_samples, rest.n_dropped) == (398, 2)
    assert "(2 rows dropped)" in repr(rest)


@pytest.mark.slow
@pytest.mark.parametrize("given", [None, ["z"]])
def test_every_pair_has_the_rows_that_it_has(data, given):
    rng = np.random.default_rng(5)
    holed = {name: values.copy() for name, values in data.items()}
    for name in ("x", "near", "w"):
        holed[name][rng.random(len(holed[name])) < 0.1] = np.nan
    found = pairwise_information(holed, given, nan_policy="omit")
    assert (found.n_samples, found.n_dropped) == (400, 0)
    for x, y in (("x", "near"), ("x", "alone"), ("square", "alone")):
        both = np.isfinite(holed[x]) & np.isfinite(holed[y])
        cut = {name: values[both] for name, values in data.items() if name in (x, y, "z")}
        alone = pydine.mutual_information(x, y, given, data=cut)
        assert found.counts[at(found, x, y)] == both.sum()
        if found.bases[at(found, x, y)] != "gaussian" or alone.base == "gaussian":
            assert found.values[at(found, x, y)] == pytest.approx(alone.value, abs=0.05)
    assert "n = 3" in repr(found)
    threads = pairwise_information(holed, given, nan_policy="omit", n_jobs=2)
    np.testing.assert_array_equal(threads.values, found.values)
    np.testing.assert_array_equal(threads.pvalues, found.pvalues)


@pytest.mark.slow
def test_complete_tables_are_the_same_to_the_bit_whatever_the_policy(data, found):
    again = pairwise_information(data, "z", nan_policy="omit")
    for name in (*MATRICES, "counts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_groups_with_missing_values(data):
    holed = {**data, "x": np.where(np.arange(400) < 9, np.nan, data["x"])}
    found = pairwise_information(holed, "z", groups={"g": ["x", "w"]}, base="gaussian", nan_policy="omit")
    cut = {name: values[9:] for name, values in data.items()}
    same = pydine.mutual_information(["x", "w"], "near", "z", data=cut, base="gaussian")
    assert found.names == ("near", "square", "alone", "g")
    assert found.counts[at(found, "near", "g")] == 391
    assert found.values[at(found, "near", "g")] == pytest.approx(same.value, rel=1e-9)


def test_pairs_without_rows_in_common_are_named(data):
    first, second = data["x"].copy(), data["w"].copy()
    first[:200], second[195:] = np.nan, np.nan
    with pytest.warns(UserWarning, match="No estimate for x and w, which have too few rows in common"):
        found = pairwise_information({"x": first, "w": second, "z": data["z"]}, base="gaussian", nan_policy="omit")
    i, j = at(found, "x", "w")
    assert np.isnan(found.values[i, j])
    assert (found.pvalues[i, j], found.counts[i, j]) == (1.0, 0)
    assert np.isfinite(found.values[at(found, "x", "z")])


@pytest.mark.parametrize("given", [None, ["b"]])
def test_a_single_variable_is_no_pair_even_with_missing_values(given):
    column = np.append(np.random.default_rng(0).standard_normal(50), np.nan)
    table = {"a": column, **({"b": column[::-1]} if given else {})}
    with pytest.raises(ValueError, match=r"^data must have at least two variables besides what is given, but has 1; "):
        pydine.pairwise_information(table, given, nan_policy="omit")


def test_a_column_that_is_constant_where_another_is_there_tells_nothing(data):
    flag = (np.arange(400) >= 200) * 1.0
    late = np.where(flag == 1.0, data["x"], np.nan)
    with pytest.warns(pydine.DeterminedWarning):
        found = pairwise_information({"flag": flag, "late": late, "z": data["z"]}, nan_policy="omit")
    assert (found.values[0, 1], found.pvalues[0, 1]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"given": "zz"}, "given asks for the column 'zz'.*nearest name is 'z'"),
        ({"groups": {"g": ["x", "oops"]}}, "column 'oops', which data does not have"),
        ({"groups": {"alone": ["x", "w"]}}, "must not have the name of a column, but 'alone'"),
        ({"groups": {"g": ["x", "w"], "h": ["w", "near"]}}, "column 'w' must be in one place only"),
        ({"groups": {"g": ["x", "z"]}, "given": "z"}, "column 'z' must be in one place only, but is in given"),
        ({"given": ["x", "near", "square", "alone", "z"]}, "at least two variables besides what is given, but has 1"),
        ({"adjust": "fdr"}, "adjust must be 'bh' or 'holm', but got 'fdr'"),
        ({"base": "normal"}, "base must be"),
        ({"nan_policy": "drop"}, "nan_policy must be"),
        ({"cache": 1}, "cache must be"),
    ],
)
def test_bad_arguments(data, change, message):
    with pytest.raises(ValueError, match=message):
        pairwise_information(data, **change)


@pytest.mark.slow
def test_bad_columns(data):
    with pytest.warns(LeftOutWarning, match="'flat' of data is constant"):
        assert "flat" not in pairwise_information({**data, "flat": np.ones(400)}).names
    with pytest.warns(pydine.DeterminedWarning, match="a side of x and z copy"):
        found = pairwise_information({**data, "z copy": data["z"] * 2}, "z")
    place = found.names.index("z copy")
    others = [i for i in range(len(found.names)) if i != place]
    assert (found.values[place, others] == 0.0).all()
    assert (found.pvalues[place, others] == 1.0).all()
    without = pairwise_information(data, "z")
    np.testing.assert_allclose(found.values[np.ix_(others, others)], without.values, rtol=1e-12)
    with pytest.raises(ValueError, match="at least 16 rows"):
        pairwise_information({name: column[:12] for name, column in data.items()}, "rest")
    ties = {"x": data["x"], "ties": np.round(data["near"])}
    with pytest.warns(pydine.TiesWarning, match="'ties' of data"):
        pairwise_information(ties, base="gaussian", kinds={"ties": "continuous"})


def test_a_picture(found, data):
    axes = found.plot()
    assert sorted(text.get_text() for text in axes.get_xticklabels()) == sorted(found.names)
    assert len(axes.texts) == 20
    plt.close(axes.figure)
    _, mine = plt.subplots()
    assert found.plot(mine, cluster=False) is mine
    assert [text.get_text() for text in mine.get_yticklabels()] == list(found.names)
    plt.close(mine.figure)


def test_a_graph(found):
    graph = found.graph(0.01)
    assert set(graph) == set(found.names)
    edge = graph.edges["x", "near"]
    assert edge["information"] == edge["weight"] == found.values[at(found, "x", "near")]
    assert edge["adjusted_pvalue"] <= 0.01
    assert not graph.has_edge("x", "alone")
    with pytest.raises(ValueError, match="alpha must be"):
        found.graph(1.5)


def test_a_graph_needs_pvalues(data):
    with pytest.raises(ValueError, match="pass test=True"):
        pairwise_information(data, base="gaussian", test=False).graph()


def test_it_reads_well(found):
    lines = repr(found).splitlines()
    assert lines[0].startswith("10 pairs of 5 variables given z, n = 400, 5 units")
    assert "x; near" in lines[1] or "x; square" in lines[1]


PROGRAM = """
import sys, numpy as np, pydine
rng = np.random.default_rng(0)
z = rng.standard_normal((300, 2))
table = {f"c{i}": np.sin(z @ rng.standard_normal(2)) + rng.standard_normal(300) for i in range(12)}
table |= {"z0": z[:, 0], "z1": z[:, 1]}
cache = pydine.UnitCache(sys.argv[1])
if sys.argv[2] == "killed":
    import os, signal
    keep, count = cache.keep_as, [0]
    def keep_and_die(*args):
        keep(*args)
        count[0] += 1
        if count[0] == 5:
            os.kill(os.getpid(), signal.SIGKILL)
    cache.keep_as = keep_and_die
found = pydine.pairwise_information(table, ["z0", "z1"], cache=cache)
info = cache.info()
print(info.misses, np.nansum(found.values).hex(), np.nansum(np.log(found.pvalues)).hex())
"""


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again(tmp_path):
    """Only what is missing is fitted, and the result is that of a run that nobody disturbed."""

    def start(folder, how):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / folder), how]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    undisturbed = start("one", "whole")
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert start("two", "killed").returncode == -9
    again = start("two", "whole")
    misses, *numbers = again.stdout.split()
    all_units, *expected = undisturbed.stdout.split()
    assert numbers == expected
    assert int(misses) == int(all_units) - 5


def test_progress_is_shown_if_asked_for(data, capfd):
    pairwise_information(data, "z", base="gaussian", progress=True)
    assert "fitting 5 units" in capfd.readouterr().err
    pairwise_information(data, "z", base="gaussian")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("n", [12, 20, 30])
def test_few_rows(n):
    found = pairwise_information(np.random.default_rng(n).standard_normal((n, 4)))
    assert np.isfinite(found.values[np.triu_indices(4, 1)]).all()

"""Frequencies and weights of surveys, at the doors."""

import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.inputs.weights import FrequenciesWarning
from pydine.sampling import Clusters, Weighted, self_weighting
from refusals import refusal


def counted(seed=0):
    """A table of frequencies, and the long table."""
    rng = np.random.default_rng(seed)
    cells = [(a, b, c) for a in "pqr" for b in "uv" for c in range(3)]
    rows = [(*cell, rng.poisson(8.0 + 8.0 * ((cell[0] == "p") == (cell[1] == "u")) + 2.0 * cell[2])) for cell in cells]
    table = pd.DataFrame(rows, columns=["a", "b", "c", "Freq"])
    return table, table.loc[table.index.repeat(table["Freq"])].drop(columns="Freq").reset_index(drop=True)


def figures(estimate):
    return [estimate.value, estimate.standard_error, *estimate.confidence_interval()]


DOORS = {
    "mutual_information": lambda t, **w: figures(pydine.mutual_information("a", "b", "c", data=t, **w)),
    "independence_test": lambda t, **w: [pydine.independence_test("a", "c", "b", data=t, **w).pvalue],
    "pointwise_information": lambda t, **w: np.sort(pydine.pointwise_information("a", "b", data=t, **w).values),
    "pairwise_information": lambda t, **w: np.nan_to_num(pydine.pairwise_information(t, **w).values).ravel(),
    "rank": lambda t, **w: [f for column in pydine.rank(t, "a", **w) for f in figures(column.given_rest)],
    "corr": lambda t, **w: pydine.corr(t, **w).to_numpy().ravel(),
    "compare": lambda t, **w: figures(pydine.compare("b", "c", "a", data=t, **w)),
    "compare_groups": lambda t, **w: figures(pydine.compare_groups("a", "c", data=t, by="b", **w)),
    "interaction": lambda t, **w: figures(pydine.interaction("b", "c", "a", data=t, **w)),
    "synergies": lambda t, **w: figures(next(iter(pydine.synergies(t, "a", **w)))),
    "why": lambda t, **w: [f for step in pydine.why(t, "b", "a", **w).steps for f in figures(step.left)],
    "DINE": lambda t, **w: figures(pydine.DINE().fit("a", "c", data=t, **w).information_),
    "causal_graph": lambda t, **w: [len(pydine.causal_graph(t, **w).edges)],
}


@pytest.mark.parametrize("door", DOORS)
def test_frequencies_are_the_long_table(door):
    table, long = counted()
    np.testing.assert_allclose(DOORS[door](table, weights="Freq"), DOORS[door](long), rtol=0.0, atol=1e-9)


def test_frequencies_of_rows_that_lack_values_and_of_none():
    table, _ = counted()
    table["c"] = table["c"].astype(float)
    table.loc[3, "c"], table.loc[5, "Freq"] = np.nan, 0
    long = table.loc[table.index.repeat(table["Freq"])].drop(columns="Freq").reset_index(drop=True)
    told = pydine.mutual_information("a", "b", "c", data=table, weights="Freq", nan_policy="omit")
    plain = pydine.mutual_information("a", "b", "c", data=long, nan_policy="omit")
    assert figures(told) == figures(plain)
    assert (told.n_samples, told.n_dropped) == (plain.n_samples, plain.n_dropped)
    assert told.sampling == "by frequencies"


def test_rows_of_pointwise_information_are_those_of_the_table():
    table, _ = counted()
    found = pydine.pointwise_information("a", "b", data=table, weights="Freq")
    np.testing.assert_array_equal(np.bincount(found.rows), table["Freq"])


def test_equal_weights_say_nothing():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200))
    plain, told = (pydine.mutual_information(x, x + noise, **k) for k in ({}, {"weights": np.full(200, 0.7)}))
    assert told.value == pytest.approx(plain.value, rel=1e-6)
    assert told.standard_error == pytest.approx(plain.standard_error, rel=0.02)


def test_weights_undo_how_rows_were_drawn():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 40_000))
    y = 0.5 * x + np.sqrt(0.75) * noise
    chance = 0.1 + 1.0 / (1.0 + np.exp(-2.0 * (x + y)))
    rows = rng.choice(len(x), 1500, replace=False, p=chance / chance.sum())
    x, y, weights = x[rows], y[rows], 1.0 / chance[rows]
    truth = -0.5 * np.log(0.75)
    plain, told = pydine.mutual_information(x, y), pydine.mutual_information(x, y, weights=weights)
    assert plain.confidence_interval().high < truth
    assert told.confidence_interval().low < truth < told.confidence_interval().high
    assert told.details["effective_rows"] < 0.8 * 1500
    scaled = pydine.mutual_information(x, y, weights=1e6 * weights)
    assert scaled.value == pytest.approx(told.value, rel=1e-6)


def test_one_answer_at_every_door():
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(2, 300))
    frame = pd.DataFrame({"x": x, "y": x + noise, "w": rng.uniform(0.2, 3.0, 300)})
    alone = figures(pydine.mutual_information("x", "y", data=frame, weights="w"))
    (ranked,) = pydine.rank(frame, "y", weights="w")
    pairs = pydine.pairwise_information(frame, weights="w")
    assert pairs.names == ("x", "y")
    assert figures(ranked.alone) == pytest.approx(alone)
    assert pairs.values[0, 1] == pytest.approx(alone[0])
    assert pairs.standard_errors[0, 1] == pytest.approx(alone[1])


def test_weights_and_clusters():
    rng, who = np.random.default_rng(0), np.repeat(np.arange(60), 5)
    x, noise = rng.normal(size=(2, 300))
    frame = pd.DataFrame({"x": x, "y": x + noise, "w": rng.uniform(0.2, 3.0, 60)[who], "who": who})
    found = pydine.mutual_information("x", "y", data=frame, weights="w", clusters="who")
    assert found.sampling == "60 clusters, by weights"
    assert found.degrees_of_freedom < 59.0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"weights": -np.ones(100)}, "weights must be numbers of at least 0"),
        ({"weights": np.zeros(100)}, "not all 0"),
        ({"weights": np.full(100, np.nan)}, "weights must be numbers"),
        ({"weights": np.ones((100, 2))}, "weights must be one column of numbers, but got 2 columns"),
        ({"weights": ["a"] * 100}, "weights must be one column of numbers, but got text"),
        ({"weights": np.ones(99)}, "one entry per row, 100, but has 99"),
        ({"weights": np.full(100, 1e9)}, "divide them by their mean"),
        ({"weights": np.full(100, 0.5), "time": True}, "weights= and time= without clusters= cannot be used together"),
        ({"weights": np.full(100, 0.5), "clusters": np.arange(100) // 2, "within": "clusters"}, "within="),
    ],
)
def test_refusals(said, words):
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    assert words in refusal(pydine.mutual_information, x, y, **said)


def test_what_may_be_meant_otherwise():
    table, _ = counted()
    with pytest.warns(FrequenciesWarning, match="pass weights='Freq'"):
        pydine.mutual_information("a", "b", data=table)
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    with pytest.warns(FrequenciesWarning, match="divide them by their mean"):
        pydine.mutual_information(x, y, weights=np.full(100, 3))


def test_rows_are_counted_by_weights():
    weights = np.random.default_rng(0).uniform(0.1, 4.0, 1000)
    counts = np.bincount(self_weighting(weights), minlength=1000)
    exact = weights * 1000 / weights.sum()
    assert counts.sum() == 1000
    assert np.abs(counts - exact).max() < 1.0
    low = weights < np.median(weights)
    assert abs(counts[low].sum() - exact[low].sum()) < 1.0


@pytest.mark.parametrize("door", ["mutual_information", "pairwise_information", "compare"])
def test_the_order_of_rows_with_the_same_weight_does_not_matter(door):
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 200))
    strata = rng.integers(0, 3, 200)
    table = pd.DataFrame({"a": a + 0.5 * b, "b": np.exp(b), "c": c, "w": np.array([0.4, 0.9, 2.3])[strata]})
    other = table.sample(frac=1.0, random_state=1).reset_index(drop=True)
    other["b"], other["c"] = -np.log(other["b"]), 3.0 * other["c"]
    found = [DOORS[door](frame, weights="w") for frame in (table, other)]
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-9)


def test_marks_decide_which_row_of_a_weight_is_taken_once_more():
    weights, marks = np.tile([0.4, 1.7], 50), np.random.default_rng(0).permutation(100).astype(np.uint64)
    order = np.random.default_rng(1).permutation(100)
    there, here = self_weighting(weights, marks), order[self_weighting(weights[order], marks[order])]
    np.testing.assert_array_equal(there, np.sort(here))
    assert not np.array_equal(self_weighting(weights), there)


def test_copies_are_a_cluster():
    rows = Weighted(np.repeat(np.arange(50), 2))
    values = np.repeat(np.random.default_rng(0).normal(size=50), 2)
    assert rows.effect(values) == Clusters(rows.codes).effect(values)
    assert rows.effect(values)[0] == pytest.approx(2.0, rel=0.05)
    assert not rows.distinct
    assert rows.only(np.arange(10)).words == "by weights"

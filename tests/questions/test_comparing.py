"""Differences of information: known truths, what rows they share, groups and tables, and what is refused."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import pydine
from pydine import Difference, InformationEstimate

mpl.use("Agg")


def noisy(n=600, seed=0, noises=(1.0, 2.0)):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n)
    return [y + noise * rng.standard_normal(n) for noise in noises], y


def information(noise):
    """Of y with noise about y, in nats."""
    return 0.5 * math.log1p(1.0 / noise**2)


def test_the_interval_has_the_truth_and_the_value_is_that_of_the_estimates():
    (a, b), y = noisy()
    found = pydine.compare(a, b, y)
    truth = information(1.0) - information(2.0)
    low, high = found.confidence_interval(0.999)  # one dataset: what the level is, the benchmark tells
    assert low < truth < high
    assert found.value == pytest.approx(found.first.value - found.second.value)
    assert found.first.value == pydine.mutual_information(a, y).value
    assert found.verdict() == "a tells more"
    assert found.pvalue < 1e-4
    assert found.is_paired


def test_swapping_changes_the_sign_alone():
    (a, b), y = noisy()
    one, other = pydine.compare(a, b, y), pydine.compare(b, a, y)
    assert one.value == -other.value
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6)
    assert one.confidence_interval().low == pytest.approx(-other.confidence_interval().high)


def test_what_rows_have_in_common_cancels():
    """Two noisy copies of one column: their difference is known far better than either."""
    rng = np.random.default_rng(1)
    y, noise = rng.standard_normal((2, 800))
    a = y + noise
    found = pydine.compare(a, a + 0.1 * rng.standard_normal(800), y)
    assert found.correlation > 0.8
    assert found.standard_error < 0.6 * found.first.standard_error


def test_a_column_is_as_good_as_itself():
    (a, _), y = noisy()
    found = pydine.compare(a, a, y)
    assert found.value == 0.0
    assert found.confidence_interval() == pytest.approx((0.0, 0.0), abs=0.01)
    assert found.pvalue > 0.5
    assert found.verdict() == "a and b cannot be told apart"


def test_the_pvalue_is_where_the_interval_ends_at_zero():
    first, second = (InformationEstimate(v, 0.03, "gaussian", 500, (1, 1, 0)) for v in (0.25, 0.2))
    found = Difference(first, second, ("a", "b"), 0.3)
    assert found.confidence_interval(1.0 - found.pvalue).low == pytest.approx(0.0, abs=1e-6)


def test_independent_errors_add_up():
    first, second = (InformationEstimate(v, e, "gaussian", 5000, (1, 1, 0)) for v, e in ((0.9, 0.03), (0.8, 0.04)))
    found = Difference(first, second, ("a", "b"), is_paired=False)
    assert found.standard_error == pytest.approx(0.05)
    low, high = found.confidence_interval()
    assert (low, high) == pytest.approx((0.1 - 1.96 * 0.05, 0.1 + 1.96 * 0.05), abs=0.005)


def test_names_given_and_missing_values():
    (a, b), y = noisy()
    z = np.random.default_rng(2).standard_normal(len(y))
    frame = pd.DataFrame({"a": a + z, "b": b, "y": y + z, "z": z})
    frame.loc[:9, "b"] = np.nan
    found = pydine.compare("a", ["b"], "y", "z", data=frame, nan_policy="omit")
    assert found.labels == ("a", "b")
    assert found.first.names == (("a",), ("y",), ("z",))
    assert found.first.n_samples == found.second.n_samples == len(y) - 10
    with pytest.raises(ValueError, match="NaN"):
        pydine.compare("a", "b", "y", data=frame)


def test_labels_and_numbers():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    label = np.where(rng.random(600) < 0.05, 1 - y, y).astype(str)
    found = pydine.compare(label, y + 2.0 * rng.standard_normal(600), y)
    assert found.verdict() == "a tells more"


def test_groups_and_tables():
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((2, 1200))
    group = np.repeat(["few", "many"], 600)
    y = np.where(group == "many", 2.0, 0.5) * x + noise
    frame = pd.DataFrame({"x": x, "y": y, "group": group})
    found = pydine.compare_groups("x", "y", data=frame, by="group", groups=["many", "few"])
    assert found.labels == ("many", "few")
    assert not found.is_paired
    assert found.correlation == 0.0
    truth = 0.5 * math.log(5.0) - 0.5 * math.log(1.25)
    low, high = found.confidence_interval()
    assert low < truth < high
    assert found.verdict() == "more information in many"
    tables = {"many": frame[600:], "few": frame[:600]}
    assert pydine.compare_groups("x", "y", data=tables).value == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda f: pydine.compare_groups("x", "y", data=f), "data must be two tables"),
        (lambda f: pydine.compare_groups("x", "y", data=f, by="g", groups=["p", "q"]), "groups must be two labels of"),
        (lambda f: pydine.compare_groups("x", "y", data=f, by="three"), "groups must be two labels of 'three'"),
        (
            lambda f: pydine.compare_groups("x", "flat", data=f, by="g"),
            "'flat' must vary, but is constant in group 'a'",
        ),
        (lambda f: pydine.compare("x", "y", "y", data=f), "determine each other"),
        (lambda f: pydine.compare("x", "nope", "y", data=f), "asks for the column 'nope'"),
        (lambda f: pydine.compare(f["x"], f["y"][:50], f["y"]), "must have the same number of rows"),
    ],
)
def test_refusals(ask, says):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 120))
    frame = {"x": x, "y": y, "g": np.repeat(["a", "b"], 60), "three": np.tile(["a", "b", "c"], 40)}
    frame["flat"] = np.where(frame["g"] == "a", 1.0, y)
    with pytest.raises(ValueError, match=says):
        ask(frame)


def test_shown_and_read_back():
    (a, b), y = noisy(200)
    found = pydine.compare(a, b, y)
    assert Difference.from_json(found.to_json()) == found
    assert repr(found).startswith("a - b: ")
    assert "a minus b" in found._repr_html_()
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "difference"]


def test_a_ranking_compares_its_columns():
    (a, b), y = noisy(500)
    c = y + 1.02 * np.random.default_rng(9).standard_normal(500)
    ranking = pydine.rank({"a": a, "b": b, "c": c, "y": y}, "y")
    asked = pydine.compare("a", "b", "y", data={"a": a, "b": b, "y": y})
    assert ranking.compare("a", "b").value == pytest.approx(asked.value)
    assert ranking.compare("a", "b").standard_error == pytest.approx(asked.standard_error)
    assert set(ranking.tied) == {"a", "c"}
    assert ranking.ties in repr(ranking)
    assert ranking.ties in ranking._repr_html_()
    with pytest.raises(ValueError, match="'nope' is not a ranked column"):
        ranking.compare("a", "nope")
    with pytest.raises(ValueError, match="holds no rows to compare"):
        pydine.Ranking.from_json(ranking.to_json()).compare("a", "b")

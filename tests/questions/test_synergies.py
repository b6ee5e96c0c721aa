"""The pairs that tell only together are found among all, whatever kinds they are."""

import matplotlib as mpl
import numpy as np
import pytest

import pydine
from pydine import Synergies
from pydine.nulls.triples import normal_synergy, product_scores

mpl.use("Agg")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.standard_normal(400) for i in range(8)} | {
        f"k{i}": rng.integers(0, 2, 400) for i in range(3)
    }
    noise = 0.5 * rng.standard_normal(400)
    columns["y"] = (2 * columns["k0"] - 1) * columns["c3"] + noise
    return pydine.synergies(columns, "y", most=4)


def test_the_pair_is_found_and_pvalues_are_adjusted_for_all_pairs(found):
    assert found.found() == [("c3", "k0")]
    assert found.n_pairs == 55
    assert len(found) == 4
    first = found.interactions[0]
    assert found.adjusted_pvalues[0] == pytest.approx(55 * first.pvalue)
    assert [pair.value for pair in found] == sorted((pair.value for pair in found), reverse=True)


def test_pairs_are_answered_as_interaction_does(found):
    rng = np.random.default_rng(1)
    a, b, y = rng.standard_normal((3, 200))
    pair = pydine.synergies({"a": a, "b": b, "y": y}, "y").interactions[0]
    assert pair.value == pytest.approx(pydine.interaction(a, b, y).value)


def test_shown_and_read_back(found):
    assert Synergies.from_json(found.to_json()).to_json() == found.to_json()
    assert repr(found).startswith("4 of 55 pairs of columns by their synergy about y")
    assert "c3 and k0" in found._repr_html_()
    assert "about y" in found.plot().get_title()


def test_the_screen_of_correlations_is_the_closed_form():
    rng = np.random.default_rng(2)
    a, b, noise = rng.standard_normal((3, 50_000))
    value = normal_synergy(np.array([a, b]), a + b + noise)[0, 1]
    assert value == pytest.approx(0.5 * np.log(3.0) - np.log(1.5), abs=0.01)


def test_the_screen_of_products_is_a_standard_score_under_independence():
    rng = np.random.default_rng(3)
    columns = [rng.standard_normal((2, 500)) for _ in range(40)]
    scores = product_scores(columns, rng.standard_normal((1, 500)))[np.triu_indices(40, 1)]
    assert scores.mean() == pytest.approx(0.0, abs=0.15)
    assert scores.std() == pytest.approx(1.0, abs=0.15)


def test_refusals():
    x, y = np.random.default_rng(0).standard_normal((2, 50))
    with pytest.raises(ValueError, match="most must be an integer of at least 1, but got 0"):
        pydine.synergies({"x": x, "y": y}, "y", most=0)
    with pytest.raises(ValueError, match="at least two columns to pair besides 'y', but has 1"):
        pydine.synergies({"x": x, "y": y}, "y")

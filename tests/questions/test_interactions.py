"""Interaction information against closed forms: synergy, redundancy, and neither."""

import math

import matplotlib as mpl
import numpy as np
import pytest

import pydine
from pydine import Interaction

mpl.use("Agg")


def normal(share):
    return -0.5 * math.log(1.0 - share)


def test_exclusive_or_is_all_synergy():
    a, b = np.random.default_rng(0).integers(0, 2, (2, 1000))
    found = pydine.interaction(a, b, a ^ b)
    assert found.together.value == pytest.approx(math.log(2.0), abs=0.01)
    assert abs(found.first.value) < 0.01
    assert found.first_beyond.value == pytest.approx(math.log(2.0), abs=0.02)
    assert found.confidence_interval().low > 0.6
    assert "(synergy)" in found.verdict()


@pytest.mark.parametrize("given", [False, True])
def test_a_sum_is_synergy_and_copies_are_redundancy(given):
    rng = np.random.default_rng(1)
    a, b, noise, z = rng.standard_normal((4, 800))
    more = (z,) if given else ()
    shift = z if given else 0.0
    together = pydine.interaction(a + shift, b, a + b + noise + shift, *more)
    low, high = together.confidence_interval()
    assert low < normal(2 / 3) - 2 * normal(1 / 3) < high
    same = pydine.interaction(a + noise, b + noise, noise)
    low, high = same.confidence_interval()
    assert low < normal(2 / 3) - 2 * normal(1 / 2) < high
    assert "(redundancy)" in same.verdict()


def test_a_column_that_tells_nothing_does_not_interact():
    rng = np.random.default_rng(2)
    a, b, noise = rng.standard_normal((3, 500))
    found = pydine.interaction(a, b, a + noise)
    assert found.pvalue > 0.05
    assert "no detectable synergy or redundancy" in found.verdict()


def test_the_value_is_together_less_each_alone_and_sides_swap():
    rng = np.random.default_rng(3)
    a, b, noise = rng.standard_normal((3, 300))
    found, swapped = pydine.interaction(a, b, a + b + noise), pydine.interaction(b, a, a + b + noise)
    assert found.value == pytest.approx(found.together.value - found.first.value - found.second.value)
    assert swapped.value == pytest.approx(found.value, abs=1e-6)
    assert swapped.first_beyond.value == pytest.approx(found.second_beyond.value, abs=1e-6)


def test_shown_and_read_back():
    rng = np.random.default_rng(4)
    a, b, noise = rng.standard_normal((3, 200))
    found = pydine.interaction("a", "b", "sum", data={"a": a, "b": b, "sum": a + b + noise})
    assert Interaction.from_json(found.to_json()).to_json() == found.to_json()
    assert "a and b together" in repr(found)
    assert "<table" in found._repr_html_()
    labels = [label.get_text() for label in found.plot().get_yticklabels()]
    assert labels == [*(name for name, _ in found.parts()), "interaction"]


def test_sides_that_determine_each_other_are_refused():
    a, b = np.random.default_rng(5).standard_normal((2, 200))
    with pytest.raises(ValueError, match="determine each other"):
        pydine.interaction(a, b, a + b)
    with pytest.raises(ValueError, match="must have the same number of rows"):
        pydine.interaction(a, b[:50], a)

"""A number beside codes that begin and end at places of it."""

import numpy as np
import pytest

import pydine
from pydine.bases.kinds.segments import PLACES, bins_of

LOWS, WIDTHS = np.array([0.0, 1.0, 1.5, 3.0]), np.array([1.5, 2.0, 1.0, 2.0])


def windows(seed: int, n: int = 600):
    """A code of four, a number anywhere in the code's window, and the information between them in nats."""
    rng = np.random.default_rng(seed)
    code = rng.integers(4, size=n)
    number = LOWS[code] + WIDTHS[code] * rng.random(n)
    inside = (number >= LOWS[:, None]) & (number <= (LOWS + WIDTHS)[:, None])
    density = (inside / WIDTHS[:, None]).mean(axis=0)
    return code, number, float(np.log(1.0 / WIDTHS[code] / density).mean())


def test_edges_are_met():
    found = []
    for seed in range(4):
        code, number, truth = windows(seed)
        found.append(pydine.mutual_information(code, number).value - truth)
    assert abs(np.mean(found)) < 0.03


@pytest.mark.slow
def test_edges_that_z_moves_are_met():
    found = []
    for seed in range(3):
        code, number, truth = windows(seed, 1500)
        z = np.random.default_rng(100 + seed).standard_normal(1500)
        found.append(pydine.mutual_information(code, number + np.sin(z), z).value - truth)
    assert abs(np.mean(found)) < 0.08


def test_bins_of_the_negative_are_the_other_way_round():
    for n in (100, 255, 510, 511):
        scores = np.random.default_rng(n).integers(0, n, n).astype(float)
        np.testing.assert_array_equal(bins_of(-scores), PLACES - 1 - bins_of(scores))
    assert set(bins_of(np.arange(2550.0))) == set(range(PLACES))


@pytest.mark.slow
def test_the_same_for_labels_of_other_names():
    code, number, _ = windows(5, 300)
    names = np.array(["a", "b", "c", "d"])
    z = np.random.default_rng(6).standard_normal(300)
    first = pydine.mutual_information(names[code], number, z).value
    assert pydine.mutual_information(names[3 - code], number, z).value == first

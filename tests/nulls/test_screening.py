"""The screen for pairs that are not joined by a Gaussian copula."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from pydine.nulls.screening import DEGREE, GRID, LEVEL, _gaussian_moments, not_gaussian


def scores(columns):
    n = columns.shape[1]
    return ndtri((np.argsort(np.argsort(columns, axis=1), axis=1) + 1.0) / (n + 1.0))


def screen(columns, n_pairs=None):
    latents = scores(columns)
    return not_gaussian(latents, np.corrcoef(latents), columns.shape[1] - 1, n_pairs)


@pytest.mark.slow
@pytest.mark.parametrize("r", [-1.0, -0.6, 0.0, 0.3, 0.95, 1.0])
def test_moments_of_a_gaussian_copula(r):
    """Against a large sample."""
    rng = np.random.default_rng(0)
    a, e = rng.standard_normal((2, 400_000))
    u, v = ndtr(a), ndtr(r * a + np.sqrt(1 - r * r) * e)
    means, spreads = _gaussian_moments()
    place = (np.arcsin(r) / np.pi + 0.5) * (2 * GRID - 2)
    low = min(int(place), 2 * GRID - 3)
    for j in range(DEGREE):
        for k in range(DEGREE):
            terms = 2.0 * np.cos(np.pi * (j + 1) * u) * np.cos(np.pi * (k + 1) * v)
            mean = np.interp(place, [low, low + 1], means[j, k, low : low + 2])
            spread = np.interp(place, [low, low + 1], spreads[j, k, low : low + 2])
            assert terms.mean() == pytest.approx(mean, abs=5 * terms.std() / np.sqrt(len(u)) + 2e-3)
            assert terms.std() == pytest.approx(max(spread, 0.0), abs=0.035)


@pytest.mark.parametrize("n", [100, 1000])
def test_gaussian_pairs_pass(n):
    """Of sixty tables of eight correlated columns about LEVEL are found to hold anything."""
    rng = np.random.default_rng(n)
    found = [screen(rng.standard_normal((8, 8)) @ rng.standard_normal((8, n))).any() for _ in range(60)]
    assert np.mean(found) <= LEVEL + 3 * np.sqrt(LEVEL / 60)


def shapes(rng, n):
    x = rng.standard_normal(n)
    angle, scale = rng.uniform(0, 2 * np.pi, n), np.exp(0.8 * rng.standard_normal(n))
    yield "square", x, x**2 + 0.7 * rng.standard_normal(n)
    yield "ring", np.cos(angle) + 0.2 * rng.standard_normal(n), np.sin(angle) + 0.2 * rng.standard_normal(n)
    yield "scale", scale * rng.standard_normal(n), scale * rng.standard_normal(n)
    yield "wave", x, np.sin(3 * x) + 0.4 * rng.standard_normal(n)
    yield "tail", (e := rng.exponential(size=n)) / rng.exponential(size=n), e / rng.exponential(size=n)


@pytest.mark.parametrize("i", range(5))
def test_other_shapes_are_found(i):
    name, x, y = list(shapes(np.random.default_rng(i), 1000))[i]
    rest = np.random.default_rng(9).standard_normal((10, 1000))
    found = screen(np.vstack([x, rest, y]))
    expected = np.zeros((12, 12), dtype=bool)
    expected[0, 11] = expected[11, 0] = True
    np.testing.assert_array_equal(found, expected, err_msg=name)


def test_the_more_pairs_the_higher_the_bar():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(150)
    weak = np.vstack([x, 0.35 * x**2 + rng.standard_normal(150)])
    assert screen(weak).any()
    assert not screen(weak, n_pairs=10**6).any()

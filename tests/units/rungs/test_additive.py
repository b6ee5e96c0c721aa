"""The additive rung: what it sees of the context."""

import numpy as np
from scipy.stats import kstest, norm

from pydine.units.rungs.additive import additive, with_radius


def test_orthonormal_under_a_normal_distribution():
    """Integrated over a grid of normal quantiles."""
    grid = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    expanded = additive(grid[None])
    np.testing.assert_allclose(expanded @ expanded.T / 20_000, np.eye(3), atol=0.01)


def test_radius():
    """Near standard normal where the columns are; one column is its own."""
    context = np.random.default_rng(0).standard_normal((5, 5000))
    radius = with_radius(context)[5]
    assert np.argmax(radius) == np.argmax((context**2).sum(axis=0))
    assert kstest(radius, "norm").statistic < 0.05
    np.testing.assert_array_equal(with_radius(context[:1]), context[:1])

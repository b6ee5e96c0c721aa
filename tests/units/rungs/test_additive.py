"""The additive rung: what it sees of the context."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

from pydine.units.rungs.linear import additive, with_radius


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


def test_columns_are_hermite_polynomials():
    context = np.random.default_rng(1).standard_normal((1, 20))
    line, bend, twist = additive(context)
    np.testing.assert_array_equal(line, context[0])
    np.testing.assert_allclose(bend, (context[0] ** 2 - 1.0) / np.sqrt(2.0))
    np.testing.assert_allclose(twist, (context[0] ** 3 - 3.0 * context[0]) / np.sqrt(6.0))


@pytest.mark.parametrize("c", [0, 1, 3])
def test_columns_do_not_depend_on_the_number_of_rows(c):
    """Rows are expanded block by block, and a block may be empty, as that of rows far out."""
    context = np.random.default_rng(0).standard_normal((c, 5))
    whole = additive(context)
    for rows in (slice(0), slice(1), slice(2, 5)):
        np.testing.assert_array_equal(additive(context[:, rows]), whole[:, rows])

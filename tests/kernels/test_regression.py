"""Small linear algebra of our own, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.kernels.regression import largest_eigenvector, ridge, weighted_moments


class TestRidge:
    @pytest.mark.parametrize("n", [3, 40, 501])
    @pytest.mark.parametrize("c", [1, 2, 3, 4, 5, 9, 30])
    def test_against_numpy(self, c, n):
        rng = np.random.default_rng([c, n])
        x, penalty = rng.standard_normal((c, n)), rng.uniform(0.5, 20.0, c)
        t = 2.0 * x[0] + rng.standard_normal(n)
        slopes, deviation = ridge(t, x, penalty)
        expected = np.linalg.solve(x @ x.T + np.diag(penalty), x @ t)
        np.testing.assert_allclose(slopes, expected, rtol=1e-10, atol=1e-11)
        assert deviation == pytest.approx((t - expected @ x).std(), rel=1e-10)

    def test_columns_that_repeat(self):
        """The penalty shares the slope between them."""
        rng = np.random.default_rng(0)
        a = rng.standard_normal(100)
        t = 3.0 * a + 0.1 * rng.standard_normal(100)
        slopes, deviation = ridge(t, np.array([a, a, a]), np.full(3, 1e-3))
        np.testing.assert_allclose(slopes, slopes.mean(), rtol=1e-6)
        assert slopes.sum() == pytest.approx(3.0, abs=0.05)
        assert deviation == pytest.approx(0.1, rel=0.3)

    def test_a_column_of_nothing(self):
        t, x = np.arange(5.0), np.zeros((2, 5))
        slopes, deviation = ridge(t, x, np.ones(2))
        np.testing.assert_array_equal(slopes, 0.0)
        assert deviation == pytest.approx(np.std(t), rel=1e-15)

    def test_mirrored_with_its_target(self):
        rng = np.random.default_rng(1)
        t, x = rng.standard_normal(77), rng.standard_normal((3, 77))
        slopes, deviation = ridge(t, x, np.ones(3))
        mirrored, same = ridge(-t, x, np.ones(3))
        np.testing.assert_array_equal(mirrored, -slopes)
        assert same == deviation


def test_weighted_moments():
    rng = np.random.default_rng(0)
    for c in (1, 2, 5):
        x, weights = rng.standard_normal((c, 83)), rng.standard_normal(83)
        moments = weighted_moments(x, weights)
        np.testing.assert_allclose(moments, (x * weights) @ x.T / 83, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(moments, moments.T)


class TestLargestEigenvector:
    @settings(deadline=None, max_examples=60)
    @given(seed=st.integers(0, 10**6), c=st.integers(1, 20))
    def test_against_numpy(self, seed, c):
        rng = np.random.default_rng(seed)
        half = rng.standard_normal((c, c))
        matrix = half + half.T
        values, vectors = np.linalg.eigh(matrix)
        first, second = np.argsort(-np.abs(values))[[0, min(1, c - 1)]]
        found = largest_eigenvector(matrix)
        assert np.linalg.norm(found) == pytest.approx(1.0, rel=1e-12)
        assert found[np.argmax(np.abs(found))] > 0.0
        np.testing.assert_allclose(matrix @ found, values[first] * found, atol=1e-9 * abs(values[first]))
        gap = abs(values[first]) - abs(values[second])
        if c == 1 or gap > 1e-3 * abs(values[first]):
            assert abs(found @ vectors[:, first]) == pytest.approx(1.0, abs=1e-9)

    @pytest.mark.parametrize("values", [[3.0, 1.0, 0.0], [-3.0, 1.0, 2.0]])
    def test_farthest_from_zero(self, values):
        """Of a negative eigenvalue too; on the diagonal there is nothing to turn."""
        np.testing.assert_array_equal(largest_eigenvector(np.diag(values)), [1.0, 0.0, 0.0])

    def test_nothing_at_all(self):
        np.testing.assert_array_equal(largest_eigenvector(np.zeros((3, 3))), [1.0, 0.0, 0.0])

    def test_the_matrix_is_left_alone(self):
        matrix = np.array([[1.0, 0.5], [0.5, 2.0]])
        largest_eigenvector(matrix)
        np.testing.assert_array_equal(matrix, [[1.0, 0.5], [0.5, 2.0]])

"""Quantiles of the normal distribution, rank scores, and tails of mixtures, against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, logsumexp, ndtri, ndtri_exp
from scipy.stats import norm

from pydine.kernels.normal import add_log_tail, add_tails, log_quantiles, normal_quantile, quantiles, rank_scores


def quantiles_of(lower, upper):
    out = np.empty(len(lower))
    quantiles(lower, upper, out)
    return out


class TestQuantiles:
    def test_against_scipy(self):
        p = np.concatenate([np.logspace(-300, np.log10(0.5), 20_001), np.linspace(1e-3, 0.5, 20_001)])
        expected = ndtri(p)
        np.testing.assert_allclose(quantiles_of(p, 1.0 - p), expected, rtol=2e-14, atol=2e-15)
        np.testing.assert_allclose(quantiles_of(1.0 - p, p), -expected, rtol=2e-14, atol=2e-15)

    @settings(deadline=None, max_examples=100)
    @given(p=st.floats(1e-300, 0.5, exclude_max=True))
    def test_antisymmetric_to_the_bit(self, p):
        low, high = np.array([p]), np.array([1.0 - p])
        assert quantiles_of(low, high)[0] == -quantiles_of(high, low)[0]

    def test_never_on_the_wrong_side(self):
        half = np.array([0.5, np.nextafter(0.5, 0.0), 0.5 - 1e-14])
        found = quantiles_of(half, 1.0 - half)
        assert found[0] == 0.0
        assert (found <= 0.0).all()

    def test_tails_that_underflow_are_finite(self):
        zero, one = np.zeros(1), np.ones(1)
        assert quantiles_of(zero, one)[0] == pytest.approx(ndtri(1e-300), rel=1e-12)
        assert quantiles_of(one, zero)[0] == -quantiles_of(zero, one)[0]

    def test_probabilities_of_any_shape(self):
        p = np.random.default_rng(0).uniform(1e-6, 1.0 - 1e-6, (4, 25))
        found = normal_quantile(p)
        assert found.shape == p.shape
        np.testing.assert_allclose(found, ndtri(p), rtol=1e-9, atol=1e-14)
        np.testing.assert_array_equal(normal_quantile(p[:, ::2]), found[:, ::2])


class TestLogQuantiles:
    def test_against_scipy(self):
        """Both ways: SciPy's inverse is itself exact to twelve digits only, its logarithm of a tail to all."""
        log_p = -np.logspace(2, 17, 5001)
        found = log_quantiles(log_p)
        np.testing.assert_allclose(found, ndtri_exp(log_p), rtol=2e-12)
        np.testing.assert_allclose(log_ndtr(found), log_p, rtol=2e-15)

    def test_they_meet_the_others(self):
        """Where both work."""
        log_p = np.linspace(-690.0, -100.0, 2001)
        p = np.exp(log_p)
        np.testing.assert_allclose(log_quantiles(np.log(p)), quantiles_of(p, np.ones(len(p))), rtol=1e-14)

    def test_in_order(self):
        assert (np.diff(log_quantiles(-np.logspace(2, 18, 20_001))) < 0.0).all()


class TestRankScores:
    @pytest.mark.parametrize("n", [1, 2, 3, 10, 11, 500, 4001])
    def test_against_scipy(self, n):
        table = rank_scores(n)
        assert len(table) == 2 * n + 2
        assert table[0] == -np.inf
        np.testing.assert_allclose(table[1:], ndtri(np.arange(1, 2 * n + 2) / (2 * n + 2)), rtol=2e-13, atol=1e-15)

    @pytest.mark.parametrize("n", [1, 2, 10, 11, 4001])
    def test_antisymmetric_to_the_bit(self, n):
        table = rank_scores(n)[1:]
        np.testing.assert_array_equal(table, -table[::-1])
        assert table[n] == 0.0  # the middle
        assert (np.diff(table) > 0.0).all()

    def test_a_table_cannot_be_changed(self):
        """It is shared."""
        assert rank_scores(12) is rank_scores(12)
        with pytest.raises(ValueError, match="read-only"):
            rank_scores(12)[3] = 0.0


def mixture(seed, k=3, n=40, spread=3.0):
    """Weights that sum to 1 over components, and standardised distances, shapes (k, n)."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), n).T.copy(), spread * rng.standard_normal((k, n))


class TestTails:
    @pytest.mark.parametrize("seed", range(3))
    def test_against_scipy(self, seed):
        shares, z = mixture(seed)
        lower, upper = np.zeros(40), np.zeros(40)
        add_tails(1.0, shares, z, lower, upper)
        np.testing.assert_allclose(lower, (shares * norm.cdf(z)).sum(axis=0), rtol=1e-13)
        np.testing.assert_allclose(upper, (shares * norm.sf(z)).sum(axis=0), rtol=1e-13)
        np.testing.assert_allclose(lower + upper, 1.0, rtol=0, atol=1e-14)

    def test_neither_is_rounded_to_one(self):
        """30 standard deviations out, each tail by itself."""
        shares, z = np.ones((1, 2)), np.array([[-30.0, 30.0]])
        lower, upper = np.zeros(2), np.zeros(2)
        add_tails(1.0, shares, z, lower, upper)
        np.testing.assert_allclose([lower[0], upper[1]], norm.sf(30.0), rtol=1e-12)
        assert (lower[0], upper[0]) == (upper[1], lower[1])

    def test_they_add_up_by_weight(self):
        """What is there already stays, as in a mixture of models."""
        shares, z = np.ones((1, 2)), np.array([[-1.3, 0.4]])
        lower, upper = np.array([0.1, 0.2]), np.array([0.3, 0.0])
        add_tails(0.25, shares, z, lower, upper)
        np.testing.assert_allclose(lower, np.array([0.1, 0.2]) + 0.25 * norm.cdf(z[0]), rtol=1e-14)
        np.testing.assert_allclose(upper, np.array([0.3, 0.0]) + 0.25 * norm.sf(z[0]), rtol=1e-14)


class TestLogTails:
    @pytest.mark.parametrize("side", [1, -1])
    @pytest.mark.parametrize("spread", [1.0, 10.0, 1e4])
    def test_against_scipy(self, side, spread):
        """Two models of a mixture, from the middle to where a tail underflows."""
        total, expected = np.full(40, -np.inf), []
        for weight, seed in ((0.25, 0), (0.75, 1)):
            shares, z = mixture(seed, spread=spread)
            add_log_tail(weight, shares, z, side, total)
            expected.append(logsumexp(log_ndtr(side * z), b=weight * shares, axis=0))
        np.testing.assert_allclose(total, np.logaddexp(*expected), rtol=1e-12, atol=1e-15)

    def test_nothing_is_too_far(self):
        total = np.full(2, -np.inf)
        add_log_tail(1.0, np.ones((1, 2)), np.array([[-1e140, -1e300]]), 1, total)
        assert np.isfinite(total).all()
        assert total[0] == pytest.approx(-0.5e280)

    def test_a_component_without_weight(self):
        total = np.full(1, -np.inf)
        add_log_tail(1.0, np.array([[0.0], [1.0]]), np.array([[-3.0], [-2.0]]), 1, total)
        assert total[0] == pytest.approx(log_ndtr(-2.0), rel=1e-14)

"""Mixtures of models by their log-densities, against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import norm

from pydine.kernels.mixing import (
    logarithm,
    mixture_log_density,
    mixture_moments,
    mixture_weights,
    smooth_step,
    total,
)


def mixture_log_likelihood(log_densities, weights):
    return logsumexp(log_densities, b=np.asarray(weights)[:, None], axis=0).sum()


class TestMixtureWeights:
    @settings(deadline=None, max_examples=40)
    @given(
        seed=st.integers(0, 10**6),
        models=st.integers(1, 5),
        n=st.integers(5, 200),
        spread=st.sampled_from([0.3, 2, 30]),
    )
    def test_no_other_weights_are_better(self, seed, models, n, spread):
        rng = np.random.default_rng(seed)
        log_densities = spread * rng.standard_normal((models, n)) - 3.0
        weights = mixture_weights(log_densities)
        assert weights.shape == (models,)
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        reached = mixture_log_likelihood(log_densities, weights)
        others = [*rng.dirichlet(np.ones(models), 20), *np.eye(models)]
        # EM ends where another step hardly moves: near-flat likelihoods are climbed to within a fifth of a nat in all.
        assert reached >= max(mixture_log_likelihood(log_densities, w) for w in others) - 0.2

    def test_against_scipy(self):
        rng = np.random.default_rng(1)
        target = np.where(rng.random(400) < 0.3, -2.0, 1.0) + 0.7 * rng.standard_normal(400)
        log_densities = np.array([norm.logpdf(target, m, 0.7) for m in (-2.0, 1.0, 4.0)])
        theirs = minimize(
            lambda w: -mixture_log_likelihood(log_densities, w),
            np.full(3, 1 / 3),
            bounds=[(1e-9, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        )
        np.testing.assert_allclose(mixture_weights(log_densities), theirs.x, atol=5e-3)
        assert mixture_weights(log_densities)[0] == pytest.approx(0.3, abs=0.06)

    def test_a_model_that_is_better_everywhere_takes_all(self):
        log_densities = np.array([np.full(50, -1.0), np.full(50, -3.0), np.full(50, -900.0)])
        np.testing.assert_allclose(mixture_weights(log_densities), [1.0, 0.0, 0.0], atol=1e-3)

    def test_densities_that_underflow(self):
        log_densities = np.array([np.full(20, -5000.0), np.full(20, -5001.0)])
        np.testing.assert_allclose(mixture_weights(log_densities), [1.0, 0.0], atol=1e-3)


class TestMixtureLogDensity:
    @settings(deadline=None, max_examples=60)
    @given(
        seed=st.integers(0, 10**6),
        models=st.integers(1, 6),
        n=st.integers(1, 50),
        spread=st.sampled_from([0.1, 3.0, 300.0, 1e5]),
    )
    def test_against_scipy(self, seed, models, n, spread):
        rng = np.random.default_rng(seed)
        log_densities, weights = spread * rng.standard_normal((models, n)), rng.dirichlet(np.ones(models))
        expected = logsumexp(log_densities, b=weights[:, None], axis=0)
        np.testing.assert_allclose(mixture_log_density(log_densities, weights), expected, rtol=1e-13, atol=1e-13)

    def test_one_model_is_itself(self):
        rows = np.array([[-800.0, -1.0, 3.0]])
        np.testing.assert_array_equal(mixture_log_density(rows, np.ones(1)), rows[0])

    def test_models_without_weight_do_not_count(self):
        rows = np.array([[-1.0, -2.0], [50.0, 60.0], [-3.0, -9.0]])
        found, counted = (mixture_log_density(rows, np.array([0.5, 0.0, 0.5])), rows[[0, 2]])
        np.testing.assert_array_equal(found, mixture_log_density(counted, np.array([0.5, 0.5])))

    def test_rows_without_a_density_stay_so(self):
        found = mixture_log_density(np.array([[np.nan, -1.0], [np.nan, -1.0]]), np.array([0.5, 0.5]))
        assert np.isnan(found[0])
        assert found[1] == pytest.approx(-1.0, abs=1e-15)


@pytest.mark.parametrize("k", [1, 2, 8])
def test_moments(k):
    rng = np.random.default_rng(k)
    logits, means, log_scales = rng.standard_normal((3, k)) * [[30.0], [2.0], [1.0]]
    w = softmax(logits)
    mean = w @ means
    variance = w @ (np.exp(2.0 * log_scales) + means**2) - mean**2
    assert mixture_moments(logits, means, log_scales) == pytest.approx((mean, variance), rel=1e-12)


def test_total_and_logarithm():
    values = np.random.default_rng(0).standard_normal(1003)
    assert total(values) == pytest.approx(np.sum(values.astype(np.longdouble)), abs=1e-12)
    assert total(np.empty(0)) == 0.0
    assert logarithm(0.3) == pytest.approx(np.log(0.3), rel=1e-15)


class TestSmoothStep:
    @pytest.mark.parametrize(("low", "high"), [(1.5, 4.5), (-1.0, 1.0), (0.03, 0.17)])
    def test_from_zero_to_one(self, low, high):
        values = np.linspace(low - 1.0, high + 1.0, 5001)
        steps = np.array([smooth_step(value, low, high) for value in values])
        assert (steps[values <= low] == 0.0).all()
        assert (steps[values >= high] == 1.0).all()
        assert (np.diff(steps) >= 0.0).all()
        assert smooth_step(0.5 * (low + high), low, high) == pytest.approx(0.5, abs=1e-12)
        # As far below the middle as above it, and without a jump or a kink.
        np.testing.assert_allclose(steps + steps[::-1], 1.0, atol=1e-12)
        slopes = np.diff(steps) / np.diff(values)
        assert slopes.max() < 1.51 / (high - low)
        assert np.abs(np.diff(slopes)).max() < 6.1 / (high - low) ** 2 * (values[1] - values[0])

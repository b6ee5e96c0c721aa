"""A fitted unit: its density and its latents, and what it promises."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import log_ndtr
from scipy.stats import norm

from pydine.units.ladder import fit_ladder
from pydine.units.unit import MARGINAL, ROWS_AT_ONCE
from unit_data import SETTINGS, linear_data, sine_data


class TestFittedUnit:
    @pytest.mark.parametrize("x", [-2.0, -0.3, 1.1])
    def test_density_integrates_to_one(self, sine, linear, x):
        grid = np.linspace(-15.0, 15.0, 100_001)
        for unit, c in ((sine, 1), (linear, 2)):
            density = np.exp(unit.log_density(grid, np.full((c, len(grid)), x)))
            assert trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)

    def test_density_is_the_slope_of_the_latent(self, sine):
        """Change of variables: p(t | x) = phi(u) du/dt."""
        target, context = sine_data(200, seed=5)
        step = 1e-5
        ends = [sine.latent(target + s * step, context) for s in (1, -1)]
        u = sine.latent(target, context)
        expected = norm.logpdf(u) + np.log((ends[0] - ends[1]) / (2 * step))
        np.testing.assert_allclose(sine.log_density(target, context), expected, atol=1e-3)

    def test_latent_is_the_mixture_over_models(self, sine):
        """Each model by itself, put together by weight."""
        target, context = sine_data(100, seed=5)
        cdf = sine.marginal_weight * norm.cdf(target)
        for weight, model in zip(sine.weights, sine.models, strict=True):
            alone = replace(sine, models=(model,), weights=np.ones(1), marginal_weight=0.0)
            cdf = cdf + weight * np.exp(log_ndtr(alone.latent(target, context)))
        np.testing.assert_allclose(norm.cdf(sine.latent(target, context)), cdf, rtol=1e-9, atol=1e-12)

    def test_features(self, sine, linear):
        for unit, context in ((sine, sine_data(50, 3)[1]), (linear, linear_data(50, 3)[1])):
            features = unit.features(context)
            assert [f.shape for f in features] == [(50, m.network.n_features) for m in unit.models]
            assert np.isfinite(np.hstack(features)).all()
            np.testing.assert_allclose(np.hstack(unit.features(context[:, :7])), np.hstack(features)[:7], atol=1e-12)

    def test_features_say_what_was_learned(self, sine):
        """A regression on them explains a sine that no line does."""
        context = sine_data(500, seed=3)[1]
        x = 6.0 * norm.cdf(context[0]) - 3.0
        features = np.column_stack([np.ones(500), *sine.features(context)])
        fitted = features @ np.linalg.lstsq(features, np.sin(2.0 * x))[0]
        assert np.corrcoef(fitted, np.sin(2.0 * x))[0, 1] ** 2 > 0.9

    def test_no_models_no_features(self):
        assert MARGINAL.features(np.zeros((2, 9))) == []

    def test_more_rows_than_are_worked_on_at_once(self, linear):
        target, context = linear_data(500)
        times = ROWS_AT_ONCE // 500 + 2
        latents = linear.latent(np.tile(target, times), np.tile(context, times))
        densities = linear.log_density(np.tile(target, times), np.tile(context, times))
        np.testing.assert_array_equal(latents, np.tile(linear.latent(target, context), times))
        np.testing.assert_allclose(densities, np.tile(linear.log_density(target, context), times), rtol=1e-5, atol=1e-5)

    def test_far_out(self, sine):
        """30 standard deviations and further: finite, in order, whatever the context."""
        target = np.array([-1e6, -300.0, -30.0, 0.0, 30.0, 300.0, 1e6])
        for x in (-30.0, 0.0, 30.0):
            latents = sine.latent(target, np.full((1, 7), x))
            assert np.isfinite(latents).all()
            assert (np.diff(latents) > 0).all()

    def test_pickles(self, sine):
        target, context = sine_data(50)
        again = pickle.loads(pickle.dumps(sine))
        np.testing.assert_array_equal(again.latent(target, context), sine.latent(target, context))

    @pytest.mark.parametrize("n", [600, 250])
    def test_of_one_fold(self, n):
        """The folds' mixtures are whole ones, and their average is the unit's: densities show it."""
        target, context = sine_data(n)
        unit = fit_ladder(target, context, SETTINGS)
        folds = 3
        parts = [unit.of_fold(i, folds) for i in range(folds)]
        for part in parts:
            assert len(part.models) == len(unit.models) // folds
            assert part.weights.sum() + part.marginal_weight == pytest.approx(1.0, abs=1e-12)
            assert (part.sign, part.rung_weights) == (unit.sign, unit.rung_weights)
        density = np.mean([np.exp(part.log_density(target, context)) for part in parts], axis=0)
        np.testing.assert_allclose(np.log(density), unit.log_density(target, context), atol=1e-9)

    def test_one_fold_of_a_unit_without_models(self):
        assert MARGINAL.of_fold(2, 3).models == ()
        assert MARGINAL.of_fold(2, 3).marginal_weight == 1.0

    def test_a_unit_of_the_negated_target(self, sine):
        """Its density is the same at negated rows, and its latents are negated."""
        target, context = sine_data(50)
        mirror = replace(sine, sign=-sine.sign)
        np.testing.assert_array_equal(mirror.latent(-target, context), -sine.latent(target, context))
        np.testing.assert_array_equal(mirror.log_density(-target, context), sine.log_density(target, context))

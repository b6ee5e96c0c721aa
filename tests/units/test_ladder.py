"""The ladder: what is fitted, what held-out rows are told, and that the arguments alone count."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest, norm

from pydine.units.ladder import (
    LadderSettings,
    cross_fit_ladder,
    fit_folds,
    fit_ladder,
    held_out_likelihood,
)
from unit_data import SETTINGS, linear_data, product_data, scores, sine_data


def tied_data(n=600, seed=0):
    """A target of two values; two columns of the context have the same ranks, so sums of sizes are often equal."""
    rng = np.random.default_rng(seed)
    context = np.array([scores(column) for column in rng.standard_normal((2, n))])
    return scores((np.sin(2.0 * context[0]) + rng.standard_normal(n) > 0).astype(float)), context


class TestWhatIsFitted:
    def test_no_context_no_model(self):
        unit = fit_ladder(linear_data()[0], np.empty((0, 600)), SETTINGS)
        t = np.array([-3.0, 0.0, 2.0])
        np.testing.assert_allclose(unit.latent(t, np.empty((0, 3))), t, atol=1e-12)
        np.testing.assert_allclose(unit.log_density(t, np.empty((0, 3))), norm.logpdf(t), rtol=1e-5)
        assert unit.nonlinear_weight == 0.0

    def test_weights_are_shares(self, sine, linear):
        for unit in (sine, linear):
            assert len(unit.weights) == len(unit.models)
            assert (unit.weights > 0).all()
            assert unit.weights.sum() + unit.marginal_weight == pytest.approx(1.0, abs=1e-12)
            assert sum(unit.rung_weights.values()) == pytest.approx(1.0, abs=1e-12)
            assert unit.rung_weights.get("marginal", 0.0) == pytest.approx(unit.marginal_weight)

    def test_linear_data_need_no_network(self):
        shares = [fit_ladder(*linear_data(seed=seed), SETTINGS).nonlinear_weight for seed in range(6)]
        assert np.median(shares) < 0.05
        assert np.mean(shares) < 0.2

    def test_independent_data_need_nothing(self):
        rng = np.random.default_rng(0)
        shares = [
            fit_ladder(scores(rng.standard_normal(500)), rng.standard_normal((2, 500)), SETTINGS).nonlinear_weight
            for _ in range(6)
        ]
        assert np.mean(shares) < 0.2

    def test_a_sine_needs_more_than_a_line(self, sine):
        assert sine.nonlinear_weight > 0.8

    def test_a_product_is_found(self):
        unit = fit_ladder(*product_data(), SETTINGS)
        assert unit.nonlinear_weight > 0.8

    @pytest.mark.parametrize("data", [sine_data, product_data])
    def test_held_out_likelihood_beats_the_linear_model(self, data):
        """New rows; against the Gaussian with a linear mean, which here is next to no better than no model."""
        target, context = data()
        unit = fit_ladder(target, context, SETTINGS)
        new_target, new_context = data(seed=1)
        design, new_design = (np.column_stack([np.ones(c.shape[1]), *c]) for c in (context, new_context))
        slopes = np.linalg.lstsq(design, target)[0]
        scale = (target - design @ slopes).std()
        line = norm.logpdf(new_target, new_design @ slopes, scale).mean()
        assert unit.log_density(new_target, new_context).mean() > line + 0.3

    def test_on_linear_data_it_does_not_lose_to_the_linear_model(self, linear):
        target, context = linear_data()
        new_target, new_context = linear_data(2000, seed=1)
        slopes = np.linalg.lstsq(context.T, target)[0]
        scale = (target - slopes @ context).std()
        line = norm.logpdf(new_target, slopes @ new_context, scale).mean()
        assert linear.log_density(new_target, new_context).mean() > line - 0.01

    def test_scales_are_learned(self):
        """The mean is the same everywhere, the spread is not."""
        rng = np.random.default_rng(0)
        context = rng.standard_normal((1, 1000))
        target = scores(np.exp(0.8 * context[0]) * rng.standard_normal(1000))
        unit = fit_ladder(target, context, SETTINGS)
        gain = unit.log_density(target, context) - norm.logpdf(target)
        assert gain.mean() > 0.1
        squares = unit.latent(target, context) ** 2
        assert abs(np.corrcoef(squares, context[0])[0, 1]) < 0.08
        assert np.corrcoef(target**2, context[0])[0, 1] > 0.3

    @pytest.mark.parametrize("data", [sine_data, linear_data, product_data])
    def test_latents_of_new_rows_are_standard_normal_and_free_of_the_context(self, data):
        target, context = data(3000)
        unit = fit_ladder(target[:1500], np.ascontiguousarray(context[:, :1500]), SETTINGS)
        target, context = target[1500:], context[:, 1500:]
        latents = unit.latent(target, context)
        assert kstest(latents, "norm").pvalue > 1e-3
        for function in (*context, *context**2, np.sin(2.5 * context[0])):
            assert abs(np.corrcoef(latents, function)[0, 1]) < 0.1

    def test_no_networks_when_none_are_wanted(self):
        unit = fit_ladder(*sine_data(), LadderSettings(networks=0))
        assert "network" not in unit.rung_weights
        assert all(not model.network.hidden for model in unit.models)


class TestHeldOut:
    def test_the_unit_is_the_same(self, sine):
        target, context = sine_data()
        unit, _ = cross_fit_ladder(target, context, SETTINGS)
        np.testing.assert_array_equal(unit.weights, sine.weights)
        np.testing.assert_array_equal(unit.latent(target, context), sine.latent(target, context))

    @pytest.mark.parametrize("data", [sine_data, product_data])
    def test_rows_that_were_seen_are_predicted_better(self, data):
        target, context = data(300)
        unit, held_out = cross_fit_ladder(target, context, SETTINGS)
        new = unit.log_density(*data(3000, seed=1)).mean()
        assert held_out.mean() < unit.log_density(target, context).mean()
        assert held_out.mean() == pytest.approx(new, abs=0.15)

    @pytest.mark.parametrize("n", [300, 1300])
    def test_no_row_is_predicted_by_what_has_seen_it(self, n):
        """Move one row far off: models of the folds that hold it out are the same to the bit, all others differ.

        The row is the farthest out before as after, so that all rows stay in their folds.
        """
        target, context = sine_data(n)
        row, settings = np.lexsort((np.abs(context[0]), np.abs(target)))[-1], replace(SETTINGS, networks=0)
        moved = target.copy()
        moved[row] *= 2.0
        before, after = (fit_folds(t, context, settings) for t in (target, moved))
        assert (before.names, before.sign) == (after.names, after.sign)
        assert len(before.names) > 1
        held_out = 0
        for rows, one, other in zip(before.rows, before.models, after.models, strict=True):
            same = all(np.array_equal(a.theta, b.theta) for a, b in zip(one, other, strict=True))
            assert same == (row in rows)
            held_out += row in rows
        assert held_out == 1

    def test_the_mean_for_tuning(self):
        target, context = sine_data(300)
        _, held_out = cross_fit_ladder(target, context, SETTINGS)
        assert held_out_likelihood(target, context, SETTINGS, {}) == pytest.approx(held_out.mean(), abs=1e-12)

    def test_shared_rungs_change_nothing(self):
        """With those of another network in hand, the likelihood is the same to the last bit."""
        target, context = sine_data(300)
        shared = {}
        held_out_likelihood(target, context, LadderSettings(hidden_units=3), shared)
        assert {name for _, name in shared} <= {"linear", "additive"}
        assert {fold for fold, _ in shared} == {0, 1, 2}
        again = held_out_likelihood(target, context, LadderSettings(hidden_units=8), shared)
        assert again == held_out_likelihood(target, context, LadderSettings(hidden_units=8), {})

    def test_without_context(self):
        target = linear_data()[0]
        unit, held_out = cross_fit_ladder(target, np.empty((0, 600)), SETTINGS)
        np.testing.assert_allclose(held_out, norm.logpdf(target), rtol=1e-5)
        assert unit.models == ()
        likelihood = held_out_likelihood(target, np.empty((0, 600)), SETTINGS, {})
        assert likelihood == pytest.approx(norm.logpdf(target).mean(), rel=1e-5)

    def test_rows_beyond_the_most(self):
        """They were seen by no model, so the unit itself predicts them; the others have to do with two thirds of it."""
        target, context = sine_data(900)
        unit, held_out = cross_fit_ladder(target, context, LadderSettings(max_rows=300))
        assert (held_out == unit.log_density(target, context)).sum() == 600
        assert np.isfinite(held_out).all()


class TestOnlyTheArgumentsCount:
    def test_the_same_arguments_the_same_bits(self):
        target, context = sine_data(300)
        first = fit_ladder(target, context, SETTINGS)
        fit_ladder(*linear_data(200), SETTINGS)  # something else in between
        second = fit_ladder(target.copy(), context.copy(), SETTINGS)
        np.testing.assert_array_equal(first.weights, second.weights)
        np.testing.assert_array_equal(first.latent(target, context), second.latent(target, context))

    def test_threads(self):
        data = [sine_data(300, seed) for seed in range(3)] + [linear_data(200)]
        alone = [fit_ladder(*d, SETTINGS).latent(*d) for d in data]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda d: fit_ladder(*d, SETTINGS).latent(*d), data))
        for a, b in zip(alone, together, strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize("make", [sine_data, product_data, tied_data])
    def test_the_order_of_rows_does_not_count(self, make):
        """To the bit, with ties too: rows are dealt to folds, and learned from, in an order of their own."""
        target, context = make(300)
        unit, held_out = cross_fit_ladder(target, context, SETTINGS)
        for seed in range(3):
            rows = np.random.default_rng(seed).permutation(300)
            moved = target[rows], np.ascontiguousarray(context[:, rows])
            again, again_held_out = cross_fit_ladder(*moved, SETTINGS)
            assert again.rung_weights == unit.rung_weights
            np.testing.assert_array_equal(again.weights, unit.weights)
            np.testing.assert_array_equal(again.latent(*moved), unit.latent(target, context)[rows])
            np.testing.assert_array_equal(again_held_out, held_out[rows])

    @pytest.mark.parametrize("make", [sine_data, product_data, tied_data])
    def test_a_negated_target_is_mirrored(self, make):
        target, context = make(300)
        unit, held_out = cross_fit_ladder(target, context, SETTINGS)
        mirror, mirror_held_out = cross_fit_ladder(-target, context, SETTINGS)
        assert mirror.sign == -unit.sign
        assert mirror.rung_weights == unit.rung_weights
        np.testing.assert_array_equal(mirror.latent(-target, context), -unit.latent(target, context))
        np.testing.assert_array_equal(mirror_held_out, held_out)

    def test_inputs_and_global_generator_are_left_alone(self):
        target, context = sine_data(300)
        before = target.copy(), context.copy()
        np.random.seed(20241)  # noqa: NPY002 (the generator that must not be touched, where no one else has set it)
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        fit_ladder(target, context, SETTINGS)
        np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
        np.testing.assert_array_equal(target, before[0])
        np.testing.assert_array_equal(context, before[1])

    def test_rows_beyond_the_most_are_not_learned_from(self):
        """As many models as ever, but from fewer rows: they differ from those of all rows, and fit nearly as well."""
        target, context = sine_data(2000)
        few = fit_ladder(target, context, LadderSettings(max_rows=500))
        every = fit_ladder(target, context, LadderSettings(max_rows=2000))
        new = sine_data(1000, seed=1)
        difference = every.log_density(*new).mean() - few.log_density(*new).mean()
        assert difference != 0.0
        assert abs(difference) < 0.1

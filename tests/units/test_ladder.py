"""The ladder: what is fitted where, by held-out likelihood, and what a fitted unit promises."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp
from scipy.stats import kstest, norm

from pydine.latents.scores import ScoreMap
from pydine.units import ladder
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder, held_out_likelihood, mixture_weights
from pydine.units.unit import ROWS_AT_ONCE, additive, identity, quadratic, with_radius

SETTINGS = LadderSettings(networks=2, hidden_units=6, iterations=60, seed=0)


def scores(column):
    return ScoreMap.fit(column)[1]


def linear_data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    return scores(0.6 * context[0] - 0.5 * context[1] + 0.6 * rng.standard_normal(n)), context


def sine_data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, n)
    return scores(np.sin(2.0 * x) + 0.2 * rng.standard_normal(n)), norm.ppf(x[None] / 6.0 + 0.5)


def product_data(n=900, seed=0):
    """The product of two context columns: no column of them alone tells anything of the target's mean."""
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    return scores(context[0] * context[1] + 0.3 * rng.standard_normal(n)), context


@pytest.fixture(scope="module")
def sine():
    return fit_ladder(*sine_data(), SETTINGS)


@pytest.fixture(scope="module")
def linear():
    return fit_ladder(*linear_data(), SETTINGS)


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
        # EM ends where another step hardly moves: near-flat likelihoods are climbed to within a tenth of a nat in all.
        assert reached >= max(mixture_log_likelihood(log_densities, w) for w in others) - 0.1

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


class TestExpansions:
    def test_columns_of_the_context_come_first(self):
        context = np.random.default_rng(0).standard_normal((3, 20))
        for expansion in (identity, with_radius, additive, quadratic):
            np.testing.assert_array_equal(expansion(context)[:3], context)

    def test_orthonormal_under_a_normal_distribution(self):
        """Integrated over a grid of normal quantiles."""
        grid = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
        expanded = additive(grid[None])
        np.testing.assert_allclose(expanded @ expanded.T / 20_000, np.eye(3), atol=0.01)

    def test_products_of_every_two(self):
        context = np.random.default_rng(0).standard_normal((3, 20))
        a, b, c = context
        rows = quadratic(context)
        assert len(rows) == len(additive(context)) + 3
        for product in (a * b, a * c, b * c):
            assert np.isclose(rows, product).all(axis=1).any()

    def test_radius(self):
        """Near standard normal where the columns are; one column is its own."""
        context = np.random.default_rng(0).standard_normal((5, 5000))
        radius = with_radius(context)[5]
        assert np.argmax(radius) == np.argmax((context**2).sum(axis=0))
        assert kstest(radius, "norm").statistic < 0.05
        np.testing.assert_array_equal(with_radius(context[:1]), context[:1])


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


def index_data(n=500, seed=0, *, bump=False):
    """Eight columns that act through one combination of them, which rises or only bends."""
    rng = np.random.default_rng([seed, 8])
    context = rng.standard_normal((8, n))
    index = np.full(8, np.sqrt(1 / 8)) @ context
    location = np.exp(-2.0 * index**2) if bump else np.tanh(2.0 * index) + np.exp(-2.0 * (index - 0.5) ** 2)
    return scores(3.0 * location + rng.standard_normal(n)), context


class TestIndexNetworks:
    @pytest.mark.parametrize("bump", [False, True])
    def test_few_rows_are_enough_for_one_direction(self, bump):
        """New rows are followed better than with none of them, and nearly all of the way along the true direction."""
        target, context = index_data(bump=bump)
        unit = fit_ladder(target, context, SETTINGS)
        assert unit.rung_weights.get("index", 0.0) + unit.rung_weights.get("curved index", 0.0) > 0.3
        new_target, new_context = index_data(3000, seed=1, bump=bump)
        plain = fit_ladder(target, context, replace(SETTINGS, networks=0))
        gain = unit.log_density(new_target, new_context) - plain.log_density(new_target, new_context)
        assert gain.mean() > 0.05

    def test_a_target_that_only_bends_may_need_the_second_start(self):
        weights = [fit_ladder(*index_data(seed=s, bump=True), SETTINGS).rung_weights for s in range(3)]
        assert max(w.get("curved index", 0.0) for w in weights) > 0.3

    def test_where_a_line_is_enough_they_are_refused(self):
        names = ("index", "curved index")
        shares = [
            sum(fit_ladder(*linear_data(seed=seed), SETTINGS).rung_weights.get(name, 0.0) for name in names)
            for seed in range(6)
        ]
        assert np.median(shares) == 0.0
        assert np.mean(shares) < 0.1


def ring_data(n=1000, seed=0):
    """One of two places that are equally likely, or nearly: no two Gaussians follow both ends of a ring."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(1.0, 0.1, n)
    return radius * np.cos(angle), radius * np.sin(angle)


class TestWhatTheFirstFoldDecides:
    def test_rungs_that_others_have_taken_over_are_left_out(self):
        """The second of three rungs is right on all rows, or two of them each on one half."""
        rng = np.random.default_rng(0)
        target = rng.standard_normal((2, 500))
        sharp = norm.logpdf(target[0], scale=1.0) + norm.logpdf(target[1], scale=1.0)
        blunt = [norm.logpdf(target[0], scale=s) + norm.logpdf(target[1], scale=s) for s in (5.0, 3.0, 2.0)]
        densities = [blunt[0], blunt[1], sharp, blunt[2]]
        assert ladder._needed(densities, ladder._mixture_likelihood(densities)) == [0, 1]  # the plainest stays
        halves = [np.where(np.arange(500) < 250, sharp, -9.0), np.where(np.arange(500) < 250, -9.0, sharp)]
        densities = [blunt[0], halves[0], halves[1], blunt[2]]
        assert set(ladder._needed(densities, ladder._mixture_likelihood(densities))) >= {0, 1}

    def test_networks_train_no_longer_than_held_out_rows_ask_for(self, monkeypatch):
        asked, search = [], ladder.maximise

        def spy(*arguments):
            found = search(*arguments)
            network, watched, most = len(arguments[2]) > 2, len(arguments[8]) > 0, arguments[10]
            if network:
                asked.append((watched, most, found[2]))
            return found

        monkeypatch.setattr(ladder, "maximise", spy)
        fit_ladder(*sine_data(), replace(SETTINGS, iterations=150))
        first, later = ([row for row in asked if row[0] == watched] for watched in (True, False))
        allowed = {steps for _, _, steps in first}
        assert {most for _, most, _ in first} == {150}
        assert {most for _, most, _ in later} <= allowed
        assert len(later) >= 2
        assert min(allowed) < 150


class TestWideNetworks:
    def test_they_follow_what_others_cannot(self):
        """New rows of a ring, mapped by the scores of those that were fitted."""
        (x, y), (new_x, new_y) = ring_data(), ring_data(3000, seed=1)
        (x_map, x_scores), (y_map, y_scores) = ScoreMap.fit(x), ScoreMap.fit(y)
        units = [fit_ladder(y_scores, x_scores[None], LadderSettings(wide_networks=wide)) for wide in (0, 2)]
        plain, wide = (unit.log_density(y_map(new_y), x_map(new_x)[None]).mean() for unit in units)
        assert wide > plain + 0.01
        assert "wide" not in units[0].rung_weights
        assert units[1].rung_weights["wide"] > 0.2
        widths = {(model.network.hidden, model.network.components) for model in units[1].models}
        assert ((16,), 8) in widths

    def test_where_a_line_is_enough_they_are_refused(self):
        shares = [
            fit_ladder(*linear_data(seed=seed), LadderSettings(wide_networks=2)).rung_weights.get("wide", 0.0)
            for seed in range(4)
        ]
        assert max(shares) < 0.1


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

    def test_no_row_is_predicted_by_what_has_seen_it(self):
        """Move one row far off: models of its fold's rows do not learn from it, those of the other rows do.

        The weights of the mixture follow from the other rows' densities, so a little of it comes back.
        """
        target, context = sine_data(300)
        moved = target.copy()
        moved[17] += 3.0
        (fold,) = (f for f in np.array_split(np.random.default_rng(0).permutation(300), 3) if 17 in f)
        before, after = (cross_fit_ladder(t, context, SETTINGS)[1] for t in (target, moved))
        change = np.abs(after - before)
        assert np.median(change[fold]) < 0.01
        assert np.median(np.delete(change, fold)) > 0.1
        assert after[17] < before[17] - 10.0

    def test_the_mean_for_tuning(self):
        target, context = sine_data(300)
        _, held_out = cross_fit_ladder(target, context, SETTINGS)
        assert held_out_likelihood(target, context, SETTINGS, {}) == pytest.approx(held_out.mean(), abs=1e-12)

    def test_shared_rungs_change_nothing(self):
        """With those of another network in hand, the likelihood is the same to the last bit."""
        target, context = sine_data(300)
        shared = {}
        held_out_likelihood(target, context, LadderSettings(hidden_units=3), shared)
        assert {name for _, name in shared} <= {"linear", "additive", "quadratic"}
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

    def test_the_seed_counts(self):
        target, context = sine_data(300)
        first = fit_ladder(target, context, SETTINGS).latent(target, context)
        other = fit_ladder(target, context, LadderSettings(networks=2, hidden_units=6, iterations=60, seed=1))
        difference = np.abs(first - other.latent(target, context))
        assert 0.0 < np.median(difference) < 0.3

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
            alone = type(sine)((model,), np.ones(1), 0.0, {"network": 1.0})
            cdf = cdf + weight * np.exp(log_ndtr(alone.latent(target, context)))
        np.testing.assert_allclose(norm.cdf(sine.latent(target, context)), cdf, rtol=1e-9, atol=1e-12)

    def test_features(self, sine, linear):
        for unit, context in ((sine, sine_data(50, 3)[1]), (linear, linear_data(50, 3)[1])):
            features = unit.features(context)
            assert [f.shape for f in features] == [(50, 1 + sum(m.network.hidden)) for m in unit.models]
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
        unit = fit_ladder(linear_data()[0], np.empty((0, 600)), SETTINGS)
        assert unit.features(np.zeros((2, 9))) == []

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

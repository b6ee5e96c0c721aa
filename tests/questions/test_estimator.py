"""`DINE` and `mutual_information`: scikit-learn's contract, known truths, invariances, and what they leave alone."""

import copy
import pickle

import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info

from pydine import DINE, InformationEstimate, TiesWarning, mutual_information
from pydine.answers.policy import DeterminedWarning
from pydine.baselines.gaussian import gaussian_copula
from pydine.inputs.checks import SPARE_ROWS
from refusals import refusal

# Both algorithms have to keep these promises; the second is quick enough on few rows.
ESTIMATORS = {"default": DINE, "paper": lambda **changes: DINE.paper(**{"max_iter": 60, **changes})}


def gaussian(n, d, rho, seed=0):
    """Columns of x and y that pair up with a correlation of rho; -0.5 d ln(1 - rho^2) nats."""
    x, e = np.random.default_rng(seed).standard_normal((2, n, d))
    return x, rho * x + np.sqrt(1.0 - rho * rho) * e


def curved(n, rho, seed=0):
    """z moves location and scale of both sides along curves; given z there are -0.5 ln(1 - rho^2) nats."""
    (a, e), z = np.random.default_rng(seed).standard_normal((2, n)), np.random.default_rng(seed + 1).uniform(-2, 2, n)
    b = rho * a + np.sqrt(1.0 - rho * rho) * e
    x = 2.0 * np.sin(2.0 * z) + np.exp(0.5 * np.cos(3.0 * z)) * a
    y = 2.0 * np.cos(2.0 * z) + np.exp(0.5 * np.sin(2.0 * z)) * b
    return x, y, z


def truth(d, rho):
    return -0.5 * d * np.log(1.0 - rho * rho)


@pytest.fixture(scope="module")
def small():
    """x in two columns, y in one, z in two, 150 rows, with effects of every kind between them."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((150, 2))
    x = rng.standard_normal((150, 2)) + np.sin(2.0 * z)
    y = x[:, :1] + np.exp(0.3 * z[:, :1]) * rng.standard_normal((150, 1))
    return x, y, z


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request, small):
    return ESTIMATORS[request.param]().fit(*small)


class TestScikitLearn:
    def test_parameters(self):
        model = DINE(n_folds=4, random_state=3)
        assert model.get_params()["n_folds"] == 4
        assert model.set_params(hidden_units=5) is model
        assert model.get_params()["hidden_units"] == 5
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(hidden=5)
        assert DINE.paper().get_params().keys() == DINE().get_params().keys()

    def test_parameters_are_kept_as_given_and_checked_in_fit(self):
        """What scikit-learn needs to clone: nothing is converted or refused before `fit`."""
        strange = object()
        assert DINE(base=strange).base is strange

    def test_clone(self, fitted, small):
        twin = clone(fitted)
        assert twin.get_params() == fitted.get_params()
        assert not hasattr(twin, "information_")
        assert twin.fit(*small).information_ == fitted.information_

    def test_repr(self):
        assert repr(DINE()) == "DINE()"
        assert repr(DINE(n_folds=5)) == "DINE(n_folds=5)"
        assert "algorithm='paper'" in repr(DINE.paper())

    @pytest.mark.parametrize("method", ["transform", "score", "pointwise"])
    def test_before_fit(self, method, small):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(DINE(), method)(*small)

    def test_fit_returns_itself(self, small):
        model = DINE()
        assert model.fit(*small) is model
        assert model.n_features_in_ == 2

    def test_fitting_again_forgets(self, small):
        x, y, z = small
        again = DINE().fit(x, y, z).fit(x, y)
        assert again.information_ == DINE().fit(x, y).information_
        assert again.information_.dimensions == (2, 1, 0)

    def test_information(self, fitted):
        estimate = fitted.information_
        assert isinstance(estimate, InformationEstimate)
        assert np.isfinite(estimate.value)
        assert estimate.standard_error > 0
        assert estimate.base == "gaussian"
        assert (estimate.n_samples, estimate.dimensions, estimate.n_dropped) == (150, (2, 1, 2), 0)
        low, high = estimate.confidence_interval()
        assert low <= max(0.0, estimate.value) <= high

    @pytest.mark.slow
    def test_the_function_is_the_estimator(self, small):
        assert mutual_information(*small) == DINE().fit(*small).information_
        assert mutual_information(*small, random_state=5) == DINE(random_state=5).fit(*small).information_

    def test_inputs_are_left_alone(self, small):
        before = [block.copy() for block in small]
        for make in ESTIMATORS.values():
            model = make().fit(*small)
            model.transform(*small)
            model.score(*small)
            model.pointwise(*small)
        for now, then in zip(small, before, strict=True):
            np.testing.assert_array_equal(now, then)


class TestTransform:
    def test_shapes(self, fitted, small):
        x, y = fitted.transform(*small)
        assert x.shape == (150, 2)
        assert y.shape == (150, 1)
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()

    def test_x_alone(self, fitted, small):
        """Latents of x are those of x given z, whatever y is."""
        x, _, z = small
        np.testing.assert_array_equal(fitted.transform(x, z=z), fitted.transform(*small)[0])
        with pytest.raises(ValueError, match=r"z must have 2 column\(s\), as in fit, but has 0"):
            fitted.transform(x)

    def test_y_is_needed_to_fit(self, small):
        with pytest.raises(ValueError, match="DINE requires y to be passed, but the target y is None"):
            DINE().fit(small[0], None)

    def test_latents_of_the_sample_give_the_cross_product(self, fitted, small):
        latents = np.hstack(fitted.transform(*small))
        np.testing.assert_allclose(latents.T @ latents, fitted.flow_.cross_product, rtol=1e-5, atol=1e-5 * 150)

    def test_latents_of_the_sample_are_exactly_normal(self):
        """Recalibrated: without z, every column of them is the normal scores of 1 to n in some order."""
        x, y = gaussian(200, 3, 0.5)
        x[:, 1] += x[:, 0] ** 2
        expected = ndtri(np.arange(1, 201) / 201)
        for column in np.hstack(DINE().fit(x, y).transform(x, y)).T:
            np.testing.assert_allclose(np.sort(column), expected, atol=1e-9)

    def test_rows_are_mapped_one_by_one(self, fitted, small):
        whole = np.hstack(fitted.transform(*small))
        some = np.hstack(fitted.transform(*(block[40:43] for block in small)))
        np.testing.assert_allclose(some, whole[40:43], atol=1e-5)

    def test_latents_are_free_of_z(self, small):
        x, y, z = small
        latents = np.hstack(DINE().fit(x, y, z).transform(x, y, z))
        for column in latents.T:
            assert np.abs(np.corrcoef(column, rankdata(z[:, 0]))[0, 1]) < 0.05
            assert np.abs(np.corrcoef(column, z[:, 1])[0, 1]) < 0.05

    def test_nothing_smooth_of_z_is_left(self):
        """Where z acts along curves, functions of z that no one named are projected out of both sides."""
        x, y, z = curved(600, 0.8)
        model = DINE().fit(x, y, z)
        latents = np.hstack(model.transform(x, y, z))
        functions = np.column_stack([np.ones(600), np.sin(2 * z), np.cos(2 * z), np.cos(3 * z), np.sin(4 * z)])
        explained = functions @ np.linalg.lstsq(functions, latents)[0]
        assert (explained.var(axis=0) < 1e-3 * latents.var(axis=0)).all()
        assert model.flow_.dof < 595

    def test_order_within_a_column_is_kept(self, fitted, small):
        """As z and the other columns stand still: strictly increasing, 30, 300 and a million deviations out too."""
        far = np.array([-1e6, -300, -30, -3, -1, 0, 1, 3, 30, 300, 1e6])
        for side in (0, 1):
            blocks = [np.repeat(block[:1], len(far), axis=0) for block in small]
            blocks[side][:, 0] = far
            latents = fitted.transform(*blocks)[side][:, 0]
            assert np.isfinite(latents).all()
            assert (np.diff(latents) > 0).all()

    @pytest.mark.parametrize("distance", [30.0, 1e6, 1e20, 1e100, 1e160, 1e300])
    def test_rows_far_out_have_finite_latents(self, fitted, small, distance):
        for i in range(3):
            blocks = [block[:4].copy() for block in small]
            blocks[i][:2] = [[distance], [-distance]]
            for latents in fitted.transform(*blocks):
                assert np.isfinite(latents).all()

    def test_new_rows(self):
        """The dependence of rows that were not fitted is that of those that were."""
        x, y, z = curved(2000, 0.8)
        model = DINE().fit(x[:1000], y[:1000], z[:1000])
        a, b = model.transform(x[1000:], y[1000:], z[1000:])
        assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] == pytest.approx(0.8, abs=0.06)

    def test_no_row_and_one_row(self, fitted, small):
        x, y, z = small
        assert [a.shape for a in fitted.transform(x[:0], y[:0], z[:0])] == [(0, 2), (0, 1)]
        assert [a.shape for a in fitted.transform(x[:1], y[:1], z[:1])] == [(1, 2), (1, 1)]

    def test_score(self, fitted, small):
        """A mean over rows."""
        x, y, z = small
        halves = [fitted.score(*(block[half] for block in small)) for half in (slice(75), slice(75, 150))]
        assert fitted.score(x, y, z) == pytest.approx(np.mean(halves), rel=1e-5, abs=1e-5)

    @pytest.mark.parametrize("distance", [30.0, 1e6])
    def test_score_of_rows_far_out(self, fitted, small, distance):
        for i in range(2):
            blocks = [block[:2].copy() for block in small]
            blocks[i][0] = distance
            assert -np.inf < fitted.score(*blocks) < -10.0

    @pytest.mark.slow
    def test_score_prefers_the_flow_that_sees_z(self):
        """On new rows, and by what z tells of both sides."""
        x, y, z = curved(1500, 0.0)
        new = curved(1500, 0.0, seed=7)
        blind = np.random.default_rng(5).standard_normal(1500)
        seeing = DINE().fit(x, y, z).score(*new)
        not_seeing = DINE().fit(x, y, blind).score(new[0], new[1], blind)
        assert seeing > not_seeing + 0.5

    def test_score_of_normal_scores_without_context(self):
        """One column each and no z: two standard normal columns."""
        x, y = gaussian(400, 1, 0.0)
        expected = -np.log(2.0 * np.pi) - 1.0
        assert DINE().fit(x, y).score(x, y) == pytest.approx(expected, abs=0.03)

    def test_other_numbers_of_columns(self, fitted, small):
        x, y, z = small
        with pytest.raises(ValueError, match=r"^x must have 2 column.* has 1"):
            fitted.transform(x[:, :1], y, z)
        with pytest.raises(ValueError, match=r"^z must have 2 column.* has 0"):
            fitted.score(x, y)

    def test_missing_values_in_new_rows(self, fitted, small):
        x, y, z = (block.copy() for block in small)
        y[3] = np.nan
        with pytest.raises(ValueError, match="y must hold finite numbers"):
            fitted.transform(x, y, z)


class TestDeterminism:
    @pytest.mark.parametrize("n_jobs", [1, 2, -1])
    def test_threads(self, fitted, small, n_jobs):
        model = clone(fitted).set_params(n_jobs=n_jobs).fit(*small)
        assert model.information_.value == fitted.information_.value
        assert model.information_.standard_error == fitted.information_.standard_error
        for ours, theirs in zip(model.transform(*small), fitted.transform(*small), strict=True):
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.slow
    def test_threads_with_more_units(self):
        x, y = gaussian(120, 6, 0.5)
        z = np.random.default_rng(2).standard_normal((120, 2))
        values = {mutual_information(x + z[:, :1] ** 2, y, z, n_jobs=n).value for n in (None, 1, 2, 4, -1)}
        assert len(values) == 1

    def test_seeds_move_nothing(self):
        """What is arbitrary is drawn once and for all; how far it could move the estimate is in the standard error."""
        x, y, z = curved(500, 0.8)
        seeds = (0, 1, None, np.random.default_rng(3))
        first, *others = (mutual_information(x, y, z, random_state=seed) for seed in seeds)
        assert {(other.value, other.standard_error) for other in others} == {(first.value, first.standard_error)}
        uncertainty = first.details["uncertainty"]
        assert 0.0 < uncertainty["algorithm"] < uncertainty["sampling"]
        assert first.standard_error == pytest.approx(np.sqrt(sum(part**2 for part in uncertainty.values())))

    def test_the_paper_s_algorithm_has_a_seed(self, small):
        state = np.random.RandomState(0)
        first, second = (DINE.paper(random_state=state).fit(*small).information_.value for _ in range(2))
        assert first != second
        assert first == DINE.paper(random_state=np.random.RandomState(0)).fit(*small).information_.value

    def test_a_unit_depends_on_its_own_columns_only(self, small):
        """What is learned of a column of y is the same whatever stands in x."""
        x, y, z = small
        one, other = DINE().fit(x, y, z).flow_, DINE().fit(x[:, 1:], y, z).flow_
        (mine,) = [fit for unit, fit in one.units.items() if unit.target == 2]
        (theirs,) = [fit for unit, fit in other.units.items() if unit.target == 1]
        np.testing.assert_array_equal(mine.weights, theirs.weights)
        assert mine.rung_weights == theirs.rung_weights
        for ours, same in zip(mine.models, theirs.models, strict=True):
            np.testing.assert_array_equal(ours.theta, same.theta)

    def test_global_state(self, small):
        np.random.seed(20240)  # noqa: NPY002 (the generator that must not be touched, where no one else has set it)
        numpy_state = np.random.get_state()  # noqa: NPY002
        threads, pools = numba.get_num_threads(), threadpool_info()
        for make in ESTIMATORS.values():
            for seed in (0, None):
                make(n_jobs=2, random_state=seed).fit(*small).transform(*small)
        after = np.random.get_state()  # noqa: NPY002
        assert after[0] == numpy_state[0]
        np.testing.assert_array_equal(after[1], numpy_state[1])
        assert after[2:] == numpy_state[2:]
        assert numba.get_num_threads() == threads
        kept = [pool for pool in threadpool_info() if pool["filepath"] in {p["filepath"] for p in pools}]
        assert kept == pools
        assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def rearranged(column, steps):
    """A strictly increasing function of the column: its ranks, mapped to a running sum of positive steps."""
    values = np.cumsum(np.resize(steps, len(column)))
    return values[np.argsort(np.argsort(column))]


class TestInvariance:
    @pytest.mark.slow
    @settings(deadline=None, max_examples=12)
    @given(
        steps=st.lists(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=12), min_size=5, max_size=5),
        which=st.sets(st.integers(0, 4), min_size=1),
    )
    def test_increasing_maps_of_any_columns(self, small, steps, which):
        columns = np.hstack(small)
        mapped = columns.copy()
        for i in which:
            mapped[:, i] = rearranged(columns[:, i], steps[i])
        value = mutual_information(mapped[:, :2], mapped[:, 2:3], mapped[:, 3:]).value
        assert value == pytest.approx(mutual_information(*small).value, abs=1e-9)

    @pytest.mark.slow
    @pytest.mark.parametrize("function", [np.exp, np.arctan, lambda a: a**3, lambda a: -np.exp(-a), lambda a: 1e30 * a])
    def test_named_maps(self, function, small):
        x, y, z = small
        expected = mutual_information(x, y, z).value
        assert mutual_information(function(x), y, function(z)).value == pytest.approx(expected, abs=1e-9)
        assert mutual_information(x, function(y), z).value == pytest.approx(expected, abs=1e-9)

    def test_decreasing_maps(self):
        """Latents mirrored and little else: other draws in the correction of the ranks, other starts of networks."""
        x, y = gaussian(200, 1, 0.6)
        estimate = mutual_information(x, y)
        mirrored = mutual_information(-x, y)
        plain, other = (e.value + e.details["rank_bias"] for e in (estimate, mirrored))
        assert other == pytest.approx(plain, abs=1e-9)
        assert mirrored.value == pytest.approx(estimate.value, abs=0.5 * estimate.standard_error)
        x, y, z = curved(600, 0.8)
        estimate = mutual_information(x, y, z)
        assert mutual_information(-x, y, z).value == pytest.approx(estimate.value, abs=estimate.standard_error)

    def test_order_of_rows(self):
        x, y = gaussian(300, 1, 0.6)
        order = np.random.default_rng(0).permutation(300)
        assert mutual_information(x[order], y[order]).value == pytest.approx(mutual_information(x, y).value, abs=1e-12)

    @pytest.mark.parametrize(
        "make",
        [lambda: (*gaussian(400, 1, 0.7), None), lambda: (*gaussian(400, 4, 0.5), None), lambda: curved(500, 0.8)],
    )
    def test_symmetry(self, make):
        x, y, z = make()
        one, other = mutual_information(x, y, z), mutual_information(y, x, z)
        assert one.value == pytest.approx(other.value, abs=0.5 * one.standard_error)
        assert one.dimensions == other.dimensions

    def test_two_neighbours_that_change_places_matter_little(self):
        """The estimate is not chaotic in the data."""
        x, y, z = curved(400, 0.8)
        swapped = x.copy()
        a, b = np.argsort(x)[200:202]
        swapped[[a, b]] = swapped[[b, a]]
        estimate = mutual_information(x, y, z)
        assert mutual_information(swapped, y, z).value == pytest.approx(estimate.value, abs=estimate.standard_error)


class TestKnownTruth:
    @pytest.mark.parametrize("rho", [0.0, 0.3, -0.7, 0.95])
    @pytest.mark.parametrize("d", [1, 3])
    @pytest.mark.slow
    def test_gaussian(self, d, rho):
        estimates = [mutual_information(*gaussian(500, d, rho, seed)) for seed in range(5)]
        for estimate in estimates:
            assert abs(estimate.value - truth(d, rho)) < 4.5 * estimate.standard_error
        mean_error = np.mean([estimate.value for estimate in estimates]) - truth(d, rho)
        assert abs(mean_error) < 3 * estimates[0].standard_error / np.sqrt(5) + 0.002

    @pytest.mark.slow
    def test_intervals_cover(self):
        """Nominal 95%; of 60 samples 50 to 60."""
        covered = 0
        for seed in range(60):
            low, high = mutual_information(*gaussian(150, 2, 0.6, seed)).confidence_interval(0.95)
            covered += low <= truth(2, 0.6) <= high
        assert covered >= 50

    @pytest.mark.slow
    def test_unbiased_at_independence(self):
        """In 5 x 5 dimensions the closed form alone would say 0.13; it is not clipped."""
        values = [mutual_information(*gaussian(100, 5, 0.0, seed)).value for seed in range(20)]
        assert abs(np.mean(values)) < 0.05
        assert min(values) < 0.0

    @pytest.mark.slow
    def test_unbiased_where_there_is_much(self):
        """The ranks' bias, some tenths of a nat in 5 x 5 dimensions, is taken off."""
        estimates = [mutual_information(*gaussian(100, 5, 0.95, seed)) for seed in range(30)]
        errors = [estimate.value - truth(5, 0.95) for estimate in estimates]
        assert abs(np.mean(errors)) < 0.12
        assert np.mean([estimate.details["rank_bias"] for estimate in estimates]) < -0.2

    def test_confounding(self):
        """z moves both sides along the same curve: much information, none of it given z."""
        rng = np.random.default_rng(0)
        z = rng.uniform(-2, 2, 1000)
        x, y = np.sin(3.0 * z) + 0.2 * rng.standard_normal((2, 1000))
        assert mutual_information(x, y).value > 0.5
        given_z = mutual_information(x, y, z)
        assert abs(given_z.value) < 0.01
        assert gaussian_copula(x, y, z) > 0.4  # which taking out a line does not show

    @pytest.mark.parametrize("seed", [0, 10, 20])
    def test_curved_conditioning(self, seed):
        x, y, z = curved(1000, 0.8, seed)
        estimate = mutual_information(x, y, z)
        linear = gaussian_copula(x, y, z)
        assert abs(estimate.value - truth(1, 0.8)) < 0.25 * abs(linear - truth(1, 0.8))
        assert estimate.value == pytest.approx(truth(1, 0.8), abs=0.1)

    def test_linear_conditioning_costs_next_to_nothing(self):
        a, b = gaussian(500, 1, 0.8)
        z = np.random.default_rng(9).standard_normal((500, 5))
        estimate = mutual_information(a + z @ np.ones((5, 1)), b - z[:, :1], z)
        assert abs(estimate.value - truth(1, 0.8)) < 4 * estimate.standard_error
        assert estimate.details["degrees_of_freedom"] > 450

    def test_irrelevant_z(self):
        x, y = gaussian(500, 1, 0.8)
        z = np.random.default_rng(9).standard_normal((500, 3))
        alone, given_z = mutual_information(x, y), mutual_information(x, y, z)
        assert given_z.value == pytest.approx(alone.value, abs=1.5 * alone.standard_error)

    def test_paper_on_curved_conditioning(self):
        """The paper's own does well too, if not as well."""
        x, y, z = curved(2000, 0.8)
        value = DINE.paper().fit(x, y, z).information_.value
        assert truth(1, 0.8) - 0.25 < value < truth(1, 0.8) + 0.15


BAD_PARAMETERS = [
    ("base", "cauchy"),
    ("base", None),
    ("algorithm", "gmm"),
    ("n_components", 0),
    ("n_components", 2.0),
    ("hidden_units", 0),
    ("hidden_units", True),
    ("n_networks", -1),
    ("n_folds", 1),
    ("n_folds", "3"),
    ("max_iter", 0),
    ("max_rows", 5),
    ("weight_decay", -0.1),
    ("weight_decay", np.nan),
    ("weight_decay", np.inf),
    ("weight_decay", "much"),
    ("tune", 1),
    ("tune", "yes"),
    ("random_state", -1),
    ("random_state", 1.5),
    ("random_state", "seed"),
    ("random_state", True),
    ("n_jobs", 0),
    ("n_jobs", 1.5),
    ("n_jobs", "all"),
    ("nan_policy", "propagate"),
]


class TestRefusals:
    @pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
    def test_parameters(self, name, value, small):
        model = DINE(**{name: value})
        message = refusal(model.fit, *small)
        assert message.startswith(f"{name} must be ")
        assert repr(value) in message
        assert not hasattr(model, "information_")

    @pytest.mark.parametrize(
        ("name", "value"), [("base", "cauchy"), ("random_state", -1), ("n_jobs", 0), ("nan_policy", "drop")]
    )
    def test_parameters_of_the_function(self, name, value, small):
        assert refusal(mutual_information, *small, **{name: value}).startswith(f"{name} must be ")

    def test_parameters_come_before_the_data(self):
        """A mistake in the call is told before the data are read."""
        assert refusal(DINE(n_folds=1).fit, ["a"], ["b"]).startswith("n_folds")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda x, y, z: (np.where(x > 2, np.nan, x), y, z), ["x must hold finite numbers", "nan_policy='omit'"]),
            (lambda x, y, z: (x[:-1], y, z), ["x, y and z must have the same number of rows", "149"]),
            (lambda x, y, z: (x, np.ones_like(y), z), ["y must vary", "constant"]),
            (lambda x, y, z: (x[:11], y[:11], z[:11]), ["15 rows"]),
            (lambda x, y, z: (x.T, y[:2], z[:2]), ["more dimensions than rows"]),
            (lambda x, y, z: (x + 1j, y, z), ["x", "complex"]),
            (lambda x, y, z: (x, np.full(150, "b"), z), ["y"]),
        ],
    )
    def test_data(self, change, words, small):
        """Read by `read_sample`, whose own tests say more: here, that both doors use it."""
        for door in (DINE().fit, mutual_information):
            message = refusal(door, *change(*small))
            for word in words:
                assert word in message

    def test_unknown_column(self, small):
        frame = pd.DataFrame({"bmi": small[0][:, 0], "target": small[1][:, 0]})
        assert "'bmi'" in refusal(mutual_information, "bmj", "target", data=frame)

    def test_a_column_that_z_determines(self):
        """Not a copy of a column of z, so no check of the data sees it; what is left of it given z is nothing."""
        rng = np.random.default_rng(0)
        z = rng.integers(0, 3, 200).astype(float)
        with pytest.warns(DeterminedWarning, match="a side of x and y"):
            model = DINE().fit(z % 2, rng.standard_normal(200), z)
        assert (model.information_.value, model.information_.standard_error) == (0.0, 0.0)
        with pytest.raises(ValueError, match="no flows to map rows with, because what is given determines a side"):
            model.transform(z % 2, z, z)

    def test_a_column_that_is_there_twice(self, small):
        """It adds nothing, and nothing is left of it in the latents."""
        x, y, z = small
        model = DINE().fit(np.hstack([x, x[:, :1] ** 3]), y, z)
        assert model.information_.value == DINE().fit(x, y, z).information_.value
        assert model.information_.dimensions == (3, *model.information_.dimensions[1:])
        latents, _ = model.transform(np.hstack([x, x[:, :1] ** 3]), y, z)
        assert (latents[:, 2] == 0.0).all()


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": dict,
    "dict of lists": lambda columns: {name: column.tolist() for name, column in columns.items()},
}


class TestInputs:
    @pytest.mark.slow
    @pytest.mark.parametrize("frame", FRAMES)
    def test_names_of_columns(self, frame, small):
        columns = dict(zip("abcde", np.hstack(small).T, strict=True))
        estimate = mutual_information(["a", "b"], "c", ["d", "e"], data=FRAMES[frame](columns))
        assert estimate.value == mutual_information(*small).value
        assert estimate.names == (("a", "b"), ("c",), ("d", "e"))
        assert repr(estimate).startswith("I(a, b; c | d, e) = ")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "make",
        [
            np.ndarray.tolist,
            pd.DataFrame,
            lambda block: pl.DataFrame(block, schema=[f"c{i}" for i in range(block.shape[1])]),
            lambda block: pa.table({f"c{i}": column for i, column in enumerate(block.T)}),
            np.asfortranarray,
            lambda block: np.repeat(block, 2, axis=0)[::2],
            lambda block: np.hstack([block, block])[:, : block.shape[1]],
            lambda block: block[::-1][::-1],
        ],
        ids=["list", "pandas", "polars", "pyarrow", "by columns", "every second row", "some columns", "reversed"],
    )
    def test_kinds(self, make, small):
        expected = DINE().fit(*small)
        made = [make(block) for block in small]
        model = DINE().fit(*made)
        assert model.information_.value == expected.information_.value
        for ours, theirs in zip(model.transform(*made), expected.transform(*small), strict=True):
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_read_only(self, name, small):
        frozen = [block.copy() for block in small]
        for block in frozen:
            block.flags.writeable = False
        model = ESTIMATORS[name]().fit(*frozen)
        assert model.information_ == ESTIMATORS[name]().fit(*small).information_
        model.transform(*frozen)
        model.score(*frozen)
        model.pointwise(*frozen)

    def test_float32(self, small):
        single = [block.astype(np.float32) for block in small]
        double = [block.astype(np.float64) for block in single]
        assert mutual_information(*single).value == mutual_information(*double).value

    def test_one_column_is_one_column(self, small):
        x, y, z = small
        assert mutual_information(x[:, 0], y.ravel(), z).value == mutual_information(x[:, :1], y, z).value

    def test_omitted_rows_are_counted(self, small):
        x, y, z = (block.copy() for block in small)
        x[3, 1], y[7], z[7, 0], z[100, 1] = np.nan, np.inf, np.nan, -np.inf
        keep = np.setdiff1d(np.arange(150), [3, 7, 100])
        for name, make in ESTIMATORS.items():
            estimate = make(nan_policy="omit").fit(x, y, z).information_
            assert (estimate.n_dropped, estimate.n_samples) == (3, 147), name
            assert estimate.value == make().fit(x[keep], y[keep], z[keep]).information_.value
        assert "3 rows dropped" in repr(mutual_information(x, y, z, nan_policy="omit"))

    def test_ties(self):
        """A warning that says what it means, and a number all the same."""
        rng = np.random.default_rng(0)
        x = rng.integers(0, 5, 300)
        y = x + rng.integers(0, 3, 300)
        z = rng.integers(0, 2, 300)
        smooth = dict.fromkeys("xyz", "continuous")
        for name, make in ESTIMATORS.items():
            with pytest.warns(TiesWarning, match="Tied values in x .* which kinds= says are continuous"):
                model = make(kinds=smooth).fit(x, y, z)
            assert np.isfinite(model.information_.value), name
            assert model.information_.value > 0.1
            assert np.isfinite(np.hstack(model.transform(x, y, z))).all()

    def test_heavy_tails_and_outliers(self):
        x, y = gaussian(300, 1, 0.7)
        x[5], y[9] = 1e12, -1e12
        estimate = mutual_information(x, y, np.random.default_rng(0).standard_cauchy(300))
        assert estimate.value == pytest.approx(truth(1, 0.7), abs=0.15)


class TestPickling:
    @pytest.mark.parametrize("make", [pickle.dumps, copy.deepcopy], ids=["pickle", "deepcopy"])
    def test_a_fitted_model(self, fitted, small, make):
        again = make(fitted)
        again = pickle.loads(again) if isinstance(again, bytes) else again
        assert again.information_ == fitted.information_
        for ours, theirs in zip(again.transform(*small), fitted.transform(*small), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert again.score(*small) == fitted.score(*small)

    @pytest.mark.parametrize("given_z", [False, True])
    def test_where_nothing_is_curved(self, given_z):
        x, y = gaussian(100, 1, 0.5)
        z = (np.random.default_rng(7).standard_normal(100),) if given_z else ()
        model = DINE().fit(x, y, *z)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(x, y, *z)[0], model.transform(x, y, *z)[0])


class TestSizes:
    @pytest.mark.parametrize(("dx", "dy", "dz"), [(1, 1, 0), (1, 1, 1), (2, 1, 3), (1, 4, 0), (1, 1, 30)])
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_fewest_rows(self, name, dx, dy, dz):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            blocks = [rng.standard_normal((dx + dy + dz + SPARE_ROWS, d)) for d in (dx, dy, dz) if d]
            model = ESTIMATORS[name]().fit(*blocks)
            assert np.isfinite(model.information_.value)
            assert np.isfinite(model.information_.standard_error)
            assert np.isfinite(np.hstack(model.transform(*blocks))).all()

    @pytest.mark.slow
    @pytest.mark.parametrize(("d", "dz"), [(20, 1), (10, 1), (3, 1), (20, 3)])
    def test_fewest_rows_where_z_acts_along_curves(self, d, dz):
        """What is projected out of z leaves more degrees of freedom than there are dimensions."""
        n = 2 * d + dz + SPARE_ROWS
        rng = np.random.default_rng(0)
        z = rng.standard_normal((n, dz))
        curve = 3.0 * np.cos(2.0 * z[:, :1])
        x, y = curve + 0.3 * rng.standard_normal((2, n, d))
        estimate = mutual_information(x, y, z)
        assert np.isfinite(estimate.value)
        assert np.isfinite(estimate.standard_error)
        assert estimate.details["degrees_of_freedom"] > 2 * d

    @pytest.mark.slow
    def test_many_dimensions(self):
        """20 on each side and 60 rows: the closed form alone would be off by 5 nats."""
        values = [mutual_information(*gaussian(60, 20, 0.0, seed)).value for seed in range(3)]
        assert np.isfinite(values).all()
        assert abs(np.mean(values)) < 3.0

    @pytest.mark.slow
    def test_many_rows(self):
        """Flows learn from some of the rows; every row is mapped and counted."""
        a, b = gaussian(60_000, 1, 0.8)
        z = np.random.default_rng(1).standard_normal((60_000, 2))
        x, y = a[:, 0] + np.sin(2.0 * z[:, 0]), b[:, 0] * np.exp(0.4 * np.cos(2.0 * z[:, 1]))
        model = DINE(max_rows=2000).fit(x, y, z)
        assert model.information_.n_samples == 60_000
        assert model.information_.details["degrees_of_freedom"] > 59_000
        assert model.information_.value == pytest.approx(truth(1, 0.8), abs=0.06)
        assert len(model.transform(x, y, z)[0]) == 60_000

    def test_most_rows_is_a_bound(self):
        """A sample of no more rows than that is used whole."""
        x, y, z = curved(300, 0.8)
        values = [DINE(max_rows=rows).fit(x, y, z).information_.value for rows in (150, 300, 10_000)]
        assert values[1] == values[2] != values[0]

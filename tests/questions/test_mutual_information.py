"""`DINE` and `mutual_information`: known truths, invariances, and what they leave alone."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_info

from estimator_data import ESTIMATORS, curved, gaussian, truth
from pydine import DINE, mutual_information
from pydine.baselines.gaussian import gaussian_copula
from pydine.inputs.checks import SPARE_ROWS


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
        """What is arbitrary is drawn once and for all."""
        x, y, z = curved(500, 0.8)
        seeds = (0, 1, None, np.random.default_rng(3))
        first, *others = (mutual_information(x, y, z, random_state=seed) for seed in seeds)
        assert {(other.value, other.standard_error) for other in others} == {(first.value, first.standard_error)}
        uncertainty = first.details["uncertainty"]
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

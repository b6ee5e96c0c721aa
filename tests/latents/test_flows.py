"""The default's maps: latents of a sample, and what does not count: order, sides, signs."""

from dataclasses import replace

import numpy as np
import pytest

from pydine.latents.flows import Latents
from pydine.units.ladder import LadderSettings
from pydine.units.rows import View
from shapes import flow_of

SETTINGS = LadderSettings(networks=1, hidden_units=4, iterations=40)


def gaussian(n, d=1, rho=0.6, seed=0):
    rng = np.random.default_rng(seed)
    x, e = rng.standard_normal((2, n, d))
    return x, rho * x + np.sqrt(1.0 - rho * rho) * e


def given_z(n=300, d=1, dz=2, seed=0):
    """Both sides moved along curves of z."""
    rng = np.random.default_rng(seed + 100)
    (x, y), z = gaussian(n, d, seed=seed), rng.standard_normal((n, dz))
    return x + 1.5 * np.sin(1.5 * z[:, :1]), y + np.tanh(2.0 * z[:, :1]) + 0.5 * z[:, -1:] ** 2, z


def fit(x, y, z, settings=SETTINGS):
    return flow_of(x, y, z, settings)


@pytest.fixture(scope="module")
def fitted():
    data = given_z()
    return data, *fit(*data)


class TestLatents:
    def test_only_some_rows(self):
        latents = fit(*given_z(d=2, dz=1))[1]
        rows = np.random.default_rng(0).permutation(300)[:100]
        some = latents.only(rows)
        assert (some.n_rows, some.dimensions) == (100, (2, 2, 1))
        np.testing.assert_allclose(some.both, latents.both[:, rows], atol=1e-9)
        np.testing.assert_allclose(some.cross_product, some.both @ some.both.T, atol=1e-9)
        assert some.dof == pytest.approx(latents.dof / 3, rel=1e-12)

    def test_sides(self, fitted):
        latents = fitted[2]
        np.testing.assert_array_equal(np.vstack([latents.of("x"), latents.of("y")]), latents.both)

    def test_column_by_column(self):
        """Mapped each by itself, columns of a side keep what ties them together; autoregressive ones lose it."""
        x, y = gaussian(800, 2)
        x[:, 1] = x[:, 0] ** 2 + 0.3 * x[:, 1]
        z = np.empty((800, 0))
        tied, free = (flow_of(x, y, z, LadderSettings(), by_column=b)[1].of("x") for b in (True, False))
        assert np.corrcoef(tied[0] ** 2, tied[1])[0, 1] > 0.5
        assert abs(np.corrcoef(free[0] ** 2, free[1])[0, 1]) < 0.1

    def test_cross_product_degrees_of_freedom_and_leverages(self, fitted):
        latents = fitted[2]
        np.testing.assert_allclose(latents.cross_product, latents.both @ latents.both.T, atol=1e-7)
        assert latents.leverages.shape == (300,)
        assert latents.leverages.sum() == pytest.approx(300 - latents.dof, abs=1e-6)
        assert ((latents.leverages >= -1e-9) & (latents.leverages <= 1.0 + 1e-9)).all()

    def test_new_rows_and_those_of_the_sample(self, fitted):
        (x, y, z), flow, latents = fitted
        for side, found in zip("xy", flow.transform(x, y, z), strict=True):
            np.testing.assert_allclose(found.T, latents.of(side), atol=1e-8)
        np.testing.assert_allclose(flow.rows(x, y, z)[1], latents.z, atol=1e-12)

    def test_other_columns_of_the_sample(self, fitted):
        """Latents themselves come out as they are; without a projection only the mean goes."""
        latents = fitted[2]
        np.testing.assert_allclose(latents.without_z(latents.unprojected), latents.both, atol=1e-8)
        both = np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
        plain = Latents((1, 1, 0), both, np.empty((0, 3)), both @ both.T, 2)
        np.testing.assert_array_equal(plain.without_z(both), both - [[3.0], [1.0]])
        np.testing.assert_array_equal(plain.leverages, 0.0)
        assert plain.seen() is plain

    def test_what_a_base_sees(self, fitted):
        """Columns in another order and negated, with all that belongs to them."""
        latents = replace(fitted[2], view=View((1, 0), np.array([-1.0, 1.0]), is_swapped=True))
        seen, both = latents.seen(), latents.both
        expected = np.array([-both[1], both[0]])
        np.testing.assert_allclose(seen.both, expected, atol=1e-12)
        np.testing.assert_allclose(seen.cross_product, expected @ expected.T, atol=1e-7)
        np.testing.assert_allclose(seen.of("x"), expected[:1], atol=1e-12)
        np.testing.assert_array_equal(seen.leverages, latents.leverages)
        assert (seen.dof, seen.dimensions) == (latents.dof, latents.dimensions)
        assert (latents.sides, seen.sides) == (("x", "y"), ("y", "x"))

    def test_sides_of_different_size_are_exchanged_whole(self):
        x, y, z = given_z(100, 2, 1)
        latents = fit(x, y[:, :1], z)[1]
        assert latents.view.is_swapped
        assert latents.seen().dimensions == (1, 2, 1)
        np.testing.assert_allclose(np.abs(latents.seen().of("x")), np.abs(latents.of("y")), atol=1e-12)

    def test_some_columns(self, fitted):
        latents = fitted[2].of_columns([1], [0])
        np.testing.assert_array_equal(latents.both, fitted[2].both[::-1])


class TestFolds:
    @pytest.mark.parametrize(("n", "max_rows"), [(300, 10**4), (400, 300)])
    def test_models_of_one_fold_are_a_whole_mixture(self, n, max_rows):
        flow, _ = fit(*given_z(n), replace(SETTINGS, max_rows=max_rows))
        for unit in flow.units.values():
            parts = [unit.of_fold(i, 3) for i in range(3)]
            weights = [part.weights.sum() + part.marginal_weight for part in parts]
            np.testing.assert_allclose(weights, 1.0, atol=1e-12)


def aligned(latents, rows=slice(None)):
    """What a base sees, with the rows in another order."""
    return latents.view(latents.unprojected)[:, rows]


class TestNothingArbitraryCounts:
    """To the bit before the projection; its sums are NumPy's, so that last digits may differ after it."""

    @pytest.mark.parametrize("seed", range(2))
    @pytest.mark.parametrize("dz", [0, 1, 3])
    def test_order_of_rows(self, dz, seed):
        x, y, z = given_z(dz=max(dz, 1), seed=seed)
        z = z[:, :dz]
        rows = np.random.default_rng(seed).permutation(300)
        one, other = fit(x, y, z)[1], fit(x[rows], y[rows], z[rows])[1]
        np.testing.assert_array_equal(other.unprojected, one.unprojected[:, rows])
        np.testing.assert_array_equal(other.z, one.z[:, rows])
        np.testing.assert_array_equal(rows[other.outwards], one.outwards)
        np.testing.assert_allclose(other.cross_product, one.cross_product, atol=1e-6)
        assert other.dof == pytest.approx(one.dof, abs=1e-6)

    def test_order_of_the_columns_of_z(self):
        x, y, z = given_z(dz=3)
        one = fit(x, y, z)
        for places in ([2, 0, 1], [1, 0, 2]):
            other = fit(x, y, z[:, places])
            np.testing.assert_array_equal(other[1].unprojected, one[1].unprojected)
            np.testing.assert_array_equal(other[1].z, one[1].z[places])
            np.testing.assert_array_equal(other[1].cross_product, one[1].cross_product)
            found, expected = other[0].rows(x, y, z[:, places]), one[0].rows(x, y, z)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1][places])

    def test_sides_exchanged(self):
        x, y, z = given_z()
        one, other = fit(x, y, z)[1], fit(y, x, z)[1]
        np.testing.assert_array_equal(other.unprojected, one.unprojected[::-1])
        np.testing.assert_array_equal(aligned(other), aligned(one))
        np.testing.assert_allclose(other.seen().cross_product, one.seen().cross_product, atol=1e-6)
        np.testing.assert_array_equal(other.seen().outwards, one.seen().outwards)

    def test_order_of_rows_that_tie(self):
        """Latents of steps and labels are the same for many rows, which their signs and z tell apart."""
        rng = np.random.default_rng(1)
        both, z = np.sign(rng.normal(size=(2, 60))), rng.normal(size=(2, 60))
        scores = np.vstack([both * [[1.0], [0.5]], z])

        def order(rows, flips, places):
            seen = (scores * np.array(flips)[:, None])[:, rows]
            sides, given = seen[:2][places], seen[2:][places]
            view = View.of(np.vstack([sides, given]), 1, 1)
            return rows[Latents((1, 1, 2), sides, given, sides @ sides.T, 60.0, view=view).outwards]

        one = order(np.arange(60), (1.0, 1.0, 1.0, 1.0), [0, 1])
        for flips in ((-1.0, 1.0, 1.0, -1.0), (1.0, -1.0, -1.0, 1.0)):
            for places in ([0, 1], [1, 0]):
                np.testing.assert_array_equal(order(rng.permutation(60), flips, places), one)

    @pytest.mark.parametrize("flips", [(-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
    def test_negated_columns(self, flips):
        x, y, z = given_z()
        one, other = fit(x, y, z)[1], fit(flips[0] * x, flips[1] * y, z)[1]
        np.testing.assert_array_equal(other.unprojected, np.array(flips)[:, None] * one.unprojected)
        np.testing.assert_array_equal(aligned(other), aligned(one))
        np.testing.assert_allclose(other.seen().cross_product, one.seen().cross_product, atol=1e-6)

    def test_increasing_maps(self):
        x, y, z = given_z()
        one, other = fit(x, y, z)[1], fit(x**3, np.exp(y), np.arctan(z))[1]
        np.testing.assert_array_equal(other.unprojected, one.unprojected)
        np.testing.assert_array_equal(other.cross_product, one.cross_product)

    def test_threads(self):
        data = given_z(d=2)
        one, other = (flow_of(*data, SETTINGS, n_jobs=n)[1] for n in (1, 3))
        np.testing.assert_array_equal(other.unprojected, one.unprojected)

"""Functions of z that are projected out: which there are, and what they are made of."""

import pickle

import numpy as np
import pytest

from pydine.latents.functions import MOST_UNITS, SKETCHES, FunctionsOfZ
from pydine.latents.projection import Projection
from pydine.units.ladder import LadderSettings, fit_ladder


def normal(n, d, seed=0):
    """Standard normal columns, shape (d, n)."""
    return np.random.default_rng(seed).standard_normal((d, n))


def curve(n, seed=0):
    """z in two columns and a unit that has learned how they bend its target."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((2, n))
    target = np.sin(2.0 * z[0]) + 0.3 * rng.standard_normal(n)
    return z, fit_ladder(target / target.std(), z, LadderSettings(hidden_units=4, networks=1))


@pytest.mark.parametrize("n", [30, 3000])
@pytest.mark.parametrize("dz", [0, 1, 4])
def test_a_constant_and_z_come_first(n, dz):
    z = normal(n, dz)
    functions = FunctionsOfZ.choose(z, None)
    values = functions(z)
    assert values.shape == (n, functions.n_always)
    assert functions.n_always >= 1 + dz
    np.testing.assert_array_equal(values[:, : 1 + dz], np.column_stack([np.ones(n), *functions.seen(z)]))


def test_cubes_come_with_z_where_both_are_few_beside_the_rows():
    assert FunctionsOfZ.choose(normal(300, 10), None).n_always == 11
    assert FunctionsOfZ.choose(normal(1000, 10), None).n_always == 21


def test_what_was_learned_is_among_them():
    z, unit = curve(400)
    functions = FunctionsOfZ.choose(z, (unit,))
    values = functions(z)
    assert np.isfinite(values).all()
    for learned in np.hstack(unit.features(z)).T:
        assert np.isclose(values, learned[:, None], atol=1e-12).all(axis=0).any()


def test_rows_by_themselves():
    z, unit = curve(60)
    functions = FunctionsOfZ.choose(z, (unit,))
    np.testing.assert_allclose(functions(z[:, 7:9]), functions(z)[7:9], atol=1e-5)


@pytest.mark.parametrize("function", [np.sin, np.tanh, lambda a: a**2 * np.exp(-(a**2))])
def test_they_span_smooth_functions(function):
    """Whatever the networks have learned."""
    z = normal(3000, 1)
    target = function(z)
    projection = Projection.fit(target, z, FunctionsOfZ.choose(z, ()))
    assert projection.cross_product[0, 0] / (3000 * target.var()) < 1e-3


def test_the_order_of_rows_does_not_count():
    """The same functions, whichever rows the bumps stand around."""
    z = normal(500, 3)
    rows = np.random.default_rng(0).permutation(500)
    plain, moved = FunctionsOfZ.choose(z, ()), FunctionsOfZ.choose(np.ascontiguousarray(z[:, rows]), ())
    np.testing.assert_array_equal(moved.centres, plain.centres)
    np.testing.assert_array_equal(moved(z), plain(z))


@pytest.mark.parametrize(("dz", "n", "expected"), [(1, 800, 80), (3, 1000, 240), (8, 3000, 400), (2, 50, 50)])
def test_bumps_stand_around_rows(dz, n, expected):
    z = normal(n, dz)
    functions = FunctionsOfZ.choose(z, ())
    centres = functions.centres
    assert centres.shape == (dz, expected)
    assert {tuple(c) for c in centres.T} <= {tuple(row) for row in functions.seen(z).T}
    assert (np.abs(np.sign(centres).mean(axis=1)) < 0.5).all()  # on both sides of the middle


def test_beyond_any_score_they_are_constant():
    z, unit = curve(100)
    functions = FunctionsOfZ.choose(z, (unit,))
    far = functions(np.array([[1e3, 1e9, -1e9], [-1e4, -1e12, 0.0]]))
    assert np.isfinite(far).all()
    np.testing.assert_array_equal(far[0], far[1])


def test_many_units_are_sketched():
    z, unit = curve(100)
    few, many_units = (FunctionsOfZ.choose(z, (unit,) * count) for count in (MOST_UNITS, MOST_UNITS + 1))
    assert len(few.learned) == MOST_UNITS
    (sketch,) = many_units.learned
    (values,) = sketch.features(z)
    assert values.shape == (100, SKETCHES)
    np.testing.assert_array_equal(sketch.features(z)[0], values)  # the combinations are always the same
    learned = np.column_stack([np.ones(100), *unit.features(z)])
    fitted = learned @ np.linalg.lstsq(learned, values)[0]
    np.testing.assert_allclose(fitted, values, atol=1e-6 * np.abs(values).max())


def test_where_z_acts_linearly_little_is_spent():
    latents, z = normal(1000, 3), normal(1000, 2, seed=1)
    assert Projection.fit(latents, z, FunctionsOfZ.choose(z, ()), nonlinear=0.0).dof > 950


def test_a_projection_pickles():
    z, unit = curve(200)
    latents = normal(200, 3)
    projection = Projection.fit(latents, z, FunctionsOfZ.choose(z, (unit,)))
    again = pickle.loads(pickle.dumps(projection))
    np.testing.assert_array_equal(again(latents, z), projection(latents, z))


@pytest.mark.parametrize(("dz", "n", "most"), [(300, 2000, 3000), (100, 500, 1200), (40, 300, 1000)])
def test_of_many_columns_no_kind_has_more_functions_than_rows(dz, n, most):
    """All pairs of 300 columns would be 45,000 functions."""
    z = normal(n, dz)
    functions = FunctionsOfZ.choose(z, ())
    found = functions(z)
    assert found.shape[1] == functions.n_always + sum(len(prior) for prior in functions.priors(z)) <= most
    np.testing.assert_allclose(functions.some(z[:, :5], np.arange(found.shape[1])).T, found[:5], atol=1e-5)


@pytest.mark.parametrize("turned", [1.0, -1.0])
def test_waves_of_a_column_along_which_a_side_bends_are_always_used(turned):
    """Of 100 columns and 500 rows, waves of all would be more functions than rows."""
    z = normal(500, 100)
    rng = np.random.default_rng(1)
    sides = rng.standard_normal((2, 500)) + np.array([np.sin(2.0 * z[40]), z[3]])
    functions = FunctionsOfZ.choose(turned * z, (), sides)
    (bent,) = functions.bent
    assert functions.seen.order[bent] == 40
    assert FunctionsOfZ.choose(z, (), rng.standard_normal((2, 500))).bent == ()
    projection = Projection.fit(sides, turned * z, functions, nonlinear=0.0)
    left = projection(sides, turned * z)[0]
    assert abs(np.corrcoef(left, np.sin(2.0 * z[40]))[0, 1]) < 0.02


@pytest.mark.parametrize("seed", [4, 9, 21])
def test_nothing_bends_along_two_values(seed):
    """All that such a column says of a side is a line; directions of rounding alone depend on the order of rows."""
    rng = np.random.default_rng(seed)
    z, sides = np.sign(rng.normal(size=(40, 120))), rng.standard_t(2, size=(8, 120))
    assert FunctionsOfZ.choose(z, (), sides).bent == ()

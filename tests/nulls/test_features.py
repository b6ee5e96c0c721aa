"""Waves, products with functions of z, and what the blocks that are made of them see."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import pydine
from pydine.latents.flows import Latents
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.projection import Projection
from pydine.nulls.analytic import analytic_test
from pydine.nulls.features import LARGEST_DEGREE, cosines, orthonormal, step_cosines, told_apart, waves_of
from pydine.nulls.moments import BLOCKS, combined
from pydine.nulls.tiles import Tiles


def normal_scores(rng, d, n):
    scores = ndtri((np.arange(n) + 0.5) / n)
    return np.array([rng.permutation(scores) for _ in range(d)]).reshape(d, n)


def latents_of(columns, z, dx=1, scores=None):
    d, n = columns.shape
    if not len(z):
        return Latents((dx, d - dx, 0), columns, z, columns @ columns.T, n - 1.0)
    projection = Projection.fit(columns, z, FunctionsOfZ.choose(z, ()), dx=dx)
    cross, dof = projection.cross_product, projection.dof
    return Latents((dx, d - dx, len(z)), columns, z, cross, dof, projection, scores=scores)


def test_waves_are_cosines_of_probabilities():
    u = np.random.default_rng(0).random((2, 50))
    frequency = np.arange(1.0, 8.0)[:, None]
    np.testing.assert_allclose(cosines(u, 7), np.sqrt(2.0) * np.cos(np.pi * frequency * u[:, None]), atol=1e-12)


def test_waves_of_a_step_are_their_means_over_it():
    lower, upper = np.array([0.0, 0.3, 0.5]), np.array([0.3, 0.30000000001, 1.0])
    inside = lower + (upper - lower) * ((np.arange(20_000) + 0.5) / 20_000)[:, None]
    means = cosines(inside, 4).mean(axis=0)
    np.testing.assert_allclose(step_cosines(lower, upper, 4), means, atol=1e-6)


@pytest.mark.parametrize("dz", [0, 2])
def test_waves_are_orthonormal_and_free_of_z(dz):
    rng = np.random.default_rng(1)
    columns, z = normal_scores(rng, 3, 300), normal_scores(rng, dz, 300)
    latents = latents_of(columns, z)
    waves = waves_of(latents.both / latents.both.std(axis=1, keepdims=True), latents)
    assert waves.orders.tolist() == [LARGEST_DEGREE] * 3
    for values in waves.values:
        np.testing.assert_allclose(values @ values.T / 300, np.eye(LARGEST_DEGREE), atol=1e-6)
        np.testing.assert_allclose(values.mean(axis=1), 0.0, atol=1e-9)


def test_there_are_no_more_waves_than_levels():
    steps = ndtr(np.random.default_rng(2).integers(-1, 2, (1, 400)).astype(float))
    waves = orthonormal(cosines(steps, 6) - cosines(steps, 6).mean(axis=2, keepdims=True), np.array([6]))
    assert waves.orders.tolist() == [2]
    assert not waves.values[0, 2:].any()


SHAPES = {
    "quartic": lambda x: (x * x - 1.0) ** 2,
    "four periods": lambda x: 1.2 * np.sin(8.0 * np.pi * ndtr(x)),
    "cosine": lambda x: 1.2 * np.cos(4.0 * x),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_without_correlation_are_found(shape):
    """The first two were found in a third of datasets before there were waves."""
    rng, found = np.random.default_rng(3), []
    for _ in range(10):
        x, noise = rng.standard_normal((2, 400))
        x = np.clip(x, -1.6, 1.6) + 1e-6 * noise
        found.append(pydine.independence_test(x, SHAPES[shape](x) + 0.7 * noise, method="analytic").pvalue)
    assert np.mean(np.array(found) < 0.01) == 1.0


def test_correlation_whose_sign_changes_with_z_is_found():
    rng, found = np.random.default_rng(4), []
    for _ in range(6):
        z, e, f = rng.standard_normal((3, 300))
        result = pydine.independence_test(z + e, np.sign(z) * e + f, z, method="analytic")
        found.append(result.block_pvalues["changes with z"] < 1e-4 and result.block_pvalues["correlation"] > 1e-4)
    assert sum(found) >= 5


def test_slopes_that_follow_z_in_any_direction_are_found():
    """Of five columns, none of which tells the slope alone; the largest of ten products misses most of these."""
    rng, found = np.random.default_rng(14), []
    for _ in range(20):
        columns, z = normal_scores(rng, 2, 400), normal_scores(rng, 5, 400)
        columns[1] += 0.5 * z.sum(axis=0) / np.sqrt(5.0) * columns[0]
        found.append(analytic_test(latents_of(columns, z)).block_pvalues[-1] < 1e-3)
    assert np.mean(found) >= 0.6


def test_copies_in_z_count_once():
    rng = np.random.default_rng(15)
    z = normal_scores(rng, 3, 300)
    z[2] += 2.0 * z[1]
    white, shares = told_apart(np.vstack([z, z[:1], np.zeros((1, 300))]))
    np.testing.assert_allclose(white[:3] @ white[:3].T / 300, np.diag(shares[:3]), atol=1e-5)
    np.testing.assert_allclose(shares, [0.5, 1.0, 1.0, 0.5, 0.0], atol=1e-5)
    np.testing.assert_allclose(told_apart(z)[1], 1.0, atol=1e-5)


@pytest.mark.parametrize("dz", [2, 6])
def test_products_with_z_have_their_level_however_z_and_the_sides_are_correlated(dz):
    rng, found = np.random.default_rng(16), []
    for _ in range(400):
        columns, z = normal_scores(rng, 4, 200), normal_scores(rng, dz, 200)
        z[1] = z[0] + 0.05 * z[1]
        columns[[1, 3]] += 2.0 * columns[[0, 2]]
        found.append(analytic_test(latents_of(columns, z, 2)).block_pvalues[-1])
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.07


def test_signs_and_orders_change_nothing():
    """Of columns of x, of y and of z, as far as latents are the same."""
    rng = np.random.default_rng(5)
    for dz in (1, 2, 4):
        columns, z = normal_scores(rng, 4, 200), normal_scores(rng, dz, 200)
        columns[2] += 0.1 * columns[0] ** 2
        scores = columns + rng.standard_normal((4, dz)) @ z
        told = analytic_test(latents_of(columns, z, 2, scores))
        order, signs, z_signs = [1, 0, 3, 2], rng.choice([-1.0, 1.0], (4, 1)), rng.choice([-1.0, 1.0], (dz, 1))
        again = latents_of((columns * signs)[order], (z * z_signs)[::-1], 2, (scores * signs)[order])
        # Which functions of z are projected out differs in the fifth digit.
        np.testing.assert_allclose(analytic_test(again).block_pvalues, told.block_pvalues, rtol=1e-3)


@pytest.mark.parametrize("dz", [0, 2])
def test_one_pair_is_a_pair_among_many_whichever_goes_first(dz):
    rng, every, n = np.random.default_rng(7), slice(None), 250
    columns, z = normal_scores(rng, 3, n), normal_scores(rng, dz, n)
    columns[1] += 0.3 * (columns[0] ** 2 - (columns[0] ** 2).mean())
    latents = latents_of(columns, z, 1, columns + rng.standard_normal((3, dz)) @ z)
    tiles = Tiles.of(latents)
    many = tiles.pvalues(every, every, tiles.correlations(every, every))
    apart = tiles.pvalues(slice(0, 1), slice(1, 3), tiles.correlations(slice(0, 1), slice(1, 3)))
    for i, j in ((0, 1), (1, 0), (0, 2), (2, 1)):
        np.testing.assert_allclose(analytic_test(latents.of_columns([i], [j])).block_pvalues, many[i, j], rtol=1e-9)
    np.testing.assert_allclose(apart[0], many[0, 1:], rtol=1e-9)
    np.testing.assert_allclose(many[0, 1], many[1, 0][[0, 2, 1, 3, 4, 5]], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dz", [0, 1, 5])
def test_pvalues_hold_far_into_the_tail(dz):
    """Of some 10^5 pairs of independent latents; beyond 1e-4 there are too few to tell."""
    rng, n, p = np.random.default_rng(6), 500, 450
    columns, z = normal_scores(rng, p, n), normal_scores(rng, dz, n)
    scores = columns + rng.standard_normal((p, dz)) @ z
    tiles, every = Tiles.of(latents_of(columns, z, 1, scores)), slice(None)
    blocks = tiles.pvalues(every, every, tiles.correlations(every, every), np.triu_indices(p, 1))
    assert blocks.shape[1] == len(BLOCKS)
    pvalues = combined("auto", blocks, has_z=dz > 0)
    assert pvalues.min() > 0.0
    for level in (0.05, 0.01, 1e-3, 1e-4):
        noise = np.sqrt(level / len(pvalues))
        assert np.mean(pvalues <= level) < 1.1 * level + 4.0 * noise
    assert np.mean(pvalues <= 0.05) > 0.035

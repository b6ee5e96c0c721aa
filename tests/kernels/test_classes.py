"""Compiled latent classes, beside the same in NumPy."""

import numpy as np
import pytest
from scipy.special import ndtr

from pydine.kernels.classes import classes_log_ratio, fit_classes


def classes(k, knots, seed=0):
    rng = np.random.default_rng(seed)
    profiles = rng.gamma(2.0, 1.0, (2, knots, k))
    return rng.dirichlet(np.ones(k)), profiles / profiles.mean(axis=1, keepdims=True)


def hats(scores, knots):
    """Shares of the knots in the density at each row, (n, knots), by NumPy's interpolation."""
    middles = (np.arange(knots) + 0.5) / knots
    return np.array([np.interp(ndtr(scores), middles, row) for row in np.eye(knots)]).T


def densities(rows, profiles):
    """Of each class at each row, (n, k) for either side."""
    return [hats(column, len(profile)) @ profile for column, profile in zip(rows, profiles, strict=True)]


def em_step(rows, weights, profiles, prior):
    (x, y), n = densities(rows, profiles), rows.shape[1]
    shares = weights * x * y
    shares /= shares.sum(axis=1, keepdims=True)
    found = []
    for column, profile, density in zip(rows, profiles, (x, y), strict=True):
        expected = profile * (hats(column, len(profile)).T @ (shares / density)) + prior * shares.mean(axis=0)
        found.append(expected / expected.mean(axis=0))
    return shares.sum(axis=0) / n, np.array(found)


def log_likelihood(rows, weights, profiles):
    x, y = densities(rows, profiles)
    return np.log((weights * x * y).sum(axis=1)).sum()


ROWS = np.random.default_rng(1).standard_normal((2, 200)) * 1.5


@pytest.mark.parametrize(("k", "knots"), [(1, 4), (3, 5), (8, 20)])
def test_log_ratios(k, knots):
    weights, profiles = classes(k, knots)
    x, y = densities(ROWS, profiles)
    expected = np.log((weights * x * y).sum(axis=1)) - np.log(x @ weights) - np.log(y @ weights)
    np.testing.assert_allclose(classes_log_ratio(ROWS, weights, profiles), expected, atol=1e-9)


@pytest.mark.parametrize(("k", "knots", "prior"), [(2, 4, 0.0), (3, 8, 0.5), (8, 20, 0.5)])
def test_em_takes_the_steps_of_numpy(k, knots, prior):
    weights, profiles = classes(k, knots)
    expected = weights.copy(), profiles.copy()
    for _ in range(4):
        expected = em_step(ROWS, *expected, prior)
    fit_classes(ROWS, weights, profiles, prior, 4, 0.0)
    np.testing.assert_allclose(weights, expected[0], atol=1e-10)
    np.testing.assert_allclose(profiles, expected[1], atol=1e-9)


def test_every_step_climbs():
    weights, profiles = classes(4, 10)
    likelihoods = []
    for _ in range(15):
        likelihoods.append(log_likelihood(ROWS, weights, profiles))
        fit_classes(ROWS, weights, profiles, 0.0, 1, 0.0)
    assert (np.diff(likelihoods) > -1e-9).all()
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(profiles.mean(axis=1), 1.0, atol=1e-12)


def test_one_class_is_independence():
    weights, profiles = classes(1, 12)
    fit_classes(ROWS, weights, profiles, 0.5, 3, 0.0)
    np.testing.assert_allclose(classes_log_ratio(ROWS, weights, profiles), 0.0, atol=1e-9)


def test_far_rows_are_those_at_the_edge():
    weights, profiles = classes(3, 6)
    far = np.array([[8.0, 40.0, -8.0, -1e300], [0.3, 0.3, 0.3, 0.3]])
    ratios = classes_log_ratio(far, weights, profiles)
    assert ratios[0] == ratios[1]
    assert ratios[2] == ratios[3]
    assert np.isfinite(ratios).all()

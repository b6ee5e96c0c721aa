"""Compiled mixtures of Gaussians, beside scikit-learn's and SciPy's."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from pydine.kernels.gaussians import fit_gaussians, gaussians_log_ratio, split_gaussians


def mixture(k, d, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((k, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return rng.dirichlet(np.ones(k)), 2.0 * rng.standard_normal((k, d)), covariances


def rows_of(weights, means, covariances, n, seed=1):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(weights), n, p=weights)
    rows = np.array([rng.multivariate_normal(means[j], covariances[j]) for j in kinds])
    return np.ascontiguousarray(rows.T)


def log_density(rows, weights, means, covariances):
    parts = zip(weights, means, covariances, strict=True)
    return logsumexp([np.log(w) + multivariate_normal.logpdf(rows.T, m, c) for w, m, c in parts], axis=0)


@pytest.mark.parametrize(("k", "dx", "dy"), [(1, 1, 1), (3, 1, 1), (4, 2, 1), (5, 3, 4)])
def test_log_ratios(k, dx, dy):
    weights, means, covariances = mixture(k, dx + dy)
    rows = rows_of(weights, means, covariances, 300)
    x, y = slice(0, dx), slice(dx, None)
    expected = log_density(rows, weights, means, covariances)
    for side in (x, y):
        expected -= log_density(rows[side], weights, means[:, side], covariances[:, side, side])
    found = gaussians_log_ratio(rows, dx, weights, means, covariances)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 4)])
def test_em_climbs_as_scikit_learn_does(k, d):
    """From the same start, without a prior, to the same likelihood."""
    truth = mixture(k, d, seed=2)
    rows = rows_of(*truth, 600)
    weights, means, covariances = truth[0].copy(), truth[1] + 0.1, truth[2] * 1.2
    start = {"weights_init": weights.copy(), "means_init": means.copy()}
    peer = GaussianMixture(
        k, **start, precisions_init=np.linalg.inv(covariances), reg_covar=0.0, tol=1e-9, max_iter=200
    )
    peer.fit(rows.T)
    fit_gaussians(rows, weights, means, covariances, np.eye(d), 0.0, 200, 1e-10)
    assert log_density(rows, weights, means, covariances).mean() == pytest.approx(peer.score(rows.T), abs=1e-6)
    np.testing.assert_allclose(means, peer.means_, atol=1e-3)


def test_the_prior_keeps_components_from_collapsing():
    rows = np.random.default_rng(0).standard_normal((2, 40))
    weights, means = np.array([0.9, 0.1]), np.vstack([np.zeros(2), rows[:, 0]])
    covariances = np.array([np.eye(2), 1e-9 * np.eye(2)])
    fit_gaussians(rows, weights, means, covariances, 0.25 * np.eye(2), 4.0, 50, 0.0)
    assert np.linalg.eigvalsh(covariances).min() > 0.05


@pytest.mark.parametrize(("k", "d"), [(1, 2), (3, 3)])
def test_a_split_keeps_the_moments(k, d):
    before = mixture(k, d, seed=3)
    after = split_gaussians(*before, 0.7)

    def moments(weights, means, covariances):
        second = covariances + means[:, :, None] * means[:, None, :]
        return weights.sum(), weights @ means, np.tensordot(weights, second, 1)

    for one, other in zip(moments(*before), moments(*after), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.linalg.eigvalsh(after[2]).min() > 0.0
    assert len(after[0]) == 2 * k

"""Mixtures of Gaussians of several columns: EM, splits and log-ratios, with the same bits on every machine."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import dot, exp, log
from pydine.kernels.compilation import compiled
from pydine.kernels.regression import largest_eigenvector

BLOCK = 256  # memory: rows that are worked on together: their terms stay in the cache
LEAST = 1e-300  # guard: the least a weight or count is, for its logarithm and ratios
SMALLEST_VARIANCE = 1e-12  # guard: of a column given those before it


@compiled()
def _whitener(covariance, d, whitener):
    """Inverse of the Cholesky factor of the leading (d, d) of a covariance, in `whitener`, and its log-determinant."""
    factor, log_determinant = np.zeros((d, d)), 0.0
    for i in range(d):
        for j in range(i + 1):
            rest = covariance[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(max(rest, SMALLEST_VARIANCE)) if i == j else rest / factor[j, j]
        log_determinant -= log(factor[i, i])
    for i in range(d):
        whitener[i, i] = 1.0 / factor[i, i]
        for j in range(i):
            rest = 0.0
            for k in range(j, i):
                rest -= factor[i, k] * whitener[k, j]
            whitener[i, j] = rest / factor[i, i]
    return log_determinant


@compiled()
def _prepared(weights, means, covariances):
    """What the terms of a mixture need: constants (k,), whiteners (k, d, d) and whitened means (k, d)."""
    k, d = means.shape
    constants, whiteners, middles = np.empty(k), np.zeros((k, d, d)), np.zeros((k, d))
    for j in range(k):
        constants[j] = _whitener(covariances[j], d, whiteners[j]) + log(max(weights[j], LEAST))
        for a in range(d):
            for b in range(a + 1):
                middles[j, a] += whiteners[j, a, b] * means[j, b]
    return constants, whiteners, middles


@compiled()
def _terms(rows, constants, whiteners, middles, terms):
    """ln w_j + ln N(row; mean_j, covariance_j) but for d/2 ln(2 pi), rows (d, m), in `terms` (k, m)."""
    d, m = rows.shape
    white = np.empty(m)
    for j in range(constants.shape[0]):
        for i in range(m):
            terms[j, i] = constants[j]
        for a in range(d):
            middle = middles[j, a]
            for i in range(m):
                white[i] = -middle
            for b in range(a + 1):
                slope = whiteners[j, a, b]
                for i in range(m):
                    white[i] += slope * rows[b, i]
            for i in range(m):
                terms[j, i] -= 0.5 * white[i] * white[i]


@compiled()
def _shared(terms, densities):
    """Turn terms (k, m) into the shares of each component in each row, and put log-densities (m,) beside them."""
    k, m = terms.shape
    top, sums = np.empty(m), np.zeros(m)
    for i in range(m):
        top[i] = terms[0, i]
    for j in range(1, k):
        for i in range(m):
            top[i] = max(top[i], terms[j, i])
    for j in range(k):
        for i in range(m):
            terms[j, i] = exp(terms[j, i] - top[i])
            sums[i] += terms[j, i]
    for i in range(m):
        densities[i] = log(sums[i]) + top[i]
        sums[i] = 1.0 / sums[i]
    for j in range(k):
        for i in range(m):
            terms[j, i] *= sums[i]


@compiled()
def _moments(rows, weights, means, covariances, counts, sums, products):
    """Expected counts (k,), sums (k, d) and products (k, d, d) of each component's rows, and the mean log-density.

    Products are on and below the diagonal.
    """
    (k, d), n = means.shape, rows.shape[1]
    constants, whiteners, middles = _prepared(weights, means, covariances)
    counts[:], sums[:], products[:] = 0.0, 0.0, 0.0
    likelihood = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        block = np.empty((d, m))
        block[:] = rows[:, start : start + m]
        shares, densities, ones, weighted = np.empty((k, m)), np.empty(m), np.ones(m), np.empty(m)
        _terms(block, constants, whiteners, middles, shares)
        _shared(shares, densities)
        likelihood += dot(densities, ones)
        for j in range(k):
            counts[j] += dot(shares[j], ones)
            for a in range(d):
                for i in range(m):
                    weighted[i] = shares[j, i] * block[a, i]
                sums[j, a] += dot(weighted, ones)
                for b in range(a + 1):
                    products[j, a, b] += dot(weighted, block[b])
    return likelihood / n


@compiled()
def fit_gaussians(rows, weights, means, covariances, prior, strength, iterations, tolerance):
    """Fit a mixture of Gaussians to rows (d, n) by EM, from where it is; it is changed in place.

    Each covariance has an inverse Wishart prior that counts as `strength` rows with the covariance `prior` (d, d): what
    is maximised is the posterior density, so that no component collapses onto few rows (Fraley and Raftery 2007).

    Parameters
    ----------
    rows : (d, n) float64
    weights, means, covariances : (k,), (k, d), (k, d, d) float64
    prior : (d, d) float64
    strength : float
    iterations : int
    tolerance : float, nats a row that an iteration must add for another one to follow.
    """
    (k, d), n = means.shape, rows.shape[1]
    counts, sums, products = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    last = -np.inf
    for _ in range(iterations):
        likelihood = _moments(rows, weights, means, covariances, counts, sums, products)
        for j in range(k):
            count = max(counts[j], LEAST)
            weights[j] = count / n
            for a in range(d):
                means[j, a] = sums[j, a] / count
            for a in range(d):
                for b in range(a + 1):
                    spread = products[j, a, b] - count * means[j, a] * means[j, b] + strength * prior[a, b]
                    covariances[j, a, b] = covariances[j, b, a] = spread / (count + strength)
        if likelihood - last < tolerance:
            break
        last = likelihood


@compiled()
def split_gaussians(weights, means, covariances, distance):
    """Each component as two of half its weight, side by side along its longest axis, with its mean and covariance.

    Parameters
    ----------
    weights, means, covariances : (k,), (k, d), (k, d, d) float64
    distance : float between 0 and 1, of each from the middle, in deviations along the axis.

    Returns
    -------
    The same of 2 k components.
    """
    k, d = means.shape
    halves, places, spreads = np.empty(2 * k), np.empty((2 * k, d)), np.empty((2 * k, d, d))
    for j in range(k):
        axis, variance = largest_eigenvector(covariances[j]), 0.0
        for a in range(d):
            for b in range(d):
                variance += axis[a] * covariances[j, a, b] * axis[b]
        for side in range(2):
            step = (1.0 - 2.0 * side) * distance * np.sqrt(variance)
            halves[2 * j + side] = 0.5 * weights[j]
            for a in range(d):
                places[2 * j + side, a] = means[j, a] + step * axis[a]
                for b in range(d):
                    spreads[2 * j + side, a, b] = covariances[j, a, b] - step * step * axis[a] * axis[b]
    return halves, places, spreads


@compiled()
def gaussians_log_ratio(rows, dx, weights, means, covariances):
    """ln p(x, y) - ln p(x) - ln p(y) of rows (d, n) under a mixture of Gaussians; the first dx columns are x.

    The marginals of a mixture of Gaussians are mixtures of the Gaussians' marginals.

    Returns
    -------
    (n,) float64, nats.
    """
    (k, d), n = means.shape, rows.shape[1]
    ratios = np.zeros(n)
    for part in range(3):
        first, last = (0, d) if part == 0 else (0, dx) if part == 1 else (dx, d)
        sign = 1.0 if part == 0 else -1.0
        some_means = means[:, first:last].copy()
        some_covariances = covariances[:, first:last, first:last].copy()
        constants, whiteners, middles = _prepared(weights, some_means, some_covariances)
        for start in range(0, n, BLOCK):
            m = min(BLOCK, n - start)
            block = np.empty((last - first, m))
            block[:] = rows[first:last, start : start + m]
            terms, densities = np.empty((k, m)), np.empty(m)
            _terms(block, constants, whiteners, middles, terms)
            _shared(terms, densities)
            for i in range(m):
                ratios[start + i] += sign * densities[i]
    return ratios

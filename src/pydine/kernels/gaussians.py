"""Mixtures of multivariate Gaussians: EM, splits and log-ratios, with the same bits on every machine."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, dot, exp, log
from pydine.kernels.compilation import compiled
from pydine.kernels.regression import largest_eigenvector
from pydine.types import FloatArray

BLOCK = 256  # memory: rows that are processed together, whose terms stay in the processor's cache
LEAST = 1e-300  # guard: least weight or count, for its logarithm and ratios
SMALLEST_VARIANCE = 1e-12  # guard: of a column given those before it

_part = compiled(inlined=True)


@_part
def _whitener(covariance, d, whitener):
    """Write the inverse Cholesky factor of a covariance's leading (d, d) to `whitener`; returns its log-determinant."""
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


@_part
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


@_part
def _terms(rows, constants, whiteners, middles, terms):
    """Write ln w_j + ln N(row; mean_j, covariance_j) + d/2 ln(2 pi) of rows (d, m) to `terms` (k, m)."""
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


@_part
def _shared(terms, densities):
    """Turn terms (k, m) into the responsibilities of components for rows; log-densities go to `densities` (m,)."""
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


@compiled(
    "(float64[:, ::1], float64[::1], float64[:, ::1], float64[:, :, ::1], float64[:, ::1], "
    "float64, int64, float64, float64[::1])",
)
def _em(rows, weights, means, covariances, prior, strength, iterations, tolerance, densities):
    """EM as in `fit_gaussians`; with 0 iterations, only log-densities of rows under the mixture as it is.

    Both are one function, because two would each be compiled with a copy of what they share. `densities` (n,) receives
    ln p + d/2 ln(2 pi) under the mixture before the last update.
    """
    (k, d), n = means.shape, rows.shape[1]
    check(k > 0 and rows.shape[0] == d and weights.shape[0] == k and densities.shape[0] == n)
    check(covariances.shape == (k, d, d) and prior.shape == (d, d))
    counts, sums, products = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    last = -np.inf
    for _ in range(max(iterations, 1)):
        constants, whiteners, middles = _prepared(weights, means, covariances)
        counts[:], sums[:], products[:] = 0.0, 0.0, 0.0
        likelihood = 0.0
        for start in range(0, n, BLOCK):
            m = min(BLOCK, n - start)
            block, shares = np.empty((d, m)), np.empty((k, m))
            some, ones, weighted = np.empty(m), np.ones(m), np.empty(m)
            for a in range(d):
                for i in range(m):
                    block[a, i] = rows[a, start + i]
            _terms(block, constants, whiteners, middles, shares)
            _shared(shares, some)
            likelihood += dot(some, ones)
            for i in range(m):
                densities[start + i] = some[i]
            if iterations == 0:
                continue
            for j in range(k):
                counts[j] += dot(shares[j], ones)
                for a in range(d):
                    for i in range(m):
                        weighted[i] = shares[j, i] * block[a, i]
                    sums[j, a] += dot(weighted, ones)
                    for b in range(a + 1):
                        products[j, a, b] += dot(weighted, block[b])
        if iterations == 0:
            break
        for j in range(k):
            count = max(counts[j], LEAST)
            weights[j] = count / n
            for a in range(d):
                means[j, a] = sums[j, a] / count
            for a in range(d):
                for b in range(a + 1):
                    spread = products[j, a, b] - count * means[j, a] * means[j, b] + strength * prior[a, b]
                    covariances[j, a, b] = covariances[j, b, a] = spread / (count + strength)
        if likelihood / n - last < tolerance:
            break
        last = likelihood / n


def fit_gaussians(
    rows: FloatArray,
    weights: FloatArray,
    means: FloatArray,
    covariances: FloatArray,
    prior: FloatArray,
    strength: float,
    iterations: int,
    tolerance: float,
) -> None:
    """Fit a mixture of Gaussians to rows (d, n) by EM, starting from its present parameters, which change in place.

    Each covariance has an inverse Wishart prior that counts as `strength` rows with the covariance `prior` (d, d). The
    posterior density is maximised, so that no component collapses onto few rows (Fraley and Raftery 2007).

    Parameters
    ----------
    rows : (d, n) float64
    weights, means, covariances : (k,), (k, d), (k, d, d) float64
    prior : (d, d) float64
    strength : float
    iterations : int, at least 1.
    tolerance : float, EM ends when an iteration gains less than this, in nats a row.
    """
    _em(rows, weights, means, covariances, prior, strength, iterations, tolerance, np.empty(rows.shape[1]))


def split_gaussians(
    weights: FloatArray, means: FloatArray, covariances: FloatArray, distance: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Split each component along its longest axis into two of half its weight, with its mean and covariance together.

    Parameters
    ----------
    weights, means, covariances : (k,), (k, d), (k, d, d) float64
    distance : float between 0 and 1, of each half from the component's mean, in deviations along the axis.

    Returns
    -------
    Weights, means and covariances of 2 k components.
    """
    axes = np.array([largest_eigenvector(covariance) for covariance in covariances])
    terms = axes[:, :, None] * covariances * axes[:, None, :]
    variances = np.cumsum(terms.reshape(len(axes), -1), axis=1)[:, -1]  # in the same order on every machine
    steps = distance * np.sqrt(variances)[:, None]
    places = np.stack([means + steps * axes, means - steps * axes], axis=1)
    spreads = covariances - (steps * steps * axes)[:, :, None] * axes[:, None, :]
    return np.repeat(0.5 * weights, 2), places.reshape(-1, means.shape[1]), np.repeat(spreads, 2, axis=0)


def gaussians_log_ratio(
    rows: FloatArray, dx: int, weights: FloatArray, means: FloatArray, covariances: FloatArray, dz: int = 0
) -> FloatArray:
    """ln p(x, y | z) - ln p(x | z) - ln p(y | z) of rows (d, n) under a mixture of Gaussians.

    The first dz columns are z, the next dx are x. Marginals of a mixture of Gaussians are mixtures of the Gaussians'
    marginals.

    Returns
    -------
    (n,) float64, nats.
    """
    ratios, densities = np.zeros(rows.shape[1]), np.empty(rows.shape[1])
    given = tuple(range(dz))
    x, y = tuple(range(dz, dz + dx)), tuple(range(dz + dx, len(rows)))
    for sign, chosen in ((1.0, given + x + y), (-1.0, given + x), (-1.0, given + y), (1.0, given))[: 4 if dz else 3]:
        columns = np.array(chosen)
        some = [
            np.ascontiguousarray(part)
            for part in (rows[columns], weights, means[:, columns], covariances[:, columns[:, None], columns])
        ]
        _em(*some, some[-1][0], 0.0, 0, 0.0, densities)
        ratios += sign * densities
    return ratios

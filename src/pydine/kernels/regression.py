"""Small dense problems of linear algebra whose solutions start a unit's training, with the same bits on every machine.

BLAS and LAPACK add in an order that depends on the processor, and training amplifies differences in the last digits.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, dot, row_dot, tile_dots
from pydine.kernels.compilation import compiled

SWEEPS = 12  # guard: of Jacobi's method, at most; it converges quadratically


@compiled(inlined=True)
def cross_products(x):
    """Products of the columns of x (c, n), summed over rows: (c, c), of which some entries above the diagonal are 0."""
    c = x.shape[0]
    products = np.zeros((c, c))
    i = 0
    while i + 4 <= c:  # four columns by four: where there are many, reading them takes longest
        for j in range(0, i + 4, 4):
            tile = tile_dots(x, i, x, j)
            for k in range(16):
                products[i + k // 4, j + k % 4] = tile[k]
        i += 4
    while i < c:
        for j in range(i + 1):
            products[i, j] = row_dot(x, i, x, j)
        i += 1
    return products


@compiled("(float64[::1], float64[:, ::1], float64[::1])")
def ridge(t, x, penalty):
    """Slopes of a ridge regression of t on the columns of x, without an intercept, and the residual's deviation.

    Parameters
    ----------
    t : (n,) float64; x : (c, n) float64.
    penalty : (c,) float64, positive; added to the diagonal of the cross-products.

    Returns
    -------
    slopes : (c,) float64
    deviation : float
    """
    c, n = x.shape
    check(t.shape[0] == n and penalty.shape[0] == c)
    factor, slopes = cross_products(x), np.empty(c)
    for j in range(c):  # Cholesky in place, column by column: within one, no entry has to wait for another
        factor[j, j] = np.sqrt(max(factor[j, j] + penalty[j] - dot(factor[j, :j], factor[j, :j]), 1e-300))
        for i in range(j + 1, c):
            factor[i, j] = (factor[i, j] - dot(factor[i, :j], factor[j, :j])) / factor[j, j]
    for i in range(c):
        slopes[i] = (dot(x[i], t) - dot(factor[i, :i], slopes[:i])) / factor[i, i]
    for back in range(c):
        i = c - 1 - back
        rest = slopes[i]
        for j in range(i + 1, c):
            rest -= factor[j, i] * slopes[j]
        slopes[i] = rest / factor[i, i]
    residual, ones = t.copy(), np.ones(n)
    for j in range(c):
        for i in range(n):
            residual[i] -= slopes[j] * x[j, i]
    mean = dot(residual, ones) / n
    for i in range(n):
        residual[i] -= mean
    return slopes, np.sqrt(dot(residual, residual) / n)


@compiled("(float64[:, ::1], float64[::1])")
def weighted_moments(x, weights):
    """Mean over rows of weights times products of columns, (c, n) and (n,) to a symmetric (c, c)."""
    c, n = x.shape
    check(weights.shape[0] == n)
    moments, weighted = np.empty((c, c)), np.empty(n)
    for i in range(c):
        for k in range(n):
            weighted[k] = x[i, k] * weights[k]
        for j in range(i + 1):
            moments[i, j] = moments[j, i] = dot(weighted, x[j]) / n
    return moments


@compiled("(float64[:, ::1],)")
def largest_eigenvector(matrix):
    """The eigenvector of a symmetric matrix (c, c) whose eigenvalue is farthest from 0, by Jacobi's method, shape (c,).

    Its entry of largest absolute value is positive.
    """
    c = matrix.shape[0]
    check(c > 0 and matrix.shape[1] == c)
    a, vectors, largest = matrix.copy(), np.zeros((c, c)), 0
    for k in range(c):
        vectors[k, k] = 1.0
    for _ in range(SWEEPS):
        off = 0.0
        for p in range(c):
            for q in range(p + 1, c):
                off = max(off, abs(a[p, q]))
                if abs(a[p, q]) < 1e-300:
                    continue
                tau = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + np.sqrt(1.0 + tau * tau))
                cosine = 1.0 / np.sqrt(1.0 + t * t)
                sine = t * cosine
                for k in range(c):
                    left, right = a[k, p], a[k, q]
                    a[k, p], a[k, q] = cosine * left - sine * right, sine * left + cosine * right
                for k in range(c):
                    left, right = a[p, k], a[q, k]
                    a[p, k], a[q, k] = cosine * left - sine * right, sine * left + cosine * right
                for k in range(c):
                    left, right = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = cosine * left - sine * right, sine * left + cosine * right
        largest = 0
        for p in range(1, c):
            largest = p if abs(a[p, p]) > abs(a[largest, largest]) else largest
        if off < 1e-14 * abs(a[largest, largest]):
            break
    found, peak = np.empty(c), 0
    for k in range(c):
        found[k] = vectors[k, largest]
        peak = k if abs(found[k]) > abs(found[peak]) else peak
    if found[peak] < 0.0:
        for k in range(c):
            found[k] = -found[k]
    return found

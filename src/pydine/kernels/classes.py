"""Latent classes of two columns, independent within each class: EM and log-ratios, the same bits on every machine."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, log, upper_tail
from pydine.kernels.compilation import compiled
from pydine.types import FloatArray

LEAST = 1e-300  # guard: least density, to divide by or for its logarithm

_part = compiled(inlined=True)


@_part
def _places(rows, knots):
    """Where normal scores (2, n) lie between knots 0 to knots - 1, which are evenly spaced over the probabilities."""
    places = np.empty(rows.shape)
    for side in range(2):
        for i in range(rows.shape[1]):
            tail = upper_tail(abs(rows[side, i]))
            share = tail if rows[side, i] < 0.0 else 1.0 - tail
            places[side, i] = min(max(share * knots - 0.5, 0.0), knots - 1.0)
    return places


@_part
def _densities(profile, place, out):
    """Write the densities of all classes at one place, from a profile (knots, k), to `out` (k,)."""
    low = max(min(int(place), profile.shape[0] - 2), 0)  # NaN has no place
    above = place - low
    for j in range(out.shape[0]):
        out[j] = (1.0 - above) * profile[low, j] + above * profile[low + 1, j]


@_part
def _shared(sums, place, shares, others):
    """Add a row to the expected counts of one side's knots, relative to the profile, in `sums` (knots, k).

    `shares` (k,) are the weights of the classes over the row's density, `others` (k,) the other side's densities.
    """
    low = max(min(int(place), sums.shape[0] - 2), 0)
    above = place - low
    for j in range(others.shape[0]):
        part = shares[j] * others[j]
        sums[low, j] += (1.0 - above) * part
        sums[low + 1, j] += above * part


@compiled("(float64[:, ::1], float64[::1], float64[:, :, ::1], float64, int64, float64)")
def fit_classes(
    rows: FloatArray, weights: FloatArray, profiles: FloatArray, prior: float, iterations: int, tolerance: float
) -> None:
    """Fit classes to rows by EM, starting from their present parameters, which change in place.

    A row is of class j with probability w_j. Within a class the two columns are independent, and the density of each,
    relative to the standard normal one, is piecewise linear in the column's normal probability, with its values at
    evenly spaced knots in the profile.

    Parameters
    ----------
    rows : (2, n) float64, normal scores.
    weights : (k,) float64
    profiles : (2, knots, k) float64, means over knots of 1.
    prior : float, rows that each knot counts in addition, shared by the classes according to their weights.
    iterations : int, at most
    tolerance : float, EM ends when an iteration gains less than this, in nats a row.
    """
    (sides, knots, k), n = profiles.shape, rows.shape[1]
    check(rows.shape[0] == 2 and sides == 2 and knots > 1 and weights.shape[0] == k)
    places, counts = _places(rows, knots), np.empty(k)
    x, y, shares, sums = np.empty(k), np.empty(k), np.empty(k), np.empty(profiles.shape)
    last = -np.inf
    for _ in range(iterations):
        counts[:], sums[:], likelihood = 0.0, 0.0, 0.0
        for i in range(n):
            _densities(profiles[0], places[0, i], x)
            _densities(profiles[1], places[1, i], y)
            total = LEAST
            for j in range(k):
                total += weights[j] * x[j] * y[j]
            likelihood += log(total)
            total = 1.0 / total
            for j in range(k):
                shares[j] = weights[j] * total
                counts[j] += shares[j] * x[j] * y[j]
            _shared(sums[0], places[0, i], shares, y)
            _shared(sums[1], places[1, i], shares, x)
        for j in range(k):
            weights[j] = counts[j] / n
            for side in range(2):
                whole = LEAST
                for b in range(knots):
                    profiles[side, b, j] = profiles[side, b, j] * sums[side, b, j] + prior * weights[j]
                    whole += profiles[side, b, j]
                for b in range(knots):
                    profiles[side, b, j] *= knots / whole
        if likelihood / n - last < tolerance:
            break
        last = likelihood / n


@compiled("(float64[:, ::1], float64[::1], float64[:, :, ::1])")
def classes_log_ratio(rows: FloatArray, weights: FloatArray, profiles: FloatArray) -> FloatArray:
    """ln p(x, y) - ln p(x) - ln p(y) of rows (2, n) of normal scores, as in `fit_classes`, in nats, shape (n,)."""
    (sides, knots, k), n = profiles.shape, rows.shape[1]
    check(rows.shape[0] == 2 and sides == 2 and knots > 1 and weights.shape[0] == k)
    places, x, y = _places(rows, knots), np.empty(k), np.empty(k)
    both, of_x, of_y = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        _densities(profiles[0], places[0, i], x)
        _densities(profiles[1], places[1, i], y)
        together, alone, other = LEAST, LEAST, LEAST
        for j in range(k):
            together += weights[j] * x[j] * y[j]
            alone += weights[j] * x[j]
            other += weights[j] * y[j]
        both[i], of_x[i], of_y[i] = together, alone, other
    for i in range(n):
        both[i] = log(both[i]) - log(of_x[i]) - log(of_y[i])
    return both

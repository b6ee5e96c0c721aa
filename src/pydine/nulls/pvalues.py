"""P-values of correlations, and how several become one.

Correlations of normal columns have Wilks' distribution. Sums of squared correlations of many features, with weights,
are sums of chi-squared variables: their tails are integrals of the cumulant generating function through its saddlepoint
(Helstrom 1978), whose relative error stays small however far into the tail. The largest of them, each less a penalty,
has a product of chi-squared distributions. Both are functions of one number, and are tabulated once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc, chdtrc, ndtr, ndtri, ndtri_exp

from pydine.types import FloatArray

LARGEST_CORRELATION = 1.0 - 1e-12  # guard: for -ln(1 - r^2) to be finite
LEAST_PVALUE = float(np.finfo(np.float64).tiny)  # guard: no p-value is 0
LARGEST_COMBINED = 0.99  # answer: p-values above count as this, so that one block cannot speak against all others
SUM_AND_LARGEST = np.array([12.0, 1.0]) / 13.0  # answer: shares of the sum of cells, and of the largest
# answer: shares of the sums of products of x with z, and of y with z, and of the largest of these and of waves
SUMS_AND_LARGEST = np.array([1.0, 1.0, 4.0]) / 6.0
KNOTS = 100  # guard: of the tables of null distributions, between which is interpolated
STEP, STEPS = 0.25, 32  # guard: of an integral over a contour, in standard deviations
FROM_POLE = 0.5  # guard: standard deviations that a contour stays away from the pole at 0
FARTHEST = 1400.0  # guard: of a chi-squared variable; its p-value is below the smallest positive number


def beta_pvalues(correlations: FloatArray, dof: float) -> FloatArray:
    """P-values of correlations between single columns: Wilks' lambda, 1 - r^2, has a beta distribution."""
    share = np.clip(1.0 - correlations**2, 1.0 - LARGEST_CORRELATION, 1.0)
    pvalues: FloatArray = np.maximum(betainc(0.5 * (dof - 1), 0.5, share), LEAST_PVALUE)
    return pvalues


def wilks_pvalue(information: FloatArray, dx: int, dy: int, dof: float) -> FloatArray:
    """P-value of the Gaussian closed form under independence: Wilks' lambda by Rao's F.

    Parameters
    ----------
    information : ndarray
        Nats, without any correction: -0.5 ln(lambda).
    dx, dy : int
    dof : float

    Returns
    -------
    ndarray
        Exact in Gaussian samples for min(dx, dy) <= 2. Never 0: what underflows is the smallest positive number.
    """
    spread = dx * dx + dy * dy - 5
    s = np.sqrt((dx * dx * dy * dy - 4.0) / spread) if spread > 0 else 1.0
    first = dx * dy
    second = (dof - 0.5 * (dx + dy + 1)) * s - 0.5 * first + 1.0
    # With L = lambda^(1/s), F = (1 - L) / L * second / first, and P(F' > F) = I_L(second / 2, first / 2).
    share = np.exp(-2.0 * np.asarray(information) / s)
    pvalue: FloatArray = np.maximum(betainc(0.5 * second, 0.5 * first, share), LEAST_PVALUE)
    return pvalue


def closed_form(correlations: FloatArray) -> FloatArray:
    """-0.5 ln det(I - C C') of stacked matrices (m, dy, dx), in nats, shape (m,)."""
    one = correlations.shape[1:] == (1, 1)
    squares = (correlations[:, 0] if one else np.linalg.svd(correlations, compute_uv=False)) ** 2
    information: FloatArray = -0.5 * np.log1p(-np.minimum(squares, LARGEST_CORRELATION)).sum(axis=-1)
    return information


class Cells:
    """The null distribution of squared correlations of many pairs of features, each chi-squared.

    What is expected of a cell is one part in its degree. Two statistics look at them. The sum, each cell over its
    degree, sees dependence that is spread over cells, which it takes as independent. The largest value, each cell less
    its penalty of 2 ln(degree), sees dependence in one cell, and pays for having looked at all, the more so the higher
    its degree. If cells depend on each other, it pays too much, never too little (Sidak 1967).

    Parameters
    ----------
    degrees : iterable of float
        Of each cell, at least 1.
    """

    def __init__(self, degrees: Iterable[float]) -> None:
        counted = Counter(degrees)
        self._degrees = np.array(sorted(counted))
        self._counts = np.array([counted[degree] for degree in sorted(counted)])

    @classmethod
    def of(cls, degrees: FloatArray) -> Cells:
        """The same, with its tables kept for the next question that has such cells."""
        return _cells(tuple(sorted(degrees.tolist())))

    def pvalues(self, total: FloatArray, largest: FloatArray) -> FloatArray:
        """P-values of weighted sums and of penalised maxima, combined; same shape as either."""
        return cauchy(np.stack([self.of_sums(total), self.of_largest(largest)], axis=-1), SUM_AND_LARGEST)

    def with_sums(self, totals: list[FloatArray], dof: float, largest: FloatArray) -> FloatArray:
        """P-values of two chi-squared sums over some of the cells, one of each side, and of penalised maxima, combined.

        Both sums are nearly the same, but are not once rows are permuted: as two p-values, they have the same null
        distribution in both cases.
        """
        sums = [chdtrc(dof, total) for total in totals]
        return cauchy(np.stack([*sums, self.of_largest(largest)], axis=-1), SUMS_AND_LARGEST)

    def of_sums(self, total: FloatArray) -> FloatArray:
        """P-values of weighted sums."""
        pvalues: FloatArray = ndtr(-np.interp(np.cbrt(total), *self._sums))
        return pvalues

    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Weighted sums that are exceeded with these probabilities."""
        roots, quantiles = self._sums
        found: FloatArray = np.interp(-ndtri(probabilities), quantiles, roots) ** 3
        return found

    def of_largest(self, largest: FloatArray) -> FloatArray:
        """P-values of penalised maxima."""
        pvalues: FloatArray = np.exp(np.interp(largest, *self._maxima))
        return pvalues

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Third roots of weighted sums, ascending, and the normal quantiles of their tails, nearly a line.

        An upper tail is an integral of exp(K(s) - s x) / s over a contour that crosses the real axis between 0 and the
        end of K, the cumulant generating function; a lower one is that over a contour that crosses it below 0, but for
        its sign. Through the saddlepoint of x it falls fastest, so that a few points tell it, however small it is.
        """
        weights, counts = 1.0 / self._degrees[:, None, None], self._counts[:, None, None]
        # Saddlepoints s below half of the largest weight's inverse, denser towards it.
        upper = 1.0 - np.exp(-np.linspace(0.0, np.log(4.0 * FARTHEST), KNOTS))
        lower = -np.expm1(np.linspace(1e-3, np.log(1e4), KNOTS))
        s = 0.5 / weights.max() * np.concatenate([lower[::-1], upper])[:, None]
        sums = (counts * weights / (1.0 - 2.0 * weights * s)).sum(axis=0)
        apart = s * np.sqrt(_curvatures(counts, weights, s)[0])
        start = np.where(np.abs(apart) > FROM_POLE, s, s[np.argmax(apart > FROM_POLE)])
        (second, third), side = _curvatures(counts, weights, start), np.sign(start)
        along = STEP * (np.arange(STEPS) + 0.5) / np.sqrt(second)
        bend = third / (6.0 * second)
        path = start + 1j * along + bend * along**2
        logs = -0.5 * (counts * np.log(1.0 - 2.0 * weights * path)).sum(axis=0) - path * sums - np.log(side * path)
        highest = logs.real.max(axis=1)
        turns = np.exp(logs - highest[:, None]) * (1j + 2.0 * bend * along)
        tails = highest + np.log(turns.imag.sum(axis=1) * STEP / np.sqrt(second[:, 0]) / np.pi)
        return np.cbrt(sums[:, 0]), -side[:, 0] * ndtri_exp(tails)

    @cached_property
    def _maxima(self) -> tuple[FloatArray, FloatArray]:
        """Penalised maxima, ascending, and ln of their upper tails."""
        penalties = 2.0 * np.log(self._degrees)
        largest = np.concatenate([np.linspace(-penalties.max(), 40.0, 4 * KNOTS), np.linspace(41.0, FARTHEST, KNOTS)])
        tails = chdtrc(1.0, np.maximum(largest[:, None] + penalties, 0.0))
        missed = (self._counts * np.log1p(-np.minimum(tails, LARGEST_CORRELATION))).sum(axis=1)
        return largest, np.log(np.maximum(-np.expm1(missed), LEAST_PVALUE))


def _curvatures(counts: FloatArray, weights: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Second and third derivatives of the cumulant generating function of weighted chi-squared variables."""
    shares = weights / (1.0 - 2.0 * weights * s)
    return (2.0 * counts * shares**2).sum(axis=0), (8.0 * counts * shares**3).sum(axis=0)


@lru_cache(maxsize=64)
def _cells(degrees: tuple[float, ...]) -> Cells:
    return Cells(degrees)


def cauchy(pvalues: FloatArray, weights: FloatArray) -> FloatArray:
    """Combine p-values along the last axis with weights, shape (m,), that sum to 1.

    Each p-value becomes a Cauchy variable, cot(pi p). However these depend on each other, their weighted mean is Cauchy
    again as far as its upper tail is concerned (Liu and Xie 2020): several blocks that see the same dependence support
    each other, which no minimum has, and blocks that see nothing cost little. Combined in one step or in several, the
    result is the same.
    """
    used = np.flatnonzero(weights)
    if len(used) == 1:
        return pvalues[..., used[0]]
    angles = np.pi * np.clip(pvalues[..., used], LEAST_PVALUE, LARGEST_COMBINED)
    mean = (np.cos(angles) / np.sin(angles)) @ weights[used]
    found: FloatArray = np.maximum(np.arctan2(1.0, mean) / np.pi, LEAST_PVALUE)
    return found


def adjusted(pvalues: FloatArray, method: str) -> FloatArray:
    """P-values (m,) adjusted for multiple testing: ``"bh"`` (Benjamini-Hochberg) or ``"holm"``."""
    order, m = np.argsort(pvalues), len(pvalues)
    if method == "bh":  # as scipy.stats has it, which takes half a second to import
        stepwise = np.minimum.accumulate((pvalues[order] * (m / np.arange(1.0, m + 1.0)))[::-1])[::-1]
    else:
        stepwise = np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1))
    found = np.empty_like(pvalues)
    found[order] = np.minimum(stepwise, 1.0)
    return found

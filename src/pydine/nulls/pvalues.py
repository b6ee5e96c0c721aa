"""P-values of correlations, and how several become one.

Correlations of normal columns have Wilks' distribution. Sums of squared correlations of many features, with weights,
are sums of chi-squared variables: their tails follow from the cumulant generating function by the formula of Lugannani
and Rice (1980), whose relative error stays small however far into the tail. The largest of them, each less a penalty,
has a product of chi-squared distributions. Both are functions of one number, and are tabulated once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc, chdtrc, log_ndtr

from pydine.types import FloatArray

LARGEST_CORRELATION = 1.0 - 1e-12  # guard: for -ln(1 - r^2) to be finite
LEAST_PVALUE = float(np.finfo(np.float64).tiny)  # guard: no p-value is 0
LARGEST_COMBINED = 0.99  # answer: p-values above count as this, so that one block cannot speak against all others
SUM_AND_LARGEST = np.array([2.0, 1.0]) / 3.0  # answer: shares of what is spread over cells, and of what is in one
KNOTS = 400  # guard: of the tables of null distributions, between which ln p is interpolated
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

    Two statistics look at them. The weighted sum sees dependence that is spread over cells, which it takes as
    independent. The largest value, each cell less its penalty of 2 ln(degree), sees dependence in one cell, and pays
    for having looked at all, the more so the higher its degree. If cells depend on each other, it pays too much, never
    too little (Sidak 1967).

    Parameters
    ----------
    cells : iterable of tuples of float
        The weight and the degree of each; a degree is at least 1, and the larger, the less is expected of the cell.
    """

    def __init__(self, cells: Iterable[tuple[float, float]]) -> None:
        counted = Counter(cells)
        self._weights, self._degrees = np.array(sorted(counted)).T
        self._counts = np.array([counted[cell] for cell in sorted(counted)])

    @classmethod
    def of(cls, weights: FloatArray, degrees: FloatArray) -> Cells:
        """The same, with its tables kept for the next question that has such cells."""
        return _cells(tuple(sorted(zip(weights.tolist(), degrees.tolist(), strict=True))))

    def pvalues(self, total: FloatArray, largest: FloatArray) -> FloatArray:
        """P-values of weighted sums and of penalised maxima, combined; same shape as either."""
        return cauchy(
            np.stack([np.exp(np.interp(total, *self._sums)), self.of_largest(largest)], axis=-1), SUM_AND_LARGEST
        )

    def of_largest(self, largest: FloatArray) -> FloatArray:
        """P-values of penalised maxima."""
        pvalues: FloatArray = np.exp(np.interp(largest, *self._maxima))
        return pvalues

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Weighted sums, ascending, and ln of their upper tails: at each saddlepoint, both are known."""
        weights, counts = self._weights, self._counts
        # Saddlepoints s below half of the largest weight's inverse, denser towards it; none is 0, where r = 0.
        upper = 1.0 - np.exp(-np.linspace(1e-3, np.log(4.0 * FARTHEST), KNOTS))
        lower = -np.expm1(np.linspace(1e-3, np.log(1e4), KNOTS))
        s = 0.5 / weights.max() * np.concatenate([lower[::-1], upper])[:, None]
        left = 1.0 - 2.0 * weights * s
        sums = (counts * weights / left).sum(axis=1)
        cumulants = -0.5 * (counts * np.log(left)).sum(axis=1)
        curvature = (2.0 * counts * (weights / left) ** 2).sum(axis=1)
        s = s[:, 0]
        r = np.sign(s) * np.sqrt(2.0 * np.maximum(s * sums - cumulants, 0.0))
        return sums, log_ndtr(-(r + np.log(s * np.sqrt(curvature) / r) / r))

    @cached_property
    def _maxima(self) -> tuple[FloatArray, FloatArray]:
        """Penalised maxima, ascending, and ln of their upper tails."""
        penalties = 2.0 * np.log(self._degrees)
        largest = np.concatenate([np.linspace(-penalties.max(), 40.0, KNOTS), np.linspace(41.0, FARTHEST, KNOTS)])
        tails = chdtrc(1.0, np.maximum(largest[:, None] + penalties, 0.0))
        missed = (self._counts * np.log1p(-np.minimum(tails, LARGEST_CORRELATION))).sum(axis=1)
        return largest, np.log(np.maximum(-np.expm1(missed), LEAST_PVALUE))


@lru_cache(maxsize=64)
def _cells(cells: tuple[tuple[float, float], ...]) -> Cells:
    return Cells(cells)


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

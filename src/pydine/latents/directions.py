"""The leading directions of a side of many columns: principal components of its normal scores, given z.

They follow from one side alone. So however many columns there are, they are not fitted to the dependence that is to be
measured, and what they share with the other side is neither optimistic nor biased upwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from pydine.inputs.checks import MOST_DIRECTIONS
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, must_fit

# answer: deviations of the largest eigenvalue of noise, or canonical correlation of chance, beyond its mean, from which
# on one stands out: that of one sample in two hundred does (Tracy and Widom 1996).
BEYOND = 2.4
LEAST_VARIANCE = 1e-10  # guard: of a direction, in scores: copies and combinations of columns have less


@dataclass(frozen=True)
class Directions:
    """Combinations of the normal scores of one side's columns.

    Parameters
    ----------
    maps : tuple of ScoreMap
        One for each of d columns.
    loadings : ndarray, shape (k, d)
        Each of length 1, and orthogonal to the others.
    shares : ndarray, shape (k,)
        Of the columns' variance given z.
    """

    maps: tuple[ScoreMap, ...]
    loadings: FloatArray
    shares: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, self.loadings.ndim == 2 and self.loadings.shape == (len(self.shares), len(self.maps)))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Map rows (n, d) to their coordinates along the directions, shape (n, k)."""
        scores = [m(np.ascontiguousarray(column)) for m, column in zip(self.maps, rows.T, strict=True)]
        return (self.loadings @ np.array(scores)).T


def principal(columns: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Principal directions of columns (d, n), the first of largest variance, and their variances: (k, d) and (k,).

    At most `most`, and none without variance: so of copies and of linear combinations of columns nothing is counted
    twice. Signs are those with which the largest loadings are positive.
    """
    d, n = columns.shape
    if d <= n:
        variances, vectors = np.linalg.eigh(columns @ columns.T / n)
        loadings = vectors.T[::-1]
    else:  # more columns than rows
        variances, vectors = np.linalg.eigh(columns.T @ columns / n)
        kept = variances > LEAST_VARIANCE * max(variances[-1], LEAST_VARIANCE)
        variances = variances[kept]
        loadings = (columns @ (vectors[:, kept] / np.sqrt(n * variances))).T[::-1]
    variances = variances[::-1]
    k = min(most, int(np.count_nonzero(variances > LEAST_VARIANCE * max(variances[0], LEAST_VARIANCE))))
    loadings = loadings[:k]
    peaks = loadings[np.arange(k), np.abs(loadings).argmax(axis=1)]
    return loadings * np.where(peaks < 0.0, -1.0, 1.0)[:, None], variances[:k]


def standing_out(columns: FloatArray, loadings: FloatArray, dof: float) -> int:
    """How many principal directions of columns (d, n) have more variance than noise would, at least 1.

    What the first k directions leave of each column is scaled to unit variance, since columns that follow them closely
    have less noise. The largest eigenvalue of the covariance of d such columns of noise lies at the edge of Marchenko
    and Pastur's law, with deviations as in Johnstone (2001).

    Parameters
    ----------
    columns : ndarray, shape (d, n)
    loadings : ndarray, shape (m, d)
        Of all directions.
    dof : float
        Degrees of freedom of the columns.
    """
    n = columns.shape[1]
    for k in range(min(len(loadings), MOST_DIRECTIONS)):
        left = columns - loadings[:k].T @ (loadings[:k] @ columns)
        squares = np.einsum("ij,ij->i", left, left)
        left = left[squares > LEAST_VARIANCE * n] / np.sqrt(squares[squares > LEAST_VARIANCE * n])[:, None]
        if not len(left):
            return k
        gram = left @ left.T if len(left) <= n else left.T @ left
        largest = float(eigh(gram, eigvals_only=True, subset_by_index=[len(gram) - 1] * 2)[0])
        root_n, root_d = np.sqrt(dof - k), np.sqrt(len(left))
        spread = (root_n + root_d) * (1.0 / root_n + 1.0 / root_d) ** (1.0 / 3.0)
        if largest * (dof - k) <= (root_n + root_d) ** 2 + BEYOND * spread:
            return max(k, 1)
    return min(len(loadings), MOST_DIRECTIONS)

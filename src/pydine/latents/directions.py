"""The leading directions of a side of many columns: principal components of its normal scores, given z.

They follow from one side alone. So however many columns there are, they are not fitted to the dependence that is to be
measured, and what they share with the other side is neither optimistic nor biased upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from pydine.inputs.checks import MOST_DIRECTIONS
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, must_fit

# convention: deviations of the largest eigenvalue of noise, or canonical correlation of chance, beyond its mean, from
# which on one stands out: that of one sample in two hundred does (Tracy and Widom 1996).
BEYOND = 2.4
LEAST_NOISE = 0.1  # guard: least deviation of a column's noise, which is divided by
LEAST_VARIANCE = 1e-10  # guard: of a direction, in scores: copies and combinations of columns have less


@dataclass(frozen=True)
class Directions:
    """Combinations of the normal scores of one side's columns.

    Parameters
    ----------
    maps : tuple of ScoreMap
        One for each of d columns.
    loadings : ndarray, shape (k, d)
    """

    maps: tuple[ScoreMap, ...]
    loadings: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, self.loadings.ndim == 2 and self.loadings.shape[1] == len(self.maps))

    def only(self, chosen: Sequence[int]) -> Directions:
        """Some of the directions, in the order given."""
        return Directions(self.maps, self.loadings[list(chosen)])

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Map rows (n, d) to their coordinates along the directions, shape (n, k)."""
        scores = [m(np.ascontiguousarray(column)) for m, column in zip(self.maps, rows.T, strict=True)]
        return (self.loadings @ np.array(scores)).T


def principal(columns: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Principal directions of columns (d, n), the first of largest variance, and their variances: (k, d) and (k,).

    At most `most`, and none without variance: so of linear combinations of columns nothing is counted twice. Signs are
    those with which the largest loadings are positive.
    """
    d, n = columns.shape
    is_tall = d <= n
    gram = columns @ columns.T if is_tall else columns.T @ columns
    top = min(most, len(gram))
    variances, vectors = eigh(gram / n, subset_by_index=[len(gram) - top, len(gram) - 1])
    variances, vectors = variances[::-1], vectors[:, ::-1]
    k = int(np.count_nonzero(variances > LEAST_VARIANCE * max(variances[0], LEAST_VARIANCE)))
    variances, vectors = variances[:k], vectors[:, :k]
    loadings: FloatArray = vectors.T if is_tall else (columns @ (vectors / np.sqrt(n * variances))).T
    peaks = loadings[np.arange(k), np.abs(loadings).argmax(axis=1)]
    return loadings * np.where(peaks < 0.0, -1.0, 1.0)[:, None], variances


def standing_out(columns: FloatArray, dof: float, copies: FloatArray | None = None) -> FloatArray:
    """Directions that have more variance than noise would, at least one, as loadings of the columns, shape (k, d).

    Columns are scaled by what is noise in them, which is what the directions found so far leave: columns that follow
    these closely have less. The largest eigenvalue of the covariance of d columns of noise lies at the edge of
    Marchenko and Pastur's law, with deviations as in Johnstone (2001).

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Of unit variance.
    dof : float
        Degrees of freedom of the columns.
    copies : ndarray, shape (d,), optional
        How often each column is there. What many columns say is a direction, whether they say it exactly or nearly.
    """
    d, n = columns.shape
    often = np.ones(d) if copies is None else copies
    scale, k = np.sqrt(often), 0
    loadings, variances = principal(columns * scale[:, None], 2)
    for k in range(min(d, MOST_DIRECTIONS)):
        root_n, root_d = np.sqrt(dof - k), np.sqrt(d - k)
        spread = (root_n + root_d) * (1.0 / root_n + 1.0 / root_d) ** (1.0 / 3.0)
        if k >= len(variances) or variances[k] * dof <= (root_n + root_d) ** 2 + BEYOND * spread:
            break
        scaled, chosen = columns * scale[:, None], loadings[: k + 1]
        left = scaled - chosen.T @ (chosen @ scaled)
        kept = often - np.einsum("ij,ij->j", chosen, chosen)  # of the variance of noise
        squares = np.einsum("ij,ij->i", left, left) / (np.maximum(kept, LEAST_VARIANCE) * (n - k - 1))
        scale = np.sqrt(often) * np.minimum(
            scale / np.sqrt(np.maximum(often * squares, LEAST_VARIANCE)), 1.0 / LEAST_NOISE
        )
        loadings, variances = principal(columns * scale[:, None], k + 2)
    else:
        k += 1
    found: FloatArray = loadings[: max(k, 1)] * scale
    unit: FloatArray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit

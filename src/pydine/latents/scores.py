"""Normal scores: the monotone map of a column to a standard normal one, by ranks, and its extension to new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pydine.kernels.normal import rank_scores
from pydine.types import FloatArray, must_fit

# precision: knots of a thinned map, evenly spaced over the values, and at either end, where all are kept: every
# thirtieth of a million rows. Between knots scores err by about six ranks; their sampling error is about a thousand.
KNOTS, END_KNOTS = 1 << 15, 1 << 11
FARTHEST_SPANS = 1e300  # guard: most distance of a row beyond the sample, in units of the span of the outer values


@dataclass(frozen=True)
class ScoreMap:
    """The normal-score map of one column as a strictly increasing piecewise linear function.

    On the rows it was made from it gives their normal scores; between them it interpolates, and beyond them it goes
    on as a line, so every finite value has a finite score and order is kept.

    Parameters
    ----------
    values, scores : ndarray, shape (m,)
        The distinct values of the column in order, and their scores.
    """

    values: FloatArray
    scores: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        values, scores = self.values, self.scores
        must_fit(self, values.ndim == 1 and values.shape == scores.shape and len(values) > 0)
        must_fit(self, bool((values[1:] > values[:-1]).all() and (scores[1:] >= scores[:-1]).all()))

    @classmethod
    def fit(cls, column: FloatArray) -> tuple[ScoreMap, FloatArray]:
        """Make the map of a column, shape (n,), and the scores Phi^-1(rank / (n + 1)) of its rows, shape (n,).

        Ties get the average of their ranks.
        """
        order = np.argsort(column)
        in_order, table = column[order], rank_scores(len(column))
        if (in_order[1:] != in_order[:-1]).all():
            found = np.empty(len(column))
            found[order] = scores = table[2::2].copy()
            return cls(in_order, scores), found
        values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        double_ranks = 2 * np.cumsum(counts) - counts + 1  # ties have the average
        scores = table[double_ranks]
        return cls(values, scores), scores[inverse]

    def __call__(self, column: FloatArray) -> FloatArray:
        """Map new rows, shape (m,), to scores, shape (m,)."""
        mapped: FloatArray = np.interp(column, self.values, self.scores)
        edge = min(len(self.values) - 1, math.isqrt(len(self.values)))
        for inner, outer in ((edge, 0), (-1 - edge, -1)):
            rise, span = (a[outer] - a[inner] for a in (self.scores, self.values))
            excess = column - self.values[outer]
            beyond = excess < 0 if outer == 0 else excess > 0
            with np.errstate(over="ignore"):  # a column may span next to nothing
                mapped[beyond] += rise * np.minimum(excess[beyond] / span, FARTHEST_SPANS)
        return mapped

    def thinned(self) -> ThinnedMap:
        """The map with fewer knots, which is faster to evaluate."""
        m = len(self.values)
        if m <= KNOTS:
            return ThinnedMap(self, self.values, self.scores)
        inner = np.linspace(END_KNOTS, m - END_KNOTS - 1, KNOTS - 2 * END_KNOTS).astype(np.intp)
        chosen = np.concatenate([np.arange(END_KNOTS), inner, np.arange(m - END_KNOTS, m)])
        return ThinnedMap(self, self.values[chosen], self.scores[chosen])


@dataclass(frozen=True)
class ThinnedMap:
    """Some of the knots of a map, and the whole map for values beyond them."""

    whole: ScoreMap
    values: FloatArray
    scores: FloatArray

    def __call__(self, column: FloatArray) -> FloatArray:
        """Map new rows, shape (m,), to scores, shape (m,)."""
        mapped: FloatArray = np.interp(column, self.values, self.scores)
        beyond = (column < self.values[0]) | (column > self.values[-1])
        if beyond.any():
            mapped[beyond] = self.whole(column[beyond])
        return mapped

"""Tied values, spread: a density needs values that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.sample import Sample
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray
from pydine.units.rows import SEED, column_order, row_marks, signs

FEW_TIES = 0.01  # of the rows may be tied without harm to a density
LARGEST_SHIFT = 0.45  # of the gap to the next value


def without_ties(sample: Sample) -> Sample:
    """The sample with tied values of x and y spread at random, by less than half of the gap to the next value.

    What a column of integers tells of another is not changed by it (a draw tells nothing), but densities need it.
    The sample itself is returned if few of its rows are tied. The draws are always the same, and go to rows and columns
    by their values: another order of either, x and y exchanged, or a column that is negated, make no difference.
    """
    if not any(_is_tied(column) for block in (sample.x, sample.y) for column in block.T):
        return sample
    dx, columns = sample.x.shape[1], np.hstack([sample.x, sample.y, sample.z]).T
    scores = np.array([ScoreMap.fit(np.ascontiguousarray(column))[1] for column in columns])
    marks, places, rng = row_marks(scores), column_order(scores), np.random.default_rng(SEED)
    up = signs(scores, marks)
    # Different rows may have the same mark, as those of two values that are as frequent as each other do.
    rows = np.lexsort([*(scores * up[:, None])[places], marks])
    both = columns[: dx + sample.y.shape[1]].copy()
    for place in (i for i in places if i < len(both)):
        both[place] = _spread(both[place], rows, up[place], rng)
    return replace(sample, x=both[:dx].T, y=both[dx:].T)


def _is_tied(column: FloatArray) -> bool:
    counts = np.unique(column, return_counts=True)[1]
    return len(counts) > 1 and bool(counts[counts > 1].sum() > FEW_TIES * len(column))


def _spread(column: FloatArray, rows: RowArray, sign: float, rng: np.random.Generator) -> FloatArray:
    draws = np.empty(len(column))
    draws[rows] = rng.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, len(column))
    if not _is_tied(column):
        return column
    values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.diff(values)
    room = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
    spread: FloatArray = column + sign * np.where(counts > 1, room, 0.0)[inverse] * draws
    return spread

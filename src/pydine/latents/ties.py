"""Tied values, spread: a density needs values that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.sample import Sample
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.rows import SEED, row_marks, signs

FEW_TIES = 0.01  # of the rows may be tied without harm to a density
LARGEST_SHIFT = 0.45  # of the gap to the next value


def without_ties(sample: Sample) -> Sample:
    """The sample with tied values of x and y spread at random, by less than half of the gap to the next value.

    What a column of integers tells of another is not changed by it (a draw tells nothing), but densities need it.
    The sample itself is returned if few of its rows are tied. The draws are always the same, and go to rows by their
    values: rows in another order, or a column that is negated, make no difference.
    """
    if not any(_is_tied(column) for block in (sample.x, sample.y) for column in block.T):
        return sample
    blocks = sample.x, sample.y, sample.z
    marks = row_marks(np.array([ScoreMap.fit(np.ascontiguousarray(c))[1] for block in blocks for c in block.T]))
    order, rng = np.argsort(marks, kind="stable"), np.random.default_rng(SEED)
    x, y = (np.column_stack([_spread(c, order, marks, rng) for c in block.T]) for block in blocks[:2])
    return replace(sample, x=x, y=y)


def _is_tied(column: FloatArray) -> bool:
    counts = np.unique(column, return_counts=True)[1]
    return len(counts) > 1 and bool(counts[counts > 1].sum() > FEW_TIES * len(column))


def _spread(column: FloatArray, order: np.ndarray, marks: np.ndarray, rng: np.random.Generator) -> FloatArray:
    draws = np.empty(len(column))
    draws[order] = rng.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, len(column))
    if not _is_tied(column):
        return column
    values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.diff(values)
    room = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
    sign = signs(ScoreMap.fit(column)[1][None], marks)[0]
    spread: FloatArray = column + sign * np.where(counts > 1, room, 0.0)[inverse] * draws
    return spread

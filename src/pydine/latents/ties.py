"""Tied values, spread: a density needs values that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.rows import SEED, column_order, row_marks, signs

FEW_TIES = 0.01  # of the rows may be tied without harm to a density
LARGEST_SHIFT = 0.45  # of the gap to the next value


def without_ties(question: Question) -> Question:
    """The question with tied values of x and y spread at random, by less than half of the gap to the next value.

    What a column of integers tells of another is not changed by it (a draw tells nothing), but densities need it.
    The question itself is returned if few of its rows are tied. The draws are always the same, and go to rows by their
    values: rows in another order, or a column that is negated, make no difference.
    """
    table, sides = question.table, (*question.x, *question.y)
    tied = [i for i in sides if _is_tied(table.columns[i])]
    if not tied:
        return question
    scores = {i: ScoreMap.fit(table.columns[i])[1] for i in (*sides, *question.given)}
    marks = row_marks(np.array(list(scores.values())))
    order, columns = np.argsort(marks, kind="stable"), table.columns.copy()
    for k, i in enumerate([tied[k] for k in column_order(np.array([scores[i] for i in tied]))]):
        draws = np.empty(table.n_samples)
        draws[order] = np.random.default_rng([SEED, k]).uniform(-LARGEST_SHIFT, LARGEST_SHIFT, table.n_samples)
        columns[i] += signs(scores[i][None], marks)[0] * _room(columns[i]) * draws
    return replace(question, table=replace(table, columns=columns))


def _is_tied(column: FloatArray) -> bool:
    counts = np.unique(column, return_counts=True)[1]
    return len(counts) > 1 and bool(counts[counts > 1].sum() > FEW_TIES * len(column))


def _room(column: FloatArray) -> FloatArray:
    """The gap between a row's value and the nearest other one, where it is tied, and 0 elsewhere, shape (n,)."""
    values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.diff(values)
    room = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
    found: FloatArray = np.where(counts > 1, room, 0.0)[inverse]
    return found

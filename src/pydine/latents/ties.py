"""Jitter for tied values: a density needs values that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.rows import SEED, column_order, row_order, signs

FEW_TIES = 0.01  # answer: share of the rows that may be tied without harm to a density
LARGEST_SHIFT = 0.45  # guard: share of the gap to the next value: less than half, so that values stay in order


def without_ties(question: Question) -> Question:
    """The question with tied values of x and y spread at random, by less than half of the gap to the next value.

    Densities need it, and it does not change the information between columns, since the draws are independent of them.
    The question itself is returned if few of its rows are tied, or if float64 has no room between its values. The
    draws have a fixed seed and are assigned by the values of rows and columns, so the result does not depend on the
    order of either, on which side is x, or on the sign of a column.
    """
    table, sides = question.table, (*question.x, *question.y)
    tied = [i for i in sides if _is_tied(table.columns[i])]
    if not tied:
        return question
    scores = {i: ScoreMap.fit(table.columns[i])[1] for i in (*sides, *question.given)}
    every = np.array(list(scores.values()))
    order, up, rows = column_order(every), signs(every), row_order(every)
    places, columns, rng = list(scores), table.columns.copy(), np.random.default_rng(SEED)
    for k in [k for k in order if places[k] in tied]:
        draws = np.empty(table.n_samples)
        draws[rows] = rng.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, table.n_samples)
        columns[places[k]] += up[k] * _room(columns[places[k]]) * draws
    if np.array_equal(columns, table.columns):  # values are next to each other in float64, with no room between
        return question
    return replace(question, table=replace(table, columns=columns))


def _is_tied(column: FloatArray) -> bool:
    counts = np.unique(column, return_counts=True)[1]
    return len(counts) > 1 and bool(counts[counts > 1].sum() > FEW_TIES * len(column))


def _room(column: FloatArray) -> FloatArray:
    """The gap between a row's value and the nearest other value if the row is tied, and 0 otherwise, shape (n,)."""
    values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.diff(values)
    room = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
    found: FloatArray = np.where(counts > 1, room, 0.0)[inverse]
    return found

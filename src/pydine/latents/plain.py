"""Questions whose sides are continuous: what is given becomes numbers, and tied values, which have no density, differ.

The modules for other kinds (`latents.kinds`) are imported only when a question has a column of one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.kinds import Kind, atoms_of
from pydine.inputs.table import Question
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.rows import SEED, column_order, row_order, signs


def is_mixed(question: Question) -> bool:
    """Whether a side has a column that is not continuous."""
    table = question.table
    return any(not table.kind(i).is_continuous for i in (*question.x, *question.y))


def with_plain_given(question: Question) -> Question:
    """A question about continuous sides with its given columns as numbers: labels become indicators.

    Angles become cosine and sine. Ordered steps enter by their mid-ranks, with an indicator for each point mass.
    """
    table = question.table
    if not any(_needs_indicators(table.columns[i], table.kind(i)) for i in question.given):
        return question
    from pydine.latents.kinds.indicators import with_indicators

    return with_indicators(question)


def _needs_indicators(column: FloatArray, kind: Kind) -> bool:
    """Whether mid-ranks do not describe a given column: it has three labels, point masses, or lies on a circle."""
    if kind.is_around:
        return True
    if kind is Kind.NOMINAL:
        return len(np.unique(column)) > 2
    return kind is Kind.ORDINAL and len(atoms_of(column)) > 0


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

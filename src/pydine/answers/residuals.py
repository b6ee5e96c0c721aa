"""What functions of z leave of the sides of a question, in their own units: for partial plots."""

from __future__ import annotations

import numpy as np

from pydine.inputs.angles import around
from pydine.inputs.kinds import Kind
from pydine.inputs.table import Question, Table
from pydine.latents.flows import Latents
from pydine.types import FloatArray

__all__ = ["left_of", "numbers"]


def numbers(table: Table, i: int) -> FloatArray:
    """A column as a regression has it: itself, or an indicator for every label but the first, shape (c, n).

    An angle is its cosine and sine.
    """
    column: FloatArray = table.columns[i]
    if table.kind(i).is_around:
        return around(column)
    if table.kind(i) is not Kind.NOMINAL:
        return column.reshape(1, -1)
    found: FloatArray = (column[None] == np.unique(column)[1:, None]).astype(np.float64)
    return found


def left_of(question: Question, latents: Latents) -> tuple[FloatArray, FloatArray] | None:
    """Both sides less what functions of z predict of them, in their own units, shapes (n, dx) and (n, dy).

    None if a column is an angle, or holds labels of more than two kinds: these have no units.
    """
    found = []
    for side in (question.x, question.y):
        columns = [numbers(question.table, i) for i in side]
        if any(len(column) > 1 for column in columns):
            return None
        whole = np.vstack(columns)
        found.append(np.ascontiguousarray((latents.without_z(whole) if question.given else whole).T))
    return found[0], found[1]

"""Whether a question is about continuous columns alone, which takes no model of labels or steps; and given such.

What knows of other kinds (`latents.kinds`) is imported when a question has one.
"""

from __future__ import annotations

import numpy as np

from pydine.inputs.kinds import Kind, atoms_of
from pydine.inputs.table import Question
from pydine.types import FloatArray


def is_mixed(question: Question) -> bool:
    """Whether a side has a column that is not continuous."""
    table = question.table
    return any(table.kind(i) is not Kind.CONTINUOUS for i in (*question.x, *question.y))


def with_plain_given(question: Question) -> Question:
    """A question about continuous sides with what is given as numbers alone: labels are indicators.

    Ordered steps are their mid-ranks, and point masses among them have an indicator of their own.
    """
    table = question.table
    if not any(_needs_indicators(table.columns[i], table.kind(i)) for i in question.given):
        return question
    from pydine.latents.kinds.indicators import with_indicators

    return with_indicators(question)


def _needs_indicators(column: FloatArray, kind: Kind) -> bool:
    """Whether a column that is given says more than its mid-ranks do: three labels or more, or point masses."""
    if kind is Kind.NOMINAL:
        return len(np.unique(column)) > 2
    return kind is Kind.ORDINAL and len(atoms_of(column)) > 0

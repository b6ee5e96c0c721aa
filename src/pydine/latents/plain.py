"""Questions whose sides are continuous, which need no model of labels or steps, given columns of any kind.

The modules for other kinds (`latents.kinds`) are imported only when a question has a column of one.
"""

from __future__ import annotations

import numpy as np

from pydine.inputs.kinds import Kind, atoms_of
from pydine.inputs.table import Question
from pydine.types import FloatArray


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

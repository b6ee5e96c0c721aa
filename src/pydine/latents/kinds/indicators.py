"""Questions about numbers given columns of any kind, which are turned into numbers too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pydine.inputs.kinds import Kind
from pydine.inputs.table import Question, Table
from pydine.latents.kinds.canonical import canonical
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.levels import centred
from pydine.types import FloatArray


def with_indicators(question: Question) -> PlainQuestion:
    """A question whose given columns are numbers: indicators of labels and of point masses, mid-ranks of steps.

    Angles are their cosine and sine; one that is a side as well stays as it is, so that it is seen to determine it.
    """
    table = question.table
    every = (*question.x, *question.y, *question.given)
    sides, dx = len(question.x) + len(question.y), len(question.x)
    own = {table.signatures[i] for i in every[:sides]}
    kinds = [table.kind(i) for i in every[:sides]]
    kinds += [
        Kind.CONTINUOUS if table.kind(i) is Kind.ANGLE and table.signatures[i] in own else table.kind(i)
        for i in question.given
    ]
    columns = canonical([table.columns[i] for i in every], kinds)
    given = PlainGiven(tuple(columns[sides:]))
    seen = np.array(
        _numbers(table.columns[list(question.given)], given.columns, [c.among_numbers for c in given.columns])
    )
    rows = np.vstack([table.columns[list(every[:sides])], seen])
    counts = [len(column.context) for column in given.columns]
    names = [table.names[i] for i in every[:sides]]
    names += [table.names[i] for i, count in zip(question.given, counts, strict=True) for _ in range(count)]
    places, left = tuple(range(len(rows))), centred(table.rows, given.columns, table.n_samples)
    return PlainQuestion(
        Table(rows, tuple(names), table.kept, _kinds(question, len(rows)), rows=left),
        places[:dx],
        places[dx:sides],
        places[sides:],
        as_numbers=given,
    )


def _kinds(question: Question, count: int) -> tuple[Kind, ...]:
    """Kinds of continuous sides, and of numbers that follow them; none if no side is an angle."""
    sides = [kind for block in question.kinds[:2] for kind in block]
    more = [Kind.CONTINUOUS] * (count - len(sides))
    return (*sides, *more) if Kind.ANGLE in sides else ()


@dataclass(frozen=True, eq=False)
class PlainGiven:
    """Turns the given columns into numbers.

    Parameters
    ----------
    columns : tuple of Column
    """

    columns: tuple[Column, ...]

    def __call__(self, z: FloatArray) -> FloatArray:
        """Rows (m, dz) of the question's columns as rows (m, dz') of numbers."""
        blocks = np.ascontiguousarray(z.T)
        seen = [column.seen(column.coded(values)) for values, column in zip(blocks, self.columns, strict=True)]
        return np.array(_numbers(blocks, self.columns, seen)).T


def _numbers(blocks: FloatArray, columns: Sequence[Column], seen: Sequence[FloatArray]) -> list[FloatArray]:
    """Columns (n,) of numbers, from the given columns' values (dz, n) and what others see of each, (c, n)."""
    parts: list[FloatArray] = []
    for values, column, each in zip(blocks, columns, seen, strict=True):
        is_replaced = column.is_label or column.KIND.is_around
        parts += list(each) if is_replaced else [values, *each[1:]]
    return parts


@dataclass(frozen=True, eq=False)
class PlainQuestion(Question):
    """A question whose given columns represent those of another question as numbers.

    Parameters
    ----------
    as_numbers : PlainGiven, optional
        Maps rows of the other question's given columns to rows of these.
    """

    as_numbers: PlainGiven | None = None

"""The conditioning set of "given the rest": all other columns or, if these are too many, a selection of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.kinds.canonical import canonical
from pydine.types import FloatArray

__all__ = ["Rest", "rest_of"]

MOST_GIVEN = 30  # answer: columns of numbers that one question is given; with more to choose from they are screened
LEAST_LEFT = 1e-6  # guard: of a column that is no combination of those before, relative to its size


@dataclass(frozen=True)
class Rest:
    """The columns that stand for the rest.

    Parameters
    ----------
    columns : tuple of int
        Positions: of all columns if they are not too many, otherwise of the selection, in order.
    widths : dict of int to int
        How many numbers each is in a question: three labels are three indicators.
    is_whole : bool
        Whether they are all.
    """

    columns: tuple[int, ...]
    widths: dict[int, int]
    is_whole: bool

    def without(self, column: int) -> tuple[int, ...]:
        """What a column is given: the others, as far as they are not too many."""
        others = [i for i in self.columns if i != column]
        if self.is_whole:
            return tuple(others)
        sums = np.cumsum([self.widths[i] for i in others])
        return tuple(others[: int(np.searchsorted(sums, MOST_GIVEN, side="right"))])


def rest_of(whole: Question, alone: FloatArray) -> Rest:
    """Choose the columns that stand for the rest.

    Half of them are those that tell most about the target alone; then follow, one after the other, those that explain
    most of the residuals of a linear regression on the ones before, beyond chance: numbers by their normal scores,
    labels by their indicators. A column that by itself would be more numbers than a question is given, as one of very
    many labels may be, does not stand for the rest.

    Parameters
    ----------
    whole : Question
        About all columns, positions `whole.x`, and the target.
    alone : ndarray, shape (p,)
        What each of them tells alone, in nats.
    """
    table, every = whole.table, (*whole.x, *whole.y)
    seen = canonical([table.columns[i] for i in every], [table.kind(i) for i in every])
    widths = {i: len(column.context) for i, column in zip(every, seen, strict=True)}
    counts = np.array([widths[i] for i in whole.x])
    if counts.sum() - counts.min() <= MOST_GIVEN:
        return Rest(whole.x, widths, is_whole=True)
    blocks = [column.context - column.context.mean(axis=1, keepdims=True) for column in seen]
    left = np.vstack(blocks)
    left = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), LEAST_LEFT)
    ends = np.cumsum([0, *map(len, blocks)])
    parts = [slice(start, end) for start, end in itertools.pairwise(ends.tolist())]
    order = np.argsort(-alone, kind="stable").tolist()
    chosen: list[int] = []
    possible = set(np.flatnonzero(counts <= MOST_GIVEN).tolist())
    while counts[chosen].sum() <= MOST_GIVEN:
        free = possible.difference(chosen)
        by_line = np.array(
            [_explained(left, parts[i], parts[-1]) if i in free else -np.inf for i in range(len(counts))]
        )
        if not np.isfinite(by_line).any():
            break
        early = [i for i in order if np.isfinite(by_line[i])] if len(chosen) < MOST_GIVEN // 2 else []
        best = early[0] if early else int(np.argmax(by_line))
        if chosen and counts[chosen].sum() + counts[best] > MOST_GIVEN + 1:
            break
        chosen.append(best)
        directions = _basis(left[parts[best]])
        left = left - (left @ directions.T) @ directions
    return Rest(tuple(whole.x[i] for i in chosen), widths, is_whole=False)


def _basis(block: FloatArray) -> FloatArray:
    """An orthonormal basis of what the rows of a block (w, n) span, shape (rank, n)."""
    _, sizes, directions = np.linalg.svd(block, full_matrices=False)
    found: FloatArray = directions[sizes > LEAST_LEFT]
    return found


def _explained(left: FloatArray, part: slice, target: slice) -> float:
    """How much of the target's rows a block explains beyond chance; minus infinity if nothing is left of it."""
    block = left[part]
    if len(block) == 1:
        size = float(np.linalg.norm(block))
        directions = block / size if size > LEAST_LEFT else block[:0]
    else:
        directions = _basis(block)
    if not len(directions):
        return -np.inf
    goal = left[target]
    told = directions @ goal.T
    return float((told * told).sum() - len(directions) * (goal * goal).sum() / left.shape[1])

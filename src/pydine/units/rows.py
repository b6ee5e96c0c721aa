"""Rows and columns in an order of their own: whatever order they came in, the same data are treated in the same way.

An estimate needs partitions of the rows, places within ties, an order of the columns of z, and one side that goes
first. Each is arbitrary, and moves an answer a little. So each is derived from the values by rules that do not see in
what order rows and columns were passed, which of the sides was called x, or whether a column was negated, and what has
to be random is drawn once and for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray, RowArray

SEED = 0  # answer: of all that is drawn once and for all; any other would do
GOLDEN = 0.6180339887498949  # fact: its multiples fill the unit interval as evenly as can be
FIRST_PRIME, SECOND_PRIME = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


# --- rows -------------------------------------------------------------------------------------------------------------


def outwards(columns: FloatArray) -> RowArray:
    """Rows from the middle of columns (d, n) to their outskirts, shape (n,).

    Ties in distance are broken column by column. Columns must be normal scores or multiples of them.
    """
    distances = (columns * columns).sum(axis=0)
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.lexsort([*columns[::-1], *np.abs(columns[::-1]), distances])
    return order


def dealt(order: RowArray, folds: int, partition: int = 0) -> list[RowArray]:
    """Deal rows out to folds: neighbours in the order, as many as there are folds, go to different folds at random.

    So all folds have the same share of the middle and of the outskirts. `partition` numbers the ways to do so.
    """
    rng = np.random.default_rng([SEED, partition])
    neighbours = np.tile(np.arange(folds), (-(-len(order) // folds), 1))
    labels = rng.permuted(neighbours, axis=1).ravel()[: len(order)]
    return [order[labels == i] for i in range(folds)]


def some_of(order: RowArray, most: int) -> RowArray:
    """At most so many rows: one of every few neighbours in an order.

    Which of the neighbours varies, by multiples of the golden ratio. Scores come in pairs of the same size, so the same
    place in every group would often mean the same sign.
    """
    n = len(order)
    if n <= most:
        return order
    starts, within = np.arange(most + 1) * n // max(most, 1), np.mod((np.arange(most) + 0.5) * GOLDEN, 1.0)
    chosen: RowArray = order[starts[:-1] + (within * np.diff(starts)).astype(np.intp)]
    return chosen


# --- columns ----------------------------------------------------------------------------------------------------------


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit numbers one by one (the finaliser of Steele, Lea and Flood's SplitMix64, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_PRIME
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_PRIME
    scrambled: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return scrambled


def row_marks(scores: FloatArray) -> NDArray[np.uint64]:
    """A number for each row of columns (d, n), whatever their order and signs, shape (n,)."""
    sizes = np.abs(scores) + 0.0
    marks: NDArray[np.uint64] = _mixed(np.ascontiguousarray(sizes).view(np.uint64)).sum(axis=0, dtype=np.uint64)
    return marks


def column_order(scores: FloatArray) -> list[int]:
    """An order of columns (d, n) that is the same however they and their rows were ordered, or negated."""
    if len(scores) < 2:
        return list(range(len(scores)))
    marks = _mixed(row_marks(scores))
    sizes = np.ascontiguousarray(np.abs(scores) + 0.0).view(np.uint64)
    keys = _mixed(sizes ^ marks).sum(axis=1, dtype=np.uint64)
    return sorted(range(len(scores)), key=lambda i: int(keys[i]))


def signs(scores: FloatArray, marks: NDArray[np.uint64]) -> FloatArray:
    """1 or -1 for each of columns (d, n), the other one if the column is negated, by marks of the rows, shape (d,).

    It is the sign of a sum with coefficients that the marks give, in integers: the order of the rows does not matter.
    """
    coefficients = (marks >> np.uint64(44)).astype(np.int64) - 2**19
    sums = (np.round(scores * 2.0**20).astype(np.int64) * coefficients).sum(axis=1)
    return np.where(sums < 0, -1.0, 1.0)


@dataclass(frozen=True)
class View:
    """Latents of two sides as a base sees them: one side first, and each column with one of its two signs.

    Parameters
    ----------
    order : tuple of int
        Positions of the latents, the side that goes first in front.
    signs : ndarray, shape (dx + dy,)
        In that order, 1 or -1.
    is_swapped : bool
        Whether y goes first.
    """

    order: tuple[int, ...]
    signs: FloatArray
    is_swapped: bool

    def __call__(self, both: FloatArray) -> FloatArray:
        """Latents of x, then of y (dx + dy, n), as a base sees them."""
        seen: FloatArray = both[list(self.order)] * self.signs[:, None]
        return seen

    @classmethod
    def of(cls, scores: FloatArray, dx: int, dy: int) -> View:
        """Derive it from normal scores of x, y and z, shape (dx + dy + dz, n)."""
        marks = row_marks(scores)
        sides = [row_marks(scores[:dx]), row_marks(scores[dx : dx + dy])]
        keys = [int(_mixed(side ^ _mixed(marks)).sum(dtype=np.uint64)) for side in sides]
        is_swapped = (dy, keys[1]) < (dx, keys[0])
        x, y = range(dx), range(dx, dx + dy)
        order = (*y, *x) if is_swapped else (*x, *y)
        return cls(order, signs(scores[list(order)], marks), is_swapped)

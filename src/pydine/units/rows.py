"""Canonical orders and signs of rows and columns: whatever order they came in, the same data are treated alike.

An estimate needs partitions of the rows, places within ties, an order of the columns of z, and one side that goes
first. Each of these choices is arbitrary, and moves an answer a little. So each is derived from the values, by rules
that do not depend on the order in which rows and columns were passed, on which of the sides was called x, or on the
sign of a column. What has to be random is drawn with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.marks import bits_of, mixed
from pydine.marks import row_marks as row_marks
from pydine.sampling import SEED as SEED
from pydine.sampling import dealt as dealt
from pydine.types import FloatArray, RowArray, must_fit

DIGITS = 9  # guard: decimals of residuals that are ordered; steps on either side of the middle differ in later ones
GOLDEN = 0.6180339887498949  # fact: the golden ratio less 1; its multiples, modulo 1, fill the unit interval evenly


# --- rows -------------------------------------------------------------------------------------------------------------


def outwards(columns: FloatArray, ties: Callable[[], Sequence[FloatArray] | FloatArray] | None = None) -> RowArray:
    """Rows of columns (d, n) in the order of their distance from the origin, the nearest first, shape (n,).

    Ties in distance are broken column by column, and what is left of them by what `ties` makes, (n,) each. Columns must
    be normal scores or multiples of them, in a canonical order and with canonical signs.
    """
    distances = (columns * columns).sum(axis=0)
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.lexsort([*(ties() if ties else ()), *columns[::-1], *np.abs(columns[::-1]), distances])
    return order


EqualRows = tuple[RowArray, RowArray]  # which of the different rows each one is, (n,), and how often each comes up


def equal_rows(columns: FloatArray) -> EqualRows:
    """Find the rows of columns (d, n) that are equal."""
    rows = np.ascontiguousarray(columns.T + 0.0)
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()  # quicker to compare
    _, which, counts = np.unique(as_bytes, return_inverse=True, return_counts=True)
    return which, counts


def combinations(columns: FloatArray | list[FloatArray]) -> RowArray:
    """Which combination of the values of columns (d, n) each row has, numbered in the order of values, shape (n,)."""
    codes, count = np.zeros(len(columns[0]), dtype=np.intp), 1
    for i, column in enumerate(columns):  # several times as fast as whole rows in `np.unique`
        values, places = np.unique(column, return_inverse=True)
        codes, count = codes * len(values) + places, count * len(values)
        if i and (count > len(codes) or i == len(columns) - 1):
            found, codes = np.unique(codes, return_inverse=True)
            count = len(found)
    return codes


def evened(values: FloatArray, which: RowArray, counts: RowArray) -> FloatArray:
    """Average values (n,) over `equal_rows`: which of them is in which fold means nothing."""
    if len(counts) == len(values):
        return values
    means: FloatArray = (np.bincount(which, values) / counts)[which]
    return means


def some_of(order: RowArray, most: int) -> RowArray:
    """Thin an order to at most `most` rows: one of each group of neighbours.

    The place within the group varies, by multiples of the golden ratio. Scores come in pairs of the same absolute
    value, so a fixed place would often mean the same sign.
    """
    n = len(order)
    if n <= most:
        return order
    starts, within = np.arange(most + 1) * n // max(most, 1), np.mod((np.arange(most) + 0.5) * GOLDEN, 1.0)
    chosen: RowArray = order[starts[:-1] + (within * np.diff(starts)).astype(np.intp)]
    return chosen


# --- columns ----------------------------------------------------------------------------------------------------------


def _keys(scores: FloatArray, marks: NDArray[np.uint64]) -> list[int]:
    """A hash of each of columns (d, n) with the rows' hashes (n,), which does not depend on the order of the rows."""
    keys: list[int] = mixed(bits_of(scores) ^ mixed(marks)).sum(axis=1, dtype=np.uint64).tolist()
    return keys


def column_order(scores: FloatArray, others: FloatArray | None = None) -> list[int]:
    """A canonical order of columns (d, n), the same however columns and rows were ordered and columns negated.

    Columns that have the same absolute values in all rows, as two yes/no columns may, are told apart by their signs.
    `others` (d', n) stand beside them, and help to tell rows apart.
    """
    d = len(scores)
    if d < 2:
        return list(range(d))
    every = scores if others is None else np.vstack([scores, others])
    keys = _keys(np.abs(scores), row_marks(every))
    if len(set(keys)) < d:
        signed = every * signs(every)[:, None]
        keys = _keys(signed[:d], mixed(bits_of(signed)).sum(axis=0, dtype=np.uint64))
    return sorted(range(d), key=lambda i: keys[i])


def signs(scores: FloatArray) -> FloatArray:
    """Canonical signs, 1 or -1, of columns (d, n), each of which flips if its column is negated, shape (d,).

    The sign is that of a sum over rows with coefficients from the rows' hashes. The sum is one of integers, so the
    order of the rows does not matter. It is 0 for a column that is symmetric beside the absolute values of the others;
    those of known sign then enter the hashes with it, and where none is known, the first column is taken as it is.
    """
    found, marks = np.zeros(len(scores)), row_marks(scores)
    whole = np.round(scores * 2.0**20).astype(np.int64)
    while not found.all():
        left = np.flatnonzero(found == 0.0)
        coefficients = (marks >> np.uint64(44)).astype(np.int64) - 2**19
        sums = np.sign((whole[left] * coefficients).sum(axis=1))
        if not sums.any():
            sums[int(np.argmin(_keys(np.abs(scores[left]), marks)))] = 1
        found[left] = sums
        if not found.all():
            known = left[sums != 0]
            marks = marks + mixed(bits_of(scores[known] * found[known, None])).sum(axis=0, dtype=np.uint64)
    return found


def row_order(columns: FloatArray) -> RowArray:
    """A canonical order of the rows of columns (d, n), the same however rows and columns came, and columns negated.

    Only rows that are equal stay in the order in which they came.
    """
    up, order = signs(columns), column_order(columns)
    # Different rows may have the same mark: those of two equally frequent values do.
    return np.lexsort([*(columns * up[:, None])[order], row_marks(columns)])


@dataclass(frozen=True)
class Arrangement:
    """A canonical order and canonical signs of columns.

    Parameters
    ----------
    order : tuple of int
        Positions of the columns, in the order in which they are to be seen.
    signs : ndarray, shape (d,)
        In that order, 1 or -1.
    """

    order: tuple[int, ...]
    signs: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        d = len(self.order)
        must_fit(self, sorted(self.order) == list(range(d)) and self.signs.shape == (d,))
        must_fit(self, bool((np.abs(self.signs) == 1.0).all()))

    def __call__(self, columns: FloatArray) -> FloatArray:
        """Arrange columns (d, n)."""
        if len(columns) != len(self.order):
            raise ValueError(f"this model is of {len(self.order)} columns of context, not of {len(columns)}")
        seen: FloatArray = columns[list(self.order)] * self.signs[:, None]
        return seen

    def places(self, columns: RowArray) -> tuple[RowArray, FloatArray]:
        """Where columns are after they have been arranged, and their signs, shapes (d',)."""
        found = np.argsort(self.order)[columns]
        return found, self.signs[found]

    def undone(self, seen: FloatArray) -> FloatArray:
        """Columns (d, n) as they were before they were arranged."""
        columns: FloatArray = np.empty(seen.shape)
        columns[list(self.order)] = seen * self.signs[:, None]
        return columns

    @classmethod
    def beside(cls, columns: FloatArray, others: FloatArray) -> Arrangement:
        """The arrangement of columns (d, n) that stand beside others (d', n), whose order and signs do not matter."""
        order = column_order(columns, others)
        return cls(tuple(order), signs(np.vstack([columns, others]))[order])


@dataclass(frozen=True)
class View(Arrangement):
    """The canonical arrangement in which a base sees the latents: which side goes first, and each side's columns.

    Parameters
    ----------
    order : tuple of int
        Positions of the latents, the side that goes first in front.
    signs : ndarray, shape (dx + dy,)
        In that order, 1 or -1.
    is_swapped : bool
        Whether y goes first.
    """

    is_swapped: bool

    @classmethod
    def of(cls, scores: FloatArray, dx: int, dy: int) -> View:
        """Derive the arrangement from normal scores of x, y and z, shape (dx + dy + dz, n)."""
        marks = row_marks(scores)
        sides = scores[:dx], scores[dx : dx + dy]
        keys = [int(mixed(row_marks(side) ^ mixed(marks)).sum(dtype=np.uint64)) for side in sides]
        is_swapped = (dy, keys[1]) < (dx, keys[0])
        x, y = (
            column_order(sides[0], scores[dx:]),
            [dx + i for i in column_order(sides[1], np.delete(scores, range(dx, dx + dy), 0))],
        )
        order = (*y, *x) if is_swapped else (*x, *y)
        return cls(order, signs(scores)[list(order)], is_swapped)

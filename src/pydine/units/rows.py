"""Canonical orders and signs of rows and columns: whatever order they came in, the same data are treated alike.

An estimate needs partitions of the rows, places within ties, an order of the columns of z, and one side that goes
first. Each of these choices is arbitrary, and moves an answer a little. So each is derived from the values, by rules
that do not depend on the order in which rows and columns were passed, on which of the sides was called x, or on the
sign of a column. What has to be random is drawn with a fixed seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray, RowArray, must_fit

SEED = 0  # answer: of folds, starts of networks, jitter, sketches and generated data; any other would do
PARTITIONS_KEPT = 4  # memory: each as large as the rows' order
GOLDEN = 0.6180339887498949  # fact: the golden ratio less 1; its multiples, modulo 1, fill the unit interval evenly
FIRST_PRIME, SECOND_PRIME = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


# --- rows -------------------------------------------------------------------------------------------------------------


def outwards(columns: FloatArray) -> RowArray:
    """Rows of columns (d, n) in the order of their distance from the origin, the nearest first, shape (n,).

    Ties in distance are broken column by column. Columns must be normal scores or multiples of them.
    """
    distances = (columns * columns).sum(axis=0)
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.lexsort([*columns[::-1], *np.abs(columns[::-1]), distances])
    return order


def dealt(order: RowArray, folds: int, partition: int = 0) -> list[RowArray]:
    """Deal rows out to folds: of every `folds` consecutive rows in the order, each fold gets one, at random.

    So all folds have the same share of central and of outlying rows. `partition` is the number of the partition: each
    has draws of its own.
    """
    return [order[places] for places in _places(len(order), folds, (SEED, partition))]


@lru_cache(maxsize=PARTITIONS_KEPT)
def _places(n: int, folds: int, seeds: tuple[int, ...]) -> tuple[RowArray, ...]:
    """The places in an order of n rows that each fold gets: all units and bases deal alike."""
    rng = np.random.default_rng(seeds)
    neighbours = np.tile(np.arange(folds), (-(-n // folds), 1))
    labels = rng.permuted(neighbours, axis=1).ravel()[:n]
    return tuple(np.flatnonzero(labels == i) for i in range(folds))


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


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit numbers one by one (the finaliser of Steele, Lea and Flood's SplitMix64, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_PRIME
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_PRIME
    scrambled: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return scrambled


def row_marks(scores: FloatArray) -> NDArray[np.uint64]:
    """A hash of each row of columns (d, n), which does not depend on the columns' order and signs, shape (n,)."""
    sizes = np.abs(scores) + 0.0
    marks: NDArray[np.uint64] = _mixed(np.ascontiguousarray(sizes).view(np.uint64)).sum(axis=0, dtype=np.uint64)
    return marks


def column_order(scores: FloatArray) -> list[int]:
    """A canonical order of columns (d, n), the same however columns and rows were ordered and columns negated."""
    if len(scores) < 2:
        return list(range(len(scores)))
    marks = _mixed(row_marks(scores))
    sizes = np.ascontiguousarray(np.abs(scores) + 0.0).view(np.uint64)
    keys = _mixed(sizes ^ marks).sum(axis=1, dtype=np.uint64)
    return sorted(range(len(scores)), key=lambda i: int(keys[i]))


def signs(scores: FloatArray, marks: NDArray[np.uint64]) -> FloatArray:
    """A canonical sign, 1 or -1, of each of columns (d, n), which flips if the column is negated, shape (d,).

    It is the sign of a sum over rows with coefficients from `marks`, the rows' hashes. The sum is one of integers, so
    the order of the rows does not matter.
    """
    coefficients = (marks >> np.uint64(44)).astype(np.int64) - 2**19
    sums = (np.round(scores * 2.0**20).astype(np.int64) * coefficients).sum(axis=1)
    return np.where(sums < 0, -1.0, 1.0)


@dataclass(frozen=True)
class View:
    """The canonical arrangement in which a base sees the latents: which side goes first, and each column's sign.

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

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        d = len(self.order)
        must_fit(self, sorted(self.order) == list(range(d)) and self.signs.shape == (d,))

    def __call__(self, both: FloatArray) -> FloatArray:
        """Arrange latents of x, then of y, shape (dx + dy, n), as a base sees them."""
        seen: FloatArray = both[list(self.order)] * self.signs[:, None]
        return seen

    def undone(self, seen: FloatArray) -> FloatArray:
        """The arrangement of the caller, of latents (dx + dy, n) as a base sees them."""
        both: FloatArray = np.empty(seen.shape)
        both[list(self.order)] = seen * self.signs[:, None]
        return both

    @classmethod
    def of(cls, scores: FloatArray, dx: int, dy: int) -> View:
        """Derive the arrangement from normal scores of x, y and z, shape (dx + dy + dz, n)."""
        marks = row_marks(scores)
        sides = [row_marks(scores[:dx]), row_marks(scores[dx : dx + dy])]
        keys = [int(_mixed(side ^ _mixed(marks)).sum(dtype=np.uint64)) for side in sides]
        is_swapped = (dy, keys[1]) < (dx, keys[0])
        x, y = range(dx), range(dx, dx + dy)
        order = (*y, *x) if is_swapped else (*x, *y)
        return cls(order, signs(scores[list(order)], marks), is_swapped)

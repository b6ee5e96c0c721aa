"""Rows that stand more than once in a table: imported twice, drawn with replacement, repeated to balance classes.

A row that is there twice tells nothing new, but a model that has seen the one knows the other, and finds information
where there is none. So each such row is counted once.

Steps and labels repeat by nature, and so do rows of them. Two rows that have a *continuous* value in common are copies
of each other if they agree in everything else as well: real numbers do not repeat. Numbers with few decimals do, and
their logarithms, and a label that follows them is then often the same. If the values lie on a grid, or if any rows that
have one in common differ in the rest, so that values repeat without copies, rows with the same value must agree clearly
more often than rows whose values are next to each other would lead to expect, and far more often if other columns are
continuous, since two numbers may follow each other so closely that one step makes the difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray

# answer: by what factor neighbours agree less often than rows with the same value, where other columns are continuous
FACTOR = 3.0
EVEN = 1e-9  # guard: distances that differ by this share of a column's range are equal
ERRORS = 4.0  # answer: standard errors by which they must, whatever the factor, and pairs: chance does not come near it


def distinct_rows(columns: Sequence[FloatArray], is_continuous: Sequence[bool]) -> NDArray[np.bool_] | None:
    """Which of n rows of columns, (n,) each, are no copies of one before them, shape (n,); None if all are none."""
    n = len(columns[0])
    tied = {i: _pairs(np.unique(columns[i], return_counts=True)[1]) for i in np.flatnonzero(is_continuous).tolist()}
    fewest = min(tied.values(), default=0.0)
    if fewest == 0.0:
        return None
    order, equal = _equal_rows(columns)
    counts = np.diff(np.append(np.flatnonzero(~equal), n))
    alike, others = _pairs(counts) / fewest, len(tied) > 1
    usual = 0.0
    for i in (i for i, pairs in tied.items() if pairs == fewest):
        if alike < 1.0 or _is_on_grid(columns[i]):
            usual = max(usual, _agreement(columns[i], [*columns[:i], *columns[i + 1 :]]))
    # A pair or two with the same rounded number has the same label if the label follows the number.
    fewer = 1.0 / n if others else 1.0 / fewest
    chance = ERRORS * float(np.sqrt(6.0 * usual * (1.0 - usual) / n + fewer**2))
    if alike <= (FACTOR if others else 1.0) * usual + chance:
        return None
    kept: NDArray[np.bool_] = np.zeros(n, dtype=np.bool_)
    kept[np.minimum.reduceat(order, np.flatnonzero(~equal))] = True
    return kept


def _pairs(counts: NDArray[np.intp]) -> float:
    """How many pairs of rows there are in groups of these sizes."""
    return float((counts * (counts - 1.0)).sum() / 2.0)


def _equal_rows(columns: Sequence[FloatArray]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """An order of the rows, column by column, and whether each row equals the one before it."""
    order = np.lexsort(columns[::-1])
    equal = np.ones(len(order), dtype=np.bool_)
    equal[0] = False
    for column in columns:
        in_order = column[order]
        equal[1:] &= in_order[1:] == in_order[:-1]
    return order, equal


def _is_on_grid(column: FloatArray) -> bool:
    """Whether distances between neighbouring values of a column (n,) repeat, as those of rounded numbers do."""
    gaps = np.diff(np.unique(column))
    return len(np.unique(np.round(gaps / (EVEN * np.ptp(column))))) < 0.5 * len(gaps)


def _agreement(first: FloatArray, rest: Sequence[FloatArray]) -> float:
    """Share of rows with the same value in `first` that would agree in the rest, if they are no copies.

    It is what a line through the shares of those with neighbouring values, and with the next but one, has at a distance
    of 0. Every pair of such rows is counted, seen from either of the two.
    """
    places, key = np.unique(first, return_inverse=True)[1], np.zeros(len(first), dtype=np.int64)
    if rest:
        order, equal = _equal_rows(rest)
        key[order] = np.cumsum(~equal)
    sizes = np.bincount(places)
    cells, counts = np.unique(key * len(sizes) + places, return_counts=True)
    value, shares = cells % len(sizes), []
    for step in (1, 2):
        if len(sizes) <= step:
            return 1.0
        there = np.searchsorted(cells, cells + step).clip(max=len(cells) - 1)
        met = np.flatnonzero((cells[there] == cells + step) & (value < len(sizes) - step))
        here, beyond = sizes[value[met]], sizes[value[met] + step]
        agreed = (counts[met] * counts[there[met]] * (1.0 / here + 1.0 / beyond)).sum()
        shares.append(float(agreed / (sizes[step:].sum() + sizes[:-step].sum())))
    return float(np.clip(2.0 * shares[0] - shares[1], shares[0], 1.0))

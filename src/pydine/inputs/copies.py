"""Rows that stand more than once in a table: imported twice, drawn with replacement, repeated to balance classes.

A row that is there twice tells nothing new, but a model that has seen the one knows the other, and finds information
where there is none. So each such row is counted once.

Steps and labels repeat by nature, and so do rows of them. Two rows that have a *continuous* value in common are copies
of each other if they agree in everything else as well: real numbers do not repeat. Numbers with few decimals do, and a
label that follows them is then the same. If the values lie on a grid, or if most rows that have one in common differ in
the rest, so that values repeat without copies, rows with the same value must agree clearly
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
SEED = 0  # answer: of which neighbours are compared; any other would do
MOST = 0.5  # answer: of the pairs with a value in common; if fewer are equal, values repeat without copies
EVEN = 1e-9  # guard: distances that differ by this share of a column's range are equal
ERRORS = 4.0  # answer: standard errors by which they must, whatever the factor, and pairs: chance does not come near it


def distinct_rows(columns: Sequence[FloatArray], is_continuous: Sequence[bool]) -> NDArray[np.bool_] | None:
    """Which of n rows of columns, (n,) each, are no copies of one before them, shape (n,); None if all are none."""
    n, fewest, chosen = len(columns[0]), np.inf, -1
    for i in np.flatnonzero(is_continuous).tolist():
        tied = _pairs(np.unique(columns[i], return_counts=True)[1])
        if tied == 0.0:
            return None
        if tied < fewest:
            fewest, chosen = tied, i
    if chosen < 0:
        return None
    tied_by, rest = columns[chosen], [*columns[:chosen], *columns[chosen + 1 :]]
    order, equal = _equal_rows(tied_by, rest)
    counts = np.diff(np.append(np.flatnonzero(~equal), n))
    alike, others = _pairs(counts) / fewest, sum(is_continuous) > 1
    usual = _agreement(tied_by, rest, order) if alike < MOST or _is_on_grid(tied_by) else 0.0
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


def _equal_rows(first: FloatArray, rest: Sequence[FloatArray]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """An order of the rows, by one column and then by all others, and whether each row equals the one before it."""
    order = np.lexsort([*rest, first])
    equal = np.ones(len(order), dtype=np.bool_)
    equal[0] = False
    for column in (first, *rest):
        in_order = column[order]
        equal[1:] &= in_order[1:] == in_order[:-1]
    return order, equal


def _is_on_grid(column: FloatArray) -> bool:
    """Whether distances between neighbouring values of a column (n,) repeat, as those of rounded numbers do."""
    gaps = np.diff(np.unique(column))
    return len(np.unique(np.round(gaps / (EVEN * np.ptp(column))))) < 0.5 * len(gaps)


def _agreement(first: FloatArray, rest: Sequence[FloatArray], order: NDArray[np.intp]) -> float:
    """Share of rows with the same value in `first` that would agree in the rest, if they are no copies.

    It is what a line through the shares of those with neighbouring values, and with the next but one, has at a distance
    of 0.
    """
    value = first[order]
    starts = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    sizes = np.diff(np.append(starts, len(order)))
    rng, shares = np.random.default_rng(SEED), []
    for step in (1, 2):
        if len(starts) <= step:
            return 1.0
        group = np.repeat(np.arange(len(starts) - step), sizes[:-step])
        # Within a value rows are sorted by the rest: a partner's place must have nothing to do with a row's own.
        partner = starts[group + step] + rng.integers(sizes[group + step])
        here, there = order[: len(group)], order[partner]
        agree = np.ones(len(group), dtype=np.bool_)
        for column in rest:
            agree &= column[here] == column[there]
        shares.append(float(agree.mean()))
    return float(np.clip(2.0 * shares[0] - shares[1], shares[0], 1.0))

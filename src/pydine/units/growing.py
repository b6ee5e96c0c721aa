"""Growing samples: whatever is learned is learned from a part of the rows first, and then from twice as many.

Each doubling starts from what the smaller sample has shown, so that most steps are taken where they cost little. It
goes on until another doubling gains less than matters beside the sampling error of all rows, which no learning removes,
and at most to `max_rows`, which is a cap on time.
"""

from __future__ import annotations

import numpy as np

from pydine.types import FloatArray, RowArray
from pydine.units.evidence import NEGLIGIBLE
from pydine.units.rows import some_of

# answer: rows of the smallest part, at least, and for each parameter; up to twice as many are learned from at once. A
# larger network is tried if it has so many for each parameter.
FEWEST, ROWS_PER_PARAMETER = 6000, 25


def sizes(n: int, parameters: int = 0) -> list[int]:
    """Numbers of rows to learn so many parameters from: the last is n, and each is half of the next."""
    found, fewest = [n], max(FEWEST, ROWS_PER_PARAMETER * parameters)
    while found[-1] >= 2 * fewest:
        found.append(found[-1] // 2)
    return found[::-1]


def part_of(n: int, m: int) -> RowArray | slice:
    """The places of m of n rows, spread evenly over their order."""
    return slice(None) if m >= n else some_of(np.arange(n), m)


def suffices(before: FloatArray, after: FloatArray, n: int) -> bool:
    """Whether so many rows are enough: twice as many have gained less than matters beside the sampling error.

    Parameters
    ----------
    before, after : ndarray, shape (m,)
        Log-densities of held-out rows, in nats, by models of half as many rows, and of so many.
    n : int
        All rows, over which the sampling error is taken.
    """
    return bool((after - before).mean() < NEGLIGIBLE * after.std() / np.sqrt(n))

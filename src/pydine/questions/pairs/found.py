"""What is known of the pairs of a table, as it is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import Kind
from pydine.types import FloatArray, RowArray

Pair = tuple[int, int]
Positions = tuple[NDArray[np.intp], NDArray[np.intp]]  # of the first and of the second variables of pairs
# What is known of each pair, one after the other.
FIGURES = ("values", "errors", "below", "above", "pvalues", "degrees", "bases")


@dataclass
class Pairs:
    """What is known of pairs, one entry each; filled in as it is found.

    `is_shared`: whether what z does was projected out of all columns together, not pair by pair.
    """

    pairs: Positions
    values: FloatArray
    errors: FloatArray
    below: FloatArray
    above: FloatArray
    pvalues: FloatArray
    degrees: FloatArray
    bases: NDArray[np.str_]
    counts: RowArray
    n_general: int = 0
    is_shared: bool = False
    kinds: tuple[str, ...] = ()
    entropies: tuple[float, ...] = ()

    @classmethod
    def empty(cls, p: int) -> Pairs:
        """Nothing known yet of the pairs of p variables."""
        pairs = np.triu_indices(p, 1)
        count = len(pairs[0])
        values, errors, below, above, pvalues = np.full((5, count), np.nan)
        bases, counts = np.full(count, "gaussian", dtype="U8"), np.zeros(count, dtype=np.intp)
        degrees = np.full(count, np.inf)
        return cls(pairs, values, errors, below, above, pvalues, degrees, bases, counts)

    def pair(self, k: int) -> Pair:
        """Positions of the two variables of the k-th pair."""
        return int(self.pairs[0][k]), int(self.pairs[1][k])

    def determined(self, names: list[str]) -> list[tuple[str, str]]:
        """Names of the pairs whose information is known to be 0, because a side is determined by what is given."""
        places = [self.pair(k) for k in np.flatnonzero((self.values == 0.0) & (self.errors == 0.0)).tolist()]
        return [(names[i], names[j]) for i, j in places]

    def matrix(self, p: int, entries: NDArray[Any], diagonal: Any = np.nan) -> Any:
        """Entries of pairs as a symmetric matrix, shape (p, p)."""
        matrix = np.full((p, p), diagonal, dtype=entries.dtype)
        first, second = self.pairs
        matrix[first, second] = matrix[second, first] = entries
        return matrix


def kinds_of(kinds: Iterable[Kind]) -> str:
    """The kinds of a variable's columns, each once."""
    return "/".join(dict.fromkeys(map(str, kinds)))

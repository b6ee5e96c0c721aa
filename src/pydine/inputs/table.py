"""One table of clean columns, and a question about it: what every door reads into, and all that lies below works on.

There is one kind of column, real numbers. Another one (counts, labels) would begin here: a `Table` would say which kind
each of its columns is, while a `Question` names columns by position and need not know. CONTRIBUTING.md has the recipe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pydine.inputs.checks import Kept
from pydine.types import FloatArray, RowArray


@dataclass(frozen=True, eq=False)
class Table:
    """Clean columns: finite, none constant, with as many rows each.

    Parameters
    ----------
    columns : ndarray of float64, shape (p, n)
        C-contiguous, in memory of its own.
    names : tuple of str
    kept : ndarray of bool, shape (rows of the data,), optional
        Which rows of the data these are, if some were left out because of NaN or infinity.
    """

    columns: FloatArray
    names: tuple[str, ...]
    kept: Kept = None

    @classmethod
    def of(cls, blocks: Sequence[FloatArray], names: Sequence[tuple[str, ...]] = (), kept: Kept = None) -> Table:
        """Columns of several blocks (n, d_i), side by side."""
        # Straight into their places: side by side first would be one more copy of all data.
        columns = np.empty((sum(block.shape[1] for block in blocks), len(blocks[0])))
        start = 0
        for block in blocks:
            columns[start : start + block.shape[1]] = block.T
            start += block.shape[1]
        every = tuple(name for block in names for name in block)
        return cls(columns, every or tuple(map(str, range(len(columns)))), kept)

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.columns.shape[1])

    @property
    def n_dropped(self) -> int:
        """Rows that were left out because of NaN or infinity."""
        return 0 if self.kept is None else int((~self.kept).sum())

    @property
    def positions(self) -> RowArray:
        """Where the rows were in the data, counted from 0, shape (n,)."""
        return np.arange(self.n_samples) if self.kept is None else np.flatnonzero(self.kept)

    @cached_property
    def signatures(self) -> tuple[bytes, ...]:
        """One for each column; those of columns that are strictly monotone functions of each other are the same."""
        return tuple(signature_of(column) for column in self.columns)


def signature_of(column: FloatArray) -> bytes:
    """A hash of the ranks of a column (n,), or of the reversed ones: those whose first entry off the middle is less."""
    _, ranks = np.unique(column, return_inverse=True)
    ranks = ranks.astype(np.int64)
    top = int(ranks.max())
    first = int(np.argmax(2 * ranks != top))
    is_reversed = 2 * int(ranks[first]) > top
    return hashlib.blake2b((top - ranks if is_reversed else ranks).data, digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class Question:
    """How much does X tell about Y, given Z? Columns by their positions in a table.

    Parameters
    ----------
    table : Table
    x, y, given : tuple of int
        Positions. In which order those of `given` stand makes no difference to an answer, nor which side is x.
    """

    table: Table
    x: tuple[int, ...]
    y: tuple[int, ...]
    given: tuple[int, ...] = ()

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, given: FloatArray | None = None) -> Question:
        """Ask of clean arrays (n, dx), (n, dy) and (n, dz), which make a table of their own."""
        blocks = [x, y, np.empty((len(x), 0)) if given is None else given]
        dx, dy, dz = (block.shape[1] for block in blocks)
        places = range(dx + dy + dz)
        return cls(Table.of(blocks), tuple(places[:dx]), tuple(places[dx : dx + dy]), tuple(places[dx + dy :]))

    @property
    def dimensions(self) -> tuple[int, int, int]:
        """Numbers of columns (dx, dy, dz)."""
        return len(self.x), len(self.y), len(self.given)

    @property
    def blocks(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Positions of x, y and what is given."""
        return self.x, self.y, self.given

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Names of the columns of x, of y, and of what is given."""
        x, y, given = (tuple(self.table.names[i] for i in block) for block in self.blocks)
        return x, y, given

    def values(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The columns themselves, shapes (n, dx), (n, dy) and (n, dz)."""
        x, y, given = (np.ascontiguousarray(self.table.columns[list(block)].T) for block in self.blocks)
        return x, y, given

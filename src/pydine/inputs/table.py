"""One table of clean columns, and a question about it: what every door reads into, and all that lies below works on.

A `Table` says which kind each of its columns is (`inputs.kinds`); a `Question` names columns by position.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pydine.inputs.angles import Cut
from pydine.inputs.checks import Kept
from pydine.inputs.kinds import Kind
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, IntArray, RowArray


@dataclass(frozen=True, eq=False)
class Table:
    """Clean columns: finite, none constant, with as many rows each.

    Parameters
    ----------
    columns : ndarray of float64, shape (p, n)
        C-contiguous, and no view of other memory.
    names : tuple of str
    kept : ndarray of bool, shape (rows of the data,), optional
        Which rows of the data these are, if some were left out because of NaN or infinity, or as copies of others.
    kinds : tuple of Kind
        One for each column; empty if all are continuous. Nominal columns hold whole numbers from 0 on, whose order
        means nothing. Angles are in turns, from where their circle is cut (`inputs.angles`).
    codings : mapping of str to mapping of str to int, or Cut
        By the name of a nominal column: the number of each label. Rare labels share one. By that of an angle: its cut.
    rows : Rows
        How rows depend on each other.
    counted : ndarray of int, shape (n,), optional
        Which row of the data each row is, where weights say that some stand more than once.
    """

    columns: FloatArray
    names: tuple[str, ...]
    kept: Kept = None
    kinds: tuple[Kind, ...] = ()
    codings: Mapping[str, Mapping[str, int] | Cut] = field(default_factory=dict)
    rows: Rows = field(default=INDEPENDENT, metadata={"kept": False})
    counted: RowArray | None = field(default=None, metadata={"kept": False})

    @classmethod
    def of(
        cls,
        blocks: Sequence[FloatArray],
        names: Sequence[tuple[str, ...]] = (),
        kept: Kept = None,
        kinds: Sequence[Kind] = (),
        codings: Mapping[str, Mapping[str, int] | Cut] | None = None,
        rows: Rows = INDEPENDENT,
    ) -> Table:
        """Columns of several blocks (n, d_i), side by side."""
        # Straight into their places: side by side first would be one more copy of all data.
        columns = np.empty((sum(block.shape[1] for block in blocks), len(blocks[0])))
        start = 0
        for block in blocks:
            columns[start : start + block.shape[1]] = block.T
            start += block.shape[1]
        every = tuple(name for block in names for name in block)
        return cls(columns, every or tuple(map(str, range(len(columns)))), kept, tuple(kinds), codings or {}, rows)

    def kind(self, i: int) -> Kind:
        """What the values of the i-th column are."""
        return self.kinds[i] if self.kinds else Kind.CONTINUOUS

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.columns.shape[1])

    @property
    def n_dropped(self) -> int:
        """Rows that were left out because of NaN or infinity, or as copies of others."""
        return 0 if self.kept is None else int((~self.kept).sum())

    @property
    def positions(self) -> RowArray:
        """Where the rows were in the data, counted from 0, shape (n,)."""
        if self.counted is not None:
            return self.counted
        return np.arange(self.n_samples) if self.kept is None else np.flatnonzero(self.kept)

    @cached_property
    def _codes(self) -> dict[int, tuple[IntArray, int]]:
        """Codes of columns that were asked for, and how many there are."""
        return {}

    def codes(self, columns: Sequence[int]) -> IntArray:
        """Which combination of the values of columns each row has, as whole numbers from 0 on, shape (n,)."""
        codes, count = np.zeros(self.n_samples, dtype=np.int64), 1
        for i in columns:
            if i not in self._codes:
                values, places = np.unique(self.columns[i], return_inverse=True)
                self._codes[i] = places.astype(np.int64), len(values)
            more, levels = self._codes[i]
            codes, count = codes * levels + more, count * levels
            if count > self.n_samples:
                values, codes = np.unique(codes, return_inverse=True)
                count = len(values)
        return codes

    @cached_property
    def signatures(self) -> tuple[bytes, ...]:
        """One for each column; those of columns that are strictly monotone functions of each other are the same.

        Those of labels are the same if they tell the same rows apart.
        """
        return tuple(signature_of(column, self.kind(i)) for i, column in enumerate(self.columns))


def copy_signature(column: FloatArray, kind: Kind) -> bytes:
    """The same for columns (n,) of which each is a function of the other: of numbers, a strictly monotone one."""
    return signature_of(column, Kind.CONTINUOUS if kind.is_continuous else Kind.NOMINAL)


def signature_of(column: FloatArray, kind: Kind = Kind.CONTINUOUS) -> bytes:
    """A hash of the ranks of a column (n,), or of the reversed ones: those whose first entry off the middle is less.

    Of a nominal column, of its labels, numbered as they come up.
    """
    if kind is Kind.NOMINAL:
        _, places, ranks = np.unique(column, return_index=True, return_inverse=True)
        numbers = np.empty(len(places), dtype=np.int64)
        numbers[np.argsort(places)] = np.arange(len(places))
        return hashlib.blake2b(b"labels" + numbers[ranks].tobytes(), digest_size=16).digest()
    order = np.argsort(column)
    in_order, ranks = column[order], np.empty(len(column), dtype=np.int64)
    ranks[order[0]], ranks[order[1:]] = 0, np.cumsum(in_order[1:] != in_order[:-1])
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
        """Ask about clean arrays (n, dx), (n, dy) and (n, dz), which become a new table."""
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

    @property
    def kinds(self) -> tuple[tuple[Kind, ...], tuple[Kind, ...], tuple[Kind, ...]]:
        """Kinds of the columns of x, of y, and of what is given."""
        x, y, given = (tuple(self.table.kind(i) for i in block) for block in self.blocks)
        return x, y, given

    def values(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The columns themselves, shapes (n, dx), (n, dy) and (n, dz)."""
        x, y, given = (np.ascontiguousarray(self.table.columns[list(block)].T) for block in self.blocks)
        return x, y, given

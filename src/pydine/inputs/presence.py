"""Which values of a table are there: rows that a figure can use, and parts of a table that lack the same rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pydine.inputs.checks import warn_of_ties
from pydine.inputs.columns import Columns, Source

__all__ = ["Presence"]

Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Presence:
    """A table in which values may be missing.

    Parameters
    ----------
    keys : dict of str to hashable
        Columns by the name that answers call them, and what the data call them.
    whole : Columns
        All of them, NaN where a value is missing.
    column : callable
        From the data's name of a column to the column as it came.
    """

    keys: dict[str, Hashable]
    whole: Columns
    column: Callable[[Any], Any]

    @classmethod
    def read(cls, data: Any) -> Presence:
        """Read a frame, a mapping of columns or an array."""
        source = Source.read(data)
        whole = source.select("data", list(source.names))
        return cls(dict(zip(whole.names, source.names, strict=True)), whole, source.column)

    @cached_property
    def finite(self) -> dict[str, Rows]:
        """Where each column has a value, shape (n,)."""
        return dict(zip(self.keys, np.ascontiguousarray(np.isfinite(self.whole.values).T), strict=True))

    def is_complete(self, names: Iterable[str] | None = None) -> bool:
        """Whether no value is missing, in some columns or in all."""
        return bool(self.rows_with(self.keys if names is None else names).all())

    def rows_with(self, names: Iterable[str]) -> Rows:
        """Rows that have a value in every one of some columns, shape (n,)."""
        rows = np.ones(len(self.whole.values), dtype=np.bool_)
        for name in names:
            rows &= self.finite[name]
        return rows

    def varies(self, name: str, rows: Rows) -> bool:
        """Whether a column has different values in some rows."""
        values = self.whole.values[rows, self.whole.names.index(name)]
        return bool(len(values) and values.min() != values.max())

    def named(self, label: str, columns: Any) -> list[str]:
        """The columns that an argument names, as answers call them."""
        source = Source(tuple(self.keys.values()), self.column)
        return [] if columns is None else list(source.select(label, columns).names)

    def part(self, names: Sequence[str], rows: Rows) -> dict[Hashable, Any]:
        """Some columns, in some rows, as the data had them: a mapping that any door takes."""
        wanted = set(names)
        positions = np.flatnonzero(rows)
        return {
            key: self._rows_of(i, key, positions) for i, (name, key) in enumerate(self.keys.items()) if name in wanted
        }

    def _rows_of(self, i: int, key: Hashable, positions: NDArray[np.intp]) -> Any:
        column = nw.from_native(self.column(key), series_only=True, pass_through=True)
        if isinstance(column, nw.Series):
            return column[positions].to_native()
        return column[positions] if isinstance(column, np.ndarray) else self.whole.values[positions, i]

    def warn_of_ties(self, names: Iterable[str]) -> None:
        """Warn once of tied values, in the rows that have them."""
        places = {name: i for i, name in enumerate(self.keys)}
        values = self.whole.values
        warn_of_ties([Columns("data", (name,), values[self.finite[name], places[name], None]) for name in names])

    def parts(self, pairs: Mapping[tuple[int, int], Sequence[str]]) -> list[tuple[Rows, list[tuple[int, int]]]]:
        """Pairs that have the same rows, together with those rows.

        Parameters
        ----------
        pairs : mapping of (int, int) to sequence of str
            The columns that a figure needs, by the pair that it is about.
        """
        found: dict[bytes, tuple[Rows, list[tuple[int, int]]]] = {}
        for pair, names in pairs.items():
            rows = self.rows_with(names)
            found.setdefault(np.packbits(rows).tobytes(), (rows, []))[1].append(pair)
        return list(found.values())

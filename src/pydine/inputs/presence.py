"""Missing values of a table: which rows each pair can use, and which pairs can use the same rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.angles import angle_kind, opened
from pydine.inputs.checks import tied_share, warn_left_out, warn_of_copies, warn_of_labels, warn_of_ties
from pydine.inputs.columns import Columns, Source
from pydine.inputs.copies import distinct_rows
from pydine.inputs.dependence import warn_of_repeats
from pydine.inputs.kinds import (
    Kind,
    Kinds,
    check_kinds,
    count_of,
    identifier,
    is_identifier,
    is_thin,
    kind_of,
    periods_of,
)
from pydine.types import FloatArray

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
    left_out : dict of str to str
        Columns that nothing can be learned from, and why.
    """

    keys: dict[str, Hashable]
    whole: Columns
    column: Callable[[Any], Any]
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, data: Any) -> Presence:
        """Read a frame, a mapping of columns or an array."""
        source, left_out = Source.read(data), dict[str, str]()
        whole = source.select("data", list(source.names), left_out)
        keys = {name: key for name, key in zip(source.shown, source.names, strict=True) if name not in left_out}
        return cls(keys, whole, source.column, left_out)

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
        for name in columns if isinstance(columns, list | tuple) else [columns]:
            if str(name) in self.left_out:
                raise ValueError(f"{label} names the column {name!r}, which {self.left_out[str(name)]}; leave it out.")
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
        import narwhals as nw

        column = nw.from_native(self.column(key), series_only=True, pass_through=True)
        if isinstance(column, nw.Series):
            return column[positions].to_native()
        return column[positions] if isinstance(column, np.ndarray) else self.whole.values[positions, i]

    def values(self, name: str) -> FloatArray:
        """The values that a column has, shape (m,)."""
        column: FloatArray = self.whole.values[self.finite[name], self.whole.names.index(name)]
        return column

    def kinds(self, said: Kinds) -> dict[str, Kind]:
        """What each column is, as somebody says, as its type says, or as all of its values do."""
        checked, periods = check_kinds(said, self.whole.names), periods_of(said)
        return {
            name: angle_kind(opened(self.values(name), periods[name])[0])
            if name in periods
            else checked.get(name) or self.whole.kind(i) or kind_of(self.values(name))
            for i, name in enumerate(self.whole.names)
        }

    def without_identifiers(self, kinds: Mapping[str, Kind]) -> Presence:
        """The same without columns of labels of which hardly any repeats; a warning tells of all that are left out."""
        unclear = {f"column {name!r} of data": reason for name, reason in self.left_out.items()} | {
            f"column {name!r} of data": identifier(self.values(name))
            for name, kind in kinds.items()
            if kind is Kind.NOMINAL and is_identifier(self.values(name))
        }
        if not unclear:
            return self
        warn_left_out(unclear)
        left = [i for i, name in enumerate(self.whole.names) if f"column {name!r} of data" not in unclear]
        keys = {name: key for i, (name, key) in enumerate(self.keys.items()) if i in left}
        return Presence(keys, self.whole.only(left), self.column)

    def warn(self, names: Iterable[str], said: Kinds) -> None:
        """Warn once of columns declared continuous that have ties, of few rows a label, of copies, and of subjects."""
        warn_of_repeats(Source(tuple(self.keys.values()), self.column))
        names, kinds = list(names), self.kinds(said)
        labels = {name: self.values(name) for name in names if kinds[name] is Kind.NOMINAL}
        thin = {f"column {name!r} of data": count_of(values) for name, values in labels.items() if is_thin(values)}
        warn_of_labels(thin, len(self.whole.values))
        places = [self.whole.names.index(name) for name in names]
        filled = [np.nan_to_num(self.whole.values[:, i], nan=np.inf) for i in places]
        distinct = distinct_rows(filled, [kinds[name].is_continuous for name in names])
        if distinct is not None:
            warn_of_copies(int((~distinct).sum()), len(distinct))
        wrong = [name for name in names if said.get(name) == Kind.CONTINUOUS]
        columns = {name: self.values(name) for name in wrong}
        tied = {name: column for name, column in columns.items() if kind_of(column) is not Kind.CONTINUOUS}
        warn_of_ties([(f"column {name!r} of data", name, tied_share(column)) for name, column in tied.items()])

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

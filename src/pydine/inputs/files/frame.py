"""What is known of a file before its columns are read, and the columns that were.

Every refusal is a ValueError of one sentence that names the file and, where there is one, the column and the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.columns import Source
from pydine.types import FloatArray, RowArray

__all__ = ["Frame", "NotNumbers", "TableFile"]


class NotNumbers(Exception):
    """A column does not hold numbers; the text says what it holds."""


@dataclass(frozen=True, eq=False)
class TableFile:
    """An opened file: which columns it has, and how to read one.

    Parameters
    ----------
    source : str
        The file, as messages call it.
    names : tuple of str
        Its columns, in order; "" where a column has no name.
    n_rows : int
        How many rows there are.
    column : callable
        From the position of a column, and the positions of the rows to read (None for all), to values of shape (n,);
        raises `NotNumbers`.
    first_line : int or None, default=None
        In text files the line of the first row, so that messages can say which line a row is on.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int, RowArray | None], FloatArray]
    first_line: int | None = None

    def __post_init__(self) -> None:
        """Refuse a file without columns or rows, and names that do not say which column is meant."""
        if not self.names:
            raise ValueError(f"{self.source} has no columns.")
        twice = [name for name, count in Counter(self.names).items() if name and count > 1]
        if twice:
            more = f" (and {len(twice) - 1} more names)" if len(twice) > 1 else ""
            raise ValueError(
                f"{self.source} has more than one column called {twice[0]!r}{more}; rename or remove the copies."
            )
        if self.n_rows == 0:
            raise ValueError(f"{self.source} has {len(self.names)} columns but no rows of data.")

    def find(self, option: str, wanted: Iterable[str]) -> list[str]:
        """Look up the columns that an option names.

        Parameters
        ----------
        option : str
            What to call the option in messages.
        wanted : iterable of str
            Names; several in one, separated by commas, where that is not itself a name.
        """
        found: list[str] = []
        for name in wanted:
            parts = [part.strip() for part in name.split(",")]
            several = name not in self.names and all(part in self.names for part in parts)
            found.extend(parts if several else [name])
        for name in found:
            self._check(option, name)
        return list(dict.fromkeys(found))

    def _check(self, option: str, name: str) -> None:
        """Raise with the nearest name, as `pydine.inputs.columns` finds it, if there is no such column."""
        known = tuple(name for name in self.names if name)
        try:
            Source(known, lambda _: np.empty(0)).select(option, name)
        except ValueError as error:
            raise ValueError(
                f"{self.source}: {str(error).replace('which data does not have', 'which it lacks')}"
            ) from None

    def read(
        self,
        needed: Sequence[str],
        others: Sequence[str] = (),
        *,
        sample: int | None = None,
        seed: int = 0,
    ) -> Frame:
        """Read columns.

        Parameters
        ----------
        needed : sequence of str
            Columns that must hold numbers.
        others : sequence of str
            Columns that are left out, and named in `Frame.left_out`, if they do not.
        sample : int or None, default=None
            Read so many rows, drawn at random without replacement and kept in order.
        seed : int, default=0
            Of the draw.

        Returns
        -------
        Frame
            The columns in the order of the file.
        """
        rows = None
        if sample is not None and sample < self.n_rows:
            rows = np.sort(np.random.default_rng(seed).choice(self.n_rows, sample, replace=False))
        columns: dict[str, FloatArray] = {}
        left_out: dict[str, str] = {}
        wanted = {*needed, *others}
        for position, name in enumerate(self.names):
            if name not in wanted:
                continue
            try:
                columns[name] = self.column(position, rows)
            except NotNumbers as reason:
                if name in needed:
                    raise ValueError(
                        f"{self.source}: column {name!r} must hold numbers, but {reason}; text, dates and categories "
                        "are not supported: encode them as numbers, or leave the column out."
                    ) from None
                left_out[name] = str(reason)
        return Frame(self.source, columns, left_out, self.n_rows, rows, self.first_line)


@dataclass(frozen=True, eq=False)
class Frame(Mapping[str, FloatArray]):
    """Columns of a file by name: a mapping, as ``data=`` takes it.

    Parameters
    ----------
    source : str
        The file, as messages call it.
    columns : mapping of str to ndarray of float64, shape (n,)
        NaN where a value is missing.
    left_out : mapping of str to str
        Columns that were left out, and why.
    n_rows : int
        Rows of the file.
    rows : ndarray of int, shape (n,), or None
        Where the rows are in the file, counted from 0; None if they are all of them.
    first_line : int or None
        In text files the line of the first row.
    n_dropped : int, default=0
        Rows that were left out because a value was missing.
    """

    source: str
    columns: Mapping[str, FloatArray]
    left_out: Mapping[str, str]
    n_rows: int
    rows: RowArray | None = None
    first_line: int | None = None
    n_dropped: int = field(default=0)

    def __getitem__(self, name: str) -> FloatArray:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def n_samples(self) -> int:
        """Rows that are left."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def without(self, reasons: Mapping[str, str]) -> Frame:
        """The frame without some of its columns, which are named with the reason why."""
        kept = {name: values for name, values in self.columns.items() if name not in reasons}
        return replace(self, columns=kept, left_out={**self.left_out, **reasons})

    def complete(self, *, omit: bool) -> Frame:
        """The rows without missing values.

        Parameters
        ----------
        omit : bool
            Leave rows with a missing or an infinite value out and count them, or refuse the first.
        """
        keep = np.ones(self.n_samples, dtype=np.bool_)
        for name, values in self.columns.items():
            finite = np.isfinite(values)
            if not (omit or finite.all()):
                raise ValueError(self._missing(name, finite))
            keep &= finite
        if keep.all():
            return self
        if not keep.any():
            raise ValueError(
                f"{self.source}: every row has a missing value in one of the {len(self)} columns; use fewer columns."
            )
        rows = np.flatnonzero(keep) if self.rows is None else self.rows[keep]
        columns = {name: values[keep] for name, values in self.columns.items()}
        return replace(self, columns=columns, rows=rows, n_dropped=int((~keep).sum()))

    def _missing(self, name: str, finite: NDArray[np.bool_]) -> str:
        first, count = int(np.argmin(finite)), int((~finite).sum())
        cells = "1 missing value" if count == 1 else f"{count} missing values, the first"
        return (
            f"{self.source}: column {name!r} has {cells} in {self.place(first)}; mend the file, or pass --nan omit to "
            "leave such rows out."
        )

    def place(self, row: int) -> str:
        """Say where the i-th row of the frame is in the file."""
        position = row if self.rows is None else int(self.rows[row])
        return place(position, self.first_line)

    def without_values(self) -> list[str]:
        """Columns in which every value is missing."""
        return [name for name, values in self.columns.items() if not np.isfinite(values).any()]

    def constant(self) -> list[str]:
        """Columns that hold one value in every row."""
        return [name for name, values in self.columns.items() if values.min() == values.max()]


def place(position: int, first_line: int | None) -> str:
    """Say where a row is: lines of a text are counted as editors do, rows of anything else from 1."""
    return f"row {position + 1}" if first_line is None else f"line {position + first_line}"

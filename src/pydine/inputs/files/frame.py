"""What is known of a file before its columns are read, and the columns that were.

Every refusal is a ValueError of one sentence that names the file and, where there is one, the column and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.columns import Source
from pydine.types import FloatArray, RowArray

__all__ = ["Frame", "NotNumbers", "ReadColumn", "TableFile"]

RENAMED = "renamed because an earlier column is called"
TOO_CLOSE = "its whole numbers differ by less than float64 can resolve, unless the smallest is subtracted"
MEND = "correct that cell, or pass --kind {}=nominal if these are labels"


class ReadColumn(NamedTuple):
    """Values of a column, shape (n,), and how they were converted; plain numbers need no mention.

    In a column of text, or of yes and no, values are codes, and `levels` says what 0, 1, ... stand for.
    """

    values: FloatArray
    conversion: str = ""
    levels: tuple[str, ...] = ()


class NotNumbers(Exception):
    """A column does not hold numbers, or not only; the text says what it holds.

    Parameters
    ----------
    reason : str
    as_labels : ReadColumn, optional
        Its cells taken for labels, if they can be.
    """

    def __init__(self, reason: str, as_labels: ReadColumn | None = None) -> None:
        super().__init__(reason)
        self.as_labels = as_labels


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
        From the position of a column, and the positions of the rows to read (None for all), to a `ReadColumn` of n
        values; raises `NotNumbers`.
    first_line : int or None, default=None
        In text files the line of the first row, so that messages can say which line a row is on.
    notes : tuple of str, default=()
        What was converted to read the file at all.
    renamed : dict of str to str
        Names that columns were given because an earlier one has theirs, and what that is. Made here.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int, RowArray | None], ReadColumn]
    first_line: int | None = None
    notes: tuple[str, ...] = ()
    renamed: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Refuse a file without columns or rows, and rename columns whose name does not say which is meant."""
        if not self.names:
            raise ValueError(f"{self.source} has no columns.")
        names = distinct(self.names)
        object.__setattr__(
            self, "renamed", {new: old for old, new in zip(self.names, names, strict=True) if new != old}
        )
        object.__setattr__(self, "names", names)
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

    def find_one(self, option: str, wanted: str) -> str:
        """Look up the one column that an option names."""
        found = self.find(option, [wanted])
        if len(found) > 1:
            raise ValueError(
                f"{self.source}: {option} must name one column, but {wanted!r} names {len(found)}; name one at a time."
            )
        return found[0]

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
        labels: Collection[str] = (),
    ) -> Frame:
        """Read columns.

        Parameters
        ----------
        needed : sequence of str
            Columns that must hold numbers or labels.
        others : sequence of str
            Columns that are left out, and named in `Frame.left_out`, if they do not.
        sample : int or None, default=None
            Read so many rows, drawn at random without replacement and kept in order.
        seed : int, default=0
            Of the draw.
        labels : collection of str
            Columns whose cells are labels, even where most of them could be numbers.

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
        conversions: dict[str, str] = {}
        levels: dict[str, tuple[str, ...]] = {}
        wanted = {*needed, *others}
        for position, name in enumerate(self.names):
            if name not in wanted:
                continue
            said = [f"{RENAMED} {self.renamed[name]!r}"] if name in self.renamed else []
            try:
                read = self._column(position, rows, name in labels)
            except NotNumbers as reason:
                if name in needed:
                    mend = "leave the column out" if reason.as_labels is None else MEND.format(name)
                    raise ValueError(
                        f"{self.source}: column {name!r} must hold numbers, but {reason}; {mend}."
                    ) from None
                mend = "" if reason.as_labels is None else f", unlike the rest; {MEND.format(name)}"
                left_out[name] = f"{reason}{mend}"
            else:
                columns[name] = read.values
                said += [read.conversion] if read.conversion else []
                if read.levels:
                    levels[name] = read.levels
            if said:
                conversions[name] = "; ".join(said)
        return Frame(
            self.source,
            columns,
            left_out,
            self.n_rows,
            rows,
            self.first_line,
            conversions=conversions,
            notes=self.notes,
            levels=levels,
        )

    def _column(self, position: int, rows: RowArray | None, is_labels: bool) -> ReadColumn:
        """Read a column, by its labels where its numbers leave too much unread."""
        try:
            return self.column(position, rows)
        except NotNumbers as reason:
            if is_labels and reason.as_labels is not None:
                return reason.as_labels
            raise


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
    conversions : mapping of str to str
        Columns that are no plain numbers in the file, and how they were read.
    notes : tuple of str
        What was converted to read the file at all.
    levels : mapping of str to tuple of str
        By the name of a column of text, or of yes and no: what its codes 0, 1, ... stand for.
    said : mapping of str to str
        What somebody says that columns are: continuous, ordinal or nominal.
    """

    source: str
    columns: Mapping[str, FloatArray]
    left_out: Mapping[str, str]
    n_rows: int
    rows: RowArray | None = None
    first_line: int | None = None
    conversions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> FloatArray:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """What columns are, as their text or somebody says; those that are not here are not in it."""
        text = dict.fromkeys((name for name in self.levels if name in self.columns), "nominal")
        return text | {name: kind for name, kind in self.said.items() if name in self.columns}

    @property
    def n_samples(self) -> int:
        """Rows that are left."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def without(self, reasons: Mapping[str, str]) -> Frame:
        """The frame without some of its columns, which are named with the reason why."""
        kept = {name: values for name, values in self.columns.items() if name not in reasons}
        # Of a column that is left out nothing was read; only why it is called as it is.
        told = {name: how for name, how in self.conversions.items() if name in kept or how.startswith(RENAMED)}
        told = {name: how if name in kept else how.partition(";")[0] for name, how in told.items()}
        return replace(self, columns=kept, left_out={**self.left_out, **reasons}, conversions=told)

    @property
    def n_incomplete(self) -> int:
        """Rows in which a value is missing or infinite."""
        return int((~self.complete_rows).sum())

    @property
    def complete_rows(self) -> NDArray[np.bool_]:
        """Which rows have a finite value in every column, shape (n,)."""
        keep = np.ones(self.n_samples, dtype=np.bool_)
        for values in self.columns.values():
            keep &= np.isfinite(values)
        return keep

    @property
    def missing(self) -> dict[str, int]:
        """How many values are missing or infinite, by column; those that lack none are not in it."""
        counts = {name: int((~np.isfinite(values)).sum()) for name, values in self.columns.items()}
        return {name: count for name, count in counts.items() if count}

    def complete(self) -> Frame:
        """The rows without missing values."""
        keep = self.complete_rows
        if keep.all():
            return self
        if not keep.any():
            raise ValueError(
                f"{self.source}: every row has a missing value in one of the {len(self)} columns; use fewer columns."
            )
        return self.only(np.flatnonzero(keep))

    def only(self, rows: RowArray) -> Frame:
        """Some of the rows, of which each may come several times."""
        places = rows if self.rows is None else self.rows[rows]
        return replace(self, columns={name: values[rows] for name, values in self.columns.items()}, rows=places)

    def refuse_missing(self) -> None:
        """Raise with the first missing value, and where it is."""
        for name, values in self.columns.items():
            finite = np.isfinite(values)
            if not finite.all():
                raise ValueError(self._missing(name, finite))

    def _missing(self, name: str, finite: NDArray[np.bool_]) -> str:
        first, count = int(np.argmin(finite)), int((~finite).sum())
        cells = "1 missing value" if count == 1 else f"{count} missing values, the first"
        return (
            f"{self.source}: column {name!r} has {cells} in {self.place(first)}; correct the file, or pass --nan omit "
            "to leave such rows out."
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
        finite = {name: values[np.isfinite(values)] for name, values in self.columns.items()}
        return [name for name, values in finite.items() if len(values) and values.min() == values.max()]


def place(position: int, first_line: int | None) -> str:
    """Say where a row is: lines of a text are counted as editors do, rows of anything else from 1."""
    return f"row {position + 1}" if first_line is None else f"line {position + first_line}"


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names that differ: a copy of an earlier one has a number after it, as pandas does it. Blank ones stay."""
    found: dict[str, None] = {}
    taken, renamed = set(names), []
    for name in names:
        new, count = name, 0
        while (new and new in found) or (count and new in taken):
            count += 1
            new = f"{name}.{count}"
        found[new] = None
        renamed.append(new)
    return tuple(renamed)

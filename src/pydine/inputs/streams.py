"""Tables that are larger than memory: Parquet and Arrow files and folders, Arrow datasets, lazy frames, Dask frames.

They are gone through batch by batch, and only the columns that are asked for are read. What has to be learned from rows
that are in memory is learned from a uniform sample of them, over the whole table and not its head: which rows are in it
follows from their places alone, not from a seed or from how a file is cut into row groups.

Labels are numbers on their way (`labels`), and labels again in the sample.

To write another kind: a class with `names`, `labels` and `batches`, and a line of `stream_of`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.labels import Labels
from pydine.types import FloatArray

# precision: rows and bytes of a sample, at most: ranks err by 0.0016 then; a table that has no more is read as it is.
SAMPLE_ROWS, SAMPLE_BYTES = 1 << 20, 1 << 27
BATCH_ROWS, BATCH_BYTES = 1 << 16, 1 << 26  # memory: that are gone through at a time, at most
TEXT = ("string", "large_string")  # fact: Arrow's names of these types
SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}


def batch_rows(columns: Sequence[str]) -> int:
    """How many rows of columns are gone through at a time."""
    return max(1, min(BATCH_ROWS, BATCH_BYTES // (8 * max(len(columns), 1))))


class Stream(Protocol):
    """A table that can be gone through more than once, in the same order each time."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        ...

    @property
    def labels(self) -> Labels:
        """What the numbers in columns of labels stand for, of all batches so far."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[FloatArray]:
        """Some rows after the other of columns, shape (rows, d); what is missing is NaN."""
        ...


def stream_of(data: Any) -> Stream | None:
    """The stream that data are, or None if they are in memory."""
    if isinstance(data, str | os.PathLike):
        return ArrowStream.open(Path(data))
    if isinstance(data, Selection):
        return data
    if (behind := getattr(data, "as_stream", None)) is not None and isinstance(behind, Selection):
        return behind
    library = type(data).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(data, "scanner"):
        return ArrowStream(data)
    if library == "polars" and type(data).__name__ == "LazyFrame":
        return _LazyStream(data)
    if library.startswith("dask") and hasattr(data, "partitions"):
        return _DaskStream(data)
    return None


@dataclass(frozen=True)
class Selection:
    """Some columns of a stream, as a stream.

    Parameters
    ----------
    stream : Stream
    names : tuple of str
    """

    stream: Stream
    names: tuple[str, ...]

    @property
    def labels(self) -> Labels:
        """What the numbers in columns of labels stand for, of all batches so far."""
        return self.stream.labels

    def batches(self, columns: Sequence[str]) -> Iterator[FloatArray]:
        """Some rows after the other of columns, shape (rows, d); what is missing is NaN."""
        return self.stream.batches(columns)


@dataclass(frozen=True)
class ArrowStream:
    """An Arrow dataset.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    labels : Labels
    """

    dataset: Any
    labels: Labels = field(default_factory=Labels)

    @classmethod
    def open(cls, path: Path) -> ArrowStream:
        """Open a file or a folder of files."""
        kind = SUFFIXES.get(path.suffix.lower(), "parquet" if path.is_dir() else None)
        if kind is None or not path.exists():
            expected = "the path of an existing .parquet, .arrow or .feather file, or of a folder of them"
            raise ValueError(
                f"data must be a frame, a dict of columns, an array, or {expected}, but got {str(path)!r}."
            )
        if path.is_dir():
            found = {SUFFIXES.get(file.suffix.lower()) for file in path.rglob("*") if file.is_file()} - {None}
            kind = next(iter(found)) if len(found) == 1 else kind
        try:
            dataset = import_module("pyarrow.dataset")
        except ImportError as error:
            raise ImportError('to read a file, data= needs pyarrow: pip install "pyarrow".') from error
        found = dataset.dataset(path, format=kind)
        if kind == "parquet":  # text stays a dictionary where it is one: its words may be long, and the rows many
            text = [field.name for field in found.schema if str(field.type) in TEXT]
            options = dataset.ParquetReadOptions(dictionary_columns=text)
            found = dataset.dataset(path, format=dataset.ParquetFileFormat(read_options=options))
        return cls(found)

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return tuple(self.dataset.schema.names)

    def refusal(self, name: str) -> str:
        """Why a column cannot be read; empty if it can."""
        kind = self.dataset.schema.field(name).type
        return "" if _is_number(kind) or Labels.is_one(kind) else f"it holds values of type {kind}"

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        kind = self.dataset.schema.field(name).type
        return Labels.is_one(kind) and str(kind) != "bool"

    def batches(self, columns: Sequence[str]) -> Iterator[FloatArray]:
        """Some rows after the other of columns, shape (rows, d); what is missing is NaN."""
        options = {"batch_size": batch_rows(columns), "batch_readahead": 2, "fragment_readahead": 1}
        for batch in self.dataset.to_batches(columns=list(columns), **options, **self._unbuffered()):
            if batch.num_rows:
                yield _from_arrow(batch, columns, self.labels)

    def _unbuffered(self) -> dict[str, Any]:
        """Options by which Parquet is not kept when it is read: Arrow's buffer grows to the size of the file."""
        module = import_module("pyarrow.dataset")
        parquet = getattr(module, "ParquetFileFormat", None)  # of a build that knows Parquet
        if parquet is None or not isinstance(getattr(self.dataset, "format", None), parquet):
            return {}
        return {"fragment_scan_options": module.ParquetFragmentScanOptions(pre_buffer=False)}


@dataclass(frozen=True)
class _LazyStream:
    frame: Any
    labels: Labels = field(default_factory=Labels)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.collect_schema().names())

    def batches(self, columns: Sequence[str]) -> Iterator[FloatArray]:
        chosen = self.frame.select(list(columns))
        if hasattr(chosen, "collect_batches"):
            for frame in chosen.collect_batches(chunk_size=batch_rows(columns)):
                if frame.height:
                    yield _from_arrow(frame.to_arrow(), columns, self.labels)
            return
        start = 0  # older versions know no batches: each is a query of its own
        while (frame := chosen.slice(start, batch_rows(columns) * 16).collect()).height:
            yield _from_arrow(frame.to_arrow(), columns, self.labels)
            start += frame.height


@dataclass(frozen=True)
class _DaskStream:
    frame: Any
    labels: Labels = field(default_factory=Labels)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.frame.columns))

    def batches(self, columns: Sequence[str]) -> Iterator[FloatArray]:
        chosen, arrow = self.frame[list(columns)], import_module("pyarrow")
        for i in range(chosen.npartitions):
            part = chosen.partitions[i].compute()
            if len(part):
                yield _from_arrow(arrow.Table.from_pandas(part, preserve_index=False), columns, self.labels)


def _is_number(kind: Any) -> bool:
    types = import_module("pyarrow").types
    return any(is_one(kind) for is_one in (types.is_floating, types.is_integer, types.is_decimal))


def _from_arrow(batch: Any, columns: Sequence[str], labels: Labels) -> FloatArray:
    """Columns of an Arrow batch or table as float64, shape (rows, d)."""
    arrow = import_module("pyarrow")
    block = np.empty((batch.num_rows, len(columns)))
    for i, name in enumerate(columns):
        column = batch.column(name)
        kind = column.type
        if _is_number(kind):
            block[:, i] = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        elif labels.is_one(kind):
            block[:, i] = labels.numbers(name, column)
        else:
            raise ValueError(
                f"the column {name!r} must hold numbers or labels, but holds {kind}; turn it into numbers first."
            )
    return block


@dataclass(frozen=True)
class Sample:
    """Some rows of a stream, or all if they are few.

    Parameters
    ----------
    stream : Stream
    names : tuple of str
        The columns that were asked for.
    columns : dict of str to array, shape (rows,)
        Numbers, or labels as they were.
    n_rows, n_dropped : int
        Complete rows of the stream, and rows that were left out.
    omit : bool
        Whether incomplete rows are left out, or refused.
    """

    stream: Stream
    names: tuple[str, ...]
    columns: dict[str, Any]
    n_rows: int
    n_dropped: int
    omit: bool

    @classmethod
    def draw(cls, stream: Stream, names: Sequence[str], *, omit: bool, most: int | None = None) -> Sample:
        """Go through a stream once."""
        most = min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * len(names))) if most is None else most
        sample = cls(stream, tuple(names), {}, 0, 0, omit)
        lowest, n, dropped = _Lowest(most), 0, 0
        for place, rows, lost in sample._complete():
            lowest.add(_marks(place), place, rows)
            n, dropped = n + len(rows), dropped + lost
        rows = lowest.rows(len(sample.names))
        columns = {
            name: stream.labels.restored(name, np.ascontiguousarray(rows[:, i])) for i, name in enumerate(sample.names)
        }
        return replace(sample, columns=columns, n_rows=n, n_dropped=dropped)

    @property
    def size(self) -> int:
        """Rows that are in it."""
        return len(next(iter(self.columns.values())))

    @property
    def is_whole(self) -> bool:
        """Whether these are all complete rows."""
        return self.size == self.n_rows

    def is_label(self, name: str) -> bool:
        """Whether a column holds labels of which there may be more than two."""
        return self.stream.labels.has(name)

    def all_rows(self) -> Iterator[FloatArray]:
        """Every complete row of the stream, some after the other, shape (rows, d)."""
        return (rows for _, rows, _ in self._complete())

    def _complete(self) -> Iterator[tuple[NDArray[np.int64], FloatArray, int]]:
        """Places of complete rows, the rows, and how many are not complete, batch by batch."""
        start = 0
        for batch in self.stream.batches(self.names):
            places = np.arange(start, start + len(batch))
            start += len(batch)
            finite = np.isfinite(batch).all(axis=1)
            lost = int(len(batch) - finite.sum())
            if lost and not self.omit:
                row = int(places[~finite][0])
                raise ValueError(
                    f"data must hold finite numbers, but row {row} holds NaN, infinity or no value in one of "
                    f"{', '.join(self.names)}; correct such rows, or pass nan_policy='omit' to leave them out."
                )
            yield (places, batch, 0) if not lost else (places[finite], batch[finite], lost)


def _marks(places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each place in a table, as good as random (SplitMix64: Steele, Lea and Flood 2014)."""
    bits = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    marks: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return marks


class _Lowest:
    """The rows with the lowest marks, of all that are added."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._bound = np.uint64(2**64 - 1)
        self._parts: list[tuple[NDArray[np.uint64], NDArray[np.int64], FloatArray]] = []

    def add(self, marks: NDArray[np.uint64], places: NDArray[np.int64], rows: FloatArray) -> None:
        low = marks <= self._bound
        self._parts.append((marks, places, rows) if low.all() else (marks[low], places[low], rows[low]))
        self._size += int(low.sum())
        if self._size > self._most + max(self._most // 4, 4 * BATCH_ROWS):
            self._cut()

    def _cut(self) -> None:
        if self._size <= self._most:
            return
        marks = np.concatenate([part[0] for part in self._parts])
        self._bound = np.partition(marks, self._most - 1)[self._most - 1]
        kept = [part[0] <= self._bound for part in self._parts]
        self._parts = [(part[0][low], part[1][low], part[2][low]) for part, low in zip(self._parts, kept, strict=True)]
        self._size = sum(len(part[0]) for part in self._parts)

    def rows(self, width: int) -> FloatArray:
        """Those that are left, in their order, shape (m, width)."""
        self._cut()
        return np.concatenate([np.empty((0, width)), *(part[2] for part in self._parts)])

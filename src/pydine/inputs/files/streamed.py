"""Parquet and Arrow that are gone through batch by batch where a command takes a file: folders, and very many rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pydine.inputs import streams
from pydine.inputs.files.content import MOST_BYTES, too_large
from pydine.inputs.files.frame import Frame, ReadColumn, TableFile, place
from pydine.inputs.files.packed import arrow_bytes, parquet_bytes
from pydine.types import RowArray

__all__ = ["open_stream"]

SMALL_FILE = 1 << 20  # memory: bytes; what is no larger is read as it is, without a look at its rows


def open_stream(path: str, *, is_sampled: bool = False, max_bytes: int | None = None) -> TableFile | None:
    """Open a folder of Parquet or Arrow files, or a file with more rows than are read at once; None for any other.

    Parameters
    ----------
    path : str
    is_sampled : bool
        Whether only some rows are asked for, which a folder refuses.
    max_bytes : int or None, default=None
        What the text of a column may unpack to, in each file; None for 4 GiB.
    """
    place = Path(path)
    if not place.is_dir() and (
        is_sampled
        or place.suffix.lower() not in streams.SUFFIXES
        or not place.is_file()
        or place.stat().st_size <= SMALL_FILE
        or find_spec("pyarrow") is None
    ):
        return None
    if is_sampled:
        raise ValueError(f"{path} is a folder, which is read as a stream; leave out --sample.")
    try:
        stream = streams.ArrowStream.open(place)
        n_rows = int(stream.dataset.count_rows())
    except (OSError, ValueError) as error:
        if place.is_dir():
            raise ValueError(
                f"{path} is a directory that cannot be read as a folder of Parquet or Arrow files; name a file in it."
            ) from error
        return None  # whoever reads files says what is wrong with this one
    if not place.is_dir() and n_rows <= streams.SAMPLE_ROWS:
        return None
    bound = MOST_BYTES if max_bytes is None else max_bytes
    return StreamedTable(path, stream.names, n_rows, _unread, stream=stream, max_bytes=bound)


def _unread(position: int, rows: RowArray | None) -> ReadColumn:
    raise NotImplementedError(f"column {position} is streamed, and {rows} rows of it are not in memory")


@dataclass(frozen=True, eq=False)
class StreamedTable(TableFile):
    """A table that is not read but gone through."""

    stream: Any = None
    max_bytes: int = MOST_BYTES

    def read(
        self,
        needed: Sequence[str],
        others: Sequence[str] = (),
        *,
        sample: int | None = None,  # noqa: ARG002 -- of files in memory
        seed: int = 0,  # noqa: ARG002
        labels: Collection[str] = (),  # noqa: ARG002
    ) -> Frame:
        """Name columns; of the others, those whose type is not one of numbers or labels are left out."""
        left_out = {name: reason for name in others if (reason := self.stream.refusal(name))}
        wanted = {*needed, *others} - set(left_out)
        self._check_size([name for name in wanted if self.stream.is_text(name)])
        columns = {name: np.empty(0) for name in self.names if name in wanted}
        return StreamedFrame(self.source, columns, left_out, self.n_rows, stream=self.stream)

    def _check_size(self, names: Sequence[str]) -> None:
        """Refuse text of which a batch could take any memory; numbers take what a batch of them takes."""
        for path in map(Path, self.stream.dataset.files if names else ()):
            is_parquet = streams.SUFFIXES.get(path.suffix.lower(), "parquet") == "parquet"
            with path.open("rb") as file:
                size = sum(parquet_bytes(file, names).values()) if is_parquet else arrow_bytes(file, is_stream=False)
            if size > self.max_bytes:
                raise too_large(str(path), self.max_bytes)


@dataclass(frozen=True, eq=False)
class StreamedFrame(Frame):
    """Columns of a table that is gone through, by name: none of their values are here."""

    stream: Any = None

    @property
    def as_stream(self) -> streams.Stream:
        """What is gone through where data are read."""
        return streams.Selection(self.stream, tuple(self.columns))

    @property
    def n_samples(self) -> int:
        """Rows of the table."""
        return self.n_rows

    def without_values(self) -> list[str]:
        """Nothing is known of values yet."""
        return []

    def refuse_missing(self) -> None:
        """Go through the table, and raise with the first missing value."""
        start = 0
        for batch in self.as_stream.batches(tuple(self.columns)):
            missing = np.argwhere(~np.isfinite(batch))
            if len(missing):
                row, column = missing[0].tolist()
                raise ValueError(
                    f"{self.source}: column {list(self.columns)[column]!r} has a missing value in "
                    f"{place(start + row, None)}; correct the file, or pass --nan omit to leave such rows out."
                )
            start += len(batch)

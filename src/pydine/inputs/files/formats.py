"""Which kind of file it is, by its first bytes and not by its name, and how Parquet and Arrow are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pydine.inputs.files.cells import Habits, numbers_of
from pydine.inputs.files.content import MOST_BYTES, Content, opened, too_large
from pydine.inputs.files.dates import DAYS, OF_DAY, SECONDS, SPANS
from pydine.inputs.files.frame import TOO_CLOSE, NotNumbers, ReadColumn, TableFile, place
from pydine.inputs.files.numpy_files import open_numpy
from pydine.inputs.files.packed import arrow_bytes, parquet_bytes
from pydine.inputs.files.panics import read_by_polars
from pydine.inputs.files.text import open_text
from pydine.inputs.files.workbooks import first_sheet, is_workbook
from pydine.show.extras import require
from pydine.types import RowArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["open_file"]

KINDS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"FEA1": "feather 1",
    b"\xd0\xcf\x11\xe0": "workbook",
}
REFUSED = {
    "feather 1": "is a Feather file of version 1; save it again as Feather 2, Parquet or CSV",
}
JSON = re.compile(rb'\s*(?:\{\s*"|\[\s*[\[{])')  # how objects, and lists of objects or rows, begin
NUMBER_BYTES = 8


def open_file(
    path: str | Path, *, header: bool | None = None, separator: str | None = None, max_bytes: int | None = None
) -> TableFile:
    """Open a file of columns: CSV, TSV (also gzipped, or by zstd), Parquet, Feather, Arrow, Excel, .npy or .npz.

    Parameters
    ----------
    path : str or Path
        The file, which may be a pipe; ``"-"`` is the standard input.
    header : bool or None, default=None
        For text: whether the first line names the columns; None for yes, but a line of numbers is refused.
    separator : str or None, default=None
        For text: what is between the cells; None to find out.
    max_bytes : int or None, default=None
        What a compressed file, a pipe or a column of Parquet or Arrow may unpack to; None for 4 GiB.

    Returns
    -------
    TableFile
        Where there are no names, as in an .npy file, columns are called 1, 2, 3 ...

    Raises
    ------
    ValueError
        If it is no such file, or unpacks to too much.
    OSError
        If it cannot be read at all.
    ImportError
        If polars is needed and missing, or the reader of workbooks.
    """
    with opened(str(path), MOST_BYTES if max_bytes is None else max_bytes) as content:
        head = content.head()
        kind = next((kind for magic, kind in KINDS.items() if head.startswith(magic)), "text")
        if kind == "gzip":
            content, kind = content.unzipped(), "text"
        elif kind == "zstd":
            content, kind = content.unpacked_from_zstd(), "text"
        elif kind == "utf-16":
            text = content.rewound().read().decode("utf-16", errors="replace")
            content, kind = content.holding(text.encode()), "text"
        return _open(content, kind, header, separator)


def _open(content: Content, kind: str, header: bool | None, separator: str | None) -> TableFile:
    source, head = content.source, content.head()
    if not head.strip():
        raise ValueError(f"{source} is empty.")
    if kind in REFUSED:
        raise ValueError(f"{source} {REFUSED[kind]}.")
    if kind == "zip" and is_workbook(content):
        kind = "workbook"
    if kind in ("npy", "zip"):
        return open_numpy(content)
    if kind == "text" and b"\0" in head:
        raise ValueError(
            f"{source} is neither text nor Parquet, Feather, Arrow, .npy or .npz; if it comes from another program, "
            "export it as CSV."
        )
    if kind == "text" and JSON.match(head):
        raise ValueError(f"{source} is JSON; save it as CSV or Parquet.")
    require("polars", f"reading {source}")
    if kind == "workbook":
        return _typed(content, first_sheet(content).lazy(), {})
    if kind != "text":
        return _open_typed(content, kind)
    content = content.in_utf8()
    return open_text(content, content.head(), separator, header)


def _open_typed(content: Content, kind: str) -> TableFile:
    """Open Parquet or Arrow, whose columns know what they are. Only those asked for are read."""
    import polars as pl

    source, is_parquet = content.source, kind == "parquet"
    with read_by_polars(f"{source} begins as a file of type {kind!r} but cannot be read"):
        sizes = parquet_bytes(content.rewound()) if is_parquet else {}
        size = 0 if is_parquet else arrow_bytes(content.rewound(), is_stream=kind == "arrow stream")
        if size <= content.max_bytes:
            file = content.rewound()
            if kind == "arrow stream":
                frame = pl.read_ipc_stream(file).lazy()
            else:
                frame = pl.scan_parquet(file) if is_parquet else pl.scan_ipc(file)
            size = (
                int(frame.select(pl.len()).collect().item()) * NUMBER_BYTES
            )  # few bytes can stand for many equal rows
    if size > content.max_bytes:
        raise too_large(source, content.max_bytes)
    return _typed(content, frame, sizes)


def _typed(content: Content, frame: pl.LazyFrame, sizes: Mapping[str, int]) -> TableFile:
    """The columns of a frame, which know what they are; `sizes` are those of some, in bytes."""
    import polars as pl

    source = content.source
    with read_by_polars(f"{source} cannot be read"):
        schema, n_rows = frame.collect_schema(), int(frame.select(pl.len()).collect().item())
    names = schema.names()

    def column(position: int, rows: RowArray | None) -> ReadColumn:
        name = names[position]
        if not _is_read(schema[name]):
            raise NotNumbers(f"it holds values of type {schema[name]}")
        with read_by_polars(f"{source}: column {name!r} cannot be read"):
            size = sizes.get(name, 0)
            if size <= content.max_bytes:
                values = frame.select(name).collect().to_series()
                size = _text_bytes(values)
        if size > content.max_bytes:
            raise too_large(f"{source}: column {name!r}", content.max_bytes)
        with read_by_polars(f"{source}: column {name!r} cannot be read"):
            return _typed_numbers(values if rows is None else values.gather(rows), rows)

    return TableFile(source, tuple(names), n_rows, column)


def _is_read(kind: pl.DataType) -> bool:
    """Whether columns of a type are read at all: numbers, dates and times, text."""
    import polars as pl

    return kind.is_numeric() or kind.is_temporal() or kind in (pl.Boolean, pl.Null, pl.String, pl.Categorical, pl.Enum)


def _text_bytes(values: pl.Series) -> int:
    """How long the text of a column is, as far as it has any: a dictionary may say a long word for every row."""
    import polars as pl

    if values.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return 0
    words = values.value_counts() if values.dtype != pl.String else pl.DataFrame({"word": values, "count": 1})
    lengths, counts = words.to_series(0).cast(pl.String).str.len_bytes(), words.to_series(1)
    return int((lengths.cast(pl.UInt64) * counts.cast(pl.UInt64)).sum())


def _typed_numbers(values: pl.Series, rows: RowArray | None) -> ReadColumn:
    """Numbers as they are, dates and times since a fixed moment, and text as in a file of text."""
    import polars as pl

    how = ""
    if values.dtype in (pl.String, pl.Categorical, pl.Enum):
        text = values.cast(pl.String)
        return numbers_of(text, Habits(True, lambda: None), lambda i: place(i if rows is None else int(rows[i]), None))
    if values.dtype == pl.Date:
        values, how = values.cast(pl.Int32), DAYS
    elif values.dtype == pl.Datetime:
        values, how = values.dt.epoch("us").cast(pl.Float64) * 1e-6, SECONDS
    elif values.dtype == pl.Time:
        values, how = values.cast(pl.Int64).cast(pl.Float64) * 1e-9, OF_DAY
    elif values.dtype == pl.Duration:
        values, how = values.dt.total_microseconds().cast(pl.Float64) * 1e-6, SPANS
    low, high = (values.min(), values.max()) if values.dtype.is_integer() else (None, None)
    if isinstance(low, int) and isinstance(high, int) and low < high and float(low) == float(high):
        raise NotNumbers(TOO_CLOSE)
    numbers = np.asarray(values.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
    return ReadColumn(numbers, f"dates or times are read as {how}" if how else "")

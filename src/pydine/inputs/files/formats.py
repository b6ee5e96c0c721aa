"""Which kind of file it is, by its first bytes and not by its name, and how the kinds that are not text are read."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.files.frame import NotNumbers, TableFile
from pydine.inputs.files.text import open_text
from pydine.types import FloatArray, RowArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["open_file"]

STANDARD_INPUT = "-"
HEAD = 1 << 20  # bytes that are looked at: a header of ten thousand columns is among them
KINDS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"FEA1": "feather 1",
    b"\xd0\xcf\x11\xe0": "workbook",
}
REFUSED = {
    "feather 1": "is a Feather file of version 1; write it again as Feather 2, Parquet or CSV",
    "workbook": "is a workbook; save the sheet as CSV",
}


def open_file(path: str | Path, *, header: bool | None = None, separator: str | None = None) -> TableFile:
    """Open a file of columns: CSV, TSV (also gzipped), Parquet, Feather, Arrow, .npy or .npz.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` is the standard input.
    header : bool or None, default=None
        For text: whether the first line names the columns; None for yes, but a line of numbers is refused.
    separator : str or None, default=None
        For text: what is between the cells; None to find out.

    Returns
    -------
    TableFile
        Where there are no names, as in an .npy file, columns are called 1, 2, 3 ...

    Raises
    ------
    ValueError
        If it is no such file.
    OSError
        If it cannot be read at all.
    ImportError
        If polars is needed and missing.
    """
    source, content, head = _content(str(path))
    kind = next((kind for magic, kind in KINDS.items() if head.startswith(magic)), "text")
    if kind == "gzip":
        content = _unpacked(source, content)
        return _open(source, content, content[:HEAD], "text", header, separator)
    if kind == "utf-16":
        content = _bytes(content).decode("utf-16", errors="replace").encode()
        return _open(source, content, content[:HEAD], "text", header, separator)
    return _open(source, content, head, kind, header, separator)


def _content(path: str) -> tuple[str, Path | bytes, bytes]:
    """The file's name for messages, itself or its bytes, and how it begins."""
    if path == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
        return "the standard input", content, content[:HEAD]
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{path} is a directory; name a file in it.")
    with file.open("rb") as opened:
        return path, file, opened.read(HEAD)


def _open(
    source: str, content: Path | bytes, head: bytes, kind: str, header: bool | None, separator: str | None
) -> TableFile:
    if not head.strip():
        raise ValueError(f"{source} is empty.")
    if kind in REFUSED:
        raise ValueError(f"{source} {REFUSED[kind]}.")
    if kind in ("npy", "zip"):
        return _open_numpy(source, content)
    if kind == "text" and b"\0" in head:
        raise ValueError(
            f"{source} is neither text nor Parquet, Feather, Arrow, .npy or .npz; if it comes from another program, "
            "export it as CSV."
        )
    if find_spec("polars") is None:
        raise ImportError(f"reading {source} needs polars; install it with: pip install 'pydine[cli]'", name="polars")
    return open_text(source, content, head, separator, header) if kind == "text" else _open_typed(source, content, kind)


def _bytes(content: Path | bytes) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content


def _unpacked(source: str, content: Path | bytes) -> bytes:
    try:
        return gzip.decompress(_bytes(content))
    except (OSError, EOFError, zlib.error):
        raise ValueError(f"{source} is gzipped but damaged or cut short.") from None


def _open_typed(source: str, content: Path | bytes, kind: str) -> TableFile:
    """Open Parquet or Arrow, whose columns know what they are. Only those asked for are read."""
    import polars as pl

    file: Any = content if isinstance(content, Path) else io.BytesIO(content)
    try:
        if kind == "arrow stream":
            frame = pl.read_ipc_stream(file).lazy()
        elif kind == "arrow":
            frame = pl.scan_ipc(file) if isinstance(content, Path) else pl.read_ipc(file).lazy()
        else:
            frame = pl.scan_parquet(file)
        names = frame.collect_schema().names()
        n_rows = frame.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(
            f"{source} begins as a file of kind {kind!r} but cannot be read ({str(error).splitlines()[0]})."
        ) from None

    def column(position: int, rows: RowArray | None) -> FloatArray:
        values = frame.select(names[position]).collect().to_series()
        return _typed_numbers(values if rows is None else values.gather(rows))

    return TableFile(source, tuple(names), n_rows, column)


def _typed_numbers(values: pl.Series) -> FloatArray:
    import polars as pl

    if not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
        kind = "dates or times" if values.dtype.is_temporal() else f"values of type {values.dtype}"
        raise NotNumbers(f"it holds {kind}")
    return np.asarray(values.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _open_numpy(source: str, content: Path | bytes) -> TableFile:
    """Open .npy or .npz. An array with two dimensions is as many columns as it is wide."""
    file: Any = content if isinstance(content, Path) else io.BytesIO(content)
    try:
        arrays = _load(file)
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        if "pickle" in str(error):
            raise ValueError(f"{source} holds Python objects, which are not read; save arrays of numbers.") from None
        raise ValueError(f"{source} cannot be read as an .npy or .npz file ({error}).") from None
    columns = [pair for key, array in arrays.items() for pair in _columns_of(source, key, array)]
    lengths = {len(values): name for name, values in columns}
    if len(lengths) > 1:
        (n, first), (m, second) = sorted(lengths.items())[:2]
        raise ValueError(f"{source}: columns must be of equal length, but {first!r} has {n} rows and {second!r} {m}.")

    def column(position: int, rows: RowArray | None) -> FloatArray:
        array = columns[position][1] if rows is None else columns[position][1][rows]
        if array.dtype.kind not in "biuf":
            raise NotNumbers(f"it holds values of type {array.dtype}")
        return np.ascontiguousarray(array, dtype=np.float64)

    return TableFile(source, tuple(name for name, _ in columns), next(iter(lengths), 0), column)


def _load(file: Any) -> dict[str, Any]:
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"": loaded}
    with loaded:
        return dict(loaded)


def _columns_of(source: str, key: str, array: Any) -> list[tuple[str, NDArray[Any]]]:
    """Split an array into columns with names: those it has, otherwise its key in the archive and a number."""
    if not isinstance(array, np.ndarray):
        raise ValueError(
            f"{source} is a zip archive that holds no arrays; unpack it, or save a workbook's sheet as CSV."
        )
    if array.dtype.names is not None and array.ndim == 1:
        return [(key + name, array[name]) for name in array.dtype.names]
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{source}: arrays must have one or two dimensions, rows first, but one has the shape {array.shape}."
        )
    if array.ndim == 1 or array.shape[1] == 1:
        return [(key or "1", array.reshape(-1))]
    return [(f"{key}{i + 1}", array[:, i]) for i in range(array.shape[1])]

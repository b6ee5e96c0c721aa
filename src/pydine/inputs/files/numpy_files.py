"""NumPy's own files: .npy and .npz. An array with two dimensions is as many columns as it is wide."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.files.content import Content, too_large
from pydine.inputs.files.frame import NotNumbers, ReadColumn, TableFile
from pydine.types import RowArray

__all__ = ["open_numpy"]

SPARSE = {"data", "format", "shape"}  # what SciPy's archives of sparse matrices have in common
NAME = tuple[str, NDArray[Any]]


def open_numpy(content: Content) -> TableFile:
    """Open .npy or .npz.

    Parameters
    ----------
    content : Content
        The file.

    Raises
    ------
    ValueError
        If it holds no columns of numbers, or unpacks to too much.
    """
    source = content.source
    columns = [pair for key, array in _arrays(content).items() for pair in _columns_of(source, key, array)]
    lengths = {len(values): name for name, values in columns}
    if len(lengths) > 1:
        (n, first), (m, second) = sorted(lengths.items())[:2]
        raise ValueError(f"{source}: columns must be of equal length, but {first!r} has {n} rows and {second!r} {m}.")

    def column(position: int, rows: RowArray | None) -> ReadColumn:
        array = columns[position][1] if rows is None else columns[position][1][rows]
        if array.dtype.kind not in "biuf":
            raise NotNumbers(f"it holds values of type {array.dtype}")
        return ReadColumn(np.ascontiguousarray(array, dtype=np.float64))

    return TableFile(source, tuple(name for name, _ in columns), next(iter(lengths), 0), column)


def _arrays(content: Content) -> dict[str, Any]:
    _check_size(content)
    try:
        arrays = _load(content)
    except Exception as error:  # noqa: BLE001 - damaged bytes raise whatever zipfile, zlib and NumPy's parser raise
        if "pickle" in str(error):
            raise ValueError(
                f"{content.source} holds Python objects, which are not read; save arrays of numbers."
            ) from None
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"{content.source} cannot be read as an .npy or .npz file ({reason}).") from None
    if arrays.keys() >= SPARSE:
        raise ValueError(f"{content.source} holds a sparse matrix; save matrix.toarray() with numpy.save.")
    return arrays


def _check_size(content: Content) -> None:
    """Refuse an archive that says it unpacks to too much; more than it says is not unpacked."""
    try:
        with zipfile.ZipFile(content.rewound()) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception:  # noqa: BLE001 - not an archive, or a damaged one: `_load` says so
        return
    if size > content.max_bytes:
        raise too_large(content.source, content.max_bytes)


def _load(content: Content) -> dict[str, Any]:
    loaded = np.load(content.rewound(), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"": loaded}
    with loaded:
        return dict(loaded)


def _columns_of(source: str, key: str, array: Any) -> list[NAME]:
    """Split an array into columns with names: those it has, otherwise its key in the archive and a number."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{source} is a zip archive that holds no arrays; unpack it.")
    if array.dtype.names is not None:
        return _fields_of(source, key, array)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{source}: arrays must have one or two dimensions, rows first, but one has the shape {array.shape}."
        )
    if array.ndim == 1 or array.shape[1] == 1:
        return [(key or "1", array.reshape(-1))]
    return [(f"{key}{i + 1}", array[:, i]) for i in range(array.shape[1])]


def _fields_of(source: str, key: str, records: NDArray[Any]) -> list[NAME]:
    """Split records into columns; a field of several numbers is several columns."""
    names = records.dtype.names or ()
    nested = [name for name in names if records.dtype[name].names is not None]
    is_shared = sum(records.dtype[name].itemsize for name in names) > records.dtype.itemsize
    if records.ndim != 1 or nested or is_shared:
        what = f"the field {nested[0]!r} is itself a record" if nested else f"they have the shape {records.shape}"
        what = "fields share their bytes" if is_shared else what
        raise ValueError(f"{source}: records must have one dimension and plain fields, but {what}; save columns.")
    return [pair for name in names for pair in _columns_of(source, key + name, records[name])]

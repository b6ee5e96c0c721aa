"""Tables of libraries that are not known here, through Arrow's C stream protocol: DuckDB, ADBC and others."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["from_arrow"]

STREAM = "__arrow_c_stream__"  # fact: the method of the protocol (Arrow PyCapsule interface)
RELATION = "to_arrow_table"  # fact: of relations of DuckDB before they had the protocol


def from_arrow(label: str, value: Any) -> Any:
    """The pyarrow table or column of an object that has the protocol; None if it has not."""
    if isinstance(value, type) or not (hasattr(value, STREAM) or hasattr(value, RELATION)):
        return None
    name = type(value).__name__
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f'to read a {name}, {label}= needs pyarrow: pip install "pyarrow".') from error
    if isinstance(value, arrow.RecordBatchReader):
        raise ValueError(f"{label} must be readable more than once, but is a {name}; pass its read_all().")
    if not hasattr(value, STREAM):
        return getattr(value, RELATION)()
    try:
        return arrow.table(value)
    except arrow.ArrowInvalid:  # of a column, not of a table
        return arrow.chunked_array(value)
    except (arrow.ArrowException, TypeError) as error:
        raise ValueError(f"{label} cannot be read from the Arrow stream of a {name} ({error}).") from error

"""The table of an experiment: a CSV with one row for each dataset and method, which only one run writes at a time.

Its columns are those that name a dataset, ``method``, the figures, and where the row comes from (``ORIGIN``). The last
is a check of the row: what a disk or a transfer has damaged is noticed, and run again. Rows of older tables have none.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from pydine.disk import write_whole

ORIGIN = ("code", "commit", "error", "check")

Row: TypeAlias = dict[str, Any]
Identity: TypeAlias = tuple[str, ...]


def read(path: Path) -> list[Row]:
    """Read the rows of a CSV, with numbers as numbers and NaN where a figure is missing."""
    rows = list(csv.DictReader(_text(path).splitlines()))
    if damaged := sum(not _is_whole(row) for row in rows):
        raise ValueError(f"{path} has {damaged} row(s) that were changed or damaged; run the experiment again.")
    return [typed(row) for row in rows]


def checked(row: Mapping[str, str]) -> dict[str, str]:
    """The same row with its check."""
    return {**row, "check": _check(row)}


def _check(row: Mapping[str, str]) -> str:
    """A digest of the cells that are not empty: columns may be added to a table."""
    cells = sorted((name, text) for name, text in row.items() if text and name != "check")
    return hashlib.blake2b(repr(cells).encode(), digest_size=4).hexdigest()


def _is_whole(row: Mapping[Any, Any]) -> bool:
    is_full = None not in row and None not in row.values()  # as many cells as the header has
    return is_full and ("check" not in row or row["check"] == _check(row))


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def identity(row: Mapping[str, object]) -> Identity:
    """Return the key of a row: the columns that name the dataset, and the method, in any order."""
    return tuple(str(row[name]) for name in sorted(_names(list(row))))


def read_finished(path: Path, columns: Sequence[str]) -> dict[Identity, dict[str, str]]:
    """Complete rows as text, by identity; columns that an older file lacks are empty, and damaged rows are left out."""
    if not path.exists():
        return {}
    text = _text(path)
    lines = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())  # an interrupted run may have left half a line
    header = list(lines.fieldnames or columns)
    if unknown := sorted(set(_names(columns)) - set(header) | set(header) - set(columns)):
        raise ValueError(
            f"{path} must be a table of this experiment, with the columns {', '.join(columns)}, but it differs in "
            f"{', '.join(unknown)}; move it away or write to another folder."
        )
    rows = ({column: row.get(column) or "" for column in columns} for row in lines if _is_whole(row))
    return {identity(row): row for row in rows}


def write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Write the rows sorted by dataset and method, whatever the order in which they were finished."""
    names, text = _names(columns), io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(checked, sorted(rows, key=lambda row: [_sort_key(row[name]) for name in names])))
    write_whole(path, text.getvalue().encode())


def typed(row: Mapping[str, str]) -> Row:
    """Return the row with numbers as numbers: figures as floats, NaN where one is missing."""
    place = list(row).index("method")
    found: Row = {}
    for i, (column, text) in enumerate(row.items()):
        if column == "method" or column in ORIGIN:
            found[column] = text
        else:
            found[column] = _number(text) if i < place else _figure(text)
    return found


def shown(value: float | str) -> str:
    """Return a figure as it is written: floats with eight digits, a missing one as nothing."""
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if math.isnan(value) else f"{value:.8g}"


@contextmanager
def only_run(path: Path) -> Iterator[None]:
    """Keep a second run away from the file, where the system has locks: each would overwrite the other's rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    with lock.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RuntimeError(f"another run is writing to {path}; wait for it, or write to another folder.") from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _names(columns: Sequence[str]) -> list[str]:
    return list(columns[: list(columns).index("method") + 1])


def _sort_key(text: str) -> tuple[float, str]:
    number = _number(text)
    return (number, text) if isinstance(number, int | float) else (0.0, text)


def _figure(text: str) -> str | float:
    number = _number(text) if text else math.nan
    return float(number) if isinstance(number, int) else number


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

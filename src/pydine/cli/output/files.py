"""Files that a command writes, all by one rule, which `check_places` applies before the work begins.

Never the input. Whole or not at all, with the permissions of the file that was there. A file that is there is kept
unless pydine wrote it, by its mark, or --overwrite asks for it. A table of numbers has no room for a mark: one is ours
if it is a square with the same names on both sides.
"""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydine.cli.output.notes import note
from pydine.disk import real, sweep, write_whole
from pydine.show.extras import require

MARK = "written by pydine"  # stands at the beginning or the end of files other than CSV and JSON
RECORD = b'{"pydine"'  # how results as JSON begin
LOOKED_AT = 1 << 14  # bytes at either end
PICTURES = (".png", ".svg", ".pdf")
STANDARD_INPUT = "-"


def check_places(source: str | None, *paths: Path | None, overwrite: bool, header: Sequence[str] = ()) -> None:
    """Refuse to begin work whose result could not be written, or would replace what it must not.

    Parameters
    ----------
    source : str or None
        The file, folder or ``-`` that is read.
    *paths : Path or None
        What will be written.
    overwrite : bool
        Whether files that are there may be replaced, whatever they are; other than the input.
    header : sequence of str
        By which a CSV is known to be ours, unless it is a square.
    """
    wanted = [path for path in paths if path is not None]
    for i, path in enumerate(wanted):
        place = real(path)
        if place.is_dir():
            raise ValueError(f"{path} is a directory; name a file in it.")
        if not place.parent.is_dir():
            raise ValueError(f"{path} cannot be written: there is no folder {path.parent}.")
        if place in map(real, wanted[:i]):
            raise ValueError(f"{path} is named for two results; name another file for one of them.")
        if source is not None and _is_input(place, source):
            raise ValueError(f"{path} is the input, or in the input folder; name another file for the result.")
        if place.exists() and not place.is_file():
            continue  # a device or a pipe
        is_read_only = place.exists() and not place.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        if is_read_only or not os.access(place.parent, os.W_OK):
            raise ValueError(f"{path} cannot be written: {'it' if is_read_only else path.parent} is read-only.")
        if place.exists() and not overwrite and not _is_ours(place, header):
            raise ValueError(
                f"{path} exists and was not written by pydine; name another file, or pass --overwrite to replace it."
            )


def _is_input(place: Path, source: str) -> bool:
    """Whether a file is what is read, under whatever name, or lies in the folder that is."""
    try:
        read = os.fstat(0) if source == STANDARD_INPUT else Path(source).stat()
    except OSError:
        return False
    if stat.S_ISDIR(read.st_mode):
        return place.is_relative_to(real(Path(source)))
    return stat.S_ISREG(read.st_mode) and place.exists() and os.path.samestat(read, place.stat())


def _is_ours(place: Path, header: Sequence[str]) -> bool:
    """Whether nothing would be lost that another program wrote: the file is empty, or plainly pydine's."""
    try:
        with place.open("rb") as file:
            size, head = place.stat().st_size, file.read(LOOKED_AT)
            file.seek(max(0, size - LOOKED_AT))
            if size == 0 or head.startswith(RECORD) or MARK.encode() in head or MARK.encode() in file.read():
                return True
        with place.open(encoding="utf-8", newline="") as text:
            rows = csv.reader(text)
            names = next(rows)
            if header:
                return names == list(header)
            return names[:1] == [""] and all(row[:1] == [name] for row, name in zip(rows, names[1:], strict=True))
    except (OSError, ValueError, csv.Error, StopIteration):
        return False


def check_picture(path: Path | None) -> None:
    """Refuse a figure in a form that is not drawn, or that nothing here can draw."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path}: a figure can be written as .png, .svg or .pdf, but not as {path.suffix or 'this'}.")
    if path is not None:
        require("matplotlib", f"drawing {path}")


def save(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, and say so."""
    write_whole(path, content)
    sweep(real(path).parent)
    note(f"Written: {path}")


def save_figure(figure: Any, path: Path) -> None:
    """Save a figure of matplotlib in the format that the file's name says, and forget it."""
    from matplotlib import pyplot as plt

    drawn, form = io.BytesIO(), path.suffix.lstrip(".").lower()
    figure.savefig(drawn, format=form, dpi=150, metadata={"Software" if form == "png" else "Creator": MARK})
    plt.close(figure)
    save(path, drawn.getvalue())

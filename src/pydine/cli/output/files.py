"""Files that a command writes, atomically, with a note for each."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pydine.cli.output.notes import note
from pydine.disk import write_whole


def check_place(*paths: Path | None) -> None:
    """Refuse to begin work whose result could not be written."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"{path} cannot be written, there is no folder {path.parent}.")


def save(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, and say so."""
    write_whole(path, content)
    note(f"Written: {path}")


def save_figure(figure: Any, path: Path) -> None:
    """Save a figure of matplotlib in the format that the file's name says."""
    known = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise ValueError(f"{path}: a figure can be written as .png, .svg or .pdf, but not as {path.suffix or 'this'}.")
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix.lstrip(".").lower(), dpi=150)
    save(path, drawn.getvalue())

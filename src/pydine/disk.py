"""Files that are whole or not there: whoever reads, whenever a writer was killed or the disk was full."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

__all__ = ["only_one", "sweep", "write_whole"]

UNFINISHED = ".unfinished-"
FORGOTTEN = 3600.0  # seconds after which nobody is still writing


def write_whole(path: Path, content: bytes, *, beside: Path | None = None) -> None:
    """Write a file under another name first, and rename it: there is never a part of it.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced. What is no file, such as ``/dev/stdout``, is written to as it is.
    content : bytes
        All that it will hold.
    beside : Path, optional
        The folder, on the same disk, for the unfinished file; that of the file itself if it is not given.

    Raises
    ------
    OSError
        If it cannot be written; then nothing is left behind, and a file that was there is as it was.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        path.write_bytes(content)
        return
    unfinished = (beside or path.parent) / f"{UNFINISHED}{uuid.uuid4().hex[:16]}"
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # of the file that was asked for
    finally:  # after an interrupt too
        with contextlib.suppress(OSError):
            unfinished.unlink()


def sweep(folder: Path) -> None:
    """Remove what writers that were killed left unfinished in a folder; what is recent may still be written."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(UNFINISHED) and time.time() - entry.stat().st_mtime > FORGOTTEN:
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Let one process at a time into the block, by a lock on a file, which the system drops if its owner is killed.

    Where there are no such locks, or the file cannot be written, everybody is let in.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ImportError):
            file = stack.enter_context(path.open("ab"))
            fcntl = import_module("fcntl")  # not on every system
            fcntl.flock(file, fcntl.LOCK_EX)
        yield

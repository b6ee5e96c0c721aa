"""Files that are whole or not there: whoever reads, whenever a writer was killed or the disk was full."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

__all__ = ["only_one", "real", "replacing", "sweep", "write_whole"]

UNFINISHED = ".unfinished-"
FORGOTTEN = 3600.0  # seconds after which nobody is still writing


@contextmanager
def replacing(path: Path, beside: Path | None = None) -> Iterator[Path]:
    """Let the block write a file under another name, and rename it after that: there is never a part of it.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced, with its permissions. What a link points to is replaced, not the link.
        What is no file, a device or a pipe, is for the block to write to as it is.
    beside : Path, optional
        The folder, on the same disk, for the unfinished file; that of the file itself if it is not given.

    Raises
    ------
    OSError
        If it cannot be written; then nothing is left behind, and a file that was there is as it was.
    """
    path = real(path)
    is_file = not path.exists() or path.is_file()
    unfinished = (beside or path.parent) / f"{UNFINISHED}{uuid.uuid4().hex[:16]}" if is_file else path
    try:
        yield unfinished
        if is_file:
            with contextlib.suppress(FileNotFoundError):
                unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
            unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None  # of the file that was asked for
    finally:  # after an interrupt too
        if is_file:
            with contextlib.suppress(OSError):
                unfinished.unlink()


def write_whole(path: Path, content: bytes, *, beside: Path | None = None) -> None:
    """Write a file as `replacing` does."""
    with replacing(path, beside) as unfinished:
        if unfinished != real(path):
            unfinished.touch(_mode(real(path)), exist_ok=False)
        unfinished.write_bytes(content)


def real(path: Path) -> Path:
    """The place that a path means, whatever links are on the way; a loop of them is an OSError as elsewhere."""
    try:
        return path.resolve()
    except RuntimeError:  # of Python before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def _mode(path: Path) -> int:
    """With which permissions a file begins that will take the place of another: nobody may read more meanwhile."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o666
    except FileNotFoundError:
        return 0o666


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

"""What a file holds. It is opened once, under its own name, and handed on as an open file.

Readers that are given a name may take it for a pattern: polars reads ``data1.csv`` for ``data[1].csv``. They are given
an open file, from which they can read nothing else.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["HEAD", "MOST_BYTES", "Content", "opened", "too_large"]

STANDARD_INPUT = "-"
HEAD = 16 << 20  # bytes that are looked at: a header of half a million columns is among them
MOST_BYTES = 4 << 30  # that what is compressed or comes through a pipe may unpack to


@dataclass(frozen=True, eq=False)
class Content:
    """An open file.

    Parameters
    ----------
    source : str
        The file, as messages call it.
    file : binary file
        Its bytes; it can be read more than once.
    max_bytes : int
        What it may unpack to.
    notes : tuple of str, default=()
        What was converted to read it.
    """

    source: str
    file: BinaryIO
    max_bytes: int
    notes: tuple[str, ...] = ()

    def rewound(self) -> BinaryIO:
        """The file, to be read from the beginning."""
        self.file.seek(0)
        return self.file

    def head(self) -> bytes:
        """How it begins."""
        return self.rewound().read(HEAD)

    def tail(self, count: int) -> bytes:
        """Its last bytes."""
        size = self.file.seek(0, os.SEEK_END)
        self.file.seek(max(0, size - count))
        return self.file.read()

    def holding(self, content: bytes, *notes: str) -> Content:
        """The same file with other bytes: those that it stands for; and what was done to have them."""
        return replace(self, file=io.BytesIO(content), notes=(*self.notes, *notes))

    def in_utf8(self) -> Content:
        """The same text in UTF-8: what is not was written by a program of Windows, as far as anybody can tell."""
        if _is_utf8(self.head()):
            return self
        text = self.rewound().read(self.max_bytes).decode("cp1252", errors="replace")
        note = "the file is not valid UTF-8 and was read as Windows-1252 (Western European)"
        return self.holding(text.encode(), note)

    def unzipped(self) -> Content:
        """What a gzipped file holds."""
        try:
            with gzip.GzipFile(fileobj=self.rewound()) as unpacked:
                content = _bounded(self.source, cast(BinaryIO, unpacked), self.max_bytes)
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{self.source} is gzipped but damaged or cut short.") from None
        return self.holding(content)

    def unpacked_from_zstd(self) -> Content:
        """What a file that was compressed with zstd holds; needs pyarrow."""
        try:
            pa = import_module("pyarrow")
        except ImportError:
            raise ImportError(f"reading {self.source} needs pyarrow; install it with: pip install pyarrow") from None
        try:
            with pa.CompressedInputStream(self.rewound(), "zstd") as unpacked:
                content = _bounded(self.source, cast(BinaryIO, io.BufferedReader(unpacked)), self.max_bytes)
        except OSError:
            raise ValueError(f"{self.source} is compressed with zstd but damaged or cut short.") from None
        return self.holding(content)


@contextmanager
def opened(path: str, max_bytes: int) -> Iterator[Content]:
    """Open a file, a pipe (named, or of a shell's process substitution) or the standard input (``-``)."""
    if path == STANDARD_INPUT:
        source = "the standard input"
        yield Content(source, io.BytesIO(_bounded(source, sys.stdin.buffer, max_bytes)), max_bytes)
        return
    if Path(path).is_dir():
        raise ValueError(f"{path} is a directory; name a file in it.")
    with Path(path).open("rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            yield Content(path, file, max_bytes)
        else:  # what comes through a pipe can be read once
            yield Content(path, io.BytesIO(_bounded(path, file, max_bytes)), max_bytes)


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(head) == HEAD and error.start >= HEAD - 4  # a character that the head cuts in two
    return True


def _bounded(source: str, stream: BinaryIO, max_bytes: int) -> bytes:
    content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise too_large(source, max_bytes)
    return content


def too_large(source: str, max_bytes: int) -> ValueError:
    """The refusal of a small file that holds a lot."""
    return ValueError(
        f"{source} unpacks to more than {max_bytes:,} bytes; pass a larger --max-bytes if it is meant to be that large."
    )

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
    """

    source: str
    file: BinaryIO
    max_bytes: int

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

    def holding(self, content: bytes) -> Content:
        """The same file with other bytes: those that it stands for."""
        return replace(self, file=io.BytesIO(content))

    def unzipped(self) -> Content:
        """What a gzipped file holds."""
        try:
            with gzip.GzipFile(fileobj=self.rewound()) as unpacked:
                content = _bounded(self.source, cast(BinaryIO, unpacked), self.max_bytes)
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{self.source} is gzipped but damaged or cut short.") from None
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


def _bounded(source: str, stream: BinaryIO, max_bytes: int) -> bytes:
    content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise too_large(source, max_bytes)
    return content


def too_large(source: str, max_bytes: int) -> ValueError:
    """The refusal of a small file that holds a lot."""
    return ValueError(
        f"{source} unpacks to more than {max_bytes:,} bytes; pass a larger --max-bytes if it is meant to be so large."
    )

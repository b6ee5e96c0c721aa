"""Failures of polars as one sentence: its exceptions, and the panics of the Rust below, which are no `Exception`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["read_by_polars"]

STANDARD_ERROR = 2
LONGEST_REASON = 200


@contextmanager
def read_by_polars(what: str) -> Iterator[None]:
    """Refuse what polars cannot read.

    Parameters
    ----------
    what : str
        How the sentence begins, up to the reason.

    Raises
    ------
    ValueError
        Whatever polars raises, of one line.
    """
    import polars as pl

    try:
        with _panics_unheard():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:LONGEST_REASON]
        raise ValueError(f"{what} ({reason}).") from None


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Mute file descriptor 2: Rust writes pages about a panic there before Python hears of it."""
    try:
        kept = os.dup(STANDARD_ERROR)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STANDARD_ERROR)
        yield
    finally:
        os.dup2(kept, STANDARD_ERROR)
        os.close(nowhere)
        os.close(kept)

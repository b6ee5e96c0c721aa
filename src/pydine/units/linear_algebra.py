"""Linear algebra in one thread: matrices here are small, and threads of BLAS cost more than they gain.

On two cores they made a ranking of 442 rows six times as expensive, waiting for each other. Sums do not depend on the
number of cores then, either.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_inside: list[object] = []  # one entry for each block that is open, in any thread
_limits: list[threadpool_limits] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread within the block; whoever leaves last, of nested ones too, restores what there was."""
    mark = object()
    with _lock:
        if not _inside:
            _limits.append(threadpool_limits(1, user_api="blas"))
        _inside.append(mark)
    try:
        yield
    finally:
        with _lock:
            _inside.remove(mark)
            if not _inside:
                _limits.pop().restore_original_limits()

"""Limits linear algebra to one thread where pieces of work run in parallel.

There are as many workers as cores, so more threads would slow each other down. And BLAS adds in an order that depends
on the number of its threads, so one thread also gives the same bits on every engine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Limit:
    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def one(self) -> Iterator[None]:
        """Limit BLAS to one thread in this process; the last block to end restores the former number."""
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._restore = _libraries().limit(limits=1).restore_original_limits
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if self._count == 0:
                    self._restore()


@cache
def _libraries() -> Any:
    """The BLAS libraries that are loaded; they are searched for once, since that takes milliseconds."""
    import scipy.linalg  # noqa: F401 - it has a BLAS of its own
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


one_thread = _Limit().one

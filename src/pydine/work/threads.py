"""Threads of linear algebra: one, where pieces of work run beside each other.

Workers are as many as there are cores, so more would be in each other's way; and BLAS adds in an order that depends on
their number, so that one is also what gives the same bits on every engine.
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
        """Limit BLAS to one thread in this process; whoever leaves last restores what was."""
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
    """What is loaded, found once: looking for it takes milliseconds."""
    import scipy.linalg  # noqa: F401 - it has a BLAS of its own
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


one_thread = _Limit().one

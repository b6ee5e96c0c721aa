"""The one place that runs units: in threads, since all that is slow in them is compiled and releases the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

import numpy as np

from pydine.kernels.compilation import explained
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.units.unit import MARGINAL

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_ready = threading.Event()


def run(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    step: Callable[[], None] | None = None,
) -> list[Result]:
    """Apply `function` to every item and return the results in the order of the items, whatever `n_jobs` is.

    `step` is called after every item, in the thread of the caller: for a progress bar.
    """
    return list(stream(function, items, n_jobs, step))


def stream(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    step: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """The same, one result after the other as they are ready: what was done before an interruption is not lost."""
    ensure_compiled()
    items, watcher = list(items), _watcher.get()
    if watcher is not None:
        watcher.expect(len(items))
    results: Iterable[Result] = map(function, items)
    if n_jobs is not None and n_jobs != 1:
        from joblib import Parallel, delayed  # takes its time to import, and one thread does not need it

        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        results = parallel(delayed(function)(item) for item in items)
    for result in results:
        yield result
        if step is not None:
            step()
        if watcher is not None:
            watcher.advance()


class Watcher(Protocol):
    """Whoever wants to know how far the work is."""

    def expect(self, count: int) -> None:
        """So many more items will be run."""
        ...

    def advance(self) -> None:
        """One of them is done."""
        ...


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def is_watched() -> bool:
    """Whether somebody is told of what this thread runs."""
    return _watcher.get() is not None


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Tell a watcher of what is run in the block, by this thread."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def ensure_compiled() -> None:
    """Compile, or load from disk, all that units need, on a tiny unit: threads would each begin to, and in silence."""
    with _lock:
        if _ready.is_set():
            return
        rows = np.linspace(-1.0, 1.0, 30)
        with explained():
            MARGINAL.log_density(rows, rows[None])  # the likelihood comes before what calls it, read or compiled
            unit = fit_ladder(rows, rows[None, ::-1].copy(), LadderSettings(iterations=1))
            unit.latent(np.array([0.0, 1e6]), np.zeros((1, 2)))
        _ready.set()

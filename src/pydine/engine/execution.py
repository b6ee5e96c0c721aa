"""The one place that runs units: in threads, since all that is slow in them is compiled and releases the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed

from pydine.engine.compilation import explained
from pydine.engine.ladder import LadderSettings, fit_ladder

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_ready = threading.Event()


def run(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> list[Result]:
    """Apply `function` to every item and return the results in the order of the items, whatever `n_jobs` is."""
    _ensure_compiled()
    if n_jobs is None or n_jobs == 1:
        return [function(item) for item in items]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(function)(item) for item in items))


def _ensure_compiled() -> None:
    """Compile, or load from disk, all that units need, on a tiny unit: threads would each begin to, and in silence."""
    with _lock:
        if _ready.is_set():
            return
        rows = np.linspace(-1.0, 1.0, 30)
        with explained():
            unit = fit_ladder(rows, rows[None, ::-1].copy(), LadderSettings(iterations=1))
            unit.latent(np.array([0.0, 1e6]), np.zeros((1, 2)))
        _ready.set()

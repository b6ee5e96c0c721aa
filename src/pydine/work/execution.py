"""The one place that runs work: in threads, since slow code is compiled and releases the GIL, or in other processes.

`n_jobs` and joblib's context say where, as in scikit-learn: ``with joblib.parallel_config(backend="dask")``. Answers do
not depend on it. Work that leaves the process is a picklable function and picklable items; the columns in them are sent
once (see `parcels`). The engines are in `engines`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from pydine.kernels.compilation import compiled_once, explained
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.units.unit import MARGINAL

if TYPE_CHECKING:
    from pydine.work.parcels import Job

Item = TypeVar("Item")
Result = TypeVar("Result")

# memory: seconds: of work that is worth sharing with another thread or process, of the longest group of items, and of
# an item that does not estimate its own (`seconds`).
WORTH_A_TRIP, LONGEST_GROUP, AN_ITEM = 0.1, 20.0, 0.5
GROUPS_EACH = 8  # memory: groups for each worker, so that workers finish at about the same time

_lock = threading.Lock()
_ready = threading.Event()


class Executor(Protocol):
    """Runs work outside of this process.

    To write one: `results` sends every group of a job to some worker, as a call ``engines.work(errand, code_digest(),
    chunks)`` with ``errand = job.errand(group)`` and the chunks ``[job.chunks[i] for i in errand.chunks]``, each of
    which should be sent to a worker only once. All of these can be pickled. It yields the number of a group and what
    `work` returned as soon as it is ready, each group once and in any order; groups of lost workers are sent to others,
    and an exception of the work itself is raised. An errand depends on nothing else and may run twice.
    `engines.chosen` decides when an executor is used.
    """

    @property
    def workers(self) -> int:
        """How many groups run at the same time."""
        ...

    def results(self, job: Job) -> Iterator[tuple[int, list[Any]]]:
        """Numbers of groups and their results, as they are ready."""
        ...


def run(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    step: Callable[[], None] | None = None,
    *,
    here: bool = False,
) -> list[Result]:
    """Apply `function` to every item and return the results in the order of the items, wherever they are computed.

    `step` is called after every item, in the caller's thread: for a progress bar. With `here`, for work whose results
    are large in relation to the time it takes, items run in threads of this process whatever the context says.
    """
    items = list(items)
    found = dict(arrivals(function, items, n_jobs, step, here=here))
    return [found[i] for i in range(len(items))]


def arrivals(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    step: Callable[[], None] | None = None,
    *,
    here: bool = False,
    grouped: bool = True,
) -> Iterator[tuple[int, Result]]:
    """As `run`, but yields positions of items and their results as they are ready, in any order.

    So results that arrived before an interruption are not lost. If not `grouped`, items, which take long, are sent one
    by one.
    """
    ensure_compiled()
    items, watcher = list(items), _watcher.get()
    if watcher is not None:
        watcher.expect(len(items))
    for arrived in _arrivals(function, items, n_jobs, here, grouped):
        yield arrived
        if step is not None:
            step()
        if watcher is not None:
            watcher.advance()


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> Iterator[Result]:
    """Apply `function` to items that come one by one, in threads, and yield the results in the order of the items.

    Items are consumed, a few ahead, only as workers become free: together they may not fit into memory.
    """
    ensure_compiled()
    where = _chosen(n_jobs)
    if not isinstance(where, int):
        from pydine.work.engines import threads

        where = threads(n_jobs)
    if where == 1:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=where, backend="threading", return_as="generator", batch_size=1)
    yield from parallel(delayed(_in_thread)(function, item) for item in items)


def is_sent_away(n_jobs: int | None) -> bool:
    """Whether work leaves this process."""
    return not isinstance(_chosen(n_jobs), int)


def _chosen(n_jobs: int | None) -> Executor | int:
    if n_jobs == 1 or _inside.get():  # work within other work is not distributed again
        return 1
    if n_jobs is None and "joblib" not in sys.modules:  # nobody has imported it, so there is no context
        return 1
    from pydine.work.engines import chosen

    return chosen(n_jobs)


def _arrivals(
    function: Callable[[Item], Result], items: list[Item], n_jobs: int | None, here: bool, grouped: bool
) -> Iterator[tuple[int, Result]]:
    where = _chosen(n_jobs)
    if not isinstance(where, int):
        if not here and (len(items) > 1 or not grouped) and sum(map(_seconds, items)) >= WORTH_A_TRIP:
            yield from _sent(where, function, items, grouped)
            return
        from pydine.work.engines import threads

        where = threads(n_jobs)
    if where == 1 or len(items) < 2 or sum(map(_seconds, items)) < WORTH_A_TRIP:
        yield from enumerate(map(function, items))
        return
    from joblib import Parallel, delayed  # slow to import, and one thread does not need it

    parallel = Parallel(n_jobs=where, backend="threading", return_as="generator")
    yield from enumerate(parallel(delayed(_in_thread)(function, item) for item in items))


def _in_thread(function: Callable[[Item], Result], item: Item) -> Result:
    with inside():
        return function(item)


def _sent(
    executor: Executor, function: Callable[[Item], Result], items: Sequence[Item], grouped: bool
) -> Iterator[tuple[int, Result]]:
    """Positions and results of items that an executor runs."""
    from pydine.work.parcels import Job

    groups = (
        _groups([_seconds(item) for item in items], executor.workers) if grouped else [[i] for i in range(len(items))]
    )
    job = Job.of(function, ([items[i] for i in group] for group in groups))
    for number, results in executor.results(job):
        yield from zip(groups[number], results, strict=True)


def _seconds(item: object) -> float:
    """About how many seconds an item takes."""
    return float(getattr(item, "seconds", AN_ITEM))


def _groups(seconds: Sequence[float], workers: int) -> list[list[int]]:
    """Positions of items in groups: each large enough to be worth sending, and enough of them to balance workers."""
    enough = min(max(sum(seconds) / (GROUPS_EACH * workers), WORTH_A_TRIP / 2.0), LONGEST_GROUP)
    groups: list[list[int]] = []
    total = enough
    for i, cost in enumerate(seconds):
        if total >= enough:
            groups.append([])
            total = 0.0
        groups[-1].append(i)
        total += cost
    return groups


_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def inside() -> Iterator[None]:
    """Run all work of the block in its own thread: it is part of work that is distributed already."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


class Watcher(Protocol):
    """Is told of the progress of work."""

    def expect(self, count: int) -> None:
        """`count` more items will be run."""
        ...

    def advance(self) -> None:
        """One more item is done."""
        ...


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def is_watched() -> bool:
    """Whether a watcher is told of what this thread runs."""
    return _watcher.get() is not None


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Tell a watcher of what this thread runs in the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def ensure_compiled() -> None:
    """Compile, or load from disk, all code that units need, by fitting a tiny one, before threads start.

    Otherwise each thread would begin to compile, without a message. Of several processes on a machine one compiles, and
    the others wait for it.
    """
    with _lock:
        if _ready.is_set():
            return
        rows = np.linspace(-1.0, 1.0, 30)
        with explained(), compiled_once():
            MARGINAL.log_density(rows, rows[None])  # the likelihood must be loaded or compiled before its callers
            unit = fit_ladder(rows, rows[None, ::-1].copy(), LadderSettings(iterations=1))
            unit.latent(np.array([0.0, 1e6]), np.zeros((1, 2)))
        _ready.set()

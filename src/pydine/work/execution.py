"""The one place that runs work: in threads, since all that is slow is compiled and releases the lock, or elsewhere.

Where is said by `n_jobs` and by joblib's context, as in scikit-learn: ``with joblib.parallel_config(backend="dask")``.
An answer does not depend on it. Work that leaves the process is a picklable function and picklable items; what they
hold of columns travels once (see `parcels`), and the engines are in `engines`.
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

# memory: seconds of work that are worth a trip, that a group of items is to take at most, and that an item takes about
# if it does not say (`seconds`).
WORTH_A_TRIP, LONGEST_GROUP, AN_ITEM = 0.1, 20.0, 0.5
GROUPS_EACH = 8  # memory: groups for each worker, so that they end together

_lock = threading.Lock()
_ready = threading.Event()


class Executor(Protocol):
    """Runs work outside of this process.

    To write one: `results` hands every group of a job to some worker, as a call ``engines.work(errand, SOURCES_DIGEST,
    chunks)`` with ``errand = job.errand(group)`` and the chunks ``[job.chunks[i] for i in errand.chunks]``, each of
    which should travel to a worker once. All of these pickle. It yields the number of a group and what `work` returned,
    each group once and in any order, as soon as it is there; groups of workers that are lost are handed to others, and
    an exception of the work itself is raised. An errand depends on nothing else and may run twice. `engines.chosen`
    says when an executor is used.
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

    `step` is called after every item, in the thread of the caller: for a progress bar. What is to stay `here`, because
    its results are large beside the work, is run in threads whatever the context says.
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
    """The same, as they are ready: positions of items and their results, in any order.

    What was done before an interruption is not lost. Items that take long are sent one by one if not `grouped`.
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

    No more items are taken than there is work for: they may be parts of what does not fit into memory.
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
    if n_jobs == 1 or _inside.get():  # what is fitted inside of other work stays with it
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
    if where == 1 or len(items) < 2:
        yield from enumerate(map(function, items))
        return
    from joblib import Parallel, delayed  # takes its time to import, and one thread does not need it

    parallel = Parallel(n_jobs=where, backend="threading", return_as="generator")
    yield from enumerate(parallel(delayed(_in_thread)(function, item) for item in items))


def _in_thread(function: Callable[[Item], Result], item: Item) -> Result:
    with inside():
        return function(item)


def _sent(
    executor: Executor, function: Callable[[Item], Result], items: Sequence[Item], grouped: bool
) -> Iterator[tuple[int, Result]]:
    """Results from elsewhere."""
    from pydine.work.parcels import Job

    groups = (
        _groups([_seconds(item) for item in items], executor.workers) if grouped else [[i] for i in range(len(items))]
    )
    job = Job.of(function, ([items[i] for i in group] for group in groups))
    for number, results in executor.results(job):
        yield from zip(groups[number], results, strict=True)


def _seconds(item: object) -> float:
    """How long an item takes, about."""
    return float(getattr(item, "seconds", AN_ITEM))


def _groups(seconds: Sequence[float], workers: int) -> list[list[int]]:
    """Positions of items in groups that are worth a trip each, and so many that workers end together."""
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
    """Run what the block runs where the block is: it is a part of work that was sent somewhere already."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


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
    """Compile, or load from disk, all that units need, on a tiny unit: threads would each begin to, and in silence.

    Of the processes of a machine one compiles, and the others wait for it.
    """
    with _lock:
        if _ready.is_set():
            return
        rows = np.linspace(-1.0, 1.0, 30)
        with explained(), compiled_once():
            MARGINAL.log_density(rows, rows[None])  # the likelihood comes before what calls it, read or compiled
            unit = fit_ladder(rows, rows[None, ::-1].copy(), LadderSettings(iterations=1))
            unit.latent(np.array([0.0, 1e6]), np.zeros((1, 2)))
        _ready.set()

"""The one runner of experiments: it times every row, resumes interrupted runs, and records a failure in its row.

A task is a dataset and the methods to run on it; a row is what one method said of one dataset. Every row is written
to a CSV as it is finished, so that an interrupted run loses only the rows that were being computed.
"""

from __future__ import annotations

import csv
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict

from joblib import parallel_config
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pydine._version import __version__
from pydine.experiments import table
from pydine.experiments.measure import measured
from pydine.experiments.table import ORIGIN, Identity, Row
from pydine.show.extras import require
from pydine.work.execution import arrivals, is_sent_away

if TYPE_CHECKING:
    from rich.console import Console

FIGURES = ("truth", "estimate", "low", "high", "score")
COSTS = ("seconds", "peak_mib")
QUIET_SECONDS = 30.0  # between two lines of progress where there is no terminal
MEMORY_OF_SPEED = 600.0  # seconds of past rows from which the time left is predicted: rows differ a lot
WARM_UP_ROWS = 100
JAX_THREADS = "PJRT_NPROC"


class Outcome(NamedTuple):
    """The answer of a method for a dataset.

    Attributes
    ----------
    estimate
        Information in nats, or the p-value of a test.
    low, high
        Ends of the nominal 95% interval; NaN if there is none.
    score
        For a test, a p-value without ties, such as the analytic one of the same fit; NaN if there is none.
    """

    estimate: float
    low: float = math.nan
    high: float = math.nan
    score: float = math.nan


Method: TypeAlias = Callable[[Any], Outcome | Mapping[str, float | str]]


@dataclass(frozen=True)
class Task:
    """A dataset (the columns that name it, and how to draw it) and the names of the methods to run on it.

    What is drawn is what the methods take, mostly a `pydine.experiments.datasets.Dataset`. If it has a ``truth``, that
    is a figure of every row; if it has a method ``first``, methods are warmed up on its first rows.
    """

    key: dict[str, str | int | float]
    draw: Callable[[], Any]
    methods: tuple[str, ...]


class HowToRun(TypedDict, total=False):
    """The options of `run` that experiments pass on to it; those left out have their defaults there."""

    jobs: int
    fresh: bool
    renew: bool
    console: Console | None


def run(
    tasks: Sequence[Task],
    methods: Mapping[str, Method],
    path: Path,
    *,
    figures: Sequence[str] = FIGURES,
    jobs: int = 1,
    fresh: bool = False,
    renew: bool = False,
    transient: Set[str] = frozenset(),
    foreign: Set[str] = frozenset(),
    console: Console | None = None,
) -> list[Row]:
    """Run every method of every task, and append each row to a CSV as it is finished.

    Rows that the file already has are not run again, unless they failed. If a method raises, its error is kept in its
    row, and the others go on.

    Parameters
    ----------
    tasks
        What to run, in this order; all keys must have the same columns.
    methods
        The methods by name.
    path
        The CSV; rows of other methods and datasets in it are kept.
    figures
        Columns of the answers: by default the truth and the fields of `Outcome`.
    jobs
        Worker processes, -1 for one on every core; with 1 the rows are run in this process. An engine that a context of
        joblib's names is used instead. Every row has one thread, so that times are comparable; only JAX, if a method
        uses it in this process, keeps its own threads.
    fresh
        Whether to run rows again that the file already has.
    renew
        Whether to run rows again that another version of this library computed.
    transient
        Methods so cheap that their rows are computed in every run and not kept in the file.
    foreign
        Methods that are not this library's: their rows do not depend on its code, and record none.
    console
        Where progress is shown: standard error unless given.

    Returns
    -------
    list of dict
        The rows of these tasks in their order: the columns of the key, ``method``, the figures (NaN where one is
        missing), what the row cost (`COSTS`), and where it comes from (`pydine.experiments.table.ORIGIN`).
    """
    if jobs == 0:
        raise ValueError("jobs must be a number of processes, or -1 for one per core, but got 0.")
    with table.only_run(path):
        kept = kept_rows(tasks, path, figures)
        others = {i for i, row in kept.items() if row["method"] not in foreign and row["code"] != __version__}
        again = set(kept) if fresh else others if renew else set()
        rows = run_rows(
            tasks,
            methods,
            path,
            again,
            {"code": __version__},
            figures=figures,
            jobs=jobs,
            transient=transient,
            foreign=foreign,
            console=console,
        )
    return [table.typed(row) for row in rows.values()]


def kept_rows(tasks: Sequence[Task], path: Path, figures: Sequence[str] = FIGURES) -> dict[Identity, dict[str, str]]:
    """Those of the rows of tasks, as text, that a file already has."""
    rows = table.read_finished(path, _columns(tasks, figures))
    return {i: rows[i] for i in (_identity(task, name) for task in tasks for name in task.methods) if i in rows}


def run_rows(
    tasks: Sequence[Task],
    methods: Mapping[str, Method],
    path: Path,
    again: Set[Identity],
    origin: Mapping[str, str],
    *,
    figures: Sequence[str] = FIGURES,
    jobs: int = 1,
    transient: Set[str] = frozenset(),
    foreign: Set[str] = frozenset(),
    console: Console | None = None,
) -> dict[Identity, dict[str, str]]:
    """`run` for those who say which rows to run again, and which code rows are of; no other run may use the file.

    Parameters
    ----------
    tasks, methods, path, figures, jobs, transient, foreign, console
        As in `run`.
    again
        Rows to run again.
    origin
        What new rows have in the columns ``code`` and ``commit``.

    Returns
    -------
    dict
        The rows of these tasks in their order, as text.
    """
    require("rich", "an experiment")
    columns = _columns(tasks, figures)
    wanted = [(task, method) for task in tasks for method in task.methods]
    rows = table.read_finished(path, columns)
    rows = {i: row for i, row in rows.items() if i not in again and row["method"] not in transient}
    table.write(path, columns, rows.values())
    todo = [(t, m) for t, m in wanted if rows.get(_identity(t, m), {"error": "not run"})["error"]]
    finished = _finished(todo, methods, jobs, foreign, origin)
    for row in _appended(path, columns, finished, len(todo), console):
        rows[table.identity(row)] = row
    table.write(path, columns, (row for row in rows.values() if row["method"] not in transient))
    return {i: rows[i] for i in (_identity(task, method) for task, method in wanted)}


def _columns(tasks: Sequence[Task], figures: Sequence[str]) -> list[str]:
    return [*tasks[0].key, "method", *figures, *COSTS, *ORIGIN]


def _appended(
    path: Path, columns: Sequence[str], finished: Iterable[Mapping[str, str]], total: int, console: Console | None
) -> Iterator[dict[str, str]]:
    """Write each row to the end of the file as it arrives, with its check, and show how far the run is."""
    with path.open("a", encoding="utf-8", newline="") as file, _Progress(total, console) as progress:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        for row in finished:
            whole = table.checked({column: row.get(column, "") for column in columns})
            writer.writerow(whole)
            file.flush()
            progress.step(failed=bool(whole["error"]))
            yield whole


# --- one row ---


def _identity(task: Task, method: str) -> Identity:
    return table.identity({**task.key, "method": method})


def _finished(
    todo: Sequence[tuple[Task, str]],
    methods: Mapping[str, Method],
    jobs: int,
    foreign: Set[str],
    ours: Mapping[str, str],
) -> Iterator[dict[str, str]]:
    """Rows in the order in which they are finished."""
    row = partial(_run_row, methods={name: methods[name] for _, name in todo}, foreign=foreign, ours=ours)
    if jobs == 1 and not is_sent_away(None):
        yield from map(row, todo)
        return
    with nullcontext() if is_sent_away(None) else _one_thread_each(jobs):
        # One by one: a group of several rows would be lost as a whole.
        for _, finished in arrivals(row, todo, None, grouped=False):
            yield finished


@contextmanager
def _one_thread_each(jobs: int) -> Iterator[None]:
    """Give worker processes one thread each: joblib does it for all libraries but JAX, which has its own variable."""
    before = os.environ.get(JAX_THREADS)
    os.environ[JAX_THREADS] = "1"
    try:
        with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            yield
    finally:
        os.environ.pop(JAX_THREADS)
        if before is not None:
            os.environ[JAX_THREADS] = before


def _run_row(
    asked: tuple[Task, str], methods: Mapping[str, Method], foreign: Set[str], ours: Mapping[str, str]
) -> dict[str, str]:
    task, name = asked
    method, origin = methods[name], {} if name in foreign else ours
    figures: dict[str, float | str] = {}
    error, data = "", task.draw()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up(name, method, data)
        with measured() as cost:
            try:
                found = method(data)
                figures = found._asdict() if isinstance(found, Outcome) else dict(found)
            except Exception as problem:  # noqa: BLE001 a failure is a result: it belongs in its row
                error = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    estimate = figures.get("estimate", 0.0)
    if not error and not math.isfinite(float(estimate)):
        error = f"the estimate is {estimate}"
    if hasattr(data, "truth"):
        figures = {"truth": data.truth, **figures}
    return {
        **{column: str(value) for column, value in task.key.items()},
        "method": name,
        **{column: table.shown(value) for column, value in figures.items()},
        "seconds": f"{cost.seconds:.4f}",
        "peak_mib": "" if math.isnan(cost.peak_mib) else f"{cost.peak_mib:.1f}",
        "code": "",
        "commit": "",
        **origin,
        "error": error,
    }


_warm: set[str] = set()  # methods that this process has already run


def _warm_up(name: str, method: Method, data: Any) -> None:
    """Let a method import and compile what it needs on a few rows, so that it is not in the time of the first row."""
    if name in _warm or not hasattr(data, "first"):
        return
    _warm.add(name)
    with suppress(Exception):  # what is wrong will be seen on the whole data, and recorded
        method(data.first(WARM_UP_ROWS))


# --- progress ---


class _Progress:
    """A bar with the time left in a terminal; elsewhere a line now and then."""

    def __init__(self, total: int, console: Console | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = console or Console(stderr=True)
        self._total, self._done, self._failed, self._console = total, 0, 0, console
        self._start = self._shown = time.perf_counter()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=MEMORY_OF_SPEED,
            disable=not console.is_terminal or total == 0,
        )

    def __enter__(self) -> _Progress:
        self._bar.start()
        self._task = self._bar.add_task("rows", total=self._total)
        if not self._console.is_terminal:
            self._console.print(f"{self._total} rows to run")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, *, failed: bool) -> None:
        self._done += 1
        self._failed += failed
        failures = f", {self._failed} failed" if self._failed else ""
        self._bar.update(self._task, advance=1, description=f"rows{failures}")
        now = time.perf_counter()
        last = self._done == self._total
        if self._console.is_terminal or (now - self._shown < QUIET_SECONDS and not last):
            return
        self._shown, gone = now, now - self._start
        left = gone / self._done * (self._total - self._done)
        self._console.print(
            f"{self._done} of {self._total} rows{failures}, {_duration(gone)} elapsed, about {_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

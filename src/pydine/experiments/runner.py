"""The one runner of experiments: rows that can be interrupted and resumed, timed, and that may fail alone.

A task is a dataset and the methods to run on it; a row is what one method said of one dataset. Every row is written
to a CSV as it is finished, so that an interrupted run loses the rows in flight and nothing else.
"""

from __future__ import annotations

import csv
import hashlib
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import pydine
from pydine.experiments.datasets import Dataset

FIGURES = ("truth", "estimate", "low", "high", "score", "seconds", "peak_mib")
OUTCOME_COLUMNS = ("method", *FIGURES, "code", "error")
QUIET_SECONDS = 30.0  # between two lines of progress where there is no terminal
MEMORY_OF_SPEED = 600.0  # seconds of rows from which the time left is told: rows differ a lot
WARM_UP_ROWS = 100
JAX_THREADS = "PJRT_NPROC"

Row: TypeAlias = dict[str, Any]
Identity: TypeAlias = tuple[str, ...]


class Outcome(NamedTuple):
    """What a method says of a dataset.

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


Method: TypeAlias = Callable[[Dataset], Outcome]


@dataclass(frozen=True)
class Task:
    """A dataset (the columns that name it, and how to draw it) and the names of the methods to run on it."""

    key: dict[str, str | int | float]
    draw: Callable[[], Dataset]
    methods: tuple[str, ...]


def code_version() -> str:
    """Eight hexadecimal digits that change when a source file of the package does."""
    source = Path(pydine.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*.py")):
        digest.update(path.relative_to(source).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def run(
    tasks: Sequence[Task],
    methods: Mapping[str, Method],
    path: Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    transient: Set[str] = frozenset(),
    console: Console | None = None,
) -> list[Row]:
    """Run every method of every task, and append each row to a CSV as it is finished.

    Rows that the file already has are not run again, unless they failed. A method that raises leaves its error in its
    row; the others go on.

    Parameters
    ----------
    tasks
        What to run, in this order; all keys must have the same columns.
    methods
        The methods by name.
    path
        The CSV; rows of other methods and datasets in it are kept.
    jobs
        Worker processes, -1 for one on every core; with 1 the rows are run in this one. A row has one thread, so that
        times compare; in this process JAX, if a method uses it, keeps its own.
    fresh
        Whether to run the rows anew that the file already has.
    transient
        Methods so cheap that their rows are computed in every run and not kept in the file.
    console
        Where progress is shown: standard error unless given.

    Returns
    -------
    list of dict
        The rows of these tasks in their order: the columns of the key, then those of `OUTCOME_COLUMNS`, with NaN
        where a figure is missing.
    """
    if jobs == 0:
        raise ValueError("jobs must be a number of processes, or -1 for one on every core, but got 0.")
    names = list(tasks[0].key)
    columns = [*names, *OUTCOME_COLUMNS]
    wanted = [(task, method) for task in tasks for method in task.methods]
    with _only_run(path):
        rows = _read(path, columns)
        asked = {_identity(task.key, method) for task, method in wanted} if fresh else set()
        rows = {i: row for i, row in rows.items() if i not in asked and row["method"] not in transient}
        _write(path, columns, rows.values())
        todo = [(t, m) for t, m in wanted if rows.get(_identity(t.key, m), {"error": "not run"})["error"]]
        with path.open("a", newline="") as file, _Progress(len(todo), console or Console(stderr=True)) as progress:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            for row in _finished(todo, methods, jobs):
                rows[_identity({name: row[name] for name in names}, row["method"])] = row
                writer.writerow(row)
                file.flush()
                progress.step(failed=bool(row["error"]))
        _write(path, columns, (row for row in rows.values() if row["method"] not in transient))
    return [_typed(rows[_identity(task.key, method)]) for task, method in wanted]


def read(path: Path) -> list[Row]:
    """Read the rows of a CSV that `run` wrote, with numbers as numbers and NaN where a figure is missing."""
    with path.open(newline="") as file:
        return [_typed(row) for row in csv.DictReader(file)]


# --- one row ---


def _finished(todo: Sequence[tuple[Task, str]], methods: Mapping[str, Method], jobs: int) -> Iterator[dict[str, str]]:
    """Rows in the order in which they are finished."""
    code = code_version()
    with _one_thread_each() if jobs != 1 else nullcontext():
        # A batch of several rows would be lost as a whole.
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from workers(delayed(_run_row)(task, name, methods[name], code) for task, name in todo)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Give worker processes one thread each: joblib knows how, but for JAX, which listens to a variable of its own."""
    before = os.environ.get(JAX_THREADS)
    os.environ[JAX_THREADS] = "1"
    try:
        with parallel_config("loky", inner_max_num_threads=1):
            yield
    finally:
        os.environ.pop(JAX_THREADS)
        if before is not None:
            os.environ[JAX_THREADS] = before


def _run_row(task: Task, name: str, method: Method, code: str) -> dict[str, str]:
    outcome, error, data = Outcome(math.nan), "", task.draw()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up(name, method, data)
        _reset_peak_memory()
        start = time.perf_counter()
        try:
            outcome = method(data)
        except Exception as problem:  # noqa: BLE001 a failure is a result: it belongs in its row
            error = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
        seconds = time.perf_counter() - start
    if not error and not math.isfinite(outcome.estimate):
        error = f"the estimate is {outcome.estimate}"
    peak = peak_memory()
    figures = {"truth": data.truth, **outcome._asdict()}
    return {
        **{column: str(value) for column, value in task.key.items()},
        "method": name,
        **{column: "" if math.isnan(value) else f"{value:.8g}" for column, value in figures.items()},
        "seconds": f"{seconds:.4f}",
        "peak_mib": "" if math.isnan(peak) else f"{peak:.1f}",
        "code": code,
        "error": error,
    }


_warm: set[str] = set()  # methods that this process has already run


def _warm_up(name: str, method: Method, data: Dataset) -> None:
    """Let a method import and compile what it needs on a few rows, so that it is not in the time of the first row."""
    if name in _warm:
        return
    _warm.add(name)
    few = {part: getattr(data, part)[:WARM_UP_ROWS] for part in ("x", "y", "latent_x", "latent_y")}
    with suppress(Exception):  # what is wrong will be seen on the whole data, and recorded
        method(replace(data, **few, z=None if data.z is None else data.z[:WARM_UP_ROWS]))


def _reset_peak_memory() -> None:
    with suppress(OSError):  # where this cannot be done the peak is that of the process so far
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Peak memory of this process in MiB: on Linux since the last reset, elsewhere since it began; NaN if unknown."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return math.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


# --- the table ---


def _identity(key: Mapping[str, object], method: object) -> Identity:
    return (*map(str, key.values()), str(method))


def _read(path: Path, columns: list[str]) -> dict[Identity, dict[str, str]]:
    """Complete rows by dataset and method; columns that an older file lacks are empty."""
    if not path.exists():
        return {}
    text = path.read_text()
    lines = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())  # an interrupted run may have left half a line
    names = columns[: -len(OUTCOME_COLUMNS)]
    header = list(lines.fieldnames or columns)
    if unknown := sorted({*names, "method"} - set(header) | set(header) - set(columns)):
        raise ValueError(
            f"{path} must be a table of this experiment, with the columns {', '.join(columns)}, but it differs in "
            f"{', '.join(unknown)}; move it away or write to another folder."
        )
    rows = ({column: row.get(column) or "" for column in columns} for row in lines)
    return {_identity({name: row[name] for name in names}, row["method"]): row for row in rows}


def _write(path: Path, columns: list[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Write the rows sorted by dataset and method, whatever the order in which they were finished."""
    names = [*columns[: -len(OUTCOME_COLUMNS)], "method"]
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: [_sort_key(row[name]) for name in names]))
    temporary.replace(path)


def _sort_key(text: str) -> tuple[float, str]:
    number = _number(text)
    return (number, text) if isinstance(number, int | float) else (0.0, text)


def _typed(row: Mapping[str, str]) -> Row:
    typed: Row = {}
    for column, text in row.items():
        if column in FIGURES:
            typed[column] = float(text) if text else math.nan
        else:
            typed[column] = text if column in OUTCOME_COLUMNS else _number(text)
    return typed


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@contextmanager
def _only_run(path: Path) -> Iterator[None]:
    """Keep a second run away from the file, where the system has locks: each would overwrite the other's rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RuntimeError(f"another run is writing to {path}; wait for it, or write to another folder.") from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


# --- progress ---


class _Progress:
    """A bar with the time left in a terminal; elsewhere a line now and then."""

    def __init__(self, total: int, console: Console) -> None:
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
            f"{self._done} of {self._total} rows{failures}, {_duration(gone)} gone, about {_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

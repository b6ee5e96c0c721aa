"""What the benchmarks share: the methods, one runner that can be interrupted, and the tables.

Import it before NumPy: it sets every numerical library to one thread.
"""

import one_thread  # noqa: F401

# isort: split

import csv
import hashlib
import math
import platform
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import pydine
from pydine.baselines.gaussian import gaussian_copula, oracle
from pydine.baselines.ksg import ksg
from pydine.dependence import simes
from pydine.experiments.datasets import Dataset
from pydine.independence import STATISTICS

RESULTS = Path(__file__).parent / "results"
PROGRESS_SECONDS = 10.0


# --- methods: a dataset in, an estimate in nats (or a p-value) out ---


class Outcome(NamedTuple):
    estimate: float
    low: float = math.nan  # ends of the nominal 95% interval
    high: float = math.nan


def _default(data: Dataset, base: str = "auto") -> Outcome:
    estimate = pydine.mutual_information(data.x, data.y, data.z, base=base, random_state=0, n_jobs=1)
    interval = estimate.confidence_interval(0.95)
    return Outcome(estimate.value, interval.low, interval.high)


def _paper(data: Dataset) -> Outcome:
    model = pydine.DINE.paper(random_state=data.seed).fit(data.x, data.y, data.z)
    return Outcome(model.information_.value)


def _test(data: Dataset, n_permutations: int = 199) -> Outcome:
    """A p-value in the place of the estimate; in that of the low end, the analytic one of the same latents."""
    result = pydine.independence_test(data.x, data.y, data.z, n_permutations=n_permutations)
    blocks = np.array(list(result.block_pvalues.values()))
    return Outcome(result.pvalue, float(simes(blocks, STATISTICS["auto"])))


def _causal_learn(data: Dataset, name: str) -> Outcome:
    from causallearn.utils.cit import CIT

    np.random.seed(data.seed)  # noqa: NPY002 RCIT draws from the global generator
    test = CIT(np.hstack([data.x, data.y, data.z]), name)
    return Outcome(float(test(0, 1, list(range(2, 2 + data.z.shape[1])))))


METHODS: dict[str, Callable[[Dataset], Outcome]] = {
    "default": _default,
    "gaussian": lambda data: _default(data, "gaussian"),
    "student": lambda data: _default(data, "student"),
    "flow": lambda data: _default(data, "flow"),
    "paper": _paper,
    "copula": lambda data: Outcome(gaussian_copula(data.x, data.y, data.z)),
    # z projected out: what an estimator is left with that is safe against a linear effect of z
    "oracle": lambda data: Outcome(oracle(data.latent_x, data.latent_y, data.z)),
    "oracle-latents": lambda data: Outcome(oracle(data.latent_x, data.latent_y)),
    "ksg": lambda data: Outcome(ksg(data.x, data.y, data.z)),
    "test": _test,
    "test-100": lambda data: _test(data, 100),
    "rcit": lambda data: _causal_learn(data, "rcit"),
    "kci": lambda data: _causal_learn(data, "kci"),
}


CHEAP = frozenset({"copula", "oracle", "oracle-latents"})  # computed anew in every run, not kept in the CSV


# --- the runner ---


@dataclass(frozen=True)
class Task:
    """A dataset (the columns that name it, and how to draw it) and the methods to run on it."""

    key: dict[str, str | int | float]
    draw: Callable[[], Dataset]
    methods: tuple[str, ...]


OUTCOME_COLUMNS = ("method", "truth", "estimate", "low", "high", "seconds", "code", "error")


def code_version() -> str:
    """Eight hexadecimal digits that change when a source file of the package does."""
    source = Path(pydine.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*.py")):
        digest.update(path.relative_to(source).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def run(tasks: Sequence[Task], path: Path, jobs: int, fresh: bool) -> pd.DataFrame:
    """Run the tasks, append every row to the CSV as it is finished, and return the rows of these tasks.

    Rows that the file already has are not run again, unless they failed or ``fresh`` is set. An interrupted
    run loses the datasets in flight and nothing else.
    """
    columns = [*tasks[0].key, *OUTCOME_COLUMNS]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {} if fresh else _read(path, columns)
    _write(path, columns, rows.values())
    wanted = [(task, method) for task in tasks for method in task.methods]
    todo = [
        Task(task.key, task.draw, methods)
        for task in tasks
        if (methods := tuple(m for m in task.methods if _identity(task.key, m) not in rows))
    ]
    code, reporter = code_version(), _Progress(len(todo))
    worker = Parallel(n_jobs=jobs, return_as="generator_unordered")
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        for finished in worker(delayed(_run_task)(task, code) for task in todo):
            for row in finished:
                writer.writerow(row)
                rows[_identity(row, row["method"], list(tasks[0].key))] = row
            file.flush()
            reporter.step()
    _write(path, columns, (row for row in rows.values() if row["method"] not in CHEAP))
    done = [rows[_identity(task.key, method)] for task, method in wanted]
    frame = pd.DataFrame(done, columns=columns)
    for column in ("truth", "estimate", "low", "high", "seconds"):
        frame[column] = frame[column].replace("", "nan").astype(float)
    for column, value in tasks[0].key.items():
        frame[column] = frame[column].astype(type(value))
    return frame.assign(abs_error=(frame.estimate - frame.truth).abs(), bias=frame.estimate - frame.truth)


def _identity(key: dict[str, object], method: object, columns: Iterable[str] | None = None) -> tuple[str, ...]:
    return (*(str(key[c]) for c in columns or key), str(method))


def _run_task(task: Task, code: str) -> list[dict[str, object]]:
    data = task.draw()
    rows = []
    for method in task.methods:
        outcome, error = Outcome(math.nan), ""
        start = time.perf_counter()
        try:
            outcome = METHODS[method](data)
        except Exception as problem:  # noqa: BLE001 a failure is a result: it belongs in its row
            error = f"{type(problem).__name__}: {problem}".replace("\n", " ")
        seconds = time.perf_counter() - start
        if not error and not math.isfinite(outcome.estimate):
            error = f"the estimate is {outcome.estimate}"
        figures = outcome._asdict().items()
        rounded = {name: "" if math.isnan(value) else f"{value:.6f}" for name, value in figures}
        rows.append(
            {
                **task.key,
                "method": method,
                "truth": f"{data.truth:.6f}",
                **rounded,
                "seconds": f"{seconds:.4f}",
                "code": code,
                "error": error,
            }
        )
    return rows


def _read(path: Path, columns: list[str]) -> dict[tuple[str, ...], dict[str, object]]:
    """Rows that are complete and did not fail, by dataset and method."""
    if not path.exists():
        return {}
    text = path.read_text()
    lines = text[: text.rfind("\n") + 1].splitlines()  # an interrupted run may have left half a line
    names = columns[: -len(OUTCOME_COLUMNS)]
    return {
        _identity(row, row["method"], names): row
        for row in csv.DictReader(lines)
        if list(row) == columns and row["error"] == "" and row["method"] not in CHEAP
    }


def _write(path: Path, columns: list[str], rows: Iterable[dict[str, object]]) -> None:
    """Write the rows sorted by dataset and method, whatever the order in which they were finished."""
    names = columns[: -len(OUTCOME_COLUMNS)]

    def order(row: dict[str, object]) -> tuple[tuple[float, str], ...]:
        return tuple((_number(row[name]), str(row[name])) for name in [*names, "method"])

    temporary = path.with_suffix(".tmp")
    with temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=order))
    temporary.replace(path)


def _number(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return 0.0


class _Progress:
    def __init__(self, total: int) -> None:
        self.total, self.done, self.start, self.shown = total, 0, time.perf_counter(), 0.0
        print(f"{total} datasets to run", flush=True)

    def step(self) -> None:
        self.done += 1
        elapsed = time.perf_counter() - self.start
        if self.done < self.total and elapsed - self.shown < PROGRESS_SECONDS:
            return
        self.shown = elapsed
        left = elapsed / self.done * (self.total - self.done)
        print(f"{self.done} of {self.total}, {elapsed:.0f} s gone, about {left:.0f} s left", flush=True)


# --- the tables ---


@dataclass(frozen=True)
class Bar:
    """A figure and the limits that it must keep within."""

    name: str
    value: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return "not run"
        return "pass" if self.low <= self.value <= self.high else "FAIL"

    @property
    def limit(self) -> str:
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}"


def markdown(rows: Sequence[dict[str, object]]) -> str:
    """A table with a header from the first row's keys; numbers with three digits, NaN as a dash."""

    def show(value: object) -> str:
        if isinstance(value, float | np.floating):
            return "-" if math.isnan(value) else f"{value:.3f}"
        return str(value)

    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([show(row[name]) for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bar_table(bars: Sequence[Bar]) -> str:
    return markdown([{"bar": b.name, "measured": b.value, "asked": b.limit, "verdict": b.verdict} for b in bars])


def mean_abs_error(rows: pd.DataFrame, method: str) -> float:
    """Mean absolute error in nats; NaN if a row failed or none was run: never an average of what is left."""
    errors = rows.loc[rows.method == method, "abs_error"]
    return float(errors.mean(skipna=False)) if len(errors) else math.nan


def mean_bias(rows: pd.DataFrame, method: str) -> float:
    errors = rows.loc[rows.method == method, "bias"]
    return float(errors.mean(skipna=False)) if len(errors) else math.nan


def coverage(rows: pd.DataFrame, method: str = "default") -> float:
    """Share of the nominal 95% intervals that hold the truth; an interval that is missing does not."""
    chosen = rows[rows.method == method]
    inside = (chosen.low <= chosen.truth) & (chosen.truth <= chosen.high)
    return float(inside.mean()) if len(chosen) else math.nan


def provenance(rows: pd.DataFrame | None = None) -> str:
    """Where the figures come from: the machine, the versions, the code, and what failed."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    lines = [f"Python {platform.python_version()}, {packages}, {platform.machine()}; one thread a process."]
    if rows is None:
        lines.append(f"Code {code_version()}.")
    else:
        for method, group in rows.groupby("method", sort=False):
            codes = ", ".join(f"{code} ({count} rows)" for code, count in group.code.value_counts().items())
            warning = " **More than one version: run with --fresh.**" if group.code.nunique() > 1 else ""
            failed = f" **{(group.error != '').sum()} failed.**" if (group.error != "").any() else ""
            lines.append(f"- {method}: code {codes}.{warning}{failed}")
    return "\n".join(lines)


def report(path: Path, *sections: str) -> None:
    """Write the sections as one markdown file, and show them."""
    text = "\n\n".join(sections) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(text)


# --- the command line ---


def parser(description: str | None, seeds: int, methods: Sequence[str]) -> ArgumentParser:
    """Options that the accuracy benchmarks share."""
    options = ArgumentParser(description=description)
    options.add_argument("--seeds", type=int, default=seeds, help="datasets a row (default: %(default)s)")
    options.add_argument("--methods", nargs="+", choices=METHODS, default=list(methods))
    options.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    options.add_argument("--fresh", action="store_true", help="forget the rows of earlier runs")
    options.add_argument("--output", type=Path, default=RESULTS, help="folder (default: %(default)s)")
    return options


def run_from(options: Namespace, tasks: Sequence[Task], name: str) -> pd.DataFrame:
    return run(tasks, options.output / f"{name}.csv", options.jobs, options.fresh)

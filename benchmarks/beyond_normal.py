"""The 40 tasks of "Beyond Normal" (Czyz et al. 2023): one fixed setting of pydine, beside the benchmark's own methods.

python benchmarks/beyond_normal.py --samples DIR [--seeds 3] [--fresh] [--renew] [--confirm N] [--tasks NAME ...] \
    [--before FOLDER]

The samples in DIR are those that benchmarks/beyond_normal_peers.py draws. FOLDER is a clone of another version, which
is timed beside this one, both with one thread.
"""

import common

# isort: split

import math
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import pydine
from harness.provenance import ESTIMATES
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Method, Task
from versions import OtherVersion

JOBS = 2
SMALL = 5  # most columns a side with which single bases are run, and times judged
DEFAULT, ALONE = "dine", ("dine-gaussian", "dine-flow")
ONE_THREAD, BEFORE = "dine, one thread", "before, one thread"
PEERS = ("KSG (bmi)", "CCA", "MINE", "InfoNCE", "NWJ", "Donsker-Varadhan")
FIGURES = ("truth", "estimate", "standard_error", "base")

ALL_TASKS, SECONDS = 40, 2.0
SOLVED_FACTOR, LEAST_WITHIN = 1.5, {1.2: 40, 1.1: 37}

NOTES = f"""
n = 10,000. "pydine": `pydine.mutual_information(x, y, n_jobs={JOBS})`, all else by default; "dine-gaussian" and
"dine-flow": the same with that base, where no side has more than {SMALL} columns. Estimates in nats, means over
the seeds; "ratio" is pydine over the truth. Seconds of pydine: one estimate at a time on 2 cores, warm.

KSG (bmi), CCA and the neural estimators are those of the package benchmark-mi: CCA and KSG on three seeds, the others
on one; one thread, seconds with compilation. How they were run: beyond_normal_peers.md.

Settings were chosen by held-out likelihood on other shapes. These tasks were run during development to check estimates
and time; the number of standard errors by which a richer base must win was raised from 2 to 3 after a first run, on the
evidence of the paper's Gaussian datasets.

A task is solved if the mean estimate is within a factor {SOLVED_FACTOR} of the truth; an estimate that is not positive,
or that failed, is not.
""".strip()


# --- running: one estimate at a time, in this process ---


def estimate(data: Dataset, base: str = "auto", jobs: int = JOBS) -> dict[str, float | str]:
    found = pydine.mutual_information(data.x, data.y, base=base, n_jobs=jobs, random_state=0)
    return {"estimate": found.value, "standard_error": found.standard_error, "base": found.base}


METHODS = {DEFAULT: estimate, **{name: partial(estimate, base=name.removeprefix("dine-")) for name in ALONE}}
TIMED = {ONE_THREAD: partial(estimate, jobs=1)}


def other(version: OtherVersion, data: Dataset) -> dict[str, float | str]:
    return {"estimate": version(data).estimate}


def load(samples: Path, task: str, truth: float, seed: int) -> Dataset:
    with np.load(samples / f"{task}__{seed}.npz") as data:
        x, y = data["x"], data["y"]
    return Dataset(task, seed, math.nan, x, y, None, x, y, truth)


def run(tasks: pd.DataFrame, small: set[str], options: Namespace) -> pd.DataFrame:
    """The default on every task; the bases on their own, and another version, where sides are small."""
    methods: dict[str, Method] = dict(METHODS)
    if options.before:
        methods |= {**TIMED, BEFORE: partial(other, OtherVersion(options.before))}
    planned = [
        Task(
            {"task": task.task, "seed": seed},
            partial(load, options.samples, task.task, task.truth, seed),
            tuple(methods) if task.task in small else (DEFAULT,),
        )
        for seed in range(options.seeds)
        for task in tasks.itertuples()
    ]
    others = frozenset({BEFORE})
    return common.run_from(options, planned, "beyond_normal", methods, figures=FIGURES, scope=ESTIMATES, others=others)


def peers(path: Path) -> pd.DataFrame:
    """Rows of the benchmark's own methods; none if they have not been run."""
    if not path.exists():
        return pd.DataFrame(columns=["task", "seed", "method", "truth", "estimate", "seconds", "error"])
    return pd.read_csv(path)


# --- tables ---


def mean(values: pd.Series) -> float:
    """Mean over seeds; NaN if one failed or none was run."""
    return float(values.mean(skipna=False)) if len(values) else math.nan


def task_table(tasks: pd.DataFrame, rows: pd.DataFrame, others: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for task in tasks.itertuples():
        every, theirs = rows[rows.task == task.task], others[others.task == task.task]
        own = every[every.method == DEFAULT]
        found = mean(own.estimate)
        line: dict[str, object] = {"task": task.name, "truth": task.truth, "pydine": found}
        line |= {"base": ", ".join(sorted(set(own.base.dropna()))), "ratio": found / task.truth}
        line |= {"seconds": mean(own.seconds)}
        line |= {base: mean(every[every.method == base].estimate) for base in ALONE}
        lines.append(line | {name: mean(theirs[theirs.method == name].estimate) for name in PEERS})
    return lines


def within(estimates: pd.Series, truths: pd.Series, factor: float) -> pd.Series:
    ratio = estimates / truths
    return (ratio > 1 / factor) & (ratio < factor)


def summary_line(name: str, rows: pd.DataFrame, small: set[str]) -> dict[str, object]:
    """Tasks within a factor of the truth, of those that were run; rows need task, truth, estimate and seconds."""
    means = rows.groupby("task").agg({"estimate": mean, "truth": "first", "seconds": "mean"})
    close = {factor: within(means.estimate, means.truth, factor).sum() for factor in (SOLVED_FACTOR, *LEAST_WITHIN)}
    every = within(rows.estimate, rows.truth, SOLVED_FACTOR).groupby(rows.task).all().sum()
    return {
        "method": name,
        "tasks": len(means),
        "solved": int(close[SOLVED_FACTOR]),
        "solved on every seed": int(every),
        **{f"within {factor:g}": int(close[factor]) for factor in LEAST_WITHIN},
        f"median s, at most {SMALL} columns": float(means.seconds[means.index.isin(small)].median()),
    }


def summary(rows: pd.DataFrame, others: pd.DataFrame, small: set[str]) -> list[dict[str, object]]:
    lines = [summary_line(name, own, small) for name, own in rows.groupby("method", sort=False)]
    run_peers = [name for name in PEERS if (others.method == name).any()]
    return lines + [summary_line(name, others[others.method == name], small) for name in run_peers]


def bars(lines: list[dict[str, object]]) -> list[common.Bar]:
    line, median = lines[0], f"median s, at most {SMALL} columns"

    def of(name: str) -> float:
        return float(str(line[name])) if line["tasks"] == ALL_TASKS else math.nan

    timed = {str(other["method"]): float(str(other[median])) for other in lines}
    beside = timed.get(ONE_THREAD, math.nan) / timed.get(BEFORE, math.nan)

    close = [
        common.Bar(f"tasks within a factor {factor:g}, of {ALL_TASKS}", of(f"within {factor:g}"), low=least)
        for factor, least in LEAST_WITHIN.items()
    ]
    times = [
        common.Bar(f"median seconds, at most {SMALL} columns (2 cores, warm)", of(median), high=SECONDS),
        common.Bar(f"the same over that of the version before, {ONE_THREAD.removeprefix('dine, ')}", beside, high=1.0),
    ]
    return [*close, *times]


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=Path, required=True, help="folder of the samples")
    parser.add_argument("--seeds", type=int, default=3, help="samples a task (default: %(default)s)")
    parser.add_argument("--tasks", nargs="+", help="only these (default: all)")
    parser.add_argument("--fresh", action="store_true", help="discard the rows of earlier runs")
    parser.add_argument("--renew", action="store_true", help="run again the rows that earlier code computed")
    parser.add_argument("--confirm", type=int, default=0, metavar="N", help=common.CONFIRM)
    parser.add_argument("--before", type=Path, help="a clone of another version")
    parser.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    tasks = pd.read_csv(options.samples / "tasks.csv")
    if options.tasks:
        tasks = tasks[tasks.task.isin(options.tasks)]
    small = set(tasks.task[tasks[["dx", "dy"]].max(axis=1) <= SMALL])
    rows = run(tasks, small, options)
    others = peers(common.RESULTS / "beyond_normal_peers.csv")
    others = others[others.task.isin(tasks.task)]
    lines = summary(rows, others, small)
    common.report(
        options.output / "beyond_normal.md",
        '# The tasks of "Beyond Normal"',
        NOTES,
        "## Bars",
        common.bar_table(bars(lines)),
        "## All tasks",
        common.markdown(lines),
        "## Each task",
        common.markdown(task_table(tasks, rows, others)),
        "## Provenance",
        common.provenance(rows).replace("one thread a process", f"{JOBS} threads"),
    )


if __name__ == "__main__":
    main()

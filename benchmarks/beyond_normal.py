"""The 40 tasks of "Beyond Normal" (Czyz et al. 2023): one fixed setting of pydine, beside the benchmark's own methods.

python benchmarks/beyond_normal.py --samples DIR [--seeds 3] [--fresh] [--tasks NAME ...]

The samples in DIR are those that benchmarks/beyond_normal_peers.py draws.
"""

import common

# isort: split

import csv
import math
import time
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pandas as pd

import pydine

JOBS = 2
SMALL = 5  # columns of a side, up to which the bases are run on their own and the time is judged
WARM = "spiral-multinormal-sparse-3-3-2-2.0"  # an estimate that needs all kinds of units, not timed
ALONE = ("gaussian", "flow")
PEERS = ("KSG (bmi)", "CCA", "MINE", "InfoNCE", "NWJ", "Donsker-Varadhan")
COLUMNS = ("task", "seed", "truth", "estimate", "standard_error", "base", "seconds", *ALONE, "code", "error")
FIGURES = ("truth", "estimate", "standard_error", "seconds", *ALONE)

ALL_TASKS, SOLVED, WITHIN, SECONDS = 40, 40, 36, 2.0
SOLVED_FACTOR, WITHIN_FACTOR = 1.5, 1.2

NOTES = f"""
n = 10,000. "pydine": `pydine.mutual_information(x, y, n_jobs={JOBS})`, all else by default; "gaussian" and "flow": the
same with that base, where no side has more than {SMALL} columns. Estimates in nats, means over the seeds; "ratio" is
pydine over the truth. Seconds of pydine: one estimate at a time on 2 cores, n_jobs = {JOBS}, warm.

KSG (bmi), CCA and the neural estimators are those of the package benchmark-mi: CCA and KSG on three seeds, the others
on one; one thread, seconds with compilation. How they were run: beyond_normal_peers.md.

Settings were chosen by held-out likelihood on other shapes. These tasks were run during development to check estimates
and time; the number of standard errors by which a richer base must win was raised from 2 to 3 after a first run, on the
evidence of the paper's Gaussian datasets.

A task is solved if the mean estimate is within a factor {SOLVED_FACTOR} of the truth; an estimate that is not positive,
or that failed, is not.
""".strip()


# --- running: one estimate at a time, in this process ---


def estimate(x: np.ndarray, y: np.ndarray, base: str = "auto") -> pydine.InformationEstimate:
    return pydine.mutual_information(x, y, base=base, n_jobs=JOBS, random_state=0)


def load(samples: Path, task: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    with np.load(samples / f"{task}__{seed}.npz") as data:
        return data["x"], data["y"]


def measure(x: np.ndarray, y: np.ndarray) -> dict[str, str]:
    """The default's estimate and seconds, the bases' estimates where sides are small, and the error if one failed."""
    row = {"error": ""}
    try:
        start = time.perf_counter()
        found = estimate(x, y)
        row["seconds"] = f"{time.perf_counter() - start:.3f}"
        row |= {"estimate": f"{found.value:.6f}", "standard_error": f"{found.standard_error:.6f}", "base": found.base}
        if max(x.shape[1], y.shape[1]) <= SMALL:
            row |= {base: f"{estimate(x, y, base).value:.6f}" for base in ALONE}
    except Exception as problem:  # noqa: BLE001 a failure is a result: it belongs in its row
        row["error"] = f"{type(problem).__name__}: {problem}".replace("\n", " ")
    return row


def finished(path: Path, fresh: bool) -> dict[tuple[str, int], dict[str, str]]:
    """Rows of earlier runs that are complete and did not fail, by task and seed."""
    if fresh or not path.exists():
        return {}
    text = path.read_text()
    lines = text[: text.rfind("\n") + 1].splitlines()  # an interrupted run may have left half a line
    rows = [row for row in csv.DictReader(lines) if list(row) == list(COLUMNS) and row["error"] == ""]
    return {(row["task"], int(row["seed"])): row for row in rows}


def run(tasks: pd.DataFrame, samples: Path, seeds: int, path: Path, fresh: bool) -> pd.DataFrame:
    """Run what is missing, append every row as it is finished, and return all rows of these tasks."""
    rows, code = finished(path, fresh), common.code_version()
    wanted = [(task, seed, truth) for seed in range(seeds) for task, truth in zip(tasks.task, tasks.truth, strict=True)]
    todo = [key for key in wanted if key[:2] not in rows]
    if todo:
        estimate(*load(samples, WARM, 0))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
        for i, (task, seed, truth) in enumerate(todo, 1):
            key = {"task": task, "seed": str(seed), "truth": f"{truth:.6f}", "code": code}
            rows[task, seed] = dict.fromkeys(COLUMNS, "") | key | measure(*load(samples, task, seed))
            writer.writerow(rows[task, seed])
            file.flush()
            print(f"{i} of {len(todo)}:", *rows[task, seed].values(), flush=True)
    return numbers(pd.DataFrame([rows[key[:2]] for key in wanted], columns=list(COLUMNS)), FIGURES)


def numbers(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in columns})


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
        own, theirs = rows[rows.task == task.task], others[others.task == task.task]
        found = mean(own.estimate)
        line: dict[str, object] = {"task": task.name, "truth": task.truth, "pydine": found}
        line |= {"base": ", ".join(sorted(set(own.base) - {""})), "ratio": found / task.truth}
        line |= {"seconds": mean(own.seconds)} | {base: mean(own[base]) for base in ALONE}
        lines.append(line | {name: mean(theirs[theirs.method == name].estimate) for name in PEERS})
    return lines


def within(estimates: pd.Series, truths: pd.Series, factor: float) -> pd.Series:
    ratio = estimates / truths
    return (ratio > 1 / factor) & (ratio < factor)


def summary_line(name: str, rows: pd.DataFrame, small: set[str]) -> dict[str, object]:
    """Tasks within a factor of the truth, of those that were run; rows need task, truth, estimate and seconds."""
    means = rows.groupby("task").agg({"estimate": mean, "truth": "first", "seconds": "mean"})
    close = {factor: within(means.estimate, means.truth, factor).sum() for factor in (SOLVED_FACTOR, WITHIN_FACTOR)}
    every = within(rows.estimate, rows.truth, SOLVED_FACTOR).groupby(rows.task).all().sum()
    return {
        "method": name,
        "tasks": len(means),
        "solved": int(close[SOLVED_FACTOR]),
        "solved on every seed": int(every),
        f"within {WITHIN_FACTOR:g}": int(close[WITHIN_FACTOR]),
        f"median s, at most {SMALL} columns": float(means.seconds[means.index.isin(small)].median()),
    }


def summary(rows: pd.DataFrame, others: pd.DataFrame, small: set[str]) -> list[dict[str, object]]:
    lines = [summary_line("pydine", rows, small)]
    for base in ALONE:
        alone = rows[rows.task.isin(small)].assign(estimate=rows[base], seconds=math.nan)
        lines.append(summary_line(f"pydine, {base}", alone, small))
    run_peers = [name for name in PEERS if (others.method == name).any()]
    return lines + [summary_line(name, others[others.method == name], small) for name in run_peers]


def bars(line: dict[str, object]) -> list[common.Bar]:
    solved, close, seconds = (
        float(str(line[name])) if line["tasks"] == ALL_TASKS else math.nan
        for name in ("solved", f"within {WITHIN_FACTOR:g}", f"median s, at most {SMALL} columns")
    )
    return [
        common.Bar(f"tasks solved, of {ALL_TASKS}", solved, low=SOLVED),
        common.Bar(f"tasks within a factor {WITHIN_FACTOR:g}, of {ALL_TASKS}", close, low=WITHIN),
        common.Bar(f"median seconds, at most {SMALL} columns (2 cores, warm)", seconds, high=SECONDS),
    ]


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=Path, required=True, help="folder of the samples")
    parser.add_argument("--seeds", type=int, default=3, help="samples a task (default: %(default)s)")
    parser.add_argument("--tasks", nargs="+", help="only these (default: all)")
    parser.add_argument("--fresh", action="store_true", help="forget the rows of earlier runs")
    parser.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    tasks = pd.read_csv(options.samples / "tasks.csv")
    if options.tasks:
        tasks = tasks[tasks.task.isin(options.tasks)]
    small = set(tasks.task[tasks[["dx", "dy"]].max(axis=1) <= SMALL])
    rows = run(tasks, options.samples, options.seeds, options.output / "beyond_normal.csv", options.fresh)
    others = peers(common.RESULTS / "beyond_normal_peers.csv")
    others = others[others.task.isin(tasks.task)]
    lines = summary(rows, others, small)
    common.report(
        options.output / "beyond_normal.md",
        '# The tasks of "Beyond Normal"',
        NOTES,
        "## Bars",
        common.bar_table(bars(lines[0])),
        "## All tasks",
        common.markdown(lines),
        "## Each task",
        common.markdown(task_table(tasks, rows, others)),
        "## Provenance",
        common.provenance(rows.assign(method="pydine")).replace("one thread a process", f"{JOBS} threads"),
    )


if __name__ == "__main__":
    main()

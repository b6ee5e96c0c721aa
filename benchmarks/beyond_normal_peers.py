"""Estimators of the package benchmark-mi on the 40 tasks of "Beyond Normal" (Czyz et al. 2023), its own benchmark.

That package needs older libraries than pydine, so this script runs in an environment of its own. Of pydine it uses
the clock alone, which imports nothing outside the standard library:

    pip install "benchmark-mi" "jax==0.4.30" "jaxlib==0.4.30" "scipy<1.13"
    pip install --no-deps .

    python benchmarks/beyond_normal_peers.py sample --samples DIR
    python benchmarks/beyond_normal_peers.py classical --samples DIR [--out CSV]
    python benchmarks/beyond_normal_peers.py neural --samples DIR [--out CSV] [--minutes 120]

``sample`` draws every task with seeds 0, 1 and 2; ``classical`` runs on all of them, ``neural`` on seed 0.
Every row is written as it is finished, and a run that is repeated goes on where the last one stopped.
"""

import os

import one_thread  # noqa: F401

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

# isort: split

import csv
import math
import platform
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bmi
import numpy as np
from bmi import estimators

from pydine.experiments.measure import measured

RESULTS = Path(__file__).parent / "results"
SAMPLE_SIZE = 10_000
SEEDS = (0, 1, 2)
COLUMNS = ("task", "seed", "method", "truth", "estimate", "seconds", "error")
PACKAGES = ("benchmark-mi", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "scikit-learn")

CLASSICAL: dict[str, Callable[[], Any]] = {
    "CCA": estimators.CCAMutualInformationEstimator,
    "KSG (bmi)": estimators.KSGEnsembleFirstEstimator,
}
NEURAL: dict[str, Callable[[], Any]] = {
    "MINE": lambda: estimators.MINEEstimator(verbose=False),
    "InfoNCE": lambda: estimators.InfoNCEEstimator(verbose=False),
    "NWJ": lambda: estimators.NWJEstimator(verbose=False),
    "Donsker-Varadhan": lambda: estimators.DonskerVaradhanEstimator(verbose=False),
}
METHODS = CLASSICAL | NEURAL


def sample_path(folder: Path, task: str, seed: int) -> Path:
    """Where the sample of a task is kept; what a file name cannot hold becomes an underscore."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in task)
    return folder / f"{safe}__{seed}.npz"


def sample(folder: Path) -> None:
    """Draw every task with every seed, and write the truths (in nats) to ``tasks.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tasks.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("task", "name", "dx", "dy", "truth"))
        for name, task in bmi.benchmark.BENCHMARK_TASKS.items():
            for seed in SEEDS:
                x, y = (np.asarray(side, dtype=np.float64) for side in task.sample(SAMPLE_SIZE, seed))
                np.savez(sample_path(folder, name, seed), x=x, y=y)
            writer.writerow((name, task.name, task.dim_x, task.dim_y, repr(float(task.mutual_information))))


def finished(path: Path) -> set[tuple[str, str, str]]:
    """Task, seed and method of the rows that the file has; half a line left by an interrupted run is cut off."""
    if not path.exists() or not path.read_text():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n")
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return {(row["task"], row["seed"], row["method"]) for row in csv.DictReader(whole.splitlines())}


def measure(method: str, x: np.ndarray, y: np.ndarray) -> dict[str, str]:
    """The estimate in nats, its seconds (compilation included), and the error if it failed."""
    estimate, error = math.nan, ""
    try:
        with measured() as cost:
            estimate = float(METHODS[method]().estimate(x, y))
    except Exception as problem:  # noqa: BLE001 a failure is a result: it belongs in its row
        error = f"{type(problem).__name__}: {problem}".replace("\n", " ")
    if not error and not math.isfinite(estimate):
        error = f"the estimate is {estimate}"
    figure = f"{estimate:.6f}" if math.isfinite(estimate) else ""
    return {"estimate": figure, "seconds": f"{cost.seconds:.2f}", "error": error}


def run(folder: Path, path: Path, methods: Sequence[str], seeds: Sequence[int], minutes: float) -> None:
    """Run the methods, one after the other, on all tasks, and append a row for each; start none after ``minutes``."""
    end = time.monotonic() + 60 * minutes
    with (folder / "tasks.csv").open(newline="") as file:
        truths = {row["task"]: float(row["truth"]) for row in csv.DictReader(file)}
    done = finished(path)
    keys = [(task, seed, method) for method in methods for seed in seeds for task in truths]
    todo = [key for key in keys if (key[0], str(key[1]), key[2]) not in done]
    write_provenance(path.with_suffix(".md"))
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        for i, (task, seed, method) in enumerate(todo, 1):
            if time.monotonic() > end:
                print(f"out of time, {len(todo) - i + 1} rows left", flush=True)
                break
            with np.load(sample_path(folder, task, seed)) as data:
                outcome = measure(method, data["x"], data["y"])
            row = {"task": task, "seed": seed, "method": method, "truth": f"{truths[task]:.6f}", **outcome}
            writer.writerow(row)
            file.flush()
            print(f"{i} of {len(todo)}:", *row.values(), flush=True)


def write_provenance(path: Path) -> None:
    """Write what the figures come from: versions, date, and the settings of every estimator."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    parameters = {method: make().parameters().dict() for method, make in METHODS.items()}
    settings = "\n".join(f"- {method}: {values or 'no parameters'}" for method, values in parameters.items())
    path.write_text(
        f"""# Peers on the tasks of "Beyond Normal"

The 40 tasks of the benchmark of Czyz et al. (2023), n = {SAMPLE_SIZE}, drawn by the package benchmark-mi; its
CCA and KSG on seeds {", ".join(map(str, SEEDS))}, its neural estimators on seed 0, all with their default settings.
Written by benchmarks/beyond_normal_peers.py. Estimates in nats; seconds include compilation and were measured
on a machine that was not idle. A neural estimate is the largest value on the held-out half over the training.

## Settings

{settings}

## Provenance

Last run {datetime.now(UTC):%Y-%m-%d}. Python {platform.python_version()}, {versions}, {platform.machine()};
one thread.
"""
    )


def main() -> None:
    options = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = options.add_subparsers(dest="command", required=True)
    for command in ("sample", "classical", "neural"):
        sub = commands.add_parser(command)
        sub.add_argument("--samples", type=Path, required=True, help="folder of the samples")
        if command == "sample":
            continue
        sub.add_argument("--out", type=Path, default=RESULTS / "beyond_normal_peers.csv", help="CSV of the results")
        sub.add_argument("--minutes", type=float, default=math.inf, help="start no row after this time")
    chosen = options.parse_args()
    if chosen.command == "sample":
        sample(chosen.samples)
    elif chosen.command == "classical":
        run(chosen.samples, chosen.out, list(CLASSICAL), SEEDS, chosen.minutes)
    else:
        run(chosen.samples, chosen.out, list(NEURAL), SEEDS[:1], chosen.minutes)


if __name__ == "__main__":
    main()

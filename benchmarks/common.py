"""What the benchmarks share: their methods, run by the package's runner, and the tables.

Import it before NumPy: it sets every numerical library to one thread.
"""

import one_thread  # noqa: F401

# isort: split

import math
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import pydine
from pydine.baselines.gaussian import gaussian_copula, oracle
from pydine.baselines.ksg import ksg
from pydine.experiments import runner
from pydine.experiments.datasets import Dataset
from pydine.experiments.methods import combined_pvalue
from pydine.experiments.runner import Method, Outcome, Task, code_version

RESULTS = Path(__file__).parent / "results"


# --- methods: a dataset in, an estimate in nats (or a p-value) out ---


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
    return Outcome(result.pvalue, combined_pvalue(result))


def _causal_learn(data: Dataset, name: str) -> Outcome:
    from causallearn.utils.cit import CIT

    np.random.seed(data.seed)  # noqa: NPY002 RCIT draws from the global generator
    test = CIT(np.hstack([data.x, data.y, data.z]), name)
    return Outcome(float(test(0, 1, list(range(2, 2 + data.z.shape[1])))))


METHODS: dict[str, Method] = {
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


# --- the rows ---


def run(tasks: Sequence[Task], path: Path, jobs: int, fresh: bool) -> pd.DataFrame:
    """Run the tasks with the package's runner; their rows, with errors in nats."""
    rows = runner.run(tasks, METHODS, path, jobs=jobs, fresh=fresh, transient=CHEAP)
    frame = pd.DataFrame(rows)
    return frame.assign(abs_error=(frame.estimate - frame.truth).abs(), bias=frame.estimate - frame.truth)


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
    options.add_argument("--fresh", action="store_true", help="run again what earlier runs did")
    options.add_argument("--output", type=Path, default=RESULTS, help="folder (default: %(default)s)")
    return options


def run_from(options: Namespace, tasks: Sequence[Task], name: str) -> pd.DataFrame:
    return run(tasks, options.output / f"{name}.csv", options.jobs, options.fresh)

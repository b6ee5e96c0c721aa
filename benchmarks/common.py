"""What the benchmarks share: the runner and the registry of methods, the tables, the command line.

Import it before NumPy: it sets every numerical library to one thread.
"""

import one_thread  # noqa: F401

# isort: split

import math
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness import runner
from harness.provenance import SCOPES, code_version, commit, git
from pydine.experiments.methods import foreign, methods_of
from pydine.experiments.runner import Method, Task
from pydine.experiments.table import Row

RESULTS = Path(__file__).parent / "results"
DEFAULT = "dine"  # this package with its defaults
CONFIRM = "run again N rows of each method that earlier code computed, and compare"
CHEAP = frozenset({"copula", "oracle", "oracle-latents"})  # computed anew in every run, not kept in the CSV


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

    if not rows:
        return "Nothing was run."
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([show(row[name]) for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bar_table(bars: Sequence[Bar]) -> str:
    return markdown([{"bar": b.name, "measured": b.value, "asked": b.limit, "verdict": b.verdict} for b in bars])


def mean_abs_error(rows: pd.DataFrame, method: str) -> float:
    """Mean absolute error in nats; NaN if a row failed or none was run, rather than an average of the others."""
    errors = rows.loc[rows.method == method, "abs_error"]
    return float(errors.mean(skipna=False)) if len(errors) else math.nan


def mean_bias(rows: pd.DataFrame, method: str) -> float:
    errors = rows.loc[rows.method == method, "bias"]
    return float(errors.mean(skipna=False)) if len(errors) else math.nan


def coverage(rows: pd.DataFrame, method: str = DEFAULT) -> float:
    """Coverage of nominal 95% intervals; a missing interval counts as a miss."""
    chosen = rows[rows.method == method]
    inside = (chosen.low <= chosen.truth) & (chosen.truth <= chosen.high)
    return float(inside.mean()) if len(chosen) else math.nan


def provenance(rows: pd.DataFrame | None = None) -> str:
    """Where the figures come from: the machine, the versions, the code, and what failed."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    lines = [f"Python {platform.python_version()}, {packages}, {platform.machine()}; one thread a process."]
    if rows is None:
        return f"{lines[0]}\n{origin(code_version(), commit()).capitalize()}."
    return "\n".join(lines + [f"- {name}: {_origins(part)}" for name, part in rows.groupby("method", sort=False)])


def version_in(folder: Path) -> str:
    """The version of a clone, in words."""
    found = git(folder, "rev-parse", "--short", "HEAD")
    return f"commit {found}" if found else "an earlier version"


def origin(code: str, commit: str) -> str:
    """Which code a figure comes from, in the words that stale.py looks for."""
    return f"code {code}" + (f", commit {commit}" if commit else "")


def _origins(rows: pd.DataFrame) -> str:
    """One method's rows: their number, how many failed, and which code they come from, if it is this library's."""
    failed = int((rows.error != "").sum())
    warning = f" **{failed} failed.**" if failed else ""
    if (rows.code == "").all():
        return f"{len(rows)} rows.{warning}"
    counts = rows[["code", "commit", "confirmed"]].value_counts()
    codes = "; ".join(f"{_held(*names)} ({count} rows)" for names, count in counts.items())
    current = {code_version(scope=scope) for scope in SCOPES}
    is_old = ~(rows.code.isin(current) | rows.confirmed.isin(current))
    return f"{codes}.{' **Some of earlier code: run with --renew.**' * bool(is_old.any())}{warning}"


def _held(code: str, commit: str, confirmed: str) -> str:
    """Which code rows are of; where they were confirmed for newer code, that, and which computed them."""
    if not confirmed:
        return origin(code, commit)
    return f"{origin(confirmed, '')}, confirmed with a sample of rows that {commit or 'earlier code'} computed"


def report(path: Path, *sections: str) -> None:
    """Write the sections as one markdown file, and show them."""
    text = "\n\n".join(sections) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(text)


# --- the command line ---


def parser(description: str | None, seeds: int, methods: Sequence[str] = (), kind: str = "cmi") -> ArgumentParser:
    """The options that benchmarks with rows share; given ``methods``, also ``--methods`` to choose among the kind's."""
    options = ArgumentParser(description=description)
    options.add_argument("--seeds", type=int, default=seeds, help="datasets a row (default: %(default)s)")
    if methods:
        options.add_argument("--methods", nargs="+", choices=methods_of(kind), default=list(methods))
    options.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    options.add_argument("--fresh", action="store_true", help="run again the rows of earlier runs")
    options.add_argument("--renew", action="store_true", help="run again the rows that earlier code computed")
    options.add_argument("--confirm", type=int, default=0, metavar="N", help=CONFIRM)
    options.add_argument("--output", type=Path, default=RESULTS, help="folder (default: %(default)s)")
    return options


def run_from(
    options: Namespace,
    tasks: Sequence[Task],
    name: str,
    methods: Mapping[str, Method] | None = None,
    *,
    others: frozenset[str] | None = None,
    **keywords: object,
) -> pd.DataFrame:
    """Run tasks into the CSV of this name, by default with the registry's estimators, and return their rows.

    ``others`` are methods that are not this library's; it defaults to those of the registry.
    """
    chosen = methods or methods_of("cmi")
    settings: dict[str, Any] = {"jobs": getattr(options, "jobs", 1), "fresh": options.fresh, "transient": CHEAP}
    settings |= {"renew": getattr(options, "renew", False), "confirm": getattr(options, "confirm", 0)}
    settings["foreign"] = foreign(chosen) if others is None else others
    return frame(runner.run(tasks, chosen, options.output / f"{name}.csv", **settings | keywords))


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as a frame; with errors in nats if there is a truth."""
    found = pd.DataFrame(rows)
    if "truth" not in found:
        return found
    return found.assign(abs_error=(found.estimate - found.truth).abs(), bias=found.estimate - found.truth)

"""Time of `pydine rank` and `pydine report` on tables as people have them, beside another version of the code.

python benchmarks/tables.py [FOLDER] [--rounds 1] [--skip-wide] [--output FOLDER]

FOLDER is a clone of the version before; without one only this version is timed. One core, but for the widest table.
"""

import common

# isort: split

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from harness.measure import run_process

HERE = Path(__file__).parents[1]
CORES = 2  # that the widest table may use

NOTES = """
Processor seconds of whole commands, compiled before, start of Python included; the least of {rounds} rounds, versions
in turn. The tables: the diabetes data; 40 columns made of 8 hidden ones, all numbers, or with every third of them
counts, every third labels of text (which the version before leaves out); 100 columns made of 20 hidden ones. {before}
""".strip()


def diabetes() -> pd.DataFrame:
    bunch = load_diabetes(scaled=False)
    return pd.DataFrame(bunch.data, columns=bunch.feature_names).assign(target=bunch.target)


def hidden(n: int, p: int, factors: int) -> pd.DataFrame:
    """Columns that are bent mixtures of hidden ones, and a target of three of them."""
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n, factors))
    mixed = causes @ rng.standard_normal((factors, p - 1)) / np.sqrt(factors) + 0.7 * rng.standard_normal((n, p - 1))
    mixed[:, ::4] = np.exp(mixed[:, ::4])
    frame = pd.DataFrame(mixed.round(6), columns=[f"c{i:03d}" for i in range(p - 1)])
    target = causes[:, 0] + np.tanh(2.0 * causes[:, 1]) + causes[:, 2] ** 2 / 2.0 + 0.5 * rng.standard_normal(n)
    return frame.assign(target=target.round(6))


def with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with every third column in counts, and every third in labels."""
    made = frame.copy()
    for i, name in enumerate(frame.columns.drop("target")):
        ranks = frame[name].rank(pct=True)
        if i % 3 == 1:
            made[name] = (12 * ranks).astype(int)
        elif i % 3 == 2:
            made[name] = np.array(["north", "east", "south", "west", "centre"])[(4.999 * ranks).astype(int)]
    return made


@dataclass(frozen=True)
class Case:
    """A command on a table, and the processor seconds that it may take on a core."""

    name: str
    command: str
    make: Callable[[], pd.DataFrame]
    limit: float
    cores: int = 1


CASES = (
    Case("rank, 442 x 11", "rank", diabetes, 6.0),
    Case("report, 442 x 11", "report", diabetes, 12.0),
    Case("rank, 2000 x 40", "rank", lambda: hidden(2000, 40, 8), 40.0),
    Case("rank, 2000 x 40, mixed", "rank", lambda: with_labels(hidden(2000, 40, 8)), 40.0),
    Case("rank, 5000 x 100", "rank", lambda: hidden(5000, 100, 20), 300.0, CORES),
)


def seconds(case: Case, table: Path, source: Path) -> tuple[float, float]:
    """Processor seconds and seconds on the clock of a command."""
    words = [case.command, str(table), "--target", "target", "--jobs", str(case.cores)]
    words += ["-o", str(table.with_suffix(".html"))] if case.command == "report" else []
    cost = run_process([sys.executable, "-m", "pydine", *words], PYTHONPATH=str(source / "src"))
    return cost.processor_seconds, cost.seconds


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", help="a clone of the version before")
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--skip-wide", action="store_true", help="without the table of 100 columns")
    options.add_argument("--output", type=Path, default=common.RESULTS)
    options = options.parse_args()
    versions = {"now": HERE} | ({} if options.folder is None else {"before": options.folder.resolve()})
    lines, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        diabetes()[["bmi", "bp", "sex", "target"]].to_csv(small, index=False)
        for source in versions.values():
            seconds(Case("first", "report", diabetes, np.inf), small, source)  # compiles
        for case in CASES:
            if options.skip_wide and case.cores > 1:
                continue
            table = Path(folder) / "table.csv"
            case.make().to_csv(table, index=False)
            asked = {name: source for name, source in versions.items() if name == "now" or case.cores == 1}
            rounds = [{name: seconds(case, table, at) for name, at in asked.items()} for _ in range(options.rounds)]
            best = {name: min(times[name] for times in rounds) for name in asked}
            cpu, clock = best["now"]
            before = best.get("before", (np.nan, np.nan))[0]
            line = {"command": case.name, "cores": case.cores, "before, s": before, "now, s": cpu}
            lines.append({**line, "now / before": cpu / before, "on the clock, s": clock})
            print(lines[-1], flush=True)
            bars.append(common.Bar(f"{case.name}, s a core", cpu / case.cores, high=case.limit))
    before = "" if options.folder is None else f'"before" is {common.version_in(options.folder)}.'
    common.report(
        options.output / "tables.md",
        "# Time of ranking and report",
        NOTES.format(rounds=options.rounds, before=before).strip(),
        common.markdown(lines),
        "## Bars",
        common.bar_table(bars),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()

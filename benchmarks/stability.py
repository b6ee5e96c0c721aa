"""How far answers move with the CPU, the seed, the order of the rows, and the way in which a question is put.

python benchmarks/stability.py [--seeds 8] [--orders 8] [--every 1] [--beside FOLDER] [--jobs 2]

FOLDER is a clone of another version, whose answers to the same questions stand beside those of this one.
"""

import common

# isort: split

import json
import math
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from answers import CHANGES
from harness.machines import NATIVE, environment, playable
from harness.provenance import code_version, commit
from questions import Question, questions

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "machines"  # machine code for the CPUs that are played
BLAS_THREADS = (1, 2)
LEAST_PVALUE = 1e-4  # smaller p-values are raised to this: no decision depends on how small they are
MOVED, MOVED_LOG_PVALUE, LAST_DIGITS = 0.01, 0.02, 1e-9  # SE; share of ln p; nats of ln p that never count

NOTES = """
Every question is answered by `pydine.mutual_information` and by `pydine.independence_test(method="analytic")`, on the
same columns (`benchmarks/questions.py`). One process a setting: {machines}, each with 1 and with 2 threads of BLAS;
{seeds} seeds; {orders} orders of rows; x and y swapped; x negated; z's columns in the reverse order. SE is the standard
error of the answer by this machine with one thread, seed 0 and the rows as they are; moves are distances from that
answer, spreads are standard deviations over the seeds or the orders. An answer moves between machines if on one of them
the estimate is more than {moved:g} SE away, or has another base, or ln p differs by more than {share:.0%}. Spread of
log10 p: the largest less the smallest, p-values below {least:g} taken as that.

Neither the seed nor the order of the rows enters an answer, so their spreads are 0 by construction, but for defects.
The partition into folds is arbitrary, too, but fixed: partitions.md shows how far another one would move an answer, and
the standard error includes it.
""".strip()


# --- asking ---


@dataclass(frozen=True)
class Setting:
    """Where, with what seed, and in which form all questions are asked."""

    cpu: str = NATIVE
    threads: int = 1
    seed: int = 0
    order: int = 0
    change: str = ""


def settings(seeds: int, orders: int) -> list[Setting]:
    """The reference first, then one change at a time; every CPU is combined with every number of BLAS threads."""
    machines = [Setting(cpu, threads) for threads in BLAS_THREADS for cpu in playable()]
    chance = [Setting(seed=seed) for seed in range(1, seeds)] + [Setting(order=order) for order in range(1, orders)]
    return machines + chance + [Setting(change=change) for change in CHANGES if change]


def ask(setting: Setting, path: Path, source: Path) -> list[dict[str, object]]:
    """One process answers all questions of the file, with the code in ``source``."""
    variables = environment(setting.cpu, threads=setting.threads, cache=BUILD)
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    form = {"seed": setting.seed, "order": setting.order, "change": setting.change}
    command = [sys.executable, str(HERE / "answers.py"), str(path), json.dumps(form)]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    if Path(found["library"]) != source.resolve():
        raise RuntimeError(f"{source} was to answer, but the library in {found['library']} did.")
    print(setting, "answered", file=sys.stderr, flush=True)
    return [{**vars(setting), "question": name, **answer} for name, answer in found["answers"].items()]


def answers(asked: list[Question], versions: dict[str, Path], options: Namespace) -> pd.DataFrame:
    """All answers of all versions; the data are drawn once, so that every machine sees the same bits."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        path = Path(folder) / "questions.npz"
        np.savez(path, **{f"{name}|{part}": a for name, *parts in asked for part, a in zip("xyz", parts, strict=True)})
        waiting = [
            (version, pool.submit(ask, setting, path, source))
            for setting in settings(options.seeds, options.orders)
            for version, source in versions.items()
        ]
        rows = [{"version": version, **row} for version, job in waiting for row in job.result()]
    return pd.DataFrame(rows).astype({"value": float, "error_bar": float, "pvalue": float})


# --- measuring ---


def measures(rows: pd.DataFrame) -> dict[str, object]:
    """How far the answers to one question move; rows of one version and one question."""
    plain = rows[rows.change == ""]
    here = plain[(plain.cpu == NATIVE) & (plain.threads == 1)]
    machines = plain[(plain.seed == 0) & (plain.order == 0)]
    first = machines.iloc[0]
    by_seed, by_order = here[here.order == 0], here[here.seed == 0]
    changed = {change: rows[rows.change == change] for change in CHANGES if change}
    return {
        "value": first.value,
        "SE": first.error_bar,
        "base": first.base,
        "p": first.pvalue,
        "machines": move(machines, first),
        "estimate moved": bool((distance(machines, first) > MOVED).any() or (machines.base != first.base).any()),
        "p moved": pvalue_moved(machines, first),
        "seeds": spread(by_seed, first),
        "orders": spread(by_order, first),
        "log10 p, seeds": log_spread(by_seed),
        "log10 p, orders": log_spread(by_order),
        **{change: move(part, first) for change, part in changed.items()},
    }


def distance(rows: pd.DataFrame, first: pd.Series) -> pd.Series:
    """Distances of the estimates from the first one, in its standard errors."""
    return judged((rows.value - first.value).abs() / first.error_bar, rows, first)


def judged(far: pd.Series, rows: pd.DataFrame, first: pd.Series) -> pd.Series:
    """Distances: 0 if both answers failed in the same way, infinite if only one did, or in another way."""
    return far.mask((rows.error != "") & (rows.error == first.error), 0.0).mask(rows.error != first.error, math.inf)


def move(rows: pd.DataFrame, first: pd.Series) -> float:
    return float(distance(rows, first).max())


def spread(rows: pd.DataFrame, first: pd.Series) -> float:
    return float(rows.value.std() / first.error_bar) if len(rows) > 1 else math.nan


def log_spread(rows: pd.DataFrame) -> float:
    shown = np.log10(rows.pvalue.clip(lower=LEAST_PVALUE))
    return float(shown.max() - shown.min()) if len(rows) > 1 else math.nan


def pvalue_moved(rows: pd.DataFrame, first: pd.Series) -> bool:
    logs, log = (np.log(np.maximum(p, sys.float_info.min)) for p in (rows.pvalue, first.pvalue))
    return bool((judged((logs - log).abs(), rows, first) > MOVED_LOG_PVALUE * abs(log) + LAST_DIGITS).any())


def bars(table: pd.DataFrame) -> list[common.Bar]:
    """The bars over all questions of one version."""
    moved = np.concatenate([table["estimate moved"], table["p moved"]])
    found = [
        common.Bar("machines: share of answers that move", float(moved.mean()), high=0.02),
        common.Bar("machines: largest move, SE", table.machines.max(), high=0.05),
    ]
    for name in ("seeds", "orders"):
        found += [
            common.Bar(f"{name}: median spread, SE", table[name].median(), high=0.1),
            common.Bar(f"{name}: largest spread, SE", table[name].max(), high=0.3),
            common.Bar(f"{name}: largest spread of log10 p", table[f"log10 p, {name}"].max(), high=0.3),
        ]
    titles = {"swapped": "x and y swapped", "negated": "x negated", "reversed": "z's columns reversed"}
    return found + [common.Bar(f"{titles[c]}: largest move, SE", table[c].max(), high=0.05) for c in CHANGES if c]


# --- the report ---


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    lines = [{"question": name, **measures(part)} for name, part in rows.groupby("question", sort=False)]
    return pd.DataFrame(lines)


def sections(version: str, table: pd.DataFrame) -> list[str]:
    shown = table.assign(p=[f"{p:.2g}" for p in table.p], SE=[f"{error:.4f}" for error in table.SE])
    flags = {name: table[name].map({True: "yes", False: ""}) for name in ("estimate moved", "p moved")}
    return [
        f"## Bars: {version}",
        common.bar_table(bars(table)),
        f"## Each question: {version}",
        common.markdown(shown.assign(**flags).to_dict("records")),
    ]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="seeds (default: %(default)s)")
    parser.add_argument("--orders", type=int, default=8, help="orders of rows (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1, help="ask only every N-th question (default: %(default)s)")
    parser.add_argument("--beside", type=Path, help="folder of another version")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    versions = {"this version": HERE.parent / "src"}
    if options.beside:
        versions["beside it"] = options.beside.resolve() / "src"
    asked = questions()[:: options.every]
    rows = answers(asked, versions, options)
    options.output.mkdir(parents=True, exist_ok=True)
    rows.to_csv(options.output / "stability.csv", index=False)
    notes = NOTES.format(
        machines=", ".join(playable()), seeds=options.seeds, orders=options.orders, moved=MOVED,
        share=MOVED_LOG_PVALUE, least=LEAST_PVALUE,
    )  # fmt: skip
    tables = {version: measured(part) for version, part in rows.groupby("version", sort=False)}
    common.report(
        options.output / "stability.md",
        "# Answers that hold still",
        f"{len(asked)} questions. {notes}",
        *(section for version, table in tables.items() for section in sections(version, table)),
        "## Provenance",
        common.provenance(),
        *(f"{name}: {code_version(path / 'pydine')} {commit(path / 'pydine')}" for name, path in versions.items()),
    )


if __name__ == "__main__":
    main()

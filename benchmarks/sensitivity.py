"""Sensitivity to the numbers: how far answers and their errors move if one number is halved or doubled.

python benchmarks/sensitivity.py [--only TEXT] [--jobs 2] [--fresh] [--output FOLDER]

Each number that docs/choices.md lists as shaping an answer is edited in a copy of the package, one at a time. A process
of its own asks those questions of the golden master that run the code the number is in, through as many entry points as
there are. Where an answer moves by `MOVES`, datasets with a known truth are estimated too, on which no accuracy is
reported. `--only` takes the numbers whose module or name contains a text; the others stay as they were found before.
"""

import common

# isort: split

import ast
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

import own_families
import own_mixed
import own_shapes
import pydine

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
sys.path.append(str(Path(__file__).parents[1] / "tests"))
from choices import Choice, choices

from golden import master
from golden.questions import questions

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "src" / "pydine"
FACTORS = 0.5, 2.0
QUESTIONS = 12  # that one number is tried on
SECONDS = 1.5  # of the longest question that is asked
MOVES = 0.25  # standard errors of an answer from which on errors are measured as well
MISSED = 2.0 / 0.05  # penalty of a 95% interval for each nat by which it misses the truth (Winkler 1972)
FIGURES = {"value", "low", "high", "p", "pvalue", "information"}
ESTIMATES = "kernels/", "units/", "latents/", "bases/", "answers/"
FIRST_SEED = 900  # datasets that no other benchmark has
NOTES = """
Each number is halved and doubled in a copy of the package (whole numbers are rounded up). "median" and "largest": moves
of values and ends of intervals, in standard errors, and of p-values, in normal quantiles, over the questions of the
golden master that run its module. "error" and "score", where a move is at least {moves:g}: by how many percent the mean
absolute error and the mean interval score of {datasets} datasets with a known truth change, and in brackets by how many
paired standard errors. {silent} of {count} numbers move no answer by {moves:g} either way.
""".strip()


class Number(NamedTuple):
    """One number: the constant that it is in, and its place in a tuple."""

    choice: Choice
    name: str
    place: int | None

    @property
    def label(self) -> str:
        where = self.name if self.place is None else f"{self.name}[{self.place}]"
        return f"`{self.choice.file.removesuffix('.py')}` {where}"


def numbers() -> Iterator[Number]:
    """All numbers that shape an answer; pairs of moduli and multiples, of which there are no halves, are left out."""
    for choice in choices():
        values, names = ast.parse(choice.values, mode="eval").body, choice.names.split(", ")
        if choice.kind not in ("answer", "precision"):
            continue
        if not isinstance(values, ast.Tuple):
            yield Number(choice, choice.names, None)
        elif not any(isinstance(part, ast.Tuple) for part in values.elts):
            several = len(names) > 1
            for i in range(len(values.elts)):
                yield Number(choice, names[i] if several else choice.names, None if several else i)


def edited(number: Number, factor: float, package: Path) -> None:
    """Multiply a number in a copy of the package."""
    path = package / number.choice.file
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if ", ".join(map(ast.unparse, targets)).strip("()") == number.choice.names:
                value = node.value
                if isinstance(value, ast.Tuple):
                    names = number.choice.names.split(", ")
                    value = value.elts[names.index(number.name) if number.place is None else number.place]
                text = ast.get_source_segment(source, value) or ""
                lines = source.splitlines(keepends=True)
                line = lines[value.lineno - 1]
                if value.lineno != value.end_lineno:
                    raise ValueError(f"{number.label} has several lines")
                lines[value.lineno - 1] = line[: value.col_offset] + scaled(text, factor) + line[value.end_col_offset :]
                path.write_text("".join(lines), encoding="utf-8")
                return
    raise ValueError(f"{number.label} was not found")


def scaled(text: str, factor: float) -> str:
    """The source of a number that is multiplied: a whole one stays whole, and above 0."""
    value = eval(text, {})
    return repr(max(math.ceil(value * factor), 1) if isinstance(value, int) else value * factor)


# --- what a process of its own does ---


def visited() -> dict[str, dict[str, object]]:
    """The modules that each question runs, and its seconds."""
    seen: set[str] = set()
    home = Path(pydine.__file__).parent

    def profile(frame, event, _) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    found = {}
    for name, ask in questions().items():
        seen.clear()
        threading.setprofile(profile)
        sys.setprofile(profile)
        dict(master.asked({name: ask}))
        sys.setprofile(None)
        threading.setprofile(None)
        begun = process_time()
        dict(master.asked({name: ask}))
        inside = sorted(path.relative_to(home).as_posix() for path in map(Path, seen) if path.is_relative_to(home))
        found[name] = {"modules": inside, "seconds": process_time() - begun}
    return found


def datasets() -> Iterator[tuple[str, object]]:
    shapes, families = tuple(own_shapes.SHAPES), tuple(own_families.FAMILIES)
    for i, name in enumerate(shapes[::2]):
        yield f"{name}, dz = {i % 2}", own_shapes.sample(name, 500, i % 2, FIRST_SEED)
    for name in families[::2]:
        yield name, own_families.sample(name, 500, 4, 0.8, FIRST_SEED)
    for i, name in enumerate((*own_mixed.PAIRS, *own_mixed.SMOOTH)):
        yield name, own_mixed.sample(name, own_mixed.GIVEN[i % 4], 400, FIRST_SEED)


def estimated() -> dict[str, list[float]]:
    """Truth, value and ends of the interval of each dataset."""
    found = {}
    for name, data in datasets():
        estimate = pydine.mutual_information(data.x, data.y, data.z, n_jobs=1)
        found[name] = [data.truth, estimate.value, *estimate.confidence_interval(0.95)]
    return found


def told(task: str, names: list[str]) -> object:
    every = questions()
    if task == "visit":
        return visited()
    return estimated() if task == "estimate" else dict(master.asked({name: every[name] for name in names}))


# --- comparisons ---


class Copy:
    """A copy of the package, with one number changed or as it is, and processes that run it."""

    def __init__(self, number: Number | None = None, factor: float = 1.0) -> None:
        self.folder = Path(tempfile.mkdtemp())
        shutil.copytree(PACKAGE, self.folder / "pydine")
        if number is not None:
            edited(number, factor, self.folder / "pydine")

    def __enter__(self) -> "Copy":
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.folder)

    def asked(self, task: str, names: list[str] | None = None):
        """What a process says; None if the number cannot be so."""
        places = [self.folder, CHECKOUT / "tests", CHECKOUT / "benchmarks", CHECKOUT / "scripts"]
        there = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        words = [sys.executable, __file__, "--task", task, json.dumps(names or [])]
        done = subprocess.run(words, env=there, capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def chosen(visits: dict[str, dict], file: str) -> list[str]:
    """Questions that run a module: the quickest of each entry point first, then the next of each."""
    groups: dict[str, list[str]] = {}
    for name, visit in sorted(visits.items(), key=lambda item: item[1]["seconds"]):
        if file in visit["modules"] and visit["seconds"] <= SECONDS:
            groups.setdefault(name.partition(":")[0], []).append(name)
    rounds = max(map(len, groups.values()), default=0)
    return [group[i] for i in range(rounds) for group in groups.values() if i < len(group)][:QUESTIONS]


def moves(before: dict, now: dict) -> list[float]:
    """Moves of figures, in standard errors or normal quantiles; infinite where words or finiteness change."""
    found = []
    for question, parts in before.items():
        for part, figures in parts.items():
            error = figures.get("error", parts.get("estimate", {}).get("error", 1.0))
            for name, old in figures.items():
                kind, new = name.split()[-1], now[question].get(part, {}).get(name)
                if (kind not in FIGURES and part != "block p") or not isinstance(old, float):
                    continue
                is_p = kind in {"p", "pvalue"} or part == "block p"
                if is_p and isinstance(new, float):
                    old, new = (float(ndtri(np.clip(each, 1e-12, 1.0 - 1e-12))) for each in (old, new))
                scale = 1.0 if is_p else max(error, 1e-6) if isinstance(error, float) and math.isfinite(error) else 1.0
                same = old == new or (isinstance(new, float) and math.isnan(old) and math.isnan(new))
                found.append(0.0 if same else abs(new - old) / scale if isinstance(new, float) else math.inf)
    return found


def change(before: np.ndarray, after: np.ndarray) -> str:
    """By how many percent a mean changes, and by how many paired standard errors."""
    differences = after - before
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return f"{differences.mean() / before.mean():+.0%} ({differences.mean() / error:+.1f})" if error > 0.0 else ""


def scores(estimates: dict[str, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Absolute errors and interval scores."""
    truth, value, low, high = np.array(list(estimates.values())).T
    return np.abs(value - truth), high - low + MISSED * (np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0))


def line(number: Number, factor: float, visits: dict, before: dict, known: dict) -> dict[str, object]:
    """One row of the table."""
    names = chosen(visits, number.choice.file)
    row: dict[str, object] = {"number": number.label, "times": f"{factor:g}", "questions": len(names)}
    with Copy(number, factor) as copy:
        now = copy.asked("ask", names) if names else {}
        if now is None:
            return row | {"median": math.nan, "largest": math.nan, "error": "refused", "score": ""}
        far = moves({name: before[name] for name in names}, now) or [0.0]
        row |= {"median": float(np.median(far)), "largest": max(far), "error": "", "score": ""}
        if max(far) >= MOVES and number.choice.file.startswith(ESTIMATES) and (found := copy.asked("estimate")):
            pairs = zip(scores(known), scores(found), strict=True)
            row["error"], row["score"] = (change(old, new) for old, new in pairs)
    return row


def main() -> None:
    parser = common.parser(__doc__, seeds=1)
    parser.add_argument("--only", default="", help="numbers whose module or name contains this text")
    options = parser.parse_args()
    path = options.output / "sensitivity.csv"
    kept = {} if options.fresh or not path.exists() else {(r["number"], r["times"]): r for r in _rows(path)}
    with Copy() as copy:
        visits, known = copy.asked("visit"), copy.asked("estimate")
        every = list(numbers())
        names = sorted({name for number in every for name in chosen(visits, number.choice.file)})
        before = copy.asked("ask", names)
    due = [(n, f) for n in every for f in FACTORS if options.only in n.label and (n.label, f"{f:g}") not in kept]
    if options.only:
        due = [(n, f) for n in every for f in FACTORS if options.only in n.label]
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda work: line(*work, visits, before, known), due):
            kept[row["number"], row["times"]] = row
            ordered = [kept[n.label, f"{f:g}"] for n in every for f in FACTORS if (n.label, f"{f:g}") in kept]
            pd.DataFrame(ordered).to_csv(path, index=False, float_format="%.4g")
    rows = [kept[n.label, f"{f:g}"] for n in every for f in FACTORS if (n.label, f"{f:g}") in kept]
    largest: dict[str, float] = {}
    for row in rows:
        largest[row["number"]] = max(largest.get(row["number"], 0.0), float(row["largest"]))
    silent = sum(far < MOVES for far in largest.values())
    notes = NOTES.format(moves=MOVES, datasets=len(known), silent=silent, count=len(largest))
    common.report(options.output / "sensitivity.md", "# What another choice would do", notes, common.markdown(rows))


def _rows(path: Path) -> list[dict[str, object]]:
    return pd.read_csv(path, dtype={"times": str}).fillna({"error": "", "score": ""}).to_dict("records")


if __name__ == "__main__":
    if "--task" in sys.argv:
        at = sys.argv.index("--task")
        sys.stdout.write(json.dumps(told(sys.argv[at + 1], json.loads(sys.argv[at + 2]))) + "\n")
    else:
        main()

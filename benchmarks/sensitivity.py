"""Sensitivity to the numbers: how far answers and their errors move if one number is halved or doubled.

python benchmarks/sensitivity.py [--only TEXT] [--seconds 1.5] [--minutes 100] [--fresh] [--output FOLDER]

Each number that docs/choices.md lists as shaping an answer, or as saying how finely it is computed, is changed in a
process of its own, which begins as a copy of this one, so that nothing is imported or compiled again. It is asked those
questions that read the number: of datasets with a known truth on which no accuracy is reported, and of the golden
master, through as many entry points as there are. `--seconds` bounds how many. Where errors on the former change by two
standard errors, all of them that read the number are asked. Rows are kept in a CSV: after `--minutes`, the command
ends, and goes on when it is run again. `--only` takes the numbers whose module or name contains a text. Numbers that
are compiled into kernels are changed in a copy of the package, whose kernels are compiled anew.
"""

import common

# isort: split

import ast
import gc
import importlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic, process_time
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

import ablation
import own_families
import own_mixed
import own_shapes
import pydine
from pydine.answers.settings import Settings
from pydine.units.settings import LadderSettings

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
sys.path.append(str(Path(__file__).parents[1] / "tests"))
from choices import Choice, choices

from golden import master
from golden.questions import quick

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "src" / "pydine"
FACTORS = 0.5, 2.0
LARGE = 5000  # a number from which on it is tried on large samples alone: it says how many rows are enough
DOORS = 0.3  # the share of the seconds for questions of the golden master
MISSED = 2.0 / 0.05  # penalty of a 95% interval for each nat by which it misses the truth (Winkler 1972)
FIGURES = {"value", "low", "high", "p", "pvalue", "information"}
UPSTREAM = "units/", "kernels/", "sampling"  # what cached units do not know of
STILL, CLEAR = 0.05, 2.0  # standard errors of an answer that do not matter; of a change that may be none
FIRST_SEED = 900  # datasets that no other benchmark has
FAR = 3.0  # standard errors: farther moves count as such in means, where the error itself is much too small
KNOWN = "known"
PAPER = "latents/paper.py"
THREADED = "stream:", "command:"  # their readers have threads, which a copy of a process has not
PATIENCE = 60  # seconds after which a changed number is given up
NOTES = """
Each number is halved and doubled, one at a time (whole numbers are rounded up; 0 becomes 1). "moved", "most": by how
many standard errors answers move, on average and at most: values and ends of intervals, and p-values as normal
quantiles, over so many "answers" that read it; more than {far:g} count as {far:g} in the mean. "error", "score": by how
many percent the mean absolute error and the mean interval score change, over so many "datasets" with a known truth, and
in brackets by how many paired standard errors. Of {count} numbers, {silent} move answers by less than {still:g}
standard errors on average, either way, {unread} are read by none of these questions (they are of larger tables or of
entry points that are not asked), and {matter} change a mean error or score by {clear:g} paired standard errors or more,
for the worse or for the better; of as many figures, about {chance:.0f} would do so by chance. Numbers that have no row
yet: {missing}. The last column is the commit whose code a row is of.
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

    @property
    def module(self) -> str:
        return "pydine." + self.choice.file.removesuffix(".py").replace("/", ".")


def numbers() -> Iterator[Number]:
    """All numbers that shape an answer, but for those of `DINE.paper()` alone."""
    for choice in choices():
        values, names = ast.parse(choice.values, mode="eval").body, choice.names.split(", ")
        if choice.kind not in ("answer", "precision", "convention") or choice.file == PAPER:
            continue
        if not isinstance(values, ast.Tuple):
            yield Number(choice, choice.names, None)
        elif not any(isinstance(part, ast.Tuple) for part in values.elts) or len(names) > 1:
            for i, part in enumerate(values.elts):
                if isinstance(part, ast.Tuple):
                    yield from (Number(choice, names[i], j) for j in range(len(part.elts)))
                else:
                    yield Number(choice, names[i] if len(names) > 1 else choice.names, None if len(names) > 1 else i)


def times(value: float, factor: float) -> float:
    """A number multiplied: a whole one stays whole, and above 0."""
    return max(math.ceil(value * factor), 1) if isinstance(value, int) else value * factor


# --- questions ---


class Case(NamedTuple):
    """A question: its truth, if it is known, and what it answers, by parts and names."""

    name: str
    ask: Callable[[], dict[str, dict[str, object]]]
    truth: float = math.nan


CACHE: list[pydine.UnitCache | None] = [None]


def estimated(data: Any) -> dict[str, dict[str, object]]:
    """Value, error and ends of the interval of a dataset."""
    z = pd.DataFrame(data.z) if isinstance(data.z, dict) else data.z
    found = pydine.mutual_information(data.x, data.y, z, n_jobs=1, cache=CACHE[0])
    low, high = found.confidence_interval(0.95)
    return {KNOWN: {"value": found.value, "low": low, "high": high, "error": found.standard_error}}


def asked(name: str, ask: Any) -> dict[str, dict[str, object]]:
    return dict(master.asked({name: ask}))[name]


def cases() -> Iterator[Case]:
    """Questions, those of the same entry point or family one after the other."""

    def case(name: str, data: Any) -> Case:
        return Case(name, partial(estimated, data), data.truth)

    for i, name in enumerate(own_shapes.SHAPES):
        dz = (0, 1, 0, 3)[i % 4]
        yield case(f"shapes, dz {min(dz, 1)}: {name}, {dz}", own_shapes.sample(name, 500, dz, FIRST_SEED + i))
    for i, name in enumerate((*own_families.FAMILIES,) * 2):
        dz, rho = (1, 3, 5, 10)[i % 4], (0.8, 0.0, 0.5)[i % 3]
        yield case(f"families: {name}, {dz}, {i}", own_families.sample(name, 500, dz, rho, FIRST_SEED + i))
    for i, name in enumerate((*own_mixed.PAIRS,) * 4):
        given = own_mixed.GIVEN[i % len(own_mixed.GIVEN)]
        yield case(f"kinds, {given}: {name}, {i}", own_mixed.sample(name, given, 400, FIRST_SEED + i))
    for name in own_mixed.SMOOTH:
        yield case(f"kinds, smooth: {name}", own_mixed.sample(name, "its own", 400, FIRST_SEED))
    for codes, modulus in ((3, 2), (3, 3), (5, 2)):
        yield case(f"codes: {codes}, {modulus}", ablation.same_sum(500, codes, modulus, FIRST_SEED))
    for turns in (3.0, 7.0):
        yield case(f"waves: {turns:g}", ablation.same_wave(500, 1, turns, FIRST_SEED))
    for i, name in enumerate([*own_shapes.SHAPES][::6]):
        yield case(f"large, shapes: {name}", own_shapes.sample(name, 12_000, i % 2, FIRST_SEED))
    yield case("large, families", own_families.sample(next(iter(own_families.FAMILIES)), 40_000, 1, 0.5, FIRST_SEED))
    yield case("large, kinds", own_mixed.sample(next(iter(own_mixed.PAIRS)), "a label", 12_000, FIRST_SEED))
    for name, ask in quick().items():
        if not name.startswith(THREADED):
            yield Case(name, partial(asked, name, ask))


class Visit(NamedTuple):
    """What a question answered, the code that it ran, and its seconds."""

    found: dict[str, dict[str, object]]
    ran: frozenset[CodeType]
    seconds: float


def visited(case: Case) -> Visit:
    seen: set[CodeType] = set()

    def profile(frame, event, _) -> None:
        if event == "call":
            seen.add(frame.f_code)

    threading.setprofile(profile)
    sys.setprofile(profile)
    begun = process_time()
    found = case.ask()
    taken = process_time() - begun
    sys.setprofile(None)
    threading.setprofile(None)
    inside = frozenset(code for code in seen if code.co_filename.startswith(str(PACKAGE)))
    return Visit(found, inside, taken / 2.0)


# --- a number changed in this process ---


def loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith("pydine.")}


def source_of(module: ModuleType) -> ast.Module:
    path = str(module.__file__)
    if path not in TREES:
        TREES[path] = ast.parse(Path(path).read_text(encoding="utf-8"))
    return TREES[path]


TREES: dict[str, ast.Module] = {}


def names_of(number: Number) -> set[tuple[str, str]]:
    """Modules and names that a number has: where it is defined, where it is imported, and what is derived from it."""
    found = {(number.module, number.name)}
    while True:
        more = set()
        for name, module in loaded().items():
            for node in source_of(module).body:
                if isinstance(node, ast.ImportFrom):
                    pairs = {(name, a.asname or a.name) for a in node.names if (node.module or "", a.name) in found}
                elif isinstance(node, ast.Assign) and (node.value is not None):
                    own = {here for where, here in found if where == name}
                    uses = any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(node.value))
                    targets = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
                    pairs = {(name, target) for target in targets} if uses else set()
                else:
                    continue
                more |= pairs - found
        if not more:
            return found
        found |= more


def readers(number: Number, visits: dict[str, Visit]) -> list[str]:
    """Questions that run code which reads a number."""
    held = names_of(number)
    if is_setting(number):
        held = {("pydine.units.ladder", "settings")}
    files = {str(sys.modules[module].__file__): set() for module, _ in held}
    for module, name in held:
        files[str(sys.modules[module].__file__)].add(name)
    whole = {str(sys.modules[module].__file__) for module, _ in held if defaults(sys.modules[module], held)}

    def reads(code: CodeType) -> bool:
        if code.co_filename in whole or is_setting(number):
            return code.co_filename in files
        return bool(files.get(code.co_filename, set()) & set(code.co_names))

    return [name for name, visit in visits.items() if any(map(reads, visit.ran))]


def is_setting(number: Number) -> bool:
    return number.name == number.name.lower()


def defaults(module: ModuleType, held: set[tuple[str, str]]) -> list[tuple[type, str, ast.expr]]:
    """Fields of a module's classes that have a number as their default: class, field and its value in the source."""
    own = {name for where, name in held if where == module.__name__}
    return [
        (getattr(module, node.name), part.target.id, part.value)
        for node in source_of(module).body
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None
        if any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(part.value))
    ]


def change(number: Number, factor: float) -> None:
    """Multiply a number in this process, wherever it is imported, derived from or kept as a default."""
    if is_setting(number):
        _default(getattr(sys.modules[number.module], _owner(number)), number.name, factor=factor)
        return
    module, held = sys.modules[number.module], names_of(number)
    value = getattr(module, number.name)
    if number.place is not None:
        value = tuple(times(each, factor) if i == number.place else each for i, each in enumerate(value))
    else:
        value = times(value, factor)
    setattr(module, number.name, value)
    for _ in range(3):  # what is derived from what is derived
        for where in {where for where, _ in held}:
            _again(sys.modules[where], held)
    for where in {where for where, _ in held}:
        for cls, field, source in defaults(sys.modules[where], held):
            code = compile(ast.Expression(source), "default", "eval")
            _default(cls, field, eval(code, vars(sys.modules[where])))
    for module in loaded().values():
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def _owner(number: Number) -> str:
    return "PaperSettings" if "paper" in number.module else "LadderSettings"


def _again(module: ModuleType, held: set[tuple[str, str]]) -> None:
    """Import names again, and compute again what is derived from them."""
    own = {name for where, name in held if where == module.__name__}
    for node in source_of(module).body:
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                if (node.module, name.name) in held:
                    setattr(module, name.asname or name.name, getattr(sys.modules[str(node.module)], name.name))
        elif isinstance(node, ast.Assign) and any(
            isinstance(n, ast.Name) and n.id in own for n in ast.walk(node.value)
        ):
            exec(compile(ast.Module([node], []), str(module.__file__), "exec"), vars(module))


def _default(cls: type, field: str, value: Any = None, *, factor: float = 1.0) -> None:
    """Another default of a field of a dataclass, in the instances that have the old one as well."""
    old = getattr(cls, field)
    value = times(old, factor) if value is None else value
    if cls is LadderSettings:  # callers hand them on one by one
        original = Settings.ladder
        Settings.ladder = lambda self: replace(original(self), **{field: value})  # type: ignore[method-assign]
    setattr(cls, field, value)
    for each in _with_heirs(cls):
        if is_dataclass(each):
            having = [f.name for f in fields(each) if f.init and f.name in vars(each) | vars(cls)]
            at = having.index(field)
            kept = list(each.__init__.__defaults__ or ())
            if len(kept) == len(having):
                kept[at] = value
                each.__init__.__defaults__ = tuple(kept)  # type: ignore[misc]
    for each in [each for each in gc.get_objects() if isinstance(each, cls)]:
        if getattr(each, field) == old:
            object.__setattr__(each, field, value)


def _with_heirs(cls: type) -> list[type]:
    return [cls, *(heir for each in cls.__subclasses__() for heir in _with_heirs(each))]


def apart(number: Number, factor: float, chosen: list[Case]) -> dict[str, Any] | None:
    """Answers of a process in which a number is changed; None if it cannot be so."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(PATIENCE)
        try:
            if number.choice.file.startswith(UPSTREAM):
                CACHE[0] = pydine.UnitCache()
            change(number, factor)
            told = json.dumps({case.name: case.ask() for case in chosen})
        except Exception as error:  # noqa: BLE001 - whatever a number breaks is told
            told = json.dumps(repr(error))
        with os.fdopen(writing, "w") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = json.loads(pipe.read() or "null")
    os.waitpid(child, 0)
    if isinstance(told, str):
        sys.stderr.write(f"{number.label} x {factor:g}: {told}\n")
    return told if isinstance(told, dict) else None


def in_a_copy(number: Number, factor: float, chosen: list[Case]) -> dict[str, Any] | None:
    """The same with a copy of the package, whose kernels are compiled anew."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, Path(folder) / "pydine")
        path = Path(folder) / "pydine" / number.choice.file
        old, lines = f"{number.choice.names} = ", path.read_text(encoding="utf-8").splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith(old))
        values = eval(lines[at].removeprefix(old).partition("#")[0], {})
        several = values if isinstance(values, tuple) else (values,)
        names = number.choice.names.split(", ")
        lines[at] = old + ", ".join(
            repr(times(v, factor) if n == number.name else v) for n, v in zip(names, several, strict=True)
        )
        path.write_text("\n".join(lines), encoding="utf-8")
        places = [folder, CHECKOUT / "tests", CHECKOUT / "benchmarks", CHECKOUT / "scripts"]
        there = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        words = [sys.executable, __file__, "--ask", json.dumps([case.name for case in chosen])]
        done = subprocess.run(words, env=there, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


# --- comparisons ---


def moves(before: dict[str, Any], now: dict[str, Any]) -> list[float]:
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


class Rise(NamedTuple):
    """By how much a mean rises: as a share, and in paired standard errors."""

    share: float
    errors: float

    @classmethod
    def of(cls, before: np.ndarray, after: np.ndarray) -> "Rise":
        differences = after - before
        if len(differences) < 3 or not differences.any():
            return cls(0.0, 0.0)
        error = differences.std(ddof=1) / math.sqrt(len(differences))
        return cls(differences.mean() / before.mean(), differences.mean() / error)

    def __str__(self) -> str:
        return f"{self.share:+.1%} ({self.errors:+.1f})" if self.errors else ""


def scores(known: list[Case], answers: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Absolute errors and interval scores of datasets with a known truth."""
    truth = np.array([case.truth for case in known])
    value, low, high = (
        np.array([answers[case.name][KNOWN][name] for case in known]) for name in ("value", "low", "high")
    )
    return np.abs(value - truth), high - low + MISSED * (np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0))


def chosen(cases: list[Case], visits: dict[str, Visit], seconds: float) -> list[Case]:
    """Questions within so many seconds: the quickest of each family or entry point first, then the next of each."""
    groups: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: visits[case.name].seconds):
        groups.setdefault(case.name.partition(":")[0], []).append(case)
    rounds, found, taken = max(map(len, groups.values()), default=0), [], 0.0
    for case in (group[i] for i in range(rounds) for group in groups.values() if i < len(group)):
        taken += visits[case.name].seconds
        if found and taken > seconds:
            break
        found.append(case)
    return found


def line(number: Number, factor: float, every: list[Case], visits: dict[str, Visit], seconds: float) -> dict[str, Any]:
    """One row of the table."""
    reading = set(readers(number, visits)) if not number.choice.file.startswith("kernels/") else set(visits)
    is_large = eval(number.choice.values, {}) if number.place is None and "," not in number.choice.names else 0
    is_large = is_large >= LARGE or number.choice.file.endswith("growing.py")
    reading = {name for name in reading if name.startswith("large") == is_large or math.isnan(visits_truth[name])}
    known = [case for case in every if case.name in reading and not math.isnan(case.truth)]
    doors = chosen([case for case in every if case.name in reading and math.isnan(case.truth)], visits, DOORS * seconds)
    first = known if is_large else chosen(known, visits, seconds)
    answer = in_a_copy if number.choice.file.startswith("kernels/") else apart
    row: dict[str, Any] = {"number": number.label, "times": f"{factor:g}"}
    empty = {"answers": 0, "moved": 0.0, "most": 0.0, "datasets": 0, "error": "", "score": ""}
    if not first and not doors:
        return row | empty
    now = answer(number, factor, [*first, *doors])
    if now is None:
        return row | empty | {"error": "refused"}
    rises = _rises(first, visits, now)
    if len(first) < len(known) and any(abs(rise.errors) >= CLEAR for rise in rises):
        rest = answer(number, factor, [case for case in known if case not in first])
        if rest is not None:
            first, now = known, now | rest
            rises = _rises(first, visits, now)
    far = moves({case.name: visits[case.name].found for case in (*first, *doors)}, now) or [0.0]
    moved = float(np.mean(np.minimum(far, FAR)))
    row |= {"answers": len(first) + len(doors), "moved": moved, "most": max(far), "datasets": len(first)}
    return row | {"error": str(rises[0]), "score": str(rises[1])}


visits_truth: dict[str, float] = {}


def _rises(known: list[Case], visits: dict[str, Visit], now: dict[str, Any]) -> list[Rise]:
    if not known:
        return [Rise(0.0, 0.0)] * 2
    before = {case.name: visits[case.name].found for case in known}
    return [Rise.of(old, new) for old, new in zip(scores(known, before), scores(known, now), strict=True)]


def main() -> None:
    parser = common.parser(__doc__, seeds=1)
    parser.add_argument("--only", default="", help="numbers whose module or name contains this text")
    parser.add_argument("--seconds", type=float, default=1.5, help="of questions for each change")
    parser.add_argument("--minutes", type=float, default=100.0, help="after which the command ends")
    options = parser.parse_args()
    path, begun = options.output / "sensitivity.csv", monotonic()
    asked_of = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked_of, cwd=CHECKOUT, capture_output=True, text=True).stdout.strip()
    kept = {} if options.fresh or not path.exists() else {(r["number"], r["times"]): r for r in _rows(path)}
    for number in numbers():
        importlib.import_module(number.module)
    every, CACHE[0] = list(cases()), pydine.UnitCache()
    warnings.simplefilter("ignore")
    visits_truth.update({case.name: case.truth for case in every})
    visits = {case.name: visited(case) for case in every}
    sys.stderr.write(f"{len(every)} questions, {sum(visit.seconds for visit in visits.values()):.0f} seconds\n")
    found = list(numbers())
    # Those that take long, whose kernels are compiled anew, come last.
    order = [(n, f) for n in sorted(found, key=lambda n: n.choice.file.startswith("kernels/")) for f in FACTORS]
    for number, factor in order:
        key = number.label, f"{factor:g}"
        wanted = options.only in number.label if options.only else key not in kept
        if wanted and monotonic() - begun < 60.0 * options.minutes:
            kept[key] = line(number, factor, every, visits, options.seconds) | {"commit": commit}
            rows = [kept[n.label, f"{f:g}"] for n, f in order if (n.label, f"{f:g}") in kept]
            pd.DataFrame(rows).to_csv(path, index=False, float_format="%.4g")
    rows = [kept[n.label, f"{f:g}"] for n, f in order if (n.label, f"{f:g}") in kept]
    missing = len(order) - len(rows)
    sys.stderr.write(f"{missing} of {len(order)} rows are not there yet\n" if missing else "")
    common.report(
        options.output / "sensitivity.md",
        "# What another choice would do",
        _notes(rows, missing // len(FACTORS)),
        common.markdown(rows),
    )


def _notes(rows: list[dict[str, Any]], missing: int = 0) -> str:
    by_number: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_number.setdefault(row["number"], []).append(row)

    def matters(row: dict[str, Any]) -> bool:
        return any(abs(float(row[f].split("(")[1].rstrip(")"))) >= CLEAR for f in ("error", "score") if "(" in row[f])

    unread = sum(all(int(row["answers"]) == 0 for row in rows) for rows in by_number.values())
    silent = sum(all(float(row["moved"]) < STILL for row in rows) for rows in by_number.values())
    matter = sum(any(map(matters, rows)) for rows in by_number.values())
    figures = sum(bool(row[f]) for row in rows for f in ("error", "score"))
    return NOTES.format(
        count=len(by_number),
        silent=silent,
        matter=matter,
        still=STILL,
        clear=CLEAR,
        chance=0.046 * figures,
        far=FAR,
        unread=unread,
        missing=missing,
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return pd.read_csv(path, dtype={"times": str, "commit": str}).fillna({"error": "", "score": ""}).to_dict("records")


if __name__ == "__main__":
    if "--ask" in sys.argv:
        wanted = set(json.loads(sys.argv[-1]))
        warnings.simplefilter("ignore")
        sys.stdout.write(json.dumps({case.name: case.ask() for case in cases() if case.name in wanted}) + "\n")
    else:
        main()

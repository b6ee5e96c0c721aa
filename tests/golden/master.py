"""Stored answers, and whether answers of today are the same: to nine digits, or as near as other CPUs come.

    make golden           every question, to nine digits, with a table of what has moved
    make golden WRITE=1   after a change that is meant to change answers

`PYTHONPATH=tests python -m golden.master --help` has more.

A change that should change no answer leaves this table empty. One that is meant to makes the file anew, in a commit
that says why, beside the tables that show that the answers are better.
"""

import argparse
import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scipy.special import ndtri

from golden.answers import Figures
from golden.questions import Question, questions

STORED = Path(__file__).with_name("answers.json")
EXACT = 1e-9  # of max(1, |value|): what another order of sums may change
NEAR = 0.1  # standard errors: what another BLAS may change, where a weight is steep
ROUNDING = 1e-6
NATS = frozenset({"value", "error", "below", "above", "low", "high", "information", "standard_error"})


class Move(NamedTuple):
    """A figure that is not what was stored."""

    question: str
    figure: str
    stored: object
    found: object
    scale: float  # a standard error, if it is known, or 1

    @property
    def distance(self) -> float:
        """In standard errors; infinite if one of them is no finite number."""
        try:
            moved = abs(float(self.found) - float(self.stored)) / self.scale  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return math.inf
        return moved if math.isfinite(moved) else math.inf


def asked(chosen: Mapping[str, Question]) -> Iterator[tuple[str, Figures]]:
    """Answers to questions, one after the other. What they warn about is no figure."""
    for name, ask in chosen.items():
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield name, ask(Path(folder))


def stored() -> dict[str, Figures]:
    return json.loads(STORED.read_text())


def write(answers: Mapping[str, Figures]) -> None:
    """One question a line, its figures with all of their digits."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(figures)}" for name, figures in answers.items())
    STORED.write_text(f"{{\n{lines}\n}}\n")


def moves(question: str, before: Figures, now: Figures, *, exact: bool) -> Iterator[Move]:
    """What differs. A figure that was not stored is no move."""
    for part, figures in before.items():
        error = figures.get("error", before.get("estimate", {}).get("error", 1.0))
        scale = error if isinstance(error, float) and 0.0 < error < math.inf else 1.0
        for name, old in figures.items():
            new = now.get(part, {}).get(name)
            if not (_same(old, new) if exact else _near(part, name, old, new, scale)):
                yield Move(question, f"{part} {name}", old, new, scale)


def _same(old: object, new: object) -> bool:
    if not isinstance(old, int | float) or not isinstance(new, int | float):
        return old == new
    if not math.isfinite(old) or not math.isfinite(new):
        return repr(float(old)) == repr(float(new))
    return abs(new - old) <= EXACT * max(1.0, abs(old))


def _near(part: str, name: str, old: object, new: object, scale: float) -> bool:
    """As near as answers of another CPU are: p-values by their normal quantiles, other figures on their scales."""
    if _same(old, new):
        return True
    if not isinstance(old, float) or not isinstance(new, float) or not math.isfinite(new - old):
        return False
    if part == "block p" or name.split()[-1] in {"p", "pvalue"}:
        return abs(ndtri(old) - ndtri(new)) <= NEAR
    if name.split()[-1] in NATS or part.endswith("uncertainty"):
        return abs(new - old) <= NEAR * scale + ROUNDING
    return abs(new - old) <= NEAR * max(1.0, abs(old))


def table(found: Iterable[Move]) -> str:
    """What has moved, a line each."""
    lines = [("question", "figure", "stored", "now", "errors")]
    lines += [(m.question, m.figure, _shown(m.stored), _shown(m.found), f"{m.distance:.2g}") for m in found]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _shown(figure: object) -> str:
    return f"{figure:.10g}" if isinstance(figure, int | float) else str(figure)


def compared(before: Mapping[str, Figures], now: Mapping[str, Figures], *, exact: bool) -> list[str]:
    """Lines about what has moved; none if nothing has."""
    found = [move for name, old in before.items() for move in moves(name, old, now.get(name, {}), exact=exact)]
    if not found:
        return []
    which = {move.question for move in found}
    return [table(found), f"{len(found)} figures of {len(which)} questions have moved"]


def main() -> None:
    """Ask all questions; compare their answers with those that are stored, or store them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="store the answers instead")
    parser.add_argument("--near", action="store_true", help="allow what another CPU may change")
    parser.add_argument("--only", default="", help="of questions whose names contain this text")
    parser.add_argument("--slowest", type=int, default=0, help="list so many questions that took the most time")
    options = parser.parse_args()
    chosen = {name: ask for name, ask in questions().items() if options.only in name}
    answers, seconds, start = {}, {}, time.process_time()
    for name, figures in asked(chosen):
        answers[name], seconds[name] = figures, time.process_time() - start - sum(seconds.values())
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[: options.slowest]
    lines = [f"{taken:6.2f} s  {name}" for name, taken in slowest]
    count = sum(len(part) for figures in answers.values() for part in figures.values())
    lines.append(f"{len(answers)} questions, {count:,} figures, {sum(seconds.values()):.0f} CPU seconds")
    before = {name: figures for name, figures in stored().items() if options.only in name} if STORED.exists() else {}
    bits = sum(repr(before.get(name)) == repr(figures) for name, figures in answers.items())
    lines.append(f"the same to the last bit: {bits}; not stored yet: {len(answers.keys() - before.keys())}")
    moved = compared(before, answers, exact=not options.near)
    sys.stdout.write("\n".join([*lines, *moved, ""]))
    if options.write:
        write((stored() | answers) if options.only else answers)
    elif moved:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Collect the numbers that were chosen, with their reasons, from the sources into docs/choices.md.

    python scripts/choices.py

A constant stands beside its use, and the comment behind or above it begins with what it is:

    answer:  another value gives other estimates or p-values; the comment says why this one
    guard:   keeps arithmetic in range; ordinary data do not come near it
    convention: another value gives other estimates, but this one is usual, or follows from a source
    precision: how finely something is computed; half or twice of it moves no answer by a tenth of a standard error
    memory:  bounds memory or time; no answer depends on it
    words:   when a sentence is said; no number depends on it
    fact:    mathematics, or a name for something; there was nothing to choose

The page lists the first by itself, so that what shapes an answer is seen in one place, apart from the rest.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "src" / "pydine"
PAGE = CHECKOUT / "docs" / "choices.md"
ROOMS = ("inputs", "kernels", "units", "work", "latents", "bases", "nulls", "answers", "questions")
KINDS = {
    "answer": "What affects an answer",
    "convention": "What follows from conventions and sources",
    "precision": "How finely something is computed",
    "guard": "What keeps arithmetic in range",
    "memory": "What bounds memory and time",
    "words": "When a message is shown",
    "fact": "",
}
INTRODUCTION = """# Chosen constants

Every numerical constant of the estimator, with the reason for its value; `scripts/choices.py` collects them from the
sources, where each is defined next to its use. Parameters that a caller can set are described with
[`DINE`](api/estimator.md). `benchmarks/sensitivity.py` halves and doubles the constants of the first three tables, one
at a time; `benchmarks/results/sensitivity.md` shows what that changes.

The categories (the comment next to a constant begins with this word):

- **answer** ({count} names): another value gives other estimates or p-values; this one was chosen by judgement, or on
  simulations other than those reported.
- **convention**: another value gives other estimates, but this one is the usual one, or follows from the source named.
- **precision**: how finely something is computed; halving or doubling it moves no answer by 0.1 standard errors.
- **guard**: keeps arithmetic in range; ordinary data never reach it.
- **memory**: bounds memory or time; no answer depends on it.

Not listed are thresholds for messages (**words**), and mathematics and names (**fact**): no answer depends on them.
Arrays of weights (`nulls/moments.py`, `nulls/pvalues.py`) are not counted.
"""


class Choice(NamedTuple):
    """A constant: where it is, its names and values as they are written, its kind and the reason for it."""

    file: str
    names: str
    values: str
    kind: str
    reason: str


def choices(package: Path = PACKAGE) -> list[Choice]:
    """All numerical constants of the rooms, in the order of their files; the kind is "" where a comment names none."""
    rooms = (path for room in ROOMS for path in sorted((package / room).rglob("*.py")))
    files = (package / "serial.py", package / "sampling.py", *(path for path in rooms if path.parent.name != "files"))
    sources = ((path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")) for path in files)
    return [choice for file, source in sources for choice in of_file(file, source)]


def of_file(file: str, source: str) -> Iterator[Choice]:
    """The constants of one file: names in capitals, and the defaults of LadderSettings and PaperSettings."""
    comments = _comments(source)
    for node in _constants(ast.parse(source)):
        words = comments.get(node.end_lineno or 0, (False, ""))[1] or _above(comments, node.lineno)
        kind, _, reason = words.partition(": ")
        if kind not in KINDS:
            kind, reason = "", words
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = ast.get_source_segment(source, node.value) if node.value else ""
        yield Choice(file, ", ".join(map(ast.unparse, targets)).strip("()"), value or "", kind, reason)


def _constants(tree: ast.Module) -> Iterator[ast.Assign | ast.AnnAssign]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Settings") and node.name != "Settings":
            yield from (part for part in node.body if isinstance(part, ast.AnnAssign) and _is_numeric(part.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_numeric(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
            if all(name == name.upper() for name in names):
                yield node


def _is_numeric(value: ast.expr | None) -> bool:
    """Whether an expression is made of numbers, and of nothing else."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_numeric, value.elts))
    if isinstance(value, ast.BinOp):
        return _is_numeric(value.left) and _is_numeric(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_numeric(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def _comments(source: str) -> dict[int, tuple[bool, str]]:
    """Comments by line: whether one has the line to itself, and what it says."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found[token.start[0]] = (token.line.lstrip().startswith("#"), token.string.lstrip("# "))
    return found


def _above(comments: dict[int, tuple[bool, str]], line: int) -> str:
    """The comment that ends right above a line, in one line."""
    lines: list[str] = []
    while comments.get(line - 1, (False, ""))[0]:
        line -= 1
        lines.insert(0, comments[line][1])
    return " ".join(lines)


def page(found: list[Choice]) -> str:
    """The page, in Markdown."""
    count = sum(len(c.names.split(", ")) for c in found if c.kind == "answer")
    parts = [INTRODUCTION.format(count=count)]
    for kind, title in KINDS.items():
        if title:
            parts.append(f"## {title}\n\n| where | name | value | |\n|---|---|---|---|")
            parts += [f"| `{c.file}` | `{c.names}` | {c.values} | {_cell(c.reason)} |" for c in found if c.kind == kind]
            parts.append("")
    return "\n".join(parts)


def _cell(reason: str) -> str:
    """A reason as a cell of a table."""
    return reason.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(choices()), encoding="utf-8")

"""Which tables are of the code as it is, and which documents cite one that is not.

python benchmarks/stale.py [--root FOLDER]    exit code 1 if the README or a page of docs cites a stale table

A table is fresh if everything that this library computed in it carries the digest of the present code: of all of it, or
of the part that its figures depend on (`code_version`); or if its rows were confirmed for that code
(`harness.confirmation`). A document may cite a stale table if a sentence that names it has the words
"earlier version".
"""

import csv
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.confirmation import confirmed_codes
from harness.provenance import SCOPES, code_version, date_of

RESULTS = Path("benchmarks") / "results"
ORIGIN = re.compile(r"\b[Cc]ode ([0-9a-f]{8}|unrecorded)\b(?:, commit (\w+\+?))?")  # as common.origin writes it
CONFESSION = "earlier version"


@dataclass(frozen=True)
class Table:
    """A file of results, and the code that its figures are of: pairs of a digest and a commit."""

    name: str
    origins: tuple[tuple[str, str], ...]

    def state(self, current: frozenset[str]) -> str:
        if not self.origins:
            return "not ours"
        return "fresh" if {code for code, _ in self.origins} <= current else "STALE"


@dataclass(frozen=True)
class Citation:
    """A document that names a table, and whether it says that the table is of an earlier version."""

    document: str
    table: str
    confessed: bool


def tables(results: Path) -> Iterator[Table]:
    """Every report, and every CSV that has none."""
    for path in sorted(results.glob("*.md")):
        yield Table(path.name, tuple(sorted(set(ORIGIN.findall(path.read_text(encoding="utf-8"))))))
    for path in sorted(results.glob("*.csv")):
        if not path.with_suffix(".md").exists():
            yield Table(path.name, tuple(sorted(_row_origins(path))))


def _row_origins(path: Path) -> set[tuple[str, str]]:
    """Digests and commits of rows; of rows that were confirmed for newer code, its digest."""
    holds = confirmed_codes(path)
    with path.open(newline="") as file:
        ours = [row for row in csv.DictReader(file) if row.get("code")]
    return {(holds.get((row["method"], row["code"]), row["code"]), row.get("commit") or "") for row in ours}


def sentences(text: str) -> list[str]:
    """Sentences of all paragraphs, each in one line."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
    return [sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.:!?])\s+", paragraph)]


def citations(root: Path, names: list[str]) -> Iterator[Citation]:
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        confessions = [sentence for sentence in sentences(text) if CONFESSION in sentence]
        for name in names:
            if re.search(rf"results/{re.escape(name)}\b", text):
                confessed = any(re.search(rf"\b{re.escape(name)}\b", sentence) for sentence in confessions)
                yield Citation(path.relative_to(root).as_posix(), name, confessed)


def line(table: Table, current: frozenset[str], cited: list[Citation], root: Path) -> list[str]:
    """The line about a table: its name, its state, digests, commits, their dates, and the documents that cite it."""
    state = table.state(current)
    codes, commits = ([origin[i] for origin in table.origins if origin[i]] for i in (0, 1))
    dates = [date_of(commit, root) for commit in commits]
    documents = [c.document + " (says so)" * (c.confessed and state == "STALE") for c in cited]
    return [table.name, state, _few(codes), _few(commits), _few(dates), ", ".join(documents)]


def _few(names: list[str]) -> str:
    """The distinct names, or their number if there are more than two."""
    different = list(dict.fromkeys(filter(None, names)))
    return ", ".join(different) if len(different) <= 2 else f"{len(different)} of them"


def show(lines: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="of the repository")
    root = parser.parse_args().root
    codes = {scope: code_version(root / "src" / "pydine", scope) for scope in SCOPES}
    current, found = frozenset(codes.values()), list(tables(root / RESULTS))
    cited = list(citations(root, [table.name for table in found]))
    lines = [line(table, current, [c for c in cited if c.table == table.name], root) for table in found]
    print("The code as it is: " + ", ".join(f"{code} ({scope})" for scope, code in codes.items()) + "\n")
    show([["table", "state", "code", "commit", "date", "cited by"], *lines])
    stale = {table.name for table in found if table.state(current) == "STALE"}
    wrong = [c for c in cited if c.table in stale and not c.confessed]
    print()
    for citation in wrong:
        print(f"{citation.document} cites {citation.table}, which is stale, without saying so.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

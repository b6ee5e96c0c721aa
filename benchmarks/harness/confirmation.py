"""Rows of older code that still hold: some of them, run again with the present code, gave the same figures.

Code may change without changing an answer: it becomes faster, or moves. Then a sample of a table's rows is run again,
drawn without a look at the figures from those that the run asks for. If each of them has the same figures, to the eight
digits that a table keeps, the others count as rows of the present code too. With 60 rows drawn, at most one row in
twenty differs, with a confidence of 95%; a single row that differs confirms nothing. What was confirmed is listed
beside the tables, in `FOLDER`, in a file for each: a run keeps others away from its table, and so from this file. A
line without rows that were run again says that two digests are of the same code, that of the commit which the rows
name: digests were made in another way before.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from random import Random

from pydine.disk import write_whole
from pydine.experiments.table import Identity, Row, read

FOLDER = "confirmed"
Rows = Mapping[Identity, Mapping[str, str]]


@dataclass(frozen=True)
class Confirmation:
    """That rows of a method, computed by older code, are those of newer code too.

    Attributes
    ----------
    method
        The method.
    code
        Digest of the code that computed the rows.
    now
        Digest of the code that gives the same figures.
    again
        How many of the rows were run again.
    rows
        How many rows there are, with those that were run again.
    """

    method: str
    code: str
    now: str
    again: int
    rows: int


def confirmations(table: Path) -> list[Confirmation]:
    """What is confirmed of the rows of a CSV."""
    path = _list_of(table)
    if not path.exists():
        return []
    lines = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return [
        Confirmation(line["method"], line["code"], line["now"], int(line["again"]), int(line["rows"])) for line in lines
    ]


def _list_of(table: Path) -> Path:
    return table.parent / FOLDER / table.name


def confirmed_codes(table: Path) -> dict[tuple[str, str], str]:
    """For methods and codes of a table: the code that their rows were confirmed for last."""
    return {(c.method, c.code): c.now for c in confirmations(table)}


def with_confirmations(table: Path, rows: Iterable[Row]) -> list[Row]:
    """Rows of a table with one more column, ``confirmed``: the newer code that they hold for, or nothing."""
    holds = confirmed_codes(table)
    return [{**row, "confirmed": holds.get((row["method"], row["code"]), "")} for row in rows]


def read_confirmed(table: Path) -> list[Row]:
    """Read the rows of a CSV, as `with_confirmations`."""
    return with_confirmations(table, read(table))


def sample(table: Path, rows: Rows, count: int) -> set[Identity]:
    """Draw at most `count` rows of each method and code of a table, the same ones in every run."""
    groups: dict[tuple[str, str], list[Identity]] = defaultdict(list)
    for identity, row in rows.items():
        groups[row["method"], row["code"]].append(identity)
    drawn: set[Identity] = set()
    for group, identities in groups.items():
        draw = Random(" ".join((table.stem, *group)))
        drawn |= set(draw.sample(sorted(identities), min(count, len(identities))))
    return drawn


def confirm(table: Path, old: Rows, new: Rows, others: Rows, figures: Sequence[str], code: str) -> list[str]:
    """Compare rows that were run again with what they were, and write down which methods' rows are confirmed.

    Parameters
    ----------
    table
        The CSV.
    old, new
        The rows that were drawn, as they were and as they are.
    others
        Those of older code that were not drawn.
    figures
        Columns that must be the same.
    code
        Digest of the present code.

    Returns
    -------
    list of str
        A sentence for each method and older code.
    """
    same: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for identity, row in old.items():
        is_same = all(row[name] == new[identity][name] for name in (*figures, "error"))
        same[row["method"], row["code"]].append(is_same)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for row in others.values():
        counts[row["method"], row["code"]] += 1
    found = [
        Confirmation(method, of, code, len(hits), len(hits) + counts[method, of])
        for (method, of), hits in same.items()
        if all(hits)
    ]
    _add(table, found)
    return [_sentence(method, of, hits, counts[method, of]) for (method, of), hits in same.items()]


def _sentence(method: str, code: str, hits: Sequence[bool], others: int) -> str:
    if all(hits):
        return f"{method}, code {code}: {len(hits)} rows are the same, which confirms {others} others."
    return f"{method}, code {code}: {hits.count(False)} of {len(hits)} rows differ; renew the {others} others."


def _add(table: Path, found: Sequence[Confirmation]) -> None:
    """Add to the list of a table; what was confirmed of the same rows earlier makes way."""
    if not found:
        return
    listed = {(c.method, c.code): c for c in (*confirmations(table), *found)}
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Confirmation)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(listed[key]) for key in sorted(listed))
    path = _list_of(table)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, text.getvalue().encode())

"""The library's runner for tables that are kept: rows say which code they are of, and are confirmed for newer code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.confirmation import confirm as confirm_rows
from harness.confirmation import confirmed_codes, sample, with_confirmations
from harness.provenance import ALL, code_version, commit
from pydine.experiments import table
from pydine.experiments.runner import FIGURES, Method, Task, kept_rows, run_rows
from pydine.experiments.table import Identity, Row


def run(
    tasks: Sequence[Task],
    methods: Mapping[str, Method],
    path: Path,
    *,
    figures: Sequence[str] = FIGURES,
    fresh: bool = False,
    renew: bool = False,
    confirm: int = 0,
    foreign: Set[str] = frozenset(),
    scope: str = ALL,
    console: Console | None = None,
    **how: Any,
) -> list[Row]:
    """Run every method of every task that the CSV does not have yet, as `pydine.experiments.runner.run`.

    Parameters
    ----------
    tasks, methods, path, figures, fresh, foreign, console
        As there.
    renew
        Whether to run rows again that older code of this library computed, unless they are confirmed.
    confirm
        How many of those to run again for each method. If they all have the same figures as before, the others are
        confirmed: see `harness.confirmation`.
    scope
        The kind of figure, which says on what code the rows depend: see `harness.provenance.SCOPES`.
    **how
        Further options of the library's runner: `jobs`, `transient`.

    Returns
    -------
    list of dict
        As there, with one more column, ``confirmed``: the digest of newer code for which a row holds, if that is known.
    """
    console, code = console or Console(stderr=True), code_version(scope=scope)
    with table.only_run(path):
        kept = kept_rows(tasks, path, figures)
        older = {i: kept[i] for i in _outdated(kept, foreign, code, path)}
        again = set(kept) if fresh else set(older) if renew else sample(path, older, confirm)
        drawn = {i: older[i] for i in again} if confirm and not (fresh or renew) else {}
        # The code is that of what was imported, though files may change meanwhile.
        origin = {"code": code, "commit": commit()}
        rows = run_rows(tasks, methods, path, again, origin, figures=figures, foreign=foreign, console=console, **how)
        others = {i: row for i, row in older.items() if i not in drawn}
        for sentence in confirm_rows(path, drawn, rows, others, _answers(figures), code):
            console.print(sentence)
    return with_confirmations(path, [table.typed(row) for row in rows.values()])


def _answers(figures: Sequence[str]) -> list[str]:
    """Those of the figures that are the same in every run: no times."""
    return [name for name in figures if not name.endswith("seconds")]


def _outdated(rows: Mapping[Identity, Mapping[str, str]], foreign: Set[str], code: str, path: Path) -> set[Identity]:
    """Which rows are this library's, of other code than this, and not confirmed for it."""
    holds = confirmed_codes(path)
    return {
        i
        for i, row in rows.items()
        if row["method"] not in foreign and code not in (row["code"], holds.get((row["method"], row["code"])))
    }

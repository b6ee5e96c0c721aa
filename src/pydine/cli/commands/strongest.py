"""``pydine matrix --top``: the pairs of very many columns that depend on each other, without a matrix of all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli.engine import Distributed
from pydine.cli.options import Format, of_output
from pydine.cli.output.answers import answer, facts, lines_of, page, plain_table, pvalue
from pydine.cli.output.notes import listening, tell
from pydine.inputs.kinds import Kind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.inputs.files import Frame
    from pydine.results.wide import WideInformation

SHOWN = 20
HEADER = ("x", "y", "information", "standard_error", "pvalue", "adjusted_pvalue")
LABELS = "it is nominal; --top compares no such columns"


@dataclass(frozen=True)
class Strongest:
    """Which pairs are asked for."""

    top: Annotated[
        int | None,
        of_output(
            metavar="K",
            min=1,
            help="Only the K pairs with the smallest p-values, by the Gaussian base, of any number of columns.",
            show_default=False,
        ),
    ] = None
    threshold: Annotated[
        float | None,
        of_output(
            metavar="NATS",
            min=0.0,
            help="Only pairs with at least this many nats, at level --alpha, by the Gaussian base.",
            show_default=False,
        ),
    ] = None

    @property
    def is_asked(self) -> bool:
        """Whether the strongest pairs are asked for at all."""
        return self.top is not None or self.threshold is not None

    def check(self, out: Path | None, **others: bool) -> None:
        """Refuse what belongs to a matrix of all pairs."""
        if out is not None and out.suffix != ".parquet":
            raise typer.BadParameter("must be a .parquet file with --top or --threshold", param_hint="--out")
        for name, is_asked in others.items():
            if is_asked:
                raise typer.BadParameter("needs all pairs; leave out --top and --threshold", param_hint=f"--{name}")


def answer_strongest(
    form: Format,
    frame: Frame,
    needed: list[str],
    given: list[str],
    asked: Strongest,
    work: Distributed,
    settings: dict[str, Any],
) -> None:
    """Find and print them; columns that are `needed` are given, or say how rows depend on each other."""
    frame = _without_labels(frame, needed)
    del settings["random_state"]
    settings["kinds"] = {name: kind for name, kind in settings["kinds"].items() if name in frame}
    with listening(frame.source) as said, work.running(work.jobs):
        from pydine.questions.wide import wide_information

        found = wide_information(
            frame,
            given or None,
            top=asked.top,
            threshold=asked.threshold or 0.0,
            **settings,
        )
    rows = lines_of(found.columns())
    counted = {"n_samples": found.n_samples, "n_dropped": found.n_dropped}
    totals = {"n_columns": len(found.names), "n_pairs": found.n_pairs, "n_found": found.n_found}
    record = {**facts(frame), **counted, "given": given, "alpha": found.alpha, **totals, "pairs": rows}
    answer(form, record, rows, lambda: _shown(found, rows, given), HEADER, frame=frame)
    tell(said)


def _without_labels(frame: Frame, needed: list[str]) -> Frame:
    """Leave out labels of more than two values, by name."""
    labels = [name for name, kind in frame.kinds.items() if kind == Kind.NOMINAL and name in frame]
    some = [name for name in labels if name not in needed and len(frame.levels.get(name, ())) != 2]
    return frame.without(dict.fromkeys(some, LABELS))


def _shown(found: WideInformation, rows: list[dict[str, Any]], given: list[str]) -> RenderableType:
    table = plain_table("", "", "nats", "±", "p", left=2)
    for row in rows[:SHOWN]:
        nats, error = f"{row['information']:z.3f}", f"{row['standard_error']:.3f}"
        table.add_row(row["x"], row["y"], nats, error, pvalue(row["adjusted_pvalue"]))
    more = f"; the first {SHOWN} are shown, --csv prints {len(rows):,}" if len(rows) > SHOWN else ""
    summary = f"Dependence is detected in {found.n_found:,} of {found.n_pairs:,} pairs at {found.alpha:g}{more}."
    how = f"{found.n_samples:,} rows, {len(found.names):,} columns; p is adjusted for {found.n_pairs:,} pairs"
    known = f", given {', '.join(given)}" if given else ""
    return page(f"The strongest pairs{known}", table, summary, how=how)

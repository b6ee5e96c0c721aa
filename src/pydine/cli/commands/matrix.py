"""``pydine matrix``: what every pair of columns has in common, alone or given others."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.commands.strongest import Strongest, answer_strongest
from pydine.cli.engine import Distributed
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, lines_of, page, plain_table, pvalue, why_few, write_csv
from pydine.cli.output.files import check_picture, check_places, save, save_figure
from pydine.cli.output.notes import listening, tell

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results import PairwiseInformation

REST = "rest"
SHOWN = 20
EXAMPLES = options.example(
    "pydine matrix patients.csv",
    "pydine matrix patients.parquet --given age --given sex --out matrix.csv --plot matrix.png",
    "pydine matrix patients.csv --given rest --csv | head",
    "pydine matrix wide.parquet --given age --cache flows --shard 3/16",
    "pydine matrix genes.parquet --top 1000 --out pairs.parquet",
)
Given = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help=f"A column to condition on; [bold]{REST}[/bold] for all columns but the pair itself."
    ),
]
Shard = Annotated[
    str | None,
    options.of_method(
        metavar="K/N",
        help="Do part K of N of the work, into --cache, and print no matrix; the same command without --shard "
        "combines the parts.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    options.of_output(
        metavar="FILE.csv",
        help="Write the square matrix, in nats; with --top or --threshold, all pairs found, to FILE.parquet.",
    ),
]
Plot = Annotated[
    Path | None, options.of_output(metavar="FILE.png", help="Draw it: .png, .svg or .pdf (needs matplotlib).")
]


def matrix(
    file: options.File,
    given: Given = None,
    *,
    chosen: options.Chosen,
    depending: options.Depending,
    base: options.BaseOption = options.Base.auto,
    alpha: options.Alpha = 0.05,
    work: Distributed,
    cache: options.Cache = None,
    shard: Shard = None,
    strongest: Strongest,
    reading: options.Reading,
    out: Out = None,
    plot: Plot = None,
    overwrite: options.Overwrite = False,
    printed: options.Printed,
) -> None:
    """What every pair of columns has in common.

    Information and a test of independence for all pairs, strongest first; --given asks what is left once other columns
    are known. p is adjusted for the number of pairs.
    """
    form = printed.form
    check_picture(plot)
    check_places(file, out, plot, overwrite=overwrite)
    request = Request(file, reading, work.seed)
    table = request.open(streamed=given != [REST] and depending == options.Depending())
    rest = given == [REST] and REST not in table.names
    known, depends = [] if rest else table.find("--given", given or ()), depending.found(table)
    if depends and shard is not None:
        raise ValueError("--clusters, --time and --weights are not available with --shard; leave them out.")
    needed, named = [*known, *depending.columns(table)], depending.labels(table)
    if strongest.is_asked:
        strongest.check(out, given=rest, shard=shard is not None, plot=plot is not None)
        frame = request.read_many(table, chosen, needed, most=None, named=named)
        settings = {**work.settings(frame, depends), "alpha": alpha, "out": out, "cache": cache}
        answer_strongest(form, frame, needed, known, strongest, work, settings)
        return
    hint = "pass --top 1000 for the strongest pairs"
    frame = request.read_many(table, chosen, needed, hint=hint, named=named)
    if len(frame) - len(needed) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to compare; {why_few(frame)}.")
    settings = {**work.settings(frame, depends), "base": base.value, "cache": cache}
    with listening(frame.source) as said, work.running(work.jobs):
        from pydine.questions.pairwise import fit_shard, pairwise_information

        conditions = REST if rest else known or None
        if shard is not None:
            del settings["random_state"]
            typer.echo(f"shard {shard} is done; {_owed(fit_shard(frame, conditions, shard=shard, **settings))}")
            return
        result = pairwise_information(frame, conditions, **settings)
    _write(result, out, plot)
    rows = lines_of(result.columns())
    counted = {"n_samples": result.n_samples, "n_dropped": result.n_dropped}
    record = {**facts(frame), **counted, "given": REST if rest else known, "names": result.names, "pairs": rows}
    answer(form, record, rows, lambda: _shown(result, rows, REST if rest else known, alpha), frame=frame)
    tell(said)


def _owed(missing: int) -> str:
    if not missing:
        return "all flows are fitted."
    return f"{missing:,} flows of other shards are still missing: pairs that need more than flows wait for them."


def _write(result: PairwiseInformation, out: Path | None, plot: Path | None) -> None:
    if out is not None:
        square = io.StringIO()
        write_csv(square, _square(result))
        save(out, square.getvalue().encode())
    if plot is not None:
        save_figure(result.plot().figure, plot)


def _square(result: PairwiseInformation) -> list[dict[str, Any]]:
    rows = result.values.tolist()
    return [
        {"": name, **dict(zip(result.names, row, strict=True))} for name, row in zip(result.names, rows, strict=True)
    ]


def _shown(
    result: PairwiseInformation, rows: list[dict[str, Any]], given: str | list[str], alpha: float
) -> RenderableType:
    known = "" if not given else ", given the rest" if given == REST else f", given {', '.join(given)}"
    uneven = len({row["n"] for row in rows}) > 1
    table = plain_table("", "", "nats", "±", "p", "base", *(["n"] if uneven else []), left=2)
    for row in rows[:SHOWN]:
        found = row["adjusted_pvalue"] <= alpha
        table.add_row(
            row["x"],
            row["y"],
            f"{row['information']:z.3f}",
            "" if math.isnan(row["standard_error"]) else f"{row['standard_error']:.3f}",
            pvalue(row["adjusted_pvalue"]),
            row["base"],
            *([f"{row['n']:,}"] if uneven else []),
            style=None if found else "dim",
        )
    count = sum(row["adjusted_pvalue"] <= alpha for row in rows)
    more = f"; the first {SHOWN} are shown, --csv prints all" if len(rows) > SHOWN else ""
    summary = f"Dependence is detected in {count:,} of {len(rows):,} pairs at {alpha:g}{more}."
    how = f"{result.row_range} rows; p is adjusted for {len(rows):,} pairs"
    return page(f"Information between pairs{known}", table, summary, how=how)

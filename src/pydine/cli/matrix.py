"""``pydine matrix``: what every pair of columns has in common, alone or given others."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options, strongest
from pydine.cli.engine import BackendOption, SchedulerOption, engine, workers
from pydine.cli.inputs import Request, threads
from pydine.cli.output import (
    Format,
    answer,
    check_place,
    facts,
    listening,
    page,
    plain_table,
    pvalue,
    save,
    save_figure,
    tell,
    write_csv,
)

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


def matrix(
    file: options.File,
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help=f"What is known already; [bold]{REST}[/bold] for all columns but the pair itself."
        ),
    ] = None,
    column: options.Columns = None,
    without: options.Without = None,
    base: options.BaseOption = options.Base.auto,
    alpha: options.Alpha = 0.05,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    backend: BackendOption = None,
    scheduler: SchedulerOption = None,
    cache: options.Cache = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Do the K-th of N parts of the work into --cache and print no matrix; the same command without it "
            "puts them together.",
            show_default=False,
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Only the K pairs with the smallest p, of any number of columns, by the Gaussian base.",
            show_default=False,
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="NATS",
            min=0.0,
            help="The same, of all pairs that have at least so many nats, at the level --alpha.",
            show_default=False,
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    nan: options.Nan = options.Missing.omit,
    kind: options.Kinds = None,
    sample: options.Sample = None,
    header: options.Header = None,
    separator: options.Separator = None,
    max_bytes: options.MaxBytes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Write the square matrix, in nats; with --top or --threshold, FILE.parquet, all pairs that are found.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Draw it: .png, .svg or .pdf (needs matplotlib).", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """What every pair of columns has in common.

    Information and a test of independence for all pairs, the strongest first; --given asks what is left once other
    columns are known. p is adjusted for the number of pairs.
    """
    form = Format.of(as_json, as_csv)
    check_place(out, plot)
    request = Request(file, nan, sample, seed, header, separator, max_bytes, kind)
    table = request.open(streamed=given != [REST])
    rest = given == [REST] and REST not in table.names
    known = [] if rest else table.find("--given", given or ())
    if top is not None or threshold is not None:
        strongest.check(out, given=rest, shard=shard is not None, plot=plot is not None)
        frame = strongest.without_labels(request.read_many(table, column, without, known, most=None), known)
        n_jobs = workers(backend, jobs, threads(jobs, frame))
        with listening(frame.source) as said, engine(backend, scheduler, jobs):
            found = strongest.pairs_of(frame, known, alpha, top, threshold, out, n_jobs, cache)
        strongest.tell_pairs(form, frame, known, found)
        tell(said)
        return
    frame = request.read_many(table, column, without, known, hint="pass --top 1000 for the strongest pairs")
    if len(frame) - len(known) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to compare.")
    n_jobs, conditions = workers(backend, jobs, threads(jobs, frame)), REST if rest else known or None
    with listening(frame.source) as said, engine(backend, scheduler, jobs):
        from pydine.questions.pairwise import fit_shard, pairwise_information

        if shard is not None:
            owed = fit_shard(
                frame,
                conditions,
                shard=shard,
                cache=cache,
                base=base.value,
                n_jobs=n_jobs,
                nan_policy="omit",
                kinds=frame.kinds,
            )
            typer.echo(f"shard {shard} is done; {_owed(owed)}")
            return
        result = pairwise_information(
            frame,
            conditions,
            base=base.value,
            random_state=seed,
            n_jobs=n_jobs,
            nan_policy="omit",
            cache=cache,
            kinds=frame.kinds,
        )
    columns = result.columns()
    rows = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    if out is not None:
        square = io.StringIO()
        write_csv(square, _square(result))
        save(out, square.getvalue().encode())
    if plot is not None:
        save_figure(result.plot().figure, plot)
    counted = {"n_samples": result.n_samples, "n_dropped": result.n_dropped}
    record = {**facts(frame), **counted, "given": REST if rest else known, "names": result.names, "pairs": rows}
    answer(form, record, rows, lambda: _shown(result, rows, REST if rest else known, alpha), frame=frame)
    tell(said)


def _owed(missing: int) -> str:
    if not missing:
        return "all flows are there."
    return f"{missing:,} flows of other shards are not there yet: pairs that need more than flows wait for them."


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
    summary = f"{count:,} of {len(rows):,} pairs depend on each other at {alpha:g}{more}."
    how = f"{result.row_range} rows; p is adjusted for {len(rows):,} pairs"
    return page(f"Information of pairs{known}", table, summary, how=how)

"""``pydine rank``: which columns tell about a target, and which add nothing to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.inputs import Request, kinds_of, threads
from pydine.cli.output import (
    Format,
    answer,
    facts,
    listening,
    page,
    plain_table,
    pvalue,
    tell,
    value,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.questions.ranking import RankedColumn, Ranking

EXAMPLES = options.example(
    "pydine rank patients.csv --target glucose",
    "pydine rank patients.csv --target glucose --without patient_id --csv > ranking.csv",
)


def rank(
    file: options.File,
    target: Annotated[str, typer.Option("-t", "--target", metavar="COLUMN", help="What the others tell about.")],
    column: options.Columns = None,
    without: options.Without = None,
    alpha: options.Alpha = 0.05,
    base: options.BaseOption = options.Base.auto,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    nan: options.Nan = options.Missing.fail,
    kind: options.Kinds = None,
    sample: options.Sample = None,
    header: options.Header = None,
    separator: options.Separator = None,
    max_bytes: options.MaxBytes = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Which columns tell about a target, and which add nothing.

    For every column: its information about the target alone, and given all the other columns. A column adds nothing
    if, given the rest, no dependence on the target is found, at a false discovery rate of --alpha.
    """
    form = Format.of(as_json, as_csv)
    request = Request(file, nan, sample, seed, header, separator, max_bytes)
    table = request.open()
    (target,) = table.find("--target", [target])
    frame = request.read_many(table, column, without, needed=[target])
    features = [name for name in frame if name != target]
    if not features:
        raise ValueError(f"{frame.source} has no column to rank beside {target!r}.")
    with listening(frame.source) as said:
        from pydine.questions.ranking import rank

        ranking = rank(
            frame,
            target,
            features,
            alpha=alpha,
            base=base.value,
            random_state=seed,
            n_jobs=threads(jobs, frame),
            kinds=kinds_of(kind),
        )
    rows = [_line(ranked) for ranked in ranking]
    record = {**facts(frame), "target": target, "alpha": alpha, "columns": rows, "add_nothing": ranking.add_nothing}
    answer(form, record, rows, lambda: _shown(ranking))
    tell(frame, said)


def _line(ranked: RankedColumn) -> dict[str, Any]:
    line: dict[str, Any] = {"column": ranked.name}
    for suffix, estimate, raw, adjusted in (
        ("alone", ranked.alone, ranked.pvalue_alone, ranked.adjusted_alone),
        ("given_rest", ranked.given_rest, ranked.pvalue_given_rest, ranked.adjusted_given_rest),
    ):
        low, high = estimate.confidence_interval()
        line |= {
            f"information_{suffix}": estimate.value,
            f"standard_error_{suffix}": estimate.standard_error,
            f"low_{suffix}": low,
            f"high_{suffix}": high,
            f"pvalue_{suffix}": raw,
            f"adjusted_pvalue_{suffix}": adjusted,
            f"base_{suffix}": estimate.base,
            f"correlation_{suffix}": estimate.correlation,
            f"explained_{suffix}": estimate.explained,
        }
    return {**line, "adds_nothing": ranked.adds_nothing}


def _shown(ranking: Ranking) -> RenderableType:
    table = plain_table("column", "alone", "given the rest", "p", "")
    for ranked in ranking:
        table.add_row(
            ranked.name,
            value(ranked.alone),
            value(ranked.given_rest),
            pvalue(ranked.adjusted_given_rest),
            "adds nothing" if ranked.adds_nothing else "",
            style="dim" if ranked.adds_nothing else None,
        )
    nothing = ranking.add_nothing
    count = f"{len(nothing)} of {len(ranking)} columns add nothing that was found to what the others tell."
    together = " Those that stand in for each other all do: leave out one at a time." if len(nothing) > 1 else ""
    how = (
        f"{ranking.n_samples:,} rows; ± is one standard error; p is given the rest, adjusted for {len(ranking)} columns"
    )
    said = count + together if nothing else "Every column adds something."
    return page(f"Information about {ranking.target}, in nats", table, said, how=how)

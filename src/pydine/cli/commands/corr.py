"""``pydine corr``: the square matrix of correlations, for columns of any kind."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, lines_of, page, plain_table, why_few
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLES = options.example(
    "pydine corr patients.csv",
    "pydine corr patients.csv -z age --csv > matrix.csv",
    "pydine corr patients.csv -c bmi -c age",
)


class Scale(StrEnum):
    """What the matrix holds."""

    correlation = "correlation"
    information = "information"


def corr(
    file: options.File,
    *,
    chosen: options.Chosen,
    z: Annotated[list[str] | None, typer.Option("-z", metavar="COLUMN", help="A column to condition on.")] = None,
    scale: Annotated[
        Scale, options.of_method("--method", help="Correlations from -1 to 1, or information in nats.")
    ] = Scale.correlation,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """How columns of any kind correlate, as one square matrix.

    The size is that of the correlation between normal columns with as much information, whatever the kinds of columns
    and the shape of their dependence. The sign is negative where both have an order and one falls as the other rises.
    """
    form = printed.form
    request = Request(file, reading, work.seed)
    table = request.open()
    given, apart = table.find("-z", z or ()), depending.columns(table)
    frame = request.read_many(table, chosen, needed=[*given, *apart], named=depending.labels(table))
    if len(frame) - len({*given, *apart}) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to correlate; {why_few(frame)}.")
    with watching(frame.source, "Estimating") as said:
        from pydine.inputs.dependence import Dependence
        from pydine.questions.correlating import correlations

        depends = depending.found(table)
        settings = work.settings(frame, depends)
        labelled = [name for name in frame.levels if len(frame.levels[name]) > 1]
        names, matrix = correlations(
            frame,
            given,
            method=scale.value,
            base=base.value,
            n_jobs=settings["n_jobs"],
            kinds=settings["kinds"],
            unordered=labelled,
            said=Dependence(**depends),
        )
    columns: dict[str, list[Any]] = {
        "column": list(names),
        **{name: matrix[:, i].tolist() for i, name in enumerate(names)},
    }
    record = {**facts(frame), "given": given, "method": scale.value, "names": names, "matrix": matrix}
    answer(form, record, lines_of(columns), lambda: _shown(columns, given, scale), frame=frame)
    tell(said)


def _shown(columns: dict[str, list[Any]], given: list[str], scale: Scale) -> RenderableType:
    names = columns["column"]
    table = plain_table("", *names)
    for i, name in enumerate(names):
        table.add_row(name, *(f"{columns[other][i]:z.2f}" for other in names))
    title = "Correlations" if scale is Scale.correlation else "Information, in nats"
    how = f"given {', '.join(given)}" if given else "each pair uses the rows that have both columns"
    return page(title, table, how=how)

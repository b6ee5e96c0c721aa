"""``pydine why``: which other columns take over what one tells about a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, page, plain_table, pvalue, value
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.explanation import Explanation

EXAMPLES = options.example(
    "pydine why cars.csv -x weight -y mpg",
    "pydine why cars.csv -x weight -y mpg -c displacement -c horsepower --json",
)


def why(
    file: options.File,
    x: Annotated[str, typer.Option("-x", metavar="COLUMN", help="The column to explain.")],
    y: Annotated[str, typer.Option("-y", metavar="COLUMN", help="The target, which it tells about.")],
    *,
    chosen: options.Chosen,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """Why a column tells little once others are known.

    What X tells about Y alone; given the column that accounts for most of it; given that one and the next; and given
    all others. The linear partial correlation, as in a regression, is shown for comparison.
    """
    form = printed.form
    request = Request(file, reading, work.seed)
    table = request.open()
    x, y = table.find_one("-x", x), table.find_one("-y", y)
    apart = [x, y, *depending.columns(table)]
    frame = request.read_many(table, chosen, needed=apart, named=depending.labels(table))
    with watching(frame.source, "Explaining") as said:
        from pydine import why

        settings = work.settings(frame, depending.found(table))
        del settings["random_state"]
        found = why(frame, x, y, [name for name in frame if name not in apart], base=base.value, **settings)
    columns = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    record = {
        **facts(frame),
        "n_samples": found.steps[-1].left.n_samples,
        "x": x,
        "y": y,
        "steps": rows,
        "partial_correlation": found.correlation,
        "partial_correlation_pvalue": found.correlation_pvalue,
        "summary": found.summary,
    }
    answer(form, record, rows, lambda: _shown(found), frame=frame)
    tell(said)


def _shown(found: Explanation) -> RenderableType:
    table = plain_table("given", "nats", "95% interval", "p")
    for text, step in found.lines():
        low, high = step.left.confidence_interval()
        table.add_row(text, value(step.left), f"{low:.3f} to {high:.3f}", pvalue(step.pvalue))
    said = [found.summary, *filter(None, [found.beside_line])]
    how = f"{found.steps[-1].left.n_samples:,} rows; ± is one standard error"
    return page(f"What {found.name} tells about {found.target}", table, *said, how=how)

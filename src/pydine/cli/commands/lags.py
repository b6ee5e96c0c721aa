"""``pydine lags``: how long after x y follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, error_of, facts, page, plain_table, pvalue
from pydine.cli.output.notes import listening, tell

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.lags import LaggedInformation

EXAMPLES = options.example(
    "pydine lags river.csv -x rain -y level --time day --to 14",
    "pydine lags panel.csv -x dose -y pressure --clusters patient --time visit --to 4 --past 1 --json",
)


def lags(
    file: options.File,
    *,
    sides: options.Series,
    first: Annotated[int, options.of_method("--from", metavar="N", help="The first lag, in rows.")] = 0,
    last: Annotated[int, options.of_method("--to", metavar="N", help="The last lag, in rows.")] = 24,
    past: Annotated[
        int, options.of_method("--past", metavar="N", min=0, help="Condition on this many earlier rows of Y as well.")
    ] = 0,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """How long Y takes to follow X: their information at each of several lags.

    Rows are in the order of --time, or of the file; with --clusters, each cluster is a series of its own. Intervals
    and p-values allow for serial correlation; p is adjusted for the number of lags, and bands are simultaneous.
    """
    form = printed.form
    if last < first:
        raise typer.BadParameter("must not be less than --from", param_hint="--to")
    frame, (x, y, given), settings = Request(file, reading, work.seed).read_series(sides, depending, work)
    with listening(frame.source) as said:
        from pydine import lagged_information

        lagged = range(first, last + 1)
        found = lagged_information(
            frame, x, y, lagged, given=given, condition_on_past=past, base=base.value, **settings
        )
    rows = _lines(found)
    record = {
        **facts(frame),
        "x": x,
        "y": y,
        "n_samples": found.estimates[0].n_samples,
        "best": found.best,
        "lags": rows,
    }
    answer(form, record, rows, lambda: _shown(found, x, y), frame=frame)
    tell(said)


def _lines(found: LaggedInformation) -> list[dict[str, Any]]:
    return [
        {
            "lag": lag,
            "information": estimate.value,
            "standard_error": estimate.standard_error,
            "low": estimate.confidence_interval().low,
            "high": estimate.confidence_interval().high,
            "band_low": low,
            "band_high": high,
            "pvalue": p,
            "adjusted_pvalue": of_all,
        }
        for lag, estimate, (low, high), p, of_all in zip(
            found.lags, found.estimates, found.band(), found.pvalues, found.adjusted_pvalues, strict=True
        )
    ]


def _shown(found: LaggedInformation, x: str, y: str) -> RenderableType:
    table = plain_table("lag", "nats", "±", "95% band", "p")
    for line in _lines(found):
        band = f"{line['band_low']:.3f} to {line['band_high']:.3f}"
        cells = f"{line['information']:z.3f}", error_of(line["standard_error"]).strip("± "), band
        table.add_row(str(line["lag"]), *cells, pvalue(line["adjusted_pvalue"]))
    first = found.estimates[0]
    best = f"The estimate is largest at lag {found.best}."
    how = f"{first.n_samples:,} rows ({first.sampling}); p is adjusted for {len(found.lags)} lags"
    return page(f"What {x} tells about {y}, by lag in rows", table, best, how=how)

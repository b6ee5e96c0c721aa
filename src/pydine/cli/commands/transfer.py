"""``pydine transfer``: what the past of x tells about y beyond the past of y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, error_of, facts, page, plain_table, pvalue
from pydine.cli.output.notes import listening, tell

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.lags import TransferInformation

EXAMPLES = options.example(
    "pydine transfer river.csv -x rain -y level --time day --past 3",
    "pydine transfer panel.csv -x dose -y pressure --clusters patient --time visit --json",
)


def transfer(
    file: options.File,
    *,
    sides: options.Series,
    past: Annotated[int, options.of_method("--past", metavar="N", min=1, help="How many rows make up the past.")] = 1,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """What the past of X tells about Y beyond the past of Y, and vice versa.

    Transfer entropy, I(past of X; Y | past of Y, past of Z), in both directions, with a test of each and an interval
    for their difference. Rows are in the order of --time, or of the file; with --clusters, each cluster is a series.
    """
    form = printed.form
    frame, (x, y, given), settings = Request(file, reading, work.seed).read_series(sides, depending, work)
    with listening(frame.source) as said:
        from pydine import transfer_information

        found = transfer_information(frame, x, y, past, given=given, base=base.value, **settings)
    low, high = found.difference_interval()
    rows = [
        {
            "from": source,
            "to": of,
            "information": estimate.value,
            "standard_error": estimate.standard_error,
            "low": estimate.confidence_interval().low,
            "high": estimate.confidence_interval().high,
            "pvalue": p,
        }
        for source, of, estimate, p in (
            (x, y, found.forward, found.pvalue),
            (y, x, found.backward, found.backward_pvalue),
        )
    ]
    record = {**facts(frame), "n_samples": found.forward.n_samples, "past": past, "directions": rows}
    record |= {"difference": found.difference, "difference_low": low, "difference_high": high}
    answer(form, record, rows, lambda: _shown(found), frame=frame)
    tell(said)


def _shown(found: TransferInformation) -> RenderableType:
    table = plain_table("transfer", "nats", "±", "95% interval", "p")
    for name, estimate, p in (
        (f"{found.x} to {found.y}", found.forward, found.pvalue),
        (f"{found.y} to {found.x}", found.backward, found.backward_pvalue),
    ):
        low, high = estimate.confidence_interval()
        error = error_of(estimate.standard_error).strip("± ")
        table.add_row(name, f"{estimate.value:z.3f}", error, f"{low:.3f} to {high:.3f}", pvalue(p))
    low, high = found.difference_interval()
    line = f"Difference {found.difference:z.3f} nats, 95% interval {low:.3f} to {high:.3f}."
    how = f"{found.forward.n_samples:,} rows ({found.forward.sampling})"
    return page("What the past of one tells about the other, beyond the other's own past", table, line, how=how)

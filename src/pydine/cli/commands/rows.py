"""``pydine rows``: how many rows find so much information, or how much so many rows find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pydine.cli import options
from pydine.cli.output.answers import answer, flat

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.power import Power

EXAMPLES = options.example("pydine rows --nats 0.05", "pydine rows --nats 0.02 -d 4 --power 0.9", "pydine rows --n 442")


def rows(
    *,
    nats: Annotated[
        float | None,
        typer.Option("--nats", metavar="NUMBER", help="The information to detect, in nats.", show_default=False),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", help="Or: how many rows you have.", show_default=False)
    ] = None,
    power: Annotated[
        float, options.of_method("--power", metavar="NUMBER", help="The probability of detecting the information.")
    ] = 0.8,
    alpha: options.Alpha = 0.05,
    given: Annotated[int, options.of_method("-d", "--given", metavar="N", help="Number of columns in Z.")] = 0,
    printed: options.Printed,
) -> None:
    """How many rows are needed to detect an amount of information, or how little a number of rows can detect.

    For the test of independence of two columns, where dependence shows as correlation.
    """
    if (nats is None) == (n is None):
        raise typer.BadParameter("pass exactly one of them", param_hint="--nats, --n")
    form = printed.form
    from pydine import detectable_information, rows_needed

    if nats is not None:
        found = rows_needed(nats, power=power, alpha=alpha, dz=given)
    else:
        found = detectable_information(n or 0, power=power, alpha=alpha, dz=given)
    record = {
        "rows": found.rows,
        "information": found.information,
        "correlation": found.correlation,
        "power": power,
        "alpha": alpha,
        "given": given,
        "solved": found.solved,
    }
    answer(form, record, [flat(record)], lambda: _shown(found))


def _shown(found: Power) -> RenderableType:
    from rich.text import Text

    sentence = repr(found).partition(";")[0]
    return Text(f"{sentence[0].upper()}{sentence[1:]}.")

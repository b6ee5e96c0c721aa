"""``pydine interaction``: whether two columns tell more together than apart, or the same thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.commands.compare import contrast_line, figures
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, flat, page, plain_table, value
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.interactions import Interaction

PARTS = ("together", "first", "second", "first_beyond", "second_beyond")  # fact: fields of the result
EXAMPLES = options.example(
    "pydine interaction patients.csv -x bmi --with age -y glucose",
    "pydine interaction patients.csv -x bmi --with age -y glucose -z sex --json",
)


def interaction(
    file: options.File,
    *,
    sides: options.Sides,
    beside: Annotated[
        list[str],
        typer.Option("--with", metavar="COLUMN", help="The second column; several make one variable of them."),
    ],
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """Whether two columns tell more about Y together than apart.

    What X and the column of --with tell together, each alone, and each beyond the other. Their interaction is positive
    if together they tell more than the sum of each alone (synergy), and negative if they partly tell the
    same (redundancy).
    """
    form = printed.form
    chosen = {"-x": sides.x, "--with": beside, "-y": sides.y, "-z": sides.z}
    names, depends, frame = Request(file, reading, work.seed).read_blocks(chosen, depending)
    with watching(frame.source, "Estimating") as said:
        import pydine

        found = pydine.interaction(*names, data=frame, base=base.value, **work.settings(frame, depends))
    record = {**facts(frame), **_described(found)}
    answer(form, record, [flat(record)], lambda: _shown(found), frame=frame)
    tell(said)


def _described(found: Interaction) -> dict[str, Any]:
    parts = {name: getattr(found, name) for name in PARTS}
    return {
        "n_samples": found.together.n_samples,
        "n_dropped": found.together.n_dropped,
        "labels": found.labels,
        "y": found.together.names[1],
        "z": found.together.names[2],
        **figures(found),
        **{f"information_{name}": part.value for name, part in parts.items()},
        **{f"standard_error_{name}": part.standard_error for name, part in parts.items()},
        "verdict": found.verdict(),
    }


def _shown(found: Interaction) -> RenderableType:
    table = plain_table("", "nats")
    for label, estimate in found.parts():
        table.add_row(label, value(estimate))
    table.add_row("interaction", f"{found.value:+.3f} ± {found.standard_error:.3f}", style="bold")
    y, z = (", ".join(names) for names in found.together.names[1:])
    title = f"Information about {y}" + (f" given {z}" if z else "")
    return page(
        title,
        table,
        f"{found.verdict()}: {contrast_line(found)}.",
        how=f"{found.together.n_samples:,} rows; ± is one standard error",
    )

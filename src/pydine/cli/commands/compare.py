"""``pydine compare``: which of two columns tells more, or in which of two groups a column does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, flat, page, plain_table, pvalue, value
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.inputs.files import Frame
    from pydine.results.contrasts import Contrast, Difference

EXAMPLES = options.example(
    "pydine compare patients.csv -x bmi --than age -y glucose",
    "pydine compare patients.csv -x bmi --than age -y glucose -z sex --json",
    "pydine compare patients.csv -x bmi -y glucose --by sex",
)


def compare(
    file: options.File,
    *,
    sides: options.Sides,
    than: Annotated[
        list[str] | None,
        typer.Option("--than", metavar="COLUMN", help="What X is compared with: a column, or several as one variable."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Or: a column of groups; I(X;Y) is compared between two of them."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="LABEL",
            help="A group of --by to compare, if there are more; use it twice.",
        ),
    ] = None,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """Which of two columns tells more about Y, or in which of two groups X does.

    With --than: the difference between what two columns tell, from the same rows. With --by: the difference between
    what X tells in two groups of rows. Both come with an interval and a p-value; if that is large, the two cannot be
    told apart.
    """
    if bool(than) == bool(by):
        raise typer.BadParameter("pass exactly one of them", param_hint="--than, --by")
    form = printed.form
    second = {"--than": than} if than else {"--by": [by or ""]}
    chosen = {"-x": sides.x, **second, "-y": sides.y, "-z": sides.z}
    (x, other, y, z), depends, frame = Request(file, reading, work.seed).read_blocks(chosen, depending)
    asked: dict[str, Any] = {"data": frame, "base": base.value, **work.settings(frame, depends)}
    with watching(frame.source, "Comparing") as said:
        import pydine

        if than:
            found = pydine.compare(x, other, y, z, **asked)
        else:
            (name,) = other or []
            found = pydine.compare_groups(x, y, z, by=name, groups=_codes(frame, name, group), **asked)
            found = replace(found, labels=(_label(frame, name, found.labels[0]), _label(frame, name, found.labels[1])))
    record = {**facts(frame), **_described(found)}
    answer(form, record, [flat(record)], lambda: _shown(found), frame=frame)
    tell(said)


def _codes(frame: Frame, name: str, groups: list[str] | None) -> list[str] | None:
    """Groups as the columns of a frame have them: text is numbered there."""
    levels = frame.levels.get(name)
    if not groups or levels is None:
        return groups or None
    wrong = [label for label in groups if label not in levels]
    if wrong:
        raise ValueError(f"{frame.source}: column {name!r} has no group {wrong[0]!r}; it has {', '.join(levels[:10])}.")
    return [str(levels.index(label)) for label in groups]


def _label(frame: Frame, name: str, code: str) -> str:
    levels = frame.levels.get(name)
    return code if levels is None else levels[int(float(code))]


def figures(found: Contrast) -> dict[str, Any]:
    """The fields of a contrast in a JSON object."""
    low, high = found.confidence_interval()
    return {
        "value": found.value,
        "standard_error": found.standard_error,
        "low": low,
        "high": high,
        "level": 0.95,
        "pvalue": found.pvalue,
    }


def _described(found: Difference) -> dict[str, Any]:
    parts = {"first": found.first, "second": found.second}
    return {
        "n_samples": found.first.n_samples,
        "n_dropped": found.first.n_dropped,
        "labels": found.labels,
        "y": found.first.names[1],
        "z": found.first.names[2],
        **figures(found),
        **{f"information_{name}": part.value for name, part in parts.items()},
        **{f"standard_error_{name}": part.standard_error for name, part in parts.items()},
        "correlation": found.correlation,
        "is_paired": found.is_paired,
        "verdict": found.verdict(),
    }


def contrast_line(found: Contrast) -> str:
    """The value of a contrast with its interval and p-value."""
    low, high = found.confidence_interval()
    p = pvalue(found.pvalue)
    shown = f"{found.value:+.3f} ± {found.standard_error:.3f} nats, 95% interval {low:.3f} to {high:.3f}"
    return f"{shown}, p {'' if p.startswith('<') else '= '}{p}"


def _shown(found: Difference) -> RenderableType:
    table = plain_table("", "nats")
    for label, estimate in zip(found.labels, (found.first, found.second), strict=True):
        table.add_row(label, value(estimate))
    table.add_row("difference", f"{found.value:+.3f} ± {found.standard_error:.3f}", style="bold")
    y, z = (", ".join(names) for names in found.first.names[1:])
    title = f"Information about {y}" + (f" given {z}" if z else "")
    return page(title, table, f"{found.verdict()}: {contrast_line(found)}.", how=found.row_counts)

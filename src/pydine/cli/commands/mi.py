"""``pydine mi``: how much x tells about y, alone or given z."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydine.cli import options
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, error_of, facts, flat
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results import InformationEstimate

NATS_PER_BIT = math.log(2.0)
EXAMPLES = options.example(
    "pydine mi patients.csv -x bmi -y glucose",
    "pydine mi patients.csv -x bmi -y glucose -z age -z sex",
    "zcat rides.csv.gz | pydine mi - -x distance -y fare --sample 5000 --json",
)


class Interval(StrEnum):
    """How to estimate what the flows have not learned."""

    fast = "fast"
    calibrated = "calibrated"


def mi(
    file: options.File,
    *,
    sides: options.Sides,
    base: options.BaseOption = options.Base.auto,
    interval: Annotated[
        Interval,
        options.of_method(
            help="How to estimate what was not learned about Z: at no cost, or by a bootstrap from the fitted flow."
        ),
    ] = Interval.fast,
    level: Annotated[
        float, options.of_method(metavar="NUMBER", min=0.0, max=1.0, help="Confidence level of the interval.")
    ] = 0.95,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """How much X tells about Y, alone or once Z is known.

    Estimates the mutual information I(X;Y), or I(X;Y|Z), of columns of any kind, with its uncertainty. Zero means that
    knowing X is no help in predicting Y. For nominal and ordinal columns it is at most their entropy; for continuous
    ones it has no upper limit.
    """
    form = printed.form
    names, depends, frame = Request(file, reading, work.seed).read_sides(sides, depending, streamed=True)
    with watching(frame.source, "Estimating") as said:
        from pydine import mutual_information

        estimate = mutual_information(
            *names, data=frame, base=base.value, interval=interval.value, **work.settings(frame, depends)
        )
    record = {**facts(frame), **described(estimate, level)}
    answer(form, record, [flat(record)], lambda: _shown(estimate, level), frame=frame)
    tell(said)


def described(estimate: InformationEstimate, level: float) -> dict[str, Any]:
    """The fields of an estimate in a JSON object."""
    low, high = estimate.confidence_interval(level)
    x, y, z = estimate.names
    return {
        "n_samples": estimate.n_samples,
        "n_dropped": estimate.n_dropped,
        "x": x,
        "y": y,
        "z": z,
        "information": estimate.value,
        "standard_error": estimate.standard_error,
        "low": low,
        "high": high,
        "level": level,
        "bits": estimate.bits,
        "base": estimate.base,
        "correlation": estimate.correlation,
        "explained": estimate.explained,
        "kinds": estimate.kinds,
        "gain_over_gaussian": estimate.details.get("gain_over_gaussian", math.nan),
        "unlearned": estimate.details.get("unlearned", 0.0),
        "uncertainty": estimate.details.get("uncertainty", {}),
        "advice": estimate.advice,
        "sampling": estimate.sampling,
    }


def _shown(estimate: InformationEstimate, level: float) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    interval, rows = estimate.confidence_interval(level), []
    for unit, size in (("nats", 1.0), ("bits", NATS_PER_BIT)):
        low, high = (end / size for end in interval)
        cells = [error_of(estimate.standard_error / size), f"{100 * level:g}% interval {low:.3f} to {high:.3f}"]
        is_known = not math.isnan(estimate.standard_error)
        rows.append([f"{estimate.value / size:z.3f} {unit}", *(cells if is_known else [])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # Text and not a table, which cuts numbers where it does not fit.
    lines = [[f"{cell:<{width}}   " for cell, width in zip(row, widths, strict=True)] for row in rows]
    figures = Text("\n").join(Text.assemble((first, "bold"), *more) for first, *more in lines)
    sampled = f" ({estimate.sampling})" if estimate.sampling else ""
    how = f"{estimate.n_samples:,} rows{sampled}, {estimate.base} base"
    advice = [Text(estimate.advice)] if estimate.advice else []
    return Group(
        Text(expression(estimate), style="bold cyan"),
        Padding(figures, (1, 2), expand=False),
        Text(meaning(estimate, level)),
        *advice,
        Text(how, style="dim"),
    )


def expression(estimate: InformationEstimate) -> str:
    """I(x; y | z) with every name."""
    x, y, z = (", ".join(block) for block in estimate.names)
    return f"I({x}; {y} | {z})" if z else f"I({x}; {y})"


def meaning(estimate: InformationEstimate, level: float) -> str:
    """What an estimate means, in a sentence or two."""
    x, y, z = (listed(block) for block in estimate.names)
    known = f"once {z} {'are' if len(estimate.names[2]) > 1 else 'is'} known" if z else ""
    if math.isinf(estimate.value):
        return f"As far as these rows show, {x} and {y} determine each other{f', {known}' if known else ''}."
    if estimate.value == estimate.standard_error == 0.0:
        named: dict[object, str] = {("x",): x, ("y",): y}
        which = named.get(estimate.details.get("determined"), "a side")
        verb = "determine" if len(estimate.names[2]) > 1 else "determines"
        return f"{z} {verb} {which}, so the information is 0."
    if estimate.confidence_interval(level).low <= 0.0:
        start = f"{known[0].upper()}{known[1:]}, no" if known else "No"
        found = f"{start} information about {y} was detected in {x}: the interval reaches zero."
        return f"{found} This does not prove that there is none."
    verb = "tells" if len(estimate.names[0]) == 1 else "tell"
    start = f"{known[0].upper()}{known[1:]}, {x} still {verb}" if known else f"{x} {verb}"
    share = "" if estimate.explained is None else f", {estimate.explained:.0%} of what there is to know"
    return (
        f"{start} as much about {y} as a correlation of {estimate.correlation:.2f} between two normal variables{share}."
    )


def listed(names: tuple[str, ...]) -> str:
    """Write "a", "a and b", or how many there are where they would fill the line."""
    if len(names) > 4:
        return f"these {len(names)} columns"
    *head, last = names or ("",)
    return f"{', '.join(head)} and {last}" if head else last

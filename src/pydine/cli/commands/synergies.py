"""``pydine synergies``: which two columns tell about a target only together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydine.cli import options
from pydine.cli.commands.compare import figures
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, page, plain_table, pvalue, value, why_few
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.interactions import Interaction
    from pydine.results.synergies import Synergies

EXAMPLES = options.example("pydine synergies patients.csv --target glucose")


def synergies(
    file: options.File,
    target: options.Target,
    *,
    chosen: options.Chosen,
    most: Annotated[int, options.of_method("--most", metavar="N", min=1, help="How many pairs to estimate.")] = 20,
    alpha: options.Alpha = 0.05,
    base: options.BaseOption = options.Base.auto,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """Which two columns tell about a target only together.

    All pairs of columns are screened, and those that stand out are estimated: what they tell together minus the sum of
    what each tells alone. p-values are adjusted for all pairs.
    """
    form = printed.form
    request = Request(file, reading, work.seed)
    table = request.open()
    target = table.find_one("--target", target)
    apart = depending.columns(table)
    frame = request.read_many(table, chosen, needed=[target, *apart], named=depending.labels(table))
    features = [name for name in frame if name not in (target, *apart)]
    if len(features) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to pair besides {target!r}; {why_few(frame)}.")
    with watching(frame.source, "Estimating") as said:
        import pydine

        settings = work.settings(frame, depending.found(table))
        found = pydine.synergies(frame, target, features, most=most, base=base.value, **settings)
    rows = [_line(*pair) for pair in zip(found.interactions, found.adjusted_pvalues, strict=True)]
    record = {**facts(frame), "target": target, "n_pairs": found.n_pairs, "found": found.found(alpha), "pairs": rows}
    answer(form, record, rows, lambda: _shown(found, alpha), frame=frame)
    tell(said)


def _line(pair: Interaction, adjusted: float) -> dict[str, Any]:
    parts = {"together": pair.together, "first": pair.first, "second": pair.second}
    return {
        "x1": pair.labels[0],
        "x2": pair.labels[1],
        **figures(pair),
        "adjusted_pvalue": adjusted,
        **{f"information_{name}": part.value for name, part in parts.items()},
        "n": pair.together.n_samples,
    }


def _shown(found: Synergies, alpha: float) -> RenderableType:
    table = plain_table("columns", "interaction", "together", "alone", "alone", "p")
    for pair, adjusted in zip(found.interactions, found.adjusted_pvalues, strict=True):
        alone = (f"{part.value:z.3f}" for part in (pair.first, pair.second))
        shown = f"{pair.value:+.3f} ± {pair.standard_error:.3f}"
        style = None if adjusted <= alpha else "dim"
        table.add_row(" and ".join(pair.labels), shown, value(pair.together), *alone, pvalue(adjusted), style=style)
    more = found.found(alpha)
    said = f"{len(more)} pairs tell more" if len(more) != 1 else "1 pair tells more"
    return page(
        f"Synergy about {found.target}, in nats",
        table,
        f"{said} together than the sum of each column alone.",
        how=f"{len(found)} of {found.n_pairs:,} pairs, chosen by screening; p is adjusted for all",
    )

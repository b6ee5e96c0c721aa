"""``pydine rank``: which columns tell about a target, alone and beyond the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from pydine.cli import options
from pydine.cli.engine import Distributed
from pydine.cli.inputs import KINDS, Request
from pydine.cli.output.answers import answer, console, facts, page, plain_table, pvalue, some, value, why_few
from pydine.cli.output.notes import INTERRUPTED, keeping_what_is_known, listening, note, tell
from pydine.show.cards import figure
from pydine.show.terminal import Harmless

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results.ranking import RankedColumn, Ranking

MOST_NOTED = 5  # columns of a first look that are named
MOST_KINDS = 40  # names of a kind that are printed
EXAMPLES = options.example(
    "pydine rank patients.csv --target glucose",
    "pydine rank patients.csv --target glucose --without patient_id --csv > ranking.csv",
)


def rank(
    file: options.File,
    target: options.Target,
    *,
    chosen: options.Chosen,
    depending: options.Depending,
    alpha: options.Alpha = 0.05,
    base: options.BaseOption = options.Base.auto,
    work: Distributed,
    reading: options.Reading,
    printed: options.Printed,
) -> None:
    """Which columns tell about a target, and which beyond the others.

    For every column: its information about the target alone, and given all the other columns. A column is not detected
    given the rest if its test finds no dependence at a false discovery rate of --alpha; the upper end of the interval
    says how much there may still be. To see which of the others tell the same, use pydine why.
    """
    form = printed.form
    request = Request(file, reading, work.seed)
    table = request.open()
    target = table.find_one("--target", target)
    apart = depending.columns(table)
    frame = request.read_many(table, chosen, needed=[target, *apart], named=depending.labels(table))
    features = [name for name in frame if name != target and name not in apart]
    if not features:
        raise ValueError(f"{frame.source} has no column to rank besides {target!r}; {why_few(frame)}.")
    with listening(frame.source) as said, work.running(work.jobs), _streamed(form) as watch, keeping_what_is_known():
        from pydine.questions.ranking import rank

        ranking = rank(
            frame,
            target,
            features,
            alpha=alpha,
            base=base.value,
            progress=False if form is options.Format.people and sys.stdout.isatty() else None,
            watch=watch,
            **work.settings(frame, depending.found(table)),
        )
    frame = frame.without(ranking.left_out)
    rows = [ranked.figures() for ranked in ranking]
    record = {
        **facts(frame),
        "n_samples": ranking.n_samples,
        "n_dropped": ranking.n_dropped,
        "target": target,
        "alpha": alpha,
        "screened": ranking.screened,
        "why_no_rest": ranking.why_no_rest,
        "columns": rows,
        "tied": ranking.tied,
        "not_detected": ranking.not_detected,
        "hints": dict(ranking.hints),
        "unfinished": ranking.unfinished,
    }
    answer(form, record, rows, lambda: _shown(ranking), frame=frame)
    tell(said)
    if ranking.unfinished:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _streamed(form: options.Format) -> Iterator[Callable[[Ranking], None]]:
    """Show the ranking on a terminal as far as it is known: figures alone at once, the others as they come.

    Elsewhere only a first look is shown, in a line on the standard error.
    """
    if form is not options.Format.people or not sys.stdout.isatty():
        yield _noted
        return
    from rich.live import Live

    with Live(console=console(), transient=True, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda ranking: live.update(Harmless(_shown(ranking, waiting=True)), refresh=True)


def _noted(ranking: Ranking) -> None:
    """Say on the standard error what a first look at some of the rows has shown."""
    if ranking.unfinished:
        first = [f"{c.name} {figure(c.alone.value, c.alone.standard_error)}" for c in ranking.columns[:MOST_NOTED]]
        note(f"{ranking.unfinished} Most informative about {ranking.target}: {', '.join(first)}.")


def _kind(kinds: tuple[str, ...]) -> str:
    """The kind of a column; an estimate records none if all are continuous."""
    return kinds[0] if kinds else "continuous"


def _shown(ranking: Ranking, waiting: bool = False) -> RenderableType:
    uneven = len({ranked.alone.n_samples for ranked in ranking} | {ranking.n_samples}) > 1
    table = plain_table("column", "alone", *(["n"] if uneven else []), "given the rest", "p", "not detected")
    known = 0
    for ranked in ranking:
        known += ranked.given_rest is not None
        table.add_row(
            ranked.name,
            value(ranked.alone),
            *([f"{ranked.alone.n_samples:,}"] if uneven else []),
            ("…" if waiting else "–") if ranked.given_rest is None else value(ranked.given_rest),
            "" if ranked.given_rest is None else pvalue(ranked.adjusted_given_rest),
            _bound(ranked),
            style="dim" if ranked.verdict else None,
        )
    title = f"Information about {ranking.target}, in nats"
    if waiting:
        return page(title, table, how=ranking.unfinished or f"Given the rest: {known} of {len(ranking)} columns")
    return page(title, table, ranking.ties, *_said(ranking), how=_how(ranking, uneven))


def _bound(ranked: RankedColumn) -> str:
    """How much there may be of what is not detected; or why nothing was asked."""
    if ranked.copy_of:
        return "a copy"
    if ranked.is_determined:
        return "determined"
    return f"≤ {ranked.bound:.3f}" if ranked.not_detected else ""


def _said(ranking: Ranking) -> list[str]:
    """What the table says, in a sentence or two."""
    if ranking.why_no_rest:
        return [f"What columns tell given the rest cannot be computed: {ranking.why_no_rest}"]
    hints = [f"{column.name} is a copy of {column.copy_of}." for column in ranking if column.copy_of]
    hints += [f"{name}: {hint}." for name, hint in ranking.hints.items()]
    nothing, told = ranking.not_detected, [column for column in ranking if column.adjusted_alone <= ranking.alpha]
    asked = sum(column.given_rest is not None for column in ranking)
    if len(nothing) == asked and not told:
        which = nothing[0] if len(nothing) == 1 else "any column"
        return [f"No information about {ranking.target} is detected in {which}.", *hints]
    if not nothing:
        every = (
            "Every column adds something." if asked > 1 else f"{told[0].name} is informative about {ranking.target}."
        )
        return [every, *hints]
    count = f"For {len(nothing)} of {asked} columns nothing is detected beyond what the others tell."
    alone = [column.name for column in ranking if column.not_detected and column.adjusted_alone <= ranking.alpha]
    together = f"{some(alone)} are informative on their own; to see which overlap, leave them out one at a time."
    return [f"{count} {together}" if len(alone) > 1 else count, *hints]


def _how(ranking: Ranking, uneven: bool) -> str:
    rows = f"{ranking.n_samples:,} rows" + (" with all columns, used given the rest" if uneven else "")
    rest = ""
    if ranking.screened:
        rest = f"; the rest is the {len(ranking.screened) - 1} of {len(ranking) - 1} other columns that tell most"
    asked = sum(column.given_rest is not None for column in ranking)
    adjusted = f", adjusted for {asked} columns" if asked > 1 else ""
    return f"{_kinds(ranking)}{rows}{rest}; ± is one standard error; p is given the rest{adjusted}"


def _kinds(ranking: Ranking) -> str:
    """The kinds of columns, in a line of its own, unless all are continuous."""
    kinds = {column.name: _kind(column.alone.kinds[0]) for column in ranking}
    kinds[ranking.target] = max((_kind(column.alone.kinds[1]) for column in ranking), key=KINDS.index)
    named = {kind: [name for name in kinds if kinds[name] == kind] for kind in reversed(KINDS)}
    said = [f"{kind}: {some(names, MOST_KINDS)}" for kind, names in named.items() if names and kind != KINDS[0]]
    others = ["the others are continuous"] if named[KINDS[0]] else []
    line = "; ".join([*said, *others])
    return f"{line[0].upper()}{line[1:]}\n" if said else ""

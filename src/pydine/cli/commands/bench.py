"""``pydine bench``: the paper's experiments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pydine.cli import options
from pydine.cli.engine import Backend
from pydine.cli.output.answers import answer

EXAMPLES = options.example(
    "pydine bench mi --quick",
    "pydine bench cmi --methods dine,ksg --trials 10 --jobs 4 --output results",
)


class Kind(StrEnum):
    """Which experiment."""

    mi = "mi"
    cmi = "cmi"
    cit = "cit"


def bench(
    kind: Annotated[Kind, typer.Argument(help="Mutual information, conditional mutual information, or tests.")],
    *,
    methods: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Which methods to compare, separated by commas. By default the usual ones."),
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, metavar="N", help="Datasets per setting.")] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes.")] = 1,
    backend: Backend,
    quick: Annotated[
        bool, typer.Option("--quick", metavar=options.FLAG, help="Run a small part, in about a minute.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", metavar=options.FLAG, help="Discard the results of earlier runs.")
    ] = False,
    renew: Annotated[
        bool,
        typer.Option("--renew", metavar=options.FLAG, help="Recompute the results of other versions of pydine."),
    ] = False,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write tables and figures.")] = Path(
        "pydine-bench"
    ),
    printed: options.Printed,
) -> None:
    """Run the paper's experiments, with pydine and other methods.

    Results are kept: an interrupted run resumes.
    """
    form = printed.form
    from pydine.experiments.bench import run_bench

    names = [name.strip() for item in methods or () for name in item.split(",")] or None
    with backend.running(None if jobs == 1 else jobs):
        found = run_bench(
            kind.value,
            methods=names,
            trials=trials,
            jobs=jobs,
            quick=quick,
            fresh=fresh,
            renew=renew,
            output=output,
        )
    rows = found.summary()
    record = {"kind": kind.value, "table": str(found.table), "summary": rows, "notes": found.notes}
    answer(form, record, rows, lambda: found)

"""The paper's experiments, each as one call: a table of rows, a figure, and what to install for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pydine.experiments.figures import draw_estimates, draw_tests, save
from pydine.experiments.grids import Grid, grid
from pydine.experiments.methods import foreign, methods_of, needed, peers, usual_methods
from pydine.experiments.runner import HowToRun, run
from pydine.experiments.summaries import convergence_summary, decision_summary, error_summary
from pydine.experiments.table import Row
from pydine.show.terminal import Fitting

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT_OUTPUT = Path("pydine-bench")
PLAIN_WIDTH = 1000  # characters: no line of plain text is broken
SUMMARIES = {
    "mi": error_summary,
    "cmi": error_summary,
    "cit": decision_summary,
    "convergence": convergence_summary,
}


@dataclass(frozen=True)
class Bench:
    """The results of an experiment, which prints as a summary.

    Attributes
    ----------
    kind
        ``"mi"``, ``"cmi"``, ``"cit"`` or ``"convergence"``.
    rows
        One for each dataset and method, see `pydine.experiments.runner.run`.
    table
        The CSV with these rows, and with those of other runs.
    figure
        The PNG, a PDF beside it; None without matplotlib.
    notes
        Sentences about what was left out, and what to install.
    """

    kind: str
    rows: list[Row]
    table: Path
    figure: Path | None
    notes: tuple[str, ...] = ()

    def summary(self) -> list[Row]:
        """Summarise the rows, see `pydine.experiments.summaries`."""
        return SUMMARIES[self.kind](self.rows)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        lines = self.summary()
        table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
        shown = [name for name in lines[0] if not name.endswith(("_low", "_high"))]
        if not any(line.get("failed") for line in lines):
            shown = [name for name in shown if name != "failed"]
        for name in shown:  # headings in lines of one word: the table is as wide as its numbers, and fits a terminal
            table.add_column(name.replace("_", "\n"), justify="left" if name == "method" else "right")
        for line in lines:
            table.add_row(*(_shown(line[name]) for name in shown))
        written = f"Rows in {self.table}" + (f", figure in {self.figure}." if self.figure else ".")
        # Text, since pydine[plot] in a plain string would be read as markup.
        return Group(Fitting(table), "", *(Text(line) for line in (written, *self.notes)))

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=PLAIN_WIDTH, color_system=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()


def run_bench(
    kind: str,
    *,
    methods: Sequence[str] | None = None,
    trials: int | None = None,
    quick: bool = False,
    output: Path = DEFAULT_OUTPUT,
    runner: Callable[..., list[Row]] = run,
    **how: Unpack[HowToRun],
) -> Bench:
    """Run one of the paper's experiments, or a part of it; rows of earlier runs are kept.

    Parameters
    ----------
    kind : {"mi", "cmi", "cit"}
        I(X;Y), I(X;Y|Z), or tests of conditional independence: the paper's Figures 1 to 3.
    methods : sequence of str, optional
        Names of methods. By default those that are installed; if `quick`, only the fast ones.
    trials : int, optional
        Datasets of each combination; by default as in the paper, 50, and 200 for ``"cit"``.
    quick : bool, default=False
        A part of the experiment that takes about a minute.
    output : Path
        Folder of the table and the figure.
    runner : callable
        What runs the rows, in place of `pydine.experiments.runner.run` and with its arguments.
    jobs : int, default=1
        Processes, -1 for one on every core.
    fresh : bool, default=False
        Whether to run again what the table in `output` already has.
    renew : bool, default=False
        Whether to run again only the rows that another version of this library computed.
    console : rich.console.Console, optional
        Where progress is shown: standard error unless given.

    Returns
    -------
    Bench
        The rows, where they are, and the figure.
    """
    chosen_grid = grid(kind, trials, quick=quick)
    known = methods_of(kind)
    notes: tuple[str, ...] = ()
    if methods is None:
        methods, notes = usual_methods(kind, quick=quick)
    if not methods:
        raise ValueError(f"methods must name at least one of {', '.join(known)}, but is empty.")
    for name in methods:
        if name not in known:
            raise ValueError(f"methods must be among {', '.join(known)} for {kind!r}, but got {name!r}.")
        if (peer := peers(kind).get(name)) is not None and not peer.available:
            raise ImportError(needed(peer))
    figure = draw_tests if kind == "cit" else partial(draw_estimates, title=chosen_grid.title)
    return run_grid(kind, chosen_grid, dict.fromkeys(methods), Path(output), figure, notes, runner, **how)


def run_grid(
    kind: str,
    chosen: Grid,
    methods: Iterable[str],
    output: Path,
    figure: Callable[[list[Row]], Any],
    notes: Sequence[str] = (),
    runner: Callable[..., list[Row]] = run,
    **how: Unpack[HowToRun],
) -> Bench:
    """Run methods on a grid and save the figure beside the table; without matplotlib there is a note in its place."""
    names, table = list(methods), output / f"{kind}.csv"
    known = methods_of("mi" if kind == "convergence" else kind)
    rows = runner(chosen.tasks(names), known, table, foreign=foreign(names), **how)
    failed = sorted({f"{row['method']} failed: {row['error']}" for row in rows if row["error"]})
    notes = (*failed, *notes)
    try:
        path = save(figure(rows), table)
    except ImportError as missing:
        return Bench(kind, rows, table, None, (*notes, f"No figure: {missing}."))
    return Bench(kind, rows, table, path, notes)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3g}" if abs(value) < 1e-2 else f"{value:.3f}"
    return str(value)

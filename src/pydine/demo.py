"""The diabetes data: what each feature tells about the target, alone and given all the others.

Run with ``python -m pydine.demo``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

import pydine
from pydine.experiments.measure import measured
from pydine.inputs.checks import enumeration
from pydine.results import InformationEstimate
from pydine.show.extras import require
from pydine.show.terminal import Fitting, Harmless, width_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["Row", "estimate_rows", "load_table", "main", "show"]

TARGET = "target"
MEANINGS = {
    "age": "age in years",
    "sex": "sex",
    "bmi": "body mass index",
    "bp": "average blood pressure",
    "s1": "total cholesterol",
    "s2": "LDL cholesterol",
    "s3": "HDL cholesterol",
    "s4": "total / HDL cholesterol",
    "s5": "log of triglycerides",
    "s6": "blood sugar",
}
# Narrower terminals do without the column of meanings.
WIDTH_WITH_MEANINGS = 107


class Row(NamedTuple):
    """One feature: its information about the target, alone and given all other features."""

    feature: str
    alone: InformationEstimate
    given_rest: InformationEstimate


def load_table() -> dict[str, NDArray[np.float64]]:
    """Load the diabetes data of scikit-learn by column, in the units in which it was measured.

    Returns
    -------
    dict of str to ndarray, shape (442,)
        The ten features and the target. A mapping, because a frame would need pandas to be installed.
    """
    bunch = load_diabetes(scaled=False)
    return {**dict(zip(bunch.feature_names, bunch.data.T, strict=True)), TARGET: bunch.target}


def estimate_rows(table: Mapping[str, NDArray[np.float64]]) -> list[Row]:
    """Estimate the information of every feature about the target, alone and given the others.

    Parameters
    ----------
    table : mapping of str to ndarray, shape (n,)
        Columns by name, ``"target"`` among them.

    Returns
    -------
    list of Row
        Most informative feature first.
    """
    features = [name for name in table if name != TARGET]
    rows = []
    for feature in features:
        others = [name for name in features if name != feature]
        alone = pydine.mutual_information(feature, TARGET, data=table, random_state=0)
        given_rest = pydine.mutual_information(feature, TARGET, others, data=table, random_state=0)
        rows.append(Row(feature, alone, given_rest))
    return sorted(rows, key=lambda row: -row.alone.value)


def show(console: Console, rows: list[Row], seconds: float) -> None:
    """Print the table and what it means.

    Parameters
    ----------
    console : Console
        Where to; its width decides how much is shown.
    rows : list of Row
        What was estimated.
    seconds : float
        How long it took.
    """
    from rich.text import Text

    console.print()
    console.print(Harmless(Fitting(_table(rows, with_meanings=console.width >= WIDTH_WITH_MEANINGS))))
    first = rows[0].alone
    notes = [
        f"{2 * len(rows)} estimates by DINE from {first.n_samples} rows in {seconds:.1f} s; ± is one standard error.",
        "Estimates are corrected for bias: where there is no information they scatter around zero.",
    ]
    kinds = {name: kind for row in rows for name, kind in _kinds(row.alone).items() if kind != "continuous"}
    if kinds:
        named = enumeration([f"{name!r} is {kind}" for name, kind in kinds.items()])
        notes.append(f"Kinds of column: {named}; all others are continuous.")
    for note in notes:
        console.print(Harmless(Text(note, style="dim")))
    console.print()


def _kinds(estimate: InformationEstimate) -> dict[str, str]:
    """What the columns of both sides were taken for."""
    return {
        name: kind
        for names, kinds in list(zip(estimate.names, estimate.kinds, strict=True))[:2]
        for name, kind in zip(names, kinds, strict=False)
    }


def _table(rows: list[Row], *, with_meanings: bool) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"Information about {TARGET!r} (disease progression after one year), in nats",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )
    table.add_column("feature", no_wrap=True)
    if with_meanings:
        table.add_column("meaning", style="dim", no_wrap=True)
    for heading in ("alone", "given the rest"):
        table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("95% interval", justify="right", no_wrap=True)
    for row in rows:
        meaning = [MEANINGS.get(row.feature, "")] if with_meanings else []
        table.add_row(row.feature, *meaning, *_cells(row.alone), *_cells(row.given_rest))
    return table


def _cells(estimate: InformationEstimate) -> tuple[Text, Text]:
    from rich.text import Text

    low, high = estimate.confidence_interval(0.95)
    style = "bold" if low > 0 else "dim"  # what is clearly not zero stands out
    return (
        Text(f"{estimate.value:z.3f} ± {estimate.standard_error:.3f}", style),
        Text(f"[{low:.3f}, {high:.3f}]", style),
    )


def main() -> None:
    """Run the demonstration and print its table."""
    require("rich", "the demonstration")
    from rich.console import Console

    console = Console(width=width_of(sys.stdout))
    table = load_table()
    waiting = console.status("Estimating (the very first run also compiles, which takes longer) ...")
    with waiting, measured() as cost:
        rows = estimate_rows(table)
    show(console, rows, cost.seconds)


if __name__ == "__main__":
    try:
        main()
    except ImportError as error:
        sys.exit(str(error))

"""How far answers would move with another partition into folds.

python benchmarks/partitions.py [--seeds 3] [--partitions 6] [--jobs 2] [--fresh] [--output FOLDER]

Partitions, and the starts of networks, are drawn once and for all, so nothing that a user does shows this. Here they
are drawn again, on families other than those that the accuracy is reported on.
"""

import common

# isort: split

from functools import partial

import numpy as np
import pandas as pd

import own_families
import pydine
from harness.provenance import ESTIMATES
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.units import rows
from pydine.units.rungs import networks

MOVES = "moves by"
SIZES, DIMENSIONS, CORRELATIONS = (300, 1000), (1, 5, 10), (0.3, 0.9)

NOTES = """
`base="gaussian"`. "moves by": the standard deviation of an estimate over {partitions} draws of the partitions and
starts, as a root mean square over {seeds} datasets of each of five families, in units of the sampling error.
""".strip()


def partitioned(data: Dataset, partitions: int) -> dict[str, float]:
    """How far an estimate moves with the draw, in units of its sampling error."""
    answers, before = [], (rows.SEED, networks.SEED)
    for seed in range(partitions):
        rows.SEED = networks.SEED = seed
        answers.append(pydine.mutual_information(data.x, data.y, data.z, base="gaussian"))
    rows.SEED, networks.SEED = before
    sampling = np.mean([answer.details["uncertainty"]["sampling"] for answer in answers])
    return {MOVES: np.std([answer.value for answer in answers], ddof=1) / sampling}


def table(found: pd.DataFrame) -> list[dict[str, object]]:
    cells = found.groupby(["n", "dz", "rho"])[MOVES]
    return [
        {"n": n, "dz": dz, "rho": f"{rho:g}", MOVES: float(np.sqrt((part**2).mean()))} for (n, dz, rho), part in cells
    ]


def main() -> None:
    options = common.parser(__doc__, seeds=3)
    options.add_argument("--partitions", type=int, default=6)
    options = options.parse_args()
    axes = {"family": tuple(own_families.SMOOTH), "n": SIZES, "dz": DIMENSIONS, "rho": CORRELATIONS}
    grid = Grid("I(X;Y|Z)", own_families.sample, axes, range(options.seeds), {"partitions": options.partitions})
    methods = {common.DEFAULT: partial(partitioned, partitions=options.partitions)}
    found = common.run_from(options, grid.tasks(methods), "partitions", methods, figures=(MOVES,), scope=ESTIMATES)
    median, largest = found[MOVES].median(), found[MOVES].max()
    common.report(
        options.output / "partitions.md",
        "# What another partition would do",
        NOTES.format(partitions=options.partitions, seeds=options.seeds),
        f"An estimate moves by {median:.2f} sampling errors (median of {len(found)} datasets), {largest:.2f} at most.",
        common.markdown(table(found)),
        "## Provenance",
        common.provenance(found),
    )


if __name__ == "__main__":
    main()

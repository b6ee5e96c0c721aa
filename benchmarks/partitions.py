"""How far answers would move with another partition into folds, and what the standard error says of it.

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
from pydine import sampling as rows
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.units.rungs import networks

FIGURES = ("moves by", "says")
SIZES, DIMENSIONS, CORRELATIONS = (300, 1000), (1, 5, 10), (0.3, 0.9)

NOTES = """
`base="gaussian"`. "moves by": the standard deviation of an estimate over {partitions} draws of the partitions and
starts, "says": what `details["uncertainty"]["algorithm"]` says of it, both as root mean squares over {seeds} datasets
of each of five families, in units of the sampling error. The factor in `bases/gaussian.py` was set on these families:
the table shows how far one factor serves all of them, and is no blind test of it.
""".strip()


def partitioned(data: Dataset, partitions: int) -> dict[str, float]:
    """How far an estimate moves with the draw, and what it says of that, in units of its sampling error."""
    answers, before = [], (rows.SEED, networks.SEED)
    for seed in range(partitions):
        rows.SEED = networks.SEED = seed
        answers.append(pydine.mutual_information(data.x, data.y, data.z, base="gaussian"))
    rows.SEED, networks.SEED = before
    parts = pd.DataFrame([answer.details["uncertainty"] for answer in answers])
    sampling = parts.sampling.mean()
    moves = np.std([answer.value for answer in answers], ddof=1) / sampling
    says = np.sqrt((parts.algorithm**2).mean()) / sampling
    return {"moves by": moves, "says": says}


def table(found: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (n, dz, rho), part in found.groupby(["n", "dz", "rho"]):
        figures = {name: float(np.sqrt((part[name] ** 2).mean())) for name in FIGURES}
        lines.append(
            {"n": n, "dz": dz, "rho": f"{rho:g}", **figures, "says / moves by": figures["says"] / figures["moves by"]}
        )
    return lines


def main() -> None:
    options = common.parser(__doc__, seeds=3)
    options.add_argument("--partitions", type=int, default=6)
    options = options.parse_args()
    axes = {"family": tuple(own_families.SMOOTH), "n": SIZES, "dz": DIMENSIONS, "rho": CORRELATIONS}
    grid = Grid("I(X;Y|Z)", own_families.sample, axes, range(options.seeds), {"partitions": options.partitions})
    methods = {common.DEFAULT: partial(partitioned, partitions=options.partitions)}
    found = common.run_from(options, grid.tasks(methods), "partitions", methods, figures=FIGURES, scope=ESTIMATES)
    median, largest = found["moves by"].median(), found["moves by"].max()
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

"""More rows, smaller errors: error, coverage and time against the number of rows, in four groups of questions.

python benchmarks/consistency.py [--seeds 1] [--sizes 300 1000 ...] [--jobs 2] [--fresh]    writes
                                                                  results/consistency.md and its CSV
"""

import common

# isort: split

import math
import warnings
from argparse import Namespace
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

import known_shapes
import mixed_tasks
import pydine
from harness.conditional import FAMILIES
from harness.conditional import sample as confounded
from harness.provenance import MIXED_ESTIMATES
from mixed_tasks import MixedData
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Outcome, Task

SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000)
FIRST_SEED = 1700  # datasets that no other benchmark has
LEAST_COVERAGE, JUDGED_FROM = 0.85, 100_000
LEAST_FALL, FROM = 4.0, 10_000  # of the mean error, from so many rows to the most

NOTES = """
Mean absolute errors in nats; "coverage" is that of nominal 95% intervals, "seconds" the mean time of a question. Each
group has {count} questions a size. Shapes: known_shapes.py, alone. Confounded: seven families at a correlation of 0.9,
given 1 and 5 columns. Mixed: columns of any kind, alone and given a number.
""".strip()


def groups() -> dict[str, dict[str, Callable[[int, int], Dataset | MixedData]]]:
    """Draws of datasets from a number of rows and a seed, by group and name."""
    return {
        "shapes": {name: partial(shape, name) for name in known_shapes.SHAPES},
        "confounded": {f"{f}, dz = {dz}": partial(family, f, dz) for f in FAMILIES for dz in (1, 5)},
        "mixed": {name: partial(mixed, name, "") for name in mixed_tasks.FAMILIES},
        "mixed, given a number": {name: partial(mixed, name, "number") for name in mixed_tasks.FAMILIES},
    }


def shape(name: str, n: int, seed: int) -> Dataset:
    return known_shapes.sample(name, n, seed)


def family(name: str, dz: int, n: int, seed: int) -> Dataset:
    return confounded(name, n, dz, 0.9, seed)


def mixed(name: str, given: str, n: int, seed: int) -> MixedData:
    return mixed_tasks.sample(name, given, n, seed)


def estimated(data: Dataset | MixedData) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pydine.mutual_information(data.x, data.y, data.z, n_jobs=1)
    return Outcome(found.value, *found.confidence_interval(0.95))


def tasks(options: Namespace) -> list[Task]:
    return [
        Task({"group": group, "name": name, "n": n, "seed": s}, partial(draw, n, s), ("dine",))
        for n in options.sizes
        for group, draws in groups().items()
        for name, draw in draws.items()
        for s in range(FIRST_SEED, FIRST_SEED + options.seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    found = []
    for n, at in rows.groupby("n"):
        line: dict[str, object] = {"rows": f"{n:,}"}
        for group, part in at.groupby("group", sort=False):
            line[group] = f"{part.abs_error.mean():.4f}"
            line[f"{group}: coverage"] = f"{part.covers.mean():.2f}"
            line[f"{group}: seconds"] = f"{part.seconds.mean():.2f}"
        found.append(line)
    return found


def bars(rows: pd.DataFrame) -> list[common.Bar]:
    found, most = [], rows.n.max()
    for group, part in rows.groupby("group", sort=False):
        errors = part.groupby("n").abs_error.mean()
        fall = errors.get(FROM, math.nan) / errors[most]
        found.append(common.Bar(f"{group}: error at {FROM:,} rows, of that at {most:,}", fall, LEAST_FALL))
        judged = part[part.n >= JUDGED_FROM].covers
        found.append(common.Bar(f"{group}: coverage from {JUDGED_FROM:,} rows on", judged.mean(), LEAST_COVERAGE))
    return found


def main() -> None:
    parser = common.parser(__doc__, seeds=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options), "consistency", {"dine": estimated}, scope=MIXED_ESTIMATES)
    outside = np.maximum(rows.low - rows.truth, 0.0) + np.maximum(rows.truth - rows.high, 0.0)
    rows = rows.assign(covers=(outside == 0.0).astype(float))
    counts = ", ".join(f"{len(draws) * options.seeds} ({group})" for group, draws in groups().items())
    common.report(
        options.output / "consistency.md",
        "# More rows, smaller errors",
        NOTES.format(count=counts),
        common.markdown(lines(rows)),
        "## Limits",
        common.bar_table(bars(rows)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

"""Dependence of any shape: the choice of a base beside the bases themselves, and what is found where there is nothing.

python benchmarks/general.py [--seeds 5] [--independent-seeds 9] [--jobs 2] [--fresh]
"""

import common
from pydine.types import FloatArray

# isort: split

import math
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from known_shapes import SHAPES, sample
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.experiments.provenance import ESTIMATES
from pydine.experiments.runner import Task

BASES = ("dine-gaussian", "dine-student", "dine-mixture", "dine-flow")
SIZES = (500, 2000, 10_000)
INDEPENDENT_SIZES, DIMENSIONS = (200, 500, 5000), (1, 3)
MEAN_LIMIT, MAX_LIMIT = 0.005, 0.05
FEWEST_INDEPENDENT = 200

NOTES = """
The default chooses a base by held-out likelihood; beside it, the bases that it chooses among. Means over the seeds, in
nats; "chosen" says how often the default's estimate was which base's, "coverage" is that of its nominal 95% intervals.
The last column is the mean absolute error of the default over that of the better of "dine-gaussian" and "dine-flow",
each judged on the same seeds. Definitions and truths: benchmarks/known_shapes.py. The estimator was developed on
families of the same kind, with other seeds and mostly other constants: this table checks it, and is no blind test.
""".strip()

INDEPENDENT_NOTES = """
X and Y have the same margins and nothing to do with each other. "student": columns within a side share a Student scale
with 2 degrees of freedom; "lognormal": exponentials of normal numbers with standard deviation 2.
""".strip()


# --- sides that are independent of each other ---


def _student(rng: Generator, n: int, d: int) -> FloatArray:
    return np.asarray(rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(2, (n, 1)) / 2))


SIDES: dict[str, Callable[[Generator, int, int], FloatArray]] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "Cauchy": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "student": _student,
    "lognormal": lambda rng, n, d: rng.lognormal(0.0, 2.0, (n, d)),
}


def independent(name: str, n: int, seed: int) -> Dataset:
    """A name is that of the margins and the columns of a side, as in "normal 3 x 3"."""
    margins, d = name.split()[0], int(name.split()[-1])
    rng = np.random.default_rng([zlib.crc32(margins.encode()), d, n, seed])
    x, y = SIDES[margins](rng, n, d), SIDES[margins](rng, n, d)
    return Dataset(margins, seed, 0.0, x, y, None, x, y, 0.0)


# --- tasks and tables ---

SHAPED = Grid("I(X;Y), I(X;Y|Z)", sample, {"name": tuple(SHAPES), "n": SIZES}, range(5), {"part": "shapes"})
NOTHING = Grid(
    "I(X;Y) = 0",
    independent,
    {"name": [f"{name} {d} x {d}" for d in DIMENSIONS for name in SIDES], "n": INDEPENDENT_SIZES},
    seeds=range(9),
    labels={"part": "independent"},
)


def tasks(seeds: int, independent_seeds: int) -> list[Task]:
    shaped = replace(SHAPED, seeds=range(seeds)).tasks(("dine", *BASES))
    return shaped + replace(NOTHING, seeds=range(independent_seeds)).tasks(("dine", "dine-gaussian"))


def of(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    return rows[rows.method == method].sort_values("seed")


def chosen(rows: pd.DataFrame) -> str:
    """How often the default took which base: that whose estimate it gave, to the six digits that are kept."""
    default = of(rows, "dine").estimate.to_numpy()
    counts = {base: int((of(rows, base).estimate.to_numpy() == default).sum()) for base in BASES}
    return ", ".join(f"{base.removeprefix('dine-')} {count}" for base, count in counts.items() if count)


def shape_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (name, n), part in rows.groupby(["name", "n"], sort=False):
        line: dict[str, object] = {"shape": name, "n": n, "truth": part.truth.iloc[0]}
        line |= {method: of(part, method).estimate.mean(skipna=False) for method in ("dine", *BASES)}
        error = common.mean_abs_error(part, "dine")
        better = min(common.mean_abs_error(part, base) for base in ("dine-gaussian", "dine-flow"))
        line |= {"chosen": chosen(part), "coverage": common.coverage(part)}
        lines.append(line | {"error": error, "error / better": error / better})
    return lines


def size_table(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """All shapes together, by sample size: how far the default is from the truth and from the better base."""
    if not lines:
        return []
    frame = pd.DataFrame(lines)
    off = (frame["dine"] / frame.truth - 1).abs()
    frame = frame.assign(off=off, times=np.log(frame["error / better"]))
    return [
        {
            "n": n,
            "mean absolute error": part.error.mean(skipna=False),
            "coverage": part.coverage.mean(),
            "error / better, geometric mean": math.exp(part.times.mean(skipna=False)),
            "shapes off by more than a fifth": f"{(~(part.off <= 0.2)).sum()} of {len(part)}",
        }
        for n, part in frame.groupby("n")
    ]


def independent_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (name, n), part in rows.groupby(["name", "n"]):
        default, gaussian = of(part, "dine").estimate, of(part, "dine-gaussian").estimate
        lines.append(
            {
                "margins": name,
                "n": n,
                "datasets": len(default),
                "mean": default.mean(skipna=False),
                "max": default.max(skipna=False),
                "base other than gaussian": int((default.to_numpy() != gaussian.to_numpy()).sum()),
                "mean of gaussian": gaussian.mean(skipna=False),
                "coverage": common.coverage(part),
            }
        )
    return lines


def bars(rows: pd.DataFrame) -> list[common.Bar]:
    found = of(rows, "dine").estimate
    if len(found) < FEWEST_INDEPENDENT:
        found = pd.Series([math.nan])
    name = f"independent data, at least {FEWEST_INDEPENDENT} datasets"
    return [
        common.Bar(f"{name}: mean, nats", found.mean(skipna=False), high=MEAN_LIMIT),
        common.Bar(f"{name}: max, nats", found.max(skipna=False), high=MAX_LIMIT),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=len(SHAPED.seeds))
    parser.add_argument(
        "--independent-seeds", type=int, default=len(NOTHING.seeds), help="datasets a row (default: %(default)s)"
    )
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options.seeds, options.independent_seeds), "general", scope=ESTIMATES)
    shaped, nothing = rows[rows.part == "shapes"], rows[rows.part == "independent"]
    table = shape_table(shaped)
    common.report(
        options.output / "general.md",
        "# Dependence of any shape",
        NOTES,
        "## Bars",
        common.bar_table(bars(nothing)),
        "## By sample size",
        common.markdown(size_table(table)),
        "## Each shape",
        common.markdown(table),
        "## Independent data",
        INDEPENDENT_NOTES,
        common.markdown(independent_table(nothing)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

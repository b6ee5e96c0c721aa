"""Mesner and Shalizi's nine tasks of columns of mixed kinds, beside the errors that its authors publish.

python benchmarks/public_mesner.py [--seeds 100] [--part] [--jobs 2] [--fresh] [--renew]    writes
                                                                results/public_mesner.md and its CSV

The tasks are those of https://github.com/omesner/knncmi, written anew from the paper (`mixed_tasks.py`). Published
errors are computed from the file of results there. With --part: a quarter of the datasets.
"""

import common

# isort: split

import math
from functools import partial

import pandas as pd

from harness.provenance import MIXED_ESTIMATES
from mixed import by_neighbours, estimated
from mixed_tasks import PUBLISHED, published_sample
from pydine.experiments.runner import Task

N_ROWS, SHARE = 1000, 4
OURS, AGAIN = "dine", "mixed_neighbours"
TASKS = {
    1: "x, y normal, r = 0.8; z independent",
    2: "all three independent and normal",
    3: "x, y normal, independent given z",
    4: "x, y signs that agree in 0.8; z a count",
    5: "a count and a count, independent",
    6: "counts, independent given z from 1 to 10",
    7: "half normal, half signs; z a count",
    8: "x of three values, y uniform on [x, x + 2]",
    9: "exponential, Poisson and binomial: x, y independent given z",
}
OTHERS = {  # root mean square errors at n = 1000, in nats
    "FP": (0.086, 0.063, 0.068, 2.241, 2.305, 1.569, 0.777, 0.112, 0.639),
    "RAVK 1": (0.102, 0.071, 0.079, 0.039, 0.324, 1.589, 0.198, 0.243, 0.556),
    "RAVK 2": (0.102, 0.071, 0.079, 0.025, 0.036, 0.035, 0.071, 0.187, 0.098),
}

NOTES = f"""
Root mean square errors in nats at n = {N_ROWS}; ± is the standard error of ours. "Mesner-Shalizi" is the authors' own
estimator and "FP" (nearest neighbours for continuous columns), "RAVK 1" and "RAVK 2" are those beside it, all as
published; "neighbours again" is this package's version of the former, run on the datasets of ours. Their estimates are
cut at 0, which flatters them where the truth is 0; ours are not cut. "cover": how often a 95% interval holds the truth.
""".strip()


def tasks(seeds: int) -> list[Task]:
    return [
        Task({"task": k, "seed": seed}, partial(published_sample, k, N_ROWS, seed), (OURS, AGAIN))
        for k in PUBLISHED
        for seed in range(seeds)
    ]


def root_mean_square(errors: pd.Series) -> tuple[float, float]:
    """Of errors, with its standard error."""
    squares = errors.to_numpy() ** 2
    root = math.sqrt(squares.mean())
    if root == 0.0 or len(squares) == 1:
        return root, 0.0
    return root, float(squares.std(ddof=1)) / (2.0 * root * math.sqrt(len(squares)))


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for task, part in rows.groupby("task"):
        own, again = (part[part.method == method] for method in (OURS, AGAIN))
        error, noise = root_mean_square(own.bias)
        line: dict[str, object] = {"task": TASKS[int(str(task))], "truth": float(own.truth.iloc[0])}
        line |= {"pydine": error, "±": noise, "Mesner-Shalizi": PUBLISHED[int(str(task))]}
        line |= {name: figures[int(str(task)) - 1] for name, figures in OTHERS.items()}
        line |= {"neighbours again": root_mean_square(again.bias)[0], "cover": common.coverage(part)}
        found.append(line | {"datasets": len(own)})
    return found


def main() -> None:
    parser = common.parser(__doc__, seeds=100)
    parser.add_argument("--part", action="store_true", help="a quarter of the datasets")
    options = parser.parse_args()
    seeds = options.seeds // SHARE if options.part else options.seeds
    methods = {OURS: estimated, AGAIN: by_neighbours}
    rows = common.run_from(options, tasks(seeds), "public_mesner", methods, scope=MIXED_ESTIMATES)
    common.report(
        options.output / "public_mesner.md",
        "# Mesner and Shalizi: columns of mixed kinds",
        common.markdown(lines(rows)),
        NOTES,
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

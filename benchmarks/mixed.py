"""Columns of any kind: the published tasks, and other families with known truth, beside nearest neighbours.

python benchmarks/mixed.py [--seeds 100] [--sizes 500 2000] [--family-seeds 24] [--jobs 2] [--fresh]    writes
                                                                        results/mixed.md and its CSV
"""

import common

# isort: split

from functools import partial

import numpy as np
import pandas as pd

import pydine
from harness.provenance import MIXED_ESTIMATES
from mixed_tasks import FAMILIES, GIVEN, PUBLISHED, MixedData, published_sample, sample
from pydine.baselines.mixed_neighbours import mixed_neighbours
from pydine.experiments.runner import Outcome, Task

PUBLISHED_SIZES = 300, 1000
METHODS = "dine", "mixed_neighbours"
MORE_WITHOUT_Z = 4  # datasets of a family without z, for each one with z: these take little time
LEAST_COVERAGE, SHARE_OF_BIAS, LARGEST_BIAS = 0.88, 0.05, 0.015

NOTES = """
Root mean square errors in nats. "theirs": of the authors' own estimator, from their result file (n = 1000). Estimates
of nearest neighbours are cut at 0, which flatters them where the truth is 0; ours are not.
Two standard errors of a coverage of 0.95 are 0.04 with 100 datasets, and 0.02 with 400.
"beyond": datasets in which an estimate is above the entropy of a discrete side.
Truths are exact sums or quadratures (`mixed_tasks.py`).
""".strip()


def estimated(data: MixedData) -> Outcome:
    found = pydine.mutual_information(data.x, data.y, data.z, n_jobs=1)
    beyond = found.value - min(found.entropies)  # excess over a discrete side's entropy; -inf if neither is discrete
    return Outcome(found.value, *found.confidence_interval(0.95), beyond if np.isfinite(beyond) else float("nan"))


def by_neighbours(data: MixedData) -> Outcome:
    sides = [None if part is None else _numbers(part) for part in (data.x, data.y, data.z)]
    return Outcome(mixed_neighbours(*sides))


def _numbers(part):
    """Columns as numbers, labels as indicators, numbers of unit variance; shape (n, d)."""
    if isinstance(part, dict):
        return np.hstack([_numbers(column) for column in part.values()])
    if part.dtype.kind == "U":
        return (part[:, None] == np.unique(part)).astype(float)
    values = part.astype(float).reshape(len(part), -1)
    return values if len(np.unique(values)) < len(values) else values / values.std(axis=0)


def tasks(seeds: int, sizes: list[int], family_seeds: int) -> list[Task]:
    """The published tasks and the families, with so many datasets of each."""
    found = [
        Task({"family": f"task {k}", "given": "z", "n": n, "seed": s}, partial(published_sample, k, n, s), METHODS)
        for k in PUBLISHED
        for n in PUBLISHED_SIZES
        for s in range(seeds)
    ]
    return found + [
        Task({"family": name, "given": given, "n": n, "seed": s}, partial(sample, name, given, n, s), METHODS)
        for name in FAMILIES
        for given in GIVEN
        for n in sizes
        for s in range(family_seeds if given else MORE_WITHOUT_Z * family_seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    table = []
    for (family, given, n), part in rows.groupby(["family", "given", "n"], sort=False):
        ours, theirs = (part[part.method == method] for method in METHODS)
        task = int(family.split()[1]) if family.startswith("task ") else 0
        published = PUBLISHED[task] if task and n == 1000 else float("nan")
        table.append(
            {
                "family": family,
                "given": given,
                "n": n,
                "datasets": len(ours),
                "truth": float(ours.truth.iloc[0]),
                "bias": float(ours.bias.mean()),
                "error": float(np.sqrt((ours.bias**2).mean())),
                "neighbours": float(np.sqrt((theirs.bias**2).mean())),
                "theirs": published,
                "coverage": common.coverage(part),
                "beyond": int((ours.score > 1e-9).sum()),
                "seconds": float(ours.seconds.median()),
            }
        )
    return table


def bars(table: pd.DataFrame) -> list[common.Bar]:
    published = table[table.theirs.notna()]
    ratios = published.error / published.theirs
    small = table[table.family.str.startswith("task ") & (table.n == min(PUBLISHED_SIZES))]
    # Cut at 0, estimates of neighbours are often exact where the truth is 0: compared only where it is not.
    beside = (small.error / small.neighbours)[small.truth > 0.0]
    others = table[~table.family.str.startswith("task ")]
    biased = others.bias.abs() > np.maximum(SHARE_OF_BIAS * others.truth, LARGEST_BIAS)
    return [
        common.Bar("tasks within 1.05 of the authors' error", float((ratios <= 1.05).sum()), low=8),
        common.Bar("largest ratio to the authors' error", float(ratios.max()), high=1.3),
        common.Bar("tasks with information, n = 300: within 1.05 of neighbours", float((beside <= 1.05).sum()), low=4),
        common.Bar("tasks with information, n = 300: largest ratio to neighbours", float(beside.max()), high=1.3),
        common.Bar("estimates above the entropy of a discrete side", float(table.beyond.sum()), high=0),
        common.Bar("families with a bias above 5% and 0.015 nats", float(biased.sum()), high=0),
        common.Bar("least coverage of the families", float(others.coverage.min()), low=LEAST_COVERAGE),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000])
    parser.add_argument(
        "--family-seeds", type=int, default=24, help="datasets of a family with z (default: %(default)s)"
    )
    options = parser.parse_args()
    methods = {"dine": estimated, "mixed_neighbours": by_neighbours}
    planned = tasks(options.seeds, options.sizes, options.family_seeds)
    rows = common.run_from(options, planned, "mixed", methods, scope=MIXED_ESTIMATES)
    table = lines(rows)
    common.report(
        options.output / "mixed.md",
        "# Columns of any kind",
        common.bar_table(bars(pd.DataFrame(table))),
        common.markdown(table),
        NOTES,
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

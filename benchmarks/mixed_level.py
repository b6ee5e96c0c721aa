"""Level of the test on columns of any kind: null families in which both sides follow z.

python benchmarks/mixed_level.py [--seeds 200] [--jobs 2] [--fresh]    writes results/mixed_level.md and its CSV
"""

import common

# isort: split

from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

import pydine
from mixed_nulls import FAMILIES, sample
from mixed_tasks import MixedData
from pydine.experiments.runner import Outcome, Task

SIZES, ALPHA, BINS = (500, 1000), 0.05, 4
METHODS = "dine", "bins"

NOTES = """
Share of {seeds} datasets of each family in which independence is rejected at 5%, though it holds. "bins": a chi-squared
test of the columns in at most {bins} bins each, added up over the cells of z. Two standard errors of 0.05 are
{error:.3f}.
""".strip()


def tested(data: MixedData) -> Outcome:
    z = pd.DataFrame(data.z) if isinstance(data.z, dict) else data.z
    return Outcome(pydine.independence_test(data.x, data.y, z, method="analytic", n_jobs=1).pvalue)


def binned(data: MixedData) -> Outcome:
    """Pearson's statistics of x and y within cells of z, summed."""
    from scipy.stats import chi2

    parts = list(data.z.values()) if isinstance(data.z, dict) else [] if data.z is None else _columns(data.z)
    cells = _bins(np.zeros(len(data.x)))
    for part in parts:
        cells = np.unique(cells * BINS * 10 + _bins(part), return_inverse=True)[1]
    statistic, freedom = 0.0, 0
    for cell in np.unique(cells):
        table = pd.crosstab(_bins(data.x)[cells == cell], _bins(data.y)[cells == cell]).to_numpy()
        if min(table.shape) > 1:
            found = chi2_contingency(table, correction=False)
            statistic, freedom = statistic + found.statistic, freedom + found.dof
    return Outcome(float(chi2.sf(statistic, freedom)) if freedom else 1.0)


def _columns(z):
    return list(z.T) if z.ndim == 2 else [z]


def _bins(column):
    levels, codes = np.unique(column, return_inverse=True)
    return codes if len(levels) <= 2 * BINS else pd.qcut(column, BINS, labels=False, duplicates="drop")


def main() -> None:
    options = common.parser(__doc__, seeds=200).parse_args()
    tasks = [
        Task({"family": name, "n": n, "seed": s}, partial(sample, name, n, s), METHODS)
        for name in FAMILIES
        for n in SIZES
        for s in range(options.seeds)
    ]
    rows = common.run_from(options, tasks, "mixed_level", {"dine": tested, "bins": binned})
    table = [
        {
            "family": family,
            "n": n,
            **{method: float((part[part.method == method].estimate <= ALPHA).mean()) for method in METHODS},
            "seconds": float(part[part.method == "dine"].seconds.median()),
        }
        for (family, n), part in rows.groupby(["family", "n"], sort=False)
    ]
    levels = np.array([line["dine"] for line in table])
    bars = [
        common.Bar("least level", float(levels.min()), low=0.02),
        common.Bar("largest level", float(levels.max()), high=0.09),
        common.Bar("mean level", float(levels.mean()), 0.04, 0.06),
    ]
    error = 2.0 * np.sqrt(ALPHA * (1 - ALPHA) / options.seeds)
    common.report(
        options.output / "mixed_level.md",
        "# Level on columns of any kind",
        common.bar_table(bars),
        common.markdown(table),
        NOTES.format(seeds=options.seeds, bins=BINS, error=error),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

"""Coverage of nominal 95% intervals on the paper's cells, on datasets that are independent of each other.

python benchmarks/intervals.py [--seeds 60] [--jobs 2] [--fresh]
"""

import common

# isort: split

from functools import partial

from accuracy import COVERAGE, DRAWS
from pydine.experiments.datasets import CELLS, CORRELATIONS

FIRST_SEED = 1000  # beyond the paper's own seeds

NOTES = """
The recipe of the paper's datasets with seeds of their own for every correlation (7 correlations x the seeds a cell), so
that no two datasets share draws. The noise of a share of 0.95 over 420 datasets is 0.011.
""".strip()


def tasks(seeds: int) -> list[common.Task]:
    grid = [
        (kind, n, d, rho, FIRST_SEED + 1000 * i + seed)
        for kind in DRAWS
        for n, d in CELLS
        for i, rho in enumerate(CORRELATIONS)
        for seed in range(seeds)
    ]
    grid.sort(key=lambda g: -g[1] * g[2])
    return [
        common.Task(
            key={"kind": kind, "n": n, "d": d, "rho": rho, "seed": seed},
            draw=partial(DRAWS[kind], n, d, rho, seed),
            methods=("default", "oracle"),
        )
        for kind, n, d, rho, seed in grid
    ]


def main() -> None:
    options = common.parser(__doc__, seeds=60, methods=("default", "oracle")).parse_args()
    rows = common.run_from(options, tasks(options.seeds), "intervals")
    table, bars = [], []
    for (kind, n, d), cell in rows.groupby(["kind", "n", "d"], sort=True):
        name, covered = f"{kind.upper()} ({n}, {d})", common.coverage(cell)
        table.append(
            {
                "cell": name,
                "datasets": int((cell.method == "default").sum()),
                "coverage": covered,
                "coverage, rho != 0": common.coverage(cell[cell.rho != 0]),
                "default / oracle": common.mean_abs_error(cell, "default") / common.mean_abs_error(cell, "oracle"),
            }
        )
        bars.append(common.Bar(f"5. {name}: coverage", covered, low=COVERAGE[0], high=COVERAGE[1]))
    common.report(
        options.output / "intervals.md",
        "# Coverage of nominal 95% intervals",
        NOTES,
        common.markdown(table),
        "## Bars",
        common.bar_table(bars),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

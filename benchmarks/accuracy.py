"""Accuracy on the paper's own datasets, beside its authors' figures.

python benchmarks/accuracy.py [--seeds 50] [--paper-seeds 10] [--jobs 2] [--fresh]
"""

import common

# isort: split

from functools import partial
from pathlib import Path

import pandas as pd

from pydine.experiments.datasets import CELLS, CORRELATIONS, SEEDS, paper_cmi, paper_mi

DRAWS = {"mi": paper_mi, "cmi": paper_cmi}
METHODS = ("default", "paper", "copula", "oracle", "oracle-latents")
RATIO_TO_ORACLE = {"mi": 1.4, "cmi": 1.6}
PAPER_TO_AUTHORS = 1.25
COVERAGE = (0.90, 0.98)
AUTHORS = Path(__file__).parent / "authors_dine.csv"

NOTES = """
Mean absolute errors in nats over 7 correlations x the seeds, on the authors' own datasets. `default` is
`pydine.mutual_information`, `paper` is `pydine.DINE.paper()`, on fewer seeds. `copula`: normal scores, z
projected out linearly, nothing trained. `oracle`: the closed form on the true latents, z projected out as an
estimator must that is safe against a linear effect of z; `oracle-latents`: not projected, stricter still.
`authors`: the estimates that they published, on the same seeds as the column to its left.
Coverage is that of nominal 95% intervals. Their ends are raised to zero where they are negative, so that an
interval misses less easily where rho = 0: the column beside it leaves rho = 0 out. The datasets of a cell are not
independent of each other: the seven correlations share 50 seeds, and so the draws of the latents. How much of a
coverage is the luck of those seeds shows beside it, in the coverage of the oracle with its true standard error;
`intervals.py` repeats the figure on independent datasets.
""".strip()


def tasks(seeds: int, paper_seeds: int, methods: list[str]) -> list[common.Task]:
    grid = [
        (kind, n, d, rho, seed) for kind in DRAWS for n, d in CELLS for rho in CORRELATIONS for seed in range(seeds)
    ]
    grid.sort(key=lambda g: -g[1] * g[2])  # the longest first, so that no process is left with one at the end
    return [
        common.Task(
            key={"kind": kind, "n": n, "d": d, "rho": rho, "seed": seed},
            draw=partial(DRAWS[kind], n, d, rho, seed),
            methods=tuple(m for m in methods if seed < paper_seeds or m != "paper"),
        )
        for kind, n, d, rho, seed in grid
    ]


def authors() -> pd.DataFrame:
    """The authors' rows, with the errors of their estimates."""
    rows = pd.read_csv(AUTHORS)
    truth = [DRAWS["mi"](2, d, rho, 0).truth for d, rho in zip(rows.d, rows.rho, strict=True)]
    return rows.assign(method="authors", abs_error=(rows.estimate - truth).abs())


def cell_rows(rows: pd.DataFrame, published: pd.DataFrame, kind: str) -> list[dict[str, object]]:
    table = []
    for n, d in CELLS:
        cell, theirs = (frame[(frame.kind == kind) & (frame.n == n) & (frame.d == d)] for frame in (rows, published))
        error = {method: common.mean_abs_error(cell, method) for method in METHODS}
        on_default = theirs[theirs.seed.isin(cell.seed[cell.method == "default"])]
        on_paper = theirs[theirs.seed.isin(cell.seed[cell.method == "paper"])]
        authors_default = common.mean_abs_error(on_default, "authors")
        authors_paper = common.mean_abs_error(on_paper, "authors")
        table.append(
            {
                "n, d": f"{n}, {d}",
                "datasets": int((cell.method == "default").sum()),
                "default": error["default"],
                "authors": authors_default,
                "copula": error["copula"],
                "oracle": error["oracle"],
                "default / oracle": error["default"] / error["oracle"],
                "default / oracle-latents": error["default"] / error["oracle-latents"],
                "authors / oracle": authors_default / error["oracle"],
                "bias of default": common.mean_bias(cell, "default"),
                "coverage": common.coverage(cell),
                "coverage, rho != 0": common.coverage(cell[cell.rho != 0]),
                "oracle's, rho != 0": oracle_coverage(cell[cell.rho != 0]),
                "paper": error["paper"],
                "authors, same seeds": authors_paper,
                "paper / authors": error["paper"] / authors_paper,
            }
        )
    return table


def oracle_coverage(rows: pd.DataFrame) -> float:
    """Coverage of the oracle's 95% intervals with the standard error that it truly has to first order."""
    oracle = rows[rows.method == "oracle"]
    return float((oracle.abs_error < 1.96 * oracle.rho.abs() * (oracle.d / oracle.n) ** 0.5).mean())


def strength_rows(rows: pd.DataFrame) -> list[dict[str, object]]:
    """The default by strength of the dependence."""
    table = []
    for (kind, n, d), cell in rows.groupby(["kind", "n", "d"], sort=True):
        entry: dict[str, object] = {"cell": f"{kind} {n}, {d}"}
        for strength, part in cell.groupby(cell.rho.abs()):
            ratio = common.mean_abs_error(part, "default") / common.mean_abs_error(part, "oracle")
            entry[f"rho ±{strength:g}"] = f"{ratio:.2f} ({100 * common.coverage(part):.0f}%)"
        table.append(entry)
    return table


def bars(cells: dict[str, list[dict[str, object]]]) -> list[common.Bar]:
    found = []
    for number, kind in ((1, "mi"), (2, "cmi")):
        for cell in cells[kind]:
            name = f"{number}. {kind.upper()} ({cell['n, d']}): default / oracle"
            found.append(common.Bar(name, cell["default / oracle"], high=RATIO_TO_ORACLE[kind]))
    for kind, table in cells.items():
        for cell in table:
            name = f"3. {kind.upper()} ({cell['n, d']}): paper / authors"
            found.append(common.Bar(name, cell["paper / authors"], high=PAPER_TO_AUTHORS))
    for kind, table in cells.items():
        for cell in table:
            name = f"5. {kind.upper()} ({cell['n, d']}): coverage"
            found.append(common.Bar(name, cell["coverage"], low=COVERAGE[0], high=COVERAGE[1]))
    return found


def main() -> None:
    parser = common.parser(__doc__, seeds=len(SEEDS), methods=METHODS)
    parser.add_argument("--paper-seeds", type=int, default=10, help="seeds of `paper` (default: %(default)s)")
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options.seeds, options.paper_seeds, options.methods), "accuracy")
    published = authors()
    cells = {kind: cell_rows(rows, published, kind) for kind in DRAWS}
    common.report(
        options.output / "accuracy.md",
        "# The paper's datasets",
        NOTES,
        "## I(X;Y)",
        common.markdown(cells["mi"]),
        "## I(X;Y|Z), dz = d",
        common.markdown(cells["cmi"]),
        "## By strength: error of the default / the oracle's (coverage)",
        common.markdown(strength_rows(rows)),
        "## Bars",
        common.bar_table(bars(cells)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

"""Accuracy on the paper's own datasets, beside its authors' figures, and coverage on independent ones.

python benchmarks/accuracy.py [--seeds 50] [--paper-seeds 10] [--jobs 2] [--fresh]

It shares its rows with `pydine bench mi` and `pydine bench cmi`: what either has run, the other finds. Rows on
independent datasets are added by benchmarks/intervals.py.
"""

import common

# isort: split

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from harness.confirmation import read_confirmed
from harness.provenance import ESTIMATES
from pydine.experiments.datasets import CELLS, CORRELATIONS, DIMENSIONS, SAMPLE_SIZES, SEEDS, gaussian_truth
from pydine.experiments.grids import grid

KINDS = ("mi", "cmi")
METHODS = ("dine", "dine-paper", "copula", "oracle", "oracle-latents")
PAPER_SEEDS = 10
FIRST_SEED = 1000  # of the independent datasets: beyond the paper's own seeds
COVERAGE = (0.90, 0.98)
AUTHORS = Path(__file__).parent / "authors_dine.csv"

NOTES = """
Mean absolute errors in nats over 7 correlations x the seeds, on the authors' own datasets. `dine` is
`pydine.mutual_information`, `dine-paper` is `pydine.DINE.paper()`. `copula`: normal scores, z projected out linearly,
nothing trained. `oracle`: the closed form on the true latents, with z projected out, as in every estimator that guards
against a linear effect of z; `oracle-latents`: without that projection, a stricter reference. `authors`: the estimates
that they published, on the same seeds as the column to its left.
Coverage is that of nominal 95% intervals. Negative limits are set to zero, so intervals cover the truth more easily
where rho = 0; the next column leaves rho = 0 out. The datasets of a cell are not independent of each other: the seven
correlations share 50 seeds, and so the draws of the latents. How much of a coverage is due to these seeds can be seen
from the coverage of the oracle with its true standard error, in the column beside it, and from the last table, in which
no two datasets share draws.
""".strip()

INDEPENDENT_NOTES = """
Datasets drawn as in the paper, but with different seeds for every correlation (`intervals.py`), so that no two share
draws. The standard error of a coverage of 0.95 is 0.029 with 56 datasets, and 0.011 with 420.
""".strip()


# --- the rows ---


def paper_rows(options: Namespace, seeds: int, methods: Sequence[str] = METHODS) -> pd.DataFrame | None:
    """Run the paper's two experiments, `dine-paper` on fewer seeds; None without seeds."""
    if not seeds:
        return None
    found = []
    for kind in KINDS:
        tasks = grid(kind, seeds).tasks(method for method in methods if method != "dine-paper")
        if "dine-paper" in methods:
            tasks += grid(kind, min(seeds, options.paper_seeds)).tasks(["dine-paper"])
        # Oracle and copula are kept here, unlike elsewhere: `pydine bench` has them in the same table.
        rows = common.run_from(options, tasks, kind, transient=frozenset({"oracle-latents"}), scope=ESTIMATES)
        found.append(rows.assign(kind=kind))
    return pd.concat(found)


def independent_rows(options: Namespace, seeds: int) -> pd.DataFrame | None:
    """Run the same cells on datasets that share no draws; None without seeds."""
    if not seeds:
        return None
    parts = [
        replace(
            grid(kind), axes={"n": SAMPLE_SIZES, "d": DIMENSIONS, "rho": (rho,)}, labels={"kind": kind},
            seeds=range(FIRST_SEED + 1000 * i, FIRST_SEED + 1000 * i + seeds),
        )
        for kind in KINDS
        for i, rho in enumerate(CORRELATIONS)
    ]  # fmt: skip
    return common.run_from(
        options, [task for part in parts for task in part.tasks(("dine", "oracle"))], "intervals", scope=ESTIMATES
    )


def seeds_kept(output: Path, *names: str) -> int:
    """The least number of seeds that a cell of these tables has; 0 if a table is missing."""
    counts = []
    for name in names:
        path = output / f"{name}.csv"
        rows = pd.DataFrame(read_confirmed(path)) if path.exists() else pd.DataFrame(columns=["method"])
        rows = rows[rows.method == "dine"]
        counts.append(int(rows.groupby(["n", "d", "rho"]).seed.nunique().min()) if len(rows) else 0)
    return min(counts)


def authors() -> pd.DataFrame:
    """The authors' rows, with the errors of their estimates."""
    rows = pd.read_csv(AUTHORS)
    truth = [gaussian_truth(d, rho) for d, rho in zip(rows.d, rows.rho, strict=True)]
    return rows.assign(method="authors", abs_error=(rows.estimate - truth).abs())


# --- the tables ---


def cell_rows(rows: pd.DataFrame, published: pd.DataFrame, kind: str) -> list[dict[str, object]]:
    table = []
    for n, d in CELLS:
        cell, theirs = (part[(part.kind == kind) & (part.n == n) & (part.d == d)] for part in (rows, published))
        error = {method: common.mean_abs_error(cell, method) for method in METHODS}
        on_default, on_paper = (
            common.mean_abs_error(theirs[theirs.seed.isin(cell.seed[cell.method == method])], "authors")
            for method in ("dine", "dine-paper")
        )
        table.append(
            {
                "n, d": f"{n}, {d}",
                "datasets": int((cell.method == "dine").sum()),
                "dine": error["dine"],
                "authors": on_default,
                "copula": error["copula"],
                "oracle": error["oracle"],
                "dine / oracle": error["dine"] / error["oracle"],
                "dine / oracle-latents": error["dine"] / error["oracle-latents"],
                "authors / oracle": on_default / error["oracle"],
                "bias of dine": common.mean_bias(cell, "dine"),
                "coverage": common.coverage(cell),
                "coverage, rho != 0": common.coverage(cell[cell.rho != 0]),
                "oracle's, rho != 0": oracle_coverage(cell[cell.rho != 0]),
                "dine-paper": error["dine-paper"],
                "authors, same seeds": on_paper,
                "dine-paper / authors": error["dine-paper"] / on_paper,
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
            ratio = common.mean_abs_error(part, "dine") / common.mean_abs_error(part, "oracle")
            entry[f"rho ±{strength:g}"] = f"{ratio:.2f} ({100 * common.coverage(part):.0f}%)"
        table.append(entry)
    return table


def coverage_rows(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Coverage and error by cell, on datasets that are independent of each other."""
    return [
        {
            "cell": f"{kind.upper()} ({n}, {d})",
            "datasets": int((cell.method == "dine").sum()),
            "coverage": common.coverage(cell),
            "coverage, rho != 0": common.coverage(cell[cell.rho != 0]),
            "dine / oracle": common.mean_abs_error(cell, "dine") / common.mean_abs_error(cell, "oracle"),
        }
        for (kind, n, d), cell in rows.groupby(["kind", "n", "d"], sort=True)
    ]


def cell_bars(cells: dict[str, list[dict[str, object]]]) -> list[common.Bar]:
    limits = {
        "dine / oracle": {"mi": (1, -math.inf, 1.4), "cmi": (2, -math.inf, 1.6)},
        "dine-paper / authors": dict.fromkeys(KINDS, (3, -math.inf, 1.25)),
        "coverage": dict.fromkeys(KINDS, (5, *COVERAGE)),
    }
    found = []
    for measure, by_kind in limits.items():
        for kind, (number, low, high) in by_kind.items():
            for cell in cells[kind]:
                name = f"{number}. {kind.upper()} ({cell['n, d']}): {measure}"
                found.append(common.Bar(name, cell[measure], low, high))
    return found


# --- the report ---


def paper_sections(rows: pd.DataFrame) -> tuple[list[str], list[common.Bar], str]:
    published = authors()
    cells = {kind: cell_rows(rows, published, kind) for kind in KINDS}
    sections = ["## I(X;Y)", common.markdown(cells["mi"]), "## I(X;Y|Z), dz = d", common.markdown(cells["cmi"])]
    title = "## By strength: error of dine / the oracle's (coverage)"
    return [*sections, title, common.markdown(strength_rows(rows))], cell_bars(cells), common.provenance(rows)


def independent_sections(rows: pd.DataFrame) -> tuple[list[str], list[common.Bar], str]:
    table = coverage_rows(rows)
    found = [common.Bar(f"5. {cell['cell']}: coverage, independent", cell["coverage"], *COVERAGE) for cell in table]
    title = "## Coverage on independent datasets"
    return [title, INDEPENDENT_NOTES, common.markdown(table)], found, common.provenance(rows)


def write(output: Path, rows: pd.DataFrame | None, independent: pd.DataFrame | None) -> None:
    """Report on the paper's datasets and on independent ones, as far as they have been run."""
    parts = [paper_sections(rows)] if rows is not None else []
    parts += [independent_sections(independent)] if independent is not None else []
    common.report(
        output / "accuracy.md",
        "# The paper's datasets",
        NOTES,
        *(section for sections, _, _ in parts for section in sections),
        "## Bars",
        common.bar_table([bar for _, bars, _ in parts for bar in bars]),
        "## Provenance",
        *(origins for _, _, origins in parts),
    )


def main() -> None:
    parser = common.parser(__doc__, seeds=len(SEEDS), methods=METHODS)
    parser.add_argument("--paper-seeds", type=int, default=PAPER_SEEDS, help="of `dine-paper` (default: %(default)s)")
    options = parser.parse_args()
    rows = paper_rows(options, options.seeds, options.methods)
    write(options.output, rows, independent_rows(options, seeds_kept(options.output, "intervals")))


if __name__ == "__main__":
    main()

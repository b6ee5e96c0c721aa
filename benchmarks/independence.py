"""The test of conditional independence: its level and its power, beside RCIT and KCI of causal-learn.

python benchmarks/independence.py [--seeds 200] [--confounded-seeds 200] [--jobs 2] [--fresh]
    [--parts paper confounded shapes uniform] [--sizes 500 1000 5000]
"""

import common

# isort: split

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kstest
from sklearn.metrics import f1_score, roc_auc_score

from pydine.experiments.conditional import FAMILIES, SHAPES, sample, shaped_sample
from pydine.experiments.datasets import paper_cit
from pydine.experiments.runner import read
from pydine.show.plotting import new_axes

LEVEL = 0.05
PARTS = ("paper", "confounded", "shapes", "uniform")
SIZES, DIMENSIONS, WEAK = (500, 1000, 5000), (1, 5, 10), 0.2
PAPER_DIMENSIONS = (5, 8, 11, 14, 17, 20)
FIRST_SEED = 10_000  # of the datasets whose p-values are to be uniform

NOTES = """
P-values at the level 0.05. `test` is `pydine.independence_test`, by permutation (199; 100 on the paper's datasets);
`analytic` is its other method on the same latents. `rcit`, `kci`: causal-learn's, with their defaults, on a quarter of
the datasets at n = 1000, dz = 5. AUC is that of the analytic p-values: with 100 permutations all strong dependence
shares the p-value 1/101 with the extremes of independence, which the last AUC shows. A share of 0.05 has a noise of
0.015 over 200 datasets, of 0.034 over 40.
""".strip()


def tasks(parts: list[str], seeds: int, confounded_seeds: int, sizes: list[int]) -> list[common.Task]:
    found = []

    def add(part, family, n, dz, rho, seed, draw, methods):
        key = {"part": part, "family": family, "n": n, "dz": dz, "rho": rho, "seed": seed}
        found.append(common.Task(key, draw, methods))

    for dz in PAPER_DIMENSIONS:
        for i in [*range(seeds // 2), *range(100, 100 + seeds // 2)]:  # the paper's first 100 are independent
            add("paper", "paper", 1000, dz, float(i >= 100), i, partial(paper_cit, i, dz), ("test-100",))
    for n, dz, family in ((n, dz, f) for n in sizes for dz in DIMENSIONS for f in FAMILIES):
        for rho in (0.0, WEAK) if n == 1000 else (0.0,):
            for seed in range(confounded_seeds):
                compared = rho == 0.0 and n == 1000 and dz == 5 and seed < max(confounded_seeds // 4, 20)
                peers = ("rcit", "kci") if compared else ()
                draw = partial(sample, family, n, dz, rho, seed)
                add("confounded", family, n, dz, rho, seed, draw, ("test", *peers))
    for shape in SHAPES:
        for seed in range(seeds):
            add("shapes", shape, 1000, 3, 0.0, seed, partial(shaped_sample, shape, 1000, 3, seed), ("test",))
    names = list(FAMILIES)
    for i in range(500):
        family = names[i % len(names)]
        draw = partial(sample, family, 1000, 5, 0.0, FIRST_SEED + i)
        add("uniform", family, 1000, 5, 0.0, FIRST_SEED + i, draw, ("test",))
    return sorted((t for t in found if t.key["part"] in parts), key=lambda t: -int(t.key["n"]))


# --- the tables ---


def rate(rows: pd.DataFrame, method: str = "test", column: str = "estimate") -> float:
    chosen = rows[rows.method == method]
    return float((chosen[column] <= LEVEL).mean()) if len(chosen) else float("nan")


def paper_table(rows: pd.DataFrame) -> tuple[str, list[common.Bar]]:
    lines = []
    for dz, part in rows.groupby("dz"):
        dependent, p = part.rho.to_numpy() > 0, part.estimate.to_numpy()
        lines.append(
            {
                "dz": dz,
                "type I": float((p[~dependent] <= LEVEL).mean()),
                "type II": float((p[dependent] > LEVEL).mean()),
                "F1": float(f1_score(dependent, p <= LEVEL)),
                "AUC": float(roc_auc_score(dependent, -part.low)),
                "AUC of p-values": float(roc_auc_score(dependent, -p)),
                "type I, analytic": rate(part[~dependent], "test-100", "low"),
            }
        )
    table = pd.DataFrame(lines)
    bars = [
        common.Bar("1. worst type I", table["type I"].max(), high=0.10),
        common.Bar("1. mean type I", table["type I"].mean(), high=0.06),
        common.Bar("1. worst type II", table["type II"].max(), high=0.01),
        common.Bar("1. mean F1", table["F1"].mean(), low=0.97),
        common.Bar("1. worst AUC", table["AUC"].min(), low=0.995),
    ]
    return common.markdown(lines), bars


def confounded_table(rows: pd.DataFrame) -> tuple[str, list[common.Bar]]:
    lines = []
    for (n, dz, family), part in rows.groupby(["n", "dz", "family"], sort=True):
        null, weak = part[part.rho == 0.0], part[part.rho == WEAK]
        lines.append(
            {
                "n": n,
                "dz": dz,
                "family": family,
                "datasets": int((null.method == "test").sum()),
                "type I": rate(null),
                "analytic": rate(null, column="low"),
                "rcit": rate(null, "rcit"),
                "kci": rate(null, "kci"),
                f"power at {WEAK:g}": rate(weak),
            }
        )
    table = pd.DataFrame(lines)
    power = table.loc[table.dz <= 5, f"power at {WEAK:g}"].dropna()
    bars = [
        common.Bar("2. lowest type I", table["type I"].min(), low=0.015),
        common.Bar("2. highest type I", table["type I"].max(), high=0.09),
        common.Bar("2. mean type I", table["type I"].mean(), low=0.035, high=0.065),
        common.Bar("2. lowest power, n = 1000, dz <= 5", power.min(), low=0.95),
    ]
    return common.markdown(lines), bars


def draw_uniform(rows: pd.DataFrame, path: Path) -> None:
    """P-values in order against the quantiles of a uniform distribution, with the 95% band of Kolmogorov-Smirnov."""
    axes = new_axes(4.6, 4.4)
    n = len(rows)
    places = (np.arange(n) + 0.5) / n
    margin = 1.358 / np.sqrt(n)
    axes.fill_between([0, 1], [-margin, 1 - margin], [margin, 1 + margin], color="0.9", label="95% of uniform samples")
    for column, name, colour in (("estimate", "permutation", "#0072b2"), ("low", "analytic", "#d55e00")):
        axes.plot(places, np.sort(rows[column]), color=colour, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="uniform quantile", ylabel="p-value", title=f"{n} independent datasets")
    axes.legend(frameon=False)
    axes.figure.savefig(path, dpi=120)


def main() -> None:
    parser = common.parser(__doc__, seeds=200, methods=("test",))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--confounded-seeds", type=int, help="datasets in a row of that part; as --seeds if not given")
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), help="rows, in that part")
    parser.add_argument("--report", action="store_true", help="run nothing: write the report from the rows there are")
    options = parser.parse_args()
    if options.report:
        rows = pd.DataFrame(read(options.output / "independence.csv"))
    else:
        planned = tasks(options.parts, options.seeds, options.confounded_seeds or options.seeds, options.sizes)
        rows = common.run_from(options, planned, "independence")
    write_report(rows, options.parts, options.output)


def write_report(rows: pd.DataFrame, parts: list[str], output: Path) -> None:
    sections, bars = ["# Conditional independence", NOTES], []
    if "paper" in parts:
        table, found = paper_table(rows[rows.part == "paper"])
        sections, bars = [*sections, "## The paper's experiment", table], [*bars, *found]
    if "confounded" in parts:
        table, found = confounded_table(rows[rows.part == "confounded"])
        sections, bars = [*sections, "## Confounding that matters", table], [*bars, *found]
    if "shapes" in parts:
        shapes = [
            {"shape": shape, "power": rate(part), "analytic": rate(part, column="low")}
            for shape, part in rows[rows.part == "shapes"].groupby("family")
        ]
        sections = [*sections, "## Dependence without correlation", common.markdown(shapes)]
        bars.append(common.Bar("3. lowest power", min(s["power"] for s in shapes), low=0.9))
    if "uniform" in parts:
        p = rows[rows.part == "uniform"]
        sections.append("## P-values under independence, 500 datasets, n = 1000, dz = 5: Kolmogorov-Smirnov")
        draw_uniform(p, output / "independence_pvalues.png")
        sections.append("![P-values in order](independence_pvalues.png)")
        bars.append(common.Bar("4. uniform: permutation", kstest(p.estimate, "uniform").pvalue, low=0.01))
        bars.append(common.Bar("4. uniform: analytic", kstest(p.low, "uniform").pvalue, low=0.01))
    sections += ["## Bars", common.bar_table(bars), "## Provenance", common.provenance(rows)]
    common.report(output / "independence.md", *sections)


if __name__ == "__main__":
    main()

"""The test of conditional independence: its level and its power, beside RCIT and KCI of causal-learn.

python benchmarks/independence.py [--seeds 200] [--confounded-seeds 200] [--jobs 2] [--fresh]
    [--parts paper confounded shapes uniform] [--sizes 500 1000 5000]
"""

import common

# isort: split

from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kstest

from harness.conditional import FAMILIES, SHAPES, sample, shaped_sample
from harness.confirmation import read_confirmed
from harness.provenance import TESTS
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid, grid
from pydine.experiments.methods import methods_of
from pydine.experiments.runner import Task
from pydine.experiments.summaries import LEVEL, rates
from pydine.show.plotting import new_axes

PARTS = ("paper", "confounded", "shapes", "uniform")
TEST = "dine-199"
SIZES, DIMENSIONS, WEAK = (500, 1000, 5000), (1, 5, 10), 0.2
FEWEST_COMPARED = 20
FIRST_SEED, UNIFORM = 10_000, 500  # the datasets whose p-values are to be uniform

NOTES = """
P-values at the level 0.05. `dine-199` is `pydine.independence_test`, by permutation (199; 100 on the paper's datasets);
`analytic` is its other method on the same latents. `rcit`, `kcit`: causal-learn's, with their defaults, on a quarter of
the datasets at n = 1000, dz = 5. AUC is that of the analytic p-values. With 100 permutations all strongly dependent
datasets tie with the most extreme independent ones at 1/101, as the last AUC shows. The standard error of a rejection
rate of 0.05 is 0.015 with 200 datasets, and 0.034 with 40.
""".strip()


# --- the parts ---


def confounded(family: str, n: int, dz: int, rho: float, seed: int) -> Dataset:
    return sample(family, n, dz, rho, seed)


def shaped(family: str, n: int, dz: int, rho: float, seed: int) -> Dataset:  # noqa: ARG001 rho is 0 by construction
    return shaped_sample(family, n, dz, seed)


def part(
    name: str,
    draw: Callable[..., Dataset],
    families: Sequence[str],
    dz: Sequence[int],
    seeds: Sequence[int],
    n: Sequence[int] = (1000,),
    rho: float = 0.0,
) -> Grid:
    """A part of the table; all have the same columns."""
    axes = {"family": families, "n": n, "dz": dz, "rho": (rho,)}
    return Grid("X independent of Y given Z", draw, axes, seeds, {"part": name})


def tasks(parts: list[str], seeds: int, confounded_seeds: int, sizes: list[int]) -> list[Task]:
    families, every = tuple(FAMILIES), range(confounded_seeds)
    planned = [
        (part("confounded", confounded, families, DIMENSIONS, every, sorted(sizes, reverse=True)), (TEST,)),
        (part("shapes", shaped, tuple(SHAPES), (3,), range(seeds)), (TEST,)),
    ]
    if 1000 in sizes:
        few = every[: max(confounded_seeds // 4, FEWEST_COMPARED)]
        planned.append((part("confounded", confounded, families, DIMENSIONS, every, rho=WEAK), (TEST,)))
        planned.append((part("confounded", confounded, families, (5,), few), ("rcit", "kcit")))
    for i, family in enumerate(families):  # they take turns, so that no two datasets have the same seed
        own = range(FIRST_SEED + i, FIRST_SEED + UNIFORM, len(families))
        planned.append((part("uniform", confounded, (family,), (5,), own), (TEST,)))
    return [task for chosen, methods in planned if chosen.labels["part"] in parts for task in chosen.tasks(methods)]


# --- the tables ---


def rate(rows: pd.DataFrame, method: str = TEST, column: str = "estimate") -> float:
    chosen = rows[rows.method == method]
    return float((chosen[column] <= LEVEL).mean()) if len(chosen) else float("nan")


def paper_table(rows: pd.DataFrame) -> tuple[str, list[common.Bar]]:
    lines = []
    for dz, group in rows.groupby("dz"):
        dependent, p, score = group.truth.to_numpy() > 0, group.estimate.to_numpy(), group.score.to_numpy()
        found = rates(dependent, p, score)
        lines.append(
            {
                "dz": dz,
                "type I": found["type_1"],
                "type II": found["type_2"],
                "F1": found["f1"],
                "AUC": found["auc"],
                "AUC of p-values": rates(dependent, p)["auc"],
                "type I, analytic": rates(dependent, score)["type_1"],
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
    for (n, dz, family), group in rows.groupby(["n", "dz", "family"], sort=True):
        null, weak = group[group.rho == 0.0], group[group.rho == WEAK]
        lines.append(
            {
                "n": n,
                "dz": dz,
                "family": family,
                "datasets": int((null.method == TEST).sum()),
                "type I": rate(null),
                "analytic": rate(null, column="score"),
                "rcit": rate(null, "rcit"),
                "kcit": rate(null, "kcit"),
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
    for column, name, colour in (("estimate", "permutation", "#0072b2"), ("score", "analytic", "#d55e00")):
        axes.plot(places, np.sort(rows[column]), color=colour, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="uniform quantile", ylabel="p-value", title=f"{n} independent datasets")
    axes.legend(frameon=False)
    axes.figure.savefig(path, dpi=120)


def main() -> None:
    parser = common.parser(__doc__, seeds=200)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--confounded-seeds", type=int, help="datasets in a row of that part; as --seeds if not given")
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), help="rows, in that part")
    parser.add_argument("--report", action="store_true", help="only write the report, from the rows that there are")
    options = parser.parse_args()
    write_report(kept_rows(options) if options.report else run(options), options.parts, options.output)


def run(options: Namespace) -> pd.DataFrame:
    """The paper's part runs into the table of `pydine bench cit`, whose experiment it is; the others into their own."""
    methods, found = methods_of("cit"), []
    if "paper" in options.parts:
        tasks_of_paper = grid("cit", options.seeds).tasks(("dine",))
        found.append(common.run_from(options, tasks_of_paper, "cit", methods, scope=TESTS).assign(part="paper"))
    if planned := tasks(options.parts, options.seeds, options.confounded_seeds or options.seeds, options.sizes):
        found.append(common.run_from(options, planned, "independence", methods, scope=TESTS))
    return pd.concat(found)


def kept_rows(options: Namespace) -> pd.DataFrame:
    paper = common.frame(read_confirmed(options.output / "cit.csv")).query("method == 'dine'")
    return pd.concat([paper.assign(part="paper"), common.frame(read_confirmed(options.output / "independence.csv"))])


def write_report(rows: pd.DataFrame, parts: list[str], output: Path) -> None:
    sections, bars = ["# Conditional independence", NOTES], []
    for name, title in (("paper", "The paper's experiment"), ("confounded", "Confounding that matters")):
        if name in parts:
            table, found = TABLES[name](rows[rows.part == name])
            sections, bars = [*sections, f"## {title}", table], [*bars, *found]
    if "shapes" in parts:
        shapes = [
            {"shape": shape, "power": rate(group), "analytic": rate(group, column="score")}
            for shape, group in rows[rows.part == "shapes"].groupby("family")
        ]
        sections = [*sections, "## Dependence without correlation", common.markdown(shapes)]
        bars.append(common.Bar("3. lowest power", min(s["power"] for s in shapes), low=0.9))
    if "uniform" in parts:
        p = rows[rows.part == "uniform"]
        sections.append(f"## P-values under independence, {UNIFORM} datasets, n = 1000, dz = 5: Kolmogorov-Smirnov")
        draw_uniform(p, output / "independence_pvalues.png")
        sections.append("![P-values in order](independence_pvalues.png)")
        bars.append(common.Bar("4. uniform: permutation", kstest(p.estimate, "uniform").pvalue, low=0.01))
        bars.append(common.Bar("4. uniform: analytic", kstest(p.score, "uniform").pvalue, low=0.01))
    sections += ["## Bars", common.bar_table(bars), "## Provenance", common.provenance(rows)]
    common.report(output / "independence.md", *sections)


TABLES = {"paper": paper_table, "confounded": confounded_table}

if __name__ == "__main__":
    main()

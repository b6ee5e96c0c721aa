"""Do intervals cover the truth? Coverage, interval scores and errors where z matters and of shapes, for two versions.

python benchmarks/interval_scores.py [--before FOLDER] [--seeds 6] [--calibrated-seeds 2] [--shape-seeds 4] [--jobs 2] \
    [--own] [--fresh]

With --own the families are those that constants are tuned on (own_families.py), and the table is for tuning.
"""

import common

# isort: split

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import known_shapes
import own_families
import pydine
from harness import conditional
from harness.conditional import CORRELATIONS, DIMENSIONS
from harness.provenance import ESTIMATES
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.experiments.methods import methods_of
from pydine.experiments.runner import Method, Outcome
from versions import OtherVersion

SIZES = (300, 1000, 3000)
WEAK, WEAK_SIZES, WEAK_DIMENSIONS = (0.05, 0.1, 0.2), (300, 1000), (1, 5)
FIRST_SEED = 100  # datasets that no other benchmark has
MISSED = 2.0 / 0.05  # penalty of a 95% interval for each nat by which it misses the truth (Winkler 1972)
BEFORE, CALIBRATED = "before", "calibrated"
REPORTED = "benchmarks/harness/conditional.py"
SHAPE_SIZES, SHAPE_COVERAGE = (500, 2000, 10_000), 0.85

NOTES = """
Nominal 95% intervals of I(X;Y|Z), default settings, over the families of {families}:
{count} datasets a row, {seeds} of each family, so that a coverage of 0.95 is measured to 0.03 and one of 0.8 to 0.06.
Score: mean interval score (Winkler 1972), the width plus 40 times the distance to the truth if it lies outside, in
nats; error: mean absolute error in nats. The factors of what is added back (src/pydine/bases/learning.py) were tuned on
other families. "before" is {before}; "calibrated": `interval="calibrated"`, {calibrated} datasets a row. All intervals
are those of `confidence_interval`, which also cover weak dependence, and so are wider than before where rho = 0.
""".strip()

WEAK_NOTES = """
The same where dependence is weak. Before, an estimate that happened to be small had a small standard error as well, so
that its interval was narrow and missed the truth. The wider intervals at rho = 0 are the price of the coverage here.
""".strip()

SHAPE_NOTES = """
The fifteen shapes of known_shapes.py, {seeds} datasets each: coverage of nominal 95% intervals.
""".strip()


def draw(n: int, dz: int, rho: float, family: str, seed: int) -> Dataset:
    return conditional.sample(family, n, dz, rho, seed)


def draw_own(n: int, dz: int, rho: float, family: str, seed: int) -> Dataset:
    return own_families.sample(family, n, dz, rho, seed)


def calibrated(data: Dataset) -> Outcome:
    found = pydine.mutual_information(data.x, data.y, data.z, interval="calibrated", n_jobs=1)
    return Outcome(found.value, *found.confidence_interval(0.95))


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    outside = np.maximum(rows.low - rows.truth, 0.0) + np.maximum(rows.truth - rows.high, 0.0)
    return rows.assign(score=rows.high - rows.low + MISSED * outside, covers=outside == 0.0)


def table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines, names = [], [name for name in (common.DEFAULT, CALIBRATED, BEFORE) if (rows.method == name).any()]
    for (rho, n, dz), part in rows.groupby(["rho", "n", "dz"]):
        line: dict[str, object] = {"rho": f"{rho:g}", "n": n, "dz": dz}
        for name in names:
            of_method = part[part.method == name]
            label = "" if name == common.DEFAULT else f" {name}"
            line |= {f"coverage{label}": of_method.covers.mean(), f"score{label}": of_method.score.mean()}
            line |= {f"error{label}": of_method.abs_error.mean()}
        lines.append(line)
    return lines


def bars(lines: list[dict[str, object]], shapes: pd.DataFrame) -> list[common.Bar]:
    found = pd.DataFrame(lines)
    missing = pd.Series(np.nan, index=found.index)
    score, error = (found[name] / found.get(f"{name} {BEFORE}", missing) for name in ("score", "error"))
    is_strong = found.rho == "0.9"
    is_weak = found.rho == "0"
    by_calibration = found.get(f"coverage {CALIBRATED}", missing)
    is_hard = is_strong & (found.n == 1000) & (found.dz == 10)
    return [
        common.Bar("1. least coverage of a row", found.coverage.min(), low=0.80),
        common.Bar("1. mean coverage", found.coverage.mean(), low=0.90),
        common.Bar("1. least coverage of a row, calibrated", by_calibration.min(), low=0.87),
        common.Bar("1. mean coverage, calibrated", by_calibration.mean(), low=0.92),
        *(
            common.Bar(f"2. coverage of shapes, n = {n}", part.covers.mean(), low=SHAPE_COVERAGE)
            for n, part in shapes.groupby("n")
        ),
        common.Bar("3. score / before, largest where rho > 0", score[~is_weak].max(), high=1.0),
        common.Bar("3. the same where rho = 0", score[is_weak].max(), high=1.0),
        common.Bar("3. the same at rho = 0.9, dz = 5 and 10", score[is_strong & (found.dz > 1)].max(), high=0.5),
        common.Bar("4. error / before, largest where above 0.005", error[found.error > 0.005].max(), high=1.05),
        common.Bar("4. the same at rho = 0.9, n = 1000, dz = 10", error[is_hard].max(), high=0.7),
    ]


def paired_parts(rows: pd.DataFrame) -> list[str]:
    """The section that compares both efforts on the datasets that they share; empty if there are none."""
    keys = ["rho", "n", "dz", "family", "seed"]
    scores = rows.pivot_table(index=keys, columns="method", values="score")
    if CALIBRATED not in scores:
        return []
    means = scores[[common.DEFAULT, CALIBRATED]].dropna().groupby(keys[:3]).mean().reset_index()
    ratios = means.assign(ratio=means[CALIBRATED] / means[common.DEFAULT])
    names = {common.DEFAULT: "score", CALIBRATED: f"score {CALIBRATED}", "ratio": f"{CALIBRATED} / default"}
    lines = ratios.rename(columns=names).to_dict("records")
    return ["## Calibrated, on the same datasets", common.markdown(lines)]


def name_of(options) -> str:
    return "interval_scores_own" if options.own else "interval_scores"


def family_rows(options, before: OtherVersion | None) -> pd.DataFrame:
    methods: dict[str, Method] = {common.DEFAULT: methods_of("cmi")[common.DEFAULT], CALIBRATED: calibrated}
    if before:
        methods[BEFORE] = before
    draws, families = (draw_own, own_families.FAMILIES) if options.own else (draw, conditional.FAMILIES)
    axes = {"n": SIZES, "dz": DIMENSIONS, "rho": CORRELATIONS, "family": tuple(families)}
    weak = {"n": WEAK_SIZES, "dz": WEAK_DIMENSIONS, "rho": WEAK, "family": tuple(families)}
    grid = Grid("I(X;Y|Z)", draws, axes, seeds=range(FIRST_SEED, FIRST_SEED + options.seeds))
    tasks = [t for a in (axes, weak) for t in replace(grid, axes=a).tasks([m for m in methods if m != CALIBRATED])]
    tasks += replace(grid, seeds=grid.seeds[: options.calibrated_seeds]).tasks([CALIBRATED])
    return scored(
        common.run_from(options, tasks, name_of(options), methods, others=frozenset({BEFORE}), scope=ESTIMATES)
    )


def shape_parts(shapes: pd.DataFrame, seeds: int) -> list[str]:
    """The section about shapes; empty if they were not asked for."""
    if shapes.empty:
        return []
    by_shape = shapes.pivot_table(index="name", columns="n", values="covers", sort=False)
    lines = [{"shape": name, **{f"n = {n}": v for n, v in row.items()}} for name, row in by_shape.iterrows()]
    return ["## Shapes", SHAPE_NOTES.format(seeds=seeds), common.markdown(lines)]


def shape_rows(options) -> pd.DataFrame:
    if options.own:
        return pd.DataFrame(columns=["n", "covers"])
    axes = {"name": tuple(known_shapes.SHAPES), "n": SHAPE_SIZES}
    grid = Grid("shapes", known_shapes.sample, axes, seeds=range(FIRST_SEED, FIRST_SEED + options.shape_seeds))
    return scored(common.run_from(options, grid.tasks([common.DEFAULT]), "interval_scores_shapes", scope=ESTIMATES))


def main() -> None:
    options = common.parser(__doc__, seeds=6)
    options.add_argument("--before", type=Path, help="a clone of another version")
    options.add_argument("--calibrated-seeds", type=int, default=2)
    options.add_argument("--shape-seeds", type=int, default=4)
    options.add_argument("--own", action="store_true", help="on the families that constants are tuned on")
    options = options.parse_args()
    before = OtherVersion(options.before) if options.before else None
    rows, shapes = family_rows(options, before), shape_rows(options)
    named = f"commit {before.commit}" if before else "not run"
    families, where = (own_families.FAMILIES, "own_families.py") if options.own else (conditional.FAMILIES, REPORTED)
    count, of_calibrated = (k * len(families) for k in (options.seeds, options.calibrated_seeds))
    lines = table(rows[rows.rho.isin(CORRELATIONS)])
    common.report(
        options.output / f"{name_of(options)}.md",
        "# Do intervals hold?",
        NOTES.format(families=where, count=count, seeds=options.seeds, before=named, calibrated=of_calibrated),
        "## Bars",
        common.bar_table(bars(lines, shapes)),
        "## All families",
        common.markdown(lines),
        "## Weak dependence",
        WEAK_NOTES,
        common.markdown(table(rows[rows.rho.isin(WEAK)])),
        *paired_parts(rows),
        *shape_parts(shapes, options.shape_seeds),
        "## Provenance",
        common.provenance(pd.concat([rows, shapes])),
    )


if __name__ == "__main__":
    main()

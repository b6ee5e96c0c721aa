"""Dependence of known shapes, and independence, with and without z, beside other estimators and another version.

python benchmarks/shapes.py [--seeds 10] [--sizes 500 2000 10000] [--given-sizes 500 1000 2000] [--before FOLDER] \
    [--independent-seeds 9] [--methods dine ksg] [--gmm-mi PYTHON] [--neural] [--own] [--jobs 2] [--fresh]

FOLDER is a clone of another version, whose default estimator is run on the same datasets. PYTHON is one that has
gmm-mi, which needs older libraries than pydine (pip install gmm-mi "scikit-learn<1.6"); it is slow, so it is run with
the first seeds and up to n = 2000. The neural estimators are run once, on the first seed of the shapes without z.
Definitions and truths of the shapes: known_shapes.py. With --own the shapes are those that constants are tuned on
(own_shapes.py), and the table is for tuning.
"""

import common

# isort: split

import math
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

import own_shapes
from harness.provenance import ESTIMATES
from known_shapes import GIVEN, SHAPES, SIDES, sample, sample_given, sample_independent
from pydine.experiments.grids import Grid
from pydine.experiments.methods import methods_of
from pydine.experiments.runner import Method, Task
from versions import GmmMi, OtherVersion

METHODS = ("dine", "dine-mixture", "ksg")
BEFORE, GMM, GMM_SEEDS, GMM_LARGEST = "before", "gmm-mi", 3, 2000
NEURAL = ("mine", "dv", "nwj", "infonce")
SIZES, GIVEN_SIZES, GIVEN_COLUMNS = (500, 2000, 10_000), (500, 1000, 2000), (1, 3, 5)
ERRORS = {500: 0.085, 2000: 0.042, 10_000: 0.020}  # nats, of the default over all shapes
MOST_OFF, OFF_SIZE, HARDEST = 0.2, 2000, "checkerboard"
OF_BEFORE = 0.7
PEERS, NOISE = ("ksg", GMM), 2.0  # standard errors of the difference on the same datasets
INDEPENDENT_SIZES, INDEPENDENT_COLUMNS = (200, 500, 5000), (1, 3)
FEWEST_INDEPENDENT, MEAN_LIMIT, MAX_LIMIT = 200, 0.005, 0.05

NOTES = """
Means over {seeds} datasets a row, in nats: the estimates, and in brackets their mean absolute errors. "noise" is the
standard error of the default's mean absolute error. gmm-mi, where it was run: {gmm_seeds} datasets a row, nan if its
fit failed on one of them. Neural estimators, where they were run: the first dataset alone. {before} Coverage is that of
the default's nominal 95% intervals.
""".strip()

INDEPENDENT_NOTES = """
X and Y are independent, with the same margins. "student": columns within a side share a Student scale
with 2 degrees of freedom; "lognormal": exponentials of normal numbers with standard deviation 2. Estimates in nats.
""".strip()

SHAPED = Grid("I(X;Y), I(X;Y|Z)", sample, {"name": tuple(SHAPES), "n": SIZES}, range(10), {"part": "shapes", "dz": -1})
GIVEN_Z = Grid(
    "I(X;Y|Z)",
    sample_given,
    {"name": GIVEN, "n": GIVEN_SIZES, "dz": GIVEN_COLUMNS},
    range(10),
    {"part": "given z"},
)
OWN = Grid(
    "I(X;Y), I(X;Y|Z)",
    own_shapes.sample,
    {"name": tuple(own_shapes.SHAPES), "n": (300, 500, 1000, 2000), "dz": (0, 1, 3, 5)},
    range(10),
    {"part": "own"},
)
NOTHING = Grid(
    "I(X;Y) = 0",
    sample_independent,
    {"name": [f"{name} {d} x {d}" for d in INDEPENDENT_COLUMNS for name in SIDES], "n": INDEPENDENT_SIZES},
    range(9),
    {"part": "independent", "dz": -1},
)


def tasks(options: Namespace) -> list[Task]:
    seeds, methods = range(options.seeds), (*options.methods, *([BEFORE] if options.before else []))
    shaped = replace(SHAPED, seeds=seeds, axes={**SHAPED.axes, "n": options.sizes})
    given = replace(GIVEN_Z, seeds=seeds, axes={**GIVEN_Z.axes, "n": options.given_sizes})
    nothing = replace(NOTHING, seeds=range(options.independent_seeds)).tasks((common.DEFAULT,))
    others = gmm_tasks(options) if options.gmm_mi else []
    others += neural_tasks(options) if options.neural else []
    return shaped.tasks(methods) + given.tasks(methods) + nothing + others


def gmm_tasks(options: Namespace) -> list[Task]:
    """Where gmm-mi applies: one column a side, and no z."""
    pairs = [
        name for name in SHAPES if (data := sample(name, 10, 0)).z is None and data.x.shape[1] == data.y.shape[1] == 1
    ]
    axes = {"name": pairs, "n": [n for n in options.sizes if n <= GMM_LARGEST]}
    return replace(SHAPED, seeds=range(min(options.seeds, GMM_SEEDS)), axes=axes).tasks((GMM,))


def neural_tasks(options: Namespace) -> list[Task]:
    """Where the neural estimators apply: no z."""
    axes = {"name": [name for name in SHAPES if sample(name, 10, 0).z is None], "n": options.sizes}
    return replace(SHAPED, seeds=range(1), axes=axes).tasks(NEURAL)


def table(rows: pd.DataFrame, by: list[str]) -> list[dict[str, object]]:
    lines = []
    for key, part in rows.groupby(by, sort=False):
        line: dict[str, object] = {**dict(zip(by, key, strict=True)), "truth": part.truth.iloc[0]}
        for method in rows.method.unique():
            found = part[part.method == method]
            shown = f"{found.estimate.mean(skipna=False):.3f} ({found.abs_error.mean(skipna=False):.3f})"
            line[method] = shown if len(found) else "-"
        errors = part[part.method == common.DEFAULT].abs_error
        line |= {"noise": errors.std() / math.sqrt(max(len(errors), 1)), "coverage": common.coverage(part)}
        lines.append(line)
    return lines


def by_size(rows: pd.DataFrame, by: list[str]) -> list[dict[str, object]]:
    """Mean absolute errors over all shapes, and how often the default's intervals hold the truth."""
    lines = []
    for key, part in rows.groupby(by):
        complete = [method for method in rows.method.unique() if method not in (GMM, *NEURAL)]
        errors = {method: common.mean_abs_error(part, method) for method in complete}
        lines.append({**dict(zip(by, key, strict=True)), **errors, "coverage": common.coverage(part)})
    return lines


def independent_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {
            "margins": name,
            "n": n,
            "datasets": len(part),
            "mean": part.estimate.mean(skipna=False),
            "largest": part.estimate.max(skipna=False),
            "coverage": common.coverage(part),
        }
        for (name, n), part in rows.groupby(["name", "n"], sort=False)
    ]


def independent_bars(rows: pd.DataFrame) -> list[common.Bar]:
    found = rows.estimate if len(rows) >= FEWEST_INDEPENDENT else pd.Series([math.nan])
    return [
        common.Bar("independent data: mean", found.mean(skipna=False), high=MEAN_LIMIT),
        common.Bar("independent data: largest", found.max(skipna=False), high=MAX_LIMIT),
    ]


def bars(shaped: pd.DataFrame, given: pd.DataFrame) -> list[common.Bar]:
    default = shaped[shaped.method == common.DEFAULT]
    found = [
        common.Bar(
            f"all shapes, n = {n}: mean absolute error",
            common.mean_abs_error(default[default.n == n], "dine"),
            high=most,
        )
        for n, most in ERRORS.items()
    ]
    means = default[(default.n == OFF_SIZE) & (default.name != HARDEST)].groupby("name")[["estimate", "truth"]].mean()
    off = (means.estimate / means.truth - 1.0).abs().max() if len(means) else math.nan
    found.append(common.Bar(f"n = {OFF_SIZE}, all but the {HARDEST}: farthest off, as a share", off, high=MOST_OFF))
    for n, part in given.groupby("n"):
        ours, before = (common.mean_abs_error(part, method) for method in (common.DEFAULT, BEFORE))
        found.append(common.Bar(f"given z, n = {n}: error over that of before", ours / before, high=OF_BEFORE))
    errors = given.groupby(["name", "dz", "n", "method"]).abs_error.mean().unstack()
    worse = (errors[common.DEFAULT] >= errors["ksg"]).sum() if "ksg" in errors else math.nan
    found.append(common.Bar("given z: rows in which KSG errs less", float(worse), high=0.0))
    behind = [
        behind_in(part, peer) for _, part in shaped.groupby(["name", "n"]) for peer in PEERS if peer in set(part.method)
    ]
    name = "all shapes, every n: rows in which a peer errs less, beyond noise"
    return [*found, common.Bar(name, float(sum(behind)) if behind else math.nan, high=0.0)]


def behind_in(rows: pd.DataFrame, peer: str) -> bool:
    """Whether a peer errs less than the default on the same datasets by more than two standard errors."""
    errors = rows.pivot_table(index="seed", columns="method", values="abs_error")[[common.DEFAULT, peer]].dropna()
    more = errors[common.DEFAULT] - errors[peer]
    return bool(more.mean() > NOISE * more.std() / math.sqrt(len(more))) if len(more) > 1 else False


OWN_NOTES = """
The 24 shapes of own_shapes.py, on which constants were chosen: means over {seeds} datasets of each. dz = 0: without z.
{before} Coverage is that of the default's nominal 95% intervals.
""".strip()


def by_shape(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Mean errors of the default, by shape and number of columns of z."""
    default = rows[rows.method == common.DEFAULT]
    errors = default.pivot_table(index=["name", "truth"], columns="dz", values="bias", sort=False)
    return [
        {"name": name, "truth": truth, **{f"dz = {dz}": bias for dz, bias in line.items()}}
        for (name, truth), line in errors.iterrows()
    ]


def report_own(options: Namespace, methods: Mapping[str, Method], others: frozenset[str], before: str) -> None:
    """Run the shapes that constants are tuned on, and write their table."""
    tasks = replace(OWN, seeds=range(options.seeds)).tasks((*options.methods, *([BEFORE] if options.before else [])))
    rows = common.run_from(options, tasks, "own_shapes", methods, others=others, scope=ESTIMATES)
    common.report(
        options.output / "own_shapes.md",
        "# Shapes for tuning",
        OWN_NOTES.format(seeds=options.seeds, before=before),
        "## Mean absolute errors",
        common.markdown(by_size(rows, ["dz", "n"])),
        "## Mean errors of the default",
        common.markdown(by_shape(rows)),
        "## Provenance",
        common.provenance(rows),
    )


def main() -> None:
    parser = common.parser(__doc__, seeds=len(SHAPED.seeds), methods=METHODS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--given-sizes", type=int, nargs="*", default=GIVEN_SIZES)
    parser.add_argument("--independent-seeds", type=int, default=len(NOTHING.seeds), help="datasets a row")
    parser.add_argument("--before", type=Path, help="a clone of another version")
    parser.add_argument("--gmm-mi", help="a Python that has gmm-mi")
    parser.add_argument("--neural", action="store_true", help="the neural estimators too")
    parser.add_argument("--own", action="store_true", help="on the shapes that constants are tuned on")
    options = parser.parse_args()
    before = OtherVersion(options.before) if options.before else None
    methods = methods_of("cmi") | ({BEFORE: before} if before else {})
    methods |= {GMM: GmmMi(options.gmm_mi)} if options.gmm_mi else {}
    methods |= {name: methods_of("mi")[name] for name in NEURAL}
    named = f'"{BEFORE}": commit {before.commit}.' if before else ""
    others = frozenset(name for name in methods if not name.startswith("dine"))
    if options.own:
        report_own(options, methods, others, named)
        return
    rows = common.run_from(options, tasks(options), "shapes", methods, others=others, scope=ESTIMATES)
    shaped, given, nothing = (rows[rows.part == part] for part in ("shapes", "given z", "independent"))
    common.report(
        options.output / "shapes.md",
        "# Shapes",
        NOTES.format(gmm_seeds=GMM_SEEDS, seeds=options.seeds, before=named),
        "## Bars",
        common.bar_table(bars(shaped, given) + independent_bars(nothing)),
        "## All shapes, mean absolute errors",
        common.markdown(by_size(shaped, ["n"])),
        "## Given z, mean absolute errors",
        common.markdown(by_size(given, ["dz", "n"])),
        "## Each shape",
        common.markdown(table(shaped, ["name", "n"])),
        "## Each shape given z",
        common.markdown(table(given, ["name", "dz", "n"])),
        "## Independent data",
        INDEPENDENT_NOTES,
        common.markdown(independent_table(nothing)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

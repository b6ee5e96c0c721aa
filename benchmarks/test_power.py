"""Power of the test on weak dependence of any shape, beside distance correlation, HSIC, xi, KCI, RCIT, another version.

python benchmarks/test_power.py [--before FOLDER] [--seeds 40] [--given-seeds 40] [--slow-seeds 40]
    [--sizes 200 500 1000] [--dz 0 1 5] [--jobs 1] [--fresh]    writes results/test_power.md and its CSV
"""

import common

# isort: split

import sys
import zlib
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import ndtri
from scipy.stats import gamma

import pydine
from harness.provenance import TESTS
from own_families import FAMILIES, standardised
from own_shapes import SHAPES
from pydine.experiments.datasets import Dataset
from pydine.experiments.methods import methods_of
from pydine.experiments.runner import Method, Outcome, Task
from pydine.types import FloatArray
from versions import Servant

LEVEL, SIZES, DIMENSIONS = 0.05, (200, 500, 1000), (0, 1, 5)
NATS = 6.0  # what a dataset of any size has in all: chosen so that most tests find most shapes in some datasets
KEPT = {"line": 0.4, "exponential": 0.4, "logistic": 0.4, "four periods": 0.6}  # nats, about, of the shapes below
TURNING = ("outer square", "cosine of x", "sign of z")
PERMUTATIONS = 199
SLOW_SIZE = 200  # rows up to which tests of kernels given z are run
ALONE, GIVEN = ("dcor", "hsic", "scores", "xi"), ("kcit", "rcit")  # without z, and with it
STRAIGHT = ("line", "exponential", "logistic")
OF_RANKS = ("scores", "xi")  # whose answers no monotone map changes, as ours
LARGEST_LOSS, LARGEST_STRAIGHT_LOSS = 0.05, 0.03
BEFORE = "before"

NOTES = """
Share of datasets in which independence is rejected at 5%: {seeds} a row, {given} given z, and {slow} for tests of
kernels there; two standard errors of 0.5 are {error:.2f}, {given_error:.2f} and {slow_error:.2f}. In every shape, as
many rows follow it as give the dataset {nats:g} nats in all; in the others y is that of another row. Given z, both
sides follow z in location and scale, in a family that changes with the dataset. "outer square", "cosine of x" and
"sign of z" have dependence whose sign changes with z. "dcor" and "hsic": distance correlation and a kernel test with
median widths, both with the gamma approximation of their null distribution; "scores": the latter on normal scores;
"xi": the larger of Chatterjee's two coefficients, by {permutations} permutations; "kcit", "rcit": causal-learn's,
with their defaults; "before": {before}. A loss is what the best of the other tests has more, if its level is below
0.05 and two standard errors; it counts beyond {loss:g} and two standard errors of the difference on the same datasets
("ranks": of a test that sees ranks only, as this one).

How p-values are combined, and the degrees of waves, were first chosen on the datasets of the rows n = 500, dz = 0,
and waves with z in them were added after "cosine of x" was missed here. Weights of blocks and of waves were chosen
anew on other shapes: random smooth curves, spreads and clusters, copulas, and lines (42 shapes, 6720 datasets); given
z on slopes that change with it, outer functions and some of these (26 shapes, 7520 datasets).
""".strip()

SERVANT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import pydine

for line in sys.stdin:
    with np.load(json.loads(line)) as data:
        x, y, z = (data[name] for name in "xyz")
    test = pydine.independence_test(x, y, z if z.shape[1] else None, method="analytic", n_jobs=1)
    print(json.dumps([test.pvalue]), flush=True)
"""


# --- datasets ---


def shape_of(name: str, rng: Generator, n: int) -> tuple[FloatArray, FloatArray, float]:
    """X and y (n,) of a shape in all rows, and their information in nats."""
    if name in SHAPES:
        return *SHAPES[name].draw(rng, n), SHAPES[name].truth
    x, noise = rng.standard_normal((2, n))
    curves = {
        "line": x,
        "exponential": np.expm1(x),
        "logistic": 2.0 * np.tanh(2.0 * x),
        "four periods": 1.5 * np.sin(8.0 * np.pi * np.argsort(np.argsort(x)) / n),
    }
    return x, curves[name] + noise, KEPT[name]


def weak(name: str, n: int, dz: int, seed: int) -> Dataset:
    """A shape that some of the rows follow, both of whose sides follow z."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), dz, n, seed])
    if name in TURNING:
        return turning(name, n, dz, seed, rng)
    if name == "independent":
        x, y, share = *rng.standard_normal((2, n)), 0.0
    else:
        x, y, truth = shape_of(name, rng, n)
        share = min(1.0, float(np.sqrt(NATS / (n * truth))))
    drawn = np.flatnonzero(rng.random(n) > share)
    y[drawn] = y[rng.permutation(drawn)]
    return moved(name, seed, x, y, rng.standard_normal((n, dz)), rng)


def moved(name: str, seed: int, x: FloatArray, y: FloatArray, z: FloatArray, rng: Generator) -> Dataset:
    """Both sides moved and stretched by functions of z, of a family that changes with the seed."""
    x, y = x[:, None] / x.std(), y[:, None] / y.std()
    if not z.shape[1]:
        return Dataset(name, seed, np.nan, x, y, None, x, y, np.nan)
    effect = list(FAMILIES.values())[seed % len(FAMILIES)]
    location_x, location_y, scale_x, scale_y = (standardised(part)[:, None] for part in effect(z, rng))
    moved_x = np.exp(0.4 * scale_x) * x + 1.4 * location_x
    moved_y = np.exp(0.4 * scale_y) * y + 1.2 * location_y
    return Dataset(name, seed, np.nan, moved_x, moved_y, z, x, y, np.nan)


def turning(name: str, n: int, dz: int, seed: int, rng: Generator) -> Dataset:
    """Dependence whose sign changes with z."""
    z, (e, f) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    index = z.sum(axis=1) / np.sqrt(dz)
    size = np.sqrt(20.0 * NATS / n)
    x = index + e
    y = {
        "outer square": 0.3 * size * x * x + f,
        "cosine of x": size * np.cos(2.0 * x) + f,
        "sign of z": 0.5 * size * e * np.sign(z[:, 0]) + index + f,
    }[name]
    return Dataset(name, seed, np.nan, x[:, None], y[:, None], z, e[:, None], f[:, None], np.nan)


# --- tests ---


def tested(data: Dataset) -> Outcome:
    return Outcome(float(pydine.independence_test(data.x, data.y, data.z, method="analytic", n_jobs=1).pvalue))


def centred(kernel: FloatArray) -> FloatArray:
    return kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()


def scores_of(column: FloatArray) -> FloatArray:
    return np.asarray(ndtri((np.argsort(np.argsort(column[:, 0])) + 0.5) / len(column)))[:, None]


def kernel_test(data: Dataset, *, distances: bool = False, ranked: bool = False) -> Outcome:
    """HSIC by the gamma approximation of Gretton et al. (2008); distance covariance is that of another kernel."""
    kernels, n = [], len(data.x)
    for side in (scores_of(data.x), scores_of(data.y)) if ranked else (data.x, data.y):
        apart = np.abs(side - side.T)
        largest = apart.max()  # any point of reference gives the same statistic; this keeps the kernel positive
        width = np.median(apart[np.triu_indices(n, 1)])
        kernels.append(largest - apart if distances else np.exp(-0.5 * (apart / width) ** 2))
    first, second = (centred(kernel) for kernel in kernels)
    statistic = float((first * second).sum()) / n
    squares = (first * second / 6.0) ** 2
    variance = (squares.sum() - np.trace(squares)) / n / (n - 1)
    variance *= 72.0 * (n - 4) * (n - 5) / n / (n - 1) / (n - 2) / (n - 3)
    off = [(kernel.sum() - np.trace(kernel)) / n / (n - 1) for kernel in kernels]
    tops = [np.trace(kernel) / n for kernel in kernels]
    mean = (tops[0] - off[0]) * (tops[1] - off[1]) / n
    return Outcome(float(gamma.sf(statistic, mean**2 / variance, scale=variance * n / mean)))


def xi(order: FloatArray, ranks: FloatArray) -> float:
    """Chatterjee's (2021) coefficient, up to its sign and constants: the smaller, the more ranks follow the order."""
    return float(np.abs(np.diff(ranks[order])).sum())


def xi_test(data: Dataset) -> Outcome:
    orders = [np.argsort(side[:, 0]) for side in (data.x, data.y)]
    ranks = [np.argsort(order) for order in orders]
    rng, n = np.random.default_rng(data.seed), len(data.x)

    def statistic(rows: FloatArray) -> float:
        paired = ranks[1][rows]  # y in another order
        return min(xi(orders[0], paired), xi(np.argsort(paired), ranks[0]))

    found = statistic(np.arange(n))
    reached = sum(statistic(rng.permutation(n)) <= found for _ in range(PERMUTATIONS))
    return Outcome((reached + 1.0) / (PERMUTATIONS + 1.0))


def tests(before: Path | None) -> dict[str, Method]:
    found: dict[str, Method] = {"dine": tested, "xi": xi_test}
    found |= {"dcor": partial(kernel_test, distances=True), "hsic": kernel_test}
    found["scores"] = partial(kernel_test, ranked=True)
    found |= {name: method for name, method in methods_of("cit").items() if name in GIVEN}
    return found | ({BEFORE: Servant(sys.executable, SERVANT, before)} if before else {})


def tasks(options: Namespace) -> list[Task]:
    def methods(n: int, dz: int, seed: int) -> tuple[str, ...]:
        ours = ("dine", BEFORE) if options.before else ("dine",)
        return (*ours, *(ALONE if not dz else GIVEN if n <= SLOW_SIZE and seed < options.slow_seeds else ()))

    names = ("independent", *KEPT, *SHAPES)
    return [
        Task({"shape": name, "n": n, "dz": dz, "seed": s}, partial(weak, name, n, dz, s), methods(n, dz, s))
        for n in options.sizes
        for dz in options.dz
        for name in (*names, *(TURNING if dz else ()))
        for s in range(options.given_seeds if dz else options.seeds)
    ]


# --- the tables ---


def line(part: pd.DataFrame, valid: set[str]) -> dict[str, object]:
    """Power of every test on the datasets of a row, and what the best of those that hold their level has more."""
    found = part.pivot(index="seed", columns="method", values="estimate") <= LEVEL
    run = part.pivot(index="seed", columns="method", values="estimate").notna()
    powers = {m: float(found.loc[run[m], m].mean()) if m in found else np.nan for m in ("dine", BEFORE, *ALONE, *GIVEN)}
    losses = {}
    for name in valid & set(found):
        pairs = found.loc[run[name], [name, "dine"]].astype(float)
        difference = pairs[name] - pairs["dine"]
        losses[name] = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(pairs)))
    loss, error = max(losses.values(), default=(np.nan, np.nan))
    beyond = {name for name, (more, noise) in losses.items() if more > LARGEST_LOSS + 2.0 * noise}
    counts = ("ranks" if beyond & set(OF_RANKS) else "yes") if beyond else ""
    return {**powers, "loss": loss, "error": error, "counts": counts}


def table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (n, dz), group in rows.groupby(["n", "dz"], sort=True):
        null = group[group["shape"] == "independent"]
        shares = {m: (p.estimate <= LEVEL).mean() for m, p in null.groupby("method")}
        counts = null.groupby("method").size()
        limits = {m: LEVEL + 2.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / counts[m]) for m in shares}
        valid = {m for m in shares if m not in ("dine", BEFORE) and shares[m] <= limits[m]}
        for shape, part in group.groupby("shape", sort=False):
            lines.append({"n": n, "dz": dz, "shape": shape, **line(part, valid)})
    return lines


def bars(lines: list[dict[str, object]]) -> list[common.Bar]:
    found = pd.DataFrame(lines)
    level, power = found[found["shape"] == "independent"], found[found["shape"] != "independent"]
    straight = power[power["shape"].isin(STRAIGHT)]
    return [
        common.Bar(
            "1. rows in which a test that holds its level has more power", float((power.counts != "").sum()), high=0
        ),
        common.Bar("1. of these, where one of ranks alone has it", float((power.counts == "ranks").sum()), high=0),
        common.Bar("1. mean power", float(power.dine.mean()), low=float(power[BEFORE].mean())),
        common.Bar(
            "1. lines and monotone curves: mean loss beside the version before",
            float((straight[BEFORE] - straight.dine).mean()),
            high=LARGEST_STRAIGHT_LOSS,
        ),
        common.Bar("2. largest level", float(level.dine.max()), high=0.09),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=40)
    parser.add_argument("--before", type=Path, help="a clone of another version")
    parser.add_argument("--given-seeds", type=int, default=40, help="datasets a row with z")
    parser.add_argument("--slow-seeds", type=int, default=40, help="datasets a row for tests of kernels given z")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--dz", nargs="+", type=int, default=list(DIMENSIONS))
    options = parser.parse_args()
    others = frozenset({BEFORE, *ALONE, *GIVEN})
    rows = common.run_from(options, tasks(options), "test_power", tests(options.before), others=others, scope=TESTS)
    lines = table(rows)
    counts = options.seeds, options.given_seeds, options.slow_seeds
    error, given_error, slow_error = (1.0 / np.sqrt(count) for count in counts)
    notes = NOTES.format(
        seeds=options.seeds,
        given=options.given_seeds,
        slow=options.slow_seeds,
        error=error,
        given_error=given_error,
        slow_error=slow_error,
        nats=NATS,
        permutations=PERMUTATIONS,
        before=common.version_in(options.before) if options.before else "not run",
        loss=LARGEST_LOSS,
    )
    common.report(
        options.output / "test_power.md",
        "# Power of the test on weak dependence of any shape",
        common.bar_table(bars(lines)),
        notes,
        common.markdown(lines),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

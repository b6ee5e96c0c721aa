"""Weights of a survey: coverage and level where rows were drawn with unequal chances, and tables of frequencies.

python benchmarks/weights.py [--datasets 100] [--n 500] [--output FOLDER]    writes results/weights.md

A row is drawn from a population of known truth with a chance that depends on its values, or on nothing that matters,
and has the reciprocal as its weight.
"""

import common

# isort: split

import itertools
import math
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import pydine
from harness.provenance import commit

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats, Floats | None]

ALPHA, FLIPPED, SHIFT, NOISE = 0.05, 0.2, 1.5, 0.7
COVERAGE, LEVEL = (0.90, 1.0), (0.0, 0.10)
EXACT = 1e-9

NOTES = """
{datasets} datasets of {n} rows a line. A coverage of 0.95 has a standard error of {error:.3f}, and as much a level of
0.05. "effective": what the estimate says of its error, in independent rows; "Kish": (sum of weights)^2 / sum of their
squares, which is that of a mean that has nothing to do with the weights. "rmse" over "stated": errors found, and the
mean of the standard errors. "without": bias and coverage of the same rows without their weights. CPU: of an estimate
with weights over one without. Of 0 in place of a truth, "rejected" is the level of the analytic test.

Frequencies: the largest difference between answers from a table of frequencies and from the long table, over
{doors} doors. Made by `python benchmarks/weights.py --datasets {datasets} --n {n}` at {commit}.
""".strip()


class Family(NamedTuple):
    """How a population is drawn, and its information in nats."""

    draw: Callable[[Generator, int], Sides]
    truth: float


def normal(rng: Generator, n: int) -> Sides:
    x, noise = rng.normal(size=(2, n))
    return x, 0.5 * x + math.sqrt(0.75) * noise, None


def independent(rng: Generator, n: int) -> Sides:
    x, y = rng.normal(size=(2, n))
    return x, y, None


def bent(rng: Generator, n: int) -> Sides:
    x, noise = rng.normal(size=(2, n))
    return x, x**2 + NOISE * noise, None


def given_z(rng: Generator, n: int) -> Sides:
    z = rng.normal(size=n)
    x, y, _ = normal(rng, n)
    return x + z, y + np.sin(2.0 * z), z


def independent_given_z(rng: Generator, n: int) -> Sides:
    z, x, y = rng.normal(size=(3, n))
    return x + z, y + z**2, z


def labels(rng: Generator, n: int) -> Sides:
    y = rng.integers(0, 2, n).astype(float)
    return np.where(rng.random(n) < FLIPPED, 1.0 - y, y), y, None


def mixed(rng: Generator, n: int) -> Sides:
    y = rng.integers(0, 2, n).astype(float)
    return SHIFT * y + rng.normal(size=n), y, None


def density(x: Floats, mean: Floats | float, deviation: float) -> Floats:
    return np.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi))


def bent_truth() -> float:
    """Entropy of x^2 + noise less that of the noise, by quadrature."""
    knots, weights = np.polynomial.hermite_e.hermegauss(200)
    grid = np.linspace(-6.0, 40.0, 40_001)
    both = sum(w * density(grid, k**2, NOISE) for k, w in zip(knots, weights / weights.sum(), strict=True))
    entropy = -np.trapezoid(both * np.log(both + 1e-300), grid)
    return float(entropy - 0.5 * math.log(2.0 * math.pi * math.e * NOISE**2))


def mixed_truth() -> float:
    grid = np.linspace(-10.0, 10.0 + SHIFT, 20_001)
    parts = density(grid, 0.0, 1.0), density(grid, SHIFT, 1.0)
    whole = 0.5 * (parts[0] + parts[1])
    return float(sum(0.5 * np.trapezoid(p * np.log((p + 1e-300) / (whole + 1e-300)), grid) for p in parts))


GAUSSIAN = -0.5 * math.log(0.75)
BINARY = math.log(2.0) + FLIPPED * math.log(FLIPPED) + (1.0 - FLIPPED) * math.log(1.0 - FLIPPED)
FAMILIES = {
    "normal": Family(normal, GAUSSIAN),
    "independent": Family(independent, 0.0),
    "bent": Family(bent, bent_truth()),
    "normal, given z": Family(given_z, GAUSSIAN),
    "independent, given z": Family(independent_given_z, 0.0),
    "labels": Family(labels, BINARY),
    "number and label": Family(mixed, mixed_truth()),
}


def chances(rng: Generator, sides: Sides, design: str) -> Floats:
    """With which chance each row is drawn, up to a factor."""
    x, y, _ = ((column - column.mean()) / column.std() for column in (sides[0], sides[1], sides[0]))
    if design == "by chance":
        return np.exp(0.7 * rng.normal(size=len(x)))
    if design == "by y":
        return np.exp(0.7 * np.clip(y, -2.0, 2.0))
    return 0.1 + 1.0 / (1.0 + np.exp(-1.5 * (x + y)))


DESIGNS = ("by chance", "by y", "by both")


def drawn(family: str, design: str, n: int, seed: int) -> tuple[Sides, Floats]:
    """Rows of a survey, and their weights."""
    rng = default_rng([sum(map(ord, family + design)), seed, n])
    population = FAMILIES[family].draw(rng, 30 * n)
    chance = chances(rng, population, design)
    rows = rng.choice(len(chance), n, replace=False, p=chance / chance.sum(), shuffle=False)
    x, y, z = population
    return (x[rows], y[rows], None if z is None else z[rows]), 1.0 / chance[rows]


def line(family: str, design: str, datasets: int, n: int) -> dict[str, object]:
    """One row of the table."""
    truth, found = FAMILIES[family].truth, []
    for seed in range(datasets):
        sides, weights = drawn(family, design, n, seed)
        seconds = []
        answers = []
        for said in ({"weights": weights}, {}):
            start = time.process_time()
            answers.append(pydine.mutual_information(*sides, n_jobs=1, **said))
            seconds.append(time.process_time() - start)
        estimate, plain = answers
        test = pydine.independence_test(*sides, method="analytic", n_jobs=1, weights=weights)
        (low, high), (least, most) = estimate.confidence_interval(), plain.confidence_interval()
        found.append(
            {
                "bias": estimate.value - truth,
                "stated": estimate.standard_error,
                "coverage": low <= truth <= high,
                "rejected": test.pvalue <= ALPHA,
                "effective": estimate.details.get("effective_rows", math.nan),
                "Kish": weights.sum() ** 2 / (weights**2).sum(),
                "bias without": plain.value - truth,
                "coverage without": least <= truth <= most,
                "CPU": seconds[0],
                "CPU without": seconds[1],
            }
        )
    table = pd.DataFrame(found).astype(float)
    means = table.mean()
    return {
        "family": family,
        "drawn": design,
        "truth": truth,
        "bias": means["bias"],
        "rmse": float(np.sqrt((table["bias"] ** 2).mean())),
        "stated": means["stated"],
        "coverage": means["coverage"],
        "rejected": means["rejected"],
        "effective": f"{means['effective']:.0f}",
        "Kish": f"{means['Kish']:.0f}",
        "bias without": means["bias without"],
        "coverage without": means["coverage without"],
        "CPU": means["CPU"] / means["CPU without"],
    }


# --- frequencies ------------------------------------------------------------------------------------------------------


def counted(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table of frequencies as R has them, with a number that repeats, and the long table."""
    rng = default_rng([3, seed])
    cells = itertools.product("pqr", "uv", range(4))
    rows = [(a, b, c, rng.poisson(6.0 + 6.0 * ((a == "p") == (b == "u")) + 2.0 * c)) for a, b, c in cells]
    table = pd.DataFrame(rows, columns=["a", "b", "c", "Freq"])
    return table, table.loc[table.index.repeat(table["Freq"])].drop(columns="Freq").reset_index(drop=True)


def _estimate(found: Any) -> list[float]:
    return [found.value, found.standard_error, *found.confidence_interval()]


def _edges(graph: Any) -> list[float]:
    return [figure for edge in graph.edges for figure in _estimate(edge.strength)]


DOORS: dict[str, Callable[..., Any]] = {
    "mutual_information": lambda t, **w: _estimate(pydine.mutual_information("a", "b", data=t, **w)),
    "mutual_information, given": lambda t, **w: _estimate(pydine.mutual_information("a", "b", "c", data=t, **w)),
    "independence_test": lambda t, **w: [pydine.independence_test("a", "c", "b", data=t, **w).pvalue],
    "pointwise_information": lambda t, **w: np.sort(pydine.pointwise_information("a", "b", data=t, **w).values),
    "pairwise_information": lambda t, **w: np.nan_to_num(pydine.pairwise_information(t, **w).values).ravel(),
    "rank": lambda t, **w: [f for c in pydine.rank(t, "a", **w) for f in _estimate(c.given_rest)],
    "corr": lambda t, **w: pydine.corr(t, **w).to_numpy().ravel(),
    "compare": lambda t, **w: _estimate(pydine.compare("b", "c", "a", data=t, **w)),
    "compare_groups": lambda t, **w: _estimate(pydine.compare_groups("a", "c", data=t, by="b", **w)),
    "interaction": lambda t, **w: _estimate(pydine.interaction("b", "c", "a", data=t, **w)),
    "synergies": lambda t, **w: _estimate(next(iter(pydine.synergies(t, "a", **w)))),
    "why": lambda t, **w: [f for step in pydine.why(t, "b", "a", **w).steps for f in _estimate(step.left)],
    "DINE": lambda t, **w: _estimate(pydine.DINE().fit("a", "c", data=t, **w).information_),
}


def difference() -> float:
    """The largest difference between answers from both tables."""
    found = [0.0]
    for seed, ask in itertools.product(range(5), DOORS.values()):
        short, long = counted(seed)
        found.append(float(np.abs(np.array(ask(short, weights="Freq")) - np.array(ask(long))).max()))
    return max(found)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=100)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    pydine.mutual_information(*normal(default_rng(0), 200))  # compiles
    rows = [line(family, design, options.datasets, options.n) for family in FAMILIES for design in DESIGNS]
    covered = [float(str(row["coverage"])) for row in rows]
    levels = [float(str(row["rejected"])) for row in rows if row["truth"] == 0.0]
    bars = [
        common.Bar("least coverage", min(covered), low=COVERAGE[0]),
        common.Bar("mean coverage", float(np.mean(covered)), low=COVERAGE[0]),
        common.Bar("largest level", max(levels), high=LEVEL[1]),
        common.Bar("frequencies, largest difference over 1e-9", difference() / EXACT, high=1.0),
    ]
    error = math.sqrt(0.95 * 0.05 / options.datasets)
    notes = NOTES.format(datasets=options.datasets, n=options.n, error=error, doors=len(DOORS), commit=commit())
    common.report(
        options.output / "weights.md",
        "# Weights: surveys and frequencies",
        common.bar_table(bars),
        common.markdown(rows),
        notes,
        common.provenance(),
    )


if __name__ == "__main__":
    main()

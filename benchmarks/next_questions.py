"""Differences, interactions and numbers of rows: coverage, level of p-values and power on families of known truth.

python benchmarks/next_questions.py [--seeds 100] [--n 500] [--jobs 1] [--fresh]    writes results/next_questions.md
                                                                                    and its CSV
"""

import common

# isort: split

import math
import time
import zlib
from argparse import Namespace
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import pydine
from pydine.experiments.runner import Outcome, Task

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats, Floats, Floats | None]

ALPHA, DRAWS, FLIPPED = 0.05, 400_000, 0.1
COVERAGE, LEVEL, ROWS, TIMES = (0.90, 0.97), (0.03, 0.07), 0.2, (1.5, 60.0)
# Both sides tell nothing, or nothing beyond the other: what any interval can do there is in results/boundary.md.
DEGENERATE = frozenset(
    {
        ("compare", "normal, neither"),
        ("interaction", "normal, one of them"),
        ("interaction", "normal, neither"),
        ("interaction", "mixed, one of them"),
    }
)
SLOW = frozenset({"shapes, product", "mixed, one of them", "mixed, turned"})  # half as many datasets of these
POWERED = ((0.02, 0), (0.05, 0), (0.1, 0), (0.05, 1), (0.05, 3))  # nats, and columns of z

NOTES = """
Up to {seeds} datasets of {n} rows a family. "coverage" is that of the nominal 95% interval; "rejected" the share of
p-values of at most 0.05, which is a level where the truth is 0. "bias" and "width" (of intervals) are in nats. Two
standard errors of a coverage of 0.95 are {error:.3f}, and as much of a level of 0.05. Truths that have no closed form
are means of {draws:,} draws of the log-ratio itself.

"degenerate": neither side tells anything, or nothing that the other does not (compare: neither; interaction: neither,
one of them). There the likelihood ratio itself covers 0.997 (results/boundary.md).

Rows: with the number that rows_needed names for a power of 0.8 at level 0.05, the share of {tested} datasets in which
independence_test(method="analytic") rejects, and the rows that would have had a power of 0.8 by that share, over those
named. Pairs are normal; z moves both sides. Times are of tables of all kinds of column, on one core.
""".strip()


class Asked(NamedTuple):
    """A dataset, the function to ask, and the truth in nats."""

    sides: Sides
    ask: Callable[..., object]
    truth: float


def normal(r2: float) -> float:
    """Information of normal columns, of which one explains a share of the other."""
    return -0.5 * math.log(1.0 - r2)


def entropy(p: float) -> float:
    return -p * math.log(p) - (1.0 - p) * math.log(1.0 - p)


def density(x: Floats, mean: Floats | float, variance: Floats | float) -> Floats:
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)


# --- pairs to compare -------------------------------------------------------------------------------------------------


def noisy(rng: Generator, n: int, first: float, second: float) -> Sides:
    """Two columns that are y with noise."""
    y = rng.normal(size=n)
    return y + first * rng.normal(size=n), y + second * rng.normal(size=n), y, None


def mirrored(rng: Generator, n: int, first: float, second: float) -> Sides:
    """The same, each with a random sign in every row: no correlation is left."""
    a, b, y, _ = noisy(rng, n, first, second)
    return a * rng.choice([-1.0, 1.0], n), b * rng.choice([-1.0, 1.0], n), y, None


@cache
def mirrored_truth(noise: float) -> float:
    rng = default_rng(1)
    y = rng.normal(size=DRAWS)
    a = (y + noise * rng.normal(size=DRAWS)) * rng.choice([-1.0, 1.0], DRAWS)
    given = 0.5 * (density(a, y, noise**2) + density(a, -y, noise**2))
    return float(np.log(given / density(a, 0.0, 1.0 + noise**2)).mean())


def labelled(rng: Generator, n: int, shift: float, flipped: float) -> Sides:
    """A number and a label that follow a label."""
    y = rng.integers(0, 2, n).astype(float)
    return shift * y + rng.normal(size=n), np.where(rng.random(n) < flipped, 1.0 - y, y), y, None


@cache
def shifted_truth(shift: float) -> float:
    grid = np.linspace(-10.0, 10.0 + shift, 20_001)
    parts = density(grid, 0.0, 1.0), density(grid, shift, 1.0)
    both = 0.5 * (parts[0] + parts[1])
    return float(sum(0.5 * np.trapezoid(p * np.log((p + 1e-300) / (both + 1e-300)), grid) for p in parts))


def same_labels(rng: Generator, n: int, shift: float) -> Sides:
    y = rng.integers(0, 2, n).astype(float)
    return shift * y + rng.normal(size=n), shift * y + rng.normal(size=n), y, None


def moved(rng: Generator, sides: Sides) -> Sides:
    """The sides, moved by a column z that is then given."""
    a, b, y, _ = sides
    z = rng.normal(size=len(y))
    return a + z, b + np.sin(2.0 * z), y + z**2, z


def compared(rng: Generator, n: int, family: str) -> tuple[Sides, float]:
    near, far = normal(1.0 / (1.0 + 1.0)), normal(1.0 / (1.0 + 1.5**2))
    if family == "normal, as much":
        return noisy(rng, n, 1.0, 1.0), 0.0
    if family == "normal, more":
        return noisy(rng, n, 1.0, 1.5), near - far
    if family == "normal, neither":
        return (rng.normal(size=n), rng.normal(size=n), rng.normal(size=n), None), 0.0
    if family == "normal, one of them":
        a, _, y, _ = noisy(rng, n, 1.5, 1.0)
        return (a, rng.normal(size=n), y, None), far
    if family == "normal, given z, as much":
        return moved(rng, noisy(rng, n, 1.0, 1.0)), 0.0
    if family == "normal, given z, more":
        return moved(rng, noisy(rng, n, 1.0, 1.5)), near - far
    if family == "shapes, as much":
        return mirrored(rng, n, 0.5, 0.5), 0.0
    if family == "shapes, more":
        return mirrored(rng, n, 0.5, 0.8), mirrored_truth(0.5) - mirrored_truth(0.8)
    if family == "mixed, as much":
        return same_labels(rng, n, 1.5), 0.0
    return labelled(rng, n, 1.5, 0.2), shifted_truth(1.5) - (math.log(2.0) - entropy(0.2))


COMPARED = (
    "normal, as much",
    "normal, more",
    "normal, neither",
    "normal, one of them",
    "normal, given z, as much",
    "normal, given z, more",
    "shapes, as much",
    "shapes, more",
    "mixed, as much",
    "mixed, more",
)


# --- interactions -----------------------------------------------------------------------------------------------------


@cache
def product_truth(noise: float) -> float:
    """I(a, b; ab + noise) - I(a; .) - I(b; .) of normal a and b."""
    rng = default_rng(2)
    a, b = rng.normal(size=(2, DRAWS))
    y = a * b + noise * rng.normal(size=DRAWS)
    grid = np.linspace(-12.0, 12.0, 2001)
    knots, weights = np.polynomial.hermite_e.hermegauss(100)
    whole = sum(w * density(grid, 0.0, k**2 + noise**2) for k, w in zip(knots, weights / weights.sum(), strict=True))
    log_y = np.log(np.interp(y, grid, whole))
    joint = np.log(density(y, a * b, noise**2)) - log_y
    alone = np.log(density(y, 0.0, a**2 + noise**2)) - log_y
    return float(joint.mean() - 2.0 * alone.mean())


@cache
def turned_truth(noise: float) -> float:
    """Of a label that turns the sign of a normal column in y; the label tells nothing alone."""
    return normal(1.0 / (1.0 + noise**2)) - mirrored_truth(noise)


def interacting(rng: Generator, n: int, family: str) -> tuple[Sides, float]:
    a, b, noise = rng.normal(size=(3, n))
    if family == "normal, sum":
        return (a, b, a + b + noise, None), normal(2.0 / 3.0) - 2.0 * normal(1.0 / 3.0)
    if family == "normal, the same":
        truth = normal(1.0 / (1.0 + 0.5)) - 2.0 * normal(0.5)
        return (noise + a, noise + b, noise, None), truth
    if family == "normal, one of them":
        return (a, b, a + noise, None), 0.0
    if family == "normal, neither":
        return (a, b, noise, None), 0.0
    if family == "normal, sum, given z":
        return moved(rng, (a, b, a + b + noise, None)), normal(2.0 / 3.0) - 2.0 * normal(1.0 / 3.0)
    if family == "shapes, product":
        return (a, b, a * b + 0.5 * noise, None), product_truth(0.5)
    if family == "labels, exclusive or":
        first, second = rng.integers(0, 2, (2, n))
        y = np.where(rng.random(n) < FLIPPED, 1 - (first ^ second), first ^ second)
        return (first.astype(float), second.astype(float), y.astype(float), None), math.log(2.0) - entropy(FLIPPED)
    label = rng.integers(0, 2, n).astype(float)
    if family == "mixed, one of them":
        return (label, b, 1.5 * label + noise, None), 0.0
    return (label, b, (2.0 * label - 1.0) * b + 0.5 * noise, None), turned_truth(0.5)


INTERACTING = (
    "normal, sum",
    "normal, the same",
    "normal, one of them",
    "normal, neither",
    "normal, sum, given z",
    "shapes, product",
    "labels, exclusive or",
    "mixed, one of them",
    "mixed, turned",
)


# --- what is measured -------------------------------------------------------------------------------------------------


def draw(question: str, family: str, n: int, seed: int) -> Asked:
    make, ask = (compared, pydine.compare) if question == "compare" else (interacting, pydine.interaction)
    rng = default_rng([zlib.crc32(f"{question}, {family}".encode()), seed, n])
    sides, truth = make(rng, n, family)
    return Asked(sides, ask, truth)


def answered(asked: Asked) -> Outcome:
    found = asked.ask(*asked.sides, n_jobs=1)
    low, high = found.confidence_interval()
    return Outcome(found.value, low, high, found.pvalue)


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"question": question, "family": family, "n": options.n, "seed": seed},
            partial(draw, question, family, options.n, seed),
            (common.DEFAULT,),
        )
        for question, families in (("compare", COMPARED), ("interaction", INTERACTING))
        for family in families
        for seed in range(options.seeds // 2 if family in SLOW and question == "interaction" else options.seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    found = []
    for (question, family), part in rows.groupby(["question", "family"], sort=False):
        found.append(
            {
                "question": question,
                "family": family,
                "datasets": len(part),
                "truth": float(part.truth.mean()),
                "bias": float(part.bias.mean()),
                "width": float((part.high - part.low).mean()),
                "coverage": common.coverage(part),
                "rejected": float((part.score <= ALPHA).mean()),
            }
        )
    return found


def simulated(information: float, dz: int, n: int, count: int) -> float:
    """The share of datasets in which independence is rejected."""
    r, rejected = math.sqrt(-math.expm1(-2.0 * information)), 0
    for seed in range(count):
        rng = default_rng([7, seed, n])
        x, noise = rng.normal(size=(2, n))
        y, z = r * x + math.sqrt(1.0 - r * r) * noise, rng.normal(size=(n, dz))
        shift = z.sum(axis=1)
        test = pydine.independence_test(x + shift, y + shift, z if dz else None, method="analytic", n_jobs=1)
        rejected += test.rejected
    return rejected / count


def powers(count: int) -> list[dict[str, object]]:
    found = []
    for information, dz in POWERED:
        plan = pydine.rows_needed(information, dz=dz)
        share = simulated(information, dz, plan.rows, count)
        # Where the curve that was planned with has the power that was found; beside it, 0.8 is as many rows away.
        reached = float(np.interp(share, plan.curve_power, plan.curve_rows))
        found.append(
            {"nats": information, "dz": dz, "rows": plan.rows, "power": share, "rows over named": plan.rows / reached}
        )
    return found


def wide_table(n: int, copies: int) -> dict[str, object]:
    """Columns of all kinds, ten to a copy: numbers, counts, steps, labels, yes or no."""
    rng, columns = default_rng(0), dict[str, object]()
    for i in range(copies):
        a, b, c = rng.normal(size=(3, n))
        columns |= {f"number {i}": a, f"sum {i}": b - a, f"skewed {i}": np.exp(b), f"bent {i}": a**2 + 0.5 * c}
        columns |= {f"count {i}": rng.poisson(np.exp(0.5 * a)), f"noise {i}": rng.poisson(3, n), f"yes {i}": c > 0}
        columns |= {f"level {i}": np.array(list("xyz"))[np.clip(b + 1.5, 0, 2).astype(int)], f"rounded {i}": c.round(1)}
        columns |= {f"label {i}": rng.choice(list("pqrs"), n)}
    return columns


def seconds(ask: Callable[[], object]) -> float:
    """CPU seconds, after a first call that compiles."""
    ask()
    start = time.process_time()
    ask()
    return time.process_time() - start


def times() -> list[dict[str, object]]:
    small, large = wide_table(2000, 1), wide_table(1000, 4)
    large["y"] = np.asarray(large["number 0"]) * np.asarray(large["sum 1"]) + default_rng(1).normal(size=1000)
    return [
        {"question": "corr", "table": "10 columns, 2000 rows", "CPU s": seconds(lambda: pydine.corr(small, n_jobs=1))},
        {
            "question": "synergies",
            "table": "40 columns, 1000 rows",
            "CPU s": seconds(lambda: pydine.synergies(large, "y", n_jobs=1)),
        },
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=100)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--tests", type=int, default=300, help="datasets a row, to tell the power by")
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options), "next_questions", {common.DEFAULT: answered})
    table, planned, timed = lines(rows), powers(options.tests), times()
    covered = np.array([line["coverage"] for line in table])
    usual = [line for line in table if (line["question"], line["family"]) not in DEGENERATE]
    levels = np.array([line["rejected"] for line in usual if line["truth"] == 0.0])
    nothing = np.array([line["rejected"] for line in table if line not in usual])
    ratios = np.array([line["rows over named"] for line in planned])
    bars = [
        common.Bar("least coverage", float(covered.min()), low=COVERAGE[0]),
        common.Bar("largest coverage", float(covered.max()), high=COVERAGE[1]),
        common.Bar("mean coverage, not degenerate", float(np.mean([line["coverage"] for line in usual])), *COVERAGE),
        common.Bar("largest level", float(levels.max()), high=LEVEL[1]),
        common.Bar("mean level, not degenerate", float(levels.mean()), *LEVEL),
        common.Bar("mean level, degenerate", float(nothing.mean()), high=LEVEL[1]),
        common.Bar("rows needed over named, farthest from 1", float(np.abs(ratios - 1.0).max()), high=ROWS),
        *(
            common.Bar(f"{line['question']}, {line['table']}, CPU s", float(line["CPU s"]), high=most)
            for line, most in zip(timed, TIMES, strict=True)
        ),
    ]
    error = 2.0 * math.sqrt(0.95 * 0.05 / options.seeds)
    notes = NOTES.format(seeds=options.seeds, n=options.n, error=error, draws=DRAWS, tested=options.tests)
    common.report(
        options.output / "next_questions.md",
        "# The questions people ask next",
        common.bar_table(bars),
        common.markdown(table),
        common.markdown(planned),
        common.markdown(timed),
        notes,
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

"""Angles: information of von Mises pairs beside the truth, and the level of tests of independent angles.

python benchmarks/angles.py [--seeds 100] [--n 2000] [--jobs 1] [--fresh]    writes results/angles.md and its CSV
"""

import common

# isort: split

import math
import zlib
from argparse import Namespace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import pydine
from pydine.experiments.runner import Outcome, Task

Floats = NDArray[np.float64]
AROUND, ANGLE = 2.0 * math.pi, "angle:radians"
ALPHA, NEAR, CLEAR, LEVEL, ROWS = 0.05, 0.05, 0.1, (0.03, 0.07), 500
PAIRS = tuple((own, noise) for own in (0.0, 1.0, 4.0) for noise in (0.5, 1.0, 4.0, 20.0))

NOTES = """
{seeds} datasets a row. Pairs: y is x with von Mises noise, whose concentration is the second number; x is even if the
first is 0, and has a von Mises distribution of that concentration otherwise. {n} rows; truths by sums over a grid.
Independent families have {rows} rows; "rejected" is the share of p-values of at most 0.05, of which two standard errors
are {error:.3f}. "turned" is the largest difference to the answer for the same columns from another origin, in nats.
""".strip()


class Asked(NamedTuple):
    """Columns, their kinds, the truth in nats, and whether to test."""

    sides: tuple[Floats, ...]
    kinds: dict[str, str]
    truth: float
    test: bool


@cache
def truth_of(own: float, noise: float, places: int = 4000) -> float:
    """Information of x and x plus noise, which is an entropy less that of the noise."""
    angles = np.arange(places) * AROUND / places
    x, e = (np.exp(kappa * (np.cos(angles) - 1.0)) for kappa in (own, noise))
    x, e = x / x.sum(), e / e.sum()
    y = np.fft.ifft(np.fft.fft(x) * np.fft.fft(e)).real
    return float((e * np.log(e)).sum() - (y * np.log(y)).sum())


def paired(rng: Generator, n: int, own: float, noise: float) -> Asked:
    x = rng.vonmises(0.0, own, n)
    return Asked((x, x + rng.vonmises(0.0, noise, n)), {"x": ANGLE, "y": ANGLE}, truth_of(own, noise), test=False)


def independent(rng: Generator, n: int, family: str) -> Asked:
    z, (e, f) = rng.uniform(0.0, AROUND, n), 0.5 * rng.normal(size=(2, n))
    first, second = rng.vonmises(0.0, 2.0, (2, n))
    sides: dict[str, tuple[tuple[Floats, ...], dict[str, str]]] = {
        "even angles": ((z, rng.uniform(0.0, AROUND, n)), {"x": ANGLE, "y": ANGLE}),
        "angle, number": ((first, e), {"x": ANGLE}),
        "numbers given an angle": ((np.cos(z - 1.0) + e, np.cos(z + 0.5) + f, z), {"z": ANGLE}),
        "two periods given an angle": ((np.cos(2.0 * z - 1.0) + e, np.cos(z) + np.cos(2.0 * z) + f, z), {"z": ANGLE}),
        "angles given an angle": ((z + first, z + second, z), dict.fromkeys("xyz", ANGLE)),
        "angles given a number": ((2.0 * e + first, 4.0 * e + second, e), {"x": ANGLE, "y": ANGLE}),
        "hours given months": (
            (np.round(24.0 * (z + first) / AROUND) % 24, np.cos(np.floor(12.0 * z / AROUND)) + f, _months(z)),
            {"x": "angle:24", "z": "angle:12"},
        ),
        "label given an angle": (((rng.random(n) < 0.5 + 0.4 * np.cos(z)) * 1.0, np.cos(z - 1.0) + f, z), {"z": ANGLE}),
    }
    return Asked(*sides[family], 0.0, test=True)


def _months(z: Floats) -> Floats:
    return np.floor(12.0 * z / AROUND)


FAMILIES = (
    "even angles",
    "angle, number",
    "numbers given an angle",
    "two periods given an angle",
    "angles given an angle",
    "angles given a number",
    "hours given months",
    "label given an angle",
)


def draw(family: str, n: int, seed: int) -> Asked:
    rng = default_rng([zlib.crc32(family.encode()), seed, n])
    if family in FAMILIES:
        return independent(rng, n, family)
    own, noise = map(float, family.removeprefix("von Mises ").split(", "))
    return paired(rng, n, own, noise)


def answered(asked: Asked) -> Outcome:
    found = pydine.mutual_information(*asked.sides, kinds=asked.kinds, n_jobs=1)
    low, high = found.confidence_interval()
    if asked.test:
        pvalue = pydine.independence_test(*asked.sides, kinds=asked.kinds, n_jobs=1).pvalue
        return Outcome(found.value, low, high, pvalue)
    moved = pydine.mutual_information(
        *(np.mod(side + 1.0, AROUND) for side in asked.sides), kinds=asked.kinds, n_jobs=1
    )
    return Outcome(found.value, low, high, abs(moved.value - found.value))


def tasks(options: Namespace) -> list[Task]:
    asked = [(f"von Mises {own:g}, {noise:g}", options.n) for own, noise in PAIRS] + [(name, ROWS) for name in FAMILIES]
    return [
        Task({"family": family, "n": n, "seed": seed}, partial(draw, family, n, seed), (common.DEFAULT,))
        for family, n in asked
        for seed in range(options.seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    found = []
    for (family, n), part in rows.groupby(["family", "n"], sort=False):
        is_test = family in FAMILIES
        found.append(
            {
                "family": family,
                "rows": n,
                "truth": float(part.truth.mean()),
                "bias": float(part.bias.mean()),
                "error of the mean": float(part.bias.std() / math.sqrt(len(part))),
                "coverage": common.coverage(part),
                "rejected": float((part.score <= ALPHA).mean()) if is_test else None,
                "turned": None if is_test else float(part.score.max()),
            }
        )
    return found


def main() -> None:
    options = common.parser(__doc__, seeds=100)
    options.add_argument("--n", type=int, default=2000)
    options = options.parse_args()
    rows = common.run_from(options, tasks(options), "angles", {common.DEFAULT: answered})
    table = lines(rows)
    pairs = [line for line in table if line["rejected"] is None]
    levels = [float(line["rejected"]) for line in table if line["rejected"] is not None]
    off = [(float(line["truth"]), abs(float(line["bias"]))) for line in pairs]
    bars = [
        common.Bar("largest bias over the truth, all pairs", max(bias / truth for truth, bias in off), high=NEAR),
        common.Bar(
            f"the same, truths of {CLEAR} nats on",
            max(bias / truth for truth, bias in off if truth >= CLEAR),
            high=NEAR,
        ),
        common.Bar("largest bias of weaker pairs, nats", max(bias for truth, bias in off if truth < CLEAR), high=0.005),
        common.Bar("least coverage of pairs", min(float(line["coverage"]) for line in pairs), low=0.9),
        common.Bar("largest change by another origin, nats", max(float(line["turned"]) for line in pairs), high=1e-9),
        common.Bar("level, mean", float(np.mean(levels)), *LEVEL),
        common.Bar("level of even angles", levels[0], *LEVEL),
    ]
    error = 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / options.seeds)
    common.report(
        options.output / "angles.md",
        "# Angles",
        common.bar_table(bars),
        common.markdown(table),
        NOTES.format(seeds=options.seeds, n=options.n, rows=ROWS, error=error),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

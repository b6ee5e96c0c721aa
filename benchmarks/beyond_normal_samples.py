"""Samples of the tasks of "Beyond Normal" (Czyz et al. 2023) without their package, drawn with NumPy and SciPy alone.

python benchmarks/beyond_normal_samples.py --samples DIR [--seeds 3] [--part]

The laws are those of the package benchmark-mi, written from its description; the numbers drawn are others. Files are
those that beyond_normal_peers.py writes, for beyond_normal.py. With --part: tasks of at most five columns a side.
"""

import one_thread  # noqa: F401

# isort: split

import csv
import math
import zlib
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, ndtr

Side = NDArray[np.float64]
Pair = tuple[Side, Side]
Map = Callable[[Side], Side]

N_ROWS, SMALL = 10_000, 5
CORRELATION, DENSE, PAIRS = 0.75, 0.5, 0.8  # of one column a side; of all columns; of two pairs, from a strength of 2


# --- laws ---


def normal(rng: Generator, n: int, correlation: NDArray[np.float64], dx: int) -> Pair:
    both = rng.standard_normal((n, len(correlation))) @ np.linalg.cholesky(correlation).T
    return both[:, :dx], both[:, dx:]


def dense(columns: int, r: float = DENSE) -> NDArray[np.float64]:
    return np.eye(columns) * (1.0 - r) + r


def pairs(side: int) -> NDArray[np.float64]:
    """Two columns of each side go together, the others with none."""
    correlation = np.eye(2 * side)
    for i in range(2):
        correlation[i, side + i] = correlation[side + i, i] = PAIRS
    return correlation


def student(rng: Generator, n: int, dx: int, freedom: int) -> Pair:
    both = rng.standard_normal((n, 2 * dx)) / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom)
    return both[:, :dx], both[:, dx:]


def uniform(rng: Generator, n: int, noise: float) -> Pair:
    x = rng.random((n, 1))
    return x, x + rng.uniform(-noise, noise, (n, 1))


# --- truths, in nats ---


def normal_truth(correlation: NDArray[np.float64], dx: int) -> float:
    logs = [float(np.linalg.slogdet(part)[1]) for part in (correlation[:dx, :dx], correlation[dx:, dx:], correlation)]
    return 0.5 * (logs[0] + logs[1] - logs[2])


def student_truth(dx: int, freedom: int) -> float:
    def entropy(d: int) -> float:
        half, whole = 0.5 * freedom, 0.5 * (freedom + d)
        return float(gammaln(half) - gammaln(whole) + 0.5 * d * math.log(freedom * math.pi)) + whole * float(
            digamma(whole) - digamma(half)
        )

    return 2.0 * entropy(dx) - entropy(2 * dx)


def uniform_truth(noise: float) -> float:
    return 0.25 / noise if noise > 0.5 else noise - math.log(2.0 * noise)


# --- one-to-one functions of a side, which change no information ---


def half_cube(side: Side) -> Side:
    return side * np.sqrt(np.abs(side))


def wiggly_x(x: Side) -> Side:
    return x + 0.4 * np.sin(x) + 0.2 * np.sin(1.7 * x + 1.0) + 0.03 * np.sin(3.3 * x - 2.5)


def wiggly_y(y: Side) -> Side:
    return y - 0.4 * np.sin(0.4 * y) + 0.17 * np.sin(1.3 * y + 3.5) + 0.02 * np.sin(4.3 * y - 2.5)


def bimodal(side: Side, weight: float, centres: tuple[float, float]) -> Side:
    """The quantiles of two normals, mixed, at those of a standard normal."""
    grid = np.linspace(min(centres) - 9.0, max(centres) + 9.0, 200_001)
    mixed = weight * ndtr(grid - centres[0]) + (1.0 - weight) * ndtr(grid - centres[1])
    return np.interp(ndtr(side), mixed, grid)


def spiral(side: Side, plane: tuple[int, int]) -> Side:
    """Turned in a plane of two columns by an angle that grows with the squared length of the row."""
    angle = (side**2).sum(axis=1) / side.shape[1]
    cos, sin, (i, j) = np.cos(angle), np.sin(angle), plane
    turned = side.copy()
    turned[:, i], turned[:, j] = cos * side[:, i] - sin * side[:, j], sin * side[:, i] + cos * side[:, j]
    return turned


def swiss_roll(side: Side) -> Side:
    t = 1.5 * np.pi * (1.0 + 2.0 * ndtr(side[:, 0]))
    return np.column_stack([t * np.cos(t), t * np.sin(t)]) / 21.0


# --- the tasks ---


@dataclass(frozen=True)
class Law:
    """A task: its name, how x and y are drawn, and the truth in nats."""

    name: str
    draw: Callable[[Generator, int], Pair]
    truth: float

    def mapped(self, name: str, x: Map, y: Map | None = None) -> "Law":
        """The same with one-to-one functions of both sides."""

        def draw(rng: Generator, n: int) -> Pair:
            sides = self.draw(rng, n)
            return x(sides[0]), (y or x)(sides[1])

        return Law(name, draw, self.truth)


def _normal(name: str, correlation: NDArray[np.float64]) -> Law:
    dx = len(correlation) // 2
    return Law(name, partial(normal, correlation=correlation, dx=dx), normal_truth(correlation, dx))


def _student(dx: int, freedom: int) -> Law:
    name = f"Student-t {dx} × {dx} (dof={freedom})"
    return Law(name, partial(student, dx=dx, freedom=freedom), student_truth(dx, freedom))


def _of_one_column() -> dict[str, Law]:
    base = _normal("Bivariate normal 1 × 1", dense(2, CORRELATION))
    by_base = "1v1-normal-0.75"
    sides = (partial(bimodal, weight=0.3, centres=(0.0, 5.0)), partial(bimodal, weight=0.5, centres=(-1.0, 3.0)))
    return {
        by_base: base,
        f"normal_cdf-{by_base}": base.mapped(f"Normal CDF @ {base.name}", ndtr),
        **{
            f"1v1-additive-{noise:g}": Law(
                f"Uniform 1 × 1 (additive noise={noise:g})", partial(uniform, noise=noise), uniform_truth(noise)
            )
            for noise in (0.1, 0.75)
        },
        "1v1-bimodal-0.75": base.mapped("Bimodal 1 × 1", *sides),
        f"wiggly-{by_base}": base.mapped(f"Wiggly @ {base.name}", wiggly_x, wiggly_y),
        f"half_cube-{by_base}": base.mapped(f"Half-cube @ {base.name}", half_cube),
        f"swissroll_x-normal_cdf-{by_base}": base.mapped("Swiss roll 2 × 1", swiss_roll, ndtr),
    }


def _of_pairs(side: int) -> dict[str, Law]:
    base, by_base = (
        _normal(f"Multinormal {side} × {side} (2-pair)", pairs(side)),
        f"multinormal-sparse-{side}-{side}-2-2.0",
    )
    if side < 3:
        return {by_base: base}
    flat = base.mapped(f"Normal CDF @ {base.name}", ndtr)
    turned = partial(spiral, plane=(0, 1)), partial(spiral, plane=(1, 2))
    return {
        by_base: base,
        f"normal_cdf-{by_base}": flat,
        f"half_cube-{by_base}": base.mapped(f"Half-cube @ {base.name}", half_cube),
        f"spiral-{by_base}": base.mapped(f"Spiral @ {base.name}", *turned),
        f"spiral-normal_cdf-{by_base}": flat.mapped(f"Spiral @ {flat.name}", *turned),
    }


def _of_students() -> dict[str, Law]:
    laws = {}
    for dx, freedom in ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 3)):
        law, name = _student(dx, freedom), f"student-identity-{dx}-{dx}-{freedom}"
        laws[name] = law
        if (dx, freedom) in {(1, 1), (2, 1), (3, 2), (5, 2)}:
            laws[f"asinh-{name}"] = law.mapped(f"Asinh @ {law.name}", np.arcsinh)
    return laws


LAWS = {
    **_of_one_column(),
    **{
        f"multinormal-dense-{d}-{d}-0.5": _normal(f"Multinormal {d} × {d} (dense)", dense(2 * d))
        for d in (2, 3, 5, 25, 50)
    },
    **{name: law for side in (2, 3, 5, 25) for name, law in _of_pairs(side).items()},
    **_of_students(),
}


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=Path, required=True, help="folder of the samples")
    parser.add_argument("--seeds", type=int, default=3, help="samples a task (default: %(default)s)")
    parser.add_argument("--part", action="store_true", help=f"tasks of at most {SMALL} columns a side")
    options = parser.parse_args()
    options.samples.mkdir(parents=True, exist_ok=True)
    with (options.samples / "tasks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("task", "name", "dx", "dy", "truth"))
        for task, law in LAWS.items():
            x, y = law.draw(np.random.default_rng(0), 2)
            if options.part and max(x.shape[1], y.shape[1]) > SMALL:
                continue
            writer.writerow((task, law.name, x.shape[1], y.shape[1], repr(law.truth)))
            for seed in range(options.seeds):
                x, y = law.draw(np.random.default_rng([zlib.crc32(task.encode()), seed]), N_ROWS)
                np.savez(options.samples / f"{task}__{seed}.npz", x=x, y=y)


if __name__ == "__main__":
    main()

"""Our own datasets after LCIT's simulation (Duong and Nguyen), beside the figures that were published with it.

python benchmarks/public_lcit.py [--part 250x25 500x25 1000x25 1000x50 1000x100] [--seeds 25] [--jobs 1] [--fresh]
    writes results/public_lcit.md and its CSV; a part takes at most four processor minutes
"""

import common

# isort: split

from argparse import Namespace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness.provenance import TESTS
from public_suites import figures, tested
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Task

Floats = NDArray[np.float64]

SPREAD = 5.0  # of all noise, beside which Z's functions have a spread of about 1
# Rows and columns of Z, and F1, AUC, type I and type II error in percent of LCIT and of KCIT, as published.
PARTS = {
    "250x25": (250, 25, (87.7, 91.9, 12, 13), (73.9, 89.9, 35, 11)),
    "500x25": (500, 25, (89.9, 94.7, 10, 11), (76.6, 93.8, 33, 8)),
    "1000x25": (1000, 25, (91.7, 94.8, 8, 9), (80.7, 97.2, 30, 4)),
    "1000x50": (1000, 50, (90.6, 96.1, 9, 10), (56.3, 90.5, 58, 7)),
    "1000x100": (1000, 100, (85.7, 92.7, 15, 14), (47.0, 80.5, 66, 12)),
}

NOTES = """
X is noise, uniform, normal or Laplace, of twice the scale of all other noise. Each column of Z is an inner function
of X times a number from -1 to 1, plus noise; Y is an outer function of a sum of Z with such weights, of X times a
number from 1 to 2 where they depend, and of noise. The functions are a line, a cube, tanh, a square, exp(-v), an
inverse and a sigmoid, each of its argument over its standard deviation: one of the 49 pairs for each dataset. The
draws are our own, {seeds} with dependence and {seeds} without a part; the figures of LCIT and KCIT are those that its
authors published, of 500 datasets a part. Two standard errors of a share of 0.05 are {error:.3f}, and of an AUC twice
"its error".
""".strip()


def unit(values: Floats) -> Floats:
    return values / values.std()


FUNCTIONS = {
    "line": lambda v, rng: rng.uniform(0.2, 2.0) * unit(v),
    "cube": lambda v, rng: unit(v) ** 3,  # noqa: ARG005
    "tanh": lambda v, rng: np.tanh(unit(v)),  # noqa: ARG005
    "square": lambda v, rng: unit(v) ** 2,  # noqa: ARG005
    "exp(-v)": lambda v, rng: np.exp(-unit(v)),  # noqa: ARG005
    "inverse": lambda v, rng: 1.0 / (unit(v) - unit(v).min() + 1.0),  # noqa: ARG005
    "sigmoid": lambda v, rng: 1.0 / (1.0 + np.exp(-unit(v))),  # noqa: ARG005
}


def drawn(part: str, depends: int, seed: int) -> Dataset:
    """A dataset of the simulation's kind; its name is that of the outer function."""
    (n, dz, *_), rng = PARTS[part], np.random.default_rng([*PARTS[part][:2], depends, seed])
    names = list(FUNCTIONS)
    inner, outer = names[rng.integers(len(names))], names[rng.integers(len(names))]
    kind = ("uniform", "standard_normal", "laplace")[rng.integers(3)]

    def noise(*size: int) -> Floats:
        if kind == "uniform":
            return SPREAD * rng.uniform(-1.0, 1.0, size)
        return SPREAD * (rng.standard_normal(size) if kind == "standard_normal" else rng.laplace(size=size))

    x = 2.0 * noise(n)
    a, b = rng.uniform(-1.0, 1.0, (2, dz))
    z = FUNCTIONS[inner](np.outer(x, a) + noise(n, dz), rng)
    y = FUNCTIONS[outer](z @ b + depends * rng.uniform(1.0, 2.0) * x + noise(n), rng)
    return Dataset(outer, seed, np.nan, x[:, None], y[:, None], z, x[:, None], y[:, None], np.nan)


def tasks(options: Namespace) -> list[Task]:
    return [
        Task({"part": part, "depends": depends, "seed": seed}, partial(drawn, part, depends, seed), ("dine",))
        for part in options.part
        for depends in (0, 1)
        for seed in range(options.seeds)
    ]


def published(part: str, name: str, found: tuple[float, ...]) -> dict[str, object]:
    f1, auc, first, second = found
    return {
        "part": part,
        "test": name,
        "datasets": 500,
        "type I": 0.01 * first,
        "power": 1.0 - 0.01 * second,
        "F1": 0.01 * f1,
        "AUC": 0.01 * auc,
        "its error": np.nan,
    }


def main() -> None:
    parser = common.parser(__doc__, seeds=25)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options), "public_lcit", {"dine": tested}, scope=TESTS)
    lines: list[dict[str, object]] = []
    bars = []
    for part in options.part:
        ours = figures(rows[rows.part == part])
        _, _, lcit, kcit = PARTS[part]
        lines.append({"part": part, "test": "dine", **ours})
        lines += [published(part, name, found) for name, found in (("LCIT", lcit), ("KCIT", kcit))]
        bars.append(common.Bar(f"{part}: F1, beside LCIT's", ours["F1"], low=0.01 * lcit[0]))
        bars.append(common.Bar(f"{part}: AUC, beside LCIT's", ours["AUC"], low=0.01 * lcit[1]))
    notes = NOTES.format(seeds=options.seeds, error=2.0 * np.sqrt(0.05 * 0.95 / options.seeds))
    common.report(
        options.output / "public_lcit.md",
        "# Many columns in Z: after LCIT's simulation",
        common.bar_table(bars),
        notes,
        common.markdown(lines),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()

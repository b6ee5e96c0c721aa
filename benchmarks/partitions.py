"""How far answers would move with another partition into folds, and what the standard error says of it.

python benchmarks/partitions.py [--seeds 3] [--partitions 6] [--jobs 2] [--fresh] [--output FOLDER]

Partitions, and the starts of networks, are drawn once and for all, so nothing that a user does shows this. Here they
are drawn again, on families other than those that the accuracy is reported on.
"""

import common

# isort: split

from functools import partial

import numpy as np
import pandas as pd

import pydine
from pydine.experiments.grids import Grid
from pydine.types import FloatArray
from pydine.units import rows
from pydine.units.rungs import networks

FIGURES = ("moves by", "says")
SIZES, DIMENSIONS, CORRELATIONS = (300, 1000), (1, 5, 10), (0.3, 0.9)

NOTES = """
`base="gaussian"`. "moves by": the standard deviation of an estimate over {partitions} draws of the partitions and
starts, "says": what `details["uncertainty"]["algorithm"]` says of it, both as root mean squares over {seeds} datasets
of each of five families, in units of the sampling error. The factor in `bases/gaussian.py` was set on these families:
the table shows how far one factor serves all of them, and is no blind test of it.
""".strip()


def standardised(a: FloatArray) -> FloatArray:
    return (a - a.mean()) / a.std() if a.std() > 0.0 else a


def index(z: FloatArray, rng: np.random.Generator) -> FloatArray:
    return standardised(z @ rng.standard_normal(z.shape[1]))


def bumps(z, rng):
    u = index(z, rng)
    return np.exp(-2 * (u - 0.8) ** 2) - np.exp(-2 * (u + 0.8) ** 2), np.abs(u), 1 / (1 + u * u), np.tanh(u)


def extremes(z, _):
    a, b = z[:, 0], z[:, 1 % z.shape[1]]
    return np.maximum(a, b), np.minimum(a, b) + 0.5 * np.abs(a), np.tanh(a - b), np.cos(b)


def chain(z, _):
    s = np.cumsum(z, axis=1) / np.sqrt(np.arange(1, z.shape[1] + 1))
    return np.sin(1.8 * s).sum(1), np.cos(1.5 * s).sum(1) + 0.3 * s[:, -1], np.tanh(s[:, -1]), np.sin(s[:, 0])


def mild(z, rng):
    u, v = index(z, rng), index(z, rng)
    return u + 0.3 * u * u, v + 0.25 * np.sin(2 * u), 0.3 * v, 0.3 * u


def linear(z, rng):
    u, v = index(z, rng), index(z, rng)
    return u, v + 0.5 * u, 0 * u, 0 * u


FAMILIES = {function.__name__: function for function in (bumps, extremes, chain, mild, linear)}


def draw(family: str, n: int, dz: int, rho: float, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng([sum(map(ord, family)), dz, seed])
    z = rng.standard_normal((n, dz))
    location_x, location_y, scale_x, scale_y = map(standardised, FAMILIES[family](z, rng))
    noise, other = rng.standard_normal((2, n))
    x = 1.4 * location_x + np.exp(0.4 * scale_x) * noise
    y = 1.2 * location_y + np.exp(0.4 * scale_y) * (rho * noise + np.sqrt(1 - rho * rho) * other)
    return x, y, z


def partitioned(data: tuple[FloatArray, FloatArray, FloatArray], partitions: int) -> dict[str, float]:
    """How far an estimate moves with the draw, and what it says of that, in units of its sampling error."""
    answers, before = [], (rows.SEED, networks.SEED)
    for seed in range(partitions):
        rows.SEED = networks.SEED = seed
        answers.append(pydine.mutual_information(*data, base="gaussian"))
    rows.SEED, networks.SEED = before
    parts = pd.DataFrame([answer.details["uncertainty"] for answer in answers])
    sampling = parts.sampling.mean()
    moves = np.std([answer.value for answer in answers], ddof=1) / sampling
    says = np.sqrt((parts.algorithm**2).mean()) / sampling
    return {"moves by": moves, "says": says}


def table(found: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (n, dz, rho), part in found.groupby(["n", "dz", "rho"]):
        figures = {name: float(np.sqrt((part[name] ** 2).mean())) for name in FIGURES}
        lines.append(
            {"n": n, "dz": dz, "rho": f"{rho:g}", **figures, "says / moves by": figures["says"] / figures["moves by"]}
        )
    return lines


def main() -> None:
    options = common.parser(__doc__, seeds=3)
    options.add_argument("--partitions", type=int, default=6)
    options = options.parse_args()
    axes = {"family": tuple(FAMILIES), "n": SIZES, "dz": DIMENSIONS, "rho": CORRELATIONS}
    grid = Grid("I(X;Y|Z)", draw, axes, range(options.seeds), {"partitions": options.partitions})
    methods = {common.DEFAULT: partial(partitioned, partitions=options.partitions)}
    found = common.run_from(options, grid.tasks(methods), "partitions", methods, figures=FIGURES)
    median, largest = found["moves by"].median(), found["moves by"].max()
    common.report(
        options.output / "partitions.md",
        "# What another partition would do",
        NOTES.format(partitions=options.partitions, seeds=options.seeds),
        f"An estimate moves by {median:.2f} sampling errors (median of {len(found)} datasets), {largest:.2f} at most.",
        common.markdown(table(found)),
        "## Provenance",
        common.provenance(found),
    )


if __name__ == "__main__":
    main()

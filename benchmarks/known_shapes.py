"""Shapes of dependence whose information is known; none of them is a task of "Beyond Normal".

python benchmarks/known_shapes.py    computes the truths, beside those that the benchmarks use

A new shape is a function from (rng, n) to x and y, one more to its truth in nats, and an entry in ``SHAPES``.
"""

import one_thread  # noqa: F401
from pydine.types import FloatArray

# isort: split

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, k0, xlogy
from scipy.stats import norm

from pydine.experiments.datasets import Dataset, gaussian_truth

Pair = tuple[FloatArray, FloatArray]

PARABOLA_NOISE = 0.7
SINE_FREQUENCY, SINE_NOISE = 6.0, 0.4
RING_WIDTH = 0.2
LOG_SCALE = 0.8  # heteroscedastic: the standard deviation of y is exp(LOG_SCALE x)
CLAYTON = 2.0
CENTRES = np.array([[-2.0, 1.0], [0.0, -1.5], [0.5, 0.5], [2.0, 1.5]])
WIDTHS = np.array([0.5, 0.6, 0.3, 0.4])
SHARED_LOG_SCALE = {3: 0.6, 1: 1.0}  # by the number of columns
PRODUCT_NOISE = 0.4
SWITCHED = 0.85  # correlation, of either sign
CORRELATION = 0.5


# --- truths: the information of a density on a fine grid, by the masses of its cells ---


def information(masses: FloatArray) -> float:
    """Information between row and column of a table of masses, in nats."""
    joint = masses / masses.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return float(xlogy(joint, joint).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum())


def channel(signal: FloatArray, masses: FloatArray, noise: float) -> float:
    """Information between a signal, given by masses on a grid, and the signal plus normal noise."""
    outputs = np.linspace(signal.min() - 7 * noise, signal.max() + 7 * noise, 3000)
    return information(masses[:, None] * norm.pdf(outputs, signal[:, None], noise))


def middles(low: float, high: float, cells: int) -> FloatArray:
    edges = np.linspace(low, high, cells + 1)
    return (edges[1:] + edges[:-1]) / 2


def plane(density: Callable[[FloatArray, FloatArray], FloatArray], reach: float) -> float:
    """Information of a smooth bivariate density, all of whose mass lies in the square up to ``reach``."""
    grid = middles(-reach, reach, 2000)
    return information(density(grid[:, None], grid))


# --- the shapes, each followed by its truth ---


def _parabola(rng: Generator, n: int) -> Pair:
    x = rng.standard_normal((n, 1))
    return x, x**2 + PARABOLA_NOISE * rng.standard_normal((n, 1))


def _parabola_truth() -> float:
    x = middles(-7.0, 7.0, 2000)
    return channel(x**2, norm.pdf(x), PARABOLA_NOISE)


def _sine(rng: Generator, n: int) -> Pair:
    x = rng.uniform(-1.0, 1.0, (n, 1))
    return x, np.sin(SINE_FREQUENCY * x) + SINE_NOISE * rng.standard_normal((n, 1))


def _sine_truth() -> float:
    signal = np.sin(SINE_FREQUENCY * middles(-1.0, 1.0, 2000))
    return channel(signal, np.ones(len(signal)), SINE_NOISE)


def _product(rng: Generator, n: int) -> Pair:
    x = rng.standard_normal((n, 2))
    return x, x[:, :1] * x[:, 1:] + PRODUCT_NOISE * rng.standard_normal((n, 1))


def _product_truth() -> float:
    """Y depends on x through the product p of its columns, of density K0(|p|) / pi; a cubic grid resolves the pole."""
    root = middles(-3.0, 3.0, 3000)
    return channel(root**3, k0(np.abs(root**3)) * root**2, PRODUCT_NOISE)


def _heteroscedastic(rng: Generator, n: int) -> Pair:
    x = rng.standard_normal((n, 1))
    return x, np.exp(LOG_SCALE * x) * rng.standard_normal((n, 1))


def _heteroscedastic_truth() -> float:
    """The sign of y is independent of all else: all information is in ln|y|, LOG_SCALE x plus ln|standard normal|."""
    x, y = middles(-7.0, 7.0, 2000), middles(-22.0, 9.0, 3000)
    return information(norm.pdf(x)[:, None] * _log_chi(y - LOG_SCALE * x[:, None], 1))


def _log_chi(a: FloatArray, d: int) -> FloatArray:
    """Density of the logarithm of the length of a standard normal vector with d columns."""
    return np.asarray(np.exp(d * a - 0.5 * np.exp(2 * a) - gammaln(d / 2) - (d / 2 - 1) * math.log(2)))


def _common_scale(rng: Generator, n: int, d: int) -> Pair:
    scale = np.exp(SHARED_LOG_SCALE[d] * rng.standard_normal((n, 1)))
    return scale * rng.standard_normal((n, d)), scale * rng.standard_normal((n, d))


def _common_scale_truth(d: int) -> float:
    """Directions are independent of all else: all information is in the lengths, independent given the scale."""
    scale, length = middles(-7.0, 7.0, 700), middles(-24.0, 9.0, 3300)
    given = _log_chi(length - SHARED_LOG_SCALE[d] * scale[:, None], d)
    return information(given.T @ (norm.pdf(scale)[:, None] * given))


def _ring(rng: Generator, n: int) -> Pair:
    angle, radius = rng.uniform(0.0, 2 * np.pi, (n, 1)), rng.normal(1.0, RING_WIDTH, (n, 1))
    return radius * np.cos(angle), radius * np.sin(angle)


def _ring_truth() -> float:
    def density(x: FloatArray, y: FloatArray) -> FloatArray:
        radius = np.hypot(x, y)
        return np.asarray((norm.pdf(radius, 1.0, RING_WIDTH) + norm.pdf(-radius, 1.0, RING_WIDTH)) / radius)

    return plane(density, 2.5)


def _clusters(rng: Generator, n: int) -> Pair:
    kind = rng.integers(len(CENTRES), size=n)
    both = CENTRES[kind] + WIDTHS[kind, None] * rng.standard_normal((n, 2))
    return both[:, :1], both[:, 1:]


def _clusters_truth() -> float:
    def density(x: FloatArray, y: FloatArray) -> FloatArray:
        pairs = zip(CENTRES, WIDTHS, strict=True)
        return np.sum([norm.pdf(x, a, width) * norm.pdf(y, b, width) for (a, b), width in pairs], axis=0)

    return plane(density, 6.0)


def _switch(rng: Generator, n: int) -> Pair:
    x, sign = rng.standard_normal((n, 1)), rng.choice([-1.0, 1.0], (n, 1))
    return x, SWITCHED * sign * x + math.sqrt(1 - SWITCHED**2) * rng.standard_normal((n, 1))


def _switch_truth() -> float:
    def density(x: FloatArray, y: FloatArray) -> FloatArray:
        width = math.sqrt(1 - SWITCHED**2)
        return np.asarray(norm.pdf(x) * (norm.pdf(y, SWITCHED * x, width) + norm.pdf(y, -SWITCHED * x, width)))

    return plane(density, 7.0)


def _clayton(rng: Generator, n: int) -> Pair:
    frailty = rng.gamma(1 / CLAYTON, 1.0, (n, 1))
    both = (1.0 + rng.exponential(1.0, (n, 2)) / frailty) ** (-1 / CLAYTON)
    return both[:, :1], both[:, 1:]


def _clayton_truth() -> float:
    """E ln c, with E ln u = -1 and 1 / (u^-t + v^-t - 1) a Beta(1/t, 2) variable."""
    return math.log1p(CLAYTON) - CLAYTON / (1 + CLAYTON)


def _checkerboard(rng: Generator, n: int) -> Pair:
    column = rng.integers(4, size=(n, 1))
    row = 2 * rng.integers(2, size=(n, 1)) + column % 2
    return column + rng.random((n, 1)), row + rng.random((n, 1))


def _gaussian(rng: Generator, n: int) -> Pair:
    x = rng.standard_normal((n, 3))
    return x, CORRELATION * x + math.sqrt(1 - CORRELATION**2) * rng.standard_normal((n, 3))


# --- the table ---


@dataclass(frozen=True)
class Shape:
    """How x and y are drawn, how the truth is computed, and its value; with dz, both sides follow z as well."""

    draw: Callable[[Generator, int], Pair]
    compute: Callable[[], float]
    truth: float
    dz: int = 0


def _scaled(d: int, truth: float, dz: int = 0) -> Shape:
    return Shape(partial(_common_scale, d=d), partial(_common_scale_truth, d), truth, dz)


SHAPES: dict[str, Shape] = {
    "parabola": Shape(_parabola, _parabola_truth, 0.60772),
    "sine": Shape(_sine, _sine_truth, 0.67650),
    "ring": Shape(_ring, _ring_truth, 0.27500),
    "heteroscedastic": Shape(_heteroscedastic, _heteroscedastic_truth, 0.32772),
    "Clayton copula": Shape(_clayton, _clayton_truth, 0.43195),
    "checkerboard": Shape(_checkerboard, partial(math.log, 2.0), 0.69315),
    "clusters": Shape(_clusters, _clusters_truth, 0.49698),
    "sign switch": Shape(_switch, _switch_truth, 0.27839),
    "product of two": Shape(_product, _product_truth, 0.89718),
    "common scale 3 x 3": _scaled(3, 0.24798),
    "Gaussian 3 x 3": Shape(_gaussian, partial(gaussian_truth, 3, CORRELATION), 0.43152),
    "parabola given z": Shape(_parabola, _parabola_truth, 0.60772, 1),
    "parabola given 3 z": Shape(_parabola, _parabola_truth, 0.60772, 3),
    "common scale given z": _scaled(1, 0.15997, 1),
    "common scale given 3 z": _scaled(1, 0.15997, 3),
}


def sample(name: str, n: int, seed: int) -> Dataset:
    """Draw n rows of a shape. Where there is a z, it shifts x and y, each by a function of its own."""
    shape = SHAPES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), n, seed])
    x, y = shape.draw(rng, n)
    z = rng.standard_normal((n, shape.dz)) if shape.dz else None
    if z is None:
        return Dataset(name, seed, math.nan, x, y, None, x, y, shape.truth)
    index = z.sum(axis=1, keepdims=True) / math.sqrt(shape.dz)
    shifted = x + 1.5 * np.sin(1.5 * index), y + np.tanh(2 * index) + 0.5 * z[:, -1:] ** 2
    return Dataset(name, seed, math.nan, *shifted, z, x, y, shape.truth)


GIVEN = ("parabola", "common scale", "clusters", "sine")


def sample_given(name: str, n: int, dz: int, seed: int) -> Dataset:
    """Draw n rows of a shape whose sides both follow z, in location and in scale, each in a way of its own."""
    shape = SHAPES["common scale given z" if name == "common scale" else name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), dz, n, seed])
    x, y = shape.draw(rng, n)
    z = rng.standard_normal((n, dz))
    index = z.sum(axis=1, keepdims=True) / math.sqrt(dz)
    moved_x = np.exp(0.4 * np.tanh(z[:, :1])) * x + 1.5 * np.sin(1.5 * index)
    moved_y = np.exp(0.4 * np.sin(index)) * y + np.tanh(2 * index) + 0.5 * z[:, -1:] ** 2
    return Dataset(name, seed, math.nan, moved_x, moved_y, z, x, y, shape.truth)


# --- independent sides ---


def _student_sides(rng: Generator, n: int, d: int) -> FloatArray:
    return np.asarray(rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(2, (n, 1)) / 2))


SIDES: dict[str, Callable[[Generator, int, int], FloatArray]] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "Cauchy": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "student": _student_sides,
    "lognormal": lambda rng, n, d: rng.lognormal(0.0, 2.0, (n, d)),
}


def sample_independent(name: str, n: int, seed: int) -> Dataset:
    """Draw n rows of independent sides; a name is that of the margins and the columns of a side: "normal 3 x 3"."""
    margins, d = name.split()[0], int(name.split()[-1])
    rng = np.random.default_rng([zlib.crc32(margins.encode()), d, n, seed])
    x, y = SIDES[margins](rng, n, d), SIDES[margins](rng, n, d)
    return Dataset(margins, seed, 0.0, x, y, None, x, y, 0.0)


def truths() -> dict[str, float]:
    """Compute every truth anew, in nats."""
    return {name: shape.compute() for name, shape in SHAPES.items()}


if __name__ == "__main__":
    for name, truth in truths().items():
        print(f"{name}: computed {truth:.5f}, used {SHAPES[name].truth:.5f}")

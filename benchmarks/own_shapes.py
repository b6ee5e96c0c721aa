"""Shapes for tuning constants, given z: none of them is among those that accuracy and coverage are reported on.

python benchmarks/own_shapes.py    computes the truths, beside those that are used

What z does to location and scale of both sides is that of `own_families.py`, another effect for each seed.
"""

import one_thread  # noqa: F401
from pydine.types import FloatArray

# isort: split

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from known_shapes import channel, information, middles, plane
from own_families import FAMILIES, standardised
from pydine.experiments.datasets import Dataset

Pair = tuple[FloatArray, FloatArray]
Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Shape:
    """How x and y are drawn, (n,) each, how the truth is computed, and its value in nats."""

    draw: Callable[[Generator, int], Pair]
    compute: Callable[[], float]
    truth: float


# --- curves with normal noise: x is uniform up to a reach, or normal if there is none ---


def _curve(rng: Generator, n: int, curve: Curve, noise: float, reach: float) -> Pair:
    x = rng.uniform(-reach, reach, n) if reach else rng.standard_normal(n)
    return x, curve(x) + noise * rng.standard_normal(n)


def _curve_truth(curve: Curve, noise: float, reach: float) -> float:
    x = middles(-(reach or 7.0), reach or 7.0, 2000)
    return channel(curve(x), np.ones(len(x)) if reach else norm.pdf(x), noise)


def curve_of(curve: Curve, noise: float, reach: float, truth: float) -> Shape:
    return Shape(
        partial(_curve, curve=curve, noise=noise, reach=reach), partial(_curve_truth, curve, noise, reach), truth
    )


# --- normal clusters: weight, centre, deviations and correlation of each ---


def _clusters(rng: Generator, n: int, clusters: FloatArray) -> Pair:
    x, y, wide, high, correlation = clusters[rng.choice(len(clusters), n, p=clusters[:, 0]), 1:].T
    a, b = rng.standard_normal((2, n))
    return x + wide * a, y + high * (correlation * a + np.sqrt(1 - correlation**2) * b)


def _clusters_truth(clusters: FloatArray) -> float:
    def density(x: FloatArray, y: FloatArray) -> FloatArray:
        total = np.zeros((len(x), len(y)))
        for weight, a, b, wide, high, r in clusters:
            u = (x - a) / wide
            total += weight * norm.pdf(u) * norm.pdf((y - b) / high, r * u, np.sqrt(1 - r * r)) / (wide * high)
        return total

    return plane(density, 12.0)


def clusters_of(truth: float, *clusters: tuple[float, ...]) -> Shape:
    found = np.array(clusters)
    found[:, 0] /= found[:, 0].sum()
    return Shape(partial(_clusters, clusters=found), partial(_clusters_truth, found), truth)


# --- uniform on a region of the square from -1 to 1 ---

Region = Callable[[FloatArray, FloatArray], FloatArray]


def _region(rng: Generator, n: int, inside: Region) -> Pair:
    x, y = rng.uniform(-1.0, 1.0, (2, 40 * n))
    kept = np.flatnonzero(inside(x, y))[:n]
    return x[kept], y[kept]


def _region_truth(inside: Region) -> float:
    grid = middles(-1.0, 1.0, 2000)
    return information(inside(grid[:, None], grid).astype(float))


def region_of(inside: Region, truth: float) -> Shape:
    return Shape(partial(_region, inside=inside), partial(_region_truth, inside), truth)


# --- others ---


def _scaled(rng: Generator, n: int, scale: Curve) -> Pair:
    x = rng.standard_normal(n)
    return x, scale(x) * rng.standard_normal(n)


def _scaled_truth(scale: Curve) -> float:
    x, y = middles(-6.0, 6.0, 2000), middles(-25.0, 25.0, 8000)
    return information(norm.pdf(x)[:, None] * norm.pdf(y, 0.0, scale(x)[:, None]))


def scaled_by(scale: Curve, truth: float) -> Shape:
    return Shape(partial(_scaled, scale=scale), partial(_scaled_truth, scale), truth)


FRANK = 6.0


def _frank(rng: Generator, n: int) -> Pair:
    u, v = rng.random((2, n))
    top = np.expm1(-FRANK)
    return u, -np.log1p(v * top / (v + (1 - v) * np.exp(-FRANK * u))) / FRANK


def _frank_truth() -> float:
    u = middles(0.0, 1.0, 2000)
    both = np.expm1(-FRANK * u)
    masses = np.exp(-FRANK * (u[:, None] + u)) / (np.expm1(-FRANK) + both[:, None] * both) ** 2
    return information(masses)


def _tall(x: FloatArray) -> FloatArray:
    return np.asarray(0.15 + np.abs(x))


def _loud(x: FloatArray) -> FloatArray:
    return np.where(x > 0.5, 1.5, 0.3)


def _stairs(x: FloatArray) -> FloatArray:
    return np.floor(4.0 * x) / 4.0


def _zigzag(x: FloatArray) -> FloatArray:
    return np.asarray(2.0 * np.abs(np.mod(2.0 * x, 2.0) - 1.0))


SHAPES: dict[str, Shape] = {
    "zigzag": curve_of(_zigzag, 0.25, 1.0, 0.88630),
    "cubic": curve_of(lambda x: x**3 - 3.0 * x, 0.8, 2.0, 0.66135),
    "quartic": curve_of(lambda x: (x * x - 1.0) ** 2, 0.3, 1.6, 0.64698),
    "step": curve_of(np.sign, 0.5, 0.0, 0.63272),
    "stairs": curve_of(_stairs, 0.15, 1.0, 1.29021),
    "cosine": curve_of(lambda x: np.cos(4.0 * x), 0.5, 1.0, 0.53477),
    "tent": curve_of(np.abs, 0.4, 0.0, 0.56362),
    "fine wave": curve_of(lambda x: np.sin(10.0 * x), 0.5, 1.0, 0.51776),
    "bump": curve_of(lambda x: 2.0 * np.exp(-2.0 * x * x), 0.4, 0.0, 0.68243),
    "hinge": curve_of(lambda x: 1.5 * np.maximum(x, 0.0), 0.4, 0.0, 0.71963),
    "three blobs": clusters_of(
        0.32530, (0.5, -1.2, 0.0, 0.5, 0.5, 0.0), (0.3, 0.8, 1.2, 0.4, 0.4, 0.0), (0.2, 0.8, -1.2, 0.4, 0.6, 0.0)
    ),
    "star": clusters_of(
        0.34497, *((0.2, 1.6 * np.cos(a), 1.6 * np.sin(a), 0.4, 0.4, 0.0) for a in 0.4 * np.pi * np.arange(5))
    ),
    "lattice": clusters_of(
        0.40885,
        *((0.2, a, b, 0.35, 0.35, 0.0) for a, b in ((-1.5, -1.5), (-1.5, 1.5), (0, 0), (1.5, -1.5), (1.5, 1.5))),
    ),
    "two tilted": clusters_of(0.47979, (0.5, -0.8, 0.0, 0.8, 0.8, 0.85), (0.5, 0.8, 0.0, 0.8, 0.8, -0.85)),
    "diagonal blobs": clusters_of(
        1.02086, *((0.25, a, b, 0.3, 0.3, 0.0) for a, b in ((-1.5, 0.5), (-0.5, -1.5), (0.5, 1.5), (1.5, -0.5)))
    ),
    "two lines": clusters_of(0.61453, (0.6, 0.0, 0.5, 1.0, 1.2, 0.95), (0.4, 0.0, -0.5, 1.0, 0.6, -0.8)),
    "burst": clusters_of(0.12435, (0.5, 0.0, 0.0, 0.4, 0.4, 0.0), (0.5, 0.0, 0.0, 2.0, 2.0, 0.0)),
    "disc": region_of(lambda x, y: x * x + y * y < 1.0, 0.14475),
    "diamond": region_of(lambda x, y: np.abs(x) + np.abs(y) < 1.0, 0.30688),
    "corner": region_of(lambda x, y: (x < -0.3) | (y < -0.3), 0.27809),
    "wedge": region_of(lambda x, y: np.abs(y) < 0.5 * (1.0 + x), 0.30685),
    "tall": scaled_by(_tall, 0.26109),
    "loud": scaled_by(_loud, 0.28884),
    "Frank copula": Shape(_frank, _frank_truth, 0.33676),
}


def sample(name: str, n: int, dz: int, seed: int) -> Dataset:
    """Draw n rows of a shape whose sides both follow z in location and scale; without columns of z, of the shape."""
    shape = SHAPES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), dz, n, seed])
    x, y = (a[:, None] for a in shape.draw(rng, n))
    if dz == 0:
        return Dataset(name, seed, np.nan, x, y, None, x, y, shape.truth)
    z = rng.standard_normal((n, dz))
    effect = list(FAMILIES.values())[seed % len(FAMILIES)]
    location_x, location_y, scale_x, scale_y = (standardised(part)[:, None] for part in effect(z, rng))
    moved_x = np.exp(0.4 * scale_x) * x + 1.4 * x.std() * location_x
    moved_y = np.exp(0.4 * scale_y) * y + 1.2 * y.std() * location_y
    return Dataset(name, seed, np.nan, moved_x, moved_y, z, x, y, shape.truth)


def truths() -> dict[str, float]:
    """Compute every truth anew, in nats."""
    return {name: shape.compute() for name, shape in SHAPES.items()}


if __name__ == "__main__":
    for name, truth in truths().items():
        print(f"{name}: computed {truth:.5f}, used {SHAPES[name].truth:.5f}")

"""Families for tuning constants: none of them is among those that accuracy and coverage are reported on.

Z moves location and scale of both sides, whose noises have the correlation rho. `SMOOTH` are effects that flows follow
with some hundreds of rows; `ROUGH` ones take thousands given many columns, so that much stays unlearned.
"""

import math

import numpy as np

from pydine.experiments.datasets import Dataset
from pydine.types import FloatArray


def standardised(a: FloatArray) -> FloatArray:
    return (a - a.mean()) / a.std() if a.std() > 0.0 else a


def index(z: FloatArray, rng: np.random.Generator) -> FloatArray:
    return standardised(z @ rng.standard_normal(z.shape[1]))


# --- effects of z: locations of x and y, then log-scales ---


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


def waves(z, rng):
    return np.sin(2 * index(z, rng)), np.sin(2 * index(z, rng)), np.cos(index(z, rng)), np.cos(index(z, rng))


def products(z, _):
    a, b = z[:, 0], z[:, 1 % z.shape[1]]
    return a * z[:, -1], b * z[:, -2 % z.shape[1]], np.tanh(a), np.tanh(b)


def distances(z, rng):
    r, s = (np.sqrt(((z - rng.standard_normal(z.shape[1])) ** 2).mean(axis=1)) for _ in range(2))
    return np.sin(4 * r), np.cos(4 * s), r, -s


def folded(z, rng):
    return np.abs(index(z, rng)), np.abs(index(z, rng)), np.sign(index(z, rng)), np.sign(index(z, rng))


SMOOTH = {function.__name__: function for function in (bumps, extremes, chain, mild, linear)}
ROUGH = {function.__name__: function for function in (waves, products, distances, folded)}
FAMILIES = SMOOTH | ROUGH


def sample(family: str, n: int, dz: int, rho: float, seed: int) -> Dataset:
    """A dataset of a family, with columns (n, 1), (n, 1) and (n, dz)."""
    rng = np.random.default_rng([sum(map(ord, family)), dz, seed])
    z = rng.standard_normal((n, dz))
    location_x, location_y, scale_x, scale_y = map(standardised, FAMILIES[family](z, rng))
    noise, other = rng.standard_normal((2, n))
    both = noise, rho * noise + np.sqrt(1 - rho * rho) * other
    x = 1.4 * location_x + np.exp(0.4 * scale_x) * both[0]
    y = 1.2 * location_y + np.exp(0.4 * scale_y) * both[1]
    truth = -0.5 * math.log1p(-rho * rho)
    return Dataset(family, seed, rho, x[:, None], y[:, None], z, both[0][:, None], both[1][:, None], truth)

"""Null families of columns of any kind: X and Y are independent given Z, and both follow Z; and alternatives to them.

A new family is a function from (rng, n) to x, y and z (None, a column, or a dict of several), decorated with
``family``. Its alternative is derived from it: in a share of the rows y follows x.
"""

import one_thread  # noqa: F401

# isort: split

import zlib
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from mixed_tasks import LETTERS, Column, MixedData

Columns = tuple[Column, Column, Column | dict[str, Column] | None]
FAMILIES: dict[str, Callable[[Generator, int], Columns]] = {}


def family(name: str) -> Callable[[Callable[[Generator, int], Columns]], Callable[[Generator, int], Columns]]:
    def register(draw: Callable[[Generator, int], Columns]) -> Callable[[Generator, int], Columns]:
        FAMILIES[name] = draw
        return draw

    return register


def labels(rng: Generator, weights: NDArray[np.float64]) -> Column:
    """A label for each row of weights (n, k)."""
    shares = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return LETTERS[(rng.random(len(shares))[:, None] > shares).sum(axis=1).clip(0, shares.shape[1] - 1)]


@family("3 labels, curved z")
def curved(rng: Generator, n: int) -> Columns:
    z = rng.standard_normal(n)
    return labels(rng, np.exp(np.column_stack([z, -z, np.full(n, 0.3)]))), z**2 + 0.5 * rng.standard_normal(n), z


@family("yes/no and count, waves of 5")
def waves(rng: Generator, n: int) -> Columns:
    z = rng.standard_normal((n, 5))
    return rng.random(n) < expit(np.sin(z).sum(axis=1)), rng.poisson(np.exp(0.5 * np.cos(z).sum(axis=1) - 1)), z


@family("6 labels and a number in z")
def with_labels(rng: Generator, n: int) -> Columns:
    which, w = rng.integers(6, size=n), rng.standard_normal(n)
    centre = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5])[which]
    x, y = centre + w + rng.standard_normal(n), rng.random(n) < expit(-centre * w - w)
    return x, y, {"which": LETTERS[which], "w": w}


@family("common rate")
def rates(rng: Generator, n: int) -> Columns:
    z = rng.gamma(2.0, 1.0, n)
    return rng.poisson(z), rng.poisson(2.0 * z), z


@family("zero inflation")
def zeros(rng: Generator, n: int) -> Columns:
    z = rng.standard_normal(n)
    x = np.where(rng.random(n) < expit(z), 0.0, np.exp(z + rng.standard_normal(n)))
    return x, np.where(rng.random(n) < expit(-z), 0, rng.poisson(np.exp(0.5 * z + 0.5))), z


@family("sparse table")
def sparse(rng: Generator, n: int) -> Columns:
    x, y = (rng.choice(k, n, p=rng.dirichlet(np.full(k, 0.7))) for k in (8, 9))
    return LETTERS[x], LETTERS[y], None


@family("tables given 4 labels")
def stratified(rng: Generator, n: int) -> Columns:
    z, fixed = rng.integers(4, size=n), np.random.default_rng(1)
    x, y = (labels(rng, fixed.dirichlet(np.ones(k), 4)[z]) for k in (5, 4))
    return x, y, LETTERS[z]


@family("yes/no, product of two")
def products(rng: Generator, n: int) -> Columns:
    z = rng.standard_normal((n, 2))
    chance = expit(4.0 * z[:, 0] * z[:, 1])
    return rng.random(n) < chance, rng.random(n) < chance, z


@family("counts given a count")
def given_count(rng: Generator, n: int) -> Columns:
    z = rng.integers(1, 11, n)
    return rng.binomial(z, 0.5), rng.poisson(z), z


@family("number, count, count")
def chain(rng: Generator, n: int) -> Columns:
    x = rng.exponential(10.0, n)
    z = rng.poisson(x)
    return x, rng.binomial(z, 0.5), z


@family("3 labels, spread follows z")
def spread(rng: Generator, n: int) -> Columns:
    z = rng.standard_normal(n)
    return LETTERS[np.digitize(z + rng.standard_normal(n), [-0.7, 0.7])], np.exp(0.7 * z) * rng.standard_normal(n), z


@family("counts, label and number in z")
def counts(rng: Generator, n: int) -> Columns:
    which, z = rng.integers(3, size=n), rng.standard_normal(n)
    x, y = rng.poisson(np.exp(0.5 * z + 0.5 * which)), rng.poisson(np.exp(-0.5 * z + 0.3 * which * z))
    return x, y, {"which": LETTERS[which], "z": z}


def drawn_along(x: Column, y: Column, rng: Generator, share: float) -> Column:
    """Y, with a share of it drawn along by x: numbers and counts move up where x is high, labels become x's own."""
    codes = np.unique(x, return_inverse=True)[1]
    if y.dtype.kind == "U":
        return np.where(rng.random(len(y)) < share, np.unique(y)[codes % len(np.unique(y))], y)
    is_high, is_moved = 2 * codes > codes.max(), rng.random(len(y)) < 2.0 * share
    if y.dtype.kind == "b":
        return np.where(is_moved, is_high, y)
    return y + (is_high & is_moved) * (1 if y.dtype.kind in "iu" else float(np.std(y)))


def sample(name: str, n: int, seed: int, share: float = 0.0) -> MixedData:
    """Draw n rows of a family, or of its alternative: with y drawn along by x in a share of the rows."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), n, seed])
    x, y, z = FAMILIES[name](rng, n)
    return MixedData(x, y if share == 0.0 else drawn_along(x, y, rng, share), z, 0.0)

"""The paper's synthetic datasets (Duong and Nguyen 2023, "Synthetic Data"), drawn as its authors drew them.

A dataset depends on (n, d, rho, seed) alone, through the legacy ``numpy.random.RandomState``: the order of
the draws below is part of the recipe. Draw anything earlier, later or twice and it is another dataset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.random import RandomState
from scipy.special import expit

from pydine.types import FloatArray

Distortion: TypeAlias = Callable[[FloatArray, RandomState], FloatArray]

SAMPLE_SIZES = (200, 1000)
DIMENSIONS = (2, 20)
CELLS = tuple(product(SAMPLE_SIZES, DIMENSIONS))
CORRELATIONS = (-0.99, -0.75, -0.5, 0.0, 0.5, 0.75, 0.99)
SEEDS = range(50)

CIT_SAMPLE_SIZE = 1000
CIT_DIMENSIONS = (5, 8, 11, 14, 17, 20)
CIT_TRIALS = range(200)
CIT_INDEPENDENT = range(100)  # the trials in which X and Y are independent given Z

Z_SCALE = 0.01  # the authors' code; the paper's text says a variance of 0.01. In both, Z hardly matters.


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of X, Y and perhaps Z whose information is known.

    Attributes
    ----------
    name
        The family it was drawn from, e.g. ``"paper-mi"``.
    seed
        The seed that it was drawn with.
    rho
        Correlation of each pair of latent columns.
    x, y
        Samples, shapes (n, dx) and (n, dy).
    z
        Samples of the conditioning variable, shape (n, dz), or None.
    latent_x, latent_y
        The Gaussian latents behind x and y, of the same shapes. Given z, each side is a one-to-one function
        of its latents.
    truth
        I(X;Y), or I(X;Y|Z) if there is a z, in nats.
    """

    name: str
    seed: int
    rho: float
    x: FloatArray
    y: FloatArray
    z: FloatArray | None
    latent_x: FloatArray
    latent_y: FloatArray
    truth: float

    def first(self, n: int) -> Dataset:
        """Return the first n rows, with the truth of the whole."""
        few = {part: getattr(self, part)[:n] for part in ("x", "y", "latent_x", "latent_y")}
        return replace(self, **few, z=None if self.z is None else self.z[:n])


def gaussian_truth(d: int, rho: float) -> float:
    """Information of d pairs of standard normals with correlation rho: -d/2 ln(1 - rho^2), in nats."""
    return float(-0.5 * d * np.log1p(-rho * rho))


def paper_mi(n: int, d: int, rho: float, seed: int) -> Dataset:
    """Draw one dataset of the paper's Figure 1, I(X;Y).

    Parameters
    ----------
    n, d
        Rows, and columns of each of x and y.
    rho
        Correlation of each pair of latent columns, in (-1, 1).
    seed
        Seed of the legacy generator; the paper used 0 to 49.

    Returns
    -------
    Dataset
        With ``z`` None and the truth in nats.
    """
    rng = RandomState(seed)
    latent_x, latent_y = _latents(rng, n, d, rho)
    f, g = _pair(rng, _MI_DISTORTIONS)
    return Dataset(
        name="paper-mi",
        seed=seed,
        rho=rho,
        x=f(latent_x, rng),
        y=g(latent_y, rng),
        z=None,
        latent_x=latent_x,
        latent_y=latent_y,
        truth=gaussian_truth(d, rho),
    )


def paper_cmi(n: int, d: int, rho: float, seed: int, dz: int | None = None) -> Dataset:
    """Draw one dataset of the paper's Figure 2, I(X;Y|Z).

    Parameters
    ----------
    n, d, rho, seed
        As in :func:`paper_mi`.
    dz
        Columns of z; as many as x has if None, as in the paper.

    Returns
    -------
    Dataset
        With the truth in nats. The latents are those of :func:`paper_mi` with the same arguments.
    """
    dz = d if dz is None else dz
    rng = RandomState(seed)
    latent_x, latent_y = _latents(rng, n, d, rho)
    f, g = _pair(rng, _CMI_DISTORTIONS)
    a, b = rng.randn(2, dz, d)
    z = Z_SCALE * _NOISES[rng.randint(len(_NOISES))](rng, (n, dz))
    return Dataset(
        name="paper-cmi",
        seed=seed,
        rho=rho,
        x=f(z @ a + latent_x, rng),
        y=g(z @ b + latent_y, rng),
        z=z,
        latent_x=latent_x,
        latent_y=latent_y,
        truth=gaussian_truth(d, rho),
    )


def paper_cit(i: int, dz: int, n: int = CIT_SAMPLE_SIZE) -> Dataset:
    """Draw one dataset of the paper's Figure 3, the test of conditional independence.

    Parameters
    ----------
    i
        Trial, 0 to 199: those in ``CIT_INDEPENDENT`` are independent given z. Also the seed.
    dz
        Columns of z; the paper used 5, 8, .., 20.
    n
        Rows.

    Returns
    -------
    Dataset
        With one column in each of x and y and the truth in nats: 0 exactly if independent given z.
    """
    rho = 0.0
    if i not in CIT_INDEPENDENT:
        rng = RandomState(i)
        rho = rng.uniform(0.1, 0.99)
        if rng.randint(2):
            rho = -rho
    return paper_cmi(n, 1, rho, seed=i, dz=dz)


def _latents(rng: RandomState, n: int, d: int, rho: float) -> tuple[FloatArray, FloatArray]:
    eye = np.eye(d)
    covariance = np.block([[eye, rho * eye], [rho * eye, eye]])
    both = rng.multivariate_normal(np.zeros(2 * d), covariance, size=n)
    return both[:, :d], both[:, d:]


def _pair(rng: RandomState, functions: tuple[Distortion, ...]) -> tuple[Distortion, Distortion]:
    pairs = tuple(product(functions, functions))
    return pairs[rng.choice(range(len(pairs)))]


def _scaled(a: FloatArray) -> FloatArray:
    """Divide by the standard deviation of the whole array, not of each column."""
    return np.asarray(a / a.std())


def _linear(a: FloatArray, rng: RandomState) -> FloatArray:
    return _scaled(a) * rng.uniform(0.2, 2)


def _cube(a: FloatArray, _: RandomState) -> FloatArray:
    return np.power(_scaled(a), 3)


def _nexp(a: FloatArray, _: RandomState) -> FloatArray:
    return np.exp(-_scaled(a))


def _log(a: FloatArray, _: RandomState) -> FloatArray:
    scaled = _scaled(a)
    return np.asarray(np.log1p(scaled - scaled.min()))


def _inverse(a: FloatArray, _: RandomState) -> FloatArray:
    scaled = _scaled(a)
    return np.asarray(1 / (scaled - scaled.min() + 1))


def _sigmoid(a: FloatArray, _: RandomState) -> FloatArray:
    return np.asarray(expit(_scaled(a)))


_MI_DISTORTIONS: tuple[Distortion, ...] = (_linear, _cube, _nexp, _log, _inverse, _sigmoid)
_CMI_DISTORTIONS: tuple[Distortion, ...] = (_linear, _cube, _nexp, _log, _sigmoid)
_NOISES: tuple[Callable[[RandomState, tuple[int, int]], FloatArray], ...] = (
    lambda rng, shape: rng.uniform(-1, 1, shape),
    lambda rng, shape: rng.normal(size=shape),
    lambda rng, shape: rng.laplace(size=shape),
)

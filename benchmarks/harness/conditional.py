"""Families in which the conditioning matters: Z moves location and scale of both sides, non-linearly.

Every family is X = f(location_x(Z) + scale_x(Z) E_x), Y = g(location_y(Z) + scale_y(Z) E_y), with f and g
monotone and (E_x, E_y) standard normal with correlation rho, independent of Z. So the truth is
I(X;Y|Z) = -1/2 ln(1 - rho^2), while without Z, or with a linear Z, the two look related when they are not and
unrelated when they are.

These families are for reporting: constants and rules are chosen on other data. One exception is on record: that the
additive rung sees the radius of the context was prompted by the family "radial" (its form was chosen on others).

A new family is one more function from (z, rng) to :class:`Effects` and one more entry in ``FAMILIES``.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from pydine.experiments.datasets import Dataset, gaussian_truth
from pydine.types import FloatArray

SAMPLE_SIZE = 1000
DIMENSIONS = (1, 5, 10)
CORRELATIONS = (0.0, 0.5, 0.9)

LOG_SCALE_SD = 0.4


@dataclass(frozen=True)
class Effects:
    """What z does to both sides, before each is standardised; every array of shape (n,)."""

    location_x: FloatArray
    location_y: FloatArray
    log_scale_x: FloatArray
    log_scale_y: FloatArray


@dataclass(frozen=True)
class Family:
    """How z is drawn, what it does, how strongly, and how the margins are distorted in the end."""

    covariates: Callable[[Generator, int, int], FloatArray]
    effects: Callable[[FloatArray, Generator], Effects]
    location_sd_x: float
    location_sd_y: float
    distort_x: Callable[[FloatArray], FloatArray]
    distort_y: Callable[[FloatArray], FloatArray]


def sample(name: str, n: int, dz: int, rho: float, seed: int) -> Dataset:
    """Draw one dataset of a family.

    Parameters
    ----------
    name
        A key of ``FAMILIES``.
    n, dz
        Rows, and columns of z.
    rho
        Correlation of the noises of X and Y, in (-1, 1).
    seed
        The same seed gives the same z, the same effects of z and the same noise of X for every rho.

    Returns
    -------
    Dataset
        With x and y of shape (n, 1), z of shape (n, dz), and the truth in nats.
    """
    if name not in FAMILIES:
        raise ValueError(f"name must be one of {', '.join(FAMILIES)}; got {name!r}")
    family = FAMILIES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), dz, seed])
    z = family.covariates(rng, n, dz)
    effects = family.effects(z, rng)
    noise_x, other = rng.standard_normal((2, n))
    noise_y = rho * noise_x + np.sqrt(1 - rho * rho) * other
    x = _side(effects.location_x, effects.log_scale_x, noise_x, family.location_sd_x)
    y = _side(effects.location_y, effects.log_scale_y, noise_y, family.location_sd_y)
    return Dataset(
        name=name,
        seed=seed,
        rho=rho,
        x=family.distort_x(x)[:, None],
        y=family.distort_y(y)[:, None],
        z=z,
        latent_x=noise_x[:, None],
        latent_y=noise_y[:, None],
        truth=gaussian_truth(1, rho),
    )


def shaped_sample(shape: str, n: int, dz: int, seed: int, family: str = "sine-index") -> Dataset:
    """Draw one dataset of a family whose noises depend on each other without being correlated.

    Parameters
    ----------
    shape
        A key of ``SHAPES``: ``"square"``, E_y follows the square of E_x; ``"scale"``, both have the same random scale;
        ``"ring"``, they lie near a circle.
    n, dz, seed
        As in :func:`sample`.
    family
        The family whose z, and effects of z, are used.

    Returns
    -------
    Dataset
        With a truth of NaN: the information is positive, and not known in closed form.
    """
    effects_of = FAMILIES[family]
    rng = np.random.default_rng([zlib.crc32(f"{shape} {family}".encode()), dz, seed])
    z = effects_of.covariates(rng, n, dz)
    effects = effects_of.effects(z, rng)
    noise_x, noise_y = SHAPES[shape](rng, n)
    x = _side(effects.location_x, effects.log_scale_x, noise_x, effects_of.location_sd_x)
    y = _side(effects.location_y, effects.log_scale_y, noise_y, effects_of.location_sd_y)
    columns = [a[:, None] for a in (effects_of.distort_x(x), effects_of.distort_y(y), noise_x, noise_y)]
    return Dataset(shape, seed, 0.0, columns[0], columns[1], z, columns[2], columns[3], float("nan"))


def _square(rng: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    u, v = rng.standard_normal((2, n))
    return u, 0.7 * (u * u - 1.0) / np.sqrt(2.0) + np.sqrt(0.51) * v


def _scale(rng: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    u, v, w = rng.standard_normal((3, n))
    return np.exp(0.5 * w) * u, np.exp(0.5 * w) * v


def _ring(rng: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    u, v = 0.3 * rng.standard_normal((2, n))
    return np.sqrt(2.0) * np.cos(angle) + u, np.sqrt(2.0) * np.sin(angle) + v


SHAPES = {"square": _square, "scale": _scale, "ring": _ring}


def _side(location: FloatArray, log_scale: FloatArray, noise: FloatArray, location_sd: float) -> FloatArray:
    return location_sd * _standardised(location) + np.exp(LOG_SCALE_SD * _standardised(log_scale)) * noise


def _standardised(a: FloatArray) -> FloatArray:
    return np.asarray((a - a.mean(axis=0)) / a.std(axis=0))


# --- the distribution of z: columns with mean 0 and variance 1 ---


def _normal(rng: Generator, n: int, dz: int) -> FloatArray:
    return rng.standard_normal((n, dz))


def _uniform(rng: Generator, n: int, dz: int) -> FloatArray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, dz))


def _autoregressive(rng: Generator, n: int, dz: int) -> FloatArray:
    z = rng.standard_normal((n, dz))
    for j in range(1, dz):
        z[:, j] = 0.6 * z[:, j - 1] + 0.8 * z[:, j]
    return z


def _equicorrelated(rng: Generator, n: int, dz: int) -> FloatArray:
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, dz))
    return np.asarray(np.sqrt(0.3) * common + np.sqrt(0.7) * own)


def _student(rng: Generator, n: int, dz: int) -> FloatArray:
    return np.asarray(rng.standard_t(5, (n, dz)) * np.sqrt(3 / 5))


def _laplace(rng: Generator, n: int, dz: int) -> FloatArray:
    return rng.laplace(scale=np.sqrt(0.5), size=(n, dz))


# --- what z does ---


def _index(z: FloatArray, rng: Generator) -> FloatArray:
    """Projection of z on a random direction, standardised, shape (n,)."""
    return _standardised(z @ rng.standard_normal(z.shape[1]))


def _softplus(a: FloatArray) -> FloatArray:
    return np.logaddexp(0, a)


def _sine_index(z: FloatArray, rng: Generator) -> Effects:
    u = _index(z, rng)
    return Effects(np.sin(2 * u), np.cos(1.7 * u) + 0.4 * u, np.sin(1.5 * u), np.cos(u))


def _additive(z: FloatArray, rng: Generator) -> Effects:
    shapes = (np.sin(1.5 * z), z * z, np.tanh(2 * z), np.sqrt(0.1 + z * z), np.cos(2 * z))

    def component() -> FloatArray:
        total = np.zeros(len(z))
        for j in range(z.shape[1]):
            shape = shapes[rng.integers(len(shapes))][:, j]
            total += rng.choice([-1, 1]) * rng.uniform(0.5, 1.5) * _standardised(shape)
        return total

    return Effects(component(), component(), component(), component())


def _interaction(z: FloatArray, _: Generator) -> Effects:
    first, second, third = (z[:, j % z.shape[1]] for j in range(3))
    return Effects(
        first * second + 0.5 * first,
        0.5 * np.tanh(first) + second * third,
        np.tanh(second * third),
        np.tanh(first * second),
    )


def _same_function(z: FloatArray, rng: Generator) -> Effects:
    u = _index(z, rng)
    location = np.tanh(2 * u) + 1.5 * np.exp(-((u - 0.5) ** 2) / 0.5)
    log_scale = np.sin(1.5 * u)
    return Effects(location, location, log_scale, log_scale)


def _two_indices(z: FloatArray, rng: Generator) -> Effects:
    u, v = _index(z, rng), _index(z, rng)
    return Effects(np.arctan(3 * u) + 0.5 * np.cos(2 * u), np.log1p(v * v), np.tanh(v), np.log1p(u * u))


def _radial(z: FloatArray, _: Generator) -> Effects:
    radius = _standardised(np.linalg.norm(z, axis=1))
    shifted = _standardised(np.linalg.norm(z - 0.7, axis=1))
    return Effects(
        np.sin(1.5 * radius) + 0.5 * radius,
        np.tanh(1.5 * shifted),
        np.tanh(radius),
        np.sin(1.5 * radius),
    )


def _steps(z: FloatArray, rng: Generator) -> Effects:
    u, v = _index(z, rng), _index(z, rng)
    return Effects(
        np.tanh(5 * (u - 0.7)) + np.tanh(5 * (u + 0.7)),
        np.tanh(5 * u) - np.tanh(5 * (u - 1)),
        np.log(_softplus(1.5 * u)),
        np.log(_softplus(-1.5 * v)),
    )


# --- the final distortion of a margin: increasing or decreasing, never both ---


def _identity(a: FloatArray) -> FloatArray:
    return a


def _sinh(a: FloatArray) -> FloatArray:
    return np.sinh(a)


def _cube_root(a: FloatArray) -> FloatArray:
    return np.cbrt(a)


def _fall(a: FloatArray) -> FloatArray:
    return np.exp(-0.5 * a)


def _logistic(a: FloatArray) -> FloatArray:
    return np.tanh(0.3 * a)


FAMILIES: dict[str, Family] = {
    "sine-index": Family(_normal, _sine_index, 1.5, 1.5, _identity, _identity),
    "additive": Family(_uniform, _additive, 1.5, 1.5, _identity, _fall),
    "interaction": Family(_autoregressive, _interaction, 1.5, 1.0, _identity, _logistic),
    "same-function": Family(_student, _same_function, 1.5, 1.5, _identity, _sinh),
    "two-indices": Family(_laplace, _two_indices, 2.0, 1.0, _identity, _identity),
    "radial": Family(_normal, _radial, 1.5, 1.5, _cube_root, _identity),
    "steps": Family(_equicorrelated, _steps, 1.5, 1.5, _identity, _logistic),
}

"""Maximum entropy: Kom Samo (2021), "Inductive mutual information estimation", MIND under Spearman constraints.

I(X;Y) = h(u_x) + h(u_y) - h(u_x, u_y), with u the ranks and h the entropy of their copula. Each h is the largest
entropy that a copula can have whose Spearman correlations are the sample's. That copula is in an exponential
family, exp(theta' phi(u)) / Z(theta), and -h is the largest value of theta' alpha - ln Z(theta), with alpha the
expectations of phi: a concave problem.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares
from scipy.special import eval_legendre, logsumexp, ndtr, ndtri
from scipy.stats import qmc, rankdata

from pydine.baselines.arrays import columns
from pydine.types import FloatArray

DRAWS = 2**13  # to integrate Z with
MOMENTS = 6  # of every margin that are those of the uniform distribution
WIDEST, NARROWEST = 4.0, 1e-4  # scales of a truncated normal: as good as uniform on [0, 1], as good as a point
FARTHEST = 30.0  # scales between a truncated normal's location and the middle
CALIBRATION = 1024  # draws
MOST_STEPS = 100
TOLERANCE = 1e-6  # nats
BLOCK = 2048  # draws at a time in the Hessian

INFEASIBLE = (
    f"MIND found no copula with these Spearman correlations among {DRAWS} points: columns are almost functions of each "
    "other, or there are too many; leave some out."
)


def mind(x: ArrayLike, y: ArrayLike, random_state: int = 0) -> float:
    """Estimate I(X;Y) as the least information that agrees with all Spearman correlations.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy). Only their ranks matter.
    random_state
        Seed of the points that integrals are computed with.

    Returns
    -------
    float
        Information in nats. About dx dy / (2 n) too large by chance, and too small where ranks depend in ways that
        their correlations do not show. The work grows with the sixth power of the number of columns.
    """
    ranks = np.hstack([rankdata(columns(a), axis=0) for a in (x, y)])
    spearman = np.corrcoef(ranks, rowvar=False)
    dx = columns(x).shape[1]
    sides = copula_entropy(spearman[:dx, :dx], random_state) + copula_entropy(spearman[dx:, dx:], random_state)
    return sides - copula_entropy(spearman, random_state)


def copula_entropy(spearman: FloatArray, random_state: int = 0) -> float:
    """Largest entropy of a copula with the given Spearman correlations, shape (d, d), in nats: at most 0."""
    d = len(spearman)
    if d == 1:
        return 0.0
    if np.linalg.matrix_rank(spearman, hermitian=True) < d:
        raise ArithmeticError(INFEASIBLE)
    u, log_density = _draw(spearman, random_state)
    v = 2.0 * u - 1.0
    i, j = np.triu_indices(d, 1)
    margins = [np.sqrt(2 * k + 1) * eval_legendre(k, v) for k in range(1, MOMENTS + 1)]  # orthonormal, mean 0
    statistics = np.hstack([*margins, 3.0 * v[:, i] * v[:, j] - spearman[i, j]])
    return _smallest_log_integral(statistics, -log_density - np.log(len(u)))


def _smallest_log_integral(statistics: FloatArray, log_weights: FloatArray) -> float:
    """Smallest ln sum_m exp(log_weights_m + theta' statistics_m) over theta, by Newton's method with halving."""
    theta = np.zeros(statistics.shape[1])
    value, p = _log_integral(statistics, log_weights, theta)
    for _ in range(MOST_STEPS):
        gradient = p @ statistics
        step = np.linalg.solve(_hessian(statistics, p, gradient), -gradient)
        slope = float(gradient @ step)
        if -slope < TOLERANCE:
            return value
        length = 1.0
        while (new := _log_integral(statistics, log_weights, theta + length * step))[0] > value + 1e-4 * length * slope:
            length /= 2.0
        theta += length * step
        value, p = new
    raise ArithmeticError(INFEASIBLE)


def _log_integral(statistics: FloatArray, log_weights: FloatArray, theta: FloatArray) -> tuple[float, FloatArray]:
    """The logarithm of the sum and the share of every term in it, shape (m,)."""
    exponents = log_weights + statistics @ theta
    value = float(logsumexp(exponents))
    return value, np.exp(exponents - value)


def _hessian(statistics: FloatArray, p: FloatArray, mean: FloatArray) -> FloatArray:
    covariance = -np.outer(mean, mean)
    for start in range(0, len(p), BLOCK):
        rows = statistics[start : start + BLOCK] * np.sqrt(p[start : start + BLOCK, None])
        covariance += rows.T @ rows  # the same array twice: NumPy computes one triangle
    covariance[np.diag_indices_from(covariance)] += 1e-9
    return covariance


def _draw(spearman: FloatArray, random_state: int) -> tuple[FloatArray, FloatArray]:
    """Draw points of the unit cube near the copula sought, shape (m, d), and the ln of their density, shape (m,).

    Column after column, from a normal truncated to [0, 1] whose location is linear in the columns before: that is
    what a maximum-entropy copula looks like where dependence is strong, and uniform where there is none. Points that
    are uniform in the cube would need exp(-h) rows to hit where the density is.
    """
    d = len(spearman)
    uniform = qmc.Sobol(d, seed=random_state).random(DRAWS)
    u, log_density = np.empty((DRAWS, d)), np.zeros(DRAWS)
    for i in range(d):
        coefficients = np.linalg.solve(spearman[:i, :i], spearman[:i, i])
        expected = (u[:, :i] - 0.5) @ coefficients
        left = (1.0 - float(coefficients @ spearman[:i, i])) / 12.0
        scale, slope = _calibrated(expected[:CALIBRATION], left)
        centre, mirror = _left_tail(slope * expected)
        low, high = ndtr(-0.5 / scale - centre), ndtr(0.5 / scale - centre)
        z = ndtri(low + (high - low) * uniform[:, i])
        u[:, i] = np.clip(0.5 + mirror * scale * (z + centre), 0.0, 1.0)
        log_density -= 0.5 * (z * z + np.log(2.0 * np.pi)) + np.log(scale * (high - low))
    return u, log_density


def _calibrated(expected: FloatArray, left: float) -> tuple[float, float]:
    """Scale, and location for every unit of the expectation, that give this expectation and what is left of variance.

    The expectation, less 1/2, has shape (m,); truncation pulls the mean of a normal towards the middle.
    """
    power = float(expected @ expected)
    if power == 0.0:
        return WIDEST, 0.0

    def off(logarithms: FloatArray) -> list[float]:
        scale, slope = np.exp(logarithms)
        mean, variance = _truncated_moments(scale, slope, expected)
        around = variance + (mean - expected) ** 2
        return [float(around.mean()) / left - 1.0, float(expected @ mean) / power - 1.0]

    narrow = np.sqrt(max(left, NARROWEST**2))
    bounds = np.log([[0.5 * NARROWEST, 1e-3], [WIDEST, 1e6]])
    scale, slope = np.exp(least_squares(off, np.log([narrow, 1.0 / narrow]), bounds=bounds).x)
    return float(scale), float(slope)


def _truncated_moments(scale: float, slope: float, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean, less 1/2, and variance of normals truncated to [0, 1], shapes (m,)."""
    centre, mirror = _left_tail(slope * expected)
    low, high = -0.5 / scale - centre, 0.5 / scale - centre
    mass = ndtr(high) - ndtr(low)
    at_low, at_high = (np.exp(-0.5 * edge * edge) / np.sqrt(2.0 * np.pi) / mass for edge in (low, high))
    mean = at_low - at_high
    variance = 1.0 + low * at_low - high * at_high - mean * mean
    return mirror * scale * (mean + centre), scale * scale * variance


def _left_tail(centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres in scales from 1/2, mirrored so that the interval is on their left, where tails are accurate."""
    return np.minimum(np.abs(centre), FARTHEST), np.where(centre < 0.0, -1.0, 1.0)

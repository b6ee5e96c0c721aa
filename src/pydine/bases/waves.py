"""Latents of angles: densities whose logarithm is a sum of slow waves, which close where a circle was cut open.

A Gaussian, and a mixture of Gaussians, end at the cut, and see what goes on beyond it as something else. With u and v
the probabilities of the latents of both sides, ln p(u, v) is a sum of waves of u, of v, and of products of them: von
Mises pairs are the first order (Mardia 1975), higher orders follow other shapes. Of an angle, waves are cosines and
sines with whole periods, of a number cosines with whole and half ones. The likelihood is concave; its gradient and
curvature are sums over a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

from pydine.bases.elliptical import new_scores, scores_of
from pydine.bases.stack import Member, Stack
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, must_fit

ORDERS = 1, 2, 3  # answer: periods of the fastest wave; shapes that are finer are left to mixtures and flows
GRID = 48  # guard: places on either side at which the density is summed, many for each period
STEPS, CLOSE = 30, 1e-9  # guard: of Newton's method, at most, and the rise in likelihood at which it ends
RIDGE = 1e-3  # guard: variance of waves that is added to their curvature, in units of 1 over the rows


@dataclass(frozen=True)
class WaveRatio:
    """Log-densities of the probabilities of two latents, whose own densities are even.

    Parameters
    ----------
    coefficients : ndarray, shape (m,)
    level : float
        Logarithm of the integral of the exponential, which is subtracted.
    order : int
    around : tuple of two bool
        Which of the sides are angles.
    maps : tuple of two ScoreMap
    """

    coefficients: FloatArray
    level: float
    order: int
    around: tuple[bool, bool]
    maps: tuple[ScoreMap, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        fits = 0 < self.order <= max(ORDERS) and len(self.maps) in (0, 2)
        must_fit(self, fits and self.coefficients.shape == (4 * self.order * (self.order + 1),))

    @classmethod
    def fit(cls, u: FloatArray, order: int, around: tuple[bool, bool], maps: tuple[ScoreMap, ...] = ()) -> WaveRatio:
        """The likeliest density of probabilities (2, n), by Newton's method."""
        centres = (np.arange(GRID) + 0.5) / GRID
        grid = np.array([np.repeat(centres, GRID), np.tile(centres, GRID)])
        waves, means = _waves(grid, order, around), _waves(u, order, around).mean(axis=1)
        found, ridge = np.zeros(len(means)), RIDGE / u.shape[1]

        def level_of(coefficients: FloatArray) -> float:
            return float(logsumexp(coefficients @ waves) - 2.0 * np.log(GRID))

        def rise(coefficients: FloatArray) -> float:
            return float(coefficients @ (means - 0.5 * ridge * coefficients)) - level_of(coefficients)

        now = 0.0
        for _ in range(STEPS):
            shares = np.exp(found @ waves - level_of(found)) / GRID**2
            middle = waves @ shares
            curvature = (waves * shares) @ waves.T - np.outer(middle, middle) + ridge * np.eye(len(means))
            step = np.linalg.solve(curvature, means - middle - ridge * found)
            while (then := rise(found + step)) < now and np.abs(step).max() > CLOSE:
                step = 0.5 * step
            if then <= now + CLOSE:
                break
            found, now = found + step, then
        return cls(found, level_of(found), order, around, maps)

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of latents (2, m), whatever their z (dz, m)."""
        return self.of_scores(new_scores(self.maps, both), z)

    def of_scores(self, scores: FloatArray, z: FloatArray) -> FloatArray:  # noqa: ARG002 - the contract of log-ratios
        """Log-ratios of the latents' normal scores (2, m)."""
        return self.of(ndtr(scores))

    def of(self, u: FloatArray) -> FloatArray:
        """Log-ratios of probabilities (2, m)."""
        found: FloatArray = self.coefficients @ _waves(u, self.order, self.around) - self.level
        return found


def with_waves(stack: Stack, latents: Latents) -> Stack:
    """A stack of models of the same latents, joined by waves if a side is one angle, and the other one column."""
    if not any(latents.around) or latents.dimensions[:2] != (1, 1):
        return stack
    maps, scores = scores_of(latents)
    u, around = ndtr(scores), (latents.around[0], latents.around[1])
    for order in ORDERS:
        held = np.empty(u.shape[1])
        for rows, away in stack.folds:
            held[rows] = WaveRatio.fit(np.delete(u, away, axis=1), order, around).of(u[:, rows])
        ratio = WaveRatio.fit(u, order, around, maps)
        if (part := stack.evidence_of(held)) > 0.0:
            stack = stack.joined_by(Member(f"waves of order {order}", ratio, held, ratio.of(u)), part)
    return stack


def _waves(u: FloatArray, order: int, around: tuple[bool, bool]) -> FloatArray:
    """Waves of both sides (2, n) and their products, shape (4 order (order + 1), n)."""
    sides = []
    for each, is_angle in zip(u, around, strict=True):
        if is_angle:
            angles = 2.0 * np.pi * np.arange(1.0, order + 1.0)[:, None] * each
            sides.append(np.vstack([np.cos(angles), np.sin(angles)]))
        else:
            sides.append(np.cos(np.pi * np.arange(1.0, 2.0 * order + 1.0)[:, None] * each))
    products = (sides[0][:, None] * sides[1]).reshape(-1, u.shape[1])
    return np.vstack([*sides, products])

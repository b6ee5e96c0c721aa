"""A Student-t copula of the latents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pydine.bases.base import FittedBase, or_independent
from pydine.bases.closed_form import (
    gaussian_information,
    rank_effect,
    wishart_bias,
    without_chance,
    without_rank_noise,
)
from pydine.bases.elliptical import EllipticalRatio, elliptical_density, scores_of, student_scores
from pydine.latents.flows import Latents
from pydine.latents.triangular import solve_lower
from pydine.types import FloatArray
from pydine.units.rows import some_of

FEWEST_DEGREES, MOST_DEGREES = (
    0.5,
    60.0,
)  # precision: of freedom: from tails heavier than those of data to nearly Gaussian
STUDENT_STEPS, ROWS_FOR_DEGREES = 6, 5000  # precision: of EM for the correlation; rows that are enough for the degrees


@dataclass(frozen=True)
class StudentBase:
    """A Student-t copula: latents that are Gaussian up to a random scale, which x and y share.

    The value is the mean log-ratio of the rows, which for a Gaussian copula is the closed form, less the same biases:
    that of the closed form and that of ranks.

    Parameters
    ----------
    folds : int
    """

    folds: int = 3

    def fit(self, latents: Latents) -> FittedBase:
        """Fit the degrees of freedom and the correlation matrix by maximum likelihood of the copula."""
        maps, scores = scores_of(latents)
        (dx, dy, _), n = latents.dimensions, latents.n_rows
        degrees = _student_degrees(scores[:, some_of(latents.outwards, ROWS_FOR_DEGREES)])
        t = student_scores(scores, degrees)
        correlation = _student_correlation(t, degrees)
        ratio = EllipticalRatio(correlation, degrees, dx, maps)
        ratios = ratio.of(t)
        effect = latents.rows.effect(ratios)[0] * latents.depleted
        value, error = float(ratios.mean()), float(ratios.std() * np.sqrt(effect / n))
        sharper = without_rank_noise(correlation, latents.kept_by_ranks)
        noise = gaussian_information(sharper, dx) - gaussian_information(correlation, dx)
        ranks = rank_effect(sharper, dx, latents.dof, n)
        chance = wishart_bias(dx, dy, max(latents.dof / effect, dx + dy + 1.0))
        details: dict[str, object] = {
            "wishart_bias": chance,
            "rank_bias": ranks.bias * effect - noise,
            "student_degrees": degrees,
        }
        held_out = partial(self._held_out, latents, t, degrees, effect)
        value, error = value - chance - ranks.bias * effect + noise, error * float(np.exp(2.0 * noise / min(dx, dy)))
        return FittedBase("student", value, error, ratio, held_out, details, chance=chance)

    def _held_out(self, latents: Latents, t: FloatArray, degrees: float, effect: float) -> FloatArray:
        """Log-ratios of Student scores (d, n) with the correlation of the other folds, mixed with independence."""
        n, dx, ratios = latents.n_rows, latents.dimensions[0], np.empty(latents.n_rows)
        folds = latents.rows.folds(latents.outwards, self.folds)
        for rows, away in folds:
            learned = _student_correlation(np.delete(t, away, axis=1), degrees)
            free = max(latents.dof * (1.0 - len(away) / n) / effect, len(t) + 1.0)
            learned = without_chance(learned, dx, free)
            ratios[rows] = EllipticalRatio(learned, degrees, dx).of(t[:, rows])
        return or_independent(ratios, folds)


def _student_degrees(scores: FloatArray) -> float:
    """Maximum-likelihood degrees of freedom, at the correlation of normal scores (d, n): the two hardly interact."""
    correlation: FloatArray = np.asarray(np.corrcoef(scores))
    return degrees_by(lambda d: float(_student_copula(student_scores(scores, d), correlation, d).mean()))


def degrees_by(likelihood: Callable[[float], float]) -> float:
    """The degrees of freedom that maximise a likelihood."""

    def loss(log_degrees: float) -> float:
        return -likelihood(float(np.exp(log_degrees)))

    return float(np.exp(_minimum(loss, np.log(FEWEST_DEGREES), np.log(MOST_DEGREES), 0.05)))


def _minimum(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """The minimiser of a unimodal function, by golden sections; importing scipy.optimize takes longer than this."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    inner = [high - golden * (high - low), low + golden * (high - low)]
    values = [function(place) for place in inner]
    while high - low > tolerance:
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - golden * (high - low)
            values[0] = function(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + golden * (high - low)
            values[1] = function(inner[1])
    return float(inner[int(values[1] < values[0])])


def _student_correlation(t: FloatArray, degrees: float) -> FloatArray:
    """Correlation matrix of a Student-t vector (d, n) by EM: outlying rows have smaller weights."""
    d, n = t.shape
    correlation = np.eye(d)
    for _ in range(STUDENT_STEPS):
        white = solve_lower(np.linalg.cholesky(correlation), t)
        weighted = t * ((degrees + d) / (degrees + (white * white).sum(axis=0)))
        covariance = weighted @ t.T / n
        scale = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(scale, scale)
    return correlation


def _student_copula(t: FloatArray, correlation: FloatArray, degrees: float) -> FloatArray:
    """Log-density of the copula at Student scores (d, n), shape (n,)."""
    single: FloatArray = elliptical_density(t.reshape(1, -1), np.ones((1, 1)), degrees).reshape(t.shape).sum(axis=0)
    return elliptical_density(t, correlation, degrees) - single

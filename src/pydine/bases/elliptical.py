"""Log-ratios of Gaussian and Student-t vectors, and the normal scores that a copula is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import isqrt

import numpy as np
from scipy.special import gammaln, ndtr, stdtrit

from pydine.kernels.normal import normal_quantile
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.latents.triangular import solve_lower
from pydine.types import FloatArray, must_fit

FARTHEST_SCORE = 8.0  # guard: beyond, the probability of a tail is lost in rounding
LEAST_PROBABILITY = 1e-15  # guard: least probability whose quantile is taken
TABLE = np.linspace(0.0, FARTHEST_SCORE, 512)  # scores at which Student quantiles are computed; between them, lines
TAILS = ndtr(-TABLE)


@dataclass(frozen=True)
class EllipticalRatio:
    """ln p(x, y) - ln p(x) - ln p(y) of rows of a Student-t vector, Gaussian if the degrees of freedom are infinite.

    With maps, rows are first turned into the Student scores of a copula.
    """

    scale: FloatArray
    degrees: float
    dx: int
    maps: tuple[ScoreMap, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        d = len(self.scale)
        must_fit(
            self, self.scale.shape == (d, d) and 0 < self.dx < d and len(self.maps) in (0, d) and self.degrees > 0.0
        )

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of latents (dx + dy, n), whatever their z (dz, n)."""
        if self.maps:
            return self.of_scores(new_scores(self.maps, both), z)
        return self.of(np.clip(both, -FARTHEST_SCORE, FARTHEST_SCORE))

    def of_scores(self, scores: FloatArray, z: FloatArray) -> FloatArray:  # noqa: ARG002 - the contract of log-ratios
        """Log-ratios of the latents' normal scores (dx + dy, n), where there are maps."""
        return self.of(student_scores(scores, self.degrees))

    def of(self, columns: FloatArray) -> FloatArray:
        """Log-ratios of rows of the vector itself, shape (dx + dy, n)."""
        total: FloatArray = np.zeros(columns.shape[1])
        for rows, sign in ((slice(None), 1.0), (slice(0, self.dx), -1.0), (slice(self.dx, None), -1.0)):
            total += sign * elliptical_density(columns[rows], self.scale[rows, rows], self.degrees)
        return total


def elliptical_density(columns: FloatArray, scale: FloatArray, degrees: float) -> FloatArray:
    """Log-density of a Student-t (Gaussian) vector (d, n), shape (n,), up to a constant proportional to d."""
    d = len(columns)
    factor = np.linalg.cholesky(scale)
    white = solve_lower(factor, columns)
    far = (white * white).sum(axis=0)
    half = 0.5 * far
    constant = -np.log(np.diag(factor)).sum()
    if np.isfinite(degrees):
        half = 0.5 * (degrees + d) * np.log1p(far / degrees)
        constant += gammaln(0.5 * (degrees + d)) - gammaln(0.5 * degrees) - 0.5 * d * np.log(0.5 * degrees)
    density: FloatArray = constant - half
    return density


def student_scores(scores: FloatArray, degrees: float) -> FloatArray:
    """Normal scores (d, n) to Student scores, through a fine table: quantiles are slow one by one."""
    quantiles = np.arcsinh(-stdtrit(degrees, TAILS))
    mapped: FloatArray = np.copysign(np.sinh(np.interp(np.abs(scores), TABLE, quantiles)), scores)
    return mapped


def score_maps(columns: FloatArray) -> tuple[tuple[ScoreMap, ...], FloatArray]:
    """The maps from columns (d, n) to normal scores, and the scores.

    With ranks that are whole numbers all columns would share one grid of scores, and the likelihood of a model could
    grow without bound at its points. So ranks have fractions: see `places`.
    """
    maps = tuple(ScoreMap.fit(np.ascontiguousarray(column))[0] for column in columns)
    shares = places(columns) / columns.shape[1]
    scores = normal_quantile(np.clip(shares, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
    return maps, np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)


def scores_of(latents: Latents) -> tuple[tuple[ScoreMap, ...], FloatArray]:
    """`score_maps` of latents, made once for all the bases that are fitted to them."""
    if "_score_maps" not in latents.__dict__:
        latents.__dict__["_score_maps"] = score_maps(latents.both)
    found: tuple[tuple[ScoreMap, ...], FloatArray] = latents.__dict__["_score_maps"]
    return found


def places(columns: FloatArray) -> FloatArray:
    """Continuous ranks of the rows of columns (d, n), between 0 and n, same shape.

    To each whole rank a fraction is added, which differs between ranks and columns. The fractions are multiples of
    square roots of primes, modulo 1, which fill the unit interval evenly; for a negated column they are mirrored.
    """
    found, n = np.empty(columns.shape), columns.shape[1]
    steps = np.arange(n) - 0.5 * (n - 1)
    for i, column in enumerate(columns):
        order = np.argsort(column, kind="stable")
        same = np.diff(column[order]) == 0.0
        if same.any():  # tied rows go by the other columns
            tied = np.append(same, False) | np.append(False, same)
            rows = np.sort(order[tied])
            order[tied] = rows[np.lexsort((*columns[:, rows], column[rows]))]
        multiples = 0.5 + steps * np.sqrt(_prime(i))
        found[i, order] = np.arange(n) + (multiples - np.floor(multiples))
    return found


@lru_cache(maxsize=1024)
def _prime(i: int) -> int:
    """The i-th prime number, counted from 0."""
    return 2 if i == 0 else next(k for k in count(_prime(i - 1) + 1) if all(k % q for q in range(2, isqrt(k) + 1)))


def new_scores(maps: tuple[ScoreMap, ...], columns: FloatArray) -> FloatArray:
    """Normal scores of new rows (d, m), clipped to where tail probabilities can be computed."""
    scores = np.array([m(np.ascontiguousarray(column)) for m, column in zip(maps, columns, strict=True)])
    clipped: FloatArray = np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)
    return clipped

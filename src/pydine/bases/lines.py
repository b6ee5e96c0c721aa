"""Sides that are jointly Student-t on the scale of the data, Gaussian if tails are light: for sharp lines.

Normal scores of each column by itself bend relations between several columns by the noise of ranks, and more where
tails are heavy, since scores of one column do not know the size of the others. On the scale of the data it stays one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from pydine.bases.base import FittedBase, mean_and_error, or_independent
from pydine.bases.closed_form import wishart_bias, without_chance
from pydine.bases.elliptical import EllipticalRatio, elliptical_density
from pydine.bases.student import ROWS_FOR_DEGREES, degrees_by
from pydine.latents.flows import Latents
from pydine.latents.triangular import solve_lower
from pydine.types import FloatArray
from pydine.units.evidence import NEGLIGIBLE
from pydine.units.rows import some_of

MOST_STEPS = 100  # guard: of EM
LEAST_GAP = 1e-12  # guard: between values some ranks apart, in deviations; ties have less


class Line(NamedTuple):
    """Location (d,), scale matrix (d, d) and degrees of freedom of a Student-t vector."""

    location: FloatArray
    scale: FloatArray
    degrees: float

    @classmethod
    def fit(cls, columns: FloatArray, degrees: float | None = None) -> Line:
        """By maximum likelihood, of columns (d, n): ECME (Liu and Rubin 1994) to where steps gain little."""
        d, n = columns.shape
        line = cls(np.median(columns, axis=1), np.eye(d), 1.0 if degrees is None else degrees)
        some = some_of(np.argsort(np.abs(columns).sum(axis=0), kind="stable"), ROWS_FOR_DEGREES)
        before = -np.inf
        for _ in range(MOST_STEPS):
            line = line._stepped(columns)
            if degrees is None:
                line = line._replace(degrees=degrees_by(partial(line.likelihood, columns[:, some])))
            now = n * line.likelihood(columns[:, some], line.degrees)
            if now - before < NEGLIGIBLE:
                break
            before = now
        return line

    def _stepped(self, columns: FloatArray) -> Line:
        """One step of EM: location and scale with weights that are smaller for outlying rows."""
        d, n = columns.shape
        weights = (self.degrees + d) / (self.degrees + self.far(columns))
        location = columns @ weights / weights.sum()
        left = columns - location[:, None]
        scale = (left * weights) @ left.T / n
        # Ranks of n rows resolve columns to about 1/n: copies in the rows at hand are not singular.
        scale[np.diag_indices(d)] *= 1.0 + 1.0 / n**3
        return self._replace(location=location, scale=scale)

    def far(self, columns: FloatArray) -> FloatArray:
        """Squared distances of rows (d, n) from the location, (n,)."""
        white = solve_lower(np.linalg.cholesky(self.scale), columns - self.location[:, None])
        squares: FloatArray = (white * white).sum(axis=0)
        return squares

    def likelihood(self, columns: FloatArray, degrees: float) -> float:
        """Mean log-density of rows (d, n) with other degrees of freedom, in nats."""
        return float(elliptical_density(columns - self.location[:, None], self.scale, degrees).mean())

    def missed(self, columns: FloatArray) -> FloatArray:
        """By how much the values of a row are likelier than under the columns' marginal distributions, in nats, (n,).

        Densities are by spacings of sqrt(n) ranks (Vasicek 1976). A model of several columns cannot count it as
        dependence: that its marginal distributions are wrong makes any ratio to them look large.
        """
        d, n = columns.shape
        reach, total, places = max(int(np.sqrt(n)), 1), np.zeros(n), np.arange(n)
        first, last = np.maximum(places - reach, 0), np.minimum(places + reach, n - 1)
        for i in range(d):
            spread = np.sqrt(self.scale[i, i])
            column = (columns[i] - self.location[i]) / spread
            order = np.argsort(column)
            gaps = column[order][last] - column[order][first]
            total[order] += np.log((last - first) / (n * np.maximum(gaps, LEAST_GAP))) + 0.5 * np.log(2.0 * np.pi)
            total -= elliptical_density(column[None], np.ones((1, 1)), self.degrees)
        return total


@dataclass(frozen=True)
class LineRatio:
    """Log-ratios of rows of a Student-t vector whose location is not 0."""

    location: FloatArray
    ratio: EllipticalRatio

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:  # noqa: ARG002 - the contract of log-ratios
        """Log-ratios of latents (dx + dy, n), whatever their z (dz, n)."""
        return self.ratio.of(both - self.location[:, None])


@dataclass(frozen=True)
class RawBase:
    """A Student-t vector on the scale of the data, with degrees of freedom by maximum likelihood.

    The value is the mean log-ratio of the rows, which for Gaussian sides is the closed form, less the bias of that.
    Held-out rows have to pay for columns that are distributed otherwise.

    Parameters
    ----------
    folds : int
    """

    folds: int = 3

    def fit(self, latents: Latents, line: Line | None = None) -> FittedBase:
        """Fit location, scale and degrees of freedom, if they are not known, to latents as `latents.raw` has them."""
        (dx, dy, _), line = latents.dimensions, line or Line.fit(latents.both)
        ratio = LineRatio(line.location, EllipticalRatio(line.scale, line.degrees, dx))
        ratios = ratio(latents.both, latents.z)
        (value, error), effect = mean_and_error(ratios, latents.rows), latents.rows.effect(ratios)[0]
        chance = wishart_bias(dx, dy, max(latents.dof / effect, dx + dy + 1.0))
        details: dict[str, object] = {"wishart_bias": chance, "student_degrees": line.degrees}
        held_out = partial(self._held_out, latents, line, effect)
        return FittedBase("raw", value - chance, error, ratio, held_out, details, chance=chance)

    def _held_out(self, latents: Latents, line: Line, effect: float) -> FloatArray:
        """Log-ratios with the location and scale of the other folds, mixed with independence, less what is missed."""
        both, dx, ratios = latents.both, latents.dimensions[0], np.empty(latents.n_rows)
        folds = latents.rows.folds(latents.outwards, self.folds)
        for rows, away in folds:
            learned = Line.fit(np.delete(both, away, axis=1), line.degrees)
            free = max(latents.dof * (1.0 - len(away) / latents.n_rows) / effect, len(both) + 1.0)
            scale = without_chance(learned.scale, dx, free)
            ratios[rows] = EllipticalRatio(scale, line.degrees, dx).of(both[:, rows] - learned.location[:, None])
        return or_independent(ratios, folds) - line.missed(both)

"""From columns to latents: normal scores, a ladder for every unit, recalibration, and projection of z.

The default's conditional diffeomorphisms. Each step is monotone in the column that it maps, so the information
between the sides given z is the columns' own (paper, Lemma 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.engine.execution import run
from pydine.engine.ladder import LadderSettings, fit_ladder
from pydine.engine.marginal import ScoreMap
from pydine.engine.plan import Unit, autoregressive, unique
from pydine.engine.projection import FARTHEST_SCORE, FunctionsOfZ, Projection
from pydine.engine.unit import FittedUnit

FloatArray = NDArray[np.float64]

# Functions of z beyond z itself are projected out if rungs above the linear one have this weight, averaged over units.
NONLINEAR_WEIGHT = 0.05
SPARE_DOF = 10  # degrees of freedom that the functions of z leave, beside one for each latent


@dataclass(frozen=True)
class RankFlow:
    """Fitted maps of x and y, given z, to latents that are jointly Gaussian under a Gaussian copula given z.

    Columns are numbered x, then y, then z.

    Parameters
    ----------
    dimensions : tuple of int
        (dx, dy, dz).
    maps : tuple of ScoreMap
        Normal scores of every column.
    units : dict of Unit to FittedUnit
        In the order of the columns of x and y.
    recalibration : tuple of ScoreMap
        Normal scores again, of every unit's latents.
    projection : Projection
    """

    dimensions: tuple[int, int, int]
    maps: tuple[ScoreMap, ...]
    units: dict[Unit, FittedUnit]
    recalibration: tuple[ScoreMap, ...]
    projection: Projection

    @property
    def cross_product(self) -> FloatArray:
        """Summed products of the latents of x and y, shape (dx + dy, dx + dy)."""
        return self.projection.cross_product

    @property
    def dof(self) -> int:
        """Degrees of freedom of the cross-product."""
        return self.projection.dof

    def transform(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows (n, dx), (n, dy), (n, dz) to latents (n, dx), (n, dy)."""
        scores = self._scores(x, y, z)
        context = np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)
        latents = np.empty((len(self.units), scores.shape[1]))
        pairs = zip(self.units.items(), self.recalibration, strict=True)
        for out, ((unit, fitted), recalibrate) in zip(latents, pairs, strict=True):
            out[:] = recalibrate(fitted.latent(scores[unit.target], context[list(unit.context)]))
        dx, dy, _ = self.dimensions
        latents = self.projection(latents, scores[dx + dy :])
        return latents[:dx].T, latents[dx:].T

    def without_z(self, columns: FloatArray, z: FloatArray) -> FloatArray:
        """Project the functions of z that the latents are free of out of other columns (d, n) of the sample.

        z is the sample's, shape (n, dz).
        """
        maps = self.maps[len(self.units) :]
        scores = [m(np.ascontiguousarray(column)) for m, column in zip(maps, z.T, strict=True)]
        return self.projection.of_sample(columns, np.array(scores).reshape(len(maps), len(z)))

    def log_density(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of rows, in nats, as densities of the columns' normal scores, shape (n,)."""
        scores = self._scores(x, y, z)
        total: FloatArray = np.zeros(scores.shape[1])
        for unit, fitted in self.units.items():
            context = np.clip(scores[list(unit.context)], -FARTHEST_SCORE, FARTHEST_SCORE)
            total += fitted.log_density(scores[unit.target], context)
        return total

    def _scores(self, *blocks: FloatArray) -> FloatArray:
        columns = np.hstack(blocks).T
        return np.array([m(np.ascontiguousarray(column)) for m, column in zip(self.maps, columns, strict=True)])


def fit_rank_flow(
    x: FloatArray, y: FloatArray, z: FloatArray, settings: LadderSettings, n_jobs: int | None = None
) -> RankFlow:
    """Fit the default's maps.

    Parameters
    ----------
    x, y, z : ndarray, shapes (n, dx), (n, dy), (n, dz)
    settings : LadderSettings
    n_jobs : int or None
        Threads; the result does not depend on it.
    """
    dimensions = dx, dy, dz = x.shape[1], y.shape[1], z.shape[1]
    fits = [ScoreMap.fit(np.ascontiguousarray(column)) for block in (x, y, z) for column in block.T]
    scores = np.array([scores for _, scores in fits])
    given = range(dx + dy, dx + dy + dz)
    units = unique(autoregressive(range(dx), given) + autoregressive(range(dx, dx + dy), given))

    def fit_unit(unit: Unit) -> tuple[FittedUnit, ScoreMap, FloatArray]:
        target, context = scores[unit.target], scores[list(unit.context)]
        fitted = fit_ladder(target, context, settings)
        return fitted, *ScoreMap.fit(fitted.latent(target, context) if fitted.models else target)

    fitted, recalibration, latents = zip(*run(fit_unit, units, n_jobs), strict=True)
    functions = FunctionsOfZ.choose(dz, len(x), _units_to_learn_from(units, fitted, dz), settings.seed)
    projection = Projection.fit(np.array(latents), scores[dx + dy :], functions, dx + dy + SPARE_DOF)
    maps = tuple(m for m, _ in fits)
    return RankFlow(dimensions, maps, dict(zip(units, fitted, strict=True)), recalibration, projection)


def _units_to_learn_from(units: list[Unit], fitted: tuple[FittedUnit, ...], dz: int) -> tuple[FittedUnit, ...] | None:
    """Units that see z alone, if z acts non-linearly on some; otherwise nothing is to be learned from them."""
    if dz == 0 or np.mean([f.nonlinear_weight for f in fitted]) < NONLINEAR_WEIGHT:
        return None
    return tuple(f for unit, f in zip(units, fitted, strict=True) if len(unit.context) == dz)

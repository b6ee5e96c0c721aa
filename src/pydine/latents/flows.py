"""From columns to latents: normal scores, a ladder for every unit, recalibration, and projection of z.

The default's conditional diffeomorphisms. Each step is monotone in the column that it maps, so the information
between the sides given z is the columns' own (paper, Lemma 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pydine.latents.projection import FARTHEST_SCORE, Blocks, FunctionsOfZ, Projection
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray
from pydine.units.cache import UnitCache
from pydine.units.execution import ensure_compiled, run
from pydine.units.ladder import LadderSettings, fit_ladder, n_partitions
from pydine.units.plan import Unit, autoregressive, columnwise, unique
from pydine.units.rows import View, column_order, outwards
from pydine.units.unit import FittedUnit

VALUES_KEPT = 1 << 26  # of functions of z, in half a gibibyte
ROWS_KEPT = 1 << 14  # of all functions of z, so that they are evaluated once
SPARE_DOF = 10  # degrees of freedom that the functions of z leave, beside one for each latent


@dataclass(frozen=True)
class Latents:
    """What the maps make of the sample that they were fitted on.

    Parameters
    ----------
    dimensions : tuple of int
        (dx, dy, dz).
    unprojected : ndarray, shape (dx + dy, n)
        Latents of x, then of y, with functions of z still in them if there is a projection.
    z : ndarray, shape (dz, n)
        Normal scores.
    cross_product : ndarray, shape (dx + dy, dx + dy)
        Summed products of the (projected) latents.
    dof : float
        Degrees of freedom of the cross-product.
    projection : Projection, optional
    functions : ndarray, shape (n, r), optional
        The functions of z that are projected out, if they are evaluated already.
    fold_products : ndarray, shape (folds x partitions, dx + dy, dx + dy), optional
        The cross-products that the flows of each fold alone would give.
    view : View, optional
        In which order, and with which signs, a base is to see the latents; as they are if there is none.
    sides : tuple of str
        What whoever asked calls the first and the second side; a base may see y first.
    """

    dimensions: tuple[int, int, int]
    unprojected: FloatArray
    z: FloatArray
    cross_product: FloatArray
    dof: float
    projection: Projection | None = None
    functions: FloatArray | None = None
    view: View | None = None
    fold_products: FloatArray | None = None
    sides: tuple[str, str] = ("x", "y")

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return int(self.unprojected.shape[1])

    def of_columns(self, x: list[int], y: list[int]) -> Latents:
        """Only the columns given, as the latents of two sides; functions of z are projected out already."""
        return self._rearranged([*x, *y], np.ones(len(x) + len(y)), len(x))

    def seen(self) -> Latents:
        """The latents in the order, and with the signs, that a base sees."""
        if self.view is None:
            return self
        dx, dy, _ = self.dimensions
        seen = self._rearranged(list(self.view.order), self.view.signs, dy if self.view.is_swapped else dx)
        return replace(seen, sides=self.sides[::-1]) if self.view.is_swapped else seen

    def _rearranged(self, columns: list[int], signs: FloatArray, dx: int) -> Latents:
        projection = None if self.projection is None else self.projection.of_columns(columns, signs)
        cross = self.cross_product[np.ix_(columns, columns)] * np.outer(signs, signs)
        unprojected = self.unprojected[columns] * signs[:, None]
        dimensions = dx, len(columns) - dx, self.dimensions[2]
        return Latents(dimensions, unprojected, self.z, cross, self.dof, projection, self.functions)

    @cached_property
    def outwards(self) -> RowArray:
        """Rows from the middle to the outskirts; before the projection, whose last digits differ between machines."""
        return outwards(self.unprojected)

    def only(self, rows: NDArray[np.intp]) -> Latents:
        """Only the rows given, as latents without a projection of their own."""
        chosen, z = self.unprojected[:, rows], self.z[:, rows]
        both = chosen if self.projection is None else self.projection(chosen, z)
        dof = len(rows) * self.dof / self.n_rows
        return Latents(self.dimensions, both, z, both @ both.T, dof, view=self.view)

    @cached_property
    def both(self) -> FloatArray:
        """Latents of x, then of y, shape (dx + dy, n)."""
        return (
            self.unprojected
            if self.projection is None
            else self.projection.residuals(self.unprojected, self._functions)
        )

    @cached_property
    def _functions(self) -> Blocks:
        """The functions of z that are projected out; where values are too many, evaluated block by block each time."""
        if self.functions is not None:
            return [(slice(None), self.functions)]
        blocks = _Functions(self.projection, self.z)
        count = 0 if self.projection is None else len(self.projection.chosen)
        return list(blocks) if self.n_rows * count <= VALUES_KEPT else blocks

    def of(self, side: str) -> FloatArray:
        """Latents of ``"x"`` or ``"y"``, shape (d, n)."""
        dx = self.dimensions[0]
        return self.both[:dx] if side == "x" else self.both[dx:]

    @cached_property
    def leverages(self) -> FloatArray:
        """What share of each row the projection takes up, shape (n,)."""
        return np.zeros(self.n_rows) if self.projection is None else self.projection.leverages(self._functions)

    def without_z(self, columns: FloatArray) -> FloatArray:
        """Project the functions of z that the latents are free of out of other columns (d, n) of the sample.

        Without a projection that is the mean alone: the paper takes its latents to be free of z.
        """
        if self.projection is None:
            centred: FloatArray = columns - columns.mean(axis=1, keepdims=True)
            return centred
        return self.projection.of_sample(columns, self._functions)


@dataclass(frozen=True)
class _Functions:
    """The functions of z of a projection, which can be gone through more than once."""

    projection: Projection | None
    z: FloatArray

    def __iter__(self) -> Iterator[tuple[slice, FloatArray]]:
        return iter(()) if self.projection is None else self.projection.blocks(self.z)


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
    z_order : list of int
        In which order the columns of z are taken, wherever they are named here.
    """

    dimensions: tuple[int, int, int]
    maps: tuple[ScoreMap, ...]
    units: dict[Unit, FittedUnit]
    recalibration: tuple[ScoreMap, ...]
    projection: Projection
    z_order: list[int]

    @property
    def cross_product(self) -> FloatArray:
        """Summed products of the sample's latents, shape (dx + dy, dx + dy)."""
        return self.projection.cross_product

    @property
    def dof(self) -> float:
        """Degrees of freedom of the cross-product."""
        return self.projection.dof

    def transform(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows (n, dx), (n, dy), (n, dz) to latents (n, dx), (n, dy)."""
        dx, latents = self.dimensions[0], self.rows(x, y, z)[0]
        return latents[:dx].T, latents[dx:].T

    def rows(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows to latents (dx + dy, n) and to the scores of z, (dz, n)."""
        scores = self._scores(x, y, z)
        context = np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)
        latents = np.empty((len(self.units), scores.shape[1]))
        pairs = zip(self.units.items(), self.recalibration, strict=True)
        for out, ((unit, fitted), recalibrate) in zip(latents, pairs, strict=True):
            out[:] = recalibrate(fitted.latent(scores[unit.target], context[list(unit.context)]))
        return self.projection(latents, scores[len(latents) :]), scores[len(latents) :]

    def log_density(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of rows, in nats, as densities of the columns' normal scores, shape (n,)."""
        scores = self._scores(x, y, z)
        total: FloatArray = np.zeros(scores.shape[1])
        for unit, fitted in self.units.items():
            context = np.clip(scores[list(unit.context)], -FARTHEST_SCORE, FARTHEST_SCORE)
            total += fitted.log_density(scores[unit.target], context)
        return total

    def _scores(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        columns = np.hstack([x, y, z[:, self.z_order]]).T
        return np.array([m(np.ascontiguousarray(column)) for m, column in zip(self.maps, columns, strict=True)])


def fit_rank_flow(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    settings: LadderSettings,
    n_jobs: int | None = None,
    by_column: bool = False,
    cache: UnitCache | None = None,
) -> tuple[RankFlow, Latents]:
    """Fit the default's maps.

    Parameters
    ----------
    x, y, z : ndarray, shapes (n, dx), (n, dy), (n, dz)
    settings : LadderSettings
    n_jobs : int or None
        Threads; the result does not depend on it.
    by_column : bool
        Whether each column is mapped given z alone, so that the latents of a side keep what ties its columns together;
        otherwise a flow is autoregressive, and the latents of a side are independent of each other.
    cache : UnitCache, optional
        Where units are looked for first, and kept.

    Returns
    -------
    flow : RankFlow
    latents : Latents
        Those of the rows given.
    """
    dx, dy, dz = x.shape[1], y.shape[1], z.shape[1]
    given, plan = range(dx + dy, dx + dy + dz), columnwise if by_column else autoregressive
    units = unique(plan(range(dx), given) + plan(range(dx, dx + dy), given))
    return fit_flow_of((x, y, z), units, dx + dy, settings, n_jobs, cache)


def fit_flow_of(
    blocks: tuple[FloatArray, FloatArray, FloatArray],
    units: list[Unit],
    together: int,
    settings: LadderSettings,
    n_jobs: int | None,
    cache: UnitCache | None = None,
    step: Callable[[], None] | None = None,
) -> tuple[RankFlow, Latents]:
    """Fit one unit for every column of x and y, in the order of the columns.

    Parameters
    ----------
    blocks : tuple of ndarrays, shapes (n, dx), (n, dy), (n, dz)
    units : list of Unit
    together : int
        How many latents are looked at together: dx + dy, or fewer where pairs are taken from many columns.
    settings, n_jobs, cache
        As in `fit_rank_flow`.
    step : callable, optional
        Called after every unit.
    """
    dimensions = dx, dy, dz = blocks[0].shape[1], blocks[1].shape[1], blocks[2].shape[1]
    ensure_compiled()
    fits = [ScoreMap.fit(np.ascontiguousarray(column)) for block in blocks for column in block.T]
    z_order = column_order(np.array([scores for _, scores in fits[dx + dy :]]))
    fits[dx + dy :] = [fits[dx + dy + i] for i in z_order]
    scores = np.array([scores for _, scores in fits])

    n = len(blocks[0])
    folds = settings.folds * n_partitions(min(n, settings.max_rows)) if n <= ROWS_KEPT and dz else 0

    def fit_unit(unit: Unit) -> tuple[FittedUnit, ScoreMap, FloatArray, FloatArray]:
        target, context = scores[unit.target], scores[list(unit.context)]
        fitted = (cache.fit if cache else fit_ladder)(target, context, settings)
        by_fold = [_latent(fitted.of_fold(i, folds), target, context)[1] for i in range(folds)]
        return fitted, *_latent(fitted, target, context), np.array(by_fold)

    fitted, recalibration, columns, by_fold = zip(*run(fit_unit, units, n_jobs, step), strict=True)
    see_z = tuple(f for unit, f in zip(units, fitted, strict=True) if len(unit.context) == dz) if dz else None
    unprojected, z_scores = np.array(columns), scores[dx + dy :]
    functions = FunctionsOfZ.choose(z_scores, see_z)
    # The weight of non-linear rungs is averaged over the units where it is largest: as many as are looked at together.
    nonlinear = float(np.mean(sorted(f.nonlinear_weight for f in fitted)[-together:]))
    values = functions(z_scores) if len(blocks[0]) <= ROWS_KEPT else None
    projection = Projection.fit(
        unprojected, z_scores, functions, nonlinear=nonlinear, least_dof=together + SPARE_DOF, dx=dx, values=values
    )
    used = None if values is None else values[:, projection.chosen]
    maps = tuple(m for m, _ in fits)
    flow = RankFlow(dimensions, maps, dict(zip(units, fitted, strict=True)), recalibration, projection, z_order)
    view = View.of(scores, dx, dy) if dx and dy else None
    latents = Latents(
        dimensions, unprojected, z_scores, projection.cross_product, projection.dof, projection, used, view
    )
    if not folds:
        return flow, latents
    parts = (latents.without_z(np.array(columns)) for columns in zip(*by_fold, strict=True))
    return flow, replace(latents, fold_products=np.array([part @ part.T for part in parts]))


def _latent(fitted: FittedUnit, target: FloatArray, context: FloatArray) -> tuple[ScoreMap, FloatArray]:
    """Latents of a unit's rows, recalibrated: the map, and normal scores of shape (n,)."""
    return ScoreMap.fit(fitted.latent(target, context) if fitted.models else target)

"""From columns to latents: normal scores, a ladder for every unit, recalibration, and projection of z.

These are the default's conditional diffeomorphisms. Each step is monotone in the column that it maps, so the latents
have the same information given z as the columns (paper, Lemma 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pydine.latents.functions import FARTHEST_SCORE
from pydine.latents.linear_effect import RankNoise
from pydine.latents.projection import Blocks, Projection
from pydine.latents.scores import ScoreMap, ThinnedMap
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, IntArray, RowArray, must_fit
from pydine.units.rows import DIGITS, Arrangement, View, outwards
from pydine.units.unit import FittedUnit
from pydine.work.tasks import Unit

VALUES_KEPT = 1 << 26  # memory: most values of functions of z that are kept, half a gibibyte
ROWS_KEPT = 1 << 14  # memory: most rows for which all functions of z are kept, so that they are evaluated once


@dataclass(frozen=True)
class Latents:
    """Latents of the sample that the maps were fitted to.

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
    two_valued : tuple of bool
        Which latents are those of columns with two distinct values.
    view : View, optional
        The canonical order and signs in which a base sees the latents; without it, they are seen as they are.
    unlearned : tuple of float
        What the unit of each latent may have missed, in nats (see `FittedUnit`); empty if that is not known.
    sides : tuple of str
        The caller's names of the first and the second side; a base may see y first.
    seconds : ndarray, shape (dx + dy, n), optional
        Where a latent is the mean over a step's possible latents: the mean of their squares, less 1.
    has_second : tuple of bool
        For which latents `seconds` takes the place of the square.
    steps : ndarray, shape (dx + dy, 2, n), optional
        Of the latents that have a second: the ends of each row's step given z, as probabilities.
    scores : ndarray, shape (dx + dy, n), optional
        Normal scores of the columns that the latents are made of, in which all that z says is still there.
    codes : tuple of three ndarrays of int, shape (n,), optional
        Where all columns are discrete: which combination of values of x, of y and of z each row has.
    rows : Rows
        How rows depend on each other.
    around : tuple of bool
        Which latents are those of angles, whose two ends meet; empty if none are.
    ranks : tuple of RankNoise and of int, optional
        What ranks do to columns that z moves, and which of these the latents are.
    """

    dimensions: tuple[int, int, int]
    unprojected: FloatArray
    z: FloatArray
    cross_product: FloatArray
    dof: float
    projection: Projection | None = None
    functions: FloatArray | None = None
    view: View | None = None
    two_valued: tuple[bool, ...] = ()
    unlearned: tuple[float, ...] = ()
    sides: tuple[str, str] = ("x", "y")
    seconds: FloatArray | None = None
    has_second: tuple[bool, ...] = ()
    steps: FloatArray | None = None
    scores: FloatArray | None = None
    codes: tuple[IntArray, IntArray, IntArray] | None = None
    rows: Rows = INDEPENDENT
    around: tuple[bool, ...] = ()
    ranks: tuple[RankNoise, tuple[int, ...]] | None = None

    @cached_property
    def sampling(self) -> Rows:
        """How rows depend on each other, for sums of what the projection left of both sides."""
        if self.projection is None or not self.dimensions[2]:
            return self.rows
        return self.rows.of_residuals(self.without_z)

    @cached_property
    def depleted(self) -> float:
        """By how much the variance of a sum over rows is larger as latents are residuals (`Rows.depleted`)."""
        dx = self.dimensions[0]
        return 1.0 if self.rows.exchangeable else self.sampling.depleted(self.both[:dx], self.both[dx:])

    @property
    def kept_by_ranks(self) -> FloatArray:
        """What ranks keep of the correlations of each latent, (dx + dy,); see `latents.linear_effect`."""
        if self.ranks is None:
            return np.ones(len(self.unprojected))
        noise, places = self.ranks
        return noise.kept[list(places)]

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return int(self.unprojected.shape[1])

    def of_columns(self, x: list[int], y: list[int]) -> Latents:
        """Select columns, as the latents of two sides; functions of z are projected out already."""
        return self._rearranged([*x, *y], np.ones(len(x) + len(y)), len(x))

    def seen(self) -> Latents:
        """The latents in their canonical order and with their canonical signs, as a base sees them."""
        if self.view is None:
            return self
        dx, dy, _ = self.dimensions
        if self.view.is_swapped:
            return self._rearranged(list(self.view.order), self.view.signs, dy, self.sides[::-1])
        return self._rearranged(list(self.view.order), self.view.signs, dx)

    def _rearranged(
        self, columns: list[int], signs: FloatArray, dx: int, sides: tuple[str, str] | None = None
    ) -> Latents:
        projection = None if self.projection is None else self.projection.of_columns(columns, signs)
        cross = self.cross_product[np.ix_(columns, columns)] * np.outer(signs, signs)
        unprojected = self.unprojected[columns] * signs[:, None]
        dimensions = dx, len(columns) - dx, self.dimensions[2]
        two_valued = tuple(self.two_valued[i] for i in columns) if self.two_valued else ()
        found = replace(
            self,
            dimensions=dimensions,
            unprojected=unprojected,
            cross_product=cross,
            projection=projection,
            view=None,
            two_valued=two_valued,
            sides=sides or self.sides,
            unlearned=tuple(self.unlearned[i] for i in columns) if self.unlearned else (),
            seconds=None if self.seconds is None else self.seconds[columns],
            has_second=tuple(self.has_second[i] for i in columns) if self.has_second else (),
            steps=None if self.steps is None else self.steps[columns],
            scores=None if self.scores is None else self.scores[columns] * signs[:, None],
            around=tuple(self.around[i] for i in columns) if self.around else (),
            ranks=None if self.ranks is None else (self.ranks[0], tuple(self.ranks[1][i] for i in columns)),
        )
        found.__dict__["_functions"] = self._functions  # z is the same: its functions are evaluated and kept once
        if "outwards" in self.__dict__:  # an order that is known stays, above all that of `shifted`
            found.__dict__["outwards"] = self.outwards
        return found

    def shifted(self, projection: Projection, back: FloatArray) -> Latents:
        """The latents under a projection that takes out more, of which `back` (dx + dy, n) is put back row by row."""
        unprojected = self.unprojected + back
        both = projection.residuals(unprojected, self._functions)
        found = replace(self, unprojected=unprojected, projection=projection, cross_product=both @ both.T)
        # The order of rows stays what bases saw: last digits of `back` differ between machines.
        found.__dict__.update(both=both, outwards=self.seen().outwards, _functions=self._functions)
        return found

    @cached_property
    def outwards(self) -> RowArray:
        """Rows by distance from the origin, before the projection, whose last digits differ between machines.

        Latents of steps and labels tie, so that their order is that of the columns as a base sees them, and of z.
        """
        if self.view is not None:
            return self.seen().outwards
        latents = np.round(self.unprojected, DIGITS)
        return outwards(latents, lambda: Arrangement.beside(self.z, latents)(self.z))

    def only(self, rows: NDArray[np.intp]) -> Latents:
        """Select rows, as latents without a projection of their own."""
        both, z = self.both[:, rows], self.z[:, rows]
        dof = len(rows) * self.dof / self.n_rows
        found = Latents(self.dimensions, both, z, both @ both.T, dof, view=self.view, two_valued=self.two_valued)
        return replace(found, rows=self.rows.only(rows), around=self.around)

    @cached_property
    def both(self) -> FloatArray:
        """Latents of x, then of y, shape (dx + dy, n)."""
        return (
            self.unprojected
            if self.projection is None
            else self.projection.residuals(self.unprojected, self._functions)
        )

    def functions_at(self, rows: RowArray | None) -> Blocks:
        """The functions of z that are projected out, at some of the rows, or at all of them."""
        if rows is None or self.projection is None:
            return self._functions
        return self.projection.blocks(self.z[:, rows])

    @cached_property
    def _functions(self) -> Blocks:
        """The functions of z that are projected out; if too large to keep, they are evaluated anew each time."""
        return [(slice(None), self.functions)] if self.functions is not None else _Functions(self.projection, self.z)

    def of(self, side: str) -> FloatArray:
        """Latents of ``"x"`` or ``"y"``, shape (d, n)."""
        dx = self.dimensions[0]
        return self.both[:dx] if side == "x" else self.both[dx:]

    @cached_property
    def leverages(self) -> FloatArray:
        """Leverage of each row in the projection, between 0 and 1, shape (n,)."""
        return np.zeros(self.n_rows) if self.projection is None else self.projection.leverages(self._functions)

    def without_z(self, columns: FloatArray) -> FloatArray:
        """Project the same functions of z out of other columns (d, n) of the sample as out of the latents.

        Without a projection, only the mean is removed: the paper assumes that its latents are independent of z.
        """
        if self.projection is None:
            centred: FloatArray = columns - columns.mean(axis=1, keepdims=True)
            return centred
        return self.projection.of_sample(columns, self._functions)


@dataclass(frozen=True)
class _Functions:
    """The functions of z of a projection, block by block; it can be iterated over more than once."""

    projection: Projection | None
    z: FloatArray

    def __iter__(self) -> Iterator[tuple[slice, FloatArray]]:
        if self.projection is None:
            return iter(())
        return self.projection.blocks(self.z) if self._kept is None else iter(self._kept)

    @cached_property
    def _kept(self) -> list[tuple[slice, FloatArray]] | None:
        """All blocks, unless they are too large to keep."""
        if self.projection is None or self.z.shape[1] * len(self.projection.chosen) > VALUES_KEPT:
            return None
        return list(self.projection.blocks(self.z))


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
        Maps from every unit's latents to their normal scores.
    projection : Projection
    """

    dimensions: tuple[int, int, int]
    maps: tuple[ScoreMap | ThinnedMap, ...]
    units: dict[Unit, FittedUnit]
    recalibration: tuple[ScoreMap | ThinnedMap, ...]
    projection: Projection

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        (dx, dy, dz), every = self.dimensions, range(len(self.maps))
        must_fit(self, min(dx, dy, dz) >= 0 and dx + dy + dz == len(every))
        must_fit(self, len(self.units) == len(self.recalibration) == self.projection.coefficients.shape[1] == dx + dy)
        must_fit(self, all(place in every for unit in self.units for place in (unit.target, *unit.context)))
        must_fit(self, self.projection.functions.dz == dz)

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
        latents, scores = self.unprojected(x, y, z)
        return self.projection(latents, scores), scores

    def unprojected(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows to latents with functions of z still in them, (dx + dy, n), and to the scores of z, (dz, n)."""
        scores = self._scores(x, y, z)
        context = np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)
        latents = np.empty((len(self.units), scores.shape[1]))
        pairs = zip(self.units.items(), self.recalibration, strict=True)
        for out, ((unit, fitted), recalibrate) in zip(latents, pairs, strict=True):
            out[:] = recalibrate(fitted.latent(scores[unit.target], context[list(unit.context)]))
        return latents, scores[len(latents) :]

    def faster(self) -> RankFlow:
        """The same flow with fewer knots in its maps, for very many rows."""
        parts = (self.maps, self.recalibration)
        maps, again = (tuple(m.thinned() if isinstance(m, ScoreMap) else m for m in part) for part in parts)
        return replace(self, maps=maps, recalibration=again)

    def log_density(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of rows, in nats, as densities of the columns' normal scores, shape (n,)."""
        scores = self._scores(x, y, z)
        total: FloatArray = np.zeros(scores.shape[1])
        for unit, fitted in self.units.items():
            context = np.clip(scores[list(unit.context)], -FARTHEST_SCORE, FARTHEST_SCORE)
            total += fitted.log_density(scores[unit.target], context)
        return total

    def _scores(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        columns = np.hstack([x, y, z]).T
        return np.array([m(np.ascontiguousarray(column)) for m, column in zip(self.maps, columns, strict=True)])

"""A question about columns of any kind: its columns as the engine sees them, and their residuals given z as latents.

`MixedColumns` is a function of the question's own columns, whatever else the table holds, so every door that asks the
same question sees the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr

from pydine.inputs.table import Question, Table
from pydine.latents.canonical import canonical
from pydine.latents.conditionals import Conditional, Context, fit_conditionals
from pydine.latents.flows import ROWS_KEPT, Latents
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.kinds import (
    ROWS_PER_FREQUENCY,
    Cells,
    Column,
    NominalColumn,
    Place,
    Residual,
)
from pydine.latents.projection import Projection
from pydine.latents.workshop import SPARE_DOF
from pydine.types import FloatArray, RowArray
from pydine.units.ladder import LadderSettings
from pydine.units.rows import View, outwards, row_marks, signs
from pydine.work.cache import UnitCache

SMALLEST_RESIDUAL = 1e-8  # guard: variance of a residual of which anything is left

__all__ = ["MixedColumns", "MixedMaker", "PlainGiven", "PlainQuestion", "with_indicators"]


def with_indicators(question: Question) -> PlainQuestion:
    """A question whose given columns are numbers: indicators of labels and of point masses, mid-ranks of steps."""
    table = question.table
    every = (*question.x, *question.y, *question.given)
    columns = canonical([table.columns[i] for i in every], [table.kind(i) for i in every])
    sides, dx = len(question.x) + len(question.y), len(question.x)
    given = PlainGiven(tuple(columns[sides:]))
    seen = given(np.ascontiguousarray(table.columns[list(question.given)].T)).T
    rows = np.vstack([table.columns[list(every[:sides])], seen])
    counts = [len(column.context) for column in given.columns]
    names = [table.names[i] for i in every[:sides]]
    names += [table.names[i] for i, count in zip(question.given, counts, strict=True) for _ in range(count)]
    places = tuple(range(len(rows)))
    return PlainQuestion(
        Table(rows, tuple(names), table.kept), places[:dx], places[dx:sides], places[sides:], as_numbers=given
    )


@dataclass(frozen=True, eq=False)
class PlainGiven:
    """What is given, as numbers alone.

    Parameters
    ----------
    columns : tuple of Column
    """

    columns: tuple[Column, ...]

    def __call__(self, z: FloatArray) -> FloatArray:
        """Rows (m, dz) of the question's columns as rows (m, dz') of numbers."""
        parts = []
        for values, column in zip(np.ascontiguousarray(z.T), self.columns, strict=True):
            seen = column.seen(column.coded(values))
            parts += list(seen) if isinstance(column, NominalColumn) else [values, *seen[1:]]
        return np.array(parts).T


@dataclass(frozen=True, eq=False)
class PlainQuestion(Question):
    """A question whose given columns stand for those of another.

    Parameters
    ----------
    as_numbers : PlainGiven, optional
        From rows of those to rows of these.
    """

    as_numbers: PlainGiven | None = None


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """The columns of a question, without those that are there twice, or that z determines.

    Parameters
    ----------
    x, y, z : tuple of Column
    """

    x: tuple[Column, ...]
    y: tuple[Column, ...]
    z: tuple[Column, ...]

    @classmethod
    def of(cls, question: Question, determined: Set[int] = frozenset()) -> MixedColumns:
        """Those of a question, without some that z determines; a side of which all are determined has none."""
        table, signatures = question.table, question.table.signatures
        known = {signatures[i] for i in question.given}

        def distinct(block: Sequence[int], without: set[bytes]) -> list[int]:
            first: dict[bytes, int] = {}
            for i in block:
                if signatures[i] not in without and i not in determined:
                    first.setdefault(signatures[i], i)
            return list(first.values())

        blocks = distinct(question.x, known), distinct(question.y, known), distinct(question.given, set())
        every = [i for block in blocks for i in block]
        columns = canonical([table.columns[i] for i in every], [table.kind(i) for i in every])
        dx, dy = len(blocks[0]), len(blocks[1])
        found = tuple(columns[:dx]), tuple(columns[dx : dx + dy]), tuple(columns[dx + dy :])
        for label, every_place, block, group in zip("xyz", question.blocks, blocks, found, strict=True):
            for i, column in zip(block, group, strict=True):
                column.place = (label, every_place.index(i))
        return cls(*found)

    @cached_property
    def is_swapped(self) -> bool:
        """Whether y goes first wherever one side has to: it does not depend on which of them was called x."""
        sides = [np.vstack([column.order_keys for column in side]) for side in (self.x, self.y)]
        z = self.context(self.z).values
        return View.of(np.vstack([*sides, z]), len(sides[0]), len(sides[1])).is_swapped

    @property
    def outwards(self) -> RowArray:
        """Rows from the middle to the outskirts, in an order that depends on nothing but their values."""
        keys = np.vstack([*(column.order_keys for column in (*self.x, *self.y)), self.context(self.z).values])
        return outwards(keys * signs(keys, row_marks(keys))[:, None])

    def swapped(self) -> MixedColumns:
        """The same with x and y in each other's place."""
        return replace(self, x=self.y, y=self.x)

    def only(self, rows: RowArray) -> MixedColumns:
        """Some of the rows, without the columns that are constant there."""
        groups = [
            [column for column in group if np.ptp(column.values[rows]) > 0.0] for group in (self.x, self.y, self.z)
        ]
        every = [column for group in groups for column in group]
        found = canonical([column.values[rows] for column in every], [column.KIND for column in every])
        dx, dy = len(groups[0]), len(groups[1])
        return replace(self, x=tuple(found[:dx]), y=tuple(found[dx : dx + dy]), z=tuple(found[dx + dy :]))

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len((self.x or self.y)[0].values)

    @property
    def follows_numbers(self) -> bool:
        """Whether a number of either side is given anything but labels."""
        is_moved = not all(column.is_discrete for column in (*self.x, *self.y))
        return is_moved and any(not isinstance(column, NominalColumn) for column in self.z)

    def context(self, *groups: Sequence[Column]) -> Context:
        """Columns as a context."""
        return Context.of([column for group in groups for column in group], self.n_rows)

    def rows(self, x: FloatArray, y: FloatArray, z: FloatArray) -> dict[Place, FloatArray]:
        """New rows (m, dx), (m, dy), (m, dz) of the question's columns, by the places of these."""
        blocks = {"x": x, "y": y, "z": z}
        return {
            column.place: column.coded(np.ascontiguousarray(blocks[column.place[0]][:, column.place[1]]))
            for column in (*self.x, *self.y, *self.z)
        }

    @cached_property
    def made(self) -> dict[LadderSettings, Latents | None]:
        """What is left of the columns given z, once it is known: an estimate and its test both ask."""
        return {}

    @cached_property
    def cells(self) -> Cells | None:
        """Which combination of values of z each row has, if z is discrete; all the same without a z."""
        if not self.z:
            return np.zeros(self.n_rows, dtype=np.intp)
        if not all(column.is_discrete for column in self.z):
            return None
        values = np.array([column.values for column in self.z])
        return np.unique(values, axis=1, return_inverse=True)[1].ravel()

    def by_frequency(self, column: Column) -> bool:
        """Whether rows are enough to model a column given z by its frequencies in every cell of z."""
        if self.cells is None or not column.is_discrete:
            return False
        levels = len(np.unique(column.values)) * (int(self.cells.max()) + 1)
        return self.n_rows >= ROWS_PER_FREQUENCY * levels

    def residuals(self, column: Column, fitted: Conditional | None) -> list[Residual]:
        """What is left of a column given z: by what was fitted, or by frequencies."""
        if fitted is not None:
            return fitted.residuals()
        if self.cells is None:
            raise ValueError("frequencies need a discrete context")
        return column.frequencies(self.cells)


@dataclass(frozen=True)
class MixedMaker:
    """How residuals are made: settings of the ladder, a cache, threads."""

    ladder: LadderSettings
    cache: UnitCache
    n_jobs: int | None = None

    def conditionals(self, asked: Sequence[tuple[Column, Context]]) -> list[Conditional]:
        """Columns, each given a context, cross-fitted."""
        return fit_conditionals(asked, self.ladder, self.cache, self.n_jobs, is_crossed=True)

    def latents(self, columns: MixedColumns) -> Latents | None:
        """What is left of both sides given z, with functions of z projected out; None if nothing is left of one."""
        if self.ladder not in columns.made:
            columns.made[self.ladder] = self._latents(columns)
        return columns.made[self.ladder]

    def _latents(self, columns: MixedColumns) -> Latents | None:
        context = columns.context(columns.z)
        sides, z = (*columns.x, *columns.y), context.values
        fitted = [column for column in sides if not columns.by_frequency(column)]
        known = dict(zip(map(id, fitted), self.conditionals([(column, context) for column in fitted]), strict=True))
        pieces = [
            (column, piece, key)
            for column in sides
            for piece, key in zip(columns.residuals(column, known.get(id(column))), column.order_keys, strict=True)
            if piece.first.var() > SMALLEST_RESIDUAL
        ]
        ours = set(map(id, columns.x))
        x, y = ([p for p in pieces if (id(p[0]) in ours) is side] for side in (True, False))
        learned = [entry for conditional in known.values() for entry in conditional.units]
        weights = [unit.nonlinear_weight for unit in learned] or [0.0]
        units = tuple(unit for unit in learned if unit.models)
        return _projected([p[1:] for p in x], [p[1:] for p in y], z, units, float(np.mean(weights)))


def _projected(
    x: list[tuple[Residual, FloatArray]],
    y: list[tuple[Residual, FloatArray]],
    z: FloatArray,
    units: tuple[object, ...],
    nonlinear: float,
) -> Latents | None:
    """Project functions of z (dz, n) out of residuals, and leave out those that others of their side determine."""
    if not (x and y):
        return None
    pieces, dx, dz = [*x, *y], len(x), len(z)
    unprojected = np.array([piece.first for piece, _ in pieces])
    functions = FunctionsOfZ.choose(z, units if dz else None)  # type: ignore[arg-type]
    n = unprojected.shape[1]
    values = functions(z) if n <= ROWS_KEPT else None
    projection = Projection.fit(
        unprojected, z, functions, nonlinear=nonlinear, least_dof=len(pieces) + SPARE_DOF, dx=dx, values=values
    )
    seconds = np.array([np.zeros(n) if piece.second is None else piece.second for piece, _ in pieces])
    latents = Latents(
        (dx, len(y), dz),
        unprojected,
        z,
        projection.cross_product,
        projection.dof,
        projection,
        None if values is None else values[:, projection.chosen],
        two_valued=tuple(piece.is_label for piece, _ in pieces),
        seconds=seconds,
        has_second=tuple(piece.second is not None for piece, _ in pieces),
        view=View.of(np.vstack([np.array([key for _, key in pieces]), z]), dx, len(y)),
    )
    kept = _independent(latents.both[:dx]), _independent(latents.both[dx:])
    if len(kept[0]) + len(kept[1]) == len(pieces):
        return latents
    return _projected([x[i] for i in kept[0]], [y[i] for i in kept[1]], z, units, nonlinear)


def _independent(columns: FloatArray) -> list[int]:
    """Which of columns (d, n) to keep so that none is constant or a combination of others, in order."""
    scale = np.sqrt((columns * columns).mean(axis=1))
    there = np.flatnonzero(scale > np.sqrt(SMALLEST_RESIDUAL))
    if len(there) < 2:
        return list(map(int, there))
    factor, pivots = qr((columns[there] / scale[there, None]).T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(factor)) / np.sqrt(columns.shape[1])
    return sorted(int(there[i]) for i in pivots[: int((sizes**2 > SMALLEST_RESIDUAL).sum())])

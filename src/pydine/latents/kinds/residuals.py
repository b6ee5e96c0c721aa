"""Residuals of a question's columns given z, as latents, on which tests work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from pydine.latents.flows import ROWS_KEPT, Latents
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.kinds.column import Column, Residual
from pydine.latents.kinds.conditionals import Conditional, Context, fit_conditionals
from pydine.latents.kinds.levels import centred
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.projection import Projection
from pydine.latents.workshop import SPARE_DOF
from pydine.sampling import Rows
from pydine.types import FloatArray, IntArray
from pydine.units.ladder import LadderSettings
from pydine.units.rows import View, combinations
from pydine.work.cache import UnitCache

SMALLEST_RESIDUAL = 1e-8  # guard: least variance of a residual; with less, nothing is left of it


@dataclass(frozen=True)
class MixedMaker:
    """Makes residuals, with settings of the ladder, a cache, and a number of workers."""

    ladder: LadderSettings
    cache: UnitCache
    n_jobs: int | None = None
    without: tuple[str, ...] = ()  # steps that are left out, for measurements

    def has(self, step: str) -> bool:
        """Whether a step is not left out."""
        return step not in self.without

    def conditionals(self, asked: Sequence[tuple[Column, Context]]) -> list[Conditional]:
        """Columns, each given a context, cross-fitted."""
        return fit_conditionals(asked, self.ladder, self.cache, self.n_jobs, is_crossed=True)

    def latents(self, columns: MixedColumns) -> Latents | None:
        """Residuals of both sides given z, with functions of z projected out; None if a side has none left."""
        if self.ladder not in columns.made:
            columns.made[self.ladder] = self._latents(columns)
        return columns.made[self.ladder]

    def _latents(self, columns: MixedColumns) -> Latents | None:
        context = columns.context(columns.z)
        sides = (*columns.x, *columns.y)
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
        nonlinear = 1.0 - float(np.prod([1.0 - unit.nonlinear_weight for unit in learned]))
        units = tuple(unit for unit in learned if unit.models)
        rows = centred(columns.sampling, columns.z, columns.n_rows)
        found = _projected([p[1:] for p in x], [p[1:] for p in y], context.learned, units, nonlinear, rows)
        return None if found is None else replace(found, codes=_codes(columns))


def _projected(
    x: list[tuple[Residual, FloatArray]],
    y: list[tuple[Residual, FloatArray]],
    z: FloatArray,
    units: tuple[object, ...],
    nonlinear: float,
    rows: Rows,
) -> Latents | None:
    """Project functions of z (dz, n) out of residuals, and drop those that are linearly dependent within their side."""
    if not (x and y):
        return None
    pieces, dx, dz = [*x, *y], len(x), len(z)
    unprojected = np.array([piece.first for piece, _ in pieces])
    keys = np.array([key for _, key in pieces])
    functions = FunctionsOfZ.choose(z, units if dz else None, keys)  # type: ignore[arg-type]
    n = unprojected.shape[1]
    values = functions(z) if n <= ROWS_KEPT else None
    projection = Projection.fit(
        unprojected,
        z,
        functions,
        nonlinear=nonlinear,
        least_dof=len(pieces) + SPARE_DOF,
        dx=dx,
        values=values,
        rows=rows,
    )
    seconds = np.array([np.zeros(n) if piece.second is None else piece.second for piece, _ in pieces])
    steps = np.array([np.zeros((2, n)) if piece.step is None else piece.step for piece, _ in pieces])
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
        steps=steps,
        scores=keys if dz else None,
        view=View.of(np.vstack([keys, z]), dx, len(y)),
        rows=rows,
    )
    kept = _independent(latents.both[:dx]), _independent(latents.both[dx:])
    if len(kept[0]) + len(kept[1]) == len(pieces):
        return latents
    return _projected([x[i] for i in kept[0]], [y[i] for i in kept[1]], z, units, nonlinear, rows)


def _codes(columns: MixedColumns) -> tuple[IntArray, IntArray, IntArray] | None:
    """Which combination of values of x, of y and of z each row has, if all columns are discrete."""
    if columns.cells is None or not all(column.is_discrete for column in (*columns.x, *columns.y)):
        return None
    x, y = (combinations([column.values for column in side]) for side in (columns.x, columns.y))
    return x, y, columns.cells


def _independent(columns: FloatArray) -> list[int]:
    """Positions of columns (d, n) to keep so that none is 0 or a linear combination of others, in order."""
    scale = np.sqrt((columns * columns).mean(axis=1))
    there = np.flatnonzero(scale > np.sqrt(SMALLEST_RESIDUAL))
    if len(there) < 2:
        return list(map(int, there))
    factor, pivots = qr((columns[there] / scale[there, None]).T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(factor)) / np.sqrt(columns.shape[1])
    return sorted(int(there[i]) for i in pivots[: int((sizes**2 > SMALLEST_RESIDUAL).sum())])

"""A first look: flows are fitted to some of the rows and tested on the others, before they are fitted to all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pydine.bases.base import mixed
from pydine.bases.stack import Stack
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import evidence
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.units.rungs.linear import LINEAR
from pydine.units.rungs.rung import Rung
from pydine.units.unit import MARGINAL, FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.plan import Unit
from pydine.work.tasks import UnitTask


@dataclass(frozen=True)
class Look:
    """Flows of one side that are fitted to some of the rows and tested on the others.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Scores of both sides and z.
    seeing, alone : sequence of Unit
        Units of the targets given the other side and z, and given z.
    learned : ndarray of int
        Rows to learn from.
    ladder : LadderSettings
    cache : UnitCache or None
    n_jobs : int or None
    """

    columns: FloatArray
    seeing: Sequence[Unit]
    alone: Sequence[Unit]
    learned: RowArray
    ladder: LadderSettings
    cache: UnitCache | None = None
    n_jobs: int | None = None

    def found(self, stack: Stack) -> float:
        """How far flows are worth fitting to all rows, between 0 and 1: as far as they find a shape in the others.

        Their gain over a stack counts by its number of standard errors, as that of a richer base does. Flows may
        predict rows better than the plain bases without having found a shape: an estimated covariance of many columns
        is noisy, and a regularised model has a smaller variance. Linear flows have this advantage too, so the gain is
        also compared with that of the stack joined by them; what the noise of its parameters costs the Student base is
        subtracted.
        """
        held, folds = stack.held_out[self._others], self._folds(stack)

        def joined(*ratios: FloatArray) -> FloatArray:
            return mixed(np.array([held, *ratios]), folds)[0]

        seeing = self._flows(self.seeing)
        most = seeing - self._sum(self.seeing, lambda _: MARGINAL)  # an upper bound, as in `flow`
        part = evidence(joined(most) - held - stack.unsteady)
        if part == 0.0:
            return 0.0
        ratios = seeing - self._flows(self.alone)
        part *= evidence(joined(ratios) - held - stack.unsteady)
        if part == 0.0:
            return 0.0
        lines = self._sum(self.seeing, self._line) - self._sum(self.alone, self._line)
        more = joined(lines, ratios) - joined(lines) - stack.unsteady
        return part * evidence(more)

    @cached_property
    def _others(self) -> RowArray:
        return np.setdiff1d(np.arange(self.columns.shape[1]), self.learned)

    def _folds(self, stack: Stack) -> list[RowArray]:
        """Positions, among the other rows, of those in each fold of the stack."""
        return [np.flatnonzero(np.isin(self._others, rows, assume_unique=True)) for rows in stack.folds]

    def _lesson(self, unit: Unit) -> tuple[FloatArray, FloatArray]:
        some = self.columns[:, self.learned]
        return some[unit.target], some[list(unit.context)]

    def _flows(self, units: Sequence[Unit]) -> FloatArray:
        """Log-densities of the other rows under flows, in nats, shape (m,)."""
        tasks = [UnitTask(*self._lesson(unit), self.ladder) for unit in units]
        fitted = [found.unit for found in fit_units(tasks, self.cache, self.n_jobs)]
        return self._sum(units, dict(zip(units, fitted, strict=True)).__getitem__)

    def _line(self, unit: Unit) -> FittedUnit:
        """The unit fitted with no rung but the linear one."""
        return fit_ladder(*self._lesson(unit), self.ladder, _linear_only)

    def _sum(self, units: Sequence[Unit], fitted: Callable[[Unit], FittedUnit]) -> FloatArray:
        rest: FloatArray = np.ascontiguousarray(self.columns[:, self._others])
        densities = [fitted(unit).log_density(rest[unit.target], rest[list(unit.context)]) for unit in units]
        total: FloatArray = np.sum(densities, axis=0)
        return total


def _linear_only(c: int, n_train: int, settings: LadderSettings) -> list[Rung]:  # noqa: ARG001 - the contract of rungs
    return [LINEAR]

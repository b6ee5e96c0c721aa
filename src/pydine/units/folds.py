"""Folds: which rows each one holds out, and what it takes to fit a rung in one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pydine.types import FloatArray, RowArray
from pydine.units.rows import dealt, some_of
from pydine.units.rungs.linear import LINEAR
from pydine.units.rungs.rung import Lesson, Rung
from pydine.units.settings import LadderSettings
from pydine.units.steps import marginal_log_density, middles
from pydine.units.unit import Model

SharedRungs = dict[tuple[int, str], Model]  # by fold and name

# answer: there are as many partitions as reach so many rows together, and so many at most: what another partition would
# change falls as rows are added (benchmarks/partitions.py), and time does not.
PARTITION_ROWS, MOST_PARTITIONS = 1200, 4


def partitions(target: FloatArray, context: FloatArray, settings: LadderSettings) -> list[RowArray]:
    """Which rows each fold holds out, fold by fold of one partition after the other.

    They are dealt out in the order of how far out their target lies; rows as far out as each other go by their context,
    column by column in the end: all columns have the same scores, so sums of their sizes are often equal.
    """
    target = middles(target)
    keys = [target, np.abs(context).sum(axis=0), np.abs(target)]
    order = np.lexsort(keys)
    in_order = np.array(keys)[:, order]
    if (in_order[:, 1:] == in_order[:, :-1]).all(axis=0).any():  # rows that are told apart by their context alone
        order = np.lexsort([*context, *keys])
    order = some_of(order, settings.max_rows)
    return [rows for i in range(n_partitions(len(order))) for rows in dealt(order, settings.folds, i)]


def n_partitions(n: int) -> int:
    """How many partitions n rows are worth: which rows are in which fold matters more the fewer there are."""
    return int(np.clip(PARTITION_ROWS // n, 1, MOST_PARTITIONS))


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows that are held out: targets t (n,) or (2, n), and contexts x (c, n), of both.

    Rungs that tuning does not change are kept in `shared`.
    """

    i: int
    t: FloatArray
    x: FloatArray
    t_held: FloatArray
    x_held: FloatArray
    settings: LadderSettings
    shared: SharedRungs

    @classmethod
    def of(
        cls,
        i: int,
        target: FloatArray,
        context: FloatArray,
        held: list[RowArray],
        settings: LadderSettings,
        shared: SharedRungs,
    ) -> Fold:
        """The fold that holds out the i-th of the sets of rows, and learns from the others of its partition."""
        first = i - i % settings.folds
        others = [held[j] for j in range(first, first + settings.folds) if j != i]
        parts = np.concatenate(others), held[i]
        (t, t_held), (x, x_held) = ([np.take(a, rows, axis=-1) for rows in parts] for a in (target, context))
        return cls(i, t, x, t_held, x_held, settings, shared)

    @property
    def marginal_density(self) -> FloatArray:
        """Log-density of the held-out rows without their context."""
        return marginal_log_density(self.t_held)

    def density_of(self, model: Model) -> FloatArray:
        """Log-density of the held-out rows under a model."""
        return model.log_density(self.t_held, self.x_held)

    def fit(self, rung: Rung, watched: bool = False) -> tuple[Model, int]:
        """Fit a rung, and say how many steps its training took; with `watched` as many as the held-out rows ask for."""
        if rung.is_tuned:
            return rung.fit(self._lesson((self.t_held, self.x_held) if watched else None))
        key = self.i, rung.name
        if key not in self.shared:
            self.shared[key] = rung.fit(self._lesson())[0]
        return self.shared[key], rung.iterations

    def _lesson(self, held: tuple[FloatArray, FloatArray] | None = None) -> Lesson:
        return Lesson(self.t, self.x, self.settings, self._linear, held)

    def _linear(self) -> Model:
        """What networks start from, whether it counts or not."""
        return self.fit(LINEAR)[0]

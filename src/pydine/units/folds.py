"""Folds: which rows each one holds out, and how a rung is fitted in one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray
from pydine.units.rows import some_of
from pydine.units.rungs.linear import SCALE
from pydine.units.rungs.rung import Effort, Lesson, Rung
from pydine.units.settings import LadderSettings
from pydine.units.steps import marginal_log_density, middles
from pydine.units.unit import Model

SharedRungs = dict[tuple[int, str], Model]  # by fold and name


def held_out_rows(
    target: FloatArray, context: FloatArray, settings: LadderSettings, rows: Rows = INDEPENDENT
) -> list[HeldOut]:
    """Which rows each fold holds out.

    Rows are dealt out in the order of the target's absolute value. Ties are broken by the sum of the context's absolute
    values, then by the target's sign, and then by the context column by column: all columns have the same scores, so
    these sums are often equal.
    """
    target = middles(target)
    keys = [target, np.abs(context).sum(axis=0), np.abs(target)]
    order = np.lexsort(keys)
    in_order = np.array(keys)[:, order]
    if (in_order[:, 1:] == in_order[:, :-1]).all(axis=0).any():  # rows that are told apart by their context alone
        order = np.lexsort([*context, *keys])
    return rows.folds(some_of(order, settings.max_rows), settings.folds)


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows that are held out, each with targets t, (n,) or (2, n), and contexts x, (c, n).

    Fitted rungs that depend on `components` and on nothing else that is tuned are kept in `shared`; `rows_held` says
    how the rows that are held out depend on each other. `of_all` is the number of all rows, of which these may be some.
    """

    i: int
    t: FloatArray
    x: FloatArray
    t_held: FloatArray
    x_held: FloatArray
    settings: LadderSettings
    shared: SharedRungs
    rows_held: Rows = INDEPENDENT
    of_all: int = 0

    @classmethod
    def of(
        cls,
        i: int,
        target: FloatArray,
        context: FloatArray,
        held: list[HeldOut],
        settings: LadderSettings,
        shared: SharedRungs,
        rows: Rows = INDEPENDENT,
    ) -> Fold:
        """The fold that holds out the i-th of the sets of rows, and learns from the others."""
        others = np.concatenate([other.rows for j, other in enumerate(held) if j != i])
        is_away = np.zeros(context.shape[1], dtype=np.bool_)
        is_away[held[i].away] = True
        parts = others[~is_away[others]], held[i].rows
        (t, t_held), (x, x_held) = ([np.take(a, rows, axis=-1) for rows in parts] for a in (target, context))
        return cls(i, t, x, t_held, x_held, settings, shared, rows.only(held[i].rows), context.shape[1])

    @property
    def share(self) -> float:
        """The share of the rows that are held out."""
        return len(self.x_held[0]) / (len(self.x_held[0]) + len(self.x[0]))

    @property
    def marginal_density(self) -> FloatArray:
        """Log-density of the held-out rows without their context."""
        return marginal_log_density(self.t_held)

    def density_of(self, model: Model) -> FloatArray:
        """Log-density of the held-out rows under a model."""
        return model.log_density(self.t_held, self.x_held)

    def fit(self, rung: Rung, watched: bool = False) -> tuple[Model, Effort]:
        """Fit a rung; returns the model and what it took, or may take if it is not tuned.

        If `watched`, the training of a tuned rung ends when the likelihood of held-out rows no longer improves.
        """
        if rung.is_tuned:
            return rung.fit(self._lesson((self.t_held, self.x_held) if watched else None))
        key = self.i, rung.name
        if key not in self.shared:
            self.shared[key] = rung.fit(self._lesson())[0]
        return self.shared[key], Effort(rung.iterations, rung.parts)

    def _lesson(self, held: tuple[FloatArray, FloatArray] | None = None) -> Lesson:
        return Lesson(self.t, self.x, self.settings, self._linear, held, self.of_all)

    def _linear(self) -> Model:
        """The linear rung's model, which networks start from even if it has no weight in the mixture."""
        return self.fit(SCALE)[0]

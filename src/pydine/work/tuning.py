"""Tuning: find the settings of the ladder under which units predict held-out rows best (the paper's objective).

The ladder's own folds give the held-out likelihood, so a grid costs one ladder for each of its points, and rungs
without a network are fitted once for all points that share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings, SharedRungs, held_out_likelihood
from pydine.work.execution import run
from pydine.work.tasks import Unit


@dataclass(frozen=True)
class Grid:
    """The settings to try, in every combination."""

    components: tuple[int, ...] = (2, 3, 5)
    hidden_units: tuple[int, ...] = (4, 8, 16)
    weight_decay: tuple[float, ...] = (0.2, 0.67, 2.0)

    def points(self) -> list[tuple[int, int, float]]:
        """All combinations, those with the same components together."""
        return list(product(self.components, self.hidden_units, self.weight_decay))


@dataclass(frozen=True)
class Trial:
    """One point of a grid and the mean held-out log-likelihood of a row, summed over units, in nats."""

    components: int
    hidden_units: int
    weight_decay: float
    log_likelihood: float


def tune(
    columns: FloatArray, units: Sequence[Unit], settings: LadderSettings, grid: Grid, n_jobs: int | None = None
) -> list[Trial]:
    """Evaluate every point of a grid on units.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Normal scores; the units' positions refer to its rows.
    units : sequence of Unit
    settings : LadderSettings
        The settings that the grid does not vary.
    grid : Grid
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    list of Trial
        From the best to the worst; ties are in the order of the grid.
    """

    def likelihoods(item: tuple[Unit, int]) -> list[float]:
        unit, components = item
        target, context = columns[unit.target], columns[list(unit.context)]
        shared: SharedRungs = {}
        return [
            held_out_likelihood(
                target,
                context,
                replace(settings, components=components, hidden_units=hidden, weight_decay=decay),
                shared,
            )
            for hidden, decay in product(grid.hidden_units, grid.weight_decay)
        ]

    seeing = [unit for unit in units if unit.context]  # the others have nothing to learn
    found = run(likelihoods, [(unit, k) for unit in seeing for k in grid.components], n_jobs)
    totals = np.array(found).reshape(len(seeing), -1).sum(axis=0) if seeing else np.zeros(len(grid.points()))
    trials = [Trial(*point, float(total)) for point, total in zip(grid.points(), totals, strict=True)]
    return sorted(trials, key=lambda trial: -trial.log_likelihood)

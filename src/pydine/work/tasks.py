"""Units as tasks: units to be fitted, which are first looked up in the cache, and run wherever an executor runs them.

A task holds all that a unit depends on and nothing else, so it can be pickled and sent to other processes (see
`parcels`), and two tasks with the same bytes are the same unit. The cache is read and filled in the caller's process.
`Executor` in `execution` says how to add another way to run tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder
from pydine.units.unit import FittedUnit

NOTHING = np.empty(0)

# memory: seconds for a unit, for each of its rows, and the share that each context column adds to the latter.
A_UNIT, A_ROW, A_COLUMN = 6e-3, 6e-6, 0.1


@dataclass(frozen=True, eq=False)
class UnitTask:
    """One unit to be fitted.

    Parameters
    ----------
    target : ndarray, shape (n,) or (2, n)
        Normal scores; two cut points a row where the target has steps (`steps`).
    context : ndarray, shape (c, n)
    settings : LadderSettings
    is_crossed : bool
        Whether the held-out log-densities of the rows are wanted too.
    rows : Rows
        How they depend on each other.
    """

    target: FloatArray
    context: FloatArray
    settings: LadderSettings
    is_crossed: bool = False
    rows: Rows = INDEPENDENT

    @property
    def seconds(self) -> float:
        """About how many seconds the fit takes, by which tasks are grouped to be sent to other processes."""
        c, n = self.context.shape
        return A_UNIT + A_ROW * n * (1.0 + A_COLUMN * c) if c else 0.0


class Fitted(NamedTuple):
    """A unit and, where it was cross-fitted, the held-out log-densities of its rows, shape (n,)."""

    unit: FittedUnit
    log_density: FloatArray


def fit_task(task: UnitTask) -> Fitted:
    """Fit a unit; the result depends on the task alone."""
    if task.is_crossed:
        return Fitted(*cross_fit_ladder(task.target, task.context, task.settings, rows=task.rows))
    return Fitted(fit_ladder(task.target, task.context, task.settings, rows=task.rows), NOTHING)

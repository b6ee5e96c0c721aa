"""Units as tasks: what has to be fitted, asked of the cache first, and run wherever an executor runs it.

A task holds all that a unit depends on and nothing else, so it can be pickled and sent away, and two tasks that hold
the same bytes are the same unit. To write another executor (processes, a cluster), give `stream` in `execution` another
way to map `fit_task` over tasks: the cache is asked, and filled, in the process that asked the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder
from pydine.units.unit import FittedUnit

NOTHING = np.empty(0)


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
    """

    target: FloatArray
    context: FloatArray
    settings: LadderSettings
    is_crossed: bool = False


class Fitted(NamedTuple):
    """A unit and, where it was cross-fitted, the held-out log-densities of its rows, shape (n,)."""

    unit: FittedUnit
    log_density: FloatArray


def fit_task(task: UnitTask) -> Fitted:
    """Fit a unit. It depends on the task alone."""
    if task.is_crossed:
        return Fitted(*cross_fit_ladder(task.target, task.context, task.settings))
    return Fitted(fit_ladder(task.target, task.context, task.settings), NOTHING)

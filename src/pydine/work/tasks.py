"""The units that answer a question, and units as tasks: looked up in the cache first, or run wherever an executor runs.

A task holds all that a unit depends on and nothing else, so it can be pickled and sent to other processes (see
`parcels`), and two tasks with the same bytes are the same unit. The cache is read and filled in the caller's process.
`Executor` in `execution` says how to add another way to run tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder
from pydine.units.unit import FittedUnit


@dataclass(frozen=True, order=True)
class Unit:
    """One target column and its context columns, as positions in a table of columns."""

    target: int
    context: tuple[int, ...]


def autoregressive(targets: Sequence[int], given: Sequence[int]) -> list[Unit]:
    """Units of an autoregressive flow over `targets` given other columns: h_i = c_i(x_<i, z) (paper, "Conditioner")."""
    return [Unit(target, (*targets[:i], *given)) for i, target in enumerate(targets)]


def columnwise(targets: Sequence[int], given: Sequence[int]) -> list[Unit]:
    """Units that map each of `targets` by itself, given the other columns."""
    return [Unit(target, tuple(given)) for target in targets]


def unique(units: Iterable[Unit]) -> list[Unit]:
    """Every unit once, in the order of first appearance."""
    return list(dict.fromkeys(units))


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

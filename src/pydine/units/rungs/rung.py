"""What a rung is, and what it is given to learn from.

To write another one, make a file of its own with one of these, from the least work to the most:

- another expansion of the context, in which location and log-scale are linear: `ExpandedRung("waves", waves)`
  (`linear.py`);
- another network or another start of one: a subclass of `NetworkRung` (`networks.py`);
- anything else that ends in a `Model`: a subclass of `Rung`.

To try it, pass a function like `rungs_for` (`registry.py`) that lists it among the others to `fit_ladder`. To keep it,
put it into `rungs_for`, and its expansion into `EXPANSIONS` beside that. Nothing else knows which rungs there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from pydine.types import FloatArray
from pydine.units.settings import LadderSettings
from pydine.units.unit import Expansion, Model, identity


@dataclass(frozen=True)
class Lesson:
    """The rows that a rung learns from in one fold.

    Parameters
    ----------
    t : ndarray, shape (n,) or (2, n)
        Normal scores of the target; two cut points where it has steps.
    x : ndarray, shape (c, n)
        Normal scores of its context.
    settings : LadderSettings
    linear : callable
        Returns the linear rung's model of the same rows, which is fitted once, at the first call.
    held : tuple of ndarray, shapes (m,) and (c, m), optional
        Target and context of held-out rows: training is to end when their likelihood no longer improves. Given in the
        first fold only; the other folds take as many steps as it did, and learn from as many rows.
    of_all : int
        Rows of the whole sample, of which these are some; 0 if it does not matter.
    """

    t: FloatArray
    x: FloatArray
    settings: LadderSettings
    linear: Callable[[], Model]
    held: tuple[FloatArray, FloatArray] | None = None
    of_all: int = 0


class Effort(NamedTuple):
    """What a fit took: steps of training with the last of the growing samples, and how many of them; 0 for all."""

    iterations: int
    parts: int = 0


@dataclass(frozen=True)
class Rung(ABC):
    """A way to model a target given its context.

    Its fit must depend on its fields and the lesson alone, treat all rows alike and, up to rounding, be symmetric in
    the sign of each context column: the ladder's promises (no seeds, no order of rows) rest on that.

    Parameters
    ----------
    name : str
        Rungs of one name are different starts of the same model: if the first of them adds nothing to the rungs below,
        the others are not fitted.
    expansion : callable
        What it sees of the context, (c, n) to (c', n); the columns of the context come first.
    iterations : int
        Most steps of training.
    after : str
        Name of a rung that must count for this one to be tried; empty if it is tried in any case.
    parts : int
        Growing samples to learn from at most; 0 for all of them.
    """

    name: str
    expansion: Expansion = identity
    iterations: int = 0
    after: str = field(default="", kw_only=True)
    parts: int = field(default=0, kw_only=True)

    # Whether its fit depends on settings that tuning varies beside `components`. If not, it is fitted once for all
    # points of a grid, and is shown no held-out rows.
    is_tuned: ClassVar[bool] = True

    @abstractmethod
    def fit(self, lesson: Lesson) -> tuple[Model, Effort]:
        """Learn from the rows of a fold; returns the model and what it took."""


RungsFor = Callable[[int, int, LadderSettings], list[Rung]]  # of context columns, rows to learn from, settings

"""All settings of an estimate, with their checks and the seed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from pydine.answers.steps import RUNGS, STEPS
from pydine.inputs.table import Table
from pydine.latents.workshop import Workshop
from pydine.units.ladder import LadderSettings
from pydine.work.cache import UnitCache

if TYPE_CHECKING:
    from pydine.latents.paper import PaperSettings
    from pydine.work.tuning import Trial

RandomState = int | np.random.RandomState | np.random.Generator | None
CacheLike = UnitCache | str | os.PathLike[str] | None

BASES = ("auto", "gaussian", "student", "mixture", "flow")
ALGORITHMS = ("ladder", "paper")
INTERVALS = ("fast", "calibrated")
LEAST = {"n_components": 1, "hidden_units": 1, "n_networks": 0, "n_folds": 2, "max_iter": 1, "max_rows": 100}


@dataclass(frozen=True)
class Settings:
    """Everything that an estimate depends on beside the data: the parameters of `DINE`, where they are described.

    `n_jobs` and `cache`, where units are looked up before they are fitted, affect the time and not the result.
    """

    base: str = "auto"
    algorithm: str = "ladder"
    n_components: int = LadderSettings.components
    hidden_units: int = LadderSettings.hidden_units
    n_networks: int = LadderSettings.networks
    n_folds: int = LadderSettings.folds
    weight_decay: float = LadderSettings.weight_decay
    max_iter: int = LadderSettings.iterations
    max_rows: int = LadderSettings.max_rows
    tune: bool = False
    interval: str = "fast"
    random_state: RandomState = 0
    n_jobs: int | None = None
    cache: UnitCache | None = None
    without: tuple[str, ...] = ()  # steps that are left out (`steps`), for measurements; no door passes it on

    @classmethod
    def of(cls, algorithm: str, **changes: Any) -> Settings:
        """Return the defaults of an algorithm, with changes."""
        if algorithm != "paper":
            return cls(algorithm=algorithm, **changes)
        from pydine.latents.paper import PaperSettings

        paper = {
            "base": "gaussian",
            "n_components": PaperSettings.components,
            "hidden_units": PaperSettings.hidden_units,
            "max_iter": PaperSettings.iterations,
        }
        return cls(algorithm=algorithm, **{**paper, **changes})

    def check(self) -> None:
        """Raise a ValueError that names the first invalid parameter."""
        for name, choices in (("base", BASES), ("algorithm", ALGORITHMS), ("interval", INTERVALS)):
            if getattr(self, name) not in choices:
                expected = " or ".join(map(repr, choices))
                raise ValueError(f"{name} must be {expected}, but got {getattr(self, name)!r}.")
        for name, least in LEAST.items():
            value = getattr(self, name)
            if not is_integer(value) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, but got {value!r}.")
        for step in self.without:
            if step not in STEPS:
                raise ValueError(f"without must name steps, which are {', '.join(STEPS)}, but got {step!r}.")
        if not isinstance(self.tune, bool | np.bool_):
            raise ValueError(f"tune must be True or False, but got {self.tune!r}.")
        if self.tune and self.algorithm == "paper":
            raise ValueError("tune=True needs algorithm='ladder'; tune DINE.paper() with GridSearchCV.")
        decay: Any = self.weight_decay
        if not isinstance(decay, Real) or not 0.0 <= float(decay) < np.inf:
            raise ValueError(f"weight_decay must be a number of at least 0, but got {self.weight_decay!r}.")
        if self.n_jobs is not None and (not is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0, but got {self.n_jobs!r}.")

    def ladder(self) -> LadderSettings:
        """How units are fitted."""
        return LadderSettings(
            networks=self.n_networks,
            hidden_units=self.hidden_units,
            components=self.n_components,
            weight_decay=self.weight_decay,
            iterations=self.max_iter,
            folds=self.n_folds,
            max_rows=self.max_rows,
            without=tuple(sorted({*RUNGS, "projection"} & {*self.without})),
        )

    def has(self, step: str) -> bool:
        """Whether a step (`steps`) is not left out."""
        return step not in self.without

    def paper(self) -> PaperSettings:
        """How the paper's flows are fitted."""
        from pydine.latents.paper import PaperSettings

        return PaperSettings(self.hidden_units, self.n_components, self.max_iter, seed=self.seed())

    def tuned(self, best: Trial) -> Settings:
        """The same settings with the best values that tuning found."""
        return replace(
            self, n_components=best.components, hidden_units=best.hidden_units, weight_decay=best.weight_decay
        )

    def seeded(self) -> Settings:
        """The same settings, checked, with the seed drawn once and for all: every later use has the same seed."""
        self.check()
        return replace(self, random_state=self.seed())

    def seed(self) -> int:
        """Return a seed for separate generators. NumPy's global generator is neither used nor seeded."""
        state = self.random_state
        if state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31 - 1))
        if is_integer(state) and state >= 0:
            return int(state)
        raise ValueError(f"random_state must be a non-negative integer, a generator or None, but got {state!r}.")

    def workshop(self, table: Table) -> Workshop:
        """A workshop for the units of a table, with these settings."""
        return Workshop(table, self.ladder(), self.cache, self.n_jobs)


def is_integer(value: object) -> bool:
    """Whether a value counts as an integer parameter; True and False do not."""
    return isinstance(value, Integral) and not isinstance(value, bool)

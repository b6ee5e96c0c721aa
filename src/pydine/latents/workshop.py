"""The workshop: turns questions about a table into unique units, has them fitted, and makes latents of them.

All entry points use it, so the same question has the same latents everywhere. A unit is named by what it depends on
alone (see `work.cache`), so questions that share a unit (all pairs, searches, rankings) share its fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pydine.inputs.table import Question, Table
from pydine.latents.flows import ROWS_KEPT, Latents, RankFlow
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.linear_effect import RankNoise
from pydine.latents.projection import Projection
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings
from pydine.units.rows import View, column_order
from pydine.units.unit import FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.execution import ensure_compiled, run
from pydine.work.tasks import Unit, UnitTask, autoregressive, columnwise, unique

MADE_BYTES = (
    64 << 20
)  # memory: of latents that a workshop for tests keeps, for the next question given the same columns
A_FIT = 10.0  # memory: a unit takes so many times as long to fit as its latents to make
SPARE_DOF = 10  # guard: degrees of freedom that functions of z, and folds, leave beside one for each latent


class Made(NamedTuple):
    """A fitted unit, the map that recalibrates its latents, and the latents of the table's rows (n,)."""

    unit: FittedUnit
    recalibration: ScoreMap
    latent: FloatArray


class _Making(NamedTuple):
    """A unit whose latents are to be made, of the rows that it was fitted to."""

    task: UnitTask
    unit: FittedUnit

    @property
    def seconds(self) -> float:
        """About how long that takes."""
        return self.task.seconds / A_FIT

    def made(self) -> Made:
        """The unit with its latents."""
        return Made(self.unit, *_latent(self.unit, self.task))


class Workshop:
    """Makes units and latents of one table.

    Parameters
    ----------
    table : Table
    settings : LadderSettings
    cache : UnitCache, optional
        Where units are looked for first, and kept.
    n_jobs : int or None
        How many units are fitted at the same time, by joblib's context; nothing depends on it.
    step : callable, optional
        Called after every unit that had to be fitted.
    """

    def __init__(
        self,
        table: Table,
        settings: LadderSettings,
        cache: UnitCache | None = None,
        n_jobs: int | None = None,
        step: Callable[[], None] | None = None,
    ) -> None:
        self.table = table
        self.settings = settings
        self._cache, self._n_jobs, self._step = cache, n_jobs, step
        self._maps: dict[int, tuple[ScoreMap, FloatArray]] = {}
        self._made: dict[Unit, Made] | None = None

    @property
    def cache(self) -> UnitCache | None:
        """Where units are looked for first, and kept."""
        return self._cache

    @property
    def n_jobs(self) -> int | None:
        """Number of workers, as joblib has it."""
        return self._n_jobs

    def on(self, table: Table) -> Workshop:
        """The same workshop for another table."""
        return Workshop(table, self.settings, self._cache, self._n_jobs, self._step)

    def beside(self, cache: UnitCache | None, n_jobs: int | None = 1) -> Workshop:
        """The same workshop with another cache; the columns' normal scores are shared."""
        other = Workshop(self.table, self.settings, cache, n_jobs)
        other._maps = self._maps
        return other

    def for_tests(self, cache: UnitCache | None) -> Workshop:
        """The same workshop for tests that share units: their latents are kept."""
        other = self.beside(cache)
        other._made = {}
        return other

    def watched(self, step: Callable[[], None]) -> Workshop:
        """The same workshop, which calls `step` after every unit that it has fitted."""
        return Workshop(self.table, self.settings, self._cache, self._n_jobs, step)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache, `step` and normal scores: a copy in another process is given a cache of its own."""
        kept: dict[Unit, Made] | None = None if self._made is None else {}
        return {**self.__dict__, "_cache": None, "_step": None, "_maps": {}, "_made": kept}

    def map_of(self, i: int) -> ScoreMap:
        """The map of the i-th column to its normal scores."""
        return self._map(i)[0]

    def scores(self, columns: Iterable[int]) -> FloatArray:
        """Normal scores of columns, shape (d, n)."""
        found = [self._map(i)[1] for i in columns]
        return np.array(found) if found else np.empty((0, self.table.n_samples))

    def is_two_valued(self, i: int) -> bool:
        """Whether the i-th column has two different values."""
        return len(self._map(i)[0].values) == 2

    def _map(self, i: int) -> tuple[ScoreMap, FloatArray]:
        if i not in self._maps:
            ensure_compiled()
            self._maps[i] = ScoreMap.fit(self.table.columns[i])
        return self._maps[i]

    def in_order(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Columns of one side, or those that are conditioned on, in an order that depends only on their values."""
        return tuple(columns[k] for k in column_order(self.scores(columns)))

    def flow(self, question: Question, by_column: bool = False) -> tuple[RankFlow, Latents]:
        """Fit the maps of a question, and compute the latents of the table's rows.

        Parameters
        ----------
        question : Question
        by_column : bool
            Whether each column is mapped given z alone, so that the latents of a side keep the dependence between its
            columns; otherwise a flow is autoregressive, and the latents of a side are independent of each other.
        """
        given, plan = question.given, columnwise if by_column else autoregressive
        units = unique(plan(question.x, given) + plan(question.y, given))
        made = self._make(units)
        latents = self._latents(units, made, given, question.dimensions[:2])
        columns = (*question.x, *question.y)
        latents = replace(latents, view=View.of(self.scores((*columns, *given)), *question.dimensions[:2]))
        places = {column: place for place, column in enumerate((*columns, *given))}
        flow = RankFlow(
            question.dimensions,
            tuple(self.map_of(i) for i in (*columns, *given)),
            {_placed(unit, places): m.unit for unit, m in zip(units, made, strict=True)},
            tuple(m.recalibration for m in made),
            _projection(latents),
        )
        return flow, latents

    def many(self, variables: Sequence[tuple[int, ...]], given: Sequence[int]) -> Latents:
        """Latents of many variables at once, given the same columns, with one projection for all.

        With two variables it is the projection of the question about them. With more, the functions of z include those
        that all of the variables' units have learned (or a sketch of them). How many are taken out depends on the
        units in which non-linear rungs have most weight, and on how far all latents together depend on the functions.
        """
        given = self.in_order(given)
        units = _units_of_many(variables, given)
        sizes = len(variables[0]), sum(map(len, variables[1:]))
        together = sum(sorted(map(len, variables))[-2:])
        return self._latents(units, self._make(units), given, sizes, together if len(variables) > 2 else None)

    def flow_of_many(self, variables: Sequence[tuple[int, ...]], given: Sequence[int]) -> tuple[RankFlow, Latents]:
        """The maps of `many`, as a flow whose x is the first variable and whose y are all others, and the latents."""
        given, columns = tuple(given), [i for variable in variables for i in variable]
        units = _units_of_many(variables, given)
        made, sizes = self._make(units), (len(variables[0]), len(columns) - len(variables[0]))
        together = sum(sorted(map(len, variables))[-2:])
        latents = self._latents(units, made, given, sizes, together if len(variables) > 2 else None)
        places = {column: place for place, column in enumerate((*columns, *given))}
        flow = RankFlow(
            (*sizes, len(given)),
            tuple(self.map_of(i) for i in (*columns, *given)),
            {_placed(unit, places): m.unit for unit, m in zip(units, made, strict=True)},
            tuple(m.recalibration for m in made),
            _projection(latents),
        )
        return flow, latents

    def very_many(self, columns: Sequence[int], given: Sequence[int]) -> Latents:
        """Latents as in `many`, of so many single columns that no array of p x p entries would fit into memory."""
        given = self.in_order(given)
        units = _units_of_many([(i,) for i in columns], given)
        together = 2 if len(columns) > 2 else None
        return self._latents(units, self._make(units), given, (1, len(columns) - 1), together, crossed=False)

    def tasks(self, question: Question) -> list[UnitTask]:
        """The units of a question whose flows are autoregressive."""
        x, y, given = (self.in_order(block) for block in question.blocks)
        return self._tasks(unique(autoregressive(x, given) + autoregressive(y, given)))

    def tasks_of_many(self, variables: Sequence[tuple[int, ...]], given: Sequence[int]) -> list[UnitTask]:
        """The units of `many`."""
        return self._tasks(_units_of_many(variables, self.in_order(given)))

    def _tasks(self, units: Sequence[Unit]) -> list[UnitTask]:
        rows = self.table.rows
        return [UnitTask(self.scores([u.target])[0], self.scores(u.context), self.settings, rows=rows) for u in units]

    def _make(self, units: Sequence[Unit]) -> list[Made]:
        """Fit units, and map the table's rows with them; a workshop for tests makes nothing twice."""
        if self._made is None:
            return self._make_anew(units)
        made = self._made
        missing = [unit for unit in units if unit not in made]
        made.update(zip(missing, self._make_anew(missing), strict=True))
        if len(made) > MADE_BYTES // (4 * 8 * self.table.n_samples):
            self._made = {unit: made[unit] for unit in units}
        return [made[unit] for unit in units]

    def _make_anew(self, units: Sequence[Unit]) -> list[Made]:
        tasks = self._tasks(units)
        fitted = [entry.unit for entry in fit_units(tasks, self._cache, self._n_jobs, self._step)]

        return run(_Making.made, list(map(_Making, tasks, fitted)), self._n_jobs, here=True)

    def _latents(
        self,
        units: Sequence[Unit],
        made: Sequence[Made],
        given: tuple[int, ...],
        sizes: tuple[int, int],
        together: int | None = None,
        crossed: bool = True,
    ) -> Latents:
        """Project functions of z out of latents.

        `together` is the number of latents in a question, where questions are pairs out of many columns. Cross-products
        of the latents are left out if not `crossed`.
        """
        (dx, dy), dz, n = sizes, len(given), self.table.n_samples
        z, unprojected = self.scores(given), np.array([m.latent for m in made])
        see_z = [m.unit for unit, m in zip(units, made, strict=True) if len(unit.context) == dz]
        sides = self.scores([unit.target for unit in units] if dz else [])
        around = tuple(self.table.kind(unit.target).is_around for unit in units)
        functions = FunctionsOfZ.choose(z, tuple(see_z) if dz else None, sides)
        values = functions(z) if n <= ROWS_KEPT else None
        # Of the `together` units in which non-linear rungs have most weight, the chance that one needs them.
        together, is_many = together or dx + dy, together is not None
        nonlinear = 1.0 - float(np.prod(sorted(1.0 - m.unit.nonlinear_weight for m in made)[:together]))
        projection = Projection.fit(
            unprojected,
            z,
            functions,
            nonlinear=nonlinear,
            least_dof=n if "projection" in self.settings.without else together + SPARE_DOF,
            dx=0 if is_many else dx,
            values=values,
            crossed=crossed,
            rows=self.table.rows,
        )
        return Latents(
            (dx, dy, dz),
            unprojected,
            z,
            projection.cross_product,
            projection.dof,
            projection,
            None if values is None else values[:, projection.chosen],
            two_valued=tuple(self.is_two_valued(unit.target) for unit in units),
            unlearned=tuple(m.unit.unlearned * _of_z(unit, dz) for unit, m in zip(units, made, strict=True)),
            scores=sides if dz else None,
            ranks=(RankNoise(sides, z), tuple(range(dx + dy))) if dz else None,
            rows=self.table.rows,
            around=around if any(around) else (),
        )


def _latent(unit: FittedUnit, task: UnitTask) -> tuple[ScoreMap, FloatArray]:
    """Latents of a unit's rows, recalibrated: the map, and normal scores of shape (n,)."""
    return ScoreMap.fit(unit.latent(task.target, task.context) if unit.models else task.target)


def _of_z(unit: Unit, dz: int) -> float:
    """The share of a unit's context that is z: what is not learned of columns of its own side hides nothing of y."""
    return dz / len(unit.context) if unit.context else 0.0


def _units_of_many(variables: Sequence[tuple[int, ...]], given: tuple[int, ...]) -> list[Unit]:
    return unique(unit for variable in variables for unit in autoregressive(variable, given))


def _placed(unit: Unit, places: dict[int, int]) -> Unit:
    """A unit with positions in the table replaced by positions in the question."""
    return Unit(places[unit.target], tuple(places[i] for i in unit.context))


def _projection(latents: Latents) -> Projection:
    if latents.projection is None:
        raise ValueError("these latents have no projection")
    return latents.projection

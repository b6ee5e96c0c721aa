"""A column of any kind given others: its context, its fitted units, and densities and residuals of rows.

A density of a column given two sets of others, averaged over one of them, is a density given the other set: p(y | z) =
E[p(y | x', z)], with x' drawn from p(x | z). No draw is needed (`Column.alternatives`). The log-ratio of a model of y
given x and z to its own average over x is what the model has learned from x. It is 0 for a model that has learned
nothing from x, however well or badly it follows z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pydine.latents.kinds.column import Alternatives, Column, Residual, Rows
from pydine.sampling import INDEPENDENT
from pydine.sampling import Rows as Sampling
from pydine.types import FloatArray, RowArray, must_fit
from pydine.units.folds import held_out_rows
from pydine.units.ladder import LadderSettings
from pydine.units.rows import EqualRows, equal_rows, evened
from pydine.units.steps import is_stepped, negated
from pydine.units.unit import FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.tasks import Fitted, UnitTask


@dataclass(frozen=True, eq=False)
class Context:
    """Columns as the context of another.

    Parameters
    ----------
    parents : tuple of Column
    values : ndarray, shape (c, n)
        The context of the rows that were fitted: the columns that represent the parents.
    sampling : Sampling
        How rows depend on each other.
    """

    parents: tuple[Column, ...]
    values: FloatArray
    sampling: Sampling = field(default=INDEPENDENT, metadata={"kept": False})

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        c = sum(len(parent.context) for parent in self.parents)
        must_fit(self, self.values.ndim == 2 and len(self.values) == c)

    @classmethod
    def of(cls, parents: Sequence[Column], n: int, sampling: Sampling = INDEPENDENT) -> Context:
        """The context that columns of n rows make."""
        return cls(tuple(parents), _stacked([parent.context for parent in parents], n), sampling)

    @property
    def learned(self) -> FloatArray:
        """The context of the rows that were fitted, for models that have seen them, shape (c, n)."""
        if not any(parent.has_many_labels for parent in self.parents):
            return self.values
        return np.vstack([parent.learned for parent in self.parents])

    def of_rows(self, rows: Rows, m: int) -> FloatArray:
        """The context of m new rows, shape (c, m)."""
        return _stacked([parent.seen(parent.values_of(rows)) for parent in self.parents], m)

    def with_others(self, values: FloatArray, parent: Column, others: Sequence[FloatArray]) -> Iterator[FloatArray]:
        """A context (c, m) with one of the parents replaced by each of `others`, (c', m) each."""
        places = self.places_of(parent)
        for seen in others:
            changed = values.copy()
            changed[places] = seen
            yield changed

    def places_of(self, parent: Column) -> RowArray:
        """Where one of the parents is in the context."""
        which = next(i for i, each in enumerate(self.parents) if each is parent)
        first = sum(len(each.context) for each in self.parents[:which])
        return np.arange(first, first + len(parent.context))


def _stacked(parts: Sequence[FloatArray], n: int) -> FloatArray:
    """Arrays (c_i, n) as one, (c, n), which may have no rows."""
    return np.vstack([np.empty((0, n)), *parts])


@dataclass(frozen=True, eq=False)
class Conditional:
    """A column given a context, fitted.

    Parameters
    ----------
    column : Column
    context : Context
    fitted : tuple of Fitted
        The column's units; with held-out log-densities if they were cross-fitted.
    """

    column: Column
    context: Context
    fitted: tuple[Fitted, ...]

    @property
    def units(self) -> tuple[FittedUnit, ...]:
        """The units alone."""
        return tuple(entry.unit for entry in self.fitted)

    @cached_property
    def in_sample(self) -> FloatArray:
        """Log-densities of the rows under models that have seen them, in nats, shape (n,)."""
        return self.column.log_density(self.units, self.column.values, self.context.learned)

    @cached_property
    def held_out(self) -> FloatArray:
        """Log-densities of the rows under models that have not seen them, in nats, shape (n,)."""
        total: FloatArray = np.zeros(len(self.column.values))
        pieces = self.column.pieces(self.column.values)
        for (rows, _), entry, same in zip(pieces, self.fitted, self.equal_rows, strict=True):
            total[rows] += evened(entry.log_density, *same)
        return total

    @cached_property
    def equal_rows(self) -> list[EqualRows]:
        """For each unit, which of its rows have the same target and context."""
        return [
            equal_rows(np.vstack([target, self.context.values[:, rows]]))
            for rows, target in self.column.pieces(self.column.values)
        ]

    @cached_property
    def seen(self) -> ByParts:
        """Models that have seen the rows, for log-densities of the rows with other contexts."""
        return ByParts.of(self, self.column.values)

    def unseen(self, settings: LadderSettings) -> ByParts:
        """Models that have not seen the rows, fold by fold; the weights of the rungs come from all rows."""
        return ByParts.unseen(self, settings)

    def alternatives_of(self, rows: Rows, m: int) -> Alternatives:
        """The values that the column could have had in m new rows."""
        return self.column.alternatives(self.units, self.context.of_rows(rows, m))

    @cached_property
    def alternatives(self) -> Alternatives:
        """The values that the column could have had in the rows that were fitted."""
        return self.column.alternatives(self.units, self.context.values)

    def residuals(self) -> list[Residual]:
        """Residuals of the rows that were fitted."""
        return self.column.residuals(self.units, self.column.values, self.context.values)

    def log_density_of(self, rows: Rows) -> FloatArray:
        """Log-densities of new rows, in nats, shape (m,)."""
        values = self.column.values_of(rows)
        return self.column.log_density(self.units, values, self.context.of_rows(rows, len(values)))

    def residuals_of(self, rows: Rows) -> list[Residual]:
        """Residuals of new rows."""
        values = self.column.values_of(rows)
        return self.column.residuals(self.units, values, self.context.of_rows(rows, len(values)))


def fit_conditionals(
    asked: Sequence[tuple[Column, Context]],
    settings: LadderSettings,
    cache: UnitCache | None,
    n_jobs: int | None,
    is_crossed: bool,
) -> list[Conditional]:
    """Fit columns, each given a context; the units of all of them are fitted together."""
    tasks = [
        [
            UnitTask(
                target,
                np.ascontiguousarray(context.values[:, rows]),
                settings,
                is_crossed,
                context.sampling.only(np.arange(context.values.shape[1])[rows]),
            )
            for rows, target in column.pieces(column.values)
        ]
        for column, context in asked
    ]
    fitted = iter(fit_units([task for some in tasks for task in some], cache, n_jobs))
    return [
        Conditional(column, context, tuple(next(fitted) for _ in some))
        for (column, context), some in zip(asked, tasks, strict=True)
    ]


class _Part(NamedTuple):
    """Some of a unit's rows, with the models that apply to them.

    Parameters
    ----------
    rows : ndarray, shape (m,)
        Positions among the unit's rows.
    unit : FittedUnit
    target : ndarray, shape (m,) or (2, m)
    shares : ndarray, shape (m,)
        How far they apply to each row.
    distinct, which : ndarray, shapes (k,) and (m,), optional
        One row for each distinct target, and which of them each row has: where the context is the same for all rows,
        only these need be evaluated.
    """

    rows: RowArray
    unit: FittedUnit
    target: FloatArray
    shares: FloatArray
    distinct: RowArray | None
    which: RowArray

    @classmethod
    def of(cls, shares: FloatArray, unit: FittedUnit, target: FloatArray) -> _Part:
        """The part of a unit's rows to which models apply with these shares (n,), with their target."""
        rows = np.flatnonzero(shares)
        shares, target = shares[rows], np.ascontiguousarray(target[..., rows])
        if not is_stepped(target):
            return cls(rows, unit, target, shares, None, rows)
        _, distinct, which = np.unique(target[0], return_index=True, return_inverse=True)  # steps do not overlap
        return cls(rows, unit, target, shares, distinct, which)

    def log_density(self, context: FloatArray) -> FloatArray:
        """Log-densities with contexts (c, m), in nats, shape (m,)."""
        return self.unit.log_density(self.target, np.ascontiguousarray(context))

    def given_each(self, contexts: FloatArray) -> FloatArray:
        """Log-densities with each of g contexts (c, g), each the same for all rows, in nats, shape (g, m)."""
        few = np.arange(len(self.rows)) if self.distinct is None else self.distinct
        target = np.tile(self.target[..., few], contexts.shape[1])
        found = self.unit.log_density(target, np.repeat(contexts, len(few), axis=1)).reshape(
            contexts.shape[1], len(few)
        )
        each: FloatArray = found if self.distinct is None else found[:, self.which]
        return each


@dataclass(frozen=True, eq=False)
class ByParts:
    """A fitted column's models, by the rows that they apply to.

    Parameters
    ----------
    n : int
        Number of rows.
    units : tuple of tuple
        For each unit its rows, and the parts of these.
    """

    n: int
    units: tuple[tuple[RowArray, list[_Part]], ...]

    @classmethod
    def of(cls, conditional: Conditional, values: FloatArray) -> ByParts:
        """All models apply to all rows, which have these values (n,)."""
        units = []
        for (some, target), unit in zip(conditional.column.pieces(values), conditional.units, strict=True):
            rows = np.arange(len(values))[some]
            units.append((rows, [_Part.of(np.ones(len(rows)), unit, target)]))
        return cls(len(values), tuple(units))

    @classmethod
    def unseen(cls, conditional: Conditional, settings: LadderSettings) -> ByParts:
        """To each row apply the models that were fitted without it; which rows a fold holds out is derived again.

        Which of the rows that are equal to a unit are in which fold means nothing, though other columns, over which its
        density is averaged, may differ between them: to each apply the models of all folds that hold out any of them.
        """
        column, context, units = conditional.column, conditional.context.values, []
        pieces = column.pieces(column.values)
        for (some, target), unit, same in zip(pieces, conditional.units, conditional.equal_rows, strict=True):
            rows = np.arange(context.shape[1])[some]
            parts = [_Part.of(np.ones(len(rows)), unit, target)]
            if unit.models:
                seen = context[:, rows] if unit.seen is None else unit.seen(context[:, rows])
                sampling = conditional.context.sampling.only(rows)
                held = [fold.rows for fold in held_out_rows(negated(target, unit.sign), seen, settings, sampling)]
                fold_of = np.full(len(rows), len(held))  # beyond the last: rows that no fold holds out
                for i, own in enumerate(held):
                    fold_of[own] = i
                models = [*(unit.of_fold(i, len(held)) for i in range(len(held))), unit]
                shares = (evened((fold_of == i).astype(np.float64), *same) for i in range(len(models)))
                every = [_Part.of(share, each, target) for share, each in zip(shares, models, strict=True)]
                parts = [part for part in every if len(part.rows)]
            units.append((rows, parts))
        return cls(context.shape[1], tuple(units))

    def log_density(self, context: FloatArray) -> FloatArray:
        """Log-densities of the rows with a context (c, n), in nats, shape (n,)."""
        total: FloatArray = self._total(context.shape[1], lambda part, rows: part.log_density(context[:, rows])[None])[
            0
        ]
        return total

    def with_others(self, context: FloatArray, places: RowArray, others: Sequence[FloatArray]) -> FloatArray:
        """Log-densities with each of g sets of values (c', n) in some places of a context (c, n), shape (g, n)."""

        def density(part: _Part, rows: RowArray) -> FloatArray:
            some = [values[:, rows] for values in others]
            return part.unit.log_densities(part.target, context[:, rows], places, some)

        return self._total(len(others[0][0]), density, len(others))

    def given_each(self, contexts: FloatArray) -> FloatArray:
        """Log-densities with each of g contexts (c, g), each the same for all rows, in nats, shape (g, n)."""
        return self._total(self.n, lambda part, _: part.given_each(contexts), contexts.shape[1])

    def _total(self, n: int, density: Callable[[_Part, RowArray], FloatArray], g: int = 1) -> FloatArray:
        """The sum over units of log-densities (g, m) of their parts, shape (g, n)."""
        total: FloatArray = np.zeros((g, n))
        for rows, parts in self.units:
            for part in parts:
                total[:, rows[part.rows]] += part.shares * density(part, rows[part.rows])
        return total

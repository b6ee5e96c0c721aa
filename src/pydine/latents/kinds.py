"""A column of any kind as the engine sees it: one class a kind, and the only place that tells kinds apart.

What a kind has to say (`Column`):

- ``context``: the columns as which it enters the context of others, normal scores of shape (c, n). Labels are
  indicators, one for each; numbers are themselves, with an indicator for each point mass.
- ``tasks``: the units that model it given a context. Numbers are one unit. So are ordered steps, whose likelihood is
  the mixture's probability between two cut points. Labels are a series of yes/no questions, the most frequent label
  first: is it this one, given that it is none before?
- ``conditional``: what those units, once fitted, say of rows: log-densities, and *residuals*, columns whose mean is 0
  given the context. They are what a test works on. Of numbers it is the latent. Of a step it is the mean of the latents
  that the step could stand for, E[latent | value, context], and that of their squares less 1: no draw is needed. Of a
  question it is the answer less its probability.

To write another kind, write another class, and name it in `column_of`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import Kind, atoms_of
from pydine.kernels.normal import normal_quantile, quantiles
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, IntArray
from pydine.units.cache import UnitCache, fit_units
from pydine.units.ladder import LadderSettings
from pydine.units.rows import column_order, row_marks, signs
from pydine.units.steps import FARTHEST_CUT
from pydine.units.tasks import Fitted, UnitTask
from pydine.units.unit import FittedUnit

SPLIT_ROWS = 40  # answer: rows that a question about labels is asked of at least; rare labels are told apart by none
SPLIT_SIDE = 5  # answer: and rows on either side of it
ROWS_PER_FREQUENCY = 5.0  # answer: rows for each value in each cell of a discrete context, if frequencies are the model
SMALLEST_MASS = 1e-7  # guard: of a step whose mean latent is computed from its two ends; less is a point
INVERSE_SQRT_2PI = 0.3989422804014327  # fact

Place = tuple[str, int]  # of a column: "x", "y" or "z", and which of the question's columns there
Rows = Mapping[Place, FloatArray]  # values (m,) of new rows
Cells = IntArray  # which of the values of a discrete context each row has, shape (n,)


class Residual(NamedTuple):
    """A column (n,) of mean 0 given a context, and what its square has beyond a function of the context.

    `second` is None if the square is to be taken of `first` itself, as of a latent. Where `is_label`, the column has
    two values but for what the context adds: its square tells nothing more.
    """

    first: FloatArray
    second: FloatArray | None = None
    is_label: bool = False


class Column(ABC):
    """One column of a table, and what its kind says of it.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Numbers, or the numbers of labels, from 0 on: the most frequent first.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("values", "place")  # in files; the rest follows from them

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.place: Place = ("", 0)

    @classmethod
    def remade(cls, values: FloatArray, **more: Any) -> Self:
        """The column of attributes that are kept."""
        column = cls(values)
        for name, item in more.items():
            setattr(column, name, item)
        return column

    def coded(self, values: FloatArray) -> FloatArray:
        """New values (m,) of the table as the column has its own; other than labels they are the same."""
        return values

    def values_of(self, rows: Rows) -> FloatArray:
        """The column's values in new rows, shape (m,)."""
        return rows[self.place]

    @cached_property
    def context(self) -> FloatArray:
        """The column as others see it, shape (c, n)."""
        return self.seen(self.values)

    @property
    def is_discrete(self) -> bool:
        """Whether it has probabilities, so that information about it is bounded."""
        return True

    @property
    @abstractmethod
    def order_keys(self) -> FloatArray:
        """What tells its residuals apart before anything is fitted, one row for each, shape (d, n)."""

    @abstractmethod
    def seen(self, values: FloatArray) -> FloatArray:
        """New values (m,) as others see them, shape (c, m)."""

    @abstractmethod
    def tasks(self, context: FloatArray, settings: LadderSettings, is_crossed: bool) -> list[UnitTask]:
        """The units that model it given a context (c, n)."""

    @abstractmethod
    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """Log-densities or log-probabilities of values (m,) given a context (c, m), in nats."""

    @abstractmethod
    def held_out(self, fitted: Sequence[Fitted]) -> FloatArray:
        """The same of its own rows, each by models that have not seen it."""

    @abstractmethod
    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """What is left of values (m,) given a context (c, m)."""

    def frequencies(self, cells: Cells) -> list[Residual]:
        """The same of its own rows, given the cells of a discrete context, by frequencies alone."""
        raise NotImplementedError


class ContinuousColumn(Column):
    """Real numbers.

    Attributes
    ----------
    given : Conditional, optional
        If the numbers are latents of other ones: of which, and given what.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("values", "place", "given")
    given: Conditional | None = None

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self._map, self._scores = ScoreMap.fit(values)

    def values_of(self, rows: Rows) -> FloatArray:
        """See `Column`."""
        own = rows[self.place]
        return own if self.given is None else self.given.residuals_of(rows)[0].first

    @property
    def is_discrete(self) -> bool:
        """See `Column`."""
        return False

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self._scores[None]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return self._scores_of(values)[None]

    def _scores_of(self, values: FloatArray) -> FloatArray:
        return self._scores if values is self.values else self._map(values)

    def tasks(self, context: FloatArray, settings: LadderSettings, is_crossed: bool) -> list[UnitTask]:
        """See `Column`."""
        return [UnitTask(self._scores, context, settings, is_crossed)]

    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """See `Column`."""
        return units[0].log_density(self._scores_of(values), context)

    def held_out(self, fitted: Sequence[Fitted]) -> FloatArray:
        """See `Column`."""
        return fitted[0].log_density

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`: the latent, recalibrated by its ranks among those of the column's own rows."""
        scores, unit = self._scores_of(values), units[0]
        latent = unit.latent(scores, context) if unit.models else scores
        if values is self.values:
            return [Residual(ScoreMap.fit(latent)[1])]
        return [Residual(latent)]


class OrdinalColumn(Column):
    """Ordered steps, some of which may be as fine as points."""

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self._map, self._scores = ScoreMap.fit(values)
        self._codes = np.searchsorted(self._map.values, values)
        below = np.cumsum(np.bincount(self._codes))[:-1]
        cuts = np.empty(len(below))
        # From both sides, so that those of the negated column are these, negated, to the last bit.
        quantiles(below / len(values), (len(values) - below) / len(values), cuts)
        self._cuts = np.concatenate([[-FARTHEST_CUT], cuts, [FARTHEST_CUT]])
        self._atoms = [(atom, ScoreMap.fit((values == atom).astype(np.float64))[0]) for atom in atoms_of(values)]

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self._scores[None]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        marks = [scores((values == atom).astype(np.float64)) for atom, scores in self._atoms]
        return np.array([self._scores if values is self.values else self._map(values), *marks])

    def _places(self, values: FloatArray) -> IntArray:
        """Which steps values are on; one that is on none is on the nearest."""
        if values is self.values:
            return self._codes
        known = self._map.values
        above = np.clip(np.searchsorted(known, values), 1, len(known) - 1)
        return np.where(values - known[above - 1] < known[above] - values, above - 1, above)

    def steps(self, values: FloatArray) -> FloatArray:
        """The cut points below and above each value, shape (2, m)."""
        codes = self._places(values)
        return np.array([self._cuts[codes], self._cuts[codes + 1]])

    def tasks(self, context: FloatArray, settings: LadderSettings, is_crossed: bool) -> list[UnitTask]:
        """See `Column`."""
        return [UnitTask(self.steps(self.values), context, settings, is_crossed)]

    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """See `Column`."""
        return units[0].log_density(self.steps(values), context)

    def held_out(self, fitted: Sequence[Fitted]) -> FloatArray:
        """See `Column`."""
        return fitted[0].log_density

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`."""
        steps = self.steps(values)
        return [step_residual(units[0].tails(steps[0], context), units[0].tails(steps[1], context))]

    def frequencies(self, cells: Cells) -> list[Residual]:
        """See `Column`."""
        counts = np.zeros((int(cells.max()) + 1, len(self._cuts) - 1))
        np.add.at(counts, (cells, self._codes), 1.0)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        below = np.cumsum(shares, axis=1)
        lower, upper = (below - shares)[cells, self._codes], below[cells, self._codes]
        return [step_residual((lower, 1.0 - lower), (upper, 1.0 - upper))]


class NominalColumn(Column):
    """Labels, as a series of yes/no questions about them."""

    KEPT: ClassVar[tuple[str, ...]] = ("values", "place", "numbers")

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self.numbers: FloatArray | None = None  # of the table's own, if they are others
        counts = np.bincount(values.astype(np.intp))
        after = np.cumsum(counts[::-1])[::-1]  # rows of a label and those that come later
        self._counts = counts
        # A question about a handful of rows teaches nothing, and makes residuals of a few huge values.
        self._splits = [
            k for k in range(len(counts) - 1) if after[k] >= SPLIT_ROWS and min(counts[k], after[k + 1]) >= SPLIT_SIDE
        ] or [0]
        self._cuts = {k: float(normal_quantile(np.array([counts[k] / after[k]]))[0]) for k in self._splits}
        labels = range(len(counts)) if len(counts) > 2 else range(1)
        self._marks = [ScoreMap.fit((values == k).astype(np.float64))[0] for k in labels]

    def coded(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return values if self.numbers is None else self.numbers[values.astype(np.intp)]

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self.context[[k if k < len(self._marks) else 0 for k in self._splits]]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return np.array([scores((values == k).astype(np.float64)) for k, scores in enumerate(self._marks)])

    def _rows(self, k: int, values: FloatArray) -> NDArray[np.intp]:
        """Rows that the k-th question is asked of."""
        return np.flatnonzero(values >= k)

    def _answers(self, k: int, values: FloatArray) -> FloatArray:
        """Cut points below and above the answers to the k-th question, shape (2, m)."""
        cut, is_it = self._cuts[k], values == k
        return np.array([np.where(is_it, -FARTHEST_CUT, cut), np.where(is_it, cut, FARTHEST_CUT)])

    def tasks(self, context: FloatArray, settings: LadderSettings, is_crossed: bool) -> list[UnitTask]:
        """See `Column`."""
        found = []
        for k in self._splits:
            rows = self._rows(k, self.values)
            seen = np.ascontiguousarray(context[:, rows])
            found.append(UnitTask(self._answers(k, self.values[rows]), seen, settings, is_crossed))
        return found

    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """See `Column`."""
        total: FloatArray = np.zeros(len(values))
        for k, unit in zip(self._splits, units, strict=True):
            rows = self._rows(k, values)
            total[rows] += unit.log_density(self._answers(k, values[rows]), np.ascontiguousarray(context[:, rows]))
        return total

    def held_out(self, fitted: Sequence[Fitted]) -> FloatArray:
        """See `Column`."""
        total: FloatArray = np.zeros(len(self.values))
        for k, entry in zip(self._splits, fitted, strict=True):
            total[self._rows(k, self.values)] += entry.log_density
        return total

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`."""
        found = []
        for k, unit in zip(self._splits, units, strict=True):
            rows, out = self._rows(k, values), np.zeros(len(values))
            cut = np.full(len(rows), self._cuts[k])
            out[rows] = (values[rows] == k) - unit.tails(cut, np.ascontiguousarray(context[:, rows]))[0]
            found.append(Residual(out, is_label=True))
        return found

    def frequencies(self, cells: Cells) -> list[Residual]:
        """See `Column`."""
        found = []
        for k in self._splits:
            rows, out = self._rows(k, self.values), np.zeros(len(self.values))
            is_it, cell = (self.values[rows] == k).astype(np.float64), cells[rows]
            shares = np.bincount(cell, is_it) / np.maximum(np.bincount(cell), 1)
            out[rows] = is_it - shares[cell]
            found.append(Residual(out, is_label=True))
        return found


def step_residual(lower: tuple[FloatArray, FloatArray], upper: tuple[FloatArray, FloatArray]) -> Residual:
    """The mean latent of each step, and that of the squares less 1, from the two tails at either end of it, (n,) each.

    With q the normal quantiles of the ends and phi the normal density there, they are the differences of phi, and of
    q phi, over the probability of the step: moments of a truncated normal distribution.
    """
    places, densities = [], []
    for below, above in (lower, upper):
        place = np.empty(len(below))
        quantiles(np.ascontiguousarray(below), np.ascontiguousarray(above), place)
        places.append(place)
        densities.append(np.where(np.minimum(below, above) > 0.0, np.exp(-0.5 * place * place) * INVERSE_SQRT_2PI, 0.0))
    mass = np.where(upper[0] < 0.5, upper[0] - lower[0], lower[1] - upper[1])
    is_point, middle = mass < SMALLEST_MASS, 0.5 * (places[0] + places[1])
    over = np.where(is_point, 1.0, mass)
    first = np.where(is_point, middle, (densities[0] - densities[1]) / over)
    second = np.where(is_point, middle**2 - 1.0, (places[0] * densities[0] - places[1] * densities[1]) / over)
    return Residual(first, second)


KINDS: dict[Kind, Callable[[FloatArray], Column]] = {
    Kind.CONTINUOUS: ContinuousColumn,
    Kind.ORDINAL: OrdinalColumn,
    Kind.NOMINAL: NominalColumn,
}


def column_of(values: FloatArray, kind: Kind) -> Column:
    """A column (n,) of a kind."""
    return KINDS[kind](values)


@dataclass(frozen=True, eq=False)
class Context:
    """Columns as the context of another, in an order that depends on nothing but their values.

    Parameters
    ----------
    parents : tuple of Column
    order : list of int
        In which order what they are seen as is taken.
    signs : ndarray, shape (c, 1)
        With which signs, in that order: a column and its negative are the same context.
    values : ndarray, shape (c, n)
        Of the rows that were fitted.
    """

    parents: tuple[Column, ...]
    order: list[int]
    signs: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, parents: Sequence[Column], n: int) -> Context:
        """The context that columns of n rows make."""
        if not parents:
            return cls((), [], np.empty((0, 1)), np.empty((0, n)))
        stacked = np.vstack([parent.context for parent in parents])
        order = column_order(stacked)
        stacked = stacked[order]
        either = signs(stacked, row_marks(stacked))[:, None]
        return cls(tuple(parents), order, either, np.ascontiguousarray(stacked * either))

    def of_rows(self, rows: Rows, m: int) -> FloatArray:
        """The same of m new rows, shape (c, m)."""
        if not self.parents:
            return np.empty((0, m))
        stacked = np.vstack([parent.seen(parent.values_of(rows)) for parent in self.parents])
        return np.ascontiguousarray(stacked[self.order] * self.signs)


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
        """Log-densities of the rows by models that have seen them, in nats, shape (n,)."""
        return self.column.log_density(self.units, self.column.values, self.context.values)

    @cached_property
    def held_out(self) -> FloatArray:
        """The same by models that have not, in nats, shape (n,).

        Rows that are equal to each other have the mean of theirs: which of them is in which fold says nothing.
        """
        held = self.column.held_out(self.fitted)
        every = [self.column, *self.context.parents]
        rows = np.ascontiguousarray(np.array([column.values for column in every]).T + 0.0)
        as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()  # quicker to compare
        _, which, counts = np.unique(as_bytes, return_inverse=True, return_counts=True)
        if len(counts) == len(held):
            return held
        means: FloatArray = (np.bincount(which, held) / counts)[which]
        return means

    def residuals(self) -> list[Residual]:
        """What is left of the rows."""
        return self.column.residuals(self.units, self.column.values, self.context.values)

    def log_density_of(self, rows: Rows) -> FloatArray:
        """Log-densities of new rows, in nats, shape (m,)."""
        values = self.column.values_of(rows)
        return self.column.log_density(self.units, values, self.context.of_rows(rows, len(values)))

    def residuals_of(self, rows: Rows) -> list[Residual]:
        """What is left of new rows."""
        values = self.column.values_of(rows)
        return self.column.residuals(self.units, values, self.context.of_rows(rows, len(values)))


def fit_conditionals(
    asked: Sequence[tuple[Column, Context]],
    settings: LadderSettings,
    cache: UnitCache | None,
    n_jobs: int | None,
    is_crossed: bool,
) -> list[Conditional]:
    """Fit columns, each given a context, all units of all of them together."""
    tasks = [column.tasks(context.values, settings, is_crossed) for column, context in asked]
    fitted = iter(fit_units([task for some in tasks for task in some], cache, n_jobs))
    return [
        Conditional(column, context, tuple(next(fitted) for _ in some))
        for (column, context), some in zip(asked, tasks, strict=True)
    ]


def canonical(columns: Sequence[FloatArray], kinds: Sequence[Kind]) -> list[Column]:
    """Columns (n,) of kinds, with labels numbered by their frequency: how they are called or ordered does not matter.

    Labels as frequent as each other are told apart by what else is in their rows.
    """
    keys = [_frequencies(c) if k is Kind.NOMINAL else ScoreMap.fit(c)[1] for c, k in zip(columns, kinds, strict=True)]
    marks = row_marks(np.array(keys))
    found: list[Column] = []
    for values, kind in zip(columns, kinds, strict=True):
        if kind is Kind.NOMINAL:
            _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
            sums = [int(marks[codes == k].sum(dtype=np.uint64)) for k in range(len(counts))]
            order = sorted(range(len(counts)), key=lambda k, c=counts, s=sums: (-int(c[k]), s[k]))  # type: ignore[misc]
            places = np.empty(len(counts))
            places[order] = np.arange(len(counts))
            labels = NominalColumn(places[codes])
            labels.numbers = np.zeros(int(values.max()) + 1)
            labels.numbers[np.unique(values).astype(np.intp)] = places
            found.append(labels)
        else:
            found.append(column_of(values, kind))
    return found


def _frequencies(codes: FloatArray) -> FloatArray:
    """How often the label of each row comes up, shape (n,)."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return counts[inverse].astype(np.float64)

"""A column of any kind as the engine sees it: one class a kind, and the only place that tells kinds apart.

What a kind has to say (`Column`):

- ``context``: the columns as which it enters the context of others, normal scores of shape (c, n). Labels are
  indicators, one for each; numbers are themselves, with an indicator for each point mass.
- ``pieces``: the targets of the units that model it, each of some of the rows. Numbers are one unit. So are ordered
  steps, whose likelihood is the mixture's probability between two cut points. Labels are a series of yes/no questions,
  the most frequent label first: is it this one, given that it is none before?
- ``residuals``: what those units, once fitted, leave of rows: columns whose mean is 0 given the context. They are what
  a test works on. Of numbers it is the latent. Of a step it is the mean of the latents that the step could stand for,
  E[latent | value, context], and that of their squares less 1: no draw is needed. Of a question it is the answer less
  its probability.
- ``alternatives``: what else it could have been given the context, and how probable that is: labels, steps, or a few
  places of a number.

`conditionals` fits a column given others.

To write another kind, write another class, and name it in `column_of`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import Kind, atoms_of
from pydine.kernels.normal import normal_quantile, quantiles
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, IntArray
from pydine.units.steps import FARTHEST_CUT
from pydine.units.unit import FittedUnit

if TYPE_CHECKING:
    from pydine.latents.conditionals import Conditional

SPLIT_ROWS = 40  # answer: rows that a question about labels is asked of at least; rare labels are told apart by none
SPLIT_SIDE = 5  # answer: and rows on either side of it
ROWS_PER_FREQUENCY = 5.0  # answer: rows for each value in each cell of a discrete context, if frequencies are the model
PLACES = 24  # answer: of a number, or of steps, that stand for all when one is averaged over
LEAST_CHANCE = 1e-300  # guard: for a probability to have a logarithm
SMALLEST_MASS = 1e-7  # guard: of a step whose mean latent is computed from its two ends; less is a point
INVERSE_SQRT_2PI = 0.3989422804014327  # fact

Place = tuple[str, int]  # of a column: "x", "y" or "z", and which of the question's columns there
Rows = Mapping[Place, FloatArray]  # values (m,) of new rows
Cells = IntArray  # which of the values of a discrete context each row has, shape (n,)
Piece = tuple[NDArray[np.intp] | slice, FloatArray]  # rows, and their target as a unit has it


class Residual(NamedTuple):
    """A column (n,) of mean 0 given a context, and what its square has beyond a function of the context.

    `second` is None if the square is to be taken of `first` itself, as of a latent. Where `is_label`, the column has
    two values but for what the context adds: its square tells nothing more.
    """

    first: FloatArray
    second: FloatArray | None = None
    is_label: bool = False


class Alternatives(NamedTuple):
    """What else a column could have been in each of n rows.

    Parameters
    ----------
    seen : list of ndarray, shape (c, n)
        Each of them as others see it.
    log_chances : ndarray, shape (alternatives, n)
        Logarithms of their probabilities, which sum to 1.
    """

    seen: list[FloatArray]
    log_chances: FloatArray

    @classmethod
    def of(cls, seen: list[FloatArray], chances: FloatArray) -> Alternatives:
        """Alternatives of probabilities (alternatives, n)."""
        return cls(seen, np.log(np.maximum(chances, LEAST_CHANCE)))


class Column(ABC):
    """One column of a table, and what its kind says of it.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Numbers, or the numbers of labels, from 0 on: the most frequent first.
    """

    KIND: ClassVar[Kind]
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
    def pieces(self, values: FloatArray) -> list[Piece]:
        """The targets of its units, of values (m,)."""

    @abstractmethod
    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """What else it could have been in rows of a context (c, m)."""

    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """Log-densities or log-probabilities of values (m,) given a context (c, m), in nats."""
        total: FloatArray = np.zeros(len(values))
        for (rows, target), unit in zip(self.pieces(values), units, strict=True):
            total[rows] += unit.log_density(target, np.ascontiguousarray(context[:, rows]))
        return total

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

    KIND: ClassVar[Kind] = Kind.CONTINUOUS
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

    def pieces(self, values: FloatArray) -> list[Piece]:
        """See `Column`."""
        return [(slice(None), self._scores_of(values))]

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`: cells that would be equally probable if the unit were Gaussian, and their middles."""
        mean, deviation = moments(units[0], context)
        places = normal_quantile(np.arange(1.0, 2.0 * PLACES) / (2.0 * PLACES))
        seen = [(mean + place * deviation)[None] for place in places[::2]]
        cuts = [mean + place * deviation for place in places[1::2]]
        return Alternatives.of(seen, _between(units[0], cuts, context))

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`: the latent, recalibrated by its ranks among those of the column's own rows."""
        scores, unit = self._scores_of(values), units[0]
        latent = unit.latent(scores, context) if unit.models else scores
        if values is self.values:
            return [Residual(ScoreMap.fit(latent)[1])]
        return [Residual(latent)]


class OrdinalColumn(Column):
    """Ordered steps, some of which may be as fine as points."""

    KIND: ClassVar[Kind] = Kind.ORDINAL

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

    def pieces(self, values: FloatArray) -> list[Piece]:
        """See `Column`."""
        return [(slice(None), self.steps(values))]

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`: its steps, neighbours together if there are many."""
        counts = np.bincount(self._codes)
        group = np.arange(len(counts))
        if len(counts) > PLACES:
            group = ((np.cumsum(counts) - 0.5 * counts) * (PLACES / len(self.values))).astype(np.intp)
        firsts = np.flatnonzero(np.diff(group, prepend=-1))
        middles = [
            int(part[np.searchsorted(np.cumsum(counts[part]), 0.5 * counts[part].sum())])
            for part in np.split(np.arange(len(counts)), firsts[1:])
        ]
        m = context.shape[1]
        seen = [self.seen(np.full(m, self._map.values[middle])) for middle in middles]
        return Alternatives.of(seen, _between(units[0], [np.full(m, self._cuts[i]) for i in firsts[1:]], context))

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

    KIND: ClassVar[Kind] = Kind.NOMINAL
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

    def pieces(self, values: FloatArray) -> list[Piece]:
        """See `Column`."""
        found: list[Piece] = []
        for k in self._splits:
            rows = self._rows(k, values)
            found.append((rows, self._answers(k, values[rows])))
        return found

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`: every label; those that no question tells apart by their frequencies."""
        m, by_split = context.shape[1], dict(zip(self._splits, units, strict=True))
        after = np.cumsum(self._counts[::-1])[::-1]
        left, chances = np.ones(m), []
        for k, count in enumerate(self._counts):
            share: FloatArray = np.full(m, count / after[k])
            if k in by_split:
                share = by_split[k].tails(np.full(m, self._cuts[k]), context)[0]
            chances.append(left * share)
            left = left - chances[-1]
        return Alternatives.of([self.seen(np.full(m, float(k))) for k in range(len(chances))], np.array(chances))

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


def moments(unit: FittedUnit, context: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and deviations of a unit's target given a context (c, m), as scores, shapes (m,)."""
    m = context.shape[1]
    mean, square = np.zeros(m), np.full(m, unit.marginal_weight)
    for weight, model in zip(unit.weights, unit.models, strict=True):
        expanded = np.ascontiguousarray(model.expansion(context))
        shares, at_zero = model.components(np.zeros(m), expanded)
        deviation = 1.0 / (model.components(np.ones(m), expanded)[1] - at_zero)
        mean += weight * (shares * -at_zero * deviation).sum(axis=0)
        square += weight * (shares * deviation**2 * (1.0 + at_zero**2)).sum(axis=0)
    return unit.sign * mean, np.sqrt(np.maximum(square - mean * mean, SMALLEST_MASS))


def _between(unit: FittedUnit, cuts: Sequence[FloatArray], context: FloatArray) -> FloatArray:
    """Probabilities below, between and above cut points (m,) given a context (c, m), shape (1 + cuts, m)."""
    below = [unit.tails(np.ascontiguousarray(cut), context)[0] for cut in cuts]
    m = context.shape[1]
    chances: FloatArray = np.diff([np.zeros(m), *below, np.ones(m)], axis=0)
    return chances


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

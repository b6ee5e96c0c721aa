"""The contract of a kind of column.

What a kind has to define (`Column`):

- ``context``: the columns that represent it in the context of others, normal scores of shape (c, n). Labels become
  indicators, one for each, or if they are many (`levels`), what their rows say of the other columns; numbers are
  themselves, with an indicator for each point mass.
- ``pieces``: the targets of the units that model it, each for some of the rows. Numbers need one unit. So do ordered
  steps, whose likelihood is the mixture's probability between two cut points. Labels are a series of yes/no questions,
  the most frequent label first: is it this one, given that it is none before?
- ``residuals``: what the fitted units leave unexplained: columns whose mean is 0 given the context, on which tests
  work. For numbers it is the latent. For a step it is the mean of the latents within the step, E[latent | value,
  context], and the mean of their squares less 1: no draw is needed. For a yes/no question it is the answer less its
  probability.
- ``alternatives``: the values that it could have had given the context, with their probabilities: labels, steps, or a
  few places of a number.
- ``is_discrete``, ``is_label``, ``has_many_labels``: what other code asks about, in place of its class.

`conditionals` fits a column given others.

To add another kind, write a class in a file beside `continuous`, `ordinal` and `nominal`, and name it in `registry`.
Nothing else changes: all other code works on `Column`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import MOST_LEVELS, Kind
from pydine.types import FloatArray, IntArray, RowArray, must_fit
from pydine.units.unit import FittedUnit

# Places of a number, or groups of steps, over which a column is averaged: as many as there are steps by themselves.
PLACES = MOST_LEVELS
LEAST_CHANCE = 1e-300  # guard: for a probability to have a logarithm

Place = tuple[str, int]  # of a column: "x", "y" or "z", and its position among the question's columns there
Rows = Mapping[Place, FloatArray]  # values (m,) of new rows
Cells = IntArray  # code of each row's combination of values of a discrete context, shape (n,)
Piece = tuple[NDArray[np.intp] | slice, FloatArray]  # rows, and their target for a unit


class Residual(NamedTuple):
    """A column (n,) of mean 0 given a context, and a column for its square, of mean 0 up to a function of the context.

    For a step, `second` is the mean square of its latents, less 1, and `step` (2, n) holds its ends as probabilities.
    Both are None if the square is that of `first` itself, as for a latent. If `is_label`, the column has two values up
    to a function of the context: its square tells nothing more.
    """

    first: FloatArray
    second: FloatArray | None = None
    is_label: bool = False
    step: FloatArray | None = None


class Alternatives(NamedTuple):
    """The values that a column could have had in each of n rows, with their probabilities.

    Parameters
    ----------
    seen : list of ndarray, shape (c, n)
        Each alternative as it enters a context.
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
    """One column of a table, with the operations of its kind.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Numbers, or codes of labels, from 0 on: the most frequent first.
    """

    KIND: ClassVar[Kind]
    is_label: ClassVar[bool] = False  # whether its values have no order
    has_many_labels: ClassVar[bool] = False  # and are too many for models of their own
    unlearned: float = 0.0  # of a latent in its place: how much of the context may still be in it, in nats
    KEPT: ClassVar[tuple[str, ...]] = ("values", "place")  # in files; the rest follows from them
    values: FloatArray
    place: Place

    def __init__(self, values: FloatArray) -> None:
        must_fit(self, values.ndim == 1 and len(values) > 0)
        self.values = values
        self.place = ("", 0)

    @classmethod
    def remade(cls, values: FloatArray, **more: Any) -> Self:
        """The column with these attributes, as they are kept in files."""
        column = cls(values)
        for name, item in more.items():
            setattr(column, name, item)
        return column

    def follow(self, other: Column, rows: RowArray | None = None) -> None:  # noqa: ARG002
        """Take the place of another column, of which this one holds some of the rows, or other codes of the values."""
        self.place = other.place

    def coded(self, values: FloatArray) -> FloatArray:
        """Recode new values (m,) of the table as the column's own values are; only labels change."""
        return values

    def values_of(self, rows: Rows) -> FloatArray:
        """The column's values in new rows, shape (m,)."""
        return rows[self.place]

    @cached_property
    def context(self) -> FloatArray:
        """The column as it enters the context of others, shape (c, n)."""
        return self.seen(self.values)

    @property
    def learned(self) -> FloatArray:
        """The column as it enters the context of others for models that have seen its rows, shape (c, n)."""
        return self.context

    @property
    def among_numbers(self) -> FloatArray:
        """The column as it is given beside numbers, to flows whose latents are projected, shape (c, n)."""
        return self.context

    @property
    def is_discrete(self) -> bool:
        """Whether it has a discrete distribution, so that information about it is bounded by its entropy."""
        return True

    @property
    def has_steps(self) -> bool:
        """Whether its values are ordered steps."""
        return self.is_discrete and not self.is_label

    def learn(self, others: Sequence[Column], order: RowArray) -> None:  # noqa: B027 - most kinds learn nothing
        """Find what labels say of the other columns of a question, where they are many; others say themselves."""

    @property
    @abstractmethod
    def order_keys(self) -> FloatArray:
        """Keys for canonical orders and signs before anything is fitted, one for each residual, shape (d, n)."""

    @abstractmethod
    def seen(self, values: FloatArray) -> FloatArray:
        """New values (m,) as they enter the context of others, shape (c, m)."""

    @abstractmethod
    def pieces(self, values: FloatArray) -> list[Piece]:
        """The targets of its units for values (m,)."""

    @abstractmethod
    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """The values that it could have had in rows with a context (c, m)."""

    def log_density(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> FloatArray:
        """Log-densities or log-probabilities of values (m,) given a context (c, m), in nats."""
        total: FloatArray = np.zeros(len(values))
        for (rows, target), unit in zip(self.pieces(values), units, strict=True):
            total[rows] += unit.log_density(target, np.ascontiguousarray(context[:, rows]))
        return total

    @abstractmethod
    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """Residuals of values (m,) given a context (c, m)."""

    def frequencies(self, cells: Cells) -> list[Residual]:
        """Residuals of its own rows given the cells of a discrete context, by frequencies, without units."""
        raise NotImplementedError


def between(unit: FittedUnit, cuts: Sequence[FloatArray], context: FloatArray) -> FloatArray:
    """Probabilities below, between and above cut points (m,) given a context (c, m), shape (1 + cuts, m)."""
    m = context.shape[1]
    chances: FloatArray = np.diff([np.zeros(m), *unit.below(cuts, context), np.ones(m)], axis=0)
    return chances

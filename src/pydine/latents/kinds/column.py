"""A column of any kind as the engine sees it: what a kind has to say, once for all of them.

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

To write another kind, write another class in a file beside `continuous`, `ordinal` and `nominal`, name it in
`registry`, and nowhere else: what is above works on `Column`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import Kind
from pydine.types import FloatArray, IntArray
from pydine.units.unit import FittedUnit

ROWS_PER_FREQUENCY = 5.0  # answer: rows for each value in each cell of a discrete context, if frequencies are the model
PLACES = 24  # answer: of a number, or of steps, that stand for all when one is averaged over
LEAST_CHANCE = 1e-300  # guard: for a probability to have a logarithm

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

    def follow(self, other: Column) -> None:
        """Stand in the place of another column, of which it has some of the rows, or the values in other names."""
        self.place = other.place

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


def between(unit: FittedUnit, cuts: Sequence[FloatArray], context: FloatArray) -> FloatArray:
    """Probabilities below, between and above cut points (m,) given a context (c, m), shape (1 + cuts, m)."""
    below = [unit.tails(np.ascontiguousarray(cut), context)[0] for cut in cuts]
    m = context.shape[1]
    chances: FloatArray = np.diff([np.zeros(m), *below, np.ones(m)], axis=0)
    return chances

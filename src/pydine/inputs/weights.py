"""How many observations each row stands for: frequencies of a table, or the weights of a survey.

Frequencies are whole numbers, and the table is read as if each row stood in it so many times: all answers are those of
the long table, in which rows are independent of each other. Other numbers are weights of a survey: rows that were less
likely to be drawn stand for more of the population. Only their ratios matter, and rows are counted by them
(`sampling.self_weighting`), so that errors are those of weighted sums.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import Kept
from pydine.inputs.columns import Columns
from pydine.inputs.kinds import Kind, kind_of
from pydine.marks import row_marks
from pydine.sampling import INDEPENDENT, Clusters, Rows, Weighted, self_weighting
from pydine.types import FloatArray, RowArray

MOST_COUNTED = 10_000_000  # memory: rows of the long table


class FrequenciesWarning(UserWarning):
    """Weights are whole numbers, and so frequencies, of a table that does not look like one of frequencies."""


class Counted(Rows):
    """Independent rows of a table of frequencies."""

    words = "by frequencies"


class Told(NamedTuple):
    """Columns of arguments, which rows of the data are left, how they depend on each other, and where each row was."""

    blocks: list[Columns]
    kept: Kept
    rows: Rows
    counted: RowArray | None = None

    def positions(self, n: int) -> RowArray:
        """Where the rows are among the n of the data."""
        return np.arange(n) if self.kept is None else np.flatnonzero(self.kept)


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of all rows of the data, (n,), none negative; whole numbers are frequencies."""

    values: FloatArray
    are_frequencies: bool = False
    none: ClassVar[Weights]

    @classmethod
    def of(cls, values: FloatArray) -> Weights:
        """Refuse what cannot be weights."""
        if not np.isfinite(values).all() or values.min() < 0.0 or not values.any():
            raise ValueError(
                f"weights must be numbers of at least 0 in all {len(values):,} rows, and not all 0, but some are not; "
                "correct them, or leave those rows out."
            )
        are_frequencies = bool((values == np.round(values)).all())
        if are_frequencies and values.sum() > MOST_COUNTED:
            raise ValueError(
                f"weights are whole numbers, so read as frequencies, of {values.sum():,.0f} rows, but the limit is "
                f"{MOST_COUNTED:,}; if they are survey weights, divide them by their mean."
            )
        return cls(values, are_frequencies)

    @property
    def words(self) -> str:
        """What they are, for people to read; empty if there are none."""
        if not len(self.values):
            return ""
        return Counted.words if self.are_frequencies else Weighted.by

    def places(self, n: int) -> RowArray:
        """Which of n rows a table has that gives each its weight."""
        if self.are_frequencies:
            return np.repeat(np.arange(n), self.values.astype(np.intp))
        return self_weighting(self.values) if len(self.values) else np.arange(n)

    def expanded(self, told: Told) -> Told:
        """The long table, if these are frequencies."""
        if not self.are_frequencies:
            return told
        counts = self.values.astype(np.intp)
        left = told.positions(len(counts))
        _warn_of_measures(told.blocks, counts)
        places = np.repeat(np.arange(len(left)), counts[left])
        kept = None if told.kept is None else np.repeat(told.kept, counts)
        rows = Counted() if told.rows is INDEPENDENT else told.rows.only(places)
        return Told(_taken(told.blocks, places), kept, rows, left[places])

    def counted(self, told: Told) -> Told:
        """Rows counted by the weights, if these are of a survey."""
        if self.are_frequencies or not len(self.values):
            return told
        left = told.positions(len(self.values))
        places = self_weighting(self.values[left], _marks(told.blocks))
        clusters = told.rows.codes[places] if isinstance(told.rows, Clusters) else places
        codes = np.unique(clusters, return_inverse=True)[1]
        return Told(_taken(told.blocks, places), told.kept, Weighted(codes, told.rows.words), left[places])


Weights.none = Weights(np.empty(0))


def _marks(blocks: Sequence[Columns]) -> NDArray[np.uint64]:
    """Marks of rows (n,) by the ranks of their values, and by how often labels come up.

    They are the same for columns in any order, in other units or negated, and for labels of any name.
    """
    ranks = []
    for block in blocks:
        for i, column in enumerate(block.values.T):
            _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
            around = 2 * np.cumsum(counts) - counts - len(column)
            ranks.append((counts if block.kind(i) is Kind.NOMINAL else around)[codes].astype(np.float64))
    return row_marks(np.array(ranks))


def _taken(blocks: list[Columns], places: RowArray) -> list[Columns]:
    """Rows of columns, of which some may come several times."""
    return [replace(block, values=np.ascontiguousarray(block.values[places])) for block in blocks]


def _warn_of_measures(blocks: Sequence[Columns], counts: RowArray) -> None:
    """Warn if rows with a number that does not repeat by itself stand for several each, as those of a survey do."""
    for block in blocks:
        for i in range(len(block.names)):
            kind = block.kind(i) or kind_of(block.values[:, i])
            if kind is Kind.CONTINUOUS and np.median(counts[counts > 0]) > 1.0:
                warnings.warn(
                    f"Weights are whole numbers, so read as frequencies, of {int(counts.sum()):,} rows, but values of "
                    f"{block.where(i)} do not repeat: if they are survey weights, divide them by their mean.",
                    FrequenciesWarning,
                    stacklevel=level_of_caller(),
                )
                return

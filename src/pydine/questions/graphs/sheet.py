"""The columns of a search, in which values may be missing, and their tests, from all rows that have what they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.answers.settings import Settings
from pydine.inputs.angles import opened
from pydine.inputs.checks import check_nan_policy, check_range
from pydine.inputs.dependence import INDEPENDENTLY, Dependence
from pydine.inputs.kinds import Kind, Kinds, periods_of, pooled
from pydine.inputs.presence import Presence
from pydine.inputs.reading import check_two_variables, read_variables
from pydine.inputs.table import Table, signature_of
from pydine.questions.graphs.asking import Tests
from pydine.questions.graphs.likely import Likely
from pydine.questions.graphs.skeleton import PairQuestion
from pydine.types import RowArray
from pydine.units.rows import SEED, row_marks
from pydine.work.kept import Numbers

There = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns in an order that depends only on their values, NaN where a value is missing.

    Parameters
    ----------
    table : Table
    places : ndarray of int, shape (p,)
        Where the columns were in the data.
    """

    table: Table
    places: RowArray

    @classmethod
    def read(cls, data: Any, nan_policy: str, kinds: Kinds | None, said: Dependence = INDEPENDENTLY) -> Sheet:
        """Read a frame, a mapping of columns or an array; with ``nan_policy="omit"``, values may be missing.

        Where somebody has said how rows depend on each other, rows have all columns.
        """
        check_nan_policy(nan_policy)
        presence = Presence.read(data) if nan_policy == "omit" and not said.is_said else None
        if presence is None or presence.is_complete():
            table = read_variables(data, nan_policy=nan_policy, kinds=kinds, dependence=said).table
        else:
            table = _with_gaps(presence, kinds)
        check_two_variables(len(table.columns))
        found = cls(table, np.arange(len(table.columns)))
        order = np.array(sorted(range(len(found.marks)), key=found.marks.__getitem__))
        return found._of_columns(order)

    def _of_columns(self, order: RowArray) -> Sheet:
        table = self.table
        kinds = tuple(table.kind(int(i)) for i in order)
        columns = np.ascontiguousarray(table.columns[order])
        named = replace(table, columns=columns, names=tuple(table.names[i] for i in order), kinds=kinds)
        return Sheet(named, self.places[order])

    @cached_property
    def marks(self) -> list[bytes]:
        """What tells columns apart: their kinds and their signatures."""
        kinds = [self.table.kind(i) for i in range(len(self.table.columns))]
        return [
            str(kind).encode() + signature_of(column, kind)
            for column, kind in zip(self.table.columns, kinds, strict=True)
        ]

    @cached_property
    def there(self) -> There:
        """Where values are not missing, shape (p, n)."""
        return np.isfinite(self.table.columns)

    @property
    def n_used(self) -> int:
        """Rows that have two values or more."""
        return int((self.there.sum(axis=0) >= 2).sum())

    def resampled(self, number: int) -> Sheet:
        """The rows of a bootstrap sample, each once: a row that is there twice would pass for evidence.

        Which rows depends on their values and the sample's number alone, not on the order of the rows. Clusters are
        drawn whole.
        """
        columns = np.nan_to_num(self.table.columns, nan=np.inf)
        order = np.argsort(row_marks(columns), kind="stable")
        rows = self.table.rows.resampled(order, np.random.default_rng((SEED, 37, number)))
        columns = np.ascontiguousarray(self.table.columns[:, rows])
        return Sheet(
            replace(self.table, columns=columns, kept=None, counted=None, rows=self.table.rows.only(rows)), self.places
        )

    def likely(self) -> Likely:
        """Orders sets by how much dependence they may leave."""
        return Likely.of(self.table)

    def tests(self, settings: Settings) -> Tests | PartedTests:
        """Tests of questions about the columns."""
        return Tests(self.table, settings, self.marks) if self.there.all() else PartedTests(self, settings)


@dataclass(frozen=True, eq=False)
class PartedTests:
    """Tests of columns in which values are missing: each question from the rows that have all of its columns."""

    sheet: Sheet
    settings: Settings

    def pvalues(self, asked: Sequence[PairQuestion]) -> list[float]:
        """As in `Tests`."""
        return self._answered(asked, Tests.pvalues)

    def strengths(self, asked: Sequence[PairQuestion]) -> list[Numbers]:
        """As in `Tests`."""
        return self._answered(asked, Tests.strengths)

    def _answered(
        self, asked: Sequence[PairQuestion], answer: Callable[[Tests, Sequence[PairQuestion]], Sequence[Any]]
    ) -> list[Any]:
        """Questions that lack the same rows are answered together."""
        parts: dict[bytes, tuple[There, list[PairQuestion]]] = {}
        for one in asked:
            rows: There = np.logical_and.reduce(self.sheet.there[[*one.pair, *one.given]])
            parts.setdefault(np.packbits(rows).tobytes(), (rows, []))[1].append(one)
        found: dict[PairQuestion, Any] = {}
        for rows, some in parts.values():
            columns = np.nan_to_num(self.sheet.table.columns[:, rows])  # those that have gaps here are not asked about
            table = replace(self.sheet.table, columns=columns, kept=None)  # of independent rows: see `Sheet.read`
            found |= zip(some, answer(Tests(table, self.settings, self.sheet.marks), some), strict=True)
        return [found[one] for one in asked]


def _with_gaps(presence: Presence, kinds: Kinds | None) -> Table:
    """A table of columns with missing values, checked as `read_variables` checks one without."""
    found, periods = presence.kinds(kinds or {}), periods_of(kinds)
    presence = presence.without_identifiers(found)
    check_range(presence.whole)
    with np.errstate(invalid="ignore"):  # gaps are infinite there
        presence.warn(presence.keys, kinds or {})
    columns = np.ascontiguousarray(presence.whole.values.T)
    for i, name in enumerate(presence.whole.names):
        there = presence.finite[name]
        if not presence.varies(name, there):
            raise ValueError(f"column {name!r} of data must vary, but is constant; leave it out.")
        if found[name] is Kind.NOMINAL:
            columns[i, there] = pooled(columns[i, there])[0]
        if name in periods:
            columns[i, there] = opened(columns[i, there], periods[name])[0]
        columns[i, ~there] = np.nan
    return Table(columns, presence.whole.names, None, tuple(found[name] for name in presence.whole.names))

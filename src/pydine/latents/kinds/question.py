"""A question about columns of any kind: its columns, in a canonical form.

`MixedColumns` depends only on the question's own columns, not on the rest of the table, so every entry point has the
same columns for the same question.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.flows import Latents
from pydine.latents.kinds.canonical import canonical
from pydine.latents.kinds.column import Cells, Column, Place, Residual
from pydine.latents.kinds.conditionals import Conditional, Context
from pydine.sampling import INDEPENDENT
from pydine.sampling import Rows as Sampling
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import ROWS_PER_VALUE
from pydine.units.ladder import LadderSettings
from pydine.units.rows import View, column_order, combinations, outwards, signs


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """The columns of a question, without duplicates and without those that z determines, each group in canonical order.

    Parameters
    ----------
    x, y, z : tuple of Column
    sampling : Sampling
        How rows depend on each other.
    """

    x: tuple[Column, ...]
    y: tuple[Column, ...]
    z: tuple[Column, ...]
    sampling: Sampling = field(default=INDEPENDENT, metadata={"kept": False})

    @classmethod
    def of(cls, question: Question, determined: Set[int] = frozenset()) -> MixedColumns:
        """The columns of a question, without those in `determined`; a side may have none left."""
        table, signatures = question.table, question.table.signatures
        known = {signatures[i] for i in question.given}

        def distinct(block: Sequence[int], without: set[bytes]) -> list[int]:
            first: dict[bytes, int] = {}
            for i in block:
                if signatures[i] not in without and i not in determined:
                    first.setdefault(signatures[i], i)
            return list(first.values())

        blocks = distinct(question.x, known), distinct(question.y, known), distinct(question.given, set())
        every = [i for block in blocks for i in block]
        made = canonical([table.columns[i] for i in every], [table.kind(i) for i in every])
        columns, keys = dict(zip(every, made, strict=True)), np.array([column.order_keys[0] for column in made])
        found, stop = [], 0
        for label, places, block in zip("xyz", question.blocks, blocks, strict=True):
            for i in block:
                columns[i].place = (label, places.index(i))
            start, stop = stop, stop + len(block)
            order = column_order(keys[start:stop], np.delete(keys, slice(start, stop), 0))
            found.append(tuple(columns[block[k]] for k in order))
        x, y, z = found
        return cls(x, y, z, table.rows)

    @cached_property
    def is_swapped(self) -> bool:
        """Whether y goes first where one side has to: a choice that does not depend on which side was called x."""
        sides = [np.vstack([column.order_keys for column in side]) for side in (self.x, self.y)]
        z = self.context(self.z).values
        return View.of(np.vstack([*sides, z]), len(sides[0]), len(sides[1])).is_swapped

    @cached_property
    def outwards(self) -> RowArray:
        """Rows by their distance from the origin, in an order that depends only on their values."""
        first, second = (self.y, self.x) if self.is_swapped else (self.x, self.y)
        keys = np.vstack([*(column.order_keys for column in (*first, *second)), self.context(self.z).values])
        every = *first, *second, *self.z
        # Keys do not tell rare labels.
        return outwards(keys * signs(keys)[:, None], lambda: [column.values for column in every if column.is_label])

    def swapped(self) -> MixedColumns:
        """The same columns with x and y exchanged."""
        return replace(self, x=self.y, y=self.x)

    def only(self, rows: RowArray) -> MixedColumns:
        """Some of the rows, without the columns that are constant there."""
        groups = [
            [column for column in group if np.ptp(column.values[rows]) > 0.0] for group in (self.x, self.y, self.z)
        ]
        every = [column for group in groups for column in group]
        found = canonical([column.values[rows] for column in every], [column.KIND for column in every])
        for old, new in zip(every, found, strict=True):
            new.follow(old, rows)
        dx, dy = len(groups[0]), len(groups[1])
        x, y, z = tuple(found[:dx]), tuple(found[dx : dx + dy]), tuple(found[dx + dy :])
        return MixedColumns(x, y, z, self.sampling.only(rows))

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len((self.x or self.y)[0].values)

    def context(self, *groups: Sequence[Column]) -> Context:
        """Columns as a context, in an order that follows from their values: questions share models of the same."""
        columns = [column for group in groups for column in group]
        keys = np.array([column.order_keys[0] for column in columns])
        ordered = [columns[i] for i in column_order(keys)] if columns else []
        return Context.of(ordered, self.n_rows, self.sampling)

    def rows(self, x: FloatArray, y: FloatArray, z: FloatArray) -> dict[Place, FloatArray]:
        """New rows (m, dx), (m, dy), (m, dz) as columns (m,), by the places of the question's columns."""
        blocks = {"x": x, "y": y, "z": z}
        return {
            column.place: column.coded(np.ascontiguousarray(blocks[column.place[0]][:, column.place[1]]))
            for column in (*self.x, *self.y, *self.z)
        }

    @cached_property
    def made(self) -> dict[LadderSettings, Latents | None]:
        """Residuals of the columns given z, by settings, kept for the estimate and its test, which both need them."""
        return {}

    @cached_property
    def cells(self) -> Cells | None:
        """Code of each row's combination of values of z, if z is discrete; all 0 without a z."""
        if not self.z:
            return np.zeros(self.n_rows, dtype=np.intp)
        if not all(column.is_discrete for column in self.z):
            return None
        return combinations([column.values for column in self.z])

    def by_frequency(self, column: Column) -> bool:
        """Whether there are enough rows to model a column by its frequencies in every cell of z."""
        if self.cells is None or not column.is_discrete:
            return False
        levels = len(np.unique(column.values)) * (int(self.cells.max()) + 1)
        return self.n_rows >= ROWS_PER_VALUE * levels

    def residuals(self, column: Column, fitted: Conditional | None) -> list[Residual]:
        """Residuals of a column given z: by fitted units or, without them, by frequencies."""
        if fitted is not None:
            return fitted.residuals()
        if self.cells is None:
            raise ValueError("frequencies need a discrete context")
        return column.frequencies(self.cells)

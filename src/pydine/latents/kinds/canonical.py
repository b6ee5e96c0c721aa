"""Columns of any kind with labels in a canonical numbering, whatever they are called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pydine.inputs.kinds import MOST_LEVELS, Kind
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.levels import LevelsColumn
from pydine.latents.kinds.nominal import NominalColumn
from pydine.latents.kinds.registry import column_of
from pydine.types import FloatArray
from pydine.units.rows import row_marks, row_order


def canonical(columns: Sequence[FloatArray], kinds: Sequence[Kind]) -> list[Column]:
    """Columns (n,) of kinds, with labels numbered by frequency, so that their names and their order do not matter.

    Ties between equally frequent labels are broken by the values of all columns in their rows.
    """
    known = [None if k is Kind.NOMINAL else column_of(c, k) for c, k in zip(columns, kinds, strict=True)]
    keys = [_frequencies(c) if k is None else k.order_keys[0] for c, k in zip(columns, known, strict=True)]
    marks = row_marks(np.array(keys))
    found: list[Column] = []
    for values, column in zip(columns, known, strict=True):
        if column is None:
            _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
            sums = [int(marks[codes == k].sum(dtype=np.uint64)) for k in range(len(counts))]
            order = sorted(range(len(counts)), key=lambda k, c=counts, s=sums: (-int(c[k]), s[k]))  # type: ignore[misc]
            places = np.empty(len(counts))
            places[order] = np.arange(len(counts))
            labels = (NominalColumn if len(counts) <= MOST_LEVELS else LevelsColumn)(places[codes])
            labels.numbers = np.full(int(values.max()) + 1, len(counts) - 1.0)
            labels.numbers[np.unique(values).astype(np.intp)] = places
            found.append(labels)
        else:
            found.append(column)
    if any(column.has_many_labels for column in found):
        rows = row_order(np.array([c.values if c.is_label else c.order_keys[0] for c in found]))
        for i, column in enumerate(found):
            column.learn([*found[:i], *found[i + 1 :]], rows)
    return found


def _frequencies(codes: FloatArray) -> FloatArray:
    """Frequency of each row's label, shape (n,)."""
    places = codes.astype(np.intp)
    return np.bincount(places)[places].astype(np.float64)

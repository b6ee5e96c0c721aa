"""Labels: a series of yes/no questions, the most frequent label first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import MOST_LEVELS, OWN_ROWS, Kind
from pydine.kernels.normal import normal_quantile
from pydine.latents.kinds.column import Alternatives, Cells, Column, Piece, Residual
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray, must_fit
from pydine.units.evidence import ROWS_PER_VALUE
from pydine.units.steps import FARTHEST_CUT
from pydine.units.unit import FittedUnit


def _scores(is_it: NDArray[np.bool_]) -> tuple[float, float]:
    """Normal scores of no and yes among answers (n,)."""
    scores = ScoreMap.fit(is_it.astype(np.float64))[0].scores
    return float(scores[0]), float(scores[-1])


class NominalColumn(Column):
    """Labels, as a series of yes/no questions about them."""

    KIND: ClassVar[Kind] = Kind.NOMINAL
    is_label: ClassVar[bool] = True
    KEPT: ClassVar[tuple[str, ...]] = ("values", "place", "numbers")
    numbers: FloatArray | None = None  # by the table's own codes, if these differ

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        must_fit(self, bool((values >= 0.0).all() and (values < len(values)).all()))  # or counts would take any memory
        counts = np.bincount(values.astype(np.intp))
        after = np.cumsum(counts[::-1])[::-1]  # rows of a label and those that come later
        self._counts = counts
        # A question about a handful of rows teaches nothing, and makes residuals of a few huge values.
        self._splits = [
            k
            for k in range(min(len(counts) - 1, MOST_LEVELS))
            if after[k] >= OWN_ROWS and min(counts[k], after[k + 1]) >= ROWS_PER_VALUE
        ] or [0]
        self._cuts = {k: float(normal_quantile(np.array([counts[k] / after[k]]))[0]) for k in self._splits}
        labels = range(min(len(counts), MOST_LEVELS)) if len(counts) > 2 else range(1)
        self._marks = [_scores(values == k) for k in labels]

    def coded(self, values: FloatArray) -> FloatArray:
        """See `Column`; an unknown label becomes the rarest one."""
        if self.numbers is None:
            return values
        places = values.astype(np.intp)
        known = self.numbers[np.minimum(places, len(self.numbers) - 1)]
        return np.where(places < len(self.numbers), known, len(self._counts) - 1.0)

    def follow(self, other: Column, rows: RowArray | None = None) -> None:
        """See `Column`."""
        super().follow(other, rows)
        if isinstance(other, NominalColumn) and other.numbers is not None:
            self.numbers = self.coded(other.numbers)

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self._indicators(self.values)[[k if k < len(self._marks) else 0 for k in self._splits]]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return self._indicators(values)

    def _indicators(self, values: FloatArray) -> FloatArray:
        """Normal scores of indicators of the labels that have one, shape (c, m)."""
        return np.array([np.where(values == k, yes, no) for k, (no, yes) in enumerate(self._marks)])

    def _rows(self, k: int, values: FloatArray) -> NDArray[np.intp]:
        """Rows to which the k-th question applies."""
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
        """See `Column`: every label; those that no question tells apart share what is left by their frequencies."""
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

"""Labels by the dozen or the hundred: too many for an indicator and a yes/no question each.

In the context of others such a column is what the rows of a label say of the other columns of the question: their mean
scores and mean squares, drawn towards those of all rows as a label has few rows (partial pooling: the best linear
predictor of a random effect, with variance components by the method of moments). What stands in a row's context is what
three quarters of the *other* rows of its label say, others for each row, so that models are fitted to, and judged by,
what they could know of the row. (Means of all other rows would give its own value away, where a label stands out: the
larger that is, the less is left for the others.) Log-ratios of rows that models have seen are given what all rows say:
what the one loses for having few rows of a label, the other gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import OWN_ROWS
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.nominal import NominalColumn
from pydine.sampling import Centred, Rows
from pydine.types import FloatArray, IntArray, RowArray
from pydine.units.rows import SEED

# answer: random groups of a label's rows, and the share of them that a row is told of, beside its own. Half of them did
# as well for means, and worse for spreads.
GROUPS, TOLD = 8, 0.75
LEAST_BETWEEN = 1e-9  # guard: least share of a score's variance between labels, which is divided by


class LevelsColumn(NominalColumn):
    """Labels too many for an indicator each.

    Attributes
    ----------
    effects : ndarray, shape (c, labels + 1)
        What the rows of each label say of the other columns; 0, as for all rows together, for a label that is unknown.
    left_out : ndarray, shape (c, n)
        What three quarters of the other rows of each row's label say.
    is_spread : ndarray of bool, shape (c,)
        Which of these are about how far the other columns spread.
    """

    has_many_labels: ClassVar[bool] = True
    KEPT: ClassVar[tuple[str, ...]] = (*NominalColumn.KEPT, "effects", "left_out")
    effects: FloatArray
    left_out: FloatArray
    is_spread: NDArray[np.bool_]

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self.effects, self.left_out = np.empty((0, len(self._counts) + 1)), np.empty((0, len(values)))
        self.is_spread = np.zeros(0, dtype=np.bool_)

    def learn(self, others: Sequence[Column], order: RowArray) -> None:
        """Find what labels say of the other columns of a question: of numbers and steps also how far they spread.

        Which of the others a row is told of is drawn. The `order` of all rows (n,), which follows from their values,
        decides only which draw a row gets, and how sums are rounded: what follows from the row's own values would give
        these away.
        """
        found, is_spread, n, rng = [], [], len(order), np.random.default_rng(SEED)
        order = order[np.argsort(self.values[order], kind="stable")]
        own, told = rng.integers(GROUPS, size=n), rng.random((n, GROUPS)) < TOLD
        told[np.arange(n), own] = False
        codes = self.values[order].astype(np.intp)
        for other in others:
            for key in other.order_keys[:, order]:
                found.append(self._shrunken(key, codes, own, told))
                is_spread += [False] if other.is_label else [False, True]
                if not other.is_label:
                    found.append(self._shrunken((key - key.mean() - found[-1][1]) ** 2, codes, own, told))
        scales = [max(float(left_out.std()), LEAST_BETWEEN) for _, left_out in found]
        self.effects, left_out = (
            np.array([pair[i] / scale for pair, scale in zip(found, scales, strict=True)]).reshape(len(found), -1)
            for i in (0, 1)
        )
        self.is_spread = np.array(is_spread, dtype=np.bool_)
        self.left_out = np.empty(left_out.shape)
        self.left_out[:, order] = left_out

    def _shrunken(
        self, score: FloatArray, codes: IntArray, own: IntArray, told: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Shrunken means of a score (n,), less its mean: by labels, (labels + 1,), and of the groups `told`, (n,)."""
        score = score - score.mean()
        counts = np.maximum(self._counts, 1).astype(np.float64)
        n, k, whole = len(score), len(counts), float(score @ score)
        sums = np.bincount(codes, score, minlength=k)
        explained = float((sums * sums / counts).sum())
        within = (whole - explained) / max(n - k, 1)
        usual = (n - float((counts * counts).sum()) / n) / max(k - 1, 1)  # rows of a label
        between = (explained / max(k - 1, 1) - within) / usual
        # Without a trace of an effect, means count in proportion to their rows.
        prior = within / max(between, within / n, LEAST_BETWEEN * whole / n)
        parts = codes * GROUPS + own
        some, rows = (
            (np.bincount(parts, weights, k * GROUPS).reshape(k, GROUPS)[codes] * told).sum(axis=1)
            for weights in (score, np.ones(n))
        )
        left_out = some / np.maximum(rows + prior, LEAST_BETWEEN)
        return np.append(sums / (counts + prior), 0.0), left_out

    @property
    def context(self) -> FloatArray:
        """See `Column`."""
        return self.left_out

    @property
    def learned(self) -> FloatArray:
        """See `Column`."""
        return self.seen(self.values)

    @property
    def among_numbers(self) -> FloatArray:
        """See `Column`: means of all rows of a label, which a projection takes out, but spreads of the others.

        Of few rows, those that are far out make a large spread themselves: a flow that knew it would draw them in.
        """
        return np.where(self.is_spread[:, None], self.left_out, self.learned)

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return np.ascontiguousarray(self.effects[:, values.astype(np.intp)])

    def coded(self, values: FloatArray) -> FloatArray:
        """See `Column`; an unknown label becomes one more than there are."""
        if self.numbers is None:
            return np.minimum(values, float(len(self._counts)))
        places = values.astype(np.intp)
        known = self.numbers[np.minimum(places, len(self.numbers) - 1)]
        return np.where(places < len(self.numbers), known, float(len(self._counts)))

    def follow(self, other: Column, rows: RowArray | None = None) -> None:
        """See `Column`: what labels say is what all rows of the other column say."""
        if isinstance(other, LevelsColumn) and rows is not None:
            known = np.unique(other.values[rows])
            self.effects = np.zeros((len(other.effects), len(self._counts) + 1))
            self.effects[:, self.coded(known).astype(np.intp)] = other.effects[:, known.astype(np.intp)]
            self.left_out, self.is_spread = np.ascontiguousarray(other.left_out[:, rows]), other.is_spread
        super().follow(other, rows)


def centred(rows: Rows, given: Sequence[Column], n: int) -> Rows:
    """How n rows count whose sides are compared given columns: labels by the dozen have taken their means from them.

    What such labels say is made of the sides themselves, so a projection on it takes a mean for each label, not one
    degree of freedom for each column of it. Rows that depend on each other count as they do without.
    """
    means = sum(int((c._counts > 0).sum()) - 1 - len(c.context) for c in given if isinstance(c, LevelsColumn))
    spent = min(means, n - OWN_ROWS)
    return Centred(spent / n) if spent > 0 and rows.exchangeable and rows.distinct else rows

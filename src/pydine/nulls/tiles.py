"""`Moments` of all pairs of many columns, by matrix products, for two sets of columns at a time.

The blocks, and what they are divided by, are those of `moments`. Waves are computed for one set of columns after the
other: those of all would not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from pydine.latents.flows import Latents
from pydine.nulls.features import LARGEST_DEGREE, squares_of, turn_degrees, turned_of, waves_of
from pydine.nulls.moments import (
    BLOCKS,
    SHAPE,
    changes,
    combined,
    row_weights,
    studentised,
    wave_degrees,
)
from pydine.nulls.pvalues import Cells, beta_pvalues
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, RowArray

Chosen = EllipsisType | tuple[NDArray[np.intp], ...]

COLUMNS_AT_ONCE = 16  # memory: columns whose waves are made together, so that they stay in the processor's cache


@dataclass(frozen=True)
class Tiles:
    """Features of many columns.

    Parameters
    ----------
    columns, squares : ndarray, shape (p, n)
        Latents and their squares, with functions of z projected out of both, scaled to a cross-product of `dof`.
    squared : ndarray of bool, shape (p,)
        Which of `squares` are true squares, and not columns that take their place.
    spread : ndarray, shape (n,)
        Factors on the rows' products of squared residuals.
    dof : float
    latents : Latents or None
        Where waves and functions of z come from; without them, there are only the blocks of columns and squares.
    rows : Rows
        How rows depend on each other.
    """

    columns: FloatArray
    squares: FloatArray
    squared: NDArray[np.bool_]
    spread: FloatArray
    dof: float
    latents: Latents | None = None
    rows: Rows = INDEPENDENT

    @classmethod
    def of(cls, latents: Latents) -> Tiles:
        """All columns of latents."""
        unit = latents.both / latents.both.std(axis=1, keepdims=True)
        squares, squared = squares_of(unit, latents)
        return cls.scaled(unit, squares, squared, latents.dof, latents.leverages, latents)

    @classmethod
    def scaled(
        cls,
        columns: FloatArray,
        squares: FloatArray,
        squared: NDArray[np.bool_],
        dof: float,
        leverages: FloatArray,
        latents: Latents | None = None,
    ) -> Tiles:
        """Scale columns and squares, in place."""
        for part in (columns, squares):
            part /= np.sqrt(np.einsum("ij,ij->i", part, part) / dof)[:, None]
        rows = INDEPENDENT if latents is None else latents.sampling
        return cls(columns, squares, squared, row_weights(leverages), dof, latents, rows)

    def correlations(self, first: slice, second: slice) -> FloatArray:
        """Correlations of two sets of columns, not studentised, shape (p1, p2)."""
        products: FloatArray = self.columns[first] @ self.columns[second].T / self.dof
        return products

    def effects(self, first: RowArray, second: RowArray, correlations: FloatArray) -> FloatArray:
        """Effects of the rows' dependence on the information of pairs (m,) of columns, by rows' log-ratios."""
        found = np.ones(len(first))
        for start in range(0, len(first), COLUMNS_AT_ONCE):
            some = slice(start, start + COLUMNS_AT_ONCE)
            x, y = self.columns[first[some]], self.columns[second[some]]
            ratios = 2.0 * x * y - correlations[some, None] * (x * x + y * y)  # up to constants of each pair
            found[some] = self.rows.effects_of(ratios).ratios
        return found

    def test(self, first: slice, second: slice, correlations: FloatArray, chosen: Chosen = ...) -> FloatArray:
        """P-values of the chosen pairs of two sets of columns, whose `correlations` (p1, p2) are known."""
        return combined("auto", self.pvalues(first, second, correlations, chosen), self.has_z)

    def pvalues(self, first: slice, second: slice, correlations: FloatArray, chosen: Chosen = ...) -> FloatArray:
        """P-values of the blocks of pairs, the last axis over `BLOCKS`.

        Of all pairs (p1, p2, 6), or of those chosen by two arrays of positions, (pairs, 6).
        """
        found = np.ones((len(BLOCKS), *correlations[chosen].shape))
        for i, block in enumerate(self._squares(first, second, correlations)):
            found[i] = beta_pvalues(block[chosen], self.dof)
        if self.latents is not None:
            found[SHAPE] = self._any_shape(first, second, chosen)
            if self.has_z:
                found[-1] = self._changing(first, second, chosen)
        return np.moveaxis(found, 0, -1)

    @property
    def has_z(self) -> bool:
        """Whether there is a block of what changes with z."""
        return self.latents is not None and self.latents.dimensions[2] > 0

    def _squares(self, first: slice, second: slice, correlations: FloatArray) -> Iterator[FloatArray]:
        """Studentised correlations of latents and squares, each (p1, p2), in the order of `SQUARES`."""
        n, x, y = len(self.spread), *((self.columns[side], self.squares[side]) for side in (first, second))
        found = correlations
        for j, i in np.ndindex(2, 2):
            if j > i and first == second:
                yield found.T  # the block before, of the same columns
                continue
            products = correlations if i == j == 0 else x[i] @ y[j].T / self.dof
            fourth = (x[i] * x[i] * self.spread) @ (y[j] * y[j]).T
            plain = studentised(products, fourth, n, self.dof)
            if i == j == 1:
                skews = [np.einsum("ij,ij,ij->i", part, part, part) / n for part in (x[1], y[1])]
                both = np.logical_and.outer(self.squared[first], self.squared[second])
                mended = studentised(products, fourth, n, self.dof, np.multiply.outer(*skews))
                plain = np.where(both, mended, plain)
            found = self.rows.effects(y[j], x[i]).correlations(plain, self.dof)
            yield found

    def _any_shape(self, first: slice, second: slice, chosen: Chosen) -> FloatArray:
        """P-values of waves with waves, of the chosen pairs."""
        x, x_orders = self._waves(first)
        is_one = first == second
        y, y_orders = (x, x_orders) if is_one else self._waves(second)
        total, largest = (np.full((x.shape[1], y.shape[1]), start) for start in (0.0, -np.inf))
        for j, k in np.ndindex(LARGEST_DEGREE, LARGEST_DEGREE):
            degree = (j + 1.0) * (k + 1.0)
            if degree > LARGEST_DEGREE or (is_one and k > j):  # or the transpose of another
                continue
            squares = self._squared_products(x[j], y[k])
            total += squares * ((0.5 if is_one and j == k else 1.0) / degree)
            squares -= 2.0 * np.log(degree)
            np.maximum(largest, squares, out=largest)
        if is_one:
            total, largest = total + total.T, np.maximum(largest, largest.T)
        orders = np.broadcast_arrays(x_orders[:, None], y_orders)
        return _by_orders(total[chosen], largest[chosen], orders[0][chosen], orders[1][chosen])

    def _squared_products(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Squared sums of products of waves (p1, n) and (p2, n) over their variances, shape (p1, p2)."""
        squares = x @ y.T
        squares *= squares
        sizes = (x * x * np.sqrt(self.spread)) @ (y * y).T if self.has_z else x.shape[1]
        squares *= self.dof / x.shape[1] / sizes
        return self.rows.effects(y, x).squares(squares)

    def _waves(self, chosen: slice) -> tuple[FloatArray, NDArray[np.intp]]:
        """Waves of some columns (K, p, n), and how many count (p,)."""
        some = range(*chosen.indices(len(self.columns)))
        values, orders = np.empty((LARGEST_DEGREE, len(some), len(self.spread))), np.empty(len(some), dtype=np.intp)
        for i in range(0, len(some), COLUMNS_AT_ONCE):
            here = slice(some.start + i, min(some.start + i + COLUMNS_AT_ONCE, some.stop))
            waves = waves_of(self.columns[here] * np.sqrt(len(self.spread) / self.dof), self._given, here)
            place = slice(i, i + COLUMNS_AT_ONCE)
            values[:, place], orders[place] = waves.values.transpose(1, 0, 2), waves.orders
        return values, orders

    def _changing(self, first: slice, second: slice, chosen: Chosen) -> FloatArray:
        """P-values of products with functions of z, of the chosen pairs."""
        x, y, penalties = self.columns[first], self.columns[second], 2.0 * np.log(turn_degrees(len(self._given.z)))
        (x_turned, shares), (y_turned, _) = (turned_of(self.columns[s], self._given, s) for s in (first, second))
        largest, totals = np.full((len(x), len(y)), -np.inf), np.zeros((2, len(x), len(y)))
        for k, penalty in enumerate(penalties):
            for total, left, right in zip(totals, (x_turned[:, k], x), (y, y_turned[:, k]), strict=True):
                squares = changes(left @ right.T, (left * left * self.spread) @ (right * right).T)
                squares = self.rows.effects(right, left).squares(squares * (self.dof / x.shape[1]))
                if k < len(shares):
                    total += squares * shares[k]
                np.maximum(largest, squares - penalty, out=largest)
        cells = Cells.of(np.tile(turn_degrees(len(shares)), 2))
        return cells.with_sums([total[chosen] for total in totals], shares.sum(), largest[chosen])

    @property
    def _given(self) -> Latents:
        if self.latents is None:
            raise ValueError("these columns have neither waves nor z")
        return self.latents


def _by_orders(
    total: FloatArray, largest: FloatArray, x_orders: NDArray[np.intp], y_orders: NDArray[np.intp]
) -> FloatArray:
    """P-values of sums and maxima of pairs of columns with so many waves, all of one shape."""
    found = np.ones(total.shape)
    for of_x in np.unique(x_orders):
        for of_y in np.unique(y_orders):
            degrees = wave_degrees(np.array([of_x]), np.array([of_y]))
            if (counted := degrees > 0.0).any():
                here = (x_orders == of_x) & (y_orders == of_y)
                found[here] = Cells.of(degrees[counted]).pvalues(total[here], largest[here])
    return found

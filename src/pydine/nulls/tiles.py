"""`Moments` of all pairs of many columns, by matrix products, for two sets of columns at a time.

The blocks, and what they are divided by, are those of `moments`. What changes with z is not looked at, since it takes
functions of z for each pair. Waves are computed for one set of columns after the other: those of all would not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from pydine.latents.flows import Latents
from pydine.nulls.features import LARGEST_DEGREE, squares_of, waves_of
from pydine.nulls.moments import BLOCKS, SHAPE, cell_degrees, row_weights, shares_of, studentised
from pydine.nulls.pvalues import Cells, beta_pvalues, simes
from pydine.types import FloatArray

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
        Where waves come from; without them, there is no block of any shape.
    """

    columns: FloatArray
    squares: FloatArray
    squared: NDArray[np.bool_]
    spread: FloatArray
    dof: float
    latents: Latents | None = None

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
        return cls(columns, squares, squared, row_weights(leverages), dof, latents)

    def correlations(self, first: slice, second: slice) -> FloatArray:
        """Correlations of two sets of columns, not studentised, shape (p1, p2)."""
        products: FloatArray = self.columns[first] @ self.columns[second].T / self.dof
        return products

    def test(self, first: slice, second: slice, correlations: FloatArray, chosen: Chosen = ...) -> FloatArray:
        """P-values of the chosen pairs of two sets of columns, whose `correlations` (p1, p2) are known."""
        return combined(self.pvalues(first, second, correlations, chosen))

    def pvalues(self, first: slice, second: slice, correlations: FloatArray, chosen: Chosen = ...) -> FloatArray:
        """P-values of the blocks of pairs, the last axis over `BLOCKS` without the last of these.

        Of all pairs (p1, p2, 5), or of those chosen by two arrays of positions, (pairs, 5).
        """
        found = np.ones((*correlations[chosen].shape, len(BLOCKS) - 1))
        for i, block in enumerate(self._squares(first, second, correlations)):
            found[..., i] = beta_pvalues(block[chosen], self.dof)
        if self.latents is not None:
            found[..., SHAPE] = self.any_shape(first, second)[chosen]
        return found

    def _squares(self, first: slice, second: slice, correlations: FloatArray) -> Iterator[FloatArray]:
        """Studentised correlations of latents and squares, each (p1, p2), in the order of `SQUARES`."""
        n, x, y = len(self.spread), *((self.columns[side], self.squares[side]) for side in (first, second))
        for j, i in np.ndindex(2, 2):
            products = correlations if i == j == 0 else x[i] @ y[j].T / self.dof
            fourth = (x[i] * x[i] * self.spread) @ (y[j] * y[j]).T
            plain = studentised(products, fourth, n, self.dof)
            if i == j == 1:
                skews = [np.einsum("ij,ij,ij->i", part, part, part) / n for part in (x[1], y[1])]
                both = np.logical_and.outer(self.squared[first], self.squared[second])
                mended = studentised(products, fourth, n, self.dof, np.multiply.outer(*skews))
                plain = np.where(both, mended, plain)
            yield plain

    def any_shape(self, first: slice, second: slice) -> FloatArray:
        """P-values of waves with waves, shape (p1, p2)."""
        x, x_orders = self._waves(first)
        is_one = first == second
        y, y_orders = (x, x_orders) if is_one else self._waves(second)
        total, largest = (np.full((x.shape[1], y.shape[1]), start, dtype=np.float32) for start in (0.0, -np.inf))
        for j, k in np.ndindex(LARGEST_DEGREE, LARGEST_DEGREE):
            degree = np.float32((j + 1) * (k + 1))
            if degree > LARGEST_DEGREE or (is_one and k > j):  # or the transpose of another
                continue
            squares = self._squared_products(x[j], y[k])
            total += squares / degree if not is_one or j != k else squares * np.float32(0.5) / degree
            squares -= np.float32(2.0) * np.log(degree)
            np.maximum(largest, squares, out=largest)
        if is_one:
            total, largest = total + total.T, np.maximum(largest, largest.T)
        return _by_orders(total, largest, x_orders, y_orders)

    def _squared_products(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Squared sums of products of waves (p1, n) and (p2, n) over their variances, shape (p1, p2)."""
        n = x.shape[1]
        squares = x @ y.T
        squares *= squares
        if self.latents is not None and self.latents.dimensions[2]:
            squares /= (x * x * self.spread.astype(np.float32)) @ (y * y).T
        else:
            squares *= np.float32(self.dof / n**2)
        return squares

    def _waves(self, chosen: slice) -> tuple[FloatArray, NDArray[np.intp]]:
        """Waves of some columns in single precision (K, p, n), and how many count (p,)."""
        if self.latents is None:
            raise ValueError("these columns have no waves")
        start, stop, _ = chosen.indices(len(self.columns))
        values = np.empty((LARGEST_DEGREE, stop - start, len(self.spread)), dtype=np.float32)
        orders = np.empty(stop - start, dtype=np.intp)
        for i in range(start, stop, COLUMNS_AT_ONCE):
            some = slice(i, min(i + COLUMNS_AT_ONCE, stop))
            waves = waves_of(self.columns[some] * np.sqrt(len(self.spread) / self.dof), self.latents, some)
            place = slice(some.start - start, some.stop - start)
            values[:, place], orders[place] = waves.values.transpose(1, 0, 2), waves.orders
        return values, orders


def combined(pvalues: FloatArray) -> FloatArray:
    """The blocks' p-values (..., 5) combined into one, shape (...)."""
    return simes(pvalues, shares_of("auto", has_z=False)[: len(BLOCKS) - 1])


def _by_orders(
    total: FloatArray, largest: FloatArray, x_orders: NDArray[np.intp], y_orders: NDArray[np.intp]
) -> FloatArray:
    """P-values of sums and maxima (p1, p2) of columns with so many waves, (p1,) and (p2,)."""
    found = np.ones(total.shape)
    for of_x in np.unique(x_orders):
        for of_y in np.unique(y_orders):
            places = np.ix_(x_orders == of_x, y_orders == of_y)
            degrees = cell_degrees(np.array([of_x]), np.array([of_y]))
            degrees = degrees[np.isfinite(degrees)]
            if len(degrees):
                found[places] = Cells.of(degrees.tolist()).pvalues(total[places], largest[places])
    return found

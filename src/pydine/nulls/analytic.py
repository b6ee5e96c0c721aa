"""The analytic test of independence of two sides, and its form for all pairs of many columns.

Both compare the four blocks of correlations (see `blocks`) with Wilks' distribution and combine their p-values by
Simes' method; the second does so for pairs of single columns, by matrix products.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.bases.closed_form import SMALLEST_VARIANCE
from pydine.latents.flows import Latents
from pydine.nulls.blocks import BLOCKS, LEAST_LEFT, Sides, Tiles, pairwise_block_pvalues, simes
from pydine.types import FloatArray

# Weights of the blocks (see BLOCKS) in a statistic. Half of "auto" is the paper's own: correlation is most common.
STATISTICS = {
    "auto": np.array([3.0, 1.0, 1.0, 1.0]) / 6.0,
    "gaussian": np.array([1.0, 0.0, 0.0, 0.0]),
    "general": np.array([0.0, 1.0, 1.0, 1.0]) / 3.0,
}


class AnalyticTest(NamedTuple):
    """The result of the test.

    Parameters
    ----------
    pvalue : float
        Never 0.
    blocks, block_pvalues : ndarray, shape (4,)
        Statistics of the blocks in nats, and their p-values, in the order of `BLOCKS`.
    """

    pvalue: float
    blocks: FloatArray
    block_pvalues: FloatArray


def analytic_test(latents: Latents, statistic: str = "auto") -> AnalyticTest:
    """Test whether the sides of latents depend on each other."""
    sides = sides_of(latents)
    blocks = sides.statistics()
    pvalues = sides.pvalues(blocks)
    order = named_order(latents)
    return AnalyticTest(float(combined(statistic, pvalues)), blocks[order], pvalues[order])


def pairwise_test(columns: FloatArray, latents: Latents) -> FloatArray:
    """P-values of `analytic_test` for every pair of the latents' columns (p, n), shape (p (p - 1) / 2,).

    Pairs are in the order of ``np.triu_indices(p, 1)``.
    """
    unit = columns / columns.std(axis=1, keepdims=True)
    squares, squared = _squares_of(unit, latents)
    blocks = pairwise_block_pvalues(unit, squares, latents.dof, latents.leverages, squared)
    pvalues: FloatArray = simes(blocks, STATISTICS["auto"])
    return pvalues


def tiles_of(latents: Latents) -> Tiles:
    """The latents, prepared to compute p-values of their pairs tile by tile."""
    unit = latents.both / latents.both.std(axis=1, keepdims=True)
    squares, squared = _squares_of(unit, latents)
    return Tiles.of(unit, squares, latents.dof, latents.leverages, squared)


def tile_test(tiles: Tiles, first: slice, second: slice, correlations: FloatArray) -> FloatArray:
    """P-values of the pairs of two sets of columns, whose `correlations` are known, same shape."""
    pvalues: FloatArray = simes(tiles.pvalues(first, second, correlations), STATISTICS["auto"])
    return pvalues


def named_order(latents: Latents) -> list[int]:
    """The permutation that puts the blocks of `sides_of`, where y may go first, into the order of `BLOCKS`."""
    is_swapped = latents.view is not None and latents.view.is_swapped
    return [0, 2, 1, 3] if is_swapped else list(range(len(BLOCKS)))


def sides_of(latents: Latents, *, studentised: bool = True) -> Sides:
    """Latents and their squares, with the same functions of z projected out of all, in canonical order."""
    seen = latents.seen()
    columns = seen.both / seen.both.std(axis=1, keepdims=True)
    (squares, squared), dx, rows = _squares_of(columns, seen), seen.dimensions[0], seen.outwards
    columns, squares = columns[:, rows], squares[:, rows]
    x, y = (columns[:dx], squares[:dx]), (columns[dx:], squares[dx:])
    return Sides.of(x, y, seen.dof, seen.leverages[rows] if studentised else None, bool(squared.all()))


def _squares_of(columns: FloatArray, latents: Latents) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Squares of columns (d, n) of unit variance, with the same functions of z projected out as out of the latents.

    Also returns which of them (d,) are true squares, and not replaced by something else, whose spread may depend on z.

    The larger the leverage of a row, the smaller are its residuals on both sides, and squares would show that as
    dependence. So squared residuals are first divided by 1 - leverage. The square of a column with two values says
    nothing that the column does not, so the column itself takes its place. Where latents are means over many possible
    values, the means of their squares are known and take their place.
    """
    left = np.maximum(1.0 - latents.leverages, LEAST_LEFT)
    squares, drawn = latents.without_z(columns * columns / left), np.zeros(len(columns), dtype=bool)
    if latents.seconds is not None and any(latents.has_second):
        drawn = np.array(latents.has_second)
        squares[drawn] = latents.without_z(latents.seconds[drawn])
    varies = squares.var(axis=1) > SMALLEST_VARIANCE
    if latents.two_valued:
        varies &= ~np.array(latents.two_valued)
    found: FloatArray = np.where(varies[:, None], squares, columns)
    return found, varies & ~drawn


def summary(statistic: str, blocks: FloatArray, pvalues: FloatArray) -> Any:
    """The test statistic: nats for one block, -ln of the combined p-value for several."""
    return blocks[..., 0] if statistic == "gaussian" else -np.log(combined(statistic, pvalues))


def combined(statistic: str, pvalues: FloatArray) -> Any:
    """The blocks' p-values (..., 4) combined into one, shape (...)."""
    weights = STATISTICS[statistic]
    return simes(pvalues[..., weights > 0.0], weights[weights > 0.0])

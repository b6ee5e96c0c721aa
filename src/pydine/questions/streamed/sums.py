"""Sums over all rows of a table: cross-products of latents, by flows that were learned from a sample of the rows.

The second pass over a table of 10^8 rows is this module, so it does little for each row: functions of z that the
projection does not use are not evaluated, and normal scores are looked up among some of the sample's. The functions F
are projected out with the sample's coefficients B, and what these leave is put right in the end: with residuals R = C -
BF of columns C, and LL' = FF', the columns' part in the functions is L'B + inv(L) FR', of which the last is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.bases.closed_form import corrected_information, gaussian_information, rank_effect, without_rank_noise
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.projection import degrees_left, squares_taken
from pydine.latents.triangular import solve_lower
from pydine.nulls.moments import studentised
from pydine.nulls.pvalues import closed_form, wilks_pvalue
from pydine.types import FloatArray
from pydine.work.execution import in_order
from pydine.work.threads import one_thread

ROWS_AT_ONCE = 1 << 11  # memory: rows whose functions of z are in memory together


class Sums(NamedTuple):
    """Sums over all rows.

    Parameters
    ----------
    n : int
        Rows.
    cross_product : ndarray, shape (2d, 2d)
        Of the latents and of their squares, with functions of z projected out.
    fourth : ndarray, shape (2d, 2d)
        Summed products of their squares, each variable's whitened.
    third : ndarray, shape (2d, 2d)
        Summed products of what is whitened and of its squares.
    squared : ndarray of bool, shape (d,)
        Whether the entry for a latent's square holds that square, rather than the latent itself.
    dof : float
    variables : tuple of slice
        Which latents are which variable's.
    ranks : ndarray, shape (d,)
        What ranks of so many rows keep of the latents' correlations.
    """

    n: int
    cross_product: FloatArray
    fourth: FloatArray
    third: FloatArray
    squared: NDArray[np.bool_]
    dof: float
    variables: tuple[slice, ...]
    ranks: FloatArray

    @classmethod
    def of(
        cls,
        flow: RankFlow,
        latents: Latents,
        variables: Sequence[slice],
        batches: Iterable[FloatArray],
        n_jobs: int | None = None,
    ) -> Sums:
        """Go through all rows (m, d + dz), whose columns are in the order of the flow's.

        `latents` are those of the sample that the flow was fitted on. Sums of batches are added up in their order,
        however many threads there are.
        """
        maps = _Maps.of(flow, latents, variables)
        total: _Added | None = None
        with one_thread():
            for found in in_order(maps.added_up, batches, n_jobs):
                total = found if total is None else total.plus(found)
        if total is None:
            raise ValueError("there are no rows to add up")
        cross, dof = maps.cross_product(total), degrees_left(total.n, flow.projection.shares)
        ranks = 1.0 - (1.0 - latents.kept_by_ranks) * (latents.n_rows / total.n)
        return cls(total.n, cross, total.fourth, total.third, maps.is_square[:, 0], dof, tuple(variables), ranks)

    @property
    def d(self) -> int:
        """How many latents there are."""
        return len(self.cross_product) // 2

    def blocks(self, x: slice, y: slice) -> FloatArray:
        """The four block statistics of two variables in nats, in the order of `nulls.moments.SQUARES`, shape (4,)."""
        found = []
        both = bool(self.squared[x].all() and self.squared[y].all())
        for second in (y, self._squares(y)):
            for first in (x, self._squares(x)):
                skews = None
                if both and first != x and second != y:
                    moments = [self.third[side, side].mean(axis=1) / self.n for side in (second, first)]
                    skews = np.multiply.outer(*moments)
                fourth = self.fourth[first, second].mean()
                correlations = studentised(self._correlations(first, second), fourth, self.n, self.dof, skews)
                found.append(float(closed_form(correlations[None])[0]))
        return np.array(found)

    def pvalues(self, blocks: FloatArray, x: slice, y: slice) -> FloatArray:
        """P-values of block statistics, shape (4,)."""
        return wilks_pvalue(blocks, x.stop - x.start, y.stop - y.start, self.dof)

    def information(self, x: slice, y: slice) -> tuple[float, float]:
        """The corrected closed form of two variables, in nats, and its standard error."""
        chosen = [*range(x.start, x.stop), *range(y.start, y.stop)]
        dx = x.stop - x.start
        noisy = self.cross_product[np.ix_(chosen, chosen)] / self.dof
        covariance = without_rank_noise(noisy, self.ranks[chosen])
        ranks = rank_effect(covariance, dx, self.dof, self.n)
        value, error = corrected_information(covariance, dx, self.dof)
        gain = gaussian_information(covariance, dx) - gaussian_information(noisy, dx)
        spread = float(np.exp(2.0 * gain / min(dx, len(chosen) - dx)))
        return value - ranks.bias, error * ranks.inflation * spread

    def _squares(self, variable: slice) -> slice:
        return slice(variable.start + self.d, variable.stop + self.d)

    def _correlations(self, x: slice, y: slice) -> FloatArray:
        cross = self.cross_product / self.dof
        left = solve_lower(np.linalg.cholesky(cross[x, x]), cross[x, y])
        both: FloatArray = solve_lower(np.linalg.cholesky(cross[y, y]), left.T)
        return both


class _Added(NamedTuple):
    """Sums over some rows.

    Parameters
    ----------
    n : int
        Rows.
    left : ndarray, shape (2d, 2d)
        Cross-products of what the sample's coefficients leave of latents and squares.
    explained : ndarray, shape (r, 2d)
        Products of that with the functions of z.
    size : ndarray, shape (r, r)
        Cross-products of these.
    fourth, third : ndarray, shape (2d, 2d)
        As in `Sums`.
    """

    n: int
    left: FloatArray
    explained: FloatArray
    size: FloatArray
    fourth: FloatArray
    third: FloatArray

    def plus(self, other: _Added) -> _Added:
        """Sums over the rows of both."""
        sums = (getattr(self, name) + getattr(other, name) for name in self._fields)
        return _Added(*sums)


@dataclass(frozen=True)
class _Maps:
    """From rows to functions of z, latents and their squares, by what was learned from the sample.

    Outside the range of the sample, functions of z may take any value: z is clipped to its range there, and so are
    residual latents before they are squared. That concerns about one row in as many as the sample has.

    Parameters
    ----------
    flow : RankFlow
        With maps that are looked up faster.
    lowest, highest : ndarray, shape (dz, 1)
        The range of z.
    largest, scale : ndarray, shape (d, 1)
        The largest of each latent, in standard deviations, and these.
    whitening : ndarray, shape (2d, 2d)
    full, partial : ndarray, shape (r, 2d)
        Coefficients of the functions of z in latents and squares; and with only the shares of functions that count.
    is_square : ndarray of bool, shape (d, 1)
    """

    flow: RankFlow
    lowest: FloatArray
    highest: FloatArray
    largest: FloatArray
    scale: FloatArray
    whitening: FloatArray
    full: FloatArray
    partial: FloatArray
    is_square: NDArray[np.bool_]

    @classmethod
    def of(cls, flow: RankFlow, latents: Latents, variables: Sequence[slice]) -> _Maps:
        both, projection = latents.both, flow.projection
        d, scale = len(both), both.std(axis=1, keepdims=True)
        is_square = ~np.array(latents.two_valued or (False,) * d)[:, None]
        unit = both / scale
        columns = np.vstack([latents.unprojected, np.where(is_square, unit**2, unit)])
        products = np.zeros((len(projection.chosen), 2 * d))
        for rows, functions in projection.blocks(latents.z):
            products += functions.T @ columns[:, rows].T
        white = solve_lower(projection.factor, products)
        full, partial = (
            solve_lower(projection.factor, part, transposed=True)
            for part in (white, white * projection.shares[:, None])
        )
        left = projection.residuals(columns, projection.blocks(latents.z), partial)
        whitening: FloatArray = np.zeros((2 * d, 2 * d))
        for start in (0, d):
            for variable in variables:
                place = slice(variable.start + start, variable.stop + start)
                covariance = left[place] @ left[place].T / latents.dof
                whitening[place, place] = np.linalg.inv(np.linalg.cholesky(covariance))
        lowest, highest = latents.z.min(axis=1, keepdims=True), latents.z.max(axis=1, keepdims=True)
        largest = np.abs(unit).max(axis=1, keepdims=True)
        ready = flow.faster()
        return cls(ready, lowest, highest, largest, scale, whitening, full, partial, is_square)

    def added_up(self, rows: FloatArray) -> _Added:
        """Sums over some rows (m, d + dz)."""
        dx, dy, _ = self.flow.dimensions
        projection, d = self.flow.projection, len(self.scale)
        latents, z = self.flow.unprojected(rows[:, :dx], rows[:, dx : dx + dy], rows[:, dx + dy :])
        z = np.clip(z, self.lowest, self.highest)
        is_whole = bool((projection.shares == 1.0).all())
        left, fourth, third = np.zeros((3, 2 * d, 2 * d))
        explained, size = np.zeros(self.full.shape), np.zeros((len(self.full), len(self.full)))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            functions = projection.functions.some(np.ascontiguousarray(z[:, some]), projection.chosen)
            taken = self.full.T @ functions
            kept = taken if is_whole else self.partial.T @ functions
            unit = np.clip((latents[:, some] - kept[:d]) / self.scale, -self.largest, self.largest)
            squares = np.where(self.is_square, unit * unit, unit)
            white = self.whitening @ np.vstack([unit * self.scale, squares - kept[d:]])
            residuals = np.vstack([latents[:, some], squares]) - taken
            wide = white * white
            left += residuals @ residuals.T
            explained += functions @ residuals.T
            size += functions @ functions.T
            fourth += wide @ wide.T
            third += white @ wide.T
        return _Added(len(rows), left, explained, size, fourth, third)

    def cross_product(self, total: _Added) -> FloatArray:
        """Of latents and squares, with the functions of z projected out as far as they count, shape (2d, 2d)."""
        factor, kept = np.linalg.cholesky(total.size), 1.0 - squares_taken(self.flow.projection.shares)
        missed = solve_lower(factor, total.explained)
        white = factor.T @ self.full + missed
        cross = total.left - missed.T @ missed + (white.T * kept) @ white
        symmetric: FloatArray = 0.5 * (cross + cross.T)
        return symmetric

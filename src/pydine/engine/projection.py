"""Projection of what depends on z out of both sides at once.

A flow follows z imperfectly, and what it leaves or overfits differs between the two sides: both loosen the dependence
that is to be measured. A projection on the same functions of z on both sides costs only degrees of freedom, whichever
functions are taken. So z itself is always projected out; so are its cubes where rows are plenty, because what acts
linearly in the units of z bends when z is turned into scores; and where z acts non-linearly a rich set of functions is:
what either side's networks learned, polynomials, and random waves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpstrf

from pydine.engine.unit import quadratic

FloatArray = NDArray[np.float64]

WAVES, WAVE_FREQUENCY = 200, 1.5
MOST_UNITS, SKETCHES = 40, 200  # more units than that are sketched, by so many combinations of what they learned
CUBIC_SHARE = 0.05  # of the rows' degrees of freedom may always go into z and its cubes
LARGEST_SHARE = 1.0 / 3.0  # of the rows' degrees of freedom go into the functions of z
SMALLEST_REMAINDER = 1e-8  # a function is left out if the others explain all but this share of it
FARTHEST_SCORE = 10.0
ROWS_AT_ONCE = 1 << 14

Blocks = Iterable[tuple[slice, FloatArray]]  # rows, and the functions of z there, shape (rows, r)


class Learned(Protocol):
    """What has learned functions of z: a fitted unit, say."""

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate them: z (dz, n) to arrays (n, q_i)."""
        ...


@dataclass(frozen=True)
class Sketch:
    """Random combinations of what many units learned: few span nearly the same functions (Halko et al. 2011)."""

    units: tuple[Learned, ...]
    seed: int

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate the combinations: z (dz, n) to one array (n, SKETCHES)."""
        total: FloatArray = np.zeros((context.shape[1], SKETCHES))
        for i, unit in enumerate(self.units):
            parts = unit.features(context)
            if parts:
                every = np.hstack(parts)
                total += every @ np.random.default_rng([self.seed, i]).standard_normal((every.shape[1], SKETCHES))
        return [total]


@dataclass(frozen=True)
class FunctionsOfZ:
    """The functions that are projected out: an array z (dz, n) to one (n, q).

    Parameters
    ----------
    dz : int
    cubic : bool
        Whether the cubes of z are always among them.
    learned : tuple of FittedUnit (or a Sketch of many) or None
        Units that see z alone and whose networks' hidden units are used, with polynomials and random waves beside
        them: cosines along random directions, which span the more smooth functions of z the more there are. None
        where z acts linearly.
    directions, phases : ndarray, shapes (dz, WAVES) and (WAVES,)
    """

    dz: int
    cubic: bool
    learned: tuple[Learned, ...] | None
    directions: FloatArray
    phases: FloatArray

    @classmethod
    def choose(cls, dz: int, n: int, learned: tuple[Learned, ...] | None, seed: int) -> FunctionsOfZ:
        """Choose the functions for n rows."""
        if learned is not None and len(learned) > MOST_UNITS:
            learned = (Sketch(learned, seed),)
        rng = np.random.default_rng([seed, dz])
        directions = rng.standard_normal((dz, WAVES)) * (WAVE_FREQUENCY / np.sqrt(max(dz, 1)))
        return cls(dz, 1 + 2 * dz <= CUBIC_SHARE * n, learned, directions, rng.uniform(0.0, 2.0 * np.pi, WAVES))

    @property
    def n_always(self) -> int:
        """How many are used whatever they cost: a constant, z, and its cubes if `cubic`. They come first."""
        return 1 + (2 if self.cubic else 1) * self.dz

    def __call__(self, z: FloatArray) -> FloatArray:
        """Evaluate all of them; beyond any score that a sample can have they are constant, so they stay finite."""
        z = np.clip(z, -FARTHEST_SCORE, FARTHEST_SCORE)
        parts = [np.ones((z.shape[1], 1)), z.T]
        if self.cubic:
            parts.append(((z * z - 3.0) * z).T)
        if self.learned is not None:
            parts.append(quadratic(z)[self.dz :].T)
            parts += [part for unit in self.learned for part in unit.features(z)]
            # NumPy vectorises the cosine in float32 only; any smooth function serves, so its rounding does not matter.
            parts.append(np.cos((z.T @ self.directions + self.phases).astype(np.float32)))
        return np.hstack(parts)


@dataclass(frozen=True)
class Projection:
    """Residuals of latents after a regression on functions of z.

    Parameters
    ----------
    functions : FunctionsOfZ
    chosen : ndarray of int, shape (r,)
        Those that are linearly independent and used.
    factor : ndarray, shape (r, r)
        Cholesky factor of their cross-products.
    coefficients : ndarray, shape (r, d)
    cross_product : ndarray, shape (d, d)
        Of the residuals, summed over rows.
    dof : int
        Degrees of freedom that remain: rows less functions used.
    """

    functions: FunctionsOfZ
    chosen: NDArray[np.intp]
    factor: FloatArray
    coefficients: FloatArray
    cross_product: FloatArray
    dof: int

    @classmethod
    def fit(cls, latents: FloatArray, z: FloatArray, functions: FunctionsOfZ, least_dof: int = 0) -> Projection:
        """Project functions of z out of latents.

        Parameters
        ----------
        latents : ndarray, shape (d, n)
        z : ndarray, shape (dz, n)
        functions : FunctionsOfZ
            Those that are not always used are as far as a third of the degrees of freedom goes.
        least_dof : int
            Degrees of freedom that they must leave.
        """
        n = latents.shape[1]
        gram = _gram(latents, z, functions)
        q = len(gram) - len(latents)
        size, target = gram[:q, :q], gram[:q, q:]
        budget = max(0, min(int(LARGEST_SHARE * n), n - least_dof) - functions.n_always)
        chosen = _independent(size, functions.n_always, budget)
        factor: FloatArray = np.asarray(np.linalg.cholesky(size[np.ix_(chosen, chosen)]), dtype=np.float64)
        coefficients = cho_solve((factor, True), target[chosen])
        cross = gram[q:, q:] - target[chosen].T @ coefficients
        return cls(functions, chosen, factor, coefficients, 0.5 * (cross + cross.T), n - len(chosen))

    def __call__(self, latents: FloatArray, z: FloatArray) -> FloatArray:
        """Residuals of latents (d, n) given z (dz, n), shape (d, n)."""
        return self.residuals(latents, self.blocks(z))

    def of_columns(self, columns: list[int]) -> Projection:
        """The same functions, projected out of some of the latents."""
        cross = self.cross_product[np.ix_(columns, columns)]
        return replace(self, coefficients=self.coefficients[:, columns], cross_product=cross)

    def blocks(self, z: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Evaluate the functions that are used at rows of z (dz, n), some rows at a time."""
        for rows in _blocks(z.shape[1]):
            yield rows, self.functions(np.ascontiguousarray(z[:, rows]))[:, self.chosen]

    def residuals(self, columns: FloatArray, blocks: Blocks, coefficients: FloatArray | None = None) -> FloatArray:
        """Columns (d, n) less the functions times coefficients (r, d), by default those of the latents."""
        coefficients = self.coefficients if coefficients is None else coefficients
        residuals = columns.copy()
        for rows, functions in blocks:
            residuals[:, rows] -= (functions @ coefficients).T
        return residuals

    def leverages(self, blocks: Blocks) -> FloatArray:
        """What share of each row of the sample the functions take up: between 0 and 1, shape (n,)."""
        whites = (solve_triangular(self.factor, functions.T, lower=True) for _, functions in blocks)
        return np.concatenate([(white * white).sum(axis=0) for white in whites])

    def of_sample(self, columns: FloatArray, blocks: Blocks) -> FloatArray:
        """Project the same functions out of other columns (d, n) of the sample that the projection was fitted on."""
        products = sum(functions.T @ columns[:, rows].T for rows, functions in blocks)
        return self.residuals(columns, blocks, cho_solve((self.factor, True), products))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE))


def _gram(latents: FloatArray, z: FloatArray, functions: FunctionsOfZ) -> FloatArray:
    """Cross-products of the functions of z and the latents, summed block by block, shape (q + d, q + d)."""
    total: FloatArray | None = None
    for rows in _blocks(latents.shape[1]):
        block = np.hstack([functions(np.ascontiguousarray(z[:, rows])), latents[:, rows].T])
        square = block.T @ block
        total = square if total is None else total + square
    if total is None:
        raise ValueError("latents has no rows")
    return total


def _independent(size: FloatArray, n_first: int, budget: int) -> NDArray[np.intp]:
    """Choose linearly independent functions: all that are independent of the first ones, then at most `budget` others.

    Pivoted Cholesky takes at every step the function that the chosen ones explain least.
    """
    scale = np.sqrt(np.diag(size))
    normal = size / np.outer(scale, scale)
    first = _pivots(normal[:n_first, :n_first])
    if budget == 0 or len(size) == n_first:
        return first
    factor = np.linalg.cholesky(normal[np.ix_(first, first)])
    explained = np.linalg.solve(factor, normal[first][:, n_first:])
    rest = _pivots(normal[n_first:, n_first:] - explained.T @ explained)
    return np.concatenate([first, np.sort(n_first + rest[:budget])])


def _pivots(matrix: FloatArray) -> NDArray[np.intp]:
    _, pivots, rank, _ = dpstrf(matrix, tol=SMALLEST_REMAINDER)
    return np.asarray(pivots[:rank] - 1, dtype=np.intp)

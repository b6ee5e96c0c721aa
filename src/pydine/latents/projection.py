"""Projection of functions of z out of both sides' latents.

A flow follows z imperfectly. What it misses, and what it overfits, differs between the two sides, and both weaken the
dependence that is to be measured. Projecting the same functions of z out of both sides costs only degrees of freedom,
whichever functions they are. So z itself is always projected out. So are its cubes where there are many rows, because
what is linear in the units of z is curved in its scores. Where z acts non-linearly, so is a rich set of functions: what
either side's networks learned, polynomials, waves along each column, and bumps around rows of z.

None of them depends on the order of the rows, and what is random (`functions.Sketch`) has a fixed seed.

Functions of the rich set are taken in the order of their prior variance given those taken already. The prior gives each
of the four kinds the same total variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from scipy.special import ndtr, ndtri

from pydine.latents.functions import STEP_SHARE, FunctionsOfZ
from pydine.latents.triangular import solve_lower
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, must_fit
from pydine.units.evidence import counted

# answer: shares of the rows' degrees of freedom. Where z acts non-linearly, functions of z take up to FIRST_SHARE; and
# more, in steps and up to twice as many, as long as both sides still depend on the functions of the last step.
FIRST_SHARE = 1.0 / 3.0
# convention: level at which both sides have to depend on the first functions for z to act non-linearly
LEVEL = 0.05
# answer: in a softened projection, functions are shrunk in blocks: first those that are always used, then this many,
# twice as many, and so on.
FIRST_BLOCK = 8
# precision: most standard errors by which the functions left out may bias a correlation, under the prior.
NEGLIGIBLE_BIAS = 1e-3
SMALLEST_REMAINDER = 1e-8  # guard: a function is left out if the others explain all but this share of it
# memory: larger blocks are allocated anew each time, which takes longer than the arithmetic.
ROWS_AT_ONCE = 1 << 12

Blocks = Iterable[tuple[slice, FloatArray]]  # rows, and the functions of z there, shape (rows, r)


class Products(NamedTuple):
    """Cross-products, summed over rows; those of parts of the rows add up.

    Parameters
    ----------
    size : ndarray, shape (q, q)
        Cross-products of functions of z.
    target : ndarray, shape (q, d)
        Cross-products of functions and latents.
    total : ndarray, shape (d, d), or (d,)
        Cross-products of latents; or their sums of squares alone.
    """

    size: FloatArray
    target: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, latents: FloatArray, blocks: Blocks, crossed: bool = True) -> Products:
        """Cross-products of latents (d, n) and of functions at the same rows, block by block."""
        size: FloatArray = np.zeros((0, 0))
        target: FloatArray = np.zeros((0, 0))
        for rows, values in blocks:
            more, to_latents = values.T @ values, values.T @ latents[:, rows].T
            size, target = (more, to_latents) if size.size == 0 else (size + more, target + to_latents)
        return cls(size, target, latents @ latents.T if crossed else np.einsum("ij,ij->i", latents, latents))

    def plus(self, other: Products) -> Products:
        """Cross-products of the rows of both together."""
        return Products(self.size + other.size, self.target + other.target, self.total + other.total)


@dataclass(frozen=True)
class Projection:
    """Residuals of latents after a regression on functions of z, some of which are taken out in part.

    With Q the functions made orthonormal, one by one in their order, the residuals of a column a are
    a - Q diag(shares) Q'a.

    Parameters
    ----------
    functions : FunctionsOfZ
    chosen : ndarray of int, shape (r,)
        Positions of the functions that are used; they are linearly independent.
    shares : ndarray, shape (r,)
        How much of each is taken out, between 0 and 1.
    factor : ndarray, shape (r, r)
        Cholesky factor of their cross-products.
    coefficients : ndarray, shape (r, d)
    cross_product : ndarray, shape (d, d)
        Cross-product of the residuals, scaled so that its ratio to `dof` is the covariance.
    dof : float
        Degrees of freedom that remain (see `degrees_left`).
    """

    functions: FunctionsOfZ
    chosen: NDArray[np.intp]
    shares: FloatArray
    factor: FloatArray
    coefficients: FloatArray
    cross_product: FloatArray
    dof: float

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        r, d = self.coefficients.shape
        must_fit(self, self.chosen.shape == self.shares.shape == (r,) and self.factor.shape == (r, r))
        # Cross-products of very many latents are left out.
        must_fit(self, self.cross_product.shape in ((d, d), (0, 0)) and bool((self.chosen >= 0).all()))

    @classmethod
    def fit(
        cls,
        latents: FloatArray,
        z: FloatArray,
        functions: FunctionsOfZ,
        *,
        nonlinear: float = 1.0,
        least_dof: int = 0,
        dx: int = 0,
        values: FloatArray | None = None,
        crossed: bool = True,
        rows: Rows = INDEPENDENT,
    ) -> Projection:
        """Project functions of z out of latents.

        Parameters
        ----------
        latents : ndarray, shape (d, n)
        z : ndarray, shape (dz, n)
        functions : FunctionsOfZ
            Those that are not always used may take `FIRST_SHARE` of the degrees of freedom, and more as long as the
            latents depend on them.
        nonlinear : float
            Weight of rungs above the linear one in the units; if it is small, functions are used only as far as the
            latents clearly depend on the first of them.
        least_dof : int
            Degrees of freedom that the functions must leave.
        dx : int
            Latents of the first side; 0 or all of them if there are no sides.
        values : ndarray, shape (n, q), optional
            The functions at the rows, if they are evaluated already.
        crossed : bool
            Whether the cross-products of the residuals are wanted; of very many latents they would not fit.
        rows : Rows
            How rows depend on each other.
        """
        blocks = _all_blocks(z, functions) if values is None else [(slice(None), values)]
        products = Products.of(latents, blocks, crossed)
        effect = 1.0 if rows.exchangeable or not len(z) else max(float(rows.effects(latents, z).ratios.mean()), 1.0)
        return cls.of_products(products, functions, z, rows.left(latents.shape[1]), nonlinear, least_dof, dx, effect)

    @classmethod
    def of_products(
        cls,
        products: Products,
        functions: FunctionsOfZ,
        z: FloatArray,
        n: int,
        nonlinear: float = 1.0,
        least_dof: int = 0,
        dx: int = 0,
        effect: float = 1.0,
    ) -> Projection:
        """Fit the projection from cross-products of n rows; z (dz, any) are some of these rows.

        The variance of sums of products of z and latents is `effect` times that of independent rows.
        """
        size, target, total = products
        budget = max(0, min(int(2.0 * FIRST_SHARE * n / effect), n - least_dof) - functions.n_always)
        negligible = NEGLIGIBLE_BIAS / np.sqrt(n)
        chosen, factor, n_always = _independent(size, functions.n_always, functions.priors(z), budget, negligible)
        white = solve_lower(factor, target[chosen])  # what each function adds to those before it
        totals = total if total.ndim == 1 else np.diag(total)
        shares = _shares(white * white, totals, n, dx, n_always, nonlinear, effect)
        used = len(shares)
        chosen, factor, white = chosen[:used], np.ascontiguousarray(factor[:used, :used]), white[:used]
        coefficients = solve_lower(factor, white * shares[:, None], transposed=True)
        dof = degrees_left(n, shares)
        cross = _scaled(total, white, shares, n) if total.ndim == 2 else np.empty((0, 0))
        return cls(functions, chosen, shares, factor, coefficients, cross, dof)

    def __call__(self, latents: FloatArray, z: FloatArray) -> FloatArray:
        """Residuals of latents (d, n) given z (dz, n), shape (d, n)."""
        return self.residuals(latents, self.blocks(z))

    def of_columns(self, columns: list[int], signs: FloatArray | float = 1.0) -> Projection:
        """The same projection for some of the latents, with signs."""
        cross = self.cross_product[np.ix_(columns, columns)] * np.multiply.outer(signs, signs)
        return replace(self, coefficients=self.coefficients[:, columns] * signs, cross_product=cross)

    def with_more(self, white: FloatArray) -> Projection:
        """Take more out of the latents: coefficients (r, d) of the functions that were made orthonormal."""
        more = solve_lower(self.factor, white, transposed=True)
        return replace(self, coefficients=self.coefficients + more)

    def softened(self, n: int) -> Projection:
        """Take out of the latents of n rows only as much as they depend on z: shares found by shrinkage.

        Projecting out a function on which the latents do not depend mixes noise of other rows into each row. A
        covariance is not biased by it, since all sides lose alike and the degrees of freedom account for it; but a
        shape is blurred.
        """
        scaled = np.tril(self.factor).T @ self.coefficients
        white = np.divide(scaled, self.shares[:, None], out=np.zeros(scaled.shape), where=self.shares[:, None] > 1e-6)
        cross = self.cross_product * (_left(n, self.shares) / self.dof)
        total = cross + (white.T * squares_taken(self.shares)) @ white
        noise = np.maximum(np.diag(self.cross_product) / self.dof, SMALLEST_REMAINDER)
        shares = shrunk((white * white / noise).mean(axis=1), self.functions.n_always, len(noise))
        coefficients = solve_lower(self.factor, white * shares[:, None], transposed=True)
        cross = _scaled(total, white, shares, n)
        return replace(self, shares=shares, coefficients=coefficients, cross_product=cross, dof=degrees_left(n, shares))

    def blocks(self, z: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Evaluate the functions that are used at rows of z (dz, n), some rows at a time."""
        for rows, values in _all_blocks(z, self.functions):
            yield rows, values[:, self.chosen]

    def residuals(self, columns: FloatArray, blocks: Blocks, coefficients: FloatArray | None = None) -> FloatArray:
        """Columns (d, n) less the functions times coefficients (r, d), by default those of the latents."""
        coefficients = self.coefficients if coefficients is None else coefficients
        residuals = columns.copy()
        for rows, functions in blocks:
            residuals[:, rows] -= (functions @ coefficients).T
        return residuals

    def orthonormal(self, blocks: Blocks) -> Iterator[FloatArray]:
        """The functions at the sample's rows, made orthonormal one by one in their order, (r, rows) for each block."""
        return (solve_lower(self.factor, functions.T) for _, functions in blocks)

    def leverages(self, blocks: Blocks) -> FloatArray:
        """Leverage of each row of the sample, the share of its noise's variance that is removed: 0 to 1, shape (n,)."""
        return np.concatenate([squares_taken(self.shares) @ (white * white) for white in self.orthonormal(blocks)])

    def of_sample(self, columns: FloatArray, blocks: Blocks) -> FloatArray:
        """Project the same functions out of other columns (d, n) of the sample that the projection was fitted on."""
        products: FloatArray = np.sum([functions.T @ columns[:, rows].T for rows, functions in blocks], axis=0)
        white = solve_lower(self.factor, products) * self.shares[:, None]
        return self.residuals(columns, blocks, solve_lower(self.factor, white, transposed=True))


def _all_blocks(z: FloatArray, functions: FunctionsOfZ) -> Iterator[tuple[slice, FloatArray]]:
    """All functions at rows of z (dz, n), some rows at a time."""
    for start in range(0, z.shape[1], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        yield rows, functions(np.ascontiguousarray(z[:, rows]))


def _independent(
    size: FloatArray, n_always: int, priors: list[FloatArray], budget: int, negligible: float
) -> tuple[NDArray[np.intp], FloatArray, int]:
    """Choose independent functions by their cross-products (q, q): of the first `n_always`, then of the others.

    At most `budget` of the others are chosen. Returns the functions in the order of choice, the Cholesky factor (r, r)
    of their cross-products, and how many of them are among the first.

    At every step, pivoted Cholesky takes the function with the largest prior variance that the chosen ones leave
    unexplained. It ends when all that is left unexplained is a negligible share of the total.
    """
    scale = np.sqrt(np.diag(size))
    scale[scale == 0.0] = 1.0  # of a function that is 0 everywhere, which a network may learn: none of it is chosen
    always, factor, _ = _pivoted(size[:n_always, :n_always], 1.0 / scale[:n_always])
    if budget == 0 or len(size) == n_always:
        return always, factor, len(always)
    explained = solve_lower(factor, size[always, n_always:])
    rest, scale = explained.T @ explained, scale[n_always:]
    np.subtract(size[n_always:, n_always:], rest, out=rest)
    weights = np.sqrt(_balanced(priors, np.diag(rest) / scale**2))
    pivots, rest_factor, left = _pivoted(rest, weights / scale)
    enough = min(budget, int(np.count_nonzero(left > negligible)) + 1, len(pivots))
    r = len(always)
    whole: FloatArray = np.zeros((r + enough, r + enough))
    whole[:r, :r] = factor
    whole[r:, :r] = explained[:, pivots[:enough]].T
    whole[r:, r:] = rest_factor[:enough, :enough]
    return np.concatenate([always, n_always + pivots[:enough]]), whole, r


def shrunk(energies: FloatArray, n_always: int, d: int) -> FloatArray:
    """The share of each function that is more than noise, between 0 and 1, shape (r,).

    Functions are taken in blocks, small ones first, and all functions of a block have the same share, James and Stein's
    (1961): 0 where the block explains no more than noise would, close to 1 where it explains much more.

    Parameters
    ----------
    energies : ndarray, shape (r,)
        Sum of squares that each function explains, in units of the noise's variance, averaged over columns.
    n_always : int
        Functions of the first block, those that are always used.
    d : int
        Columns.
    """
    shares, start, size = np.zeros(len(energies)), 0, n_always
    while start < len(energies):
        block = energies[start : start + size]
        chance = max(1.0 - 2.0 / (block.size * d), 0.0)
        shares[start : start + size] = max(0.0, 1.0 - chance / max(float(block.mean()), SMALLEST_REMAINDER))
        start, size = start + size, FIRST_BLOCK if start == 0 else 2 * size
    return shares


def degrees_left(n: int, shares: FloatArray) -> float:
    """Degrees of freedom of n rows after these shares of orthonormal functions are taken out.

    Where a function is taken out in part, sums of products of residuals are weighted sums of independent products. A
    correlation has the variance 1 / f, and the small-sample bias that goes with it, where f is Satterthwaite's (1946):
    the square of the sum of the weights over the sum of their squares. If all shares are 0 or 1, f is n less the number
    of functions taken out.
    """
    kept = 1.0 - squares_taken(shares)
    return _left(n, shares) ** 2 / (n - len(shares) + float((kept * kept).sum()))


def squares_taken(shares: FloatArray) -> FloatArray:
    """Share of a function's sum of squares that is removed with a share of the function: 1 - (1 - share)^2."""
    return shares * (2.0 - shares)


def _left(n: int, shares: FloatArray) -> float:
    """Expected residual sum of squares of n rows of noise of unit variance."""
    return n - float(squares_taken(shares).sum())


def _scaled(total: FloatArray, white: FloatArray, shares: FloatArray, n: int) -> FloatArray:
    """Cross-products of residuals (d, d), scaled to their degrees of freedom, from those of the latents' n rows."""
    cross = (total - (white.T * squares_taken(shares)) @ white) * (degrees_left(n, shares) / _left(n, shares))
    symmetric: FloatArray = 0.5 * (cross + cross.T)
    return symmetric


def _shares(
    energies: FloatArray,
    totals: FloatArray,
    n: int,
    dx: int,
    n_always: int,
    nonlinear: float,
    effect: float = 1.0,
) -> FloatArray:
    """The share of each function to take out, up to the last one whose share is not 0, shape (used,).

    What is left of z does harm only where both sides depend on it. So the shares of steps beyond the first fade to 0
    where, on either side, the functions of the last step explain no more of the latents than as many functions of noise
    would.

    Parameters
    ----------
    energies : ndarray, shape (r, d)
        Sum of squares of each latent that each function explains beyond those before it.
    totals : ndarray, shape (d,)
        Sums of squares of the latents.
    n : int
        Rows.
    dx : int
    n_always : int
    nonlinear : float
        Weight of rungs above the linear one.
    effect : float
        By which noise explains more where rows depend on each other: they are as many as n / effect independent ones.
    """
    r, d = energies.shape
    step = max(1, int(STEP_SHARE * n / effect))
    noise = np.maximum((totals - energies.sum(axis=0)) / max(n - r, 1), SMALLEST_REMAINDER)
    sides = [slice(0, dx), slice(dx, d)] if 0 < dx < d else [slice(0, d)]

    def followed(start: int, stop: int) -> float:
        """Standard errors by which these functions explain more than noise would, on the side they explain less."""
        excess = energies[start:stop].sum(axis=0) / (noise * effect) - (stop - start)
        return min(float(excess[side].sum() / np.sqrt(2.0 * (stop - start) * excess[side].size)) for side in sides)

    shares = np.ones(n_always)
    if r == n_always:
        return shares
    clearly = float(ndtr(followed(n_always, min(r, n_always + step)) + ndtri(LEVEL)))
    doubt = (1.0 - counted(nonlinear)) * (1.0 - counted(clearly))
    share, start, stop = 1.0 - doubt, n_always, min(r, max(n_always, int(FIRST_SHARE * n / effect)))
    while share > 0.0 and start < stop:
        shares = np.append(shares, np.full(stop - start, share))
        share *= counted(float(ndtr(followed(max(n_always, stop - step), stop))))
        start, stop = stop, min(r, stop + step)
    return shares


def _balanced(priors: list[FloatArray], variances: FloatArray) -> FloatArray:
    """Prior variances of coefficients, scaled so that each kind of functions has a total variance of 1, shape (q,)."""
    balanced, start = [], 0
    for prior in priors:
        total = float(prior @ variances[start : start + len(prior)])
        balanced.append(prior / total if total > SMALLEST_REMAINDER else np.zeros(len(prior)))
        start += len(prior)
    return np.concatenate(balanced)


def _pivoted(matrix: FloatArray, weights: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Pivoted Cholesky in the order of weighted variance.

    Parameters
    ----------
    matrix : ndarray, shape (q, q)
        Symmetric.
    weights : ndarray, shape (q,)
        Of the columns; those of weight 0 are left out.

    Returns
    -------
    pivots : ndarray of int, shape (r,)
        Independent columns in the order of choice.
    factor : ndarray, shape (r, r)
        The Cholesky factor of their part of the matrix; entries above the diagonal are not cleared.
    left : ndarray, shape (r,)
        Share of the weighted trace that each column and those before it leave unexplained.
    """
    weighted = matrix.T * weights  # column by column, as LAPACK works on it in place
    weighted *= weights[:, None]
    variances = np.diag(weighted).copy()
    upper, order, rank, _ = dpstrf(weighted, tol=SMALLEST_REMAINDER * float(variances.max()), overwrite_a=True)
    pivots = np.asarray(order[:rank] - 1, dtype=np.intp)
    squares = np.triu(upper[:rank])
    squares *= squares
    found = np.cumsum(squares.sum(axis=1))
    factor: FloatArray = upper[:rank, :rank].T / weights[pivots, None]
    return pivots, factor, 1.0 - found / variances.sum()

"""Projection of what depends on z out of both sides at once.

A flow follows z imperfectly. What it misses, and what it overfits, differs between the two sides, and both weaken the
dependence that is to be measured. Projecting the same functions of z out of both sides costs nothing but degrees of
freedom, whichever functions they are. So z itself is always projected out. So are its cubes where rows are plenty,
because what is linear in the units of z is bent in its scores. Where z acts non-linearly, so is a rich set of
functions: what either side's networks learned, polynomials, waves along each column, and bumps around rows of z.

None of them is drawn at random or depends on the order of the rows.

Of the rich set, those come first that a prior expects to matter most, given those taken already. The prior gives each
of the four kinds the same total variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from pydine.kernels.mixing import smooth_step
from pydine.types import FloatArray
from pydine.units.rows import SEED, outwards, some_of
from pydine.units.rungs.quadratic import quadratic

# answer: bumps around rows of z that there are; the shares of degrees of freedom below say how many of them are used.
BUMPS_PER_COLUMN, MOST_BUMPS = 80, 400
# answer: in scores, times the square root of the number of columns, as the distance between rows grows.
BUMP_WIDTH = 2.0 / 3.0
# answer: cosines along each column, of which the slowest goes from 1 to -1 over +-4, the scores of 10,000 rows.
COLUMN_WAVES, HALF_PERIOD = 8, 4.0
COLUMN_SMOOTHNESS = 0.7  # answer: lengthscale of the prior for functions of one column, in scores
# answer: more units than that are sketched, by so many combinations of what they learned: for the time.
MOST_UNITS, SKETCHES = 40, 200
# answer: share of the rows' degrees of freedom that may always go into z and its cubes.
CUBIC_SHARE = 0.05
# answer: shares of the rows' degrees of freedom. The first may go into functions of z where z acts non-linearly; more,
# in steps and up to the largest, as long as both sides still follow the functions of the last step.
FIRST_SHARE, STEP_SHARE, LARGEST_SHARE = 1.0 / 3.0, 0.1, 0.6
# answer: z acts non-linearly if rungs above the linear one have weight, averaged over units: not at all up to the first
# number, beyond doubt from the second on, and in part between them. A threshold would let one row decide.
NONLINEAR_WEIGHT = 0.03, 0.17
# answer: z also acts non-linearly if both sides follow the first step's functions by so many standard errors, around
# 1.645, the level 0.05. A step beyond the first share is taken if both sides follow the functions of the last one at
# all, by as many standard errors as the second pair says.
CLEARLY, STILL = (0.645, 2.645), (-1.0, 1.0)
# answer: functions of a softened projection that are shrunk together; twice as many each time.
FIRST_BLOCK = 8
# answer: standard errors that the functions left out may move a correlation by, under the prior.
NEGLIGIBLE_BIAS = 1e-3
SMALLEST_REMAINDER = 1e-8  # guard: a function is left out if the others explain all but this share of it
FARTHEST_SCORE = 10.0  # guard: rows farther out are taken to be here; no sample reaches it
# memory: larger blocks are new memory each time, and asking for it takes longer than the arithmetic.
ROWS_AT_ONCE = 1 << 12

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

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate the combinations: z (dz, n) to one array (n, SKETCHES)."""
        total: FloatArray = np.zeros((context.shape[1], SKETCHES))
        for i, unit in enumerate(self.units):
            parts = unit.features(context)
            if parts:
                every = np.hstack(parts)
                total += every @ np.random.default_rng([SEED, i]).standard_normal((every.shape[1], SKETCHES))
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
        Units that see z alone and whose networks' hidden units are used, with polynomials, waves along each column
        and bumps beside them: Gaussian kernels around rows of z, which span the more smooth functions of z the more
        there are (Nyström's method). None for none of these.
    centres : ndarray, shape (dz, bumps)
    """

    dz: int
    cubic: bool
    learned: tuple[Learned, ...] | None
    centres: FloatArray

    @classmethod
    def choose(cls, z: FloatArray, learned: tuple[Learned, ...] | None) -> FunctionsOfZ:
        """Choose the functions for rows z (dz, n). Bumps stand around rows from the middle of z to its outskirts."""
        if learned is not None and len(learned) > MOST_UNITS:
            learned = (Sketch(learned),)
        dz, n = z.shape
        centres = z[:, some_of(outwards(z), min(BUMPS_PER_COLUMN * dz, MOST_BUMPS))]
        return cls(dz, 1 + 2 * dz <= CUBIC_SHARE * n, learned, centres)

    @property
    def n_always(self) -> int:
        """How many are used whatever they cost: a constant, z, and its cubes if `cubic`. They come first."""
        return 1 + (2 if self.cubic else 1) * self.dz

    def __call__(self, z: FloatArray) -> FloatArray:
        """Evaluate all of them: those that are always used, then kind by kind."""
        return np.hstack([part for kind in self._kinds(z).values() for part in kind])

    def priors(self, z: FloatArray) -> list[FloatArray]:
        """Prior variances of those that are not always used, within each kind: they are in the same order, (q_i,).

        They are equal, but for the waves along columns, which fade as those of a smooth function do.
        """
        counts = {name: sum(part.shape[1] for part in kind) for name, kind in self._kinds(z[:, :1]).items()}
        frequencies = 0.5 * np.pi / HALF_PERIOD * np.arange(1, COLUMN_WAVES + 1)
        fading = np.tile(np.exp(-((COLUMN_SMOOTHNESS * frequencies) ** 2)), self.dz)
        return [fading if name == "column waves" else np.ones(n) for name, n in counts.items() if name != "always"]

    def _kinds(self, z: FloatArray) -> dict[str, list[FloatArray]]:
        """Arrays (n, q_i) by kind; beyond any score that a sample can have they are constant, so they stay finite."""
        z = np.clip(z, -FARTHEST_SCORE, FARTHEST_SCORE)
        always = [np.ones((z.shape[1], 1)), z.T]
        if self.cubic:
            always.append(((z * z - 3.0) * z).T)
        if self.learned is None:
            return {"always": always}
        return {
            "always": always,
            "polynomials": [quadratic(z)[self.dz :].T],
            "learned": [part for unit in self.learned for part in unit.features(z)],
            "column waves": [_column_waves(z)],
            "bumps": [_bumps(z, self.centres)],
        }


@dataclass(frozen=True)
class Projection:
    """Residuals of latents after a regression on functions of z, of which some count in part.

    With Q the functions made orthonormal, one by one in their order, the residuals of a column a are
    a - Q diag(shares) Q'a.

    Parameters
    ----------
    functions : FunctionsOfZ
    chosen : ndarray of int, shape (r,)
        Those that are linearly independent and used.
    shares : ndarray, shape (r,)
        How much of each is taken out, between 0 and 1.
    factor : ndarray, shape (r, r)
        Cholesky factor of their cross-products.
    coefficients : ndarray, shape (r, d)
    cross_product : ndarray, shape (d, d)
        Of the residuals, summed over rows.
    dof : float
        Degrees of freedom that remain: rows less functions used, each as far as it is.
    """

    functions: FunctionsOfZ
    chosen: NDArray[np.intp]
    shares: FloatArray
    factor: FloatArray
    coefficients: FloatArray
    cross_product: FloatArray
    dof: float

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
    ) -> Projection:
        """Project functions of z out of latents.

        Parameters
        ----------
        latents : ndarray, shape (d, n)
        z : ndarray, shape (dz, n)
        functions : FunctionsOfZ
            Those that are not always used are as far as `FIRST_SHARE` of the degrees of freedom goes, and beyond while
            the latents follow them.
        nonlinear : float
            What rungs above the linear one count in the units; where it is little, the latents have to follow the first
            functions clearly.
        least_dof : int
            Degrees of freedom that they must leave.
        dx : int
            Latents of the first side; 0 or all of them if there are no sides.
        values : ndarray, shape (n, q), optional
            The functions at the rows, if they are evaluated already.
        """
        n = latents.shape[1]
        blocks = _all_blocks(z, functions) if values is None else [(slice(None), values)]
        size, target, total = _cross_products(latents, blocks)
        budget = max(0, min(int(LARGEST_SHARE * n), n - least_dof) - functions.n_always)
        negligible = NEGLIGIBLE_BIAS / np.sqrt(n)
        chosen, factor, n_always = _independent(size, functions.n_always, functions.priors(z), budget, negligible)
        white = solve_triangular(factor, target[chosen], lower=True)  # what each function adds to those before it
        shares = _shares(white * white, np.diag(total), n, dx, n_always, nonlinear)
        used = len(shares)
        chosen, factor, white = chosen[:used], factor[:used, :used], white[:used]
        taken = _taken(shares)
        cross = total - (white.T * taken) @ white
        coefficients = solve_triangular(factor, white * shares[:, None], lower=True, trans=1)
        return cls(functions, chosen, shares, factor, coefficients, 0.5 * (cross + cross.T), n - float(taken.sum()))

    def __call__(self, latents: FloatArray, z: FloatArray) -> FloatArray:
        """Residuals of latents (d, n) given z (dz, n), shape (d, n)."""
        return self.residuals(latents, self.blocks(z))

    def of_columns(self, columns: list[int], signs: FloatArray | float = 1.0) -> Projection:
        """The same functions, projected out of some of the latents, perhaps negated."""
        cross = self.cross_product[np.ix_(columns, columns)] * np.multiply.outer(signs, signs)
        return replace(self, coefficients=self.coefficients[:, columns] * signs, cross_product=cross)

    def softened(self, n: int) -> Projection:
        """Take out of the latents of n rows no more than they follow z: the shares that shrinkage finds.

        A function that latents do not follow takes out noise, 1/n of each row's own and the rest of other rows'. A
        covariance does not mind, since all sides lose the same and degrees of freedom count it; a shape is blurred.
        Functions are taken in blocks, those that come first in small ones, and of each block James and Stein's (1961)
        share is taken out: 0 where it holds no more than noise would, close to 1 where it holds much more.
        """
        scaled = np.tril(self.factor).T @ self.coefficients
        white = np.divide(scaled, self.shares[:, None], out=np.zeros(scaled.shape), where=self.shares[:, None] > 1e-6)
        total = self.cross_product + (white.T * _taken(self.shares)) @ white
        noise = np.maximum(np.diag(self.cross_product) / self.dof, SMALLEST_REMAINDER)
        energies = (white * white / noise).mean(axis=1)
        shares, start, size = np.zeros(len(white)), 0, self.functions.n_always
        while start < len(white):
            block = energies[start : start + size]
            chance = max(1.0 - 2.0 / (block.size * len(noise)), 0.0)
            shares[start : start + size] = max(0.0, 1.0 - chance / max(float(block.mean()), SMALLEST_REMAINDER))
            start, size = start + size, FIRST_BLOCK if start == 0 else 2 * size
        taken = _taken(shares)
        cross = total - (white.T * taken) @ white
        coefficients = solve_triangular(self.factor, white * shares[:, None], lower=True, trans=1)
        dof = n - float(taken.sum())
        return replace(self, shares=shares, coefficients=coefficients, cross_product=0.5 * (cross + cross.T), dof=dof)

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

    def leverages(self, blocks: Blocks) -> FloatArray:
        """What share of each row of the sample the functions take up: between 0 and 1, shape (n,)."""
        whites = (solve_triangular(self.factor, functions.T, lower=True) for _, functions in blocks)
        return np.concatenate([_taken(self.shares) @ (white * white) for white in whites])

    def of_sample(self, columns: FloatArray, blocks: Blocks) -> FloatArray:
        """Project the same functions out of other columns (d, n) of the sample that the projection was fitted on."""
        products: FloatArray = np.sum([functions.T @ columns[:, rows].T for rows, functions in blocks], axis=0)
        white = solve_triangular(self.factor, products, lower=True) * self.shares[:, None]
        return self.residuals(columns, blocks, solve_triangular(self.factor, white, lower=True, trans=1))


def _all_blocks(z: FloatArray, functions: FunctionsOfZ) -> Iterator[tuple[slice, FloatArray]]:
    """All functions at rows of z (dz, n), some rows at a time."""
    for start in range(0, z.shape[1], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        yield rows, functions(np.ascontiguousarray(z[:, rows]))


def _cross_products(latents: FloatArray, blocks: Blocks) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cross-products of functions (q, q), of functions and latents (q, d), and of latents (d, d), summed over rows."""
    size: FloatArray = np.zeros((0, 0))
    target: FloatArray = np.zeros((0, 0))
    for rows, values in blocks:
        more, to_latents = values.T @ values, values.T @ latents[:, rows].T
        size, target = (more, to_latents) if size.size == 0 else (size + more, target + to_latents)
    return size, target, latents @ latents.T


def _independent(
    size: FloatArray, n_always: int, priors: list[FloatArray], budget: int, negligible: float
) -> tuple[NDArray[np.intp], FloatArray, int]:
    """Choose functions by their cross-products (q, q): the independent ones of the first, then at most `budget` others.

    They are returned in the order of choice, with the Cholesky factor (r, r) of their cross-products, and how many are
    of the first.

    Pivoted Cholesky takes at every step the function that the chosen ones explain least, counted in prior variance, and
    ends where all that is left together is a negligible share of it.
    """
    scale = np.sqrt(np.diag(size))
    scale[scale == 0.0] = 1.0  # of a function that is 0 everywhere, which a network may learn: none of it is chosen
    always, factor, _ = _pivoted(size[:n_always, :n_always], 1.0 / scale[:n_always])
    if budget == 0 or len(size) == n_always:
        return always, factor, len(always)
    explained = solve_triangular(factor, size[always, n_always:], lower=True)
    rest, scale = size[n_always:, n_always:] - explained.T @ explained, scale[n_always:]
    weights = np.sqrt(_balanced(priors, np.diag(rest) / scale**2))
    pivots, rest_factor, left = _pivoted(rest, weights / scale)
    enough = min(budget, int(np.count_nonzero(left > negligible)) + 1, len(pivots))
    r = len(always)
    whole: FloatArray = np.zeros((r + enough, r + enough))
    whole[:r, :r] = factor
    whole[r:, :r] = explained[:, pivots[:enough]].T
    whole[r:, r:] = rest_factor[:enough, :enough]
    return np.concatenate([always, n_always + pivots[:enough]]), whole, r


def _taken(shares: FloatArray) -> FloatArray:
    """How much of a function's sum of squares goes when a share of the function is taken out: 1 - (1 - share)^2."""
    return shares * (2.0 - shares)


def _shares(energies: FloatArray, totals: FloatArray, n: int, dx: int, n_always: int, nonlinear: float) -> FloatArray:
    """The share of each function to take out, up to the last one whose share is not 0, shape (used,).

    What is left of z does harm only where both sides follow it. So the steps beyond the first share fade where, on
    either side, the functions of the last step explain no more of the latents than as many functions of noise would.

    Parameters
    ----------
    energies : ndarray, shape (r, d)
        What each function, in turn, takes off the sum of squares of each latent.
    totals : ndarray, shape (d,)
        Those sums of squares.
    n : int
        Rows.
    dx : int
    n_always : int
    nonlinear : float
        What rungs above the linear one count.
    """
    r, d = energies.shape
    step = max(1, int(STEP_SHARE * n))
    noise = np.maximum((totals - energies.sum(axis=0)) / max(n - r, 1), SMALLEST_REMAINDER)
    sides = [slice(0, dx), slice(dx, d)] if 0 < dx < d else [slice(0, d)]

    def followed(start: int, stop: int) -> float:
        """Standard errors by which these functions explain more than noise, on the side that follows them less."""
        excess = energies[start:stop].sum(axis=0) / noise - (stop - start)
        return min(float(excess[side].sum() / np.sqrt(2.0 * (stop - start) * excess[side].size)) for side in sides)

    shares = np.ones(n_always)
    if r == n_always:
        return shares
    doubt = (1.0 - smooth_step(nonlinear, *NONLINEAR_WEIGHT)) * (
        1.0 - smooth_step(followed(n_always, min(r, n_always + step)), *CLEARLY)
    )
    share, start, stop = 1.0 - doubt, n_always, min(r, max(n_always, int(FIRST_SHARE * n)))
    while share > 0.0 and start < stop:
        shares = np.append(shares, np.full(stop - start, share))
        share *= smooth_step(followed(max(n_always, stop - step), stop), *STILL)
        start, stop = stop, min(r, stop + step)
    return shares


def _balanced(priors: list[FloatArray], variances: FloatArray) -> FloatArray:
    """Prior variances of coefficients, scaled so that the functions of each kind vary by 1 together, shape (q,)."""
    balanced, start = [], 0
    for prior in priors:
        total = float(prior @ variances[start : start + len(prior)])
        balanced.append(prior / total if total > SMALLEST_REMAINDER else np.zeros(len(prior)))
        start += len(prior)
    return np.concatenate(balanced)


def _bumps(z: FloatArray, centres: FloatArray) -> FloatArray:
    """Gaussian kernels around centres (dz, q), (dz, n) to (n, q).

    NumPy is fast in float32; any smooth function serves, so the rounding of the exponential does not matter.
    """
    squares = (z * z).sum(axis=0)[:, None] + (centres * centres).sum(axis=0) - 2.0 * (z.T @ centres)
    bumps: FloatArray = np.exp((squares * (-0.5 / (BUMP_WIDTH**2 * len(z)))).astype(np.float32))
    return bumps


def _column_waves(z: FloatArray) -> FloatArray:
    """Cosines of each column by itself, (dz, n) to (n, dz COLUMN_WAVES)."""
    angles = (np.clip(z, -HALF_PERIOD, HALF_PERIOD) + HALF_PERIOD) * (0.5 * np.pi / HALF_PERIOD)
    waves = np.cos(angles.T.astype(np.float32)[:, :, None] * np.arange(1, COLUMN_WAVES + 1, dtype=np.float32))
    return waves.reshape(z.shape[1], -1)


def _pivoted(matrix: FloatArray, weights: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Pivoted Cholesky in the order of weighted variance.

    Parameters
    ----------
    matrix : ndarray, shape (q, q)
    weights : ndarray, shape (q,)
        Of the columns; those of weight 0 are left out.

    Returns
    -------
    pivots : ndarray of int, shape (r,)
        Independent columns in the order of choice.
    factor : ndarray, shape (r, r)
        The Cholesky factor of what they have in the matrix; above the diagonal it is not cleared.
    left : ndarray, shape (r,)
        What share of the weighted trace each column and those before it leave.
    """
    weighted = matrix * weights
    weighted *= weights[:, None]
    variances = np.diag(weighted).copy()
    upper, order, rank, _ = dpstrf(weighted, tol=SMALLEST_REMAINDER * float(variances.max()), overwrite_a=True)
    pivots = np.asarray(order[:rank] - 1, dtype=np.intp)
    found = np.cumsum((np.triu(upper[:rank]) ** 2).sum(axis=1))
    factor: FloatArray = upper[:rank, :rank].T / weights[pivots, None]
    return pivots, factor, 1.0 - found / variances.sum()

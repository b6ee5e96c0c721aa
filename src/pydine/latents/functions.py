"""Functions of z that are projected out of both sides: z and its cubes, polynomials, waves, bumps, and learned ones.

None of them depends on the order of the rows, or on the order and the signs of z's columns, and what is random
(`Sketch`) has a fixed seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from pydine.types import FloatArray, must_fit
from pydine.units.rows import SEED, Arrangement, outwards, some_of
from pydine.units.rungs.linear import additive

# precision: number of bumps around rows of z; the shares of degrees of freedom in `projection` limit how many are used.
BUMPS_PER_COLUMN, MOST_BUMPS = 80, 400
# answer: in scores, of functions of one column; bumps are wider by the square root of the number of columns, as the
# distance between rows is.
LENGTHSCALE = 2.0 / 3.0
# precision: cosines along each column, of which the slowest goes from 1 to -1 over +-4, the scores of 10,000 rows.
COLUMN_WAVES, HALF_PERIOD = 8, 4.0
# precision: with more than MOST_UNITS units, SKETCHES random combinations of what they learned are used, to save time.
MOST_UNITS, SKETCHES = 40, 200
# answer: most functions of a kind, beside the number of rows; a kind with more is left out. Of more functions than rows
# can tell apart, the order of choice alone would say which are used. The number saves time: all pairs of 60 columns.
MOST_FUNCTIONS = 1800
# answer: a small share of the rows' degrees of freedom: functions of z beyond the first share of them are taken in such
# steps (`projection`), and the cubes of z are always used if they and z take no more than half of one.
STEP_SHARE = 0.1
# answer: probability of any column whose waves are always used where nothing bends: few, since each costs eight degrees
# of freedom, and functions that bend less than this explain little.
BENT_BY_CHANCE = 0.01
SMALLEST_BEND = 1e-10  # guard: least mean square of a direction that columns span; rounding of float32 leaves less
FARTHEST_SCORE = 10.0  # guard: scores are clipped to it; no sample reaches it


class HasFeatures(Protocol):
    """Anything that has learned functions of z, such as a fitted unit."""

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate them: z (dz, n) to arrays (n, q_i)."""
        ...

    @property
    def n_features(self) -> int:
        """Number of these functions."""
        ...


@dataclass(frozen=True)
class Sketch:
    """Random combinations of what many units learned: few of them span nearly the same space (Halko et al. 2011)."""

    units: tuple[HasFeatures, ...]

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate the combinations: z (dz, n) to one array (n, SKETCHES)."""
        total: FloatArray = np.zeros((context.shape[1], SKETCHES))
        for i, unit in enumerate(self.units):
            parts = unit.features(context)
            if parts:
                every = np.hstack(parts)
                total += every @ np.random.default_rng([SEED, i]).standard_normal((every.shape[1], SKETCHES))
        return [total]

    @property
    def n_features(self) -> int:
        """Number of combinations."""
        return SKETCHES


@dataclass(frozen=True)
class FunctionsOfZ:
    """The functions that are projected out: an array z (dz, n) to one (n, q).

    Parameters
    ----------
    dz : int
    cubic : bool
        Whether the cubes of z are always among them.
    learned : tuple of FittedUnit (or a Sketch of many) or None
        Units that see z alone and whose networks' hidden units are used, together with polynomials, waves along each
        column, and bumps: Gaussian kernels around rows of z, which span more of the smooth functions of z the more
        there are (Nyström's method). If None, there are none of these.
    centres : ndarray, shape (dz, bumps)
        Of columns as they are seen.
    seen : Arrangement
        The order and signs in which all functions but the learned ones see the columns of z.
    most : int
        Polynomials, products of two columns and waves are left out, each kind by itself, if there are more of them.
    bent : tuple of int
        Columns, as they are seen, whose waves are always used: where those of all columns are left out, of the columns
        along which either side clearly bends.
    """

    dz: int
    cubic: bool
    learned: tuple[HasFeatures, ...] | None
    centres: FloatArray
    seen: Arrangement
    most: int = MOST_FUNCTIONS
    bent: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, all(0 <= i < self.dz for i in self.bent))
        must_fit(self, self.centres.ndim == 2 and self.dz == len(self.centres) == len(self.seen.order))

    @classmethod
    def choose(
        cls, z: FloatArray, learned: tuple[HasFeatures, ...] | None, sides: FloatArray | None = None
    ) -> FunctionsOfZ:
        """Choose the functions for rows z (dz, n). Bumps are centred at rows at all distances from the origin.

        The normal scores (d, n) of both sides help to tell the rows apart, for the order and signs of z's columns.
        """
        if learned is not None and len(learned) > MOST_UNITS:
            learned = (Sketch(learned),)
        dz, n = z.shape
        seen = Arrangement.beside(z, z[:0] if sides is None else sides)
        arranged = seen(z)
        centres = arranged[:, some_of(outwards(arranged), min(BUMPS_PER_COLUMN * dz, MOST_BUMPS))]
        found = cls(dz, 2 * (1 + 2 * dz) <= STEP_SHARE * n, learned, centres, seen, min(n, MOST_FUNCTIONS))
        if learned is None or sides is None or found._has_waves:
            return found
        return replace(found, bent=_bent(arranged, sides))

    @property
    def n_always(self) -> int:
        """Number of functions that are always used: a constant, z, cubes if `cubic`, and waves. They come first."""
        return 1 + (2 if self.cubic else 1) * self.dz + COLUMN_WAVES * len(self.bent)

    def __call__(self, z: FloatArray) -> FloatArray:
        """Evaluate all functions: those that are always used, then kind by kind."""
        return np.hstack([part for kind in self._kinds(z).values() for part in kind])

    def some(self, z: FloatArray, chosen: NDArray[np.intp]) -> FloatArray:
        """Evaluate some of the functions at few rows, by their positions (r,): z (dz, n) to an array (r, n)."""
        z = np.clip(z, -FARTHEST_SCORE, FARTHEST_SCORE)
        found, stop = np.empty((len(chosen), z.shape[1])), 0
        for kind in self._kinds(z, bumps=False).values():
            for part in kind:
                start, stop = stop, stop + part.shape[1]
                places = np.flatnonzero((start <= chosen) & (chosen < stop))
                found[places] = part.T[chosen[places] - start]
        places = np.flatnonzero(chosen >= stop)
        if len(places):
            found[places] = _bumps_across(self.seen(z), self.centres[:, chosen[places] - stop])
        return found

    def priors(self, z: FloatArray) -> list[FloatArray]:
        """Prior variances of the coefficients of functions that are not always used, one array (q_i,) for each kind.

        They are equal except for the waves along columns, whose variances fall with frequency as for a smooth function.
        """
        if self.learned is None:
            return []
        polynomials, waves = len(_polynomials(z[:, :1], self.most)), COLUMN_WAVES if self._has_waves else 0
        learned = sum(unit.n_features for unit in self.learned)
        frequencies = 0.5 * np.pi / HALF_PERIOD * np.arange(1, waves + 1)
        fading = np.tile(np.exp(-((LENGTHSCALE * frequencies) ** 2)), self.dz)
        return [np.ones(polynomials), np.ones(learned), fading, np.ones(self.centres.shape[1])]

    @property
    def _has_waves(self) -> bool:
        return self.dz * COLUMN_WAVES <= self.most

    def _kinds(self, z: FloatArray, *, bumps: bool = True) -> dict[str, list[FloatArray]]:
        """Arrays (n, q_i) by kind; z is clipped beyond any score that a sample can have, so that they stay finite."""
        given = np.clip(z, -FARTHEST_SCORE, FARTHEST_SCORE)
        z = self.seen(given)
        always = [np.ones((z.shape[1], 1)), z.T]
        if self.cubic:
            always.append(((z * z - 3.0) * z).T)
        if self.bent:
            always.append(_column_waves(z[list(self.bent)]))
        if self.learned is None:
            return {"always": always}
        return {
            "always": always,
            "polynomials": [_polynomials(z, self.most).T],
            "learned": [part for unit in self.learned for part in unit.features(given)],
            "column waves": [_column_waves(z)] if self._has_waves else [],
            "bumps": [_bumps(z, self.centres)] if bumps else [],
        }


def _polynomials(z: FloatArray, most: int) -> FloatArray:
    """Polynomials of each column and of their radius, and products of every two columns, (dz, n) to (q, n).

    Either are left out if they are more than `most`.
    """
    (dz, n), curves = z.shape, additive(z)[len(z) :]
    curves = curves[: len(curves) if len(curves) <= most else 0]
    products = dz * (dz - 1) // 2
    products = products if products <= most else 0
    found, stop = np.empty((len(curves) + products, n)), len(curves)
    found[:stop] = curves
    for i in range(dz - 1 if products else 0):
        start, stop = stop, stop + dz - 1 - i
        np.multiply(z[i], z[i + 1 :], out=found[start:stop])
    return found


def _bumps_across(z: FloatArray, centres: FloatArray) -> FloatArray:
    """As `_bumps`, but to shape (q, n), with the exponents computed by one matrix product."""
    ones, factor = np.ones((1, z.shape[1])), -0.5 / (LENGTHSCALE**2 * len(z))
    left = np.vstack([-2.0 * centres, (centres * centres).sum(axis=0), np.ones((1, centres.shape[1]))]) * factor
    exponents = (left.T @ np.vstack([z, ones, (z * z).sum(axis=0)])).astype(np.float32)
    bumps: FloatArray = np.exp(exponents, out=exponents)
    return bumps


def _bumps(z: FloatArray, centres: FloatArray) -> FloatArray:
    """Gaussian kernels around centres (dz, q), (dz, n) to (n, q).

    NumPy is fast in float32; any smooth function serves, so the rounding of the exponential does not matter.
    """
    squares = (z * z).sum(axis=0)[:, None] + (centres * centres).sum(axis=0)
    products = z.T @ centres
    products *= 2.0
    squares -= products
    squares *= -0.5 / (LENGTHSCALE**2 * len(z))
    exponents = squares.astype(np.float32)
    bumps: FloatArray = np.exp(exponents, out=exponents)
    return bumps


def _bent(z: FloatArray, sides: FloatArray) -> tuple[int, ...]:
    """Columns of z (dz, n) along which one of the sides (d, n) bends more than chance would have any of them bend.

    What waves along a column explain of what all columns leave of a side in a line is chi-squared if it does not bend.
    """
    (dz, n), basis = z.shape, span(np.vstack([np.ones(z.shape[1]), z]).T)
    left = sides - (sides @ basis) @ basis.T
    spread = np.einsum("ij,ij->i", left, left) / max(n - basis.shape[1], 1)
    found = []
    for j in range(dz if basis.shape[1] < n else 0):
        line, waves = span(np.vstack([np.ones(n), z[j]]).T), _column_waves(z[j : j + 1])
        bends = span(waves - line @ (line.T @ waves))
        products = left @ bends
        limit = chdtri(max(bends.shape[1], 1), BENT_BY_CHANCE / (dz * len(sides)))
        if ((products * products).sum(axis=1) > limit * spread).any():
            found.append(j)
    return tuple(found)


def span(columns: FloatArray) -> FloatArray:
    """An orthonormal basis (n, r) of what columns (n, c) span, none of it rounding: few values have few shapes."""
    sizes, turns = np.linalg.eigh(columns.T @ columns)
    kept = sizes > SMALLEST_BEND * len(columns)
    basis: FloatArray = columns @ (turns[:, kept] / np.sqrt(sizes[kept]))
    return basis


def _column_waves(z: FloatArray) -> FloatArray:
    """Cosines of each column by itself, (dz, n) to (n, dz COLUMN_WAVES)."""
    angles = (np.clip(z, -HALF_PERIOD, HALF_PERIOD) + HALF_PERIOD) * (0.5 * np.pi / HALF_PERIOD)
    waves = np.cos(angles.T.astype(np.float32)[:, :, None] * np.arange(1, COLUMN_WAVES + 1, dtype=np.float32))
    return waves.reshape(z.shape[1], -1)

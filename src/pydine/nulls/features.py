"""Functions of latents whose correlations the test looks at.

Every latent has its square, and waves: cosines of its probability u, sqrt(2) cos(pi k u), which are orthonormal if the
latent has the distribution it should have. With waves of all frequencies, any dependence is a correlation between some
wave of one side and some wave of the other (Neyman 1937; Kallenberg and Ledwina 1999). The product of the two
frequencies is the degree of such a pair: a hyperbolic cross of low degrees sees a line, a bend, many periods of a wave
against a line, and a ring, but spends no power on what is intricate in both directions.

The same functions of z are projected out of squares and waves as out of the latents. Waves of one latent are then made
orthonormal again, slow ones first. A latent that is the mean over a step has the means of waves over that step, whose
mean is 0 given z; a label has no waves but itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pydine.bases.closed_form import SMALLEST_VARIANCE
from pydine.latents.flows import Latents
from pydine.types import FloatArray, RowArray

LARGEST_DEGREE = 12  # answer: of pairs of waves: six periods against a line, one and a half against one and a half
Z_WAVES = 5  # answer: waves of a column with z still in it, from the second on: three periods of a cosine
LEAST_NEW = 0.02  # guard: least share of a wave that is not in slower ones; steps have no more waves than levels
LEAST_LEFT = 0.05  # guard: least 1 - leverage, which is divided by; rows with less do not count in the variance
NOTHING_NEW = 1e-10  # guard: share of a wave that is added to it, for what is in slower ones to have a root
NARROWEST = 1e-6  # guard: of a step, in probability, for the difference of its ends to be divided by
NOTHING_OWN = 1e-6  # guard: variance that is added to directions of z, for those of copies to have a root


class Waves(NamedTuple):
    """Waves of columns: `values` (d, K, n), orthonormal up to a factor of n, of which the first `orders` (d,) count."""

    values: FloatArray
    orders: NDArray[np.intp]

    def of(self, chosen: slice, rows: RowArray) -> Waves:
        """Of some of the columns, with rows in another order."""
        return Waves(self.values[chosen][:, :, rows], self.orders[chosen])


class Turned(NamedTuple):
    """Functions `values` (d, dz + K, n) of columns and z; `shares` (dz,): how much each column of z has for itself."""

    values: FloatArray
    shares: FloatArray

    def of(self, chosen: slice, rows: RowArray) -> Turned:
        """Of some of the columns, with rows in another order."""
        return Turned(self.values[chosen][:, :, rows], self.shares)


def squares_of(columns: FloatArray, latents: Latents) -> tuple[FloatArray, NDArray[np.bool_]]:
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


def waves_of(columns: FloatArray, latents: Latents, chosen: slice = slice(None)) -> Waves:
    """Waves of columns (d, n) of unit variance, which are the chosen ones of the latents; functions of z are taken out.

    The larger the leverage of a row, the nearer its residual is to 0; divided by sqrt(1 - leverage), all have the same
    spread.
    """
    left = np.sqrt(np.maximum(1.0 - latents.leverages, LEAST_LEFT))
    u = ndtr(columns / left)
    is_label = np.array(latents.two_valued or (False,) * len(latents.unprojected))[chosen]
    plain = cosines(u, LARGEST_DEGREE)
    if latents.steps is not None:
        for i in np.flatnonzero(np.array(latents.has_second)[chosen]):
            lower, upper = latents.steps[chosen][i]
            plain[i] = step_cosines(lower, upper, LARGEST_DEGREE)
    plain[is_label, 0] = columns[is_label]
    free = latents.without_z(plain.reshape(-1, u.shape[1])).reshape(plain.shape)
    return orthonormal(free, np.where(is_label, 1, LARGEST_DEGREE))


def turned_of(columns: FloatArray, latents: Latents, chosen: slice = slice(None)) -> Turned:
    """Functions of columns (d, n), the chosen ones of the latents, and of z, for signs that change.

    They are the columns times each column of z, and waves of what the latents were made of, with all that z says about
    them: if the other side follows a bent function of it, the slope given z depends on where z puts it, and has no sign
    of its own. The same functions of z are projected out as out of the latents. Columns of z are made orthonormal
    first, so that squares of correlations with their products add up to a chi-squared variable.
    """
    z, shares = told_apart(latents.z)
    found = np.empty((len(columns), len(z) + Z_WAVES, columns.shape[1]))
    found[:, : len(z)] = columns[:, None] * z
    scores = columns if latents.scores is None else latents.scores[chosen]
    found[:, len(z) :] = cosines(ndtr(scores), 1 + Z_WAVES)[:, 1:]
    return Turned(latents.without_z(found.reshape(-1, columns.shape[1])).reshape(found.shape), shares)


def turn_degrees(dz: int) -> FloatArray:
    """Degrees of `turned_of`, shape (dz + K,): columns of z, each of which both sides have, share the place of one."""
    return np.append(np.full(dz, 2.0 * dz), np.arange(1.0, Z_WAVES + 1.0))


def told_apart(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns of z (dz, n) made orthonormal, each as near to what it was as can be, and their variances (dz,).

    A variance is 1, or what is left of it where columns are functions of each other: all add up to the rank.
    """
    unit = z - z.mean(axis=1, keepdims=True)
    unit /= np.maximum(unit.std(axis=1, keepdims=True), NOTHING_OWN)
    sizes, directions = np.linalg.eigh(unit @ unit.T / z.shape[1])
    sizes = np.maximum(sizes, 0.0)
    white: FloatArray = (directions / np.sqrt(sizes + NOTHING_OWN)) @ directions.T @ unit
    return white, (directions * directions) @ (sizes / (sizes + NOTHING_OWN))


def cosines(u: FloatArray, count: int) -> FloatArray:
    """sqrt(2) cos(pi k u) for probabilities u (d, n) and k from 1 to `count`, shape (d, count, n)."""
    waves = np.empty((len(u), count, u.shape[1]))
    twice = 2.0 * np.cos(np.pi * u)  # cos((k + 1) a) = 2 cos(a) cos(k a) - cos((k - 1) a)
    before, now = np.full(u.shape, np.sqrt(2.0)), np.sqrt(0.5) * twice
    for k in range(count):
        waves[:, k] = now
        before, now = now, twice * now - before
    return waves


def step_cosines(lower: FloatArray, upper: FloatArray, count: int) -> FloatArray:
    """Means of `cosines` over steps between two probabilities (n,), shape (count, n)."""
    angles = np.pi * np.arange(1.0, count + 1.0)[:, None]
    width = upper - lower
    sines = (np.sin(angles * upper) - np.sin(angles * lower)) / (angles * np.maximum(width, NARROWEST))
    points = np.cos(angles * 0.5 * (lower + upper))
    means: FloatArray = np.sqrt(2.0) * np.where(width > NARROWEST, sines, points)
    return means


def orthonormal(waves: FloatArray, most: NDArray[np.intp]) -> Waves:
    """Waves (d, K, n) of every column made orthonormal, slow ones first, up to the first that brings nothing new.

    At most `most` (d,) of a column count; the others become 0.
    """
    count, sizes = waves.shape[1], waves @ waves.transpose(0, 2, 1) / waves.shape[2]
    own = np.einsum("dkk->dk", sizes)
    factors = np.linalg.cholesky(sizes + (NOTHING_NEW * own + SMALLEST_VARIANCE)[:, :, None] * np.eye(count))
    # A wave that is 0 but for rounding, as the third of three equal steps is, has what was added here, and no more.
    is_old = np.einsum("dkk->dk", factors) ** 2 <= np.maximum(LEAST_NEW * own, 2.0 * SMALLEST_VARIANCE)
    orders = np.minimum(np.where(is_old.any(axis=1), is_old.argmax(axis=1), count), most)
    counted = np.arange(count) < orders[:, None]
    both = counted[:, :, None] & counted[:, None, :]
    inverse = np.where(both, np.linalg.inv(np.where(both, factors, np.eye(count))), 0.0)
    return Waves(inverse @ waves, orders)

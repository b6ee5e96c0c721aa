"""What ranks do to columns that z moves: what is left of them given z looks less dependent than it is.

Normal scores of n rows differ from the values that they stand for by about 1 / sqrt(n), smoothly along the column. That
is little beside the column, but not beside what z leaves of it where z explains most of it. Ranks of z blur in the same
way. Both are simulated for what is linear in z, column by column, so that a column's answer is the same in any company.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from pydine.latents.functions import span
from pydine.types import FloatArray, IntArray

# precision: rows from which the effect of ranks is found, spread over all of them; it falls as 1/n.
ENOUGH_ROWS = 2000
REPLICATES = 24  # precision: their Monte Carlo error is a tenth of a standard error
MODES = 16  # precision: of a Brownian bridge; all others have 4% of its variance
SMALLEST_SHARE = 1e-10  # guard: least share of a column's variance that z leaves


@dataclass(frozen=True, eq=False)
class RankNoise:
    """What ranks do to columns that z moves, found once for all of them, when somebody asks.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Normal scores.
    z : ndarray, shape (dz, n)
    """

    columns: FloatArray
    z: FloatArray

    @cached_property
    def kept(self) -> FloatArray:
        """See `kept_by_ranks`; shape (d,)."""
        return kept_by_ranks(self.columns, self.z)


def kept_by_ranks(columns: FloatArray, z: FloatArray) -> FloatArray:
    """Correlations of what ranks leave of columns given z with what is there, over what they would be without z.

    Products of columns' factors are by how much their partial correlations are too small.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Normal scores.
    z : ndarray, shape (dz, n)
        Normal scores.

    Returns
    -------
    ndarray, shape (d,)
        1 where there is no z, or too much of it to see what is linear in it.
    """
    dz, n = z.shape
    if dz == 0 or min(n, ENOUGH_ROWS) <= 2 * (dz + 2):
        return np.ones(len(columns))
    basis, blurs = span(np.vstack([np.ones(n), z]).T), np.array([_blur(each) for each in z])
    found = []
    for column in columns:
        # In the order of its values, so that nothing depends on the order in which rows came.
        rows = np.lexsort((np.round(basis @ (basis.T @ column), 9), column))
        found.append(_kept(column[rows[_spread(n)]], z[:, rows[_spread(n)]], n, blurs))
    return np.array(found)


def _spread(n: int) -> IntArray:
    """Places of at most `ENOUGH_ROWS` of n rows in an order; they are as many from either end."""
    if n <= ENOUGH_ROWS:
        return np.arange(n)
    half = np.linspace(0, n - 1, ENOUGH_ROWS)[: ENOUGH_ROWS // 2].astype(np.intp)
    return np.concatenate([half, n - 1 - half[::-1]])


def _blur(scores: FloatArray) -> float:
    """The variance that ranks of a column (n,) add to a linear function of it whose slope is 1.

    Its values differ from their normal scores by a Brownian bridge over the density, here by its modes (Karhunen and
    Loeve). What of that is linear is no matter.
    """
    n = len(scores)
    ordered = np.sort(scores)[_spread(n)]
    k = np.pi * np.arange(1.0, MODES + 1.0)[:, None]
    density = np.exp(-0.5 * ordered**2) / np.sqrt(2.0 * np.pi)
    modes = np.sqrt(2.0 / n) * np.sin(k * ndtr(ordered)) / (k * density)
    line = span(np.vstack([np.ones(len(ordered)), ordered]).T)
    left = modes - (modes @ line) @ line.T
    return float((left * left).sum() / len(ordered))


def _kept(column: FloatArray, z: FloatArray, n: int, blurs: FloatArray) -> float:
    """What ranks of n rows keep of a column, by those (m,) that are in the order of its values.

    Parameters
    ----------
    column : ndarray, shape (m,)
    z : ndarray, shape (dz, m)
    n : int
    blurs : ndarray, shape (dz,)
        What ranks of z add to functions of them.
    """
    dz, m = z.shape
    centred, left = column - column.mean(), z - z.mean(axis=1, keepdims=True)
    slopes = np.linalg.lstsq(left.T, centred, rcond=None)[0]
    explained = float(((slopes @ left) ** 2).sum() / (centred @ centred))
    adjusted = max(1.0 - (1.0 - explained) * (m - 1.0) / (m - dz - 1.0), 0.0)  # as an adjusted R^2
    slopes = slopes * np.sqrt(adjusted / max(explained, SMALLEST_SHARE)) / column.std()
    share = max(1.0 - adjusted, SMALLEST_SHARE)
    own, plain = _simulated(slopes @ left, np.sqrt(share), span(np.vstack([np.ones(m), z]).T))
    lost = max(1.0 - own / plain, 0.0) * (m / n)
    return float((1.0 - lost) / np.sqrt(1.0 + slopes**2 @ blurs / share))


def _simulated(moved: FloatArray, scale: float, basis: FloatArray) -> tuple[float, float]:
    """Correlations of a column's own ranks with what z leaves of it: where z moves it (m,), and where nothing does.

    A column's negative has the same, whose rows are in the opposite order.
    """
    rng, found = np.random.default_rng(len(moved)), np.zeros(2)
    for _ in range(REPLICATES // 2):
        one = rng.standard_normal(len(moved))
        for drawn in (one, -one[::-1]):
            columns = np.array([drawn, _scores(moved + scale * drawn), _scores(drawn)])
            columns -= (columns @ basis) @ basis.T
            found += columns[1:] @ columns[0] / np.sqrt((columns**2).sum(axis=1)[1:] * (columns[0] @ columns[0]))
    return float(found[0]), float(found[1])


def _scores(values: FloatArray) -> FloatArray:
    """Normal scores of values (m,)."""
    found = np.empty(len(values))
    found[np.argsort(values)] = ndtri(np.arange(1.0, len(values) + 1.0) / (len(values) + 1.0))
    return found

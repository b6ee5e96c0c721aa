"""Discrete columns on all sides: the model is a contingency table, and no flow is needed.

The plug-in information of a table is biased upwards, by about 1 / (2 n) nats for each degree of freedom. The exact bias
depends on the expected counts: with N a Poisson count of mean m, E[N ln N] - m ln m is near one half for large m and
near zero for small m. So the bias is summed over the cells' expected counts. These are estimated between those of
independence and the observed ones, closer to the former the less the table departs from it (James and Stein).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pydine.kernels.mixing import smooth_step
from pydine.types import FloatArray
from pydine.units.evidence import ROWS_PER_VALUE
from pydine.units.rows import combinations

Codes = NDArray[np.intp]

SUMMED = 60.0  # guard: cell means up to which Poisson sums are evaluated; above, two terms of a series are as good
CHANCE = 2.0  # answer: standard errors that are attributed to chance: with 1, 300 columns a side would get 0.04 nats


class TableFit(NamedTuple):
    """An estimate by a table.

    Parameters
    ----------
    value, standard_error : float
        Nats; the value is corrected for bias.
    ratios : ndarray, shape (n,)
        ln p(x, y | z) - ln p(x | z) - ln p(y | z) of the rows, by observed frequencies.
    trust : float
        How far the table may count, from 0 to 1: whether there are enough rows for its cells.
    hidden : float
        How much more information there may be that cells have too few rows to show, as a standard error upwards.
    held_out : ndarray, shape (n,), optional
        Likewise, by the frequencies of the other rows, where these are smoothed.
    """

    value: float
    standard_error: float
    ratios: FloatArray
    trust: float
    hidden: float = 0.0
    held_out: FloatArray | None = None


def codes_of(columns: FloatArray) -> Codes:
    """Code of each row's combination of values of columns (d, n), shape (n,); all 0 if there are no columns."""
    if len(columns) == 0:
        return np.zeros(columns.shape[1], dtype=np.intp)
    return combinations(columns)


def entropy(codes: Codes) -> float:
    """Plug-in entropy of codes (n,) in nats."""
    shares = np.bincount(codes) / len(codes)
    shares = shares[shares > 0.0]
    return float(-(shares * np.log(shares)).sum())


def most_entropy(codes: Codes) -> float:
    """What the entropy of codes (n,) may be, in nats: Miller and Madow's estimate (1955), and two standard errors.

    The plug-in entropy of many codes is too small, since the rarest are missing or too frequent in a sample. Those that
    occur once say how many rows others of the same distribution would have that are missing here (Good 1953).
    """
    counts = np.bincount(codes)
    counts, n = counts[counts > 0], len(codes)
    logs, missed = np.log(counts / n), 0.5 * (len(counts) - 1.0) / n
    spread = float(counts @ logs**2) / n - (float(counts @ logs) / n) ** 2
    return float(entropy(codes) + missed + CHANCE * np.sqrt((spread + missed) / n) + np.count_nonzero(counts == 1) / n)


def rows_per_cell(x: Codes, y: Codes, z: Codes) -> float:
    """Average number of rows per cell; a cell pairs a value of x and one of y that both occur with the same z."""
    return len(x) / max(float((_n_levels(x, z) * _n_levels(y, z)).sum()), 1.0)


class Counted(NamedTuple):
    """A contingency table by the cells that occur.

    Parameters
    ----------
    cell : ndarray, shape (3, cells)
        Codes of z, x and y.
    counts : ndarray, shape (cells,)
    ratios : ndarray, shape (cells,)
        Log-ratios ln p(x, y | z) - ln p(x | z) - ln p(y | z) by observed frequencies, in nats.
    seen : ndarray, shape (n,)
        The cell of each row.
    in_z, with_x, with_y : ndarray, shapes (z,), (z, x) and (z, y)
        Rows by z, by z and x, and by z and y.
    """

    cell: NDArray[np.intp]
    counts: FloatArray
    ratios: FloatArray
    seen: Codes
    in_z: FloatArray
    with_x: FloatArray
    with_y: FloatArray

    @property
    def telling(self) -> NDArray[np.intp]:
        """Values of z within which both sides vary: the others add nothing to what a table tells, nor to its bias."""
        varies = [np.count_nonzero(part, axis=1) > 1 for part in (self.with_x, self.with_y)]
        return np.flatnonzero(varies[0] & varies[1])

    @property
    def determined(self) -> tuple[FloatArray, ...]:
        """Rows by z and each side that the other side determines, given z: `with_x`, `with_y`, both or none."""
        cells = len(self.counts)
        sides = ((self.with_x, self.with_y), (self.with_y, self.with_x))
        return tuple(own for own, other in sides if np.count_nonzero(other) == cells)


def counted(x: Codes, y: Codes, z: Codes) -> Counted:
    """Count the rows of codes x, y and z (n,)."""
    shape = (int(z.max()) + 1, int(x.max()) + 1, int(y.max()) + 1)
    places, seen, number = np.unique((z * shape[1] + x) * shape[2] + y, return_inverse=True, return_counts=True)
    cell, counts = np.array(np.unravel_index(places, shape)), number.astype(np.float64)
    in_z = np.bincount(z).astype(np.float64)
    with_x = np.bincount(z * shape[1] + x, minlength=shape[0] * shape[1]).reshape(shape[:2]).astype(np.float64)
    with_y = np.bincount(z * shape[2] + y, minlength=shape[0] * shape[2]).reshape(shape[0], -1).astype(np.float64)
    expected = with_x[cell[0], cell[1]] * with_y[cell[0], cell[2]] / in_z[cell[0]]
    return Counted(cell, counts, np.log(counts / expected), seen, in_z, with_x, with_y)


def fit_table(x: Codes, y: Codes, z: Codes) -> TableFit:
    """The information between codes x and y (n,) given codes z (n,)."""
    n, table = len(x), counted(x, y, z)
    plug_in = float(table.counts @ table.ratios / n)
    bound = min(_conditional(table.with_x, table.in_z), _conditional(table.with_y, table.in_z)) / n
    bias = 0.0 if table.determined else _bias(table) / n
    return TableFit(min(plug_in - bias, bound), table_error(table), table.ratios[table.seen], trust_of(x, y, z))


def trust_of(x: Codes, y: Codes, z: Codes) -> float:
    """How far the table of codes x and y (n,) given codes z (n,) may count, from 0 to 1."""
    return smooth_step(rows_per_cell(x, y, z), 1.0, ROWS_PER_VALUE)


def table_error(table: Counted) -> float:
    """Standard error of a table's information, in nats, with half a row (Jeffreys), or less, added to every cell.

    Without it, a cell that is empty in the sample would be treated as one of probability 0.
    """
    mean, square, n = 0.0, 0.0, float(table.in_z.sum())
    for _, here in _cells_of(table):
        (x, of_x), (y, of_y) = (np.unique(table.cell[i][here], return_inverse=True) for i in (1, 2))
        found = np.zeros((len(x), len(y)))
        found[of_x, of_y] = table.counts[here]
        rows, extra = found.sum(), min(0.5, 0.1 * found.sum() / max(found.size, 1))
        shares = (found + extra) / (rows + extra * found.size)
        ratios = np.log(shares / (shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)))
        mean += float(rows / n * (shares * ratios).sum())
        square += float(rows / n * (shares * ratios**2).sum())
    return float(np.sqrt(max(square - mean * mean, 0.0) / n))


def _n_levels(x: Codes, z: Codes) -> FloatArray:
    """Number of distinct values of x that occur with each z."""
    width = int(x.max()) + 1
    return np.bincount(np.unique(z * width + x) // width).astype(np.float64)


def _conditional(counts: FloatArray, totals: FloatArray) -> float:
    """N times the entropy of a side given z, from counts (z, levels) and the rows of each z (z,)."""
    there = counts > 0.0
    share = np.where(there, counts, 1.0) / np.where(there, totals[:, None], 1.0)
    return float(-(counts * np.log(share)).sum())


def _cells_of(table: Counted) -> Iterator[tuple[int, slice]]:
    """Each telling value of z, and where its cells are, which are in the order of z."""
    telling = table.telling
    starts, stops = (np.searchsorted(table.cell[0], telling, side=side) for side in ("left", "right"))
    for k, start, stop in zip(telling.tolist(), starts.tolist(), stops.tolist(), strict=True):
        yield k, slice(start, stop)


def _bias(table: Counted) -> float:
    """Approximate bias of the plug-in information, times n, in nats.

    It follows from the expected count of every cell. These are those of independence times a factor of mean 1 and
    variance v, which the chi-squared statistic gives, and are estimated by their posterior means (gamma and Poisson,
    empirical Bayes): near independence for a cell of few rows, near the observed count for one of many. At independence
    the bias is known exactly, given the margins, and counts as far as the chi-squared statistic may be due to chance.
    """
    squares, freedom, at_independence, cells = 0.0, 0.0, 0.0, []
    cell, counts, (in_z, with_x, with_y) = table.cell, table.counts, (table.in_z, table.with_x, table.with_y)
    for k, here in _cells_of(table):
        x, y = with_x[k] > 0.0, with_y[k] > 0.0
        expected = np.outer(with_x[k], with_y[k]) / in_z[k]
        found = np.zeros(expected.shape)
        found[cell[1][here], cell[2][here]] = counts[here]
        expected, found = expected[x][:, y], found[x][:, y]
        squares += float(((found - expected) ** 2 / expected).sum())
        freedom += (int(x.sum()) - 1.0) * (int(y.sum()) - 1.0)
        at_independence += float(excess_given_margins(with_x[k][x], with_y[k][y], float(in_z[k])).sum())
        cells.append((expected.ravel(), found.ravel()))
    usual = freedom + CHANCE * np.sqrt(2.0 * freedom)
    beyond = max(squares - usual, 0.0)
    v, by_chance = beyond / float(in_z.sum()), 1.0 - beyond / max(squares, 1.0)
    of_x, of_y, of_z = (excess(part[table.telling].ravel()).sum() for part in (with_x, with_y, in_z))
    margins = float(of_x + of_y - of_z)
    total = sum(float(excess(m * (1.0 + v * found) / (1.0 + v * m)).sum()) for m, found in cells) - margins
    plain = sum(float(excess(m).sum()) for m, _ in cells) - margins
    return float(total + by_chance * (at_independence - plain))


def excess(means: FloatArray) -> FloatArray:
    """E[N ln N] - m ln m for Poisson counts N of means m (k,); 0 where m is 0."""
    excess = np.where(means > SUMMED, 0.5 + 1.0 / (12.0 * np.maximum(means, 1.0)), 0.0)
    few = (means > 0.0) & (means <= SUMMED)
    m, k = means[few, None], np.arange(1.0, 2.5 * SUMMED)
    # ln of the Poisson probabilities, all at once: k ln m - m - ln k!
    terms = np.exp(k * np.log(m) - m - gammaln(k + 1.0)) * (k * np.log(k))
    excess[few] = terms.sum(axis=1) - m[:, 0] * np.log(m[:, 0])
    return excess


def excess_given_margins(with_x: FloatArray, with_y: FloatArray, n: float) -> FloatArray:
    """E[N ln N] - m ln m of the cells of a table with margins (k,) and (l,) of n rows, if its sides are independent.

    Given its margins, a count then has a hypergeometric distribution. The mean plug-in information times n is the sum.
    """
    (of_x, x), (of_y, y) = (np.unique(margin, return_inverse=True) for margin in (with_x, with_y))
    either = [part.ravel() for part in np.meshgrid(of_x, of_y, indexing="ij")]
    r, c = np.minimum(*either), np.maximum(*either)  # the same to the last bit with x and y exchanged
    m, p, q = r * c / n, r / n, c / n
    spread = (1.0 - p) * (1.0 - q) * n / max(n - 1.0, 1.0)  # variance over mean
    excess = 0.5 * spread + spread * (3.0 * spread - 2.0 * (1.0 - 2.0 * p) * (1.0 - 2.0 * q)) / (12.0 * m)
    few = m <= SUMMED
    (r, c, m), k = (each[few, None] for each in (r, c, m)), np.arange(1.0, 2.5 * SUMMED)
    is_possible = (k <= r) & (k >= r + c - n)
    k = np.where(is_possible, k, np.maximum(r + c - n, 0.0))
    logs = _log_choose(r, k) + _log_choose(n - r, c - k) - _log_choose(np.full_like(c, n), c)
    terms = np.where(is_possible, np.exp(logs) * (k * np.log(np.maximum(k, 1.0))), 0.0)
    excess[few] = terms.sum(axis=1) - (m * np.log(m))[:, 0]
    by_margins: FloatArray = excess.reshape(len(of_x), len(of_y))[np.ix_(x, y)]
    return by_margins


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Logarithm of the number of ways to choose k of n."""
    ways: FloatArray = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways

"""Tables of many labels: most cells are empty, and hardly any has rows enough to speak for itself.

The count of a cell is Poisson about m t, where m is what independence expects and t its factor. How factors are
distributed over the cells is learned from all of them: the nonparametric maximum likelihood estimate of the mixing
distribution (Kiefer and Wolfowitz 1956), on a grid. Copies, blocks, a few partners for each label and independence are
all such distributions, and no shape is assumed. Given it, the bias of the plug-in information is known (`tables`): each
cell adds the excess of its expected count, averaged over its posterior distribution, and each margin takes its own off.
Where the likelihood does not tell the factors from 1, the exact mean at independence given the margins is subtracted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.special import digamma, entr, expit

from pydine.bases.kinds.tables import (
    CHANCE,
    SUMMED,
    Codes,
    Counted,
    TableFit,
    counted,
    excess,
    excess_given_margins,
    table_error,
)
from pydine.types import FloatArray, IntArray
from pydine.units.evidence import PRIOR

# precision: least factor of a cell beside 0, and places of the grid for each nat: fine beside Poisson counts
LOWEST, PER_NAT = 0.02, 6
NOTHING = 1e-4  # guard: the factor that stands for 0, which has no logarithm
MERGED = 20.0  # guard: expected counts that differ by less than one part in so many count as equal
STEPS, LEAST_GAIN = 40, 1e-7  # guard: steps to the maximum of the likelihood, and the least gain of one, in nats a cell
STRICT = 1e3  # guard: weight of the condition that shares sum to 1
SHORTEST = 1e-6  # guard: of a step, as a share of the whole
LEAST_LIKELIHOOD = 1e-300  # guard: for a likelihood to have a logarithm
LEAST_COUNT = 1e-9  # guard: least expected count, whose excess is 0


def fit_sparse(x: Codes, y: Codes, z: Codes) -> TableFit:
    """The information between codes x and y (n,) given codes z (n,), each with any number of values."""
    n, table = len(x), counted(x, y, z)
    cells = _Cells.of(table)
    factors = _grid(cells)
    means = cells.expected[:, None] * factors
    logs = cells.found[:, None] * np.log(means) - means
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    is_one = factors == 1.0
    shares = mixing(likelihoods, cells.number, np.where(is_one, 1.0, 0.1 / len(factors)))
    gain = np.log(likelihoods @ shares) - np.log(np.maximum(likelihoods[:, is_one].ravel(), LEAST_LIKELIHOOD))
    dependent = float(expit(cells.number @ gain - PRIOR))
    posterior = likelihoods * shares
    posterior /= posterior.sum(axis=1, keepdims=True)
    of_cells = float(cells.number @ (posterior * _excess(means)).sum(axis=1))
    if table.determined:
        of_cells = float(excess(table.counts).sum())  # no other cell can have rows
    bias = of_cells - _of_margins(table)
    plug_in = float(table.counts @ table.ratios / n)
    value = plug_in - (dependent * bias + (1.0 - dependent) * _at_independence(table)) / n
    single = float(cells.number @ (cells.found == 1.0)) / n  # what these rows tell is extrapolated from the others
    error = float(np.hypot(table_error(table), dependent * single * (plug_in - value)))
    seen, unseen = (
        np.log(dependent * mean[cells.which] + 1.0 - dependent)[table.seen]
        for mean in (
            posterior @ factors,
            1.0 / np.maximum(posterior @ (1.0 / factors), LEAST_COUNT),  # with one row less
        )
    )
    return TableFit(value, error, seen, 1.0, max((_most(table, cells) - value) / CHANCE, 0.0), unseen)


class _Cells(NamedTuple):
    """Cells of a table, empty ones too, by what independence expects and by count.

    Parameters
    ----------
    expected, found, number : ndarray, shape (k,)
        Expected count, count, and the number of such cells.
    which : ndarray, shape (occupied cells of the table,)
    """

    expected: FloatArray
    found: FloatArray
    number: FloatArray
    which: IntArray

    @classmethod
    def of(cls, table: Counted) -> _Cells:
        """Group the cells of a table: an expected count follows from two margins, of which many are equal."""
        expected, number = [], []
        own = np.array([table.with_x[table.cell[0], table.cell[1]], table.with_y[table.cell[0], table.cell[2]]])
        for k in np.flatnonzero(table.in_z > 0.0):
            (of_x, n_x), (of_y, n_y) = (_margins(part[k]) for part in (table.with_x, table.with_y))
            empty = np.outer(n_x, n_y).astype(np.float64)
            here = own[:, table.cell[0] == k]
            np.subtract.at(empty, (np.searchsorted(of_x, here[0]), np.searchsorted(of_y, here[1])), 1.0)
            expected.append((np.outer(of_x, of_y) / table.in_z[k])[empty > 0.0])
            number.append(empty[empty > 0.0])
        n_empty, n_found = sum(map(len, expected)), len(table.counts)
        means = np.concatenate([*expected, own[0] * own[1] / table.in_z[table.cell[0]]])
        found = np.concatenate([np.zeros(n_empty), table.counts])
        each = np.concatenate([*number, np.ones(n_found)])
        keys = np.array([np.round(MERGED * np.log(means)), found])
        distinct, which = np.unique(keys, axis=1, return_inverse=True)
        which = which.ravel()
        total = np.bincount(which, each).astype(np.float64)
        return cls(np.bincount(which, each * means) / total, distinct[1], total, which[n_empty:])


def _margins(counts: FloatArray) -> tuple[FloatArray, IntArray]:
    """Different counts of a margin, without 0, and how often each occurs."""
    found: tuple[FloatArray, IntArray] = np.unique(counts[counts > 0.0], return_counts=True)
    return found


def _grid(cells: _Cells) -> FloatArray:
    """Factors that cells may have: 0, 1, and places below and above it, evenly on a logarithmic scale."""
    top = max(float((cells.found / cells.expected).max()), 2.0) * 1.1
    below = np.exp(np.linspace(np.log(LOWEST), 0.0, round(-np.log(LOWEST) * PER_NAT / 2.0) + 1)[:-1])
    above = np.exp(np.linspace(0.0, np.log(top), int(np.log(top) * PER_NAT) + 4))
    return np.concatenate([[NOTHING], below, above])


def mixing(likelihoods: FloatArray, number: FloatArray, start: FloatArray) -> FloatArray:
    """Shares of a mixture that maximise the likelihood, from likelihoods (k, m) of rows that stand `number` (k,) times.

    Newton's method, with each step a least-squares problem under the constraint that no share is negative (Wang 2007),
    from shares proportional to `start`, (m,).
    """
    weights: FloatArray = number / number.sum()
    shares: FloatArray = start / start.sum()
    root = np.sqrt(weights)[:, None]
    target = np.append(2.0 * root[:, 0], STRICT)

    def gained(new: FloatArray) -> float:
        return float(weights @ np.log(np.maximum(likelihoods @ new, LEAST_LIKELIHOOD)))

    now = gained(shares)
    for _ in range(STEPS):
        slopes = likelihoods / np.maximum(likelihoods @ shares, LEAST_LIKELIHOOD)[:, None]
        best = nnls(np.vstack([slopes * root, np.full(len(shares), STRICT)]), target, maxiter=100 * len(shares))[0]
        step, length = best / best.sum() - shares, 1.0
        expected_gain = float(weights @ (slopes @ step))
        while gained(shares + length * step) < now + 0.1 * length * expected_gain and length > SHORTEST:
            length *= 0.5
        fresh = np.maximum(shares + length * step, 0.0)
        shares, before = fresh / fresh.sum(), now
        now = gained(shares)
        if now - before < LEAST_GAIN:
            break
    return shares


def _most(table: Counted, cells: _Cells) -> float:
    """The most information, in nats, that a table may have if shares within its labels have a Dirichlet distribution.

    With v the variance of the factors of cells, the mean of the chi-square statistic is its degrees of freedom plus v
    for every row beyond those that margins take up; v may be larger than it says by `CHANCE` standard errors.
    """
    squares = float(cells.number @ ((cells.found - cells.expected) ** 2 / cells.expected))
    x, y = (np.count_nonzero(part, axis=1) for part in (table.with_x, table.with_y))
    freedom = float(((x - 1.0) * (y - 1.0)).sum())
    left = max(float((table.in_z - x - y + 1.0).sum()), 1.0)
    variance = max(squares - freedom + CHANCE * np.sqrt(2.0 * freedom), 0.0) / left
    if variance == 0.0:
        return 0.0
    total = 0.0
    for k in np.flatnonzero(table.in_z > 0.0):
        sides = [part[k][part[k] > 0.0] / table.in_z[k] for part in (table.with_x, table.with_y)]
        bound = min(float(entr(shares).sum()) for shares in sides)
        total += table.in_z[k] * min(max(_of_dirichlet(shares, variance) for shares in sides), bound)
    return float(total / table.in_z.sum())


def _of_dirichlet(shares: FloatArray, variance: float) -> float:
    """The mean information, in nats, of shares (m,) that vary between labels of the other side as a Dirichlet does.

    `variance` is that of their factors, whose distribution is close to a gamma one where shares are many.
    """
    concentration = (len(shares) - 1.0) / variance - 1.0
    if concentration <= 0.0:  # more than shares can vary: one of them is there with each label
        return float(entr(shares).sum())
    mean = shares @ digamma(concentration * shares + 1.0) - digamma(concentration + 1.0)
    return float(mean + entr(shares).sum())


@lru_cache(maxsize=1)
def _curve() -> tuple[FloatArray, FloatArray]:
    """The excess of expected counts, at logarithms of them."""
    places = np.linspace(np.log(LEAST_COUNT), np.log(SUMMED), 2000)
    return places, excess(np.exp(places))


def _excess(means: FloatArray) -> FloatArray:
    """`tables.excess` of any number of expected counts."""
    few = np.interp(np.log(np.maximum(means, LEAST_COUNT)), *_curve())
    found: FloatArray = np.where(means > SUMMED, 0.5 + 1.0 / (12.0 * np.maximum(means, 1.0)), few)
    return found


def _of_margins(table: Counted) -> float:
    """The excess that the margins of a table have themselves, in nats times n."""
    x, y, z = (float(excess(counts.ravel()).sum()) for counts in (table.with_x, table.with_y, table.in_z))
    return x + y - z


def _at_independence(table: Counted) -> float:
    """The mean plug-in information, given the margins, if the sides are independent given z, in nats times n."""
    total = 0.0
    for k in np.flatnonzero(table.in_z > 0.0):
        (of_x, n_x), (of_y, n_y) = (_margins(part[k]) for part in (table.with_x, table.with_y))
        total += float(n_x @ excess_given_margins(of_x, of_y, float(table.in_z[k])) @ n_y)
    return total

"""Labels on all sides: the contingency table itself, exact where it is sparse.

The likelihood-ratio statistic G of a table is the sum of those of (r - 1)(c - 1) tables of two by two in each cell of z
(Lancaster 1949): a row and those before it, in a column and those before it. Given its margins, each of these has one
count, whose distribution under independence is hypergeometric. So the null distribution of G is that of a sum of
variables with known distributions, taken as independent. One of them alone is Fisher's exact test, ordered by G; more
are added up on a grid, where all terms are positive, so that the tail is as exact as the rest. Where counts vary much,
their part of G is chi-squared, as in the G-test.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc, gammaln, xlogy

from pydine.nulls.pvalues import LEAST_PVALUE
from pydine.types import FloatArray, IntArray

ROUNDING = 1e-7  # guard: relative differences of G that are due to rounding
GRID = 512  # answer: places from 0 to the observed G on which distributions are added up: errors of a 500th of G
LEAST_ROWS = 2.0  # answer: rows for each degree of freedom of a table; with fewer, counts are 0 and 1
DENSE = 30.0  # answer: variance of a count from which on its part of G is chi-squared


def table_pvalue(x: IntArray, y: IntArray, z: IntArray) -> float:
    """P-value of independence of codes x and y (n,) given codes z (n,), from all tables of the same margins."""
    tables = _tables(x, y, z)
    if not tables:
        return 1.0
    found = sum(map(_g, tables)) * (1.0 - ROUNDING)
    margins = np.vstack([_margins(table) for table in tables])
    return min(max(_tail(margins, found), LEAST_PVALUE), 1.0)


def too_sparse(x: IntArray, y: IntArray, z: IntArray) -> bool:
    """Whether a table has too few rows for its cells to tell anything."""
    levels = [np.bincount(np.unique(z * (side.max() + 1) + side) // (side.max() + 1)) for side in (x, y)]
    return float(((levels[0] - 1.0) * (levels[1] - 1.0)).sum()) * LEAST_ROWS > len(x)


def permuted_pvalues(
    x: IntArray, y: IntArray, z: IntArray, n_permutations: int, rng: np.random.Generator
) -> FloatArray:
    """P-values of tables with the rows of y permuted within each cell of z, by their ranks, shape (n_permutations,).

    Rows of each cell are put in a random order, and y is shifted against x there by a random number of rows.
    """
    order = np.lexsort((rng.random(len(z)), z))
    sizes = np.bincount(z)
    sizes, starts = sizes[z[order]], (np.cumsum(sizes) - sizes)[z[order]]
    place, shape = np.arange(len(z)) - starts, (int(x.max()) + 1, int(y.max()) + 1)
    other = rng.permutation(len(z))  # y in another order than x, cell by cell
    ordered = y[other][np.argsort(z[other], kind="stable")]
    with_x = (z[order] * shape[0] + x[order]) * shape[1]
    found = np.empty(n_permutations)
    for i in range(n_permutations):
        shift = rng.integers(0, sizes.max(), int(z.max()) + 1)[z[order]]
        counts = np.bincount(with_x + ordered[starts + (place + shift) % sizes]).astype(np.float64)
        found[i] = xlogy(counts, counts).sum()  # G up to a constant, as margins stay the same
    ranks = np.searchsorted(np.sort(found), found * (1.0 - ROUNDING), side="left")
    pvalues: FloatArray = (n_permutations - ranks) / n_permutations
    return pvalues


def _tables(x: IntArray, y: IntArray, z: IntArray) -> list[FloatArray]:
    """The table of every cell of z, without rows and columns that are empty there; those of one row are left out.

    Rows and columns are in an order that follows from the counts, so that codes do not matter.
    """
    shape = int(z.max()) + 1, int(x.max()) + 1, int(y.max()) + 1
    places, counts = np.unique((z * shape[1] + x) * shape[2] + y, return_counts=True)
    cell, row, column = np.array(np.unravel_index(places, shape))
    found = []
    for here in np.split(np.arange(len(places)), np.flatnonzero(np.diff(cell)) + 1):
        rows, columns = (np.unique(side[here], return_inverse=True)[1] for side in (row, column))
        if rows.max() and columns.max():
            table = np.zeros((rows.max() + 1, columns.max() + 1))
            table[rows, columns] = counts[here]
            found.append(table[_by_margin(table)][:, _by_margin(table.T)])
    return found


def _by_margin(table: FloatArray) -> IntArray:
    """Rows in the order of their sums, frequent ones first; among equal ones, by how uneven they are."""
    uneven, others = table * table, table.sum(axis=0)
    order: IntArray = np.lexsort((uneven @ others, uneven.sum(axis=1), -table.sum(axis=1)))
    return order


def _g(table: FloatArray) -> float:
    """2 n times the plug-in information of a table, in nats."""
    rows, columns, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    return 2.0 * float(
        xlogy(table, table).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum() + xlogy(total, total)
    )


def _margins(table: FloatArray) -> FloatArray:
    """Rows, marked ones, and drawn ones of each of the tables of two by two that a table (r, c) consists of, (m, 3).

    Each compares a row with all rows before it, in a column and in all columns before it.
    """
    above = np.cumsum(table, axis=0)
    corner = np.cumsum(above, axis=1)
    total, marked, drawn = corner[1:, 1:], corner[1:, :-1], corner[:-1, 1:]
    margins: FloatArray = np.stack([total.ravel(), marked.ravel(), drawn.ravel()], axis=1)
    return margins


def _tail(margins: FloatArray, found: float) -> float:
    """P(G >= found) for the sum of the G of tables of two by two with these margins (m, 3)."""
    total, marked, drawn = margins.T
    variances = marked * (total - marked) / total * drawn * (total - drawn) / total / np.maximum(total - 1.0, 1.0)
    n_dense, factorials = int((variances >= DENSE).sum()), gammaln(np.arange(total.max() + 2.0) + 1.0)
    sparse = [_distribution(row, factorials) for row in margins[variances < DENSE].astype(np.intp)]
    if not sparse or found <= 0.0:
        return float(gammaincc(0.5 * n_dense, 0.5 * found)) if n_dense and found > 0.0 else 1.0
    if len(sparse) == 1 and not n_dense:
        values, chances = sparse[0]
        return float(chances[values >= found].sum())
    step, sums = found / GRID, np.zeros(GRID + 1)
    sums[0] = 1.0
    for values, chances in sparse:
        places = np.minimum(np.rint(values / step), GRID).astype(np.intp)
        together, more = np.bincount(places, chances), np.zeros(GRID + 1)
        for place, chance in zip(np.unique(places).tolist(), together[np.unique(places)].tolist(), strict=True):
            more[place:] += chance * sums[: GRID + 1 - place]
            more[GRID] += chance * sums[GRID + 1 - place :].sum()
        sums = more
    left = np.maximum(found - step * np.arange(GRID + 1), 0.0)
    tails = gammaincc(0.5 * n_dense, 0.5 * left) if n_dense else (left <= 0.5 * step).astype(np.float64)
    return float(sums @ tails)


def _distribution(margins: IntArray, factorials: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All values of G of a table of two by two with these margins (3,), and their probabilities.

    The count of marked ones among the drawn is hypergeometric.
    """
    total, marked, drawn = (int(margin) for margin in margins)
    low, high = max(0, marked + drawn - total), min(marked, drawn)
    cells = (slice(low, high + 1), slice(marked - high, marked - low + 1), slice(drawn - high, drawn - low + 1))
    last = slice(total - marked - drawn + low, total - marked - drawn + high + 1)
    whole = factorials[[marked, total - marked, drawn, total - drawn]].sum() - factorials[total]
    logs = whole - factorials[cells[0]] - factorials[cells[1]][::-1] - factorials[cells[2]][::-1] - factorials[last]
    counts = np.arange(low, high + 1.0)
    table = np.array([counts, marked - counts, drawn - counts, total - marked - drawn + counts])
    margin = np.array([marked, total - marked, drawn, total - drawn], dtype=np.float64)
    fixed = xlogy(total, total) - xlogy(margin, margin).sum()
    return 2.0 * (xlogy(table, table).sum(axis=0) + fixed), np.exp(logs)

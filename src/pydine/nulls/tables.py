"""Labels on all sides: the contingency table itself, exact where it is sparse.

The likelihood-ratio statistic G of a table is the sum of those of (r - 1)(c - 1) tables of two by two in each cell of z
(Lancaster 1949): a row and those before it, in a column and those before it. Given its margins, each of these has one
count, whose distribution under independence is hypergeometric. So the null distribution of G is that of a sum of
variables with known distributions, taken as independent. One of them alone is Fisher's exact test, ordered by G; more
are added up on a grid, where all terms are positive, so that the tail is as exact as the rest. Where counts vary much,
their part of G is chi-squared, as in the G-test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, xlogy

from pydine.inputs.kinds import Kind
from pydine.inputs.table import Question
from pydine.kernels.tables import added_up, stratified
from pydine.latents.projection import FIRST_SHARE
from pydine.nulls.pvalues import LEAST_PVALUE
from pydine.types import FloatArray, IntArray
from pydine.units.rows import equal_rows, row_marks

ROUNDING = 1e-7  # guard: relative differences of G that are due to rounding
GRID = 512  # precision: places from 0 to the observed G on which distributions are added up: errors of a 500th of G
LEAST_ROWS = 2.0  # answer: rows for each degree of freedom of a table; with fewer, counts are 0 and 1
ROUNDS = 2  # guard: of telling codes apart; what is the same after two is so in effect
DENSE = 30.0  # precision: variance of a count from which on its part of G is chi-squared


@dataclass(frozen=True, eq=False)
class CodeTable:
    """The table of codes x and y given codes z, shape (n,) each, from 0 on."""

    x: IntArray
    y: IntArray
    z: IntArray

    @classmethod
    def of(cls, question: Question) -> CodeTable | None:
        """The table of a question that it answers alone: both sides are labels, given whatever is discrete.

        None if it is too sparse.
        """
        x, y, z = map(set, question.kinds)
        if not question.table.rows.exchangeable:
            return None  # how often counts come up is known for rows that may come in any order
        if x | y != {Kind.NOMINAL} or any(kind.is_continuous for kind in z):
            return None
        found = cls(*map(question.table.codes, question.blocks))
        return None if found.is_sparse else found

    @cached_property
    def _found(self) -> tuple[float, IntArray, IntArray]:
        """G, margins of its tables of two by two (m, 3), rows in cells where x varies, and y does, and the cells."""
        codes = [np.ascontiguousarray(side, dtype=np.int64) for side in (self.x, self.y, self.z)]
        found: tuple[float, IntArray, IntArray] = stratified(*codes, np.array([side.max() + 1 for side in codes]))
        return found

    @property
    def is_sparse(self) -> bool:
        """Whether there are too few rows for the table's cells, or for those of z, to tell anything."""
        _, margins, (_, _, cells) = self._found
        return bool(len(margins) * LEAST_ROWS > len(self.x) or cells > FIRST_SHARE * len(self.x))

    @property
    def varies(self) -> bool:
        """Whether both sides vary within cells of z."""
        return bool(self._found[2][:2].all())

    @property
    def plug_in(self) -> float:
        """The plug-in information of x and y given z, in nats: G over twice the rows."""
        return max(self._found[0], 0.0) / (2.0 * len(self.x))

    @property
    def information(self) -> float:
        """The information of x and y given z, less the bias of the plug-in's first order, in nats."""
        return self.plug_in - len(self._found[1]) / (2.0 * len(self.x))

    @cached_property
    def pvalue(self) -> float:
        """P-value of independence, from all tables of the same margins; never 0."""
        g, margins, _ = self._found
        return min(max(_tail(margins, g * (1.0 - ROUNDING)), LEAST_PVALUE), 1.0)

    def permuted(self, n_permutations: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Plug-in nats of tables with rows of y permuted within each cell of z, and p-values by their ranks, (m,) each.

        Rows of each cell are put in a random order, and y is shifted against x there by a random number of rows.
        """
        x, y, z = _arranged(self.x, self.y, self.z)
        found = _permuted(x, y, z, n_permutations, rng)
        ranks = np.searchsorted(np.sort(found), found * (1.0 - ROUNDING), side="left")
        counts = np.bincount((z * (x.max() + 1) + x) * (y.max() + 1) + y).astype(np.float64)
        nats = self.plug_in + (found - xlogy(counts, counts).sum()) / len(x)
        return nats, (n_permutations - ranks) / n_permutations


def _arranged(x: IntArray, y: IntArray, z: IntArray) -> list[IntArray]:
    """Codes (n,) numbered by frequency and by what stands beside them, and their rows in order.

    Then what is drawn does not depend on what codes are called, on signs, on the order of rows, or on which side is x.
    """
    sides = [np.unique(side, return_inverse=True)[1] for side in (x, y, z)]
    keys = np.array([np.bincount(side)[side] for side in sides], dtype=np.float64)
    for _ in range(ROUNDS):  # each tells codes apart by those that the last has told apart
        marks = row_marks(keys)
        keys = np.array([_sums(side, marks) for side in sides])
    first, second = sorted((0, 1), key=lambda k: (int(sides[k].max()), int(row_marks(keys[[k, 2]]).sum())))
    found = [equal_rows(np.array([keys[k], sides[k]]))[0] for k in (first, second, 2)]
    order = np.lexsort(found)
    return [side[order] for side in found]


def _sums(codes: IntArray, marks: NDArray[np.uint64]) -> FloatArray:
    """For each row the sum of the marks (n,) of all rows with its code, which their order does not change."""
    sums = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
    np.add.at(sums, codes, marks)
    return sums.astype(np.float64)[codes]


def _permuted(x: IntArray, y: IntArray, z: IntArray, n_permutations: int, rng: np.random.Generator) -> FloatArray:
    """Sums of counts times their logarithms, of tables with rows permuted, shape (n_permutations,).

    They are n times the plug-in's nats up to a constant, as margins stay the same.
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
        found[i] = xlogy(counts, counts).sum()
    return found


def _tail(margins: IntArray, found: float) -> float:
    """P(G >= found) for the sum of the G of tables of two by two with these margins (m, 3)."""
    total, marked, drawn = margins.T.astype(np.float64)
    variances = marked * (total - marked) / total * drawn * (total - drawn) / total / np.maximum(total - 1.0, 1.0)
    sparse = margins[variances < DENSE]
    n_dense = len(margins) - len(sparse)
    if found <= 0.0 or not len(margins):
        return 1.0
    if not len(sparse):
        return float(gammaincc(0.5 * n_dense, 0.5 * found))
    sums = added_up(sparse, found, GRID)
    if not n_dense:
        return float(sums[-1])
    left = 0.5 * found * (1.0 - np.arange(GRID + 1.0) / GRID)
    return float(sums @ gammaincc(0.5 * n_dense, left))

"""Moments: cross-products of the latents of two sides, and of functions of them, with their degrees of freedom.

The test looks at correlations of `features`, in blocks:

- "correlation": latents with latents. It is summarised by the Gaussian closed form -0.5 ln det(I - C C'), which is
  DINE-Gaussian's own information.
- "bent in x", "bent in y" and "spread": squares with latents, latents with squares, squares with squares.
- "any shape": waves with waves, as far as the product of their frequencies goes. They are independent, so that their
  squares are chi-squared: their sum, each over its degree, and the largest with a penalty (`pvalues.Cells`).
- "changes with z": for correlation whose sign changes with z, so that none is left on average. Latents of one side with
  products of the other's and z (weighted GCM; Scheidegger, Hörrmann and Bühlmann 2022), and with waves of the other
  side before z was taken out of it. Those with z add up, as a slope may follow z in any direction, and the largest of
  all counts (`pvalues.Cells.with_sums`).

Every correlation is studentised by the empirical variance of the rows' products: heteroscedasticity that both sides
share (from what a flow missed of z, say) would otherwise count as dependence. `row_weights` and `studentised` are the
one place that knows the variance of a sum over rows.

Squares are skewed, and so are products of squares: a sum S of them has a long upper tail and, divided by the square
root of their empirical variance V, a long lower one. The third cumulant of S / V^a is 1 - 6a times that of S, and its
mean is -a times that cumulant (to first order, for S of mean 0 and V of mean 1). So the block where both sides are
squares is divided by V^(1/6), and its mean is corrected: the result is close to symmetric, and follows Wilks'
distribution far into the tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pydine.bases.closed_form import SMALLEST_VARIANCE
from pydine.latents.flows import Latents
from pydine.nulls.features import (
    LARGEST_DEGREE,
    LEAST_LEFT,
    Turned,
    Waves,
    squares_of,
    turn_degrees,
    turned_of,
    waves_of,
)
from pydine.nulls.pvalues import Cells, cauchy, closed_form, wilks_pvalue
from pydine.nulls.tables import CodeTable
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray

SQUARES = ("correlation", "bent in x", "bent in y", "spread")
BLOCKS = (*SQUARES, "any shape", "changes with z")
SHAPE = len(SQUARES)  # fact: the place of "any shape"
# answer: what a block counts. Most is the sum over all pairs of waves, in which whatever there is adds up; correlation
# counts as much as what is made of squares, and what changes with z has two sides and products with z. Blocks that a
# question does not have leave theirs to the others.
WEIGHTS = np.array([3.0, 1.0, 1.0, 1.0, 13.0, 3.0])
ROOT, ROOT_OF_SQUARES = 0.5, 1.0 / 6.0  # fact: the powers of a variance that studentise, and that remove skewness


def row_weights(leverages: FloatArray) -> FloatArray:
    """Factors (n,) on rows' products of squared residuals: 1 / (1 - leverage)^2, normalised; 0 for rows left out.

    The larger the leverage of a row, the smaller are its residuals on both sides, which would look like shared
    heteroscedasticity. Squared residuals divided by 1 - leverage are free of that (MacKinnon and White's HC2).
    """
    left, n = 1.0 - leverages, len(leverages)
    counted = left > LEAST_LEFT  # the residuals of the other rows are too small to tell their variance
    spread: FloatArray = np.where(counted, (left.mean() / np.maximum(left, LEAST_LEFT)) ** 2, 0.0) * n / counted.sum()
    return spread


def studentised(
    correlations: FloatArray, fourth: FloatArray | float, n: int, dof: float, skews: FloatArray | None = None
) -> FloatArray:
    """Correlations over their standard errors, times that of independent rows.

    Parameters
    ----------
    correlations : ndarray
        Summed products of features whose sums of squares are `dof`, divided by `dof`.
    fourth : ndarray or float
        Summed products of the squares of these features.
    n : int
    dof : float
    skews : ndarray, optional
        Products of both sides' third moments, where both are squares: with the power that removes skewness.
    """
    variances = fourth * (n / dof**2)
    if skews is None:
        return correlations / variances**ROOT
    return correlations / variances**ROOT_OF_SQUARES + skews * (ROOT_OF_SQUARES * n * n / dof**3)


def third_moments(columns: FloatArray) -> FloatArray:
    """Mean product of each column (d, n) with the rows' mean squares over all columns, shape (d,)."""
    moments: FloatArray = columns @ (columns * columns).mean(axis=0) / columns.shape[1]
    return moments


def shares_of(statistic: str, has_z: bool) -> FloatArray:
    """The weights of `BLOCKS` in a statistic, which sum to 1, shape (6,)."""
    place = np.arange(len(BLOCKS))
    used = {"auto": place >= 0, "gaussian": place == 0, "general": place > 0}[statistic]
    shares: FloatArray = np.where(used & ((place < len(BLOCKS) - 1) | has_z), WEIGHTS, 0.0)
    shares /= shares.sum()
    return shares


def combined(statistic: str, pvalues: FloatArray, has_z: bool) -> FloatArray:
    """The blocks' p-values (..., 6) combined into one, shape (...)."""
    return cauchy(pvalues, shares_of(statistic, has_z))


def wave_degrees(orders_x: NDArray[np.intp], orders_y: NDArray[np.intp]) -> FloatArray:
    """Degrees of pairs of waves, 0 for pairs that do not count, shape (dy, K, dx, K)."""
    frequency = np.arange(1.0, LARGEST_DEGREE + 1.0)
    x, y = (np.where(frequency <= orders[:, None], frequency, np.inf) for orders in (orders_x, orders_y))
    degrees: FloatArray = np.multiply.outer(y, x)
    return np.where(degrees <= LARGEST_DEGREE, degrees, 0.0)


@dataclass(frozen=True)
class Moments:
    """Features of two sides; latents and squares are whitened so that their cross-product is dof times the identity.

    Parameters
    ----------
    x, y : tuple of two ndarrays, shapes (dx, n) and (dy, n)
        Latents and squares.
    dof : float
        Degrees of freedom of the rows after projection.
    leverages : ndarray, shape (n,), or None
        Leverages of the rows in the projection; without them nothing is studentised, as in the paper.
    squared : bool
        Whether the second array of each side holds true squares, and not columns that take their place.
    waves : tuple of two Waves, optional
        Without them, there is no block of any shape, unless there is a table.
    turned : tuple of two Turned, optional
        Functions of latents and z, for signs that change.
    table : CodeTable, optional
        If all columns are discrete: it then takes the place of waves.
    rows : Rows
        How rows depend on each other: correlations become those of independent rows with the same p-values.
    """

    x: tuple[FloatArray, FloatArray]
    y: tuple[FloatArray, FloatArray]
    dof: float
    leverages: FloatArray | None
    squared: bool = True
    waves: tuple[Waves, Waves] | None = None
    turned: tuple[Turned, Turned] | None = None
    table: CodeTable | None = None
    rows: Rows = INDEPENDENT

    @classmethod
    def of(cls, latents: Latents, *, studentised: bool = True) -> Moments:
        """Features of latents, with the same functions of z projected out of all, in canonical order."""
        seen = latents.seen()
        columns = seen.both / seen.both.std(axis=1, keepdims=True)
        (squares, squared), dx, rows = squares_of(columns, seen), seen.dimensions[0], seen.outwards
        x, y, table = slice(dx), slice(dx, None), _table_of(seen)
        waves = waves_of(columns, seen) if table is None else None
        turned = None
        if seen.dimensions[2]:
            turned = turned_of(np.vstack([_white(columns[side], seen.dof) for side in (x, y)]), seen)
        columns, squares = columns[:, rows], squares[:, rows]
        return cls.whitened(
            (columns[x], squares[x]),
            (columns[y], squares[y]),
            seen.dof,
            seen.leverages[rows] if studentised else None,
            bool(squared.all()),
            None if waves is None else (waves.of(x, rows), waves.of(y, rows)),
            None if turned is None else (turned.of(x, rows), turned.of(y, rows)),
            table,
            seen.sampling.only(rows),
        )

    @classmethod
    def whitened(
        cls,
        x: tuple[FloatArray, FloatArray],
        y: tuple[FloatArray, FloatArray],
        dof: float,
        leverages: FloatArray | None,
        squared: bool = True,
        *more: object,
    ) -> Moments:
        """Whiten latents and squares, shapes (dx, n) and (dy, n), from which functions of z were projected out."""
        white = [(_white(side[0], dof), _white(side[1], dof)) for side in (x, y)]
        return cls(white[0], white[1], dof, leverages, squared, *more)  # type: ignore[arg-type]

    @property
    def has_z(self) -> bool:
        """Whether there is a block of what changes with z."""
        return self.turned is not None

    def statistics(self) -> FloatArray:
        """The statistics of latents and squares in nats, in the order of `SQUARES`, shape (4,)."""
        return self._statistics.copy()

    def pvalues(self) -> FloatArray:
        """P-values of all blocks under independence, in the order of `BLOCKS`, shape (6,)."""
        pvalues: FloatArray = self._pvalues(AS_THEY_ARE, self.statistics()[None], is_sample=True)[0]
        if self.table is not None:
            pvalues[SHAPE] = self.table.pvalue
        return pvalues

    @cached_property
    def _statistics(self) -> FloatArray:
        spread = 1.0 if self.leverages is None else row_weights(self.leverages)
        blocks: FloatArray = self._squares(AS_THEY_ARE, 1.0, spread)[0]
        return blocks

    def permuted(self, n_permutations: int) -> tuple[FloatArray, FloatArray]:
        """Statistics (n_permutations, 4) and p-values (n_permutations, 6) with the rows of y permuted.

        The rows of both sides are put in random orders, and y is shifted cyclically against x: each shift is as random
        a permutation as any other, and the sums of products for all n shifts are one product with a circulant matrix,
        computed by Fourier transforms. If more than n permutations are needed, other random orders follow. The draws
        have a fixed seed, and rows must come in a canonical order, so that the same data have the same null
        distribution.

        Permuted rows no longer lie in the space that the projection left, so their correlations are too small by a
        factor of sqrt(dof / n), and are divided by it.
        """
        n, rng = self.x[0].shape[1], np.random.default_rng(n_permutations)
        if not self.rows.exchangeable:
            return self._flipped(n_permutations, rng)
        factor = 1.0 if self.leverages is None else float(np.sqrt(n / self.dof))  # the paper's are left as they are
        statistics, pvalues = [], []
        for start in range(0, n_permutations, n):
            shifts = _Shifts.draw(n, min(n, n_permutations - start), rng)
            statistics.append(self._squares(shifts, factor, 1.0))
            pvalues.append(self._pvalues(shifts, statistics[-1], is_sample=False))
        found = np.vstack(pvalues)
        if self.table is not None:
            found[:, SHAPE] = self.table.permuted(n_permutations, rng)[1]
        return np.vstack(statistics), found

    def _flipped(self, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Statistics and p-values with random signs of the products of rows that depend on each other.

        Under independence of the sides, sums over clusters or stretches of time are as likely as with the other sign.
        """
        flips = _Flips(self.rows.flips(self.x[0].shape[1], count, rng))
        spread = 1.0 if self.leverages is None else row_weights(self.leverages)
        statistics = self._squares(flips, 1.0, spread)
        return statistics, self._pvalues(flips, statistics, is_sample=True)

    def _squares(self, products: Products, factor: float, spread: FloatArray | float) -> FloatArray:
        """Statistics of latents and squares for each of m arrangements of the rows of y, shape (m, 4).

        Correlations are multiplied by `factor`, and the rows' products of squared residuals, of which the variances are
        made, by `spread`.
        """
        n, dx, x = self.x[0].shape[1], len(self.x[0]), np.vstack(self.x)
        x_sizes = np.stack([(part * part).mean(axis=0) for part in self.x]) * spread
        columns = []
        for j, y in enumerate(self.y):  # the order of BLOCKS: x runs fastest
            sums = products(x, y) / self.dof
            blocks = sums.reshape(len(sums), len(y), 2, dx)
            found = [blocks[:, :, i] for i in range(2)]
            if self.leverages is not None:
                fourth = products.even(x_sizes, (y * y).mean(axis=0, keepdims=True))[..., None]  # (m, 1, 2, 1)
                skews = np.multiply.outer(third_moments(y), third_moments(self.x[1]))
                both = (None, skews if j == 1 and self.squared else None)
                found = [studentised(found[i], fourth[:, :, i], n, self.dof, both[i]) for i in range(2)]
                effects = [self.rows.effects(part, y) for part in self.x]
                found = [effect.correlations(block, self.dof) for effect, block in zip(effects, found, strict=True)]
            columns += [closed_form(block * factor) for block in found]
        return np.stack(columns, axis=1)

    def _pvalues(self, products: Products, statistics: FloatArray, is_sample: bool) -> FloatArray:
        """P-values of all blocks for m arrangements of the rows, from the statistics (m, 4), shape (m, 6)."""
        found = np.ones((len(statistics), len(BLOCKS)))
        found[:, :4] = wilks_pvalue(statistics, len(self.x[0]), len(self.y[0]), self.dof)
        if self.waves is not None:
            found[:, SHAPE] = self._any_shape(products, self.waves, is_sample)
        if self.turned is not None:
            found[:, -1] = self._changing(products, self.turned, is_sample)
        return found

    def _any_shape(self, products: Products, waves: tuple[Waves, Waves], is_sample: bool) -> FloatArray:
        """P-values of waves with waves, shape (m,).

        Without z, independent columns in any order are as likely as in any other, so that the variance of a sum of
        products is known; so it is under permutation. With z, waves are made of residuals that are divided by the root
        of 1 - leverage, and the projection takes less out of slow ones again than out of fast ones: the factors on rows
        lie between those of the two.
        """
        x, y = waves
        n, degrees = x.values.shape[2], wave_degrees(x.orders, y.orders)
        spread = None
        if is_sample and self.has_z and self.leverages is not None:
            spread = np.sqrt(row_weights(self.leverages))
        share = self.dof / n if is_sample else 1.0
        total, largest = np.zeros(1), np.full(1, -np.inf)
        counted = degrees.reshape(len(y.values) * LARGEST_DEGREE, -1)
        for right, degree in zip(y.values.reshape(-1, 1, n), counted, strict=True):
            if not (used := degree > 0.0).any():
                continue
            left = x.values.reshape(-1, n)[used]
            sizes = n if spread is None else products.even(left * left * spread, right * right)[:, 0]
            squares = self.rows.effects(left, right).squares(products(left, right)[:, 0] ** 2 * (share / sizes))
            total = total + squares @ (1.0 / degree[used])
            largest = np.maximum(largest, (squares - 2.0 * np.log(degree[used])).max(axis=1))
        every = degrees > 0.0
        return Cells.of(degrees[every]).pvalues(total, largest) if every.any() else np.ones(1)

    def _changing(self, products: Products, turned: tuple[Turned, Turned], is_sample: bool) -> FloatArray:
        """P-values of products of latents with functions of z, shape (m,); functions stay with rows of their side."""
        (x, _), (y, _), n = self.x, self.y, self.x[0].shape[1]
        spread = row_weights(self.leverages) if is_sample and self.leverages is not None else 1.0
        shares, share = turned[0].shares, self.dof / n if is_sample else 1.0
        x_turned, y_turned = (side.values.reshape(-1, n) for side in turned)
        sums = [products(x_turned, y), products(x, y_turned).transpose(0, 2, 1)]
        sizes = [products.even(x_turned**2 * spread, y**2)]
        sizes.append(products.even(x**2 * spread, y_turned**2).transpose(0, 2, 1))
        effects = [self.rows.effects(x_turned, y), self.rows.effects(y_turned, x)]
        penalties, largest, totals = 2.0 * np.log(turn_degrees(len(shares))), np.full(1, -np.inf), []
        for one, size, effect in zip(sums, sizes, effects, strict=True):
            squares = effect.squares(changes(one, size) * share).reshape(len(one), -1, len(penalties))
            totals.append((squares[:, :, : len(shares)] @ shares).sum(axis=1))
            largest = np.maximum(largest, (squares - penalties).max(axis=(1, 2)))
        pairs = len(x) * len(y)
        cells = Cells.of(np.tile(turn_degrees(len(shares)), 2 * pairs))
        return cells.with_sums(totals, pairs * shares.sum(), largest)


@dataclass(frozen=True)
class LabelMoments:
    """What `Moments` has of latents, of a table of labels: it has their correlations exactly, and is every block."""

    table: CodeTable

    @property
    def has_z(self) -> bool:
        """Whether there is a block of what changes with z."""
        return bool(self.table.z.any())

    def statistics(self) -> FloatArray:
        """See `Moments`: nats of the table."""
        return np.full(len(SQUARES), self.table.plug_in)

    def pvalues(self) -> FloatArray:
        """See `Moments`."""
        return np.full(len(BLOCKS), self.table.pvalue)

    def permuted(self, n_permutations: int) -> tuple[FloatArray, FloatArray]:
        """See `Moments`; rows of y are permuted within each cell of z."""
        nats, pvalues = self.table.permuted(n_permutations, np.random.default_rng(n_permutations))
        return np.tile(nats, (len(SQUARES), 1)).T, np.tile(pvalues, (len(BLOCKS), 1)).T


def moments_of(tested: Latents | CodeTable, *, studentised: bool = True) -> Moments | LabelMoments:
    """What the test compares with its null distribution: of latents, or of a table of labels."""
    return LabelMoments(tested) if isinstance(tested, CodeTable) else Moments.of(tested, studentised=studentised)


def changes(sums: FloatArray, variances: FloatArray) -> FloatArray:
    """Squared sums of products over their variances; 0 where a function of z is 0 throughout."""
    squares: FloatArray = sums * sums / np.maximum(variances, SMALLEST_VARIANCE)
    return squares


class Products(Protocol):
    """Sums of products of x (p, n) and y (q, n) in m arrangements of the rows, shape (m, q, p)."""

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Of features."""
        ...

    def even(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Of squares of features, of which variances are made."""
        ...


class _AsTheyAre:
    """The rows as they are, m = 1."""

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        sums: FloatArray = (y @ x.T)[None]
        return sums

    even = __call__


AS_THEY_ARE = _AsTheyAre()


@dataclass(frozen=True)
class _Flips(_AsTheyAre):
    """Sums of products with signs (m, n) of the rows; squares have no sign."""

    signs: FloatArray

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        sums: FloatArray = np.stack([self.signs @ (x * column).T for column in y], axis=1)
        return sums

    even = _AsTheyAre.__call__


@dataclass(frozen=True)
class _Shifts:
    """Sums of products with the rows of x and y in random orders (n,), and y shifted by each of `steps` (m,) rows."""

    x_order: NDArray[np.intp]
    y_order: NDArray[np.intp]
    steps: NDArray[np.intp]

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> _Shifts:
        """Draw orders of n rows, and `count` different shifts."""
        return cls(rng.permutation(n), rng.permutation(n), rng.choice(n, count, replace=False))

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Sum over rows of x (p, n) times y (q, n), shape (m, q, p)."""
        from scipy.fft import irfft, rfft  # half as long to import as all of this package

        n = x.shape[1]
        backwards = np.conj(rfft(x[:, self.x_order]))
        sums = np.empty((len(self.steps), len(y), len(x)))
        for i, column in enumerate(y):
            sums[:, i] = irfft(backwards * rfft(column[self.y_order]), n)[:, self.steps].T
        return sums

    even = __call__


def _table_of(latents: Latents) -> CodeTable | None:
    """The table of codes of discrete columns, if it is not too sparse and rows may come in any order."""
    if latents.codes is None or not latents.rows.exchangeable:
        return None
    table = CodeTable(*latents.codes)
    return None if table.is_sparse else table


def _white(columns: FloatArray, dof: float) -> FloatArray:
    """Columns (d, n) times the inverse root of their cross-product: in another order, each is still what it was."""
    sizes, directions = np.linalg.eigh(columns @ columns.T / dof)
    white: FloatArray = (directions / np.sqrt(sizes)) @ directions.T @ columns
    return white

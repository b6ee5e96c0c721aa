"""Dependence between latents: block statistics, their p-values, and their distribution under permutation.

Each side has its latents and their squares, with functions of z projected out. The four blocks of correlations (latents
with latents, squares with latents, latents with squares, squares with squares) are each summarised by the Gaussian
closed form -0.5 ln det(I - C C'): the first is DINE-Gaussian's own information, the others detect dependence without
correlation. A block is studentised first, by the empirical variance of the rows' products: heteroscedasticity that both
sides share (from what a flow missed of z, say) would otherwise count as dependence.

Squares are skewed, and so are products of squares: a sum S of them has a long upper tail and, divided by the square
root of their empirical variance V, a long lower one. The third cumulant of S / V^a is 1 - 6a times that of S, and its
mean is -a times that cumulant (to first order, for S of mean 0 and V of mean 1). So the last block, where both sides
are squares, is divided by V^(1/6), and its mean is corrected: the result is close to symmetric, and follows Wilks'
distribution far into the tail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from pydine.latents.triangular import solve_lower
from pydine.types import FloatArray

Products = Callable[[FloatArray, FloatArray], FloatArray]  # x (p, n) and y (q, n) to their sums of products (m, q, p)

BLOCKS = ("latents", "squares of x", "squares of y", "squares of both")
LEAST_LEFT = 0.05  # answer: least 1 - leverage, which is divided by; rows with less do not count in the variance
ROOT, ROOT_OF_SQUARES = 0.5, 1.0 / 6.0  # fact: the powers of a variance that studentise, and that remove skewness
LARGEST_CORRELATION = 1.0 - 1e-12  # guard: for -ln(1 - r^2) to be finite


@dataclass(frozen=True)
class Sides:
    """Latents and squares of two sides, each whitened so that its cross-product is dof times the identity matrix.

    Parameters
    ----------
    x, y : tuple of two ndarrays, shapes (dx, n) and (dy, n)
    dof : float
        Degrees of freedom of the rows after projection.
    leverages : ndarray, shape (n,), or None
        Leverages of the rows in the projection; with them, correlations are studentised by the empirical variance of
        the rows' products.
    squared : bool
        Whether the second array of each side holds true squares, and not columns that take their place.
    """

    x: tuple[FloatArray, FloatArray]
    y: tuple[FloatArray, FloatArray]
    dof: float
    leverages: FloatArray | None
    squared: bool = True

    @classmethod
    def of(
        cls,
        x: tuple[FloatArray, FloatArray],
        y: tuple[FloatArray, FloatArray],
        dof: float,
        leverages: FloatArray | None,
        squared: bool = True,
    ) -> Sides:
        """Whiten latents and squares, shapes (dx, n) and (dy, n), from which functions of z were projected out."""
        white = [(_white(side[0], dof), _white(side[1], dof)) for side in (x, y)]
        return cls(white[0], white[1], dof, leverages, squared)

    def statistics(self) -> FloatArray:
        """The four block statistics in nats, in the order of `BLOCKS`, shape (4,).

        The larger the leverage of a row, the smaller are its residuals on both sides, which would look like shared
        heteroscedasticity. Squared residuals divided by 1 - leverage are free of that (MacKinnon and White's HC2).
        """
        spread = 1.0 if self.leverages is None else _spread(self.leverages)
        blocks: FloatArray = self._statistics(_as_they_are, spread=spread)[0]
        return blocks

    def permuted_statistics(self, n_permutations: int) -> FloatArray:
        """Block statistics with the rows of y permuted, shape (n_permutations, 4).

        The rows of both sides are put in random orders, and y is shifted cyclically against x: each shift is as random
        a permutation as any other, and the sums of products for all n shifts are one product with a circulant matrix,
        computed by Fourier transforms. If more than n permutations are needed, other random orders follow. The draws
        have a fixed seed, and rows must come in a canonical order, so that the same data have the same null
        distribution.

        Permuted rows no longer lie in the space that the projection left, so their correlations are too small by a
        factor of sqrt(dof / n), and are divided by it.
        """
        n, rng = self.x[0].shape[1], np.random.default_rng(n_permutations)
        factor = 1.0 if self.leverages is None else np.sqrt(n / self.dof)  # the paper's are left as they are
        counts = (min(n, n_permutations - start) for start in range(0, n_permutations, n))
        return np.vstack([self._statistics(_Shifts.draw(n, count, rng), factor) for count in counts])

    def _statistics(self, products: Products, factor: float = 1.0, spread: FloatArray | float = 1.0) -> FloatArray:
        """Block statistics for each of m arrangements of the rows of y, shape (m, 4).

        Correlations are multiplied by `factor`, and the rows' products of squared residuals, of which the variances are
        made, by `spread`.
        """
        n, dx, x = self.x[0].shape[1], len(self.x[0]), np.vstack(self.x)
        x_sizes = np.stack([(part * part).mean(axis=0) for part in self.x]) * spread
        columns = []
        for j, y in enumerate(self.y):  # the order of BLOCKS: x runs fastest
            sums = products(x, y) / self.dof
            blocks = sums.reshape(len(sums), len(y), 2, dx)
            if self.leverages is not None:
                y_sizes = (y * y).mean(axis=0, keepdims=True)
                variances = products(x_sizes, y_sizes) * (n / self.dof**2)  # (m, 1, 2); 1 if homoscedastic
                powers = np.array([ROOT, ROOT_OF_SQUARES if j == 1 and self.squared else ROOT])
                blocks = blocks / (variances**powers)[..., None]
                if j == 1 and self.squared:
                    skews = np.multiply.outer(third_moments(y), third_moments(self.x[1]))
                    blocks[:, :, 1] += mean_of_squares(skews, n, self.dof)
            columns += [closed_form(blocks[:, :, i] * factor) for i in range(2)]
        return np.stack(columns, axis=1)

    def pvalues(self, statistics: FloatArray) -> FloatArray:
        """P-values of block statistics (..., 4) under independence, by Wilks' distribution."""
        dx, dy = len(self.x[0]), len(self.y[0])
        return wilks_pvalue(statistics, dx, dy, self.dof)


def _as_they_are(x: FloatArray, y: FloatArray) -> FloatArray:
    """Sums over rows of x (p, n) times y (q, n), shape (1, q, p)."""
    sums: FloatArray = (y @ x.T)[None]
    return sums


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


def _spread(leverages: FloatArray) -> FloatArray:
    """Factors (n,) on rows' products of squared residuals: 1 / (1 - leverage)^2, normalised; 0 for rows left out."""
    left, n = 1.0 - leverages, len(leverages)
    counted = left > LEAST_LEFT  # the residuals of the other rows are too small to tell their variance
    spread: FloatArray = np.where(counted, (left.mean() / np.maximum(left, LEAST_LEFT)) ** 2, 0.0) * n / counted.sum()
    return spread


def third_moments(columns: FloatArray) -> FloatArray:
    """Mean product of each column (d, n) with the rows' mean squares over all columns, shape (d,)."""
    moments: FloatArray = columns @ (columns * columns).mean(axis=0) / columns.shape[1]
    return moments


def mean_of_squares(skews: FloatArray, n: int, dof: float) -> FloatArray:
    """Minus the null mean of correlations of squares divided by V^(1/6), from products of both third moments."""
    return skews * (ROOT_OF_SQUARES * n * n / dof**3)


def pairwise_block_pvalues(
    columns: FloatArray, squares: FloatArray, dof: float, leverages: FloatArray, squared: NDArray[np.bool_]
) -> FloatArray:
    """P-values of the blocks of every pair of columns, as those of `Sides` for one pair, by a few matrix products.

    Parameters
    ----------
    columns, squares : ndarray, shape (p, n)
        Latents and their squares, with functions of z projected out of both; they are scaled in place.
    dof : float
    leverages : ndarray, shape (n,)
    squared : ndarray of bool, shape (p,)
        Which of `squares` are true squares, and not columns that take their place.

    Returns
    -------
    ndarray, shape (p (p - 1) / 2, 4)
        Pairs in the order of ``np.triu_indices(p, 1)``, blocks in that of `BLOCKS`.
    """
    tiles, every = Tiles.of(columns, squares, dof, leverages, squared), slice(None)
    pair = np.triu_indices(len(columns), 1)
    found = np.empty((len(pair[0]), len(BLOCKS)))
    for i, block in enumerate(tiles.blocks(every, every, tiles.correlations(every, every))):
        found[:, i] = beta_pvalues(block[pair], dof)
    return found


@dataclass(frozen=True)
class Tiles:
    """`pairwise_block_pvalues` for two sets of columns at a time, where all pairs would not fit into memory.

    Parameters
    ----------
    columns, squares : ndarray, shape (p, n)
        As in `pairwise_block_pvalues`, scaled to a cross-product of `dof`.
    spread : ndarray, shape (n,)
        Factors on the rows' products of squared residuals.
    dof : float
    squared : ndarray of bool, shape (p,)
    """

    columns: FloatArray
    squares: FloatArray
    spread: FloatArray
    dof: float
    squared: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        columns: FloatArray,
        squares: FloatArray,
        dof: float,
        leverages: FloatArray,
        squared: NDArray[np.bool_],
    ) -> Tiles:
        """Scale columns and squares, in place."""
        for part in (columns, squares):
            part /= np.sqrt(np.einsum("ij,ij->i", part, part) / dof)[:, None]
        return cls(columns, squares, _spread(leverages), dof, squared)

    def correlations(self, first: slice, second: slice) -> FloatArray:
        """Correlations of two sets of columns, not studentised, shape (p1, p2)."""
        products: FloatArray = self.columns[first] @ self.columns[second].T / self.dof
        return products

    def pvalues(self, first: slice, second: slice, correlations: FloatArray) -> FloatArray:
        """P-values of the blocks of pairs, whose `correlations` are known, shape (p1, p2, 4)."""
        found = np.empty((*correlations.shape, len(BLOCKS)))
        for i, block in enumerate(self.blocks(first, second, correlations)):
            found[:, :, i] = beta_pvalues(block, self.dof)
        return found

    def blocks(self, first: slice, second: slice, correlations: FloatArray) -> Iterator[FloatArray]:
        """Studentised correlations, each (p1, p2), in the order of `BLOCKS`."""
        x, y = ((self.columns[side], self.squares[side]) for side in (first, second))
        for j, i in np.ndindex(2, 2):
            products = correlations if i == j == 0 else x[i] @ y[j].T / self.dof
            variances = (x[i] * x[i] * self.spread) @ (y[j] * y[j]).T * (self.columns.shape[1] / self.dof**2)
            if i == j == 1:
                yield self._of_squares(first, second, products, variances)
            else:
                yield products / np.sqrt(variances)

    def _of_squares(self, first: slice, second: slice, products: FloatArray, variances: FloatArray) -> FloatArray:
        """Studentised correlations of squares (p1, p2), with skewness removed where both are true squares."""
        n = self.columns.shape[1]
        skews = [np.einsum("ij,ij,ij->i", part, part, part) / n for part in (self.squares[first], self.squares[second])]
        both = np.logical_and.outer(self.squared[first], self.squared[second])
        mended = products / variances**ROOT_OF_SQUARES + mean_of_squares(np.multiply.outer(*skews), n, self.dof)
        return np.where(both, mended, products / np.sqrt(variances))


def beta_pvalues(correlations: FloatArray, dof: float) -> FloatArray:
    """P-values of correlations between single columns: Wilks' lambda, 1 - r^2, has a beta distribution."""
    share = np.clip(1.0 - correlations**2, 1.0 - LARGEST_CORRELATION, 1.0)
    pvalues: FloatArray = np.maximum(betainc(0.5 * (dof - 1), 0.5, share), np.finfo(np.float64).tiny)
    return pvalues


def wilks_pvalue(information: FloatArray, dx: int, dy: int, dof: float) -> FloatArray:
    """P-value of the Gaussian closed form under independence: Wilks' lambda by Rao's F.

    Parameters
    ----------
    information : ndarray
        Nats, without any correction: -0.5 ln(lambda).
    dx, dy : int
    dof : float

    Returns
    -------
    ndarray
        Exact in Gaussian samples for min(dx, dy) <= 2. Never 0: what underflows is the smallest positive number.
    """
    spread = dx * dx + dy * dy - 5
    s = np.sqrt((dx * dx * dy * dy - 4.0) / spread) if spread > 0 else 1.0
    first = dx * dy
    second = (dof - 0.5 * (dx + dy + 1)) * s - 0.5 * first + 1.0
    # With L = lambda^(1/s), F = (1 - L) / L * second / first, and P(F' > F) = I_L(second / 2, first / 2).
    share = np.exp(-2.0 * np.asarray(information) / s)
    pvalue: FloatArray = np.maximum(betainc(0.5 * second, 0.5 * first, share), np.finfo(np.float64).tiny)
    return pvalue


def simes(pvalues: FloatArray, weights: FloatArray) -> FloatArray:
    """Combine p-values along the last axis by Simes' method with weights, shape (m,), that sum to 1.

    The result is the minimum over j of the j-th smallest p-value divided by the sum of the weights up to it. It is
    valid if the p-values are not negatively dependent, and at least as powerful as Bonferroni's method.
    """
    order = np.argsort(pvalues, axis=-1)
    shares = np.cumsum(weights[order], axis=-1)
    combined: FloatArray = np.minimum((np.take_along_axis(pvalues, order, axis=-1) / shares).min(axis=-1), 1.0)
    return combined


def closed_form(correlations: FloatArray) -> FloatArray:
    """-0.5 ln det(I - C C') of stacked matrices (m, dy, dx), in nats, shape (m,)."""
    one = correlations.shape[1:] == (1, 1)
    squares = (correlations[:, 0] if one else np.linalg.svd(correlations, compute_uv=False)) ** 2
    information: FloatArray = -0.5 * np.log1p(-np.minimum(squares, LARGEST_CORRELATION)).sum(axis=-1)
    return information


def _white(columns: FloatArray, dof: float) -> FloatArray:
    factor = np.linalg.cholesky(columns @ columns.T / dof)
    white: FloatArray = solve_lower(factor, columns)
    return white


def adjusted(pvalues: FloatArray, method: str) -> FloatArray:
    """P-values (m,) adjusted for multiple testing: ``"bh"`` (Benjamini-Hochberg) or ``"holm"``."""
    order, m = np.argsort(pvalues), len(pvalues)
    if method == "bh":  # as scipy.stats has it, which takes half a second to import
        stepwise = np.minimum.accumulate((pvalues[order] * (m / np.arange(1.0, m + 1.0)))[::-1])[::-1]
    else:
        stepwise = np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1))
    found = np.empty_like(pvalues)
    found[order] = np.minimum(stepwise, 1.0)
    return found

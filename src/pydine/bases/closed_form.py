"""From latents to nats: the Gaussian closed form, its bias, and its standard error."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, expit, ndtri, polygamma

from pydine.latents.directions import BEYOND
from pydine.latents.triangular import solve_lower
from pydine.types import FloatArray

# precision: for larger samples the bias from ranks is simulated with this many rows and scaled, since it falls as 1/n.
ENOUGH_ROWS = 10_000
BIAS_REPLICATES = 16  # precision: bootstrap replicates: their Monte Carlo error is a tenth of a standard error
SMALLEST_VARIANCE = 1e-10  # guard: of a latent, or of a combination of latents; less is rounding


def is_singular(covariance: FloatArray) -> bool:
    """Whether a covariance (d, d), or a multiple of it, is singular: some column is a combination of others."""
    scale = np.sqrt(np.diag(covariance))
    return bool(np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] < SMALLEST_VARIANCE)


def gaussian_information(covariance: FloatArray, dx: int) -> float:
    """I(X';Y') of jointly Gaussian latents, 0.5 ln(det S_x det S_y / det S_xy) (paper, DINE-Gaussian).

    Parameters
    ----------
    covariance : ndarray, shape (dx + dy, dx + dy)
        Covariance of x' and y', or any multiple of it: the factor cancels.
    dx : int

    Returns
    -------
    float
        Nats.
    """
    whole, x, y = (np.linalg.slogdet(m)[1] for m in (covariance, covariance[:dx, :dx], covariance[dx:, dx:]))
    return float(0.5 * (x + y - whole))


def wishart_bias(dx: int, dy: int, dof: float) -> float:
    """Bias of the closed form in a Gaussian sample, exactly: about dx dy / (2 dof) nats.

    E ln det W = d ln 2 + sum_i digamma((dof + 1 - i) / 2) for a standard Wishart matrix of size d.
    """

    def mean_log_det(d: int) -> float:
        return float(d * np.log(2.0) + digamma((dof - np.arange(d)) / 2.0).sum())

    return 0.5 * (mean_log_det(dx) + mean_log_det(dy) - mean_log_det(dx + dy))


def corrected_information(covariance: FloatArray, dx: int, dof: float) -> tuple[float, float]:
    """The closed form of a covariance (dx + dy, dx + dy) less its bias, and its standard error, in nats."""
    chance = wishart_bias(dx, len(covariance) - dx, dof)
    return gaussian_information(covariance, dx) - chance, gaussian_standard_error(covariance, dx, dof)


def adjusted_canonical_correlations(
    covariance: FloatArray, dx: int, dof: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Squared canonical correlations of x' and y', corrected for bias as an adjusted R^2 is.

    Parameters
    ----------
    covariance : ndarray, shape (dx + dy, dx + dy)
    dx : int
    dof : float

    Returns
    -------
    squares : ndarray, shape (min(dx, dy),)
        Between 0 and 1. Uncorrected, they are biased upwards, under independence by max(dx, dy) / dof each.
    x_loadings, y_loadings : ndarray, shapes (dx, min(dx, dy)) and (dy, min(dx, dy))
        Covariances of x' and of y' with the canonical variables.
    """
    x_factor, y_factor = np.linalg.cholesky(covariance[:dx, :dx]), np.linalg.cholesky(covariance[dx:, dx:])
    half = solve_lower(x_factor, covariance[:dx, dx:])
    left, r, right = np.linalg.svd(solve_lower(y_factor, half.T).T, full_matrices=False)
    chance = max(1.0 - max(dx, len(covariance) - dx) / dof, 1e-12)
    squares = np.clip(1.0 - (1.0 - r * r) / chance, 0.0, 1.0)
    return squares, x_factor @ left, y_factor @ right.T


def without_chance(covariance: FloatArray, dx: int, dof: float) -> FloatArray:
    """Covariance of x' and y' with the canonical correlations corrected for their upward bias, same shape."""
    squares, x_loadings, y_loadings = adjusted_canonical_correlations(covariance, dx, dof)
    model = covariance.copy()
    model[:dx, dx:] = x_loadings * np.sqrt(squares) @ y_loadings.T
    model[dx:, :dx] = model[:dx, dx:].T
    return model


def canonical_squares(covariance: FloatArray, dx: int) -> FloatArray:
    """Squared canonical correlations of x' and y', as they are, in descending order, shape (min(dx, dy),)."""
    x_factor, y_factor = np.linalg.cholesky(covariance[:dx, :dx]), np.linalg.cholesky(covariance[dx:, dx:])
    half = solve_lower(y_factor, solve_lower(x_factor, covariance[:dx, dx:]).T)
    squares: FloatArray = np.asarray(np.linalg.svd(half, compute_uv=False) ** 2, dtype=np.float64)
    return squares


def spikes(squares: FloatArray, dx: int, dy: int, dof: float) -> FloatArray:
    """Population values of the squared canonical correlations that stand out of the bulk of chance, shape (k,).

    Where dx and dy are not small beside the degrees of freedom, those of independent sides fill an interval up to an
    edge, and one that is not chance lies beyond it, at a place that tells its own size (Bao, Hu, Pan and Zhou 2019).

    Parameters
    ----------
    squares : ndarray, shape (min(dx, dy),)
        Of the sample.
    dx, dy : int
    dof : float
    """
    # The largest of chance, on the scale of logits (Johnstone 2008).
    small, large = (2.0 * np.arcsin(np.sqrt((d - 0.5) / (dof - 1.0))) for d in sorted((dx, dy)))
    place = 2.0 * np.log(np.tan(0.5 * (small + large)))
    sines = np.sin(small + large) ** 2 * np.sin(small) * np.sin(large)
    spread = np.cbrt(16.0 / ((dof - 1.0) ** 2 * sines))
    out = squares[squares > expit(place + BEYOND * spread)]
    a, b = dx / dof, dy / dof
    total = out - a * (1.0 - b) - b * (1.0 - a)
    shares: FloatArray = (total + np.sqrt(np.maximum(total**2 - 4.0 * a * b * (1.0 - a) * (1.0 - b), 0.0))) / (
        2.0 * (1.0 - a) * (1.0 - b)
    )
    return np.minimum(shares, 1.0)


def without_rank_noise(covariance: FloatArray, kept: FloatArray) -> FloatArray:
    """A covariance (d, d) of latents less the variance that ranks add to what z leaves of each (`kept_by_ranks`, (d,)).

    At most half of what makes the covariance singular is taken.
    """
    noise = np.diag(covariance) * (1.0 - kept**2)
    if not noise.any():
        return covariance
    spread = np.sqrt(np.maximum(noise, SMALLEST_VARIANCE * np.diag(covariance)))
    most = 0.5 * float(np.linalg.eigvalsh(covariance / np.outer(spread, spread))[0])
    left: FloatArray = covariance - np.diag(noise) * min(1.0, max(most, 0.0))
    return left


class RankEffect(NamedTuple):
    """The effect of ranks on an estimate: the bias in nats, to be subtracted, and the factor on the standard error."""

    bias: float
    inflation: float


def rank_effect(covariance: FloatArray, dx: int, dof: float, n: int) -> RankEffect:
    """The effect of ranks (normal scores in place of values) on the closed form, by a parametric bootstrap.

    Under a Gaussian copula it depends on the copula and on n alone. Each replicate draws n rows from the fitted copula
    and compares the closed form of their ranks with that of the rows themselves: the sampling error that both share
    cancels, so few replicates are enough. Their standard deviations are compared too.

    Parameters
    ----------
    covariance : ndarray, shape (dx + dy, dx + dy)
    dx : int
    dof : float
        Degrees of freedom of the covariance.
    n : int
        Rows of the sample.

    Returns
    -------
    RankEffect
        A function of the arguments alone: the draws are always the same.
    """
    if len(covariance) == 2:
        squares = adjusted_canonical_correlations(covariance, dx, dof)[0]
        bias, inflation = _on_curve(np.sqrt(squares), n)
        return RankEffect(float(bias[0]), float(inflation[0]))
    rows, replicates, rng = min(n, ENOUGH_ROWS), BIAS_REPLICATES, np.random.default_rng([dx, len(covariance) - dx])
    factor = np.linalg.cholesky(without_chance(covariance, dx, dof))
    table = ndtri(np.arange(1, rows + 1) / (rows + 1.0))
    scores = np.empty((len(factor), rows))
    from_ranks, from_rows = np.empty(replicates), np.empty(replicates)
    for i in range(replicates):
        drawn = factor @ rng.standard_normal((len(factor), rows))
        for column, order in zip(scores, np.argsort(drawn, axis=1), strict=True):
            column[order] = table
        drawn -= drawn.mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):  # near-copies of one side may have the same ranks: no value, left out below
            from_ranks[i] = gaussian_information(scores @ scores.T, dx)
        from_rows[i] = gaussian_information(drawn @ drawn.T, dx)
    return _compared(from_ranks, from_rows, rows / n)


def _compared(from_ranks: FloatArray, from_rows: FloatArray, share: float) -> RankEffect:
    """Compare replicates (m,); `share` is the number of their rows as a share of the sample's."""
    finite = np.isfinite(from_ranks)  # few rows may all have the same rank on both sides
    if finite.sum() < 2:
        return RankEffect(0.0, 1.0)
    from_ranks, from_rows = from_ranks[finite], from_rows[finite]
    spread = float(from_ranks.std() / from_rows.std())
    return RankEffect(float((from_ranks - from_rows).mean()) * share, 1.0 + max(0.0, spread - 1.0) * share)


def gaussian_standard_error(covariance: FloatArray, dx: int, dof: float) -> float:
    """Standard error of the closed form in a Gaussian sample.

    With canonical correlations r_i the variance is sum r_i^2 / n to first order, and where all are 0 or all are 1 it
    is known exactly from the determinants of Wishart matrices (trigammas); in between it is interpolated by the share
    of correlated dimensions. Normal scores of ranks have the same first-order variance.

    Parameters
    ----------
    covariance : ndarray, shape (dx + dy, dx + dy)
    dx : int
    dof : float

    Returns
    -------
    float
        Nats. It does not include the error of learning the transforms themselves.
    """
    share = float(adjusted_canonical_correlations(covariance, dx, dof)[0].mean())
    return wishart_error(dx, len(covariance) - dx, dof, share)


def wishart_error(dx: int, dy: int, dof: float, share: float = 0.0) -> float:
    """Standard error of the closed form, in nats, of independent sides, or where a share of dimensions is correlated.

    It is 0 if there are no columns.
    """
    small, large = sorted((dx, dy))
    i = np.arange(small)
    before = polygamma(1, (dof - i) / 2.0).sum()
    after = polygamma(1, np.maximum(dof - large - i, 0.5) / 2.0).sum()
    return float(0.5 * np.sqrt(max(after + (2.0 * share - 1.0) * before, 0.0)))


# --- many pairs of columns at once ------------------------------------------------------------------------------------

CURVE = np.tanh(np.linspace(0.0, 4.0, 17))  # correlations at which the effect of ranks is measured, 0 to 0.9993
CURVE_ROWS = 25_000  # precision: drawn at each of them, at least; all pairs share the curve's Monte Carlo error
CURVES_KEPT = 16  # memory: one for each number of rows


class PairInformation(NamedTuple):
    """Information of pairs of columns, and its standard error, in nats."""

    values: FloatArray
    standard_errors: FloatArray


def pair_information(
    correlations: FloatArray,
    dof: float,
    n: int,
    effects: FloatArray | None = None,
    kept: tuple[FloatArray, FloatArray] | None = None,
) -> PairInformation:
    """The bias-corrected closed form of each of many pairs of columns: -0.5 ln(1 - r^2) less its bias.

    The effect of ranks depends on r and n alone, so it is measured at a few correlations and interpolated.

    Parameters
    ----------
    correlations : ndarray, shape (m,)
        Correlations of normal scores; information is infinite where they are 1 or -1.
    dof : float
    n : int
        Rows of the sample.
    effects : ndarray, shape (m,), optional
        Of rows that depend on each other, on the variance of each (`sampling.Effects`).
    kept : tuple of two ndarray, shape (m,), optional
        What ranks keep of the correlations of either column (`latents.linear_effect`).

    Returns
    -------
    PairInformation
        Arrays of shape (m,).
    """
    noisy, spread = correlations, np.ones(len(correlations))
    if kept is not None:
        correlations = _without_noise(correlations, *kept)
        np.divide(1.0 - noisy**2, 1.0 - correlations**2, out=spread, where=np.abs(correlations) < 1.0)
    with np.errstate(divide="ignore"):
        plain = -0.5 * np.log1p(-(correlations**2))
    free = dof if effects is None else np.maximum(dof / effects, 3.0)
    squares = np.clip(1.0 - (1.0 - correlations**2) / (1.0 - 1.0 / free), 0.0, 1.0)  # as an adjusted R^2
    bias, inflation = _on_curve(np.sqrt(squares), n)
    before, after = polygamma(1, free / 2.0), polygamma(1, (free - 1.0) / 2.0)
    errors = 0.5 * np.sqrt(after + (2.0 * squares - 1.0) * before) * inflation * spread
    if effects is None:
        return PairInformation(plain - wishart_bias(1, 1, dof) - bias, errors)
    chance = 0.5 * (digamma(free / 2.0) - digamma((free - 1.0) / 2.0))  # `wishart_bias` of each
    return PairInformation(plain - chance - bias * effects, errors)


def _without_noise(correlations: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """`without_rank_noise` of pairs of columns, of whose correlations (m,) ranks keep x and y (m,)."""
    noise = np.maximum(1.0 - np.array([x, y]) ** 2, SMALLEST_VARIANCE)
    a, b = 1.0 / noise
    least = 0.5 * (a + b - np.sqrt((a - b) ** 2 + 4.0 * correlations**2 * a * b))
    share = np.clip(0.5 * least, 0.0, 1.0)
    found: FloatArray = correlations / np.sqrt(np.prod(1.0 - share * noise, axis=0))
    return np.where(np.abs(correlations) == 1.0, correlations, found)


def _on_curve(correlations: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """The effect of ranks on pairs of columns: biases and inflations at correlations from 0 to 1, same shapes."""
    return _rank_curve(n).at(np.arctanh(np.minimum(correlations, CURVE[-1])))


class _RankCurve:
    """`rank_effect` of two columns as a function of their correlation, interpolated between the points of `CURVE`.

    Points are simulated when they are first needed. All use the same draws, so that the curve is smooth.
    """

    def __init__(self, n: int) -> None:
        self._n, self._knots = n, np.arctanh(CURVE)
        self._effects = np.full((2, len(CURVE)), np.nan)

    def at(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Biases and inflations at inverse hyperbolic tangents of correlations, same shapes."""
        left = np.unique(np.searchsorted(self._knots, places, side="right") - 1)
        around = np.unique(np.minimum([left, left + 1], len(CURVE) - 1))
        self._measure(around[np.isnan(self._effects[0, around])])
        bias, inflation = (np.interp(places, self._knots, effect) for effect in self._effects)
        return bias, inflation

    def _measure(self, knots: NDArray[np.intp]) -> None:
        if not len(knots):
            return
        rows = min(self._n, ENOUGH_ROWS)
        replicates = int(np.clip(CURVE_ROWS / rows, 32, 400))
        a, e = np.random.default_rng(rows).standard_normal((2, replicates, rows))
        scores = _row_scores(a)
        for knot, r in zip(knots, CURVE[knots], strict=True):
            b = r * a + np.sqrt(1.0 - r * r) * e
            from_ranks, from_rows = (_row_information(*pair) for pair in ((scores, _row_scores(b)), (a, b)))
            self._effects[:, knot] = _compared(from_ranks, from_rows, rows / self._n)


_rank_curve = lru_cache(maxsize=CURVES_KEPT)(_RankCurve)


def _row_scores(rows: FloatArray) -> FloatArray:
    """Normal scores of the values within each row, same shape."""
    scores = np.empty_like(rows)
    table = ndtri(np.arange(1, rows.shape[1] + 1) / (rows.shape[1] + 1.0))
    np.put_along_axis(scores, np.argsort(rows, axis=1), np.broadcast_to(table, rows.shape), axis=1)
    return scores


def _row_information(a: FloatArray, b: FloatArray) -> FloatArray:
    """-0.5 ln(1 - r^2) of the rows of two arrays (m, n), shape (m,)."""
    a, b = (c - c.mean(axis=1, keepdims=True) for c in (a, b))
    squares = np.einsum("ij,ij->i", a, b) ** 2 / (np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
    with np.errstate(divide="ignore"):
        information: FloatArray = -0.5 * np.log1p(-np.minimum(squares, 1.0))
    return information

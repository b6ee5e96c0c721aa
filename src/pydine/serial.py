"""The variance of a sum over the rows of a series, from cosines of low frequency, and what a projection takes of it.

Cosines of low frequency see the variance of a sum as sums of squares do that of independent rows (equal-weighted
cosines; Lazarus, Lewis, Stock and Watson 2018): with t quantiles, and nothing is drawn. Cosines of higher frequency are
biased if the series is slow, or repeats itself with the seasons. So there are no more than keep the bias small of
series that follow their past as this one does, at the lag that matters most.

Two parts of the variance they do not show, if series are autoregressive, and these are put back, as Bell and McCaffrey
(2002) do for clusters with a working correlation. `shown` is what they show of that of a sum. `kept` is what
a projection leaves of those of products of residuals, since most of what it takes is slow.

Products of two independent series follow their past as the product of both correlations says. Either side is known
better than the products are: where one side is noise, no lag of the other can be chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pydine.types import FloatArray

COSINES = 0.4  # fact: times n^(2/3), the number that Lazarus, Lewis, Stock and Watson (2018) recommend
FEWEST_COSINES = 4.0  # answer: with fewer, the quantiles of t are so large that an interval says nothing
# answer: relative bias of the variance that slow series are allowed; 0.05 to 0.1 keep the level of AR(1) at 0.95
MOST_BIAS = 0.1
NOISE = 2.5  # answer: standard errors of an autocorrelation that are chance, as one of many lags
SHARE_OF_LAGS = 0.25  # answer: of the rows, lags of a side: a season that came four times can be seen
LARGEST_AUTOCORRELATION = 0.98  # guard: for 1 less it to be divided by
COLUMNS_AT_ONCE = 32  # memory: whose cosines are projected together
SMALLEST = float(np.finfo(np.float64).tiny)  # guard: of sums of squares that are divided by


class LongRun(NamedTuple):
    """Variances of sums of k series over the root of their rows.

    Parameters
    ----------
    variances, cosines : ndarray, shape (k,)
        And from how many cosines they are known, which are their degrees of freedom.
    """

    variances: FloatArray
    cosines: FloatArray


class Repetition(NamedTuple):
    """How series follow their past: x(t) = r x(t - lag) + innovation, at the lag that matters most for sums.

    Parameters
    ----------
    slow, lags : ndarray
        r, and after how many rows.
    curvatures : ndarray
        Second derivatives of the spectra at frequency 0, relative to the spectra there: 2 r lag^2 / (1 - r)^2.
    """

    slow: FloatArray
    lags: FloatArray
    curvatures: FloatArray

    def shown(self, cosines: FloatArray, n: int) -> FloatArray:
        """What so many cosines of n rows show of the variance of a sum, in the shape of `cosines`."""
        slow, (middles, shares) = self.slow.ravel(), _bands(cosines.reshape(1, -1))
        turns = np.cos(np.pi * middles[:, None] * (self.lags.ravel() / n))
        seen = (shares[0] * (1.0 - slow) ** 2 / (1.0 - 2.0 * slow * turns + slow * slow)).sum(axis=0)
        found: FloatArray = np.maximum(seen, SMALLEST).reshape(cosines.shape)
        return found


def repetition(correlations: FloatArray) -> Repetition:
    """How series follow their past whose autocorrelations (..., m) at lags 1 to m these are."""
    lags = np.arange(1.0, correlations.shape[-1] + 1.0)
    slow = np.clip(correlations, SMALLEST, LARGEST_AUTOCORRELATION)
    curvatures = 2.0 * slow * lags**2 / (1.0 - slow) ** 2
    worst = curvatures.argmax(axis=-1, keepdims=True)
    slow, curvatures = (np.take_along_axis(each, worst, -1)[..., 0] for each in (slow, curvatures))
    return Repetition(slow, lags[worst[..., 0]], curvatures)


def repetition_of(values: FloatArray) -> Repetition:
    """How centred series (k, n) follow their past, by as many lags as chance does not make one of them matter."""
    return repetition(autocorrelations(values, int(np.sqrt(values.shape[1]))))


def of_sides(values: FloatArray) -> FloatArray:
    """Autocorrelations of series (k, n) that are multiplied with others, as they are; shape (k, m)."""
    return autocorrelations(values, int(SHARE_OF_LAGS * values.shape[1]))


def autocorrelations(values: FloatArray, most: int) -> FloatArray:
    """Autocorrelations of series (k, n) at lags 1 to `most`, shape (k, most), of which what may be chance is taken.

    The first is taken as it is, less its bias (Kendall 1954); of the others the more the nearer they are to noise, as
    by the non-negative garrote (Breiman 1995).
    """
    from scipy.fft import irfft, next_fast_len, rfft  # half as long to import as all of this package

    n, most = values.shape[1], max(most, 1)
    lags = np.arange(1, most + 1)
    size = next_fast_len(n + most, real=True)  # so that no lag reaches around the end
    transformed = rfft(values, size, axis=1)
    products = irfft(transformed.real**2 + transformed.imag**2, size, axis=1)[:, : most + 1]
    found = products[:, 1:] / np.maximum(products[:, :1], SMALLEST) * (n / (n - lags))
    found += (1.0 + 3.0 * found) / n
    chance = np.where(lags == 1, 0.0, NOISE * NOISE / n)
    kept: FloatArray = found * np.maximum(1.0 - chance / np.maximum(found * found, SMALLEST), 0.0)
    return kept


def long_run(values: FloatArray, curvatures: FloatArray) -> LongRun:
    """Variances of sums of centred series (k, n), from the mean squares of their cosines.

    Parameters
    ----------
    values : ndarray, shape (k, n)
    curvatures : ndarray, shape (k,)
        Those of `Repetition`, which say how many cosines are used.

    Returns
    -------
    LongRun
    """
    from scipy.fft import dct  # half as long to import as all of this package

    n, rows = values.shape[1], np.arange(len(values))
    most = min(max(COSINES * n ** (2.0 / 3.0), FEWEST_COSINES), 0.5 * n)
    counts = n / np.pi * np.sqrt(6.0 * MOST_BIAS / np.maximum(curvatures, SMALLEST))
    counts = np.clip(counts, min(FEWEST_COSINES, most), most)
    squares = np.cumsum(dct(values, norm="ortho", axis=1)[:, 1 : int(most) + 2] ** 2, axis=1)
    whole = counts.astype(np.intp)
    last, beyond = squares[rows, whole - 1], squares[rows, np.minimum(whole, squares.shape[1] - 1)]
    sums = last + (counts - whole) * (beyond - last)  # the last one counts in part, so that nothing jumps
    return LongRun(sums / counts, counts)


def kept(x: FloatArray, y: FloatArray, cosines: FloatArray, left: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a projection leaves of the variance that cosines show of sums of products, if x is autoregressive.

    It is a part of what they would show of products of centred series.

    Parameters
    ----------
    x : ndarray, shape (p, n)
        Series that were projected, of which only the first autocorrelations count.
    y : ndarray, shape (q, n)
        Series that were projected.
    cosines : ndarray, shape (q, p)
        How many cosines of each product are used.
    left : callable
        What the projection leaves of series (k, n).

    Returns
    -------
    kept : ndarray, shape (q, p)
    """
    from scipy.fft import dct  # half as long to import as all of this package

    n = y.shape[1]
    middles, shares = _bands(cosines)
    waves = np.cos(np.pi * np.outer(middles, (np.arange(n) + 0.5) / n))
    slow = _slow(x)[:, None]
    spectra = (1.0 / (1.0 - 2.0 * slow * np.cos(np.pi * np.arange(1, n) / n) + slow * slow)).T
    found = np.empty(cosines.shape)
    for start in range(0, len(y), COLUMNS_AT_ONCE):
        some = slice(start, start + COLUMNS_AT_ONCE)
        series = (y[some, None] * waves).reshape(-1, n)
        powers = dct(np.stack([series, left(series)]), norm="ortho", axis=2)[:, :, 1:] ** 2  # the first is the mean
        before, after = (powers @ spectra).reshape(2, -1, len(waves), spectra.shape[1])
        before, after = ((shares[some] * sizes).sum(axis=1) for sizes in (before, after))
        found[some] = after / np.maximum(before, SMALLEST)
    return found


def _bands(cosines: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bands of cosines, each twice as fast as those before it: their middles (m,), and shares of cosines (q, m, p)."""
    doublings = np.arange(np.ceil(np.log2(max(cosines.max() / FEWEST_COSINES, 1.0))) + 1.0)
    edges = FEWEST_COSINES * np.exp2(doublings)
    ends = np.minimum(edges[:, None], cosines[:, None])
    return np.where(doublings > 0.0, 0.75, 0.5) * edges, np.diff(ends, axis=1, prepend=0.0) / cosines[:, None]


def _slow(values: FloatArray) -> FloatArray:
    """First autocorrelations of series (k, n), without their bias (Kendall 1954)."""
    sizes = np.maximum((values * values).sum(axis=1), SMALLEST)
    found = (values[:, 1:] * values[:, :-1]).sum(axis=1) / sizes
    unbiased: FloatArray = found + (1.0 + 3.0 * found) / values.shape[1]
    return np.clip(unbiased, -LARGEST_AUTOCORRELATION, LARGEST_AUTOCORRELATION)

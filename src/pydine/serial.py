"""The variance of a sum over the rows of a series, from cosines of low frequency, and what it lacks.

Cosines of low frequency see the variance of a sum as sums of squares do that of independent rows (equal-weighted
cosines; Lazarus, Lewis, Stock and Watson 2018): with t quantiles, and nothing is drawn. How many? The more, the more
degrees of freedom; but cosines beyond those in which the series varies as slowly as its sum say nothing of it. Two
things decide, and neither is a number of cosines that is the same for all series:

- Autocorrelations say up to where the spectrum of an autoregressive series stays level.
- Of the cosines up to there, those below an edge may have more power than the others. Edges that double are weighed
  against none, by the likelihood of the squares, which are chi-squared. White noise so has nearly as many degrees of
  freedom as rows, and a series that is slower than its first autocorrelations say has few.

Sums of residuals vary more than their own cosines show: what was taken out of both sides, if only their means, was slow
as well. `expected` is what the cosines of a product would show of its variance, if one side were autoregressive
(Bell and McCaffrey's 2002 correction, of clusters with a working correlation, for series).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pydine.types import FloatArray

FEWEST_COSINES = 4.0  # answer: with fewer, the quantiles of t are so large that an interval says nothing
# answer: relative bias of the variance that slow series are allowed; 0.05 to 0.1 keep the level of AR(1) at 0.95
MOST_BIAS = 0.1
NOISE = 2.5  # answer: standard errors of an autocorrelation that are chance, as one of many lags
LARGEST_AUTOCORRELATION = 0.98  # guard: for 1 less it to be divided by
SMALLEST = float(np.finfo(np.float64).tiny)  # guard: of sums of squares that are divided by


class LongRun(NamedTuple):
    """Variances of sums of k series over the root of their rows.

    Parameters
    ----------
    variances, degrees : ndarray, shape (k,)
        And the degrees of freedom with which they are known.
    shares : ndarray, shape (bands, k)
        Which part of the weight the cosines of each band have, each twice as fast as those before it.
    """

    variances: FloatArray
    degrees: FloatArray
    shares: FloatArray


def long_run(values: FloatArray) -> LongRun:
    """Variances of sums of centred series (k, n), from the mean squares of their cosines."""
    from scipy.fft import dct  # half as long to import as all of this package

    n = values.shape[1]
    most, fewest = 0.5 * n, min(FEWEST_COSINES, 0.5 * n)
    free = np.clip(n / np.pi * np.sqrt(6.0 * MOST_BIAS / _curvatures(values)), fewest, most)
    squares = np.cumsum(dct(values, norm="ortho", axis=1)[:, 1 : int(most) + 2] ** 2, axis=1)
    ends = np.minimum(fewest * _edges(n)[:, None], free)
    whole, rows = ends.astype(np.intp), np.arange(len(values))
    last, beyond = (squares[rows, np.minimum(at, squares.shape[1] - 1)] for at in (whole - 1, whole))
    sums = last + (ends - whole) * (beyond - last)  # the last one counts in part, so that nothing jumps
    weights, levels = _levels(sums, ends)
    each = np.cumsum((weights / ends)[::-1], axis=0)[::-1]  # the weight of a single cosine of each band
    counts = np.diff(ends, axis=0, prepend=0.0)
    found = (each * np.diff(sums, axis=0, prepend=0.0)).sum(axis=0)
    parts = each * levels / levels[0]  # never more than that of the first cosines, so that these are the least degrees
    degrees = (parts * counts).sum(axis=0) ** 2 / (parts * parts * counts).sum(axis=0)
    return LongRun(found, degrees, each * counts)


def _edges(n: int) -> FloatArray:
    """Numbers of cosines that double, up to all of n rows, over the fewest."""
    doublings = int(np.ceil(np.log2(max(0.5 * n / FEWEST_COSINES, 1.0))))
    found: FloatArray = np.exp2(np.arange(doublings + 1.0))
    return found


def _levels(sums: FloatArray, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How likely it is that a spectrum is level up to each edge and lower beyond it, or level up to the last one.

    One more level costs what a level costs whose prior knows as much as a single cosine. That there is an edge, and
    that there is none, are as likely beforehand. Where the power beyond an edge is larger it is none: what makes rows
    depend on each other adds power to low frequencies.

    Parameters
    ----------
    sums, ends : ndarray, shape (bands, k)
        Sums of squares up to each edge, and how many they are; from some band on they may stay the same.

    Returns
    -------
    weights, levels : ndarray, shape (bands, k)
        Of each edge, the last for none; and the level of each band, averaged by these weights.
    """
    total, free = sums[-1], ends[-1]
    rest, left = np.maximum(total - sums, SMALLEST), free - ends
    is_edge = left >= ends[0]
    left = np.where(is_edge, left, 1.0)
    slow, fast, level = sums / ends, rest / left, np.maximum(total / free, SMALLEST)
    slow = np.maximum(slow, SMALLEST)
    gain = 0.5 * (free * np.log(level) - ends * np.log(slow) - left * np.log(fast))
    unknown = 2.0 / ends + 2.0 / left  # variance of the logarithm of what the power falls by
    edges = np.maximum(is_edge.sum(axis=0), 1)
    odds = gain - 0.5 * np.log1p(2.0 / unknown) + np.log(2.0 / edges)
    odds = np.where(is_edge & (slow > fast), odds, -np.inf)
    odds[-1] = 0.0
    weights = np.exp(odds - odds.max(axis=0))
    weights /= weights.sum(axis=0)
    beyond = np.cumsum(weights * fast, axis=0) - weights * fast
    slow[-1] = level
    levels = np.cumsum((weights * slow)[::-1], axis=0)[::-1] + beyond
    return weights, levels


def expected_of_means(values: FloatArray, shares: FloatArray) -> FloatArray:
    """What cosines show of the variance of means of centred series (k, n), as a part of it, if autoregressive; (k,)."""
    slow = _slow(values)
    turns = np.cos(np.pi * _middles(values.shape[1], len(shares)) / values.shape[1])[:, None]
    found: FloatArray = (shares * (1.0 - slow) ** 2 / (1.0 - 2.0 * slow * turns + slow * slow)).sum(axis=0)
    return found


def expected(x: FloatArray, y: FloatArray, shares: FloatArray, left: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What cosines show of the variance of sums of products, as a part of it, if x is autoregressive; shape (p,).

    Parameters
    ----------
    x : ndarray, shape (p, n)
        Series, of which only the first autocorrelations count.
    y : ndarray, shape (n,)
        A series.
    shares : ndarray, shape (bands, p)
        Of the cosines of each band (`LongRun`).
    left : callable
        What is left of series (k, n) after as much is taken out of them as of x and y.
    """
    from scipy.fft import rfft  # half as long to import as all of this package

    n = len(y)
    used = np.flatnonzero(shares.any(axis=1))
    waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(_middles(n, len(shares))[used], (np.arange(n) + 0.5) / n))
    powers = np.abs(rfft(np.vstack([y, left(waves * y)]), 2 * n, axis=1)) ** 2
    powers[:, 1:-1] *= 2.0
    slow = _slow(x)[:, None]
    turns = np.cos(np.pi * np.arange(powers.shape[1]) / n)
    sizes = powers @ ((1.0 - slow * slow) / (1.0 - 2.0 * slow * turns + slow * slow)).T
    found: FloatArray = (shares[used] * sizes[1:]).sum(axis=0) / np.maximum(sizes[0], SMALLEST)
    return found


def _middles(n: int, bands: int) -> FloatArray:
    """A cosine in the middle of each band."""
    places = np.arange(bands)
    found: FloatArray = min(FEWEST_COSINES, 0.5 * n) * np.where(places > 0, 0.75, 0.5) * np.exp2(places)
    return found


def _slow(values: FloatArray) -> FloatArray:
    """First autocorrelations of series (k, n), without their bias (Kendall 1954)."""
    sizes = np.maximum((values * values).sum(axis=1), SMALLEST)
    found = (values[:, 1:] * values[:, :-1]).sum(axis=1) / sizes
    unbiased: FloatArray = found + (1.0 + 3.0 * found) / values.shape[1]
    return np.clip(unbiased, -LARGEST_AUTOCORRELATION, LARGEST_AUTOCORRELATION)


def _curvatures(values: FloatArray) -> FloatArray:
    """Second derivatives of the spectra of centred series (k, n) at frequency 0, relative to the spectra there, (k,).

    Those of the series that repeat themselves after so many rows, up to noise: x(t) = r x(t - lag) + innovation has
    2 r lag^2 / (1 - r)^2. The first autocorrelation is taken as it is, less its bias (Kendall 1954).
    """
    from scipy.fft import irfft, rfft  # half as long to import as all of this package

    n = values.shape[1]
    lags = np.arange(1, max(int(np.sqrt(n)), 1) + 1)
    powers = np.abs(rfft(values, 2 * n, axis=1)) ** 2
    products = irfft(powers, 2 * n, axis=1)[:, : lags[-1] + 1]
    correlations = products[:, 1:] / np.maximum(products[:, :1], SMALLEST)
    noise = np.where(lags == 1, 0.0, NOISE / np.sqrt(n))
    slow = np.clip(correlations + (1.0 + 3.0 * correlations) / n - noise, SMALLEST, LARGEST_AUTOCORRELATION)
    found: FloatArray = (2.0 * slow * lags**2 / (1.0 - slow) ** 2).max(axis=1)
    return found

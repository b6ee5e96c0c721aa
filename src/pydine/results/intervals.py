"""Confidence intervals of information: the one place that makes them from values and standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray

SMALLEST = float(np.finfo(float).tiny)  # guard: an error of nothing is divided by nothing otherwise


def interval_ends(
    values: FloatArray | float,
    below: FloatArray | float,
    above: FloatArray | float,
    level: float = 0.95,
    bounds: FloatArray | float = np.inf,
    terms: NDArray[np.intp] | int = 1,
    degrees: FloatArray | float = np.inf,
) -> tuple[FloatArray, FloatArray]:
    """Ends of confidence intervals for the true information.

    Information behaves like the square of a correlation: its error shrinks with it, so an estimate that happens to be
    small also has a small standard error, and value ± quantile x error would miss weak dependence in one of four
    samples. The square root stabilises the variance: if the root of twice the information is normal with variance s,
    then 2 I + s is the mean of its square, and the variance of an estimate of I is 2 I s + s^2 / 2. Solving for s gives
    the interval of the root, which is squared again. Where the value is many standard errors, this is value ± quantile
    x error to first order.

    With several columns on a side there is a sum of k such squares, one for each pair of columns. Its variance is
    2 I s + k s^2 / 2, and the root of 2 I + (k - 1) s / 2 has about the same error everywhere, at independence too,
    where the sum is chi-square with k degrees of freedom.

    Parameters
    ----------
    values : float or ndarray
        Estimates in nats; those below zero count as chance around no information.
    below, above : float or ndarray
        Their standard errors downwards and upwards, in nats. Where the latter is infinite, so is the upper end.
    level : float
        The confidence level, between 0 and 1.
    bounds : float or ndarray
        What information cannot exceed, in nats: entropies of discrete sides.
    terms : int or ndarray of int
        How many pairs of a column of x and one of y there are, dx dy.
    degrees : float or ndarray
        Degrees of freedom of the errors, where rows depend on each other.

    Returns
    -------
    low, high : float or ndarray
        In nats, and not negative; NaN where an error is unknown, infinite where the value is.
    """
    quantile = quantile_of(level, degrees)
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = _moved(values, below, -quantile, terms), _moved(values, above, quantile, terms)
    high = np.minimum(high, np.maximum(bounds, values))
    is_infinite = np.isinf(values)
    high = np.where(np.isinf(above), np.maximum(bounds, values), high)  # an error without bound: open above
    return np.where(is_infinite, values, low), np.where(is_infinite, values, high)


def quantile_of(level: float, degrees: FloatArray | float = np.inf) -> Any:
    """Errors on either side of an estimate that an interval of this level has: of a normal or a t distribution."""
    from statistics import NormalDist  # is imported when an interval is asked for

    if np.isinf(degrees).all():
        return NormalDist().inv_cdf(0.5 + 0.5 * level)
    from scipy.special import stdtrit

    return stdtrit(degrees, 0.5 + 0.5 * level)


def _moved(
    values: FloatArray | float, errors: FloatArray | float, quantile: Any, terms: NDArray[np.intp] | int
) -> FloatArray:
    """Values moved by so many errors on the scale of their roots."""
    twice = 2.0 * np.maximum(values, 0.0)
    chance = np.sqrt(2.0) * np.asarray(errors, float)  # where there is no information, for one term
    variance = chance * chance / (twice + np.hypot(twice, np.sqrt(terms) * chance) + SMALLEST)
    shift = 0.5 * (np.asarray(terms, float) - 1.0) * variance
    root = np.sqrt(np.maximum(2.0 * np.asarray(values, float) + shift + variance, 0.0))
    moved: FloatArray = 0.5 * np.maximum(np.maximum(root + quantile * np.sqrt(variance), 0.0) ** 2 - shift, 0.0)
    return moved

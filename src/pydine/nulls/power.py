"""The power of the test: how often it finds a given amount of information in so many rows.

The block of correlations has Wilks' statistic, 2 dof I, which is noncentral chi-squared with dx dy degrees of freedom
where there is dependence. The other blocks are taken to see nothing of it, so that they only cost; combined with them
by `pvalues.cauchy`, the test still rejects where the first block's p-value is small enough, or where these are by
chance. Information is taken to show as correlation between the latents.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, chndtr, chndtrix

from pydine.inputs.checks import SPARE_ROWS
from pydine.nulls.moments import shares_of

MOST_ROWS = 1e9  # guard: what is asked for is refused if it needs more rows
LEAST_INFORMATION, MOST_INFORMATION = 1e-9, 20.0  # guard: between which what is detectable is looked for, in nats
STEPS = 100  # guard: quantiles of the first block's statistic over which the power is averaged
GIVEN_DOF = 3.5  # answer: degrees of freedom that projecting functions of a given column out takes: 3.4 to 3.6


def power_of(information: float, rows: float, dimensions: tuple[int, int, int], alpha: float, statistic: str) -> float:
    """The probability that independence is rejected.

    Parameters
    ----------
    information : float
        Nats.
    rows : float
    dimensions : tuple of int
        dx, dy and dz.
    alpha : float
        The level of the test.
    statistic : {"auto", "gaussian"}
    """
    dx, dy, dz = dimensions
    dof = max(rows - 1.0 - GIVEN_DOF * dz, 1.0)
    noncentrality, terms = 2.0 * dof * information, float(dx * dy)
    share = float(shares_of(statistic, dz > 0)[0])
    probabilities = (np.arange(STEPS) + 0.5) / STEPS
    values = chndtrix(probabilities, terms, noncentrality)
    pvalues = np.clip(chdtrc(terms, values), np.finfo(float).tiny, 0.99)
    if share == 1.0:
        return 1.0 - float(chndtr(chndtrix(1.0 - alpha, terms, 0.0), terms, noncentrality))
    least = (1.0 / np.tan(np.pi * alpha) - share / np.tan(np.pi * pvalues)) / (1.0 - share)
    return float(np.mean(np.arctan2(1.0, least) / np.pi))


def least_rows(information: float, power: float, dimensions: tuple[int, int, int], alpha: float, statistic: str) -> int:
    """The fewest rows, to one part in a thousand, in which the test finds information in nats with this power."""
    low, high = float(sum(dimensions) + SPARE_ROWS), MOST_ROWS
    if power_of(information, high, dimensions, alpha, statistic) < power:
        raise ValueError(f"information of {information:g} nats needs more than {MOST_ROWS:,.0f} rows; ask about more.")
    if power_of(information, low, dimensions, alpha, statistic) >= power:
        return int(low)
    while high - low > max(0.5, 1e-3 * low):
        middle = np.sqrt(low * high)
        is_enough = power_of(information, middle, dimensions, alpha, statistic) >= power
        low, high = (low, middle) if is_enough else (middle, high)
    return int(np.ceil(high))


def least_information(
    rows: float, power: float, dimensions: tuple[int, int, int], alpha: float, statistic: str
) -> float:
    """The least information in nats that the test finds in so many rows with this power."""
    low, high = LEAST_INFORMATION, MOST_INFORMATION
    while high > 1.0001 * low:
        middle = np.sqrt(low * high)
        is_found = power_of(middle, rows, dimensions, alpha, statistic) >= power
        low, high = (low, middle) if is_found else (middle, high)
    return float(high)

"""The power of the test: how often it finds a given amount of information in so many rows.

Information is taken to show as correlation between the latents. The block of correlations has Wilks' statistic, 2 dof
I, which is noncentral chi-squared with dx dy degrees of freedom where there is dependence. The sum over pairs of waves
has it among its cells, as far as the slowest wave of a latent is the latent itself. All else is taken to see nothing of
it, so that it only costs; combined by `pvalues.cauchy`, the test still rejects where these two are small enough, or
where the others are by chance.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, chndtr, chndtrix

from pydine.inputs.checks import SPARE_ROWS
from pydine.nulls.features import LARGEST_DEGREE
from pydine.nulls.moments import SHAPE, shares_of, wave_degrees
from pydine.nulls.pvalues import LARGEST_COMBINED, LEAST_PVALUE, SUM_AND_LARGEST, Cells
from pydine.types import FloatArray

MOST_ROWS = 1e9  # guard: what is asked for is refused if it needs more rows
LEAST_INFORMATION, MOST_INFORMATION = 1e-9, 20.0  # guard: between which what is detectable is looked for, in nats
STEPS = 60  # guard: quantiles of each statistic over which the power is averaged
SLOWEST = 0.809  # fact: squared correlation of the slowest waves of two normal columns, over that of the columns
GIVEN_DOF = 3.5  # convention: degrees of freedom that projecting functions of a given column out takes: 3.4 to 3.6


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
    if statistic == "gaussian":
        return 1.0 - float(chndtr(chndtrix(1.0 - alpha, terms, 0.0), terms, noncentrality))
    shares = shares_of(statistic, dz > 0)
    seen, summed = float(shares[0]), float(shares[SHAPE] * SUM_AND_LARGEST[0])
    probabilities = (np.arange(STEPS) + 0.5) / STEPS
    values = chndtrix(probabilities, terms, noncentrality)[:, None]
    degrees = wave_degrees(np.full(dx, LARGEST_DEGREE), np.full(dy, LARGEST_DEGREE))
    others = Cells.of(degrees[degrees > 1.0]).quantiles(probabilities)
    sums = Cells.of(degrees[degrees > 0.0]).of_sums(SLOWEST * values + (1.0 - SLOWEST) * terms + others)
    evidence = seen * _cotangent(chdtrc(terms, values)) + summed * _cotangent(sums)
    least = (_cotangent(np.asarray(alpha)) - evidence) / (1.0 - seen - summed)
    return float(np.mean(np.arctan2(1.0, least) / np.pi))


def _cotangent(pvalues: FloatArray) -> FloatArray:
    """P-values as Cauchy variables."""
    found: FloatArray = 1.0 / np.tan(np.pi * np.clip(pvalues, LEAST_PVALUE, LARGEST_COMBINED))
    return found


def least_rows(information: float, power: float, dimensions: tuple[int, int, int], alpha: float, statistic: str) -> int:
    """The fewest rows, to one part in a thousand, in which the test finds information in nats with this power."""
    low, high = float(sum(dimensions) + SPARE_ROWS), MOST_ROWS
    if power_of(information, high, dimensions, alpha, statistic) < power:
        raise ValueError(
            f"information of {information:g} nats needs more than {MOST_ROWS:,.0f} rows; pass a larger amount."
        )
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

"""What flows have not learned of z yet: how much information that hides, and how uncertain the correction is.

What a flow misses of the effect of z stays in its latent as noise. By de Bruijn's identity, noise of variance t in a
latent a takes t / 2 (J(a | b) - J(a)) nats off its information about the other side b, to first order, where J is
Fisher's information of a density about its location, and J(a | b) - J(a) is the mean square of the derivative of the
log-ratio ln p(a | b) - ln p(a) by a: the `sensitivity`. It is 0 under independence, exp(2 I) - 1
between Gaussian latents, and more where a shape is fine. How large t is follows from the optimism of a unit's models
(`FittedUnit.unlearned`), which costs nothing to know.

The three factors are the same for every base, number of rows and of columns. A grid of 900 settings was tried on
eight simulated families other than those reported (benchmarks/interval_scores.py); its best mean interval score was at
0.15, 0.05 and 0.15, where some settings of rows and columns were covered by less than half. Larger ones were taken by
judgement, for families that nobody has tried. That intervals were too wide before had been seen on the reported ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pydine.bases.base import LogRatio
from pydine.types import FloatArray

STEP = 0.05  # guard: of the differences that stand for derivatives by normal latents
# answer: relative variance of the noise left in a latent for each nat that may be unlearned, and by how much it may be
# too much (what both sides miss of z alike does not dilute) or too little, as standard errors.
LEFT, LEFT_BELOW, LEFT_ABOVE = 0.19, 0.1, 0.3
SATURATION = 0.5  # answer: for each nat that may be hidden: the more it is, the smaller a share is put back
# answer: by how much the value of a stack may be too high, and too low, as standard errors for each nat of optimism:
# chosen by mean interval score on nine shapes other than those reported.
STACK_BELOW, STACK_ABOVE = 0.1, 0.75
# answer: what counts of this and of what generated data lose, in the value, and how much smaller the upper error of the
# former then is: by mean interval score, among settings that cover every row of nine families not reported in 0.87.
OF_OPTIMISM, OF_LOST, STILL_ABOVE = 0.5, 0.25, 0.75


class Learned(NamedTuple):
    """Information with what flows have missed put back, in nats: floats, or arrays with an entry for each pair.

    Parameters
    ----------
    value : float or ndarray
    added : float or ndarray
        What was put back.
    inflation : float or ndarray
        By how much the standard error grows, since what is put back moves with the rows as well.
    below, above : float or ndarray
        By how much what was put back may be too much, and too little, as standard errors.
    """

    value: FloatArray
    added: FloatArray
    inflation: FloatArray
    below: FloatArray
    above: FloatArray

    def errors(self, error: FloatArray | float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """From the standard error of all else, those of the value: downwards, upwards, and their mean square."""
        below, above = np.hypot(self.inflation * error, self.below), np.hypot(self.inflation * error, self.above)
        return below, above, np.sqrt(0.5 * (below * below + above * above))

    def beside(self, optimism: float) -> Learned:
        """The same where bases have learned shapes too, with this optimism, in nats."""
        below, above = np.hypot(self.below, STACK_BELOW * optimism), np.hypot(self.above, STACK_ABOVE * optimism)
        return self._replace(below=below, above=above)


def gaussian_sensitivity(value: FloatArray | float, d: int = 1) -> FloatArray:
    """That of Gaussian latents with this information in nats, spread evenly over d columns."""
    sensitivity: FloatArray = np.expm1(2.0 * np.maximum(value, 0.0) / d)
    return sensitivity


def sensitivity(log_ratio: LogRatio, both: FloatArray, z: FloatArray) -> FloatArray:
    """How fast noise in each latent takes information off: mean squares of the derivatives of log-ratios.

    Parameters
    ----------
    log_ratio : callable
        Latents (d, m) and their z (dz, m) to log-ratios (m,) in nats.
    both, z : ndarray, shapes (d, m) and (dz, m)
        Rows to take the mean over.

    Returns
    -------
    ndarray, shape (d,)
    """
    squares = np.empty(len(both))
    for i in range(len(both)):
        low, high = both.copy(), both.copy()
        low[i] -= STEP
        high[i] += STEP
        squares[i] = np.mean(((log_ratio(high, z) - log_ratio(low, z)) / (2.0 * STEP)) ** 2)
    return squares


def with_unlearned(
    value: FloatArray | float, unlearned: FloatArray | float, d: int = 1, sensitivity: FloatArray | float | None = None
) -> Learned:
    """Put back what flows have missed.

    Parameters
    ----------
    value : float or ndarray
        Information in nats.
    unlearned : float or ndarray
        What may be unlearned of the two sides together, as `between` gives it.
    d : int
        Columns of the smaller side, over which information is taken to be spread evenly.
    sensitivity : float or ndarray, optional
        How fast noise takes information off; that of Gaussian latents if it is not given.
    """
    if sensitivity is None:
        sensitivity = gaussian_sensitivity(value, d)
    hidden = np.asarray(
        0.5 * sensitivity * unlearned
    )  # in nats for each column, if all that may be unlearned were noise
    known = 1.0 / (1.0 + SATURATION * hidden)
    diluted = d * hidden * known
    inflation = 1.0 + LEFT * (1.0 + sensitivity) * unlearned * known**2
    return Learned(value + LEFT * diluted, LEFT * diluted, inflation, LEFT_BELOW * diluted, LEFT_ABOVE * diluted)


class LearnedPairs(NamedTuple):
    """Information of pairs of columns, its errors downwards and upwards, and their mean square, in nats, (m,) each."""

    values: FloatArray
    below: FloatArray
    above: FloatArray
    errors: FloatArray


def pairs_with_unlearned(values: FloatArray, errors: FloatArray, unlearned: FloatArray) -> LearnedPairs:
    """The same for pairs of single columns (m,), some of which may be infinite; the errors of those are not known."""
    is_finite = np.isfinite(values)
    learned = with_unlearned(np.where(is_finite, values, 0.0), unlearned)
    found = (np.where(is_finite, part, np.nan) for part in learned.errors(errors))
    return LearnedPairs(np.where(is_finite, learned.value, values), *found)


def relearned(learned: Learned, lost: FloatArray) -> Learned:
    """What was put back, corrected by what estimates of generated data (replicates,) lost, in nats.

    Generated data show what both sides miss of z alike, and how hard it is to learn; not what the flows were too plain
    to have seen at all, which optimism hints at. So both count.
    """
    mean, noise = float(np.mean(lost)), float(np.std(lost, ddof=1) / np.sqrt(len(lost)))
    added = OF_OPTIMISM * learned.added + OF_LOST * mean
    doubt = np.hypot(OF_OPTIMISM * (mean - learned.added), OF_LOST * noise)
    # What is lost in learning anew what was learned may well be lost once more in what was not.
    again = np.hypot(STILL_ABOVE * learned.above, OF_LOST * max(mean, 0.0))
    below, above = np.hypot(learned.below, doubt), np.hypot(again, doubt)
    return learned._replace(value=learned.value - learned.added + added, added=added, below=below, above=above)


def between(unlearned: Sequence[float], dx: int) -> float:
    """What may be unlearned of both sides together, each the mean of its latents, of which the first dx are x's."""
    return float(np.mean(unlearned[:dx]) + np.mean(unlearned[dx:])) if unlearned else 0.0

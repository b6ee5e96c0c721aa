"""What flows have not learned of z yet: how much information that hides, and how uncertain the correction is.

What a flow misses of the effect of z stays in its latent as noise. By de Bruijn's identity, noise of variance t in a
latent a reduces its information about the other side b by t / 2 (J(a | b) - J(a)) nats, to first order. J is the Fisher
information of a density about its location, and J(a | b) - J(a) is the mean square of the derivative of the log-ratio
ln p(a | b) - ln p(a) with respect to a: the `sensitivity`. It is 0 under independence, exp(2 I) - 1 between Gaussian
latents, and larger where the dependence has fine structure. How large t is follows from the optimism of a unit's models
(`FittedUnit.unlearned`), which is known at no extra cost.

Where a base has learned a shape, and latents were sharpened by it, less is left (`with_hidden`).

Both factors (LEFT, LEFT_ABOVE) are the same for both plain bases and all numbers of rows and columns.
A grid of 900 settings was tried on eight simulated families other than those reported (benchmarks/interval_scores.py).
Its best mean interval score was at 0.15 and 0.15, where coverage was below one half for some numbers of rows and
columns. Larger factors were chosen by judgement, for families that were not tried. That earlier intervals were too wide
had been seen on the reported families. LEFT was chosen again when what noise hides came to saturate as between
Gaussians (`saturated`), which puts back less of much: of 0.15, 0.19, 0.22 and 0.25, on nine families of our own, the
last has the smallest mean error and the smallest mean interval score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pydine.bases.base import LogRatio
from pydine.types import FloatArray
from pydine.units.evidence import PRIOR

STEP = 0.05  # guard: of the finite differences that approximate derivatives with respect to latents
SENSITIVITY_ROWS = 300  # precision: over which the mean square of a derivative is taken
# answer: relative variance of the noise left in a latent for each nat that may be unlearned, and standard errors of
# that upwards.
LEFT, LEFT_ABOVE = 0.25, 0.3
# answer: standard error upwards of the information of classes, as a share of it, for each knot's share of the rows: too
# little is said of rows that are less than a knot from an edge. A checkerboard, with three edges a side, needs it; on
# the 24 shapes, which have fewer, 0 to 1.5 have the same mean interval score to one part in eighty.
EDGE_ABOVE = 1.5
UNIFORM = 3.0**-0.5  # fact: the standard deviation of what may be anything from nothing to twice its mean, over that


class Learned(NamedTuple):
    """Information corrected for what flows have missed, in nats: floats, or arrays with an entry for each pair.

    Parameters
    ----------
    value : float or ndarray
    added : float or ndarray
        The correction, which is included in the value.
    inflation : float or ndarray
        Factor on the standard error, since the correction varies with the sample as well.
    below, above : float or ndarray
        Standard errors of the correction, downwards and upwards.
    """

    value: FloatArray
    added: FloatArray
    inflation: FloatArray
    below: FloatArray
    above: FloatArray

    def errors(self, error: FloatArray | float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Standard errors of the value from `error`, that of all else: downwards, upwards, and root mean square."""
        below, above = np.hypot(self.inflation * error, self.below), np.hypot(self.inflation * error, self.above)
        return below, above, np.sqrt(0.5 * (below * below + above * above))

    def beside(self, optimism: float, edge: float) -> Learned:
        """Add the errors of bases that have learned shapes.

        Parameters
        ----------
        optimism : float
            The bases' optimism, in nats.
        edge : float
            The share of the rows over which an edge of classes extends, times the weight of classes.
        """
        missed = EDGE_ABOVE * edge * np.maximum(self.value, 0.0)
        return self._replace(above=np.hypot(self.above, np.hypot(optimism, missed)))


def weighted(weights: Sequence[float], corrections: Sequence[Learned]) -> Learned:
    """The weighted mean of corrections of the same information; the weights sum to 1."""
    parts = zip(*corrections, strict=True)
    return Learned(*(np.asarray(sum(w * one for w, one in zip(weights, part, strict=True))) for part in parts))


def gaussian_sensitivity(value: FloatArray | float, d: int = 1) -> FloatArray:
    """The `sensitivity` of Gaussian latents with this information in nats, spread evenly over d columns."""
    sensitivity: FloatArray = np.expm1(2.0 * np.maximum(value, 0.0) / d)
    return sensitivity


def slopes(log_ratio: LogRatio, both: FloatArray, z: FloatArray) -> FloatArray:
    """Derivatives of log-ratios with respect to each latent, by central differences, shape (d, m).

    Parameters
    ----------
    log_ratio : callable
        Latents (d, m) and their z (dz, m) to log-ratios (m,) in nats.
    both, z : ndarray, shapes (d, m) and (dz, m)
    """
    found = np.empty(both.shape)
    for i in range(len(both)):
        low, high = both.copy(), both.copy()
        low[i] -= STEP
        high[i] += STEP
        found[i] = (log_ratio(high, z) - log_ratio(low, z)) / (2.0 * STEP)
    return found


def sensitivity(log_ratio: LogRatio, both: FloatArray, z: FloatArray) -> FloatArray:
    """How fast noise in each latent reduces information: mean squares of `slopes` over rows, shape (d,)."""
    squares: FloatArray = np.mean(slopes(log_ratio, both, z) ** 2, axis=1)
    return squares


def saturated(hidden: FloatArray) -> FloatArray:
    """What noise hides, in nats, from what it would hide if every bit of it hid as much as the first does.

    Between Gaussian latents, noise of variance t hides ln(1 + s t) / 2 nats of much information, and s t / 2 to first
    order, s the `sensitivity`.
    """
    nats: FloatArray = 0.5 * np.log1p(2.0 * hidden)
    return nats


def with_unlearned(
    value: FloatArray | float,
    unlearned: FloatArray | float,
    d: int = 1,
    sensitivity: FloatArray | float | None = None,
) -> Learned:
    """Correct information for what flows have missed of z.

    Parameters
    ----------
    value : float or ndarray
        Information in nats.
    unlearned : float or ndarray
        What may be unlearned of the two sides together, in nats, as `between` gives it.
    d : int
        Columns of the smaller side, over which information is taken to be spread evenly.
    sensitivity : float or ndarray, optional
        How fast noise reduces information; that of Gaussian latents if it is not given.
    """
    if sensitivity is None:
        sensitivity = gaussian_sensitivity(value, d)
    hidden = np.asarray(
        0.5 * sensitivity * unlearned
    )  # in nats for each column, if all that may be unlearned were noise
    diluted = d * saturated(hidden)
    inflation = 1.0 + LEFT * (1.0 + sensitivity) * unlearned / (1.0 + 2.0 * hidden)
    return Learned(value + LEFT * diluted, LEFT * diluted, inflation, UNIFORM * LEFT * diluted, LEFT_ABOVE * diluted)


def with_hidden(value: float, squares: FloatArray, unlearned: FloatArray, classes: float, n: int) -> Learned:
    """Correct information of a shape, from latents that were sharpened, for what z may still hide.

    Sharpening learns from the joint density, whose Fisher information about a latent's location is 1 + s, with s the
    `sensitivity`. What is left of an effect after learning it costs the likelihood as many nats however large that
    information is (dof / 2n for any parametric model); of these, s / (1 + s) are of the dependence between the sides,
    and the rest of the latent's own density.

    An effect of z is not learned at all, by units or in sharpening, if n rows speak for it with less than `PRIOR` nats.
    So each latent may lack anything from nothing to PRIOR / n nats a row. That many would blur it by a variance of
    twice as much, and hide as many nats times the sensitivity: an error upwards, most of it where rows are few.

    Nothing is added for classes. What sets them apart are mostly gaps, which ranks have closed. A flow that errs about
    where all of a column's values are still maps its gaps to where they belong, since hardly any row lies within them.

    Parameters
    ----------
    value : float
        Information in nats.
    squares : ndarray, shape (d,)
        The sensitivity of each latent.
    unlearned : ndarray, shape (d,)
        What may be unlearned of each latent, in nats.
    classes : float
        Weight of classes in the base that has learned the shape, between 0 and 1.
    n : int
        Rows that it was learned from.
    """
    hidden = np.asarray(0.5 * unlearned @ (squares / (1.0 + squares)))
    refused = UNIFORM * PRIOR / n
    added = (1.0 - classes) * hidden
    above = np.hypot(hidden, refused * squares.sum())
    return Learned(value + added, added, np.ones(()), UNIFORM * added, above)


class LearnedPairs(NamedTuple):
    """Information of pairs, its errors downwards and upwards, and their root mean square, in nats, (m,) each."""

    values: FloatArray
    below: FloatArray
    above: FloatArray
    errors: FloatArray


def pairs_with_unlearned(values: FloatArray, errors: FloatArray, unlearned: FloatArray) -> LearnedPairs:
    """`with_unlearned` for pairs of single columns (m,); where information is infinite, errors are NaN."""
    is_finite = np.isfinite(values)
    learned = with_unlearned(np.where(is_finite, values, 0.0), unlearned)
    found = (np.where(is_finite, part, np.nan) for part in learned.errors(errors))
    return LearnedPairs(np.where(is_finite, learned.value, values), *found)


def relearned(learned: Learned, lost: FloatArray) -> Learned:
    """Combine the correction from optimism with what estimates of generated data (replicates,) lost, in nats.

    Generated data show what both sides miss of z alike, and how hard it is to learn. They do not show what the flows
    were too plain to find at all, to which optimism points. So both count.
    """
    mean, noise = float(np.mean(lost)), float(np.std(lost, ddof=1) / np.sqrt(len(lost)))
    added = 0.5 * (learned.added + mean)
    doubt = 0.5 * np.hypot(mean - learned.added, noise)
    # What is lost in relearning the fitted model may be lost once more in what that model has missed.
    again = np.hypot(learned.above, 0.5 * max(mean, 0.0))
    below, above = np.hypot(learned.below, doubt), np.hypot(again, doubt)
    return learned._replace(value=learned.value - learned.added + added, added=added, below=below, above=above)


def between(unlearned: Sequence[float], dx: int) -> float:
    """What may be unlearned of both sides together, in nats: the sum of the two sides' means; the first dx are x's."""
    return float(np.mean(unlearned[:dx]) + np.mean(unlearned[dx:])) if unlearned else 0.0

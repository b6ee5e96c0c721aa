"""Several bases, averaged by how well they predict held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pydine.bases.base import FittedBase, LogRatio, in_errors, mean_and_error
from pydine.kernels.mixing import smooth_step
from pydine.types import FloatArray

# answer: gains in held-out log-ratio, in standard errors, at which a richer base begins to count, and counts alone.
TAKES_OVER = 2.0, 4.0
ADDS = 0.0, 2.0  # answer: as TAKES_OVER, for a base that has all members of the one before it and more


def weights_of(bases: Sequence[FittedBase], nested: int = 1) -> FloatArray:
    """Weights of several bases, ordered from plain to rich, shape (bases,).

    A richer base takes over from the average of the plainer ones as far as it predicts held-out rows better than they
    do: not at all if its gain is below two standard errors, altogether from four on. What a plain base loses to the
    noise of its estimated covariance does not count as a gain of the others (`FittedBase.promise`). The last `nested`
    bases are stacks, each of which has the members of the one before it. None of them is riskier than the others, so
    they are averaged first, each with a weight as soon as it is better at all, and take over together.
    """
    plain, rich = bases[: len(bases) - nested], bases[len(bases) - nested :]
    within, held = _climbed(rich, ADDS)
    if not plain:
        return within
    weights, below = _climbed(plain, TAKES_OVER)
    share = smooth_step(in_errors(held - below), *TAKES_OVER)
    return np.concatenate([weights * (1.0 - share), within * share])


def _climbed(bases: Sequence[FittedBase], errors: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Weights of several bases, and their average (n,).

    `errors` are the standard errors of its gain at which each base begins to take over from those before it, and at
    which it has.
    """
    weights, held = np.ones(1), bases[0].promise
    for base in bases[1:]:
        share = smooth_step(in_errors(base.promise - held), *errors)
        weights = np.append(weights * (1.0 - share), share)
        held = (1.0 - share) * held + share * base.promise
    return weights, held


def averaged(bases: Sequence[FittedBase]) -> FittedBase:
    """The average of several bases that were fitted to the same latents, by `weights_of`; the heaviest names it."""
    weights = weights_of(bases)
    heaviest = bases[int(np.argmax(weights))]
    if weights.max() == 1.0:
        return heaviest
    counted = [(weight, base) for weight, base in zip(weights.tolist(), bases, strict=True) if weight > 0.0]
    value, error = pooled(weights, bases)
    ratio = _AverageRatio(tuple((weight, base.log_ratio) for weight, base in counted))
    return FittedBase(heaviest.name, value, error, ratio, partial(_held_out, counted), heaviest.details)


def _held_out(counted: Sequence[tuple[float, FittedBase]]) -> FloatArray:
    average: FloatArray = np.sum([weight * base.held_out for weight, base in counted], axis=0)
    return average


def pooled(weights: FloatArray, bases: Sequence[FittedBase]) -> tuple[float, float]:
    """The weighted mean of the bases' values, in nats, and its standard error.

    The error combines each base's own standard error with its distance from the mean (Buckland, Burnham and Augustin
    1997).
    """
    value = float(sum(weight * base.value for weight, base in zip(weights, bases, strict=True)))
    errors = [np.hypot(base.standard_error, base.value - value) for base in bases]
    return value, float(weights @ np.array(errors))


def of_all_rows(base: FittedBase, some: FittedBase, every: FittedBase) -> FittedBase:
    """Extend a base that learned from some of the rows to all rows, by what the Gaussian base says of both.

    That is the regression estimator of double sampling (Cochran 1977, 12.6): the costly quantity is known for some
    rows, a correlated one for all. `some` and `every` are the Gaussian base of those rows and of all rows.
    """
    plain, rich = some.held_out - some.held_out.mean(), base.held_out - base.held_out.mean()
    spread = float(plain @ plain)
    slope = float(plain @ rich) / spread if spread > 0.0 else 0.0
    value = base.value + slope * (every.value - some.value)
    error = np.hypot(slope * every.standard_error, mean_and_error(rich - slope * plain)[1])
    found = replace(base, value=value, standard_error=float(error), slope=slope)
    found.__dict__["held_out"] = base.held_out  # evaluated already
    return found


def moved(base: FittedBase, before: FittedBase, now: FittedBase) -> FittedBase:
    """Update a base from `of_all_rows` when the Gaussian base changes, as rows are added, from `before` to `now`."""
    if base.slope == 0.0:
        return base
    value = base.value + base.slope * (now.value - before.value)
    own = max(base.standard_error**2 - (base.slope * before.standard_error) ** 2, 0.0)
    error = float(np.hypot(np.sqrt(own), base.slope * now.standard_error))
    return replace(base, value=value, standard_error=error)


@dataclass(frozen=True)
class _AverageRatio:
    """Log-ratios of several bases, averaged."""

    members: tuple[tuple[float, LogRatio], ...]

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        average: FloatArray = np.sum([weight * ratio(both, z) for weight, ratio in self.members], axis=0)
        return average

"""Several bases, averaged by how well they predict held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pydine.bases.base import FittedBase, LogRatio, mean_and_error
from pydine.latents.flows import Latents
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import evidence

ROWS_AT_ONCE = 1 << 14  # memory: whose log-ratios are computed together


def weights_of(bases: Sequence[FittedBase], rows: Rows = INDEPENDENT) -> FloatArray:
    """Weights of several bases, ordered from plain to rich, shape (bases,).

    A richer base takes over from the average of the plainer ones by the `evidence` of held-out rows. What a plain base
    loses to the noise of its estimated covariance does not count as a gain of the others
    (`FittedBase.adjusted_held_out`).
    """
    weights, held = np.ones(1), bases[0].adjusted_held_out
    for base in bases[1:]:
        share = evidence(base.adjusted_held_out - held, rows=rows)
        weights = np.append(weights * (1.0 - share), share)
        held = (1.0 - share) * held + share * base.adjusted_held_out
    return weights


def averaged(bases: Sequence[FittedBase], rows: Rows = INDEPENDENT) -> FittedBase:
    """The average of several bases that were fitted to the same latents, by `weights_of`; the heaviest names it."""
    weights = weights_of(bases, rows)
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


def of_all_rows(base: FittedBase, some: RowArray, latents: Latents, folds: int) -> FittedBase:
    """Extend a base that learned from some of the rows to all rows, which its models give log-ratios.

    The other rows are held out from all models. So the mean over all rows is of held-out log-ratios, and what the value
    has beyond that mean (half the optimism of the models, and corrections of closed forms) is added to it as before:
    in full for rows that were in a fold, and for the others less by the share of a fold, since models that learn from
    more rows fall short by less.

    Parameters
    ----------
    base : FittedBase
        Fitted to `some`.
    some : ndarray of int, shape (m,)
    latents : Latents
        Of all rows, as a base sees them.
    folds : int
    """
    others = np.setdiff1d(np.arange(latents.n_rows), some, assume_unique=True)
    ratios = np.concatenate([base.held_out, *_in_parts(base.log_ratio, latents, others)])
    mean, error = mean_and_error(ratios, latents.rows.only(np.concatenate([some, others])))
    beyond = base.value - float(base.held_out.mean())
    value = mean + beyond * (1.0 - len(others) / (len(ratios) * folds))
    # What the error has beyond that of the rows' mean does not shrink with more rows.
    rest = max(base.standard_error**2 - mean_and_error(base.held_out, latents.rows.only(some))[1] ** 2, 0.0)
    return replace(base, value=value, standard_error=float(np.hypot(error, np.sqrt(rest))))


def _in_parts(log_ratio: LogRatio, latents: Latents, rows: RowArray) -> Iterator[FloatArray]:
    """Log-ratios of rows, some at a time."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        yield log_ratio(latents.both[:, part], latents.z[:, part])


@dataclass(frozen=True)
class _AverageRatio:
    """Log-ratios of several bases, averaged."""

    members: tuple[tuple[float, LogRatio], ...]

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        average: FloatArray = np.sum([weight * ratio(both, z) for weight, ratio in self.members], axis=0)
        return average

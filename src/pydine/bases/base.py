"""The contract of a base distribution, and how several are compared, averaged and mixed by their held-out rows.

A base is a model of how the latents of x and y depend on each other (paper, "CMI Approximation": the framework holds
for any family of base distributions). Its contract is small. `Base.fit` takes `Latents` and returns a `FittedBase`:

- ``value`` and ``standard_error``, in nats;
- ``held_out``, shape (n,): the log-ratio ln p(x, y | z) - ln p(x | z) - ln p(y | z) of every row, by models that have
  not seen it. Its mean is by how much the base predicts y better than independence does, so bases compete by it;
- ``log_ratio``: the log-ratios of new rows.

`GaussianBase` is the paper's closed form, `StudentBase` adds tail dependence, `MixtureBase` follows other shapes with
several Gaussians or classes, and `FlowBase` is the paper's density-based definition with conditional flows, which can
follow any shape. `averaged` weights them by how well they predict held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from pydine.kernels.mixing import mixture_log_density, mixture_weights
from pydine.latents.flows import Latents
from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import evidence

LogRatio = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class FittedBase:
    """A base fitted to a sample; it takes latents in their canonical order and with their canonical signs (`View`).

    Parameters
    ----------
    name : str
    value, standard_error : float
        Nats.
    log_ratio : callable
        Latents of new rows (dx + dy, m) and their z (dz, m) to log-ratios (m,).
    evaluate : callable
        Computes `held_out` when it is first asked for. It must not be a closure, so that fitted models can be pickled.
    details : dict
    optimism : float
        By how many nats the mean log-ratio of rows that the models have seen exceeds that of held-out rows, beyond the
        plain bases' own excess; half of it is in the value.
    chance : float
        Bias of the base's closed form in a sample of this size, in nats, which was subtracted from its value.
    by_neighbours : float
        What nearest neighbours have added to the value, in nats (see `neighbours.completed`).
    classes, edge : float
        For a stack: the weight of latent classes in it, between 0 and 1, and the share of the rows over which an edge
        of theirs extends, times that weight.
    shaped : float
        For a stack: the share of its information that a plain base does not see, between 0 and 1.
    """

    name: str
    value: float
    standard_error: float
    log_ratio: LogRatio
    evaluate: Callable[[], FloatArray]
    details: dict[str, object] = field(default_factory=dict)
    optimism: float = 0.0
    chance: float = 0.0
    by_neighbours: float = 0.0
    classes: float = 0.0
    edge: float = 0.0
    shaped: float = 0.0

    @cached_property
    def held_out(self) -> FloatArray:
        """Log-ratios of the sample's rows, each by models that have not seen the row, in nats, shape (n,)."""
        return self.evaluate()

    @property
    def adjusted_held_out(self) -> FloatArray:
        """Held-out log-ratios, plus what the noise of estimated parameters costs, as far as it is known; shape (n,).

        A covariance of many columns that is learned from few rows predicts other rows badly, and any model of smaller
        variance does better. That is no evidence of another shape, and the closed form's value is corrected for it.
        """
        shortfall = min(max(self.value - float(self.held_out.mean()), 0.0), self.chance)
        return self.held_out + shortfall


class Base(Protocol):
    """The contract of a base distribution."""

    def fit(self, latents: Latents) -> FittedBase:
        """Model the dependence between the sides of latents."""
        ...


# --- held-out rows ----------------------------------------------------------------------------------------------------


def mixed(held: FloatArray, folds: Sequence[HeldOut], trust: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mix log-ratios (members, n), each fold with weights from the others; the weights returned are from all rows.

    `trust` (members,), between 0 and 1, says how far each member may count.
    """

    def weights_by(rows: FloatArray) -> FloatArray:
        weights: FloatArray = mixture_weights(rows)
        if trust is not None:
            weights = weights * trust / (weights @ trust)
        return weights

    ratios = np.empty(held.shape[1])
    for rows, _ in folds:
        others = np.ascontiguousarray(np.delete(held, rows, axis=1))
        ratios[rows] = mixture_log_density(np.ascontiguousarray(held[:, rows]), weights_by(others))
    return ratios, weights_by(held)


def or_independent(ratios: FloatArray, folds: Sequence[HeldOut]) -> FloatArray:
    """Mix log-ratios (n,) with independence, so that those of a base which learned nothing but noise are near 0."""
    return mixed(np.array([np.zeros(len(ratios)), ratios]), folds)[0]


def mean_and_error(values: FloatArray, rows: Rows = INDEPENDENT) -> tuple[float, float]:
    """Mean of rows and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)) * np.sqrt(rows.effect(values)[0]))


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
    """The weighted mean of the bases' values, in nats, and its standard error."""
    return mean_of_models(weights, [base.value for base in bases], [base.standard_error for base in bases])


def mean_of_models(weights: FloatArray, values: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """The weighted mean of models' values, in nats, and its standard error.

    The error combines each model's own with its distance from the mean (Buckland, Burnham and Augustin 1997).
    """
    mean = float(sum(weight * value for weight, value in zip(weights, values, strict=True)))
    return mean, float(weights @ np.hypot(errors, np.array(values) - mean))


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

"""The contract of a base distribution, and how log-ratios of held-out rows are compared and mixed.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from pydine.kernels.mixing import mixture_log_density, mixture_weights
from pydine.latents.flows import Latents
from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray

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

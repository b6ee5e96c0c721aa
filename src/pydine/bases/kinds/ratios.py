"""Log-ratios by one model of a side: its density with the other side in the context, relative to that without.

A model of y given x and z and one of y given z also differ in how well they follow z, and that is no information. So a
model of y given x and z is compared with a mixture of the model of y given z and of itself, averaged over p(x | z)
(`conditionals`); the weights of the mixture maximise the likelihood of held-out rows. Up to errors in p(x | z), the
mean of such log-ratios, mixed with independence, is a lower bound of the information (Donsker and Varadhan).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pydine.bases.base import mixed
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.kinds.column import Alternatives, Column, Rows
from pydine.latents.kinds.conditionals import ByParts, Conditional
from pydine.sampling import HeldOut
from pydine.types import FloatArray, must_fit
from pydine.units.ladder import LadderSettings


@dataclass(frozen=True, eq=False)
class MixedRatio:
    """One model of a side: the ratio of its density with the other side in the context to that without.

    Parameters
    ----------
    seeing, alone : tuple of Conditional
        The side's columns with the other side in their contexts, and without.
    other : Conditional, optional
        The other side given z, if it is one column, to average over; None also if it has many labels.
    weights : ndarray, shape (1,) or (2,)
        Weights, in the density without the other side, of `alone` and of `seeing` averaged over the other side.
    """

    seeing: tuple[Conditional, ...]
    alone: tuple[Conditional, ...]
    other: Conditional | None
    weights: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, len(self.seeing) > 0 and len(self.alone) > 0)
        must_fit(self, self.weights.shape == (1 + (self.other is not None),))

    def of(self, rows: Rows) -> FloatArray:
        """Log-ratios of new rows, in nats, shape (m,)."""
        with_it = np.sum([conditional.log_density_of(rows) for conditional in self.seeing], axis=0)
        without = [np.sum([conditional.log_density_of(rows) for conditional in self.alone], axis=0)]
        if self.other is not None:
            alternatives = self.other.alternatives_of(rows, len(with_it))

            def density(conditional: Conditional) -> tuple[FloatArray, ByParts]:
                values = conditional.column.values_of(rows)
                return conditional.context.of_rows(rows, len(values)), ByParts.of(conditional, values)

            without.append(averaged_over(self.other.column, alternatives, self.seeing, density))
        ratios: FloatArray = with_it - mixture_log_density(np.array(without), self.weights)
        return ratios


@dataclass(frozen=True, eq=False)
class MixedModels:
    """Densities of each side's columns, with the other side and without it.

    Parameters
    ----------
    ratios : tuple of MixedRatio
    weights : ndarray, shape (1 + models,)
        Weights of independence, then of the models.
    alone : tuple of Conditional
        The columns of x, then of y, each given z and the columns before it in its side.
    """

    ratios: tuple[MixedRatio, ...]
    weights: FloatArray
    alone: tuple[Conditional, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, len(self.ratios) > 0 and self.weights.shape == (1 + len(self.ratios),))

    def log_ratio(self, rows: Rows) -> FloatArray:
        """Log-ratios of new rows, in nats, shape (m,)."""
        counted = [i for i, weight in enumerate(self.weights[1:]) if weight > 0.0]
        nothing = np.zeros(len(next(iter(rows.values()))))
        every = np.array([nothing, *(self.ratios[i].of(rows) for i in counted)])
        ratios: FloatArray = mixture_log_density(every, self.weights[[0, *(1 + i for i in counted)]])
        return ratios

    def log_density(self, rows: Rows) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of new rows, in nats, shape (m,); of labels and steps they are probabilities."""
        total: FloatArray = np.sum([conditional.log_density_of(rows) for conditional in self.alone], axis=0)
        return total


class Sides(NamedTuple):
    """Conditionals of one side with the other in their contexts, without, and of the other side."""

    seeing: Sequence[Conditional]
    alone: Sequence[Conditional]
    others: Sequence[Conditional]

    @property
    def other(self) -> Conditional | None:
        """The column to average over, if it is one."""
        return self.others[0] if len(self.others) == 1 and not self.others[0].column.has_many_labels else None

    def log_densities(self, densities: Densities) -> tuple[FloatArray, FloatArray]:
        """Log-densities with the other side, (n,), and by models without it, (models, n)."""
        with_it, without = (total_of(side, densities) for side in (self.seeing, self.alone))
        if self.other is None:
            return with_it, without[None]
        average = averaged_over(self.other.column, self.other.alternatives, self.seeing, densities)
        return with_it, np.array([without, average])


@dataclass(frozen=True, eq=False)
class ComparedRatio:
    """One model, with log-ratios of the rows that it was fitted to, in nats.

    Parameters
    ----------
    sides : Sides
    ratio : MixedRatio
    held_out : ndarray, shape (n,)
        By models that have not seen the rows.
    """

    sides: Sides
    ratio: MixedRatio
    held_out: FloatArray

    @cached_property
    def in_sample(self) -> FloatArray:
        """By models that have seen the rows, shape (n,): found when somebody asks, for models that count."""
        learned, without = self.sides.log_densities(lambda each: (each.context.learned, each.seen))
        ratios: FloatArray = learned - mixture_log_density(without, self.ratio.weights)
        return ratios


def ratio_of(
    seeing: Sequence[Conditional],
    alone: Sequence[Conditional],
    others: Sequence[Conditional],
    settings: LadderSettings,
    folds: Sequence[HeldOut],
) -> ComparedRatio:
    """One model, and its log-ratios."""
    sides = Sides(seeing, alone, others)
    by_others = {id(conditional): conditional.unseen(settings) for conditional in (*seeing, *alone)}
    held, without = sides.log_densities(lambda each: (each.context.values, by_others[id(each)]))
    below, weights = mixed(without, folds)
    return ComparedRatio(sides, MixedRatio(tuple(seeing), tuple(alone), sides.other, weights), held - below)


Densities = Callable[[Conditional], tuple[FloatArray, ByParts]]  # contexts (c, n) of rows, and models of them


def total_of(side: Sequence[Conditional], densities: Densities) -> FloatArray:
    """Log-densities of all columns of a side, in nats, shape (n,)."""
    total: FloatArray = np.sum([models.log_density(context) for context, models in map(densities, side)], axis=0)
    return total


def averaged_over(
    other: Column, alternatives: Alternatives, side: Sequence[Conditional], densities: Densities
) -> FloatArray:
    """Log-densities of all columns of a side, averaged over the alternatives of another column, shape (n,)."""
    parts = []
    for conditional in side:
        context, models = densities(conditional)
        seen, firsts = alternatives.seen, [values[:, :1] for values in alternatives.seen]
        is_same = len(conditional.context.parents) == 1 and models.n > 0
        if is_same and all((values == first).all() for values, first in zip(seen, firsts, strict=True)):
            parts.append(models.given_each(np.hstack(firsts)))  # so it is if there is no z
        else:
            parts.append(models.with_others(context, conditional.context.places_of(other), seen))
    each = np.sum(parts, axis=0) + alternatives.log_chances
    average: FloatArray = mixture_log_density(each, np.ones(len(each)))
    return average

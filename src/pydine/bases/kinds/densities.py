"""Densities of columns of any kind: E[ln p(y | x, z) - ln p(y | z)], valid for all kinds (paper, Definition 2).

Each side is predicted from the other: a label given numbers is a classification, a number given a label is a flow for
each label, and one is often easier than the other. Beside models that see z, the mixture has models that do not, so
that an irrelevant z does no harm; where these or a look at residuals show that the sides depend on each other at all,
models of latents given z in place of numbers, from which the effect of z has been removed; and independence. The
weights of the mixture maximise the likelihood of held-out rows.

The mean log-ratio of held-out rows is too low, by what could not be learned from the other rows, and that of rows that
the models have seen is too high. For regular models with p parameters and K folds these biases are p K / (2 (K - 1) n)
and p / (2 n): the value is the weighted mean of the two in which they cancel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from pydine.bases.base import mixed
from pydine.bases.kinds.blur import blur
from pydine.bases.kinds.looks import dependent
from pydine.bases.kinds.parts import Parts, label_by_label, on_either_side
from pydine.bases.kinds.ratios import ComparedRatio, MixedModels, ratio_of
from pydine.bases.kinds.segments import segmented
from pydine.bases.learning import UNIFORM, saturated
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.conditionals import Conditional, Context
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.results.intervals import interval_ends
from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray
from pydine.units.evidence import without_traces

LATENT = ", by latents"
ALONE = "x given y, alone", "y given x, alone"
EXCHANGED = {"x given y": "y given x", "y given x": "x given y"}
# answer: a correction for what is still to be learned, and its standard error downwards, as shares of the optimism
# (in-sample less held-out mean log-ratio), which is the standard error upwards. The median error is 0 on eleven
# families of our own, given nothing, labels, and numbers whose effect changes at one place, at two, or smoothly.
UNLEARNED = 0.1, 0.35
# answer: likewise, as a share of what z may still hide (`blur`), and its standard error upwards. Least squares of
# relative errors, on six families of our own with smooth and sharp shapes, given one number, two, five, labels, or one
# that exchanges labels at a place.
BLURRED = 0.4, 0.5
LEVEL = 0.95  # convention: of intervals, at which the standard error downwards from a bound is exact: the usual one
SMALLEST_SPREAD = 1e-12  # guard: of log-ratios, which is divided by
MOST_TARGETS = 3  # answer: most columns of a side that is still predicted where the other side has fewer


@dataclass(frozen=True)
class MixedEstimate:
    """An estimate of information, in nats.

    Parameters
    ----------
    value, standard_error : float
    in_sample, held_out : ndarray, shape (n,)
        Log-ratios ln p(x, y | z) - ln p(x | z) - ln p(y | z) by models that have, and have not, seen the rows.
    weights : dict of str to float
        Weight of each model in the mixture.
    models : MixedModels, optional
        The fitted densities, for log-ratios of new rows.
    hidden : float
        How much more information there may be that was not learned, as a standard error upwards.
    blur : float
        What z may still hide, if all that was not learned of it is noise in continuous columns.
    columns : MixedColumns, optional
        The columns that the models were fitted to, if these are some of the rows only; the log-ratios are then of these
        rows.
    bound : float
        What information cannot exceed, in nats: the entropy of a discrete side; infinite if none is.
    """

    value: float
    standard_error: float
    in_sample: FloatArray
    held_out: FloatArray
    weights: dict[str, float]
    models: MixedModels | None = None
    hidden: float = 0.0
    blur: float = 0.0
    columns: MixedColumns | None = None
    bound: float = np.inf

    @property
    def errors(self) -> tuple[float, float]:
        """Standard errors downwards and upwards, in nats.

        Close to a bound, what is left of the entropy behaves as information does close to 0: an estimate that happens
        to be small believes in a small error. So its upper end is made on the scale of square roots as well
        (`interval_ends`).
        """
        below = above = self.standard_error
        if np.isfinite(self.bound):
            left = max(self.bound - self.value, 0.0)
            most = float(interval_ends(left, below, below, LEVEL)[1])
            below = (most - left) / NormalDist().inv_cdf(0.5 + 0.5 * LEVEL)
        return below, float(np.hypot(above, self.hidden))


def by_densities(columns: MixedColumns, maker: MixedMaker, in_parts: bool = True) -> MixedEstimate:
    """The estimate by densities of each side given the other; it does not depend on which side was called x.

    Without `in_parts`, there are only models of all rows.
    """
    if not columns.is_swapped:
        return _densities(columns, maker, in_parts).estimate()
    found = _densities(columns.swapped(), maker, in_parts).estimate()
    return replace(found, weights={_exchanged(name): weight for name, weight in found.weights.items()})


def _exchanged(name: str) -> str:
    """The name of a model with x and y exchanged."""
    head, comma, rest = name.partition(",")
    return EXCHANGED.get(head, head) + comma + rest


def _of_parts(columns: MixedColumns, latent: MixedColumns, maker: MixedMaker) -> dict[str, Parts]:
    """Log-ratios by models of parts of the rows, by name; in `latent`, numbers are replaced by latents given z.

    A part is taken apart again, until its rows are few or no cut stands out. Its labels have the order of its own
    frequencies already, so that nothing is realigned within it: that took a third of the time.
    """
    within = replace(maker, without=(*maker.without, "realigned"))

    def fitted(in_parts: bool, some: MixedColumns) -> Densities:
        return _densities(some.swapped() if some.is_swapped else some, within, in_parts)

    parted, whole = partial(fitted, True), partial(fitted, False)
    found = label_by_label(columns, maker, parted, whole) if maker.has("label by label") else {}
    return found | (on_either_side(latent, columns, maker, parted, whole) if maker.has("part by part") else {})


@dataclass(frozen=True, eq=False)
class Densities:
    """A mixture of densities: held-out log-ratios at once, and the rest when somebody asks.

    Of a part of the rows, only the former are needed unless its models have weight.

    Parameters
    ----------
    columns : MixedColumns
    maker : MixedMaker
    folds : sequence of HeldOut
    alone : list of Conditional
        Each side's columns given z.
    compared : dict of str to ComparedRatio
        Models of all rows.
    parted : dict of str to Parts
        Those of parts.
    """

    columns: MixedColumns
    maker: MixedMaker
    folds: Sequence[HeldOut]
    alone: list[Conditional]
    compared: dict[str, ComparedRatio]
    parted: dict[str, Parts]

    @cached_property
    def of_all(self) -> FloatArray:
        """Held-out log-ratios of independence and of models of all rows, shape (1 + models, n)."""
        return np.array([np.zeros(self.columns.n_rows), *(each.held_out for each in self.compared.values())])

    @cached_property
    def _mixed(self) -> tuple[FloatArray, dict[str, float]]:
        """Held-out log-ratios (n,) of the mixture, and its weights by name."""
        every = np.vstack([self.of_all, *(parts.held_out for parts in self.parted.values())])
        trust = np.array([*np.ones(len(self.of_all)), *(parts.trust for parts in self.parted.values())])
        held_out, weights = mixed(every, self.folds, trust)
        weights = without_traces(weights, self.columns.n_rows)
        return held_out, dict(zip(["none", *self.compared, *self.parted], weights.tolist(), strict=True))

    @property
    def held_out(self) -> FloatArray:
        """Log-ratios by models that have not seen the rows, in nats, shape (n,)."""
        return self._mixed[0]

    @property
    def weights(self) -> dict[str, float]:
        """Weights in the mixture, by name."""
        return self._mixed[1]

    @cached_property
    def in_sample(self) -> FloatArray:
        """Log-ratios by models that have seen the rows, in nats, shape (n,)."""
        counted = {name: weight for name, weight in self.weights.items() if weight > 0.0}
        seen = np.array([self._seen(name) for name in counted])
        ratios: FloatArray = mixture_log_density(seen, np.array(list(counted.values())))
        return ratios

    def _seen(self, name: str) -> FloatArray:
        if name in self.compared:
            return self.compared[name].in_sample
        return self.parted[name].in_sample() if name in self.parted else np.zeros(self.columns.n_rows)

    @cached_property
    def models(self) -> MixedModels:
        """The models of all rows, for new ones."""
        weights = np.array([self.weights["none"], *(self.weights[name] for name in self.compared)])
        if self.parted:
            weights = without_traces(mixed(self.of_all, self.folds)[1], self.columns.n_rows)
        return MixedModels(tuple(each.ratio for each in self.compared.values()), weights, tuple(self.alone))

    @cached_property
    def blur(self) -> float:
        """What z may still hide, in nats."""
        if not self.maker.has("unlearned"):
            return 0.0
        total = 0.0
        for name, weight in self.weights.items():
            if weight > 0.0:
                own = self.parted[name].blur if name in self.parted else None
                total += weight * (self._of_all_rows if own is None else own())
        return total

    @cached_property
    def _of_all_rows(self) -> float:
        return blur(self.columns, self.models)

    def estimate(self) -> MixedEstimate:
        """The estimate with all that was found."""
        folds, sampling = self.maker.ladder.folds, self.columns.sampling
        value, error, hidden = balanced(self.in_sample, self.held_out, folds, self.blur, sampling)
        return MixedEstimate(value, error, self.in_sample, self.held_out, self.weights, self.models, hidden, self.blur)


def _densities(columns: MixedColumns, maker: MixedMaker, in_parts: bool) -> Densities:
    has_blind, folds = maker.has("blind"), columns.sampling.folds(columns.outwards, maker.ladder.folds)
    found, compared = _compared(_plans(columns, "", has_blind), maker, folds)
    alone = [c for name in ALONE for c in found[name]]
    nothing = np.zeros(columns.n_rows)
    latent = _of_latents(columns, alone) if maker.has("by latents") else None
    if latent is not None and (residuals := maker.latents(columns)) is not None:
        known = np.array([nothing, *(each.held_out for each in compared.values())])
        if dependent(residuals, known, maker.ladder.folds) > 0.0:
            compared |= _compared(_plans(latent, LATENT, has_blind), maker, folds)[1]
    seeing = [c for name in EXCHANGED for c in found.get(name, [])]
    parted = _of_parts(columns, latent or columns, maker) if in_parts else {}
    if maker.has("segments"):
        parted = segmented(columns, latent, alone, seeing if maker.has("cleared") else [], folds) | parted
    return Densities(columns, maker, folds, alone, compared, parted)


def _of_latents(columns: MixedColumns, alone: Sequence[Conditional]) -> MixedColumns | None:
    """The columns with continuous ones replaced by their latents given z, which hold the same information given z.

    The effect of z on a number is removed from its latent, and need not be learned again together with that of the
    other side. None if z has no effect on any of them.
    """
    latents: dict[int, Column] = {}
    for conditional in alone:
        column = conditional.column
        if column.is_discrete or not conditional.units[0].models or not columns.z:
            continue
        latent = ContinuousColumn(conditional.residuals()[0].first)
        latent.place, latent.given = column.place, conditional
        latent.unlearned = conditional.units[0].unlearned
        latents[id(column)] = latent
    if not latents:
        return None
    x, y = (tuple(latents.get(id(column), column) for column in side) for side in (columns.x, columns.y))
    return replace(columns, x=x, y=y)


Fitted = dict[str, list[Conditional]]
Compared = dict[str, ComparedRatio]


class _Plan(NamedTuple):
    """Columns of one side, each with its context, and the names of the models of either side given z alone."""

    asked: list[tuple[Column, Context]]
    base: str = ""
    others: str = ""


def _compared(plans: Mapping[str, _Plan], maker: MixedMaker, folds: Sequence[HeldOut]) -> tuple[Fitted, Compared]:
    """The fitted models of plans, by name, and of those that see the other side, what `ratio_of` says."""
    fitted = iter(maker.conditionals([pair for plan in plans.values() for pair in plan.asked]))
    found = {name: [next(fitted) for _ in plan.asked] for name, plan in plans.items()}
    compared = {
        name: ratio_of(found[name], found[plan.base], found[plan.others], maker.ladder, folds)
        for name, plan in plans.items()
        if plan.base
    }
    return found, compared


def _plans(columns: MixedColumns, suffix: str, has_blind: bool) -> dict[str, _Plan]:
    """The models to fit, by name: each side given z, given the other side and z, and given the other side alone."""
    plans: dict[str, _Plan] = {}
    for name, targets, others in (("y given x", columns.y, columns.x), ("x given y", columns.x, columns.y)):

        def given(*groups: Sequence[Column], targets: Sequence[Column] = targets) -> list[tuple[Column, Context]]:
            return [(target, columns.context(targets[:i], *groups)) for i, target in enumerate(targets)]

        alone, other = f"{name}, alone{suffix}", f"{EXCHANGED[name]}, alone{suffix}"
        plans[alone] = _Plan(given(columns.z))
        many = [sum(column.has_many_labels for column in side) for side in (targets, others)]
        is_wide = many[0] == many[1] and len(targets) > max(MOST_TARGETS, len(others))
        if many[0] > many[1] or is_wide:
            continue  # the other side is easier to predict
        plans[f"{name}{suffix}"] = _Plan(given(others, columns.z), alone, other)
        if columns.z and has_blind:
            plans[f"{name}, without z{suffix}"] = _Plan(given(others), alone, other)
    return plans


def balanced(
    in_sample: FloatArray,
    held_out: FloatArray,
    folds: int,
    blurred: float = 0.0,
    sampling: Rows = INDEPENDENT,
) -> tuple[float, float, float]:
    """The value, its standard error, and how much more there may be as a standard error upwards, in nats.

    The value is the weighted mean of in-sample and held-out log-ratios in which their biases cancel. The difference
    between the two shows that something is still being learned, so information is underestimated (`learning`): a share
    of the difference is added, and a share of `blurred`, what z may hide. The standard error includes that these
    corrections may be too large, and the error of what was learned. To second order in the p parameters' errors, the
    weighted mean is that of true log-ratios plus products of errors from different folds, whose variance is
    p K / (2 (K - 1) n^2): `share` times the difference over n.
    """
    share = folds / (2.0 * folds - 1.0)  # weight of in-sample log-ratios
    rows = share * in_sample + (1.0 - share) * held_out
    mean, optimism = float(rows.mean()), float(in_sample.mean() - held_out.mean())
    unlearned, noise = max(optimism, 0.0), float(saturated(np.asarray(blurred)))
    effect = sampling.effect(rows)[0]
    variance = (float(rows.var()) * variance_inflation(held_out, mean) + share * unlearned) * effect / len(rows)
    added = UNLEARNED[0] * unlearned, BLURRED[0] * noise
    return (
        mean + sum(added),
        float(np.sqrt(variance + (UNLEARNED[1] * optimism) ** 2 + (UNIFORM * added[1]) ** 2)),
        float(np.hypot(unlearned, BLURRED[1] * noise)),
    )


def variance_inflation(held_out: FloatArray, information: float) -> float:
    """By what factor, at least 1, the variance of true log-ratios exceeds that of these, for this information in nats.

    Models that are learned from few rows are drawn towards independence, and so are their log-ratios: that lowers
    the mean in second order, but the standard deviation in first order. True log-ratios L have E[exp(-L)] = 1, so that
    the mean of exp(-L) - 1 + L, which is about L^2 / 2, is the information too. If that of held-out rows falls short
    of it, so does their variance, by about the same factor.
    """
    with np.errstate(over="ignore"):  # of rows that were thought impossible, whose ratios are far from 0
        spread = float((np.expm1(-held_out) + held_out).mean())
    return max(information / max(spread, SMALLEST_SPREAD), 1.0)

"""Densities of columns of any kind: E[ln p(y | x, z) - ln p(y | z)], which holds for all (paper, Definition 2).

Both sides are predicted, each from the other: a label from numbers is a classification, a number from a label a flow
for each label, and one is often easier than the other. Beside models that see z there are some that do not, so that a
z which does nothing does no harm, models of latents given z in place of numbers, which are rid of what z does to
them, and independence. All are mixed with weights that maximise the likelihood of held-out rows.

The mean log-ratio of held-out rows is too low, by what could not be learned from the other rows, and that of rows that
the models have seen is too high. With p parameters, regular models and K folds, by p K / (2 (K - 1) n) and p / (2 n):
the value is the mean of the two in which these cancel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pydine.bases.base import mixed
from pydine.bases.kinds.blur import blur
from pydine.bases.kinds.parts import Parts, label_by_label, on_either_side
from pydine.bases.kinds.ratios import MixedModels, ratio_of
from pydine.bases.kinds.segments import segmented
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.conditionals import Conditional, Context
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.types import FloatArray
from pydine.units.rows import dealt

LATENT = ", by latents"
ALONE = "x given y, alone", "y given x, alone"
EXCHANGED = {"x given y": "y given x", "y given x": "x given y"}
DEPTH = 1  # answer: cuts through z, one after the other
# answer: of what models say more of rows that they have seen than of others: how much is put back, since more is to be
# learned, and by how much that may be too much, and too little, as standard errors. Eleven families of our own, given
# nothing, labels, and numbers that change things at one place, at two, or smoothly: with these the median error is 0.
UNLEARNED = 0.1, 0.35, 1.0
# answer: the same of what z may still hide of numbers (`blur`). Least squares of relative errors, on six families of
# our own with smooth and sharp shapes, given one number, two, five, labels, or one that exchanges labels at a place.
BLURRED = 0.4, 0.35, 0.5
SATURATION = 1.0  # answer: for each nat that z may hide: the more it is, the smaller a share is put back; as above
MOST_TARGETS = 3  # answer: columns of a side that is predicted column by column although the other one has fewer


@dataclass(frozen=True)
class MixedEstimate:
    """What was found, in nats.

    Parameters
    ----------
    value, standard_error : float
    in_sample, held_out : ndarray, shape (n,)
        Log-ratios ln p(x, y | z) - ln p(x | z) - ln p(y | z) by models that have, and have not, seen the rows.
    weights : dict of str to float
        What each model counts.
    models : MixedModels, optional
        Those of densities, which know what to say of new rows.
    hidden : float
        How much more there may be that was not learned, as a standard error.
    blur : float
        What z may still hide of numbers, if all of it is noise in them.
    columns : MixedColumns, optional
        Those that the models are of, if they have fewer rows than there are: log-ratios are of these rows, too.
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

    @property
    def errors(self) -> tuple[float, float]:
        """Standard errors downwards and upwards, in nats."""
        return self.standard_error, float(np.hypot(self.standard_error, self.hidden))


def by_densities(columns: MixedColumns, maker: MixedMaker, depth: int = DEPTH) -> MixedEstimate:
    """The estimate by densities of columns of each side given the other, whichever of them was called x."""
    if not columns.is_swapped:
        return _by_densities(columns, maker, depth)
    found = _by_densities(columns.swapped(), maker, depth)
    return replace(found, weights={_exchanged(name): weight for name, weight in found.weights.items()})


def _exchanged(name: str) -> str:
    """The name of a model with x and y in each other's place."""
    head, comma, rest = name.partition(",")
    return EXCHANGED.get(head, head) + comma + rest


def _of_parts(columns: MixedColumns, latent: MixedColumns, maker: MixedMaker, depth: int) -> dict[str, Parts]:
    """What models of parts of the rows say, by name; `latent`: the columns with numbers as their latents given z."""

    def fitted(cuts: int, some: MixedColumns) -> tuple[FloatArray, FloatArray, float]:
        found = by_densities(some, maker, cuts)
        return found.in_sample, found.held_out, found.blur

    if depth < 0:
        return {}
    whole = partial(fitted, -1)
    found = label_by_label(columns, partial(fitted, depth), whole)
    if depth > 0:
        found |= on_either_side(latent, columns, partial(fitted, depth - 1), whole)
    return found


def _by_densities(columns: MixedColumns, maker: MixedMaker, depth: int) -> MixedEstimate:
    plans = _plans(columns, "")
    found = _fitted(plans, maker)
    alone = [c for name in ALONE for c in found[name]]
    if (latent := _of_latents(columns, alone)) is not None:
        more = _plans(latent, LATENT)
        plans = {**plans, **more}
        found = {**found, **_fitted(more, maker)}
    folds = dealt(columns.outwards, maker.ladder.folds)
    compared = {
        name: ratio_of(found[name], found[plan.base], found[plan.others], maker.ladder, folds)
        for name, plan in plans.items()
        if plan.base
    }
    nothing = np.zeros(columns.n_rows)
    held = np.array([nothing, *(held for _, _, held in compared.values())])
    seen = np.array([nothing, *(seen for _, seen, _ in compared.values())])
    names, every, trust = ["none", *compared], held, np.ones(len(held))
    seeing = [c for name in EXCHANGED for c in found.get(name, [])]
    parted = segmented(columns, latent, alone, seeing, folds) | _of_parts(columns, latent or columns, maker, depth)
    for name, parts in parted.items():
        names, trust = [*names, name], np.append(trust, parts.trust)
        seen, every = np.vstack([seen, parts.in_sample]), np.vstack([every, parts.held_out])
    held_out, weights = mixed(every, folds, trust)
    in_sample = mixture_log_density(seen, weights)
    ratios = tuple(ratio for ratio, _, _ in compared.values())
    of_new_rows = weights if len(every) == len(held) else mixed(held, folds)[1]
    models = MixedModels(ratios, of_new_rows, tuple(alone))
    counted = dict(zip(names, weights.tolist(), strict=True))
    of_all = blur(columns, models)
    known = {name: parts.blur for name, parts in parted.items() if parts.blur is not None}
    blurred = sum(weight * known.get(name, of_all) for name, weight in counted.items())
    value, error, hidden = balanced(in_sample, held_out, maker.ladder.folds, blurred)
    return MixedEstimate(value, error, in_sample, held_out, counted, models, hidden, blurred)


def _of_latents(columns: MixedColumns, alone: Sequence[Conditional]) -> MixedColumns | None:
    """The same columns with continuous ones as their latents given z, which hold the same information given z.

    What z does to a number is gone from its latent, and need not be learned again beside what the other side does. None
    if z does nothing to any of them.
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


class _Plan(NamedTuple):
    """Columns of one side, each with its context, and the names of what they are compared with: both sides alone."""

    asked: list[tuple[Column, Context]]
    base: str = ""
    others: str = ""


def _fitted(plans: Mapping[str, _Plan], maker: MixedMaker) -> dict[str, list[Conditional]]:
    fitted = iter(maker.conditionals([pair for plan in plans.values() for pair in plan.asked]))
    return {name: [next(fitted) for _ in plan.asked] for name, plan in plans.items()}


def _plans(columns: MixedColumns, suffix: str) -> dict[str, _Plan]:
    """What is to be fitted, by name: each side given z, given the other side and z, and given the other side alone."""
    plans: dict[str, _Plan] = {}
    for name, targets, others in (("y given x", columns.y, columns.x), ("x given y", columns.x, columns.y)):

        def given(*groups: Sequence[Column], targets: Sequence[Column] = targets) -> list[tuple[Column, Context]]:
            return [(target, columns.context(targets[:i], *groups)) for i, target in enumerate(targets)]

        alone, other = f"{name}, alone{suffix}", f"{EXCHANGED[name]}, alone{suffix}"
        plans[alone] = _Plan(given(columns.z))
        if len(targets) > max(MOST_TARGETS, len(others)):
            continue  # the other side is easier to predict
        plans[f"{name}{suffix}"] = _Plan(given(others, columns.z), alone, other)
        if columns.z:
            plans[f"{name}, without z{suffix}"] = _Plan(given(others), alone, other)
    return plans


def balanced(
    in_sample: FloatArray, held_out: FloatArray, folds: int, blurred: float = 0.0
) -> tuple[float, float, float]:
    """The mean of log-ratios of rows that were seen, and were not, in which what is learned by chance cancels.

    What makes for a difference between them is still being learned, so there is more than there seems (`learning`): a
    share of the difference is put back, and of what z may hide of numbers, `blurred`. The standard error knows that it
    may be too much. Third, by how much it may be too little.
    """
    share = folds / (2.0 * folds - 1.0)  # of those that were seen
    rows = share * in_sample + (1.0 - share) * held_out
    sampling, optimism = float(rows.std() / np.sqrt(len(rows))), float(in_sample.mean() - held_out.mean())
    unlearned, noise = max(optimism, 0.0), blurred / (1.0 + SATURATION * blurred)
    left, below, above = (np.array(pair) for pair in zip(UNLEARNED, BLURRED, strict=True))
    return (
        float(rows.mean() + left @ [unlearned, noise]),
        float(np.sqrt(sampling**2 + below**2 @ [optimism**2, noise**2])),
        float(np.sqrt(above**2 @ [unlearned**2, noise**2])),
    )

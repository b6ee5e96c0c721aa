"""Columns of any kind to nats: E[ln p(y | x, z) - ln p(y | z)], which holds for all of them (paper, Definition 2).

Both sides are predicted, each from the other: a label from numbers is a classification, a number from a label a flow
for each label, and one is often easier than the other. Beside models that see z there are some that do not, so that a
z which does nothing does no harm, models of latents given z in place of numbers, which are rid of what z does to
them, and independence. All are mixed with weights that maximise the likelihood of held-out rows.

Two models of y, one of which sees x, also differ in how well they follow z, and that is no information. So a model of y
given x and z is compared with itself, averaged over what x could have been given z (`conditionals`), beside the model
of y given z: with whichever mixture of the two follows held-out rows best. Mixed with independence, the log-ratios are
then of the kind that cannot be too large on average (Donsker and Varadhan), but for errors in p(x | z).

The mean log-ratio of held-out rows is too low, by what could not be learned from the other rows, and that of rows that
the models have seen is too high. With p parameters, regular models and K folds, by p K / (2 (K - 1) n) and p / (2 n):
the value is the mean of the two in which these cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pydine.bases.average import TAKES_OVER
from pydine.bases.base import in_errors, mixed
from pydine.bases.closed_form import gaussian_information, gaussian_standard_error, is_singular, wishart_bias
from pydine.bases.parts import Parts, codes_of_columns, label_by_label, on_either_side
from pydine.bases.segments import segmented
from pydine.bases.tables import TableFit, entropy, fit_table
from pydine.kernels.mixing import mixture_log_density, smooth_step
from pydine.latents.conditionals import ByParts, Conditional, Context
from pydine.latents.flows import Latents
from pydine.latents.kinds import Alternatives, Column, ContinuousColumn, Rows
from pydine.latents.mixed import MixedColumns, MixedMaker
from pydine.types import FloatArray, RowArray
from pydine.units.ladder import LadderSettings
from pydine.units.rows import dealt

LATENT = ", by latents"
ALONE = "x given y, alone", "y given x, alone"
EXCHANGED = {"x given y": "y given x", "y given x": "x given y"}
DEPTH = 1  # answer: cuts through z, one after the other
# answer: of what models say more of rows that they have seen than of others: how much is put back, since more is to be
# learned, and by how much that may be too much, and too little, as standard errors. Eleven families of our own, given
# nothing, labels, and numbers that change things at one place, at two, or smoothly: with these the median error is 0.
UNLEARNED = 0.1, 0.35, 1.0
# answer: the same where a number follows one in z. Edges that it moves are harder to learn: where too little is put
# back it is 1.5 of the difference, in root mean square.
UNLEARNED_OF_NUMBERS = 0.4, 0.35, 1.5
LEAST_LEFT = 1e-12  # guard: share of an entropy that is not explained, for its logarithm
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
    """

    value: float
    standard_error: float
    in_sample: FloatArray
    held_out: FloatArray
    weights: dict[str, float]
    models: MixedModels | None = None
    hidden: float = 0.0

    @property
    def errors(self) -> tuple[float, float]:
        """Standard errors downwards and upwards, in nats."""
        return self.standard_error, float(np.hypot(self.standard_error, self.hidden))


@dataclass(frozen=True, eq=False)
class MixedRatio:
    """One model of a side: what it says with the other side in its context, beyond what it says without.

    Parameters
    ----------
    seeing, alone : tuple of Conditional
        The side's columns with the other side in their contexts, and without.
    other : Conditional, optional
        The other side given z, if it is one column: what else it could have been.
    weights : ndarray, shape (1,) or (2,)
        What counts as without: `alone`, and `seeing` averaged over the other side.
    """

    seeing: tuple[Conditional, ...]
    alone: tuple[Conditional, ...]
    other: Conditional | None
    weights: FloatArray

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
        What independence counts, then the models.
    alone : tuple of Conditional
        The columns of x, then of y, given z, and those before them in their side.
    """

    ratios: tuple[MixedRatio, ...]
    weights: FloatArray
    alone: tuple[Conditional, ...]

    def log_ratio(self, rows: Rows) -> FloatArray:
        """Log-ratios of new rows, in nats, shape (m,)."""
        held = [ratio.of(rows) for ratio in self.ratios]
        ratios: FloatArray = mixture_log_density(np.array([np.zeros(len(held[0])), *held]), self.weights)
        return ratios

    def log_density(self, rows: Rows) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of new rows, in nats, shape (m,); of labels and steps they are probabilities."""
        total: FloatArray = np.sum([conditional.log_density_of(rows) for conditional in self.alone], axis=0)
        return total


def fit_mixed(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Estimate the information between the sides of a question."""
    table = fit_columns_table(columns)
    if table is not None and table.trust == 1.0:
        return MixedEstimate(table.value, table.standard_error, table.ratios, table.ratios, {"table": 1.0})
    found = _or_plain(by_densities(columns, maker), columns, maker)
    if table is None or table.trust == 0.0:
        return found
    share = table.trust
    value, error = _averaged((share, table.value, table.standard_error), (found.value, found.standard_error))
    ratios = [share * table.ratios + (1.0 - share) * part for part in (found.in_sample, found.held_out)]
    weights = {"table": share, **{name: (1.0 - share) * weight for name, weight in found.weights.items()}}
    return MixedEstimate(value, error, ratios[0], ratios[1], weights, found.models, (1.0 - share) * found.hidden)


def _averaged(first: tuple[float, float, float], second: tuple[float, float]) -> tuple[float, float]:
    """The mean of two values, and its standard error: share, value and error of the first, then of the second.

    The error adds how far each is from the mean to what each says of itself (Buckland, Burnham and Augustin 1997).
    """
    share, value, error = first
    mean = share * value + (1.0 - share) * second[0]
    whole = share * np.hypot(error, value - mean) + (1.0 - share) * np.hypot(second[1], second[0] - mean)
    return float(mean), float(whole)


def _or_plain(found: MixedEstimate, columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Let the closed form of residuals speak where densities cannot tell the sides from independent ones.

    It has learned nothing but what z does, so it has little to be wrong about where there is little to tell. Where
    dependence is weak it is as good as exact, whatever the kinds. Densities take over as held-out rows show that they
    know something.
    """
    bound = entropy_bound(columns)
    value = min(found.value, bound)
    error = max(found.standard_error, least_error(value, bound, columns.n_rows))
    share = smooth_step(in_errors(found.held_out), *TAKES_OVER)
    if share < 1.0 and (latents := maker.latents(columns)) is not None:
        value, error = _averaged((share, value, error), closed_form(latents, bound))
    return replace(found, value=value, standard_error=error, hidden=share * found.hidden)


def least_error(value: float, bound: float, n: int) -> float:
    """Standard error of n rows of two Gaussian columns of this information, in nats, for a bound as `closed_form` does.

    Models that have learned only a part of what there is differ less between rows than the truth does.
    """
    if value <= 0.0:
        return 0.0
    left = max(1.0 - value / bound, 0.0) if np.isfinite(bound) else 1.0
    plain = -bound * np.log(max(left, LEAST_LEFT)) if np.isfinite(bound) else value
    return float(left * np.sqrt(-np.expm1(-2.0 * plain) / n))


def entropy_bound(columns: MixedColumns) -> float:
    """The smaller of the entropies of the discrete sides, in nats; infinite if none is discrete."""
    sides = [side for side in (columns.x, columns.y) if all(column.is_discrete for column in side)]
    return min((entropy(codes_of_columns(side)) for side in sides), default=np.inf)


def fit_columns_table(columns: MixedColumns) -> TableFit | None:
    """The contingency table of a question whose columns are all discrete."""
    if columns.cells is None or not all(column.is_discrete for column in (*columns.x, *columns.y)):
        return None
    return fit_table(codes_of_columns(columns.x), codes_of_columns(columns.y), columns.cells)


def closed_form(latents: Latents, bound: float) -> tuple[float, float]:
    """The Gaussian closed form of residuals, and its standard error, in nats, below a bound.

    With B the entropy of a discrete side and I the closed form, B (1 - exp(-I / B)): the same where I is small, and B
    where the sides determine each other. Two bits of which a share are flipped are met to a few percent.
    """
    dx, dy, _ = latents.dimensions
    covariance = latents.cross_product / latents.dof
    if is_singular(covariance):
        return bound, 0.0
    value = gaussian_information(covariance, dx) - wishart_bias(dx, dy, latents.dof)
    error = gaussian_standard_error(covariance, dx, latents.dof)
    if not np.isfinite(bound) or value <= 0.0:
        return value, error
    return float(bound * -np.expm1(-value / bound)), float(error * np.exp(-value / bound))


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

    def fitted(cuts: int, some: MixedColumns) -> tuple[FloatArray, FloatArray]:
        found = by_densities(some, maker, cuts)
        return found.in_sample, found.held_out

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
        name: _compared(found[name], found[plan.base], found[plan.others], maker.ladder, folds)
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
    value, error, hidden = balanced(in_sample, held_out, maker.ladder.folds, columns.follows_numbers)
    ratios = tuple(ratio for ratio, _, _ in compared.values())
    of_new_rows = weights if len(every) == len(held) else mixed(held, folds)[1]
    models = MixedModels(ratios, of_new_rows, tuple(alone))
    counted = dict(zip(names, weights.tolist(), strict=True))
    return MixedEstimate(value, error, in_sample, held_out, counted, models, hidden)


def _compared(
    seeing: Sequence[Conditional],
    alone: Sequence[Conditional],
    others: Sequence[Conditional],
    settings: LadderSettings,
    folds: Sequence[RowArray],
) -> tuple[MixedRatio, FloatArray, FloatArray]:
    """One model, and its log-ratios of rows that it has, and has not, seen, shapes (n,)."""
    other = others[0] if len(others) == 1 else None
    by_others = {id(conditional): conditional.unseen(settings) for conditional in (*seeing, *alone)}

    def seen(conditional: Conditional) -> tuple[FloatArray, ByParts]:
        return conditional.context.values, conditional.seen

    def unseen(conditional: Conditional) -> tuple[FloatArray, ByParts]:
        return conditional.context.values, by_others[id(conditional)]

    found = []
    alternatives = [] if other is None else [other.alternatives]
    for density in (unseen, seen):
        with_it, without = (total_of(side, density) for side in (seeing, alone))
        averages = [averaged_over(others[0].column, each, seeing, density) for each in alternatives]
        found.append((with_it, np.array([without, *averages])))
    (held, held_without), (learned, learned_without) = found
    below, weights = mixed(held_without, folds)
    ratio = MixedRatio(tuple(seeing), tuple(alone), other, weights)
    return ratio, learned - mixture_log_density(learned_without, weights), held - below


Densities = Callable[[Conditional], tuple[FloatArray, ByParts]]  # contexts (c, n) of rows, and models of them


def total_of(side: Sequence[Conditional], densities: Densities) -> FloatArray:
    """Log-densities of all columns of a side, in nats, shape (n,)."""
    total: FloatArray = np.sum([models.log_density(context) for context, models in map(densities, side)], axis=0)
    return total


def _given_each(models: ByParts, contexts: Iterator[FloatArray], is_alone: bool) -> FloatArray:
    """Log-densities of rows with each of g contexts (c, n), shape (g, n); `is_alone`: of one column, and small."""
    if is_alone and models.n > 0:
        every = list(contexts)
        firsts = [context[:, :1] for context in every]
        if all((context == first).all() for context, first in zip(every, firsts, strict=True)):
            return models.given_each(np.hstack(firsts))  # as it is without a z
        contexts = iter(every)
    return np.array([models.log_density(context) for context in contexts])


def averaged_over(
    other: Column, alternatives: Alternatives, side: Sequence[Conditional], densities: Densities
) -> FloatArray:
    """Log-densities of all columns of a side, averaged over what another column could have been, shape (n,)."""
    parts = []
    for conditional in side:
        context, models = densities(conditional)
        changed = conditional.context.with_others(context, other, alternatives.seen)
        parts.append(_given_each(models, changed, is_alone=len(conditional.context.parents) == 1))
    each = np.sum(parts, axis=0) + alternatives.log_chances
    average: FloatArray = mixture_log_density(each, np.ones(len(each)))
    return average


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
    in_sample: FloatArray, held_out: FloatArray, folds: int, follows_numbers: bool = False
) -> tuple[float, float, float]:
    """The mean of log-ratios of rows that were seen, and were not, in which what is learned by chance cancels.

    What makes for a difference between them is still being learned, so there is more than there seems (`learning`): a
    share of the difference is put back, the larger one if models have to follow numbers in z. The standard error knows
    that it may be too much. Third, by how much it may be too little.
    """
    share = folds / (2.0 * folds - 1.0)  # of those that were seen
    rows = share * in_sample + (1.0 - share) * held_out
    sampling, optimism = float(rows.std() / np.sqrt(len(rows))), float(in_sample.mean() - held_out.mean())
    left, below, above = UNLEARNED_OF_NUMBERS if follows_numbers else UNLEARNED
    unlearned = max(optimism, 0.0)
    return (
        float(rows.mean()) + left * unlearned,
        float(np.hypot(sampling, below * optimism)),
        above * unlearned,
    )

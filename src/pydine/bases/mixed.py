"""Columns of any kind to nats: E[ln p(y | x, z) - ln p(y | z)], which holds for all of them (paper, Definition 2).

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
from typing import NamedTuple

import numpy as np

from pydine.bases.base import mixed
from pydine.bases.closed_form import gaussian_information, gaussian_standard_error, is_singular, wishart_bias
from pydine.bases.tables import Codes, TableFit, codes_of, entropy, fit_table
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.flows import Latents
from pydine.latents.kinds import Column, Conditional, Context, ContinuousColumn, Rows
from pydine.latents.mixed import MixedColumns, MixedMaker
from pydine.types import FloatArray
from pydine.units.rows import dealt

LATENT = ", by latents"
ALONE = "x given y, alone", "y given x, alone"
EXCHANGED = {"x given y": "y given x", "y given x": "x given y"}
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
    """

    value: float
    standard_error: float
    in_sample: FloatArray
    held_out: FloatArray
    weights: dict[str, float]
    models: MixedModels | None = None


@dataclass(frozen=True, eq=False)
class MixedModels:
    """Densities of each side's columns, with the other side and without it.

    Parameters
    ----------
    pairs : tuple of tuple of Conditional and Conditional
        For each model: the columns' densities with the other side in the context, and without.
    weights : ndarray, shape (1 + models,)
        What independence counts, then the models.
    alone : tuple of Conditional
        The columns of x, then of y, given z, and those before them in their side.
    """

    pairs: tuple[tuple[tuple[Conditional, Conditional], ...], ...]
    weights: FloatArray
    alone: tuple[Conditional, ...]

    def log_ratio(self, rows: Rows) -> FloatArray:
        """Log-ratios of new rows, in nats, shape (m,)."""
        held = [
            np.sum([seeing.log_density_of(rows) - alone.log_density_of(rows) for seeing, alone in model], axis=0)
            for model in self.pairs
        ]
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
    found = by_densities(columns, maker)
    bound = entropy_bound(columns)
    if table is None or table.trust == 0.0:
        return replace(found, value=min(found.value, bound))
    share = table.trust
    value = share * table.value + (1.0 - share) * min(found.value, bound)
    error = float(
        share * np.hypot(table.standard_error, table.value - value)
        + (1.0 - share) * np.hypot(found.standard_error, found.value - value)
    )
    ratios = [share * table.ratios + (1.0 - share) * part for part in (found.in_sample, found.held_out)]
    weights = {"table": share, **{name: (1.0 - share) * weight for name, weight in found.weights.items()}}
    return MixedEstimate(value, error, ratios[0], ratios[1], weights, found.models)


def codes_of_columns(columns: Sequence[Column]) -> Codes:
    """Which of the different rows of discrete columns each row is."""
    return codes_of(np.array([column.values for column in columns]))


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


def by_densities(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """The estimate by densities of columns of each side given the other, whichever of them was called x."""
    if not columns.is_swapped:
        return _by_densities(columns, maker)
    found = _by_densities(columns.swapped(), maker)
    return replace(found, weights={_exchanged(name): weight for name, weight in found.weights.items()})


def _exchanged(name: str) -> str:
    """The name of a model with x and y in each other's place."""
    head, comma, rest = name.partition(",")
    return EXCHANGED.get(head, head) + comma + rest


def _by_densities(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    plans = _plans(columns, "")
    found = _fitted(plans, maker)
    if (latent := _of_latents(columns, [c for name in ALONE for c in found[name]])) is not None:
        more = _plans(latent, LATENT)
        plans = {**plans, **more}
        found = {**found, **_fitted(more, maker)}
    pairs = {name: tuple(zip(found[name], found[plan.base], strict=True)) for name, plan in plans.items() if plan.base}

    def ratio(name: str, attribute: str) -> FloatArray:
        terms = [getattr(seeing, attribute) - getattr(alone, attribute) for seeing, alone in pairs[name]]
        total: FloatArray = np.sum(terms, axis=0)
        return total

    n = columns.n_rows
    held = np.array([np.zeros(n), *(ratio(name, "held_out") for name in pairs)])
    seen = np.array([np.zeros(n), *(ratio(name, "in_sample") for name in pairs)])
    held_out, weights = mixed(held, dealt(columns.outwards, maker.ladder.folds))
    in_sample = mixture_log_density(seen, weights)
    value, error = balanced(in_sample, held_out, maker.ladder.folds)
    models = MixedModels(tuple(pairs.values()), weights, tuple(c for name in ALONE for c in found[name]))
    counted = dict(zip(["none", *pairs], weights.tolist(), strict=True))
    return MixedEstimate(value, error, in_sample, held_out, counted, models)


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
    """Columns of one side, each with its context, and the name of what they are compared with, if anything."""

    asked: list[tuple[Column, Context]]
    base: str = ""


def _fitted(plans: Mapping[str, _Plan], maker: MixedMaker) -> dict[str, list[Conditional]]:
    fitted = iter(maker.conditionals([pair for plan in plans.values() for pair in plan.asked]))
    return {name: [next(fitted) for _ in plan.asked] for name, plan in plans.items()}


def _plans(columns: MixedColumns, suffix: str) -> dict[str, _Plan]:
    """What is to be fitted, by name: each side given z, given the other side and z, and given the other side alone."""
    plans: dict[str, _Plan] = {}
    for name, targets, others in (("y given x", columns.y, columns.x), ("x given y", columns.x, columns.y)):

        def given(*groups: Sequence[Column], targets: Sequence[Column] = targets) -> list[tuple[Column, Context]]:
            return [(target, columns.context(targets[:i], *groups)) for i, target in enumerate(targets)]

        alone = f"{name}, alone{suffix}"
        plans[alone] = _Plan(given(columns.z))
        if len(targets) > max(MOST_TARGETS, len(others)):
            continue  # the other side is easier to predict
        plans[f"{name}{suffix}"] = _Plan(given(others, columns.z), alone)
        if columns.z:
            plans[f"{name}, without z{suffix}"] = _Plan(given(others), alone)
    return plans


def balanced(in_sample: FloatArray, held_out: FloatArray, folds: int) -> tuple[float, float]:
    """The mean of log-ratios of rows that were seen, and were not, in which what is learned by chance cancels.

    The standard error adds a quarter of their difference to that of the rows: the cancellation is not exact.
    """
    share = folds / (2.0 * folds - 1.0)  # of those that were seen
    rows = share * in_sample + (1.0 - share) * held_out
    sampling = float(rows.std() / np.sqrt(len(rows)))
    return float(rows.mean()), float(np.hypot(sampling, 0.25 * (in_sample.mean() - held_out.mean())))

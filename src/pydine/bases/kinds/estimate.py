"""Columns of any kind to nats: by a table where all are discrete and rows are enough, otherwise by densities.

Where densities do not predict better than independence, the closed form of the residuals' correlations is used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.bases.closed_form import gaussian_information, gaussian_standard_error, is_singular, wishart_bias
from pydine.bases.kinds.densities import MixedEstimate, by_densities
from pydine.bases.kinds.parts import codes_of_columns
from pydine.bases.kinds.tables import TableFit, entropy, fit_table
from pydine.latents.flows import Latents
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.units.evidence import evidence
from pydine.units.rows import some_of

MOST_ROWS = 5000  # answer: to fit densities to, to save time; tables, residuals and tests use all rows
LEAST_LEFT = 1e-12  # guard: least unexplained share of an entropy, for its logarithm


def fit_mixed(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Estimate the information between the sides of a question."""
    table = fit_columns_table(columns)
    if table is not None and table.trust == 1.0:
        found = MixedEstimate(table.value, table.standard_error, table.ratios, table.ratios, {"table": 1.0})
        return replace(found, bound=entropy_bound(columns))
    few, rows = columns, np.arange(columns.n_rows)
    if columns.n_rows > MOST_ROWS:
        rows = np.sort(some_of(columns.outwards, MOST_ROWS))
        few = columns.only(rows)
    nothing = np.zeros(len(rows))
    found = by_densities(few, maker) if few.x and few.y else MixedEstimate(0.0, 0.0, nothing, nothing, {})
    found = _or_plain(replace(found, columns=None if few is columns else few), columns, maker)
    if table is None or table.trust == 0.0:
        return found
    share, of_rows = table.trust, table.ratios[rows]
    value, error = _averaged((share, table.value, table.standard_error), (found.value, found.standard_error))
    ratios = [share * of_rows + (1.0 - share) * part for part in (found.in_sample, found.held_out)]
    weights = {"table": share, **{name: (1.0 - share) * weight for name, weight in found.weights.items()}}
    hidden = (1.0 - share) * found.hidden
    return replace(
        found,
        value=value,
        standard_error=error,
        in_sample=ratios[0],
        held_out=ratios[1],
        weights=weights,
        hidden=hidden,
    )


def _averaged(first: tuple[float, float, float], second: tuple[float, float]) -> tuple[float, float]:
    """The weighted mean of two values and its standard error, from (weight, value, error) and (value, error).

    The error combines each one's own error with its distance from the mean (Buckland, Burnham and Augustin 1997).
    """
    share, value, error = first
    mean = share * value + (1.0 - share) * second[0]
    whole = share * np.hypot(error, value - mean) + (1.0 - share) * np.hypot(second[1], second[0] - mean)
    return float(mean), float(whole)


def _or_plain(found: MixedEstimate, columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Use the closed form of residuals as far as densities do not predict better than independence.

    It has learned nothing but the effect of z, so its error is small where dependence is weak, and there it is nearly
    exact whatever the kinds of columns. Densities take over as they predict held-out rows better than independence.
    """
    bound = entropy_bound(columns)
    value = min(found.value, bound)
    error = max(found.standard_error, least_error(value, bound, len(found.held_out)))
    share = evidence(found.held_out)
    if share < 1.0 and (latents := maker.latents(columns)) is not None:
        value, error = _averaged((share, value, error), closed_form(latents, bound))
    return replace(found, value=value, standard_error=error, hidden=share * found.hidden, bound=bound)


def least_error(value: float, bound: float, n: int) -> float:
    """Standard error, in nats, of two Gaussian columns of n rows with this information, under `closed_form`'s bound.

    It is a lower bound: log-ratios by models that have learned only a part of the dependence vary less between rows
    than the true ones. Close to the bound, what is left of an entropy is made of rare rows, whose number is a Poisson
    count, so that the variance is proportional to it.
    """
    if value <= 0.0:
        return 0.0
    left = max(1.0 - value / bound, 0.0) if np.isfinite(bound) else 1.0
    plain = -bound * np.log(max(left, LEAST_LEFT)) if np.isfinite(bound) else value
    return float(np.sqrt(left * -np.expm1(-2.0 * plain) / n))


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
    """The Gaussian closed form of residuals and its standard error, in nats, kept below a bound.

    With B the entropy of a discrete side and I the closed form, the value is B (1 - exp(-I / B)): close to I where I is
    small, and B where the sides determine each other. For two binary columns, one a copy of the other with a share of
    its values flipped, it is right to a few percent.
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

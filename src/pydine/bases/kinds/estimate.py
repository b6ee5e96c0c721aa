"""Columns of any kind to nats: by a table where all are discrete and rows are enough, otherwise by densities.

Where densities cannot tell the sides from independent ones, the closed form of their residuals speaks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.bases.base import in_errors
from pydine.bases.closed_form import gaussian_information, gaussian_standard_error, is_singular, wishart_bias
from pydine.bases.kinds.densities import MixedEstimate, by_densities
from pydine.bases.kinds.parts import codes_of_columns
from pydine.bases.kinds.tables import TableFit, entropy, fit_table
from pydine.kernels.mixing import smooth_step
from pydine.latents.flows import Latents
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.units.rows import some_of

# answer: standard errors by which densities must predict held-out rows better than independence does, to begin to
# count, and to count alone. Weak families of our own, and independent ones: less than for a richer base over a plain
# one, since dependence that changes its sign with z is hidden from the closed form.
TAKES_OVER = 1.0, 3.0
MOST_ROWS = 5000  # answer: that densities are learned from, for the time; tables, residuals and tests have all rows
LEAST_LEFT = 1e-12  # guard: share of an entropy that is not explained, for its logarithm


def fit_mixed(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Estimate the information between the sides of a question."""
    table = fit_columns_table(columns)
    if table is not None and table.trust == 1.0:
        return MixedEstimate(table.value, table.standard_error, table.ratios, table.ratios, {"table": 1.0})
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
    error = max(found.standard_error, least_error(value, bound, len(found.held_out)))
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

"""Columns of any kind to nats: by a table where all are discrete and rows are enough, otherwise by densities.

Where densities do not predict better than independence, the closed form of the residuals' correlations is used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.bases.base import mean_of_models
from pydine.bases.closed_form import corrected_information, is_singular, wishart_bias
from pydine.bases.elliptical import EllipticalRatio
from pydine.bases.kinds.densities import MixedEstimate, by_densities
from pydine.bases.kinds.parts import codes_of_columns
from pydine.bases.kinds.sparse import fit_sparse
from pydine.bases.kinds.tables import Codes, TableFit, entropy, fit_table, most_entropy, trust_of
from pydine.latents.flows import Latents
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.units.evidence import evidence
from pydine.units.rows import some_of

MOST_ROWS = 5000  # answer: to fit densities to, to save time; tables, residuals and tests use all rows
LEAST_LEFT = 1e-12  # guard: least unexplained share of an entropy, for its logarithm


def fit_mixed(columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Estimate the information between the sides of a question."""
    table = fit_columns_table(columns) if maker.has("tables") else None
    if table is not None and table.trust == 1.0:
        held_out = table.ratios if table.held_out is None else table.held_out
        found = MixedEstimate(table.value, table.standard_error, table.ratios, held_out, {"table": 1.0})
        return replace(found, hidden=table.hidden, bound=entropy_bound(columns))
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
    shares, errors = np.array([share, 1.0 - share]), [table.standard_error, found.standard_error]
    value, error = mean_of_models(shares, [table.value, found.value], errors)
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


def _or_plain(found: MixedEstimate, columns: MixedColumns, maker: MixedMaker) -> MixedEstimate:
    """Use the closed form of residuals as far as densities do not predict better than independence.

    It has learned nothing but the effect of z, so its error is small where dependence is weak, and there it is nearly
    exact whatever the kinds of columns. Densities take over as they predict held-out rows better than independence.
    """
    bound = entropy_bound(columns)
    value = min(found.value, bound)
    rows = (found.columns or columns).sampling
    effective = len(found.held_out) / rows.effect(found.held_out)[0]
    error = max(found.standard_error, least_error(value, bound, effective))
    share = evidence(found.held_out, rows=rows) if maker.has("residuals") else 1.0
    if share < 1.0 and (latents := maker.latents(columns)) is not None:
        labels = labels_of(columns)
        plain = closed_form(latents, bound) if labels is None else by_labels(*labels, latents, bound)
        value, error = mean_of_models(np.array([share, 1.0 - share]), [value, plain[0]], [error, plain[1]])
    return replace(found, value=value, standard_error=error, hidden=share * found.hidden, bound=bound)


def labels_of(columns: MixedColumns) -> tuple[Codes, str] | None:
    """The codes (n,) of a side that is one column of many labels, and the name of the other side, which has none."""
    for side, other, name in ((columns.x, columns.y, "y"), (columns.y, columns.x, "x")):
        if side[0].has_many_labels and len(side) == 1 and not other[0].has_many_labels:
            return codes_of_columns(side), name
    return None


def by_labels(codes: Codes, side: str, latents: Latents, bound: float) -> tuple[float, float]:
    """The closed form of labels (n,) and the latents of a side, with their squares, and its standard error, in nats.

    It is that of an indicator for each label, without the indicators: half the log-ratio of the latents' determinants
    over all rows and within labels. Squares are there for labels that differ in spread.
    """
    keys, dx = latents.of(side), latents.dimensions[0]
    is_number = [not is_label for is_label in (latents.two_valued[:dx] if side == "x" else latents.two_valued[dx:])]
    rows = np.vstack([keys, keys[is_number] ** 2])
    rows = rows - rows.mean(axis=1, keepdims=True)
    counts, k = np.bincount(codes), int(codes.max()) + 1
    means = np.array([np.bincount(codes, row, k) / counts for row in rows])
    whole = rows @ rows.T
    within = whole - (means * counts) @ means.T
    plain = 0.5 * float(np.linalg.slogdet(whole)[1] - np.linalg.slogdet(within)[1])
    value = plain - wishart_bias(k - 1, len(rows), latents.dof)
    told = max(-np.expm1(-2.0 * value / len(rows)), 0.0)
    error = np.sqrt(len(rows) * told / latents.dof + len(rows) * (k - 1) / (2.0 * max(latents.dof - k, 1.0) ** 2))
    return below_bound(value, float(error), bound)


def least_error(value: float, bound: float, n: float) -> float:
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
    """The smaller of the entropies of the discrete sides, in nats, or of what they may be if labels are many."""
    sides = [side for side in (columns.x, columns.y) if all(column.is_discrete for column in side)]
    is_many = any(column.has_many_labels for side in sides for column in side)
    measure = most_entropy if is_many else entropy
    return min((measure(codes_of_columns(side)) for side in sides), default=np.inf)


def has_many(columns: MixedColumns) -> bool:
    """Whether a question has many labels, and no numbers, not even beside point masses."""
    every = (*columns.x, *columns.y, *columns.z)
    has_masses = any(column.has_steps and len(column.context) > 1 for column in every)
    return not has_masses and any(column.has_many_labels for column in every)


def fit_columns_table(columns: MixedColumns) -> TableFit | None:
    """The contingency table of a question whose columns are all discrete; None if rows are too few for it to count."""
    if columns.cells is None or not all(column.is_discrete for column in (*columns.x, *columns.y)):
        return None
    codes = codes_of_columns(columns.x), codes_of_columns(columns.y), columns.cells
    is_many = has_many(columns)
    if not is_many and trust_of(*codes) == 0.0:
        return None
    table = (fit_sparse if is_many else fit_table)(*codes)
    effect = columns.sampling.effect(table.ratios)[0]  # on bias and variance alike (Rao and Scott 1981)
    more = (effect - 1.0) * (float(table.ratios.mean()) - table.value)
    return table._replace(value=table.value - more, standard_error=table.standard_error * float(np.sqrt(effect)))


def closed_form(latents: Latents, bound: float) -> tuple[float, float]:
    """The Gaussian closed form of residuals and its standard error, in nats, kept below a bound.

    With B the entropy of a discrete side and I the closed form, the value is B (1 - exp(-I / B)): close to I where I is
    small, and B where the sides determine each other. For two binary columns, one a copy of the other with a share of
    its values flipped, it is right to a few percent.
    """
    dx, covariance = latents.dimensions[0], latents.cross_product / latents.dof
    if is_singular(covariance):
        return bound, 0.0
    effect = latents.rows.effect_of(lambda: EllipticalRatio(covariance, np.inf, dx).of(latents.both)) * latents.depleted
    dof = max(latents.dof / effect, len(covariance) + 1.0)
    return below_bound(*corrected_information(covariance, dx, dof), bound)


def below_bound(value: float, error: float, bound: float) -> tuple[float, float]:
    """A closed form and its standard error, kept below a bound, as `closed_form` says."""
    if not np.isfinite(bound) or value <= 0.0:
        return value, error
    return float(bound * -np.expm1(-value / bound)), float(error * np.exp(-value / bound))

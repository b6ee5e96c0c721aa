"""How much information is hidden by what models have not learned of the effect of z on a continuous column.

It stays in the column's latent as noise, which reduces information by t / 2 S nats, where t is its variance and S the
mean square of the derivative of log-ratios with respect to the latent (`bases.learning`). Where labels change at sharp
thresholds of a number, and z shifts these, S is large: the thresholds have to be known well to predict the labels.
"""

from __future__ import annotations

import numpy as np

from pydine.bases.kinds.ratios import MixedModels
from pydine.bases.learning import SENSITIVITY_ROWS, STEP
from pydine.latents.kinds.conditionals import Conditional
from pydine.latents.kinds.question import MixedColumns
from pydine.types import RowArray
from pydine.units.rows import some_of
from pydine.units.stacking import DERIVATIVES

LEAST_MOVED = 0.02  # guard: least difference of two latents, which is divided by


def blur(columns: MixedColumns, models: MixedModels) -> float:
    """Nats that are hidden if all that units may have missed of z is noise in the latents of continuous columns.

    Parameters
    ----------
    columns : MixedColumns
    models : MixedModels
        Fitted to all of their rows.
    """
    if not columns.z:
        return 0.0
    some, total = some_of(columns.outwards, SENSITIVITY_ROWS), 0.0
    for conditional in models.alone:
        number = conditional.column
        if not number.is_discrete:
            unlearned = max(number.unlearned, conditional.units[0].unlearned) * left_to_learn(columns)
            if unlearned > 0.0:
                total += 0.5 * unlearned * _sensitivity(columns, models, conditional, some)
    return total


def left_to_learn(columns: MixedColumns) -> float:
    """What is left to learn of z, as a share of what its units say, which count every indicator as a number.

    Errors of functions of c numbers fall as n^(-4 / (4 + c)), those of functions of labels as 1 / n (`units.stacking`).
    """
    numbers = sum(not column.is_label for column in columns.z)
    counted = sum(len(column.context) for column in columns.z)
    return _of_a_doubling(counted) / _of_a_doubling(numbers)


def _of_a_doubling(numbers: int) -> float:
    """What twice the rows would teach of a function of so many numbers, as a multiple of what would then be left."""
    rate: float = 2.0 * DERIVATIVES / (2.0 * DERIVATIVES + numbers)
    return float(2.0**rate - 1.0)


def _sensitivity(columns: MixedColumns, models: MixedModels, conditional: Conditional, some: RowArray) -> float:
    """Mean square of the derivative of log-ratios with respect to the latent of a continuous column."""
    rows = {column.place: np.tile(column.values[some], 2) for column in (*columns.x, *columns.y, *columns.z)}
    scores, values = conditional.column.order_keys[0], conditional.column.values
    order = np.argsort(scores, kind="stable")
    steps = np.repeat([-STEP, STEP], len(some))  # both at once, since few rows take as long as many
    rows[conditional.column.place] = np.interp(np.tile(scores[some], 2) + steps, scores[order], values[order])
    ratios, latents = (
        each[len(some) :] - each[: len(some)]
        for each in (models.log_ratio(rows), conditional.residuals_of(rows)[0].first)
    )
    return float(((ratios / np.maximum(latents, LEAST_MOVED)) ** 2).mean())

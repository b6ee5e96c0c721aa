"""What z does to a number and no model has learned yet: how much of the number's information that hides.

It stays in the number's latent as noise, which takes t / 2 S nats off, where t is its variance and S the mean square of
the derivative of log-ratios by the latent (`bases.learning`). Where labels begin and end at sharp places of a number
that z moves, S is large: the places have to be known well for the labels to be told apart there.
"""

from __future__ import annotations

import numpy as np

from pydine.bases.kinds.ratios import MixedModels
from pydine.latents.kinds.column import Place
from pydine.latents.kinds.conditionals import Conditional
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.question import MixedColumns
from pydine.types import FloatArray, RowArray
from pydine.units.rows import some_of

ROWS = 300  # answer: that the mean square of a derivative is taken over
STEP = 0.05  # guard: of the differences that stand for derivatives by normal scores
LEAST_MOVED = 0.02  # guard: of the differences of latents, where flows are steep


def blur(columns: MixedColumns, models: MixedModels) -> float:
    """Nats that are hidden if all that units may have missed of z is noise in the latents of numbers.

    Parameters
    ----------
    columns : MixedColumns
    models : MixedModels
        Of all their rows.
    """
    if not columns.z:
        return 0.0
    some, total = some_of(columns.outwards, ROWS), 0.0
    for conditional in models.alone:
        number = conditional.column
        if isinstance(number, ContinuousColumn):
            unlearned = max(number.unlearned, conditional.units[0].unlearned)
            if unlearned > 0.0:
                total += 0.5 * unlearned * _sensitivity(columns, models, conditional, some)
    return total


def _sensitivity(columns: MixedColumns, models: MixedModels, conditional: Conditional, some: RowArray) -> float:
    """Mean square of the derivative of log-ratios by the latent of a number."""
    rows = {column.place: column.values[some] for column in (*columns.x, *columns.y, *columns.z)}
    scores, values = conditional.column.order_keys[0], conditional.column.values
    order = np.argsort(scores, kind="stable")

    def moved(step: float) -> dict[Place, FloatArray]:
        there: FloatArray = np.interp(scores[some] + step, scores[order], values[order])
        return {**rows, conditional.column.place: there}

    low, high = moved(-STEP), moved(STEP)
    ratios = models.log_ratio(high) - models.log_ratio(low)
    latents = conditional.residuals_of(high)[0].first - conditional.residuals_of(low)[0].first
    return float(((ratios / np.maximum(latents, LEAST_MOVED)) ** 2).mean())

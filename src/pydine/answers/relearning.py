"""What an estimate loses because flows have to be learned, with the fitted flow as a generative model.

It is a parametric bootstrap: the sample's latents are permuted over the rows of z and mapped back through the fitted
flows. In such data the effect of z is what the flows have learned, and x and y depend on each other given z as the
latents do. Estimates from them fall short of the sample's own by what is lost in learning the effect of z again.
"""

from __future__ import annotations

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.functions import FARTHEST_SCORE
from pydine.types import FloatArray
from pydine.units.rows import SEED

REPLICATES = 5  # precision: datasets that are generated; the error of their mean is about half of their deviation


def replicates(flow: RankFlow, latents: Latents) -> list[Question]:
    """Questions about data that the fitted flow generates, with the sample's latents and its z."""
    return [_replicate(flow, latents, i) for i in range(REPLICATES)]


def _replicate(flow: RankFlow, latents: Latents, i: int) -> Question:
    (dx, dy, _), n = latents.dimensions, latents.n_rows
    order = latents.outwards
    dealt = np.empty(n, dtype=np.intp)
    dealt[order] = np.random.default_rng([SEED, i]).permutation(order)
    columns: FloatArray = np.vstack([np.empty((dx + dy, n)), latents.z])
    for row, (unit, fitted) in enumerate(flow.units.items()):
        context = np.clip(columns[list(unit.context)], -FARTHEST_SCORE, FARTHEST_SCORE)
        columns[unit.target] = fitted.target(latents.unprojected[row, dealt], context)
    return Question.of(columns[:dx].T, columns[dx : dx + dy].T, columns[dx + dy :].T)

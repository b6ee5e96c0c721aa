"""Latents on the scale of the data: columns that are moved and scaled, and not ranked.

Normal scores of each column by itself bend relations between several columns a little, by the noise of ranks: about
1 / sqrt(n) of a deviation. A relation that is sharper than that is lost in scores, and kept on the scale of the data if
it is a line there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pydine.inputs.table import Question
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.projection import Projection
from pydine.latents.scores import ScoreMap
from pydine.units.unit import MARGINAL
from pydine.work.tasks import Unit

ENDS = np.array([-1.0, 1.0])


def raw(question: Question, latents: Latents) -> tuple[RankFlow, Latents]:
    """The columns of a question without a z, moved and scaled by their quartiles, as maps and latents.

    A line has no need of more: the closed form is the same for any scale.
    """
    dx, dy, _ = question.dimensions
    columns = question.table.columns[[*question.x, *question.y]]
    low, high = np.quantile(columns, [0.25, 0.75], axis=1)
    spread = columns.std(axis=1)
    middle, half = 0.5 * (low + high), np.where(high > low, 0.5 * (high - low), spread)
    lines = tuple(ScoreMap(m + h * ENDS, 0.6745 * ENDS) for m, h in zip(middle, half, strict=True))
    same = tuple(ScoreMap(ENDS, ENDS) for _ in lines)
    scaled = np.array([line(column) for line, column in zip(lines, columns, strict=True)])
    z = np.empty((0, columns.shape[1]))
    projection = Projection.fit(scaled, z, FunctionsOfZ.choose(z, None))
    flow = RankFlow((dx, dy, 0), lines, {Unit(i, ()): MARGINAL for i in range(dx + dy)}, same, projection)
    found = Latents((dx, dy, 0), scaled, z, projection.cross_product, projection.dof, projection)
    return flow, replace(found, view=latents.view, two_valued=latents.two_valued, rows=latents.rows)

"""Real numbers: one unit, whose latent is the residual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pydine.inputs.kinds import Kind
from pydine.kernels.normal import normal_quantile
from pydine.latents.kinds.column import PLACES, Alternatives, Column, Piece, Residual, Rows, between
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray
from pydine.units.unit import FittedUnit

if TYPE_CHECKING:
    from pydine.latents.kinds.conditionals import Conditional

LEAST_VARIANCE = 1e-7  # guard: of a number given its context


class ContinuousColumn(Column):
    """Real numbers.

    Attributes
    ----------
    given : Conditional, optional
        If the values are latents of another column: that column given its context.
    unlearned : float
        How much of the context's effect may still be in such latents, in nats of mean log-density.
    """

    KIND: ClassVar[Kind] = Kind.CONTINUOUS
    KEPT: ClassVar[tuple[str, ...]] = ("values", "place", "given")
    given: Conditional | None = None

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self._map, self._scores = ScoreMap.fit(values)

    def follow(self, other: Column, rows: RowArray | None = None) -> None:
        """See `Column`."""
        super().follow(other, rows)
        self.unlearned = other.unlearned

    def values_of(self, rows: Rows) -> FloatArray:
        """See `Column`."""
        own = rows[self.place]
        return own if self.given is None else self.given.residuals_of(rows)[0].first

    @property
    def is_discrete(self) -> bool:
        """See `Column`."""
        return False

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self._scores[None]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        return self._scores_of(values)[None]

    def _scores_of(self, values: FloatArray) -> FloatArray:
        return self._scores if values is self.values else self._map(values)

    def pieces(self, values: FloatArray) -> list[Piece]:
        """See `Column`."""
        return [(slice(None), self._scores_of(values))]

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`: the medians of cells that would be equally probable if the unit were Gaussian."""
        mean, deviation = moments(units[0], context)
        places = normal_quantile(np.arange(1.0, 2.0 * PLACES) / (2.0 * PLACES))
        seen = [(mean + place * deviation)[None] for place in places[::2]]
        cuts = [mean + place * deviation for place in places[1::2]]
        return Alternatives.of(seen, between(units[0], cuts, context))

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`: the latent; for the column's own rows it is recalibrated by its ranks."""
        scores, unit = self._scores_of(values), units[0]
        latent = unit.latent(scores, context) if unit.models else scores
        if values is self.values:
            return [Residual(ScoreMap.fit(latent)[1])]
        return [Residual(latent)]


def moments(unit: FittedUnit, context: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and deviations of a unit's target given a context (c, m), as scores, shapes (m,)."""
    m = context.shape[1]
    mean, square, expanded = np.zeros(m), np.full(m, unit.marginal_weight), unit.expanded(context)
    for weight, model in zip(unit.weights, unit.models, strict=True):
        shares, at_zero = model.components(np.zeros(m), expanded[model.expansion])
        deviation = 1.0 / (model.components(np.ones(m), expanded[model.expansion])[1] - at_zero)
        mean += weight * (shares * -at_zero * deviation).sum(axis=0)
        square += weight * (shares * deviation**2 * (1.0 + at_zero**2)).sum(axis=0)
    return unit.sign * mean, np.sqrt(np.maximum(square - mean * mean, LEAST_VARIANCE))

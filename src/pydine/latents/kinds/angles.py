"""Angles, and steps around a circle: numbers and steps from a cut on, which others see by cosine and sine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pydine.inputs.angles import around
from pydine.inputs.kinds import Kind
from pydine.latents.kinds.column import Alternatives, Column
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.ordinal import OrdinalColumn
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.unit import FittedUnit


class _Around(Column):
    """A column in turns that enters the context of others as normal scores of its cosine and its sine."""

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self._around = [ScoreMap.fit(each) for each in around(values)]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        if values is self.values:
            return np.array([scores for _, scores in self._around])
        return np.array([to_scores(each) for (to_scores, _), each in zip(self._around, around(values), strict=True)])


class AngleColumn(_Around, ContinuousColumn):
    """Angles in turns, from 0 to less than 1."""

    KIND: ClassVar[Kind] = Kind.ANGLE

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`."""
        found = super().alternatives(units, context)
        turns = [np.interp(scores[0], self._map.scores, self._map.values) for scores in found.seen]
        return Alternatives([self.seen(each) for each in turns], found.log_chances)


class CycleColumn(_Around, OrdinalColumn):
    """Steps around a circle, in turns: hours of a day, months of a year."""

    KIND: ClassVar[Kind] = Kind.CYCLE

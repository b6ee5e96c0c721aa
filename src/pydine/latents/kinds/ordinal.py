"""Ordered steps: one unit, whose likelihood is the mixture's probability between two cut points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pydine.inputs.kinds import Kind, atoms_of
from pydine.kernels.densities import INVERSE_SQRT_2PI
from pydine.kernels.normal import quantiles
from pydine.latents.kinds.column import PLACES, Alternatives, Cells, Column, Piece, Residual, between
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, IntArray
from pydine.units.steps import FARTHEST_CUT
from pydine.units.unit import FittedUnit

SMALLEST_MASS = 1e-7  # guard: probability of a step below which it is treated as a point


class OrdinalColumn(Column):
    """Ordered steps, some of which may be so fine that they are points."""

    KIND: ClassVar[Kind] = Kind.ORDINAL

    def __init__(self, values: FloatArray) -> None:
        super().__init__(values)
        self._map, self._scores = ScoreMap.fit(values)
        self._codes = np.searchsorted(self._map.values, values)
        below = np.cumsum(np.bincount(self._codes))[:-1]
        cuts = np.empty(len(below))
        # From both tails, so that the cut points of the negated column are the negatives of these to the last bit.
        quantiles(below / len(values), (len(values) - below) / len(values), cuts)
        self._cuts = np.concatenate([[-FARTHEST_CUT], cuts, [FARTHEST_CUT]])
        self._atoms = [(atom, ScoreMap.fit((values == atom).astype(np.float64))[0]) for atom in atoms_of(values)]

    @property
    def order_keys(self) -> FloatArray:
        """See `Column`."""
        return self._scores[None]

    def seen(self, values: FloatArray) -> FloatArray:
        """See `Column`."""
        marks = [scores((values == atom).astype(np.float64)) for atom, scores in self._atoms]
        return np.array([self._scores if values is self.values else self._map(values), *marks])

    def _places(self, values: FloatArray) -> IntArray:
        """The step of each value; a value that is on no step, also beyond the last, is put on the nearest one."""
        if values is self.values:
            return self._codes
        known = self._map.values
        above = np.clip(np.searchsorted(known, values), 1, len(known) - 1)
        return np.where(values - known[above - 1] < known[above] - values, above - 1, above)

    def steps(self, values: FloatArray) -> FloatArray:
        """The cut points below and above each value, shape (2, m)."""
        codes = self._places(values)
        return np.array([self._cuts[codes], self._cuts[codes + 1]])

    def pieces(self, values: FloatArray) -> list[Piece]:
        """See `Column`."""
        return [(slice(None), self.steps(values))]

    def alternatives(self, units: Sequence[FittedUnit], context: FloatArray) -> Alternatives:
        """See `Column`: its steps, with neighbours grouped if there are many."""
        counts = np.bincount(self._codes)
        parts = _groups(counts) if len(counts) > PLACES else list(np.arange(len(counts))[:, None])
        m, firsts = context.shape[1], [int(part[0]) for part in parts]
        seen = []
        for part in parts:
            below = np.cumsum(counts[part])
            # Where a half of the rows ends with a step, the middle is between it and the next one, from either end.
            ends = [int(part[np.searchsorted(2 * below, below[-1], side=side)]) for side in ("left", "right")]
            one, other = (self.seen(np.full(m, self._map.values[end])) for end in ends)
            seen.append(0.5 * (one + other))
        return Alternatives.of(seen, between(units[0], [np.full(m, self._cuts[i]) for i in firsts[1:]], context))

    def residuals(self, units: Sequence[FittedUnit], values: FloatArray, context: FloatArray) -> list[Residual]:
        """See `Column`."""
        steps = self.steps(values)
        return [step_residual(units[0].tails(steps[0], context), units[0].tails(steps[1], context))]

    def frequencies(self, cells: Cells) -> list[Residual]:
        """See `Column`."""
        counts = np.zeros((int(cells.max()) + 1, len(self._cuts) - 1))
        np.add.at(counts, (cells, self._codes), 1.0)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        below = np.cumsum(shares, axis=1)
        lower, upper = (below - shares)[cells, self._codes], below[cells, self._codes]
        return [step_residual((lower, 1.0 - lower), (upper, 1.0 - upper))]


def _groups(counts: IntArray) -> list[IntArray]:
    """Neighbouring steps with so many rows each, in groups of about the same size, the same from either end."""
    total = int(counts.sum())
    # Twice the rows from the middle of a step to the middle of all: whole numbers, which round alike on both sides.
    places = 2 * np.cumsum(counts) - counts - total
    group = np.sign(places) * -(-np.abs(places) * PLACES // (2 * total))
    return np.split(np.arange(len(counts)), np.flatnonzero(np.diff(group)) + 1)


def step_residual(lower: tuple[FloatArray, FloatArray], upper: tuple[FloatArray, FloatArray]) -> Residual:
    """The mean latent of each step, and the mean square less 1, from the two tails at either end of it, (n,) each.

    They are moments of a truncated normal distribution: with q the normal quantiles of the ends and phi the normal
    density there, the differences of phi, and of q phi, over the probability of the step.
    """
    places, densities = [], []
    for below, above in (lower, upper):
        place = np.empty(len(below))
        quantiles(np.ascontiguousarray(below), np.ascontiguousarray(above), place)
        places.append(place)
        densities.append(np.where(np.minimum(below, above) > 0.0, np.exp(-0.5 * place * place) * INVERSE_SQRT_2PI, 0.0))
    mass = np.where(upper[0] < 0.5, upper[0] - lower[0], lower[1] - upper[1])
    is_point, middle = mass < SMALLEST_MASS, 0.5 * (places[0] + places[1])
    over = np.where(is_point, 1.0, mass)
    first = np.where(is_point, middle, (densities[0] - densities[1]) / over)
    second = np.where(is_point, middle**2 - 1.0, (places[0] * densities[0] - places[1] * densities[1]) / over)
    return Residual(first, second, step=np.array([lower[0], upper[0]]))

"""Angles: directions, times of day, days of a year. Where a circle is cut open, and what is measured from there.

Information is invariant to invertible maps, and the values of an angle in order, from any place of the circle on, are
one. That place is found from the data, where they leave most room, so that an answer does not depend on where somebody
has put 0, or on which way round the angle is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.kinds import Kind, kind_of
from pydine.types import FloatArray, must_fit

__all__ = ["Cut", "angle_kind", "around", "cut_of", "opened"]

HARMONICS = 8  # precision: waves around the circle by which its emptiest place is found, each a little weaker
ROUNDED, DIGITS = 1e-9, 9  # guard: turns by which equal values may differ by rounding; digits of cosines that count


@dataclass(frozen=True)
class Cut:
    """Where a circle is cut open.

    Parameters
    ----------
    start, period : float
        The place, and once around, in the units of the column.
    """

    start: float
    period: float

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, bool(np.isfinite(self.start)) and 0.0 < self.period < np.inf)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Values (n,) in turns from the cut on, from 0 to less than 1, shape (n,)."""
        turns: FloatArray = np.mod((values - self.start) / self.period, 1.0)
        return np.where(turns < 1.0, turns, 0.0)  # a little less than 0 is rounded to 1


def cut_of(values: FloatArray, period: float) -> Cut:
    """Cut the circle in the middle of the gap between neighbouring values (n,) where their smooth density is least."""
    turns = Cut(0.0, period)(values)
    places = np.unique(turns)
    gaps = np.diff(places, append=places[0] + 1.0)
    middles = (places + 0.5 * gaps)[gaps > ROUNDED]
    orders = np.arange(1.0, HARMONICS + 1.0)
    waves = np.array([np.exp(2j * np.pi * k * turns).mean() for k in orders]) * (1.0 - orders / (HARMONICS + 1.0))
    density = sum((np.real(np.conj(w) * np.exp(2j * np.pi * k * middles)) for k, w in zip(orders, waves, strict=True)))
    return Cut(float(middles[np.argmin(density)] * period), period) if len(middles) else Cut(0.0, period)


def opened(values: FloatArray, period: float) -> tuple[FloatArray, Cut]:
    """Angles (n,) in turns from their cut on, and the cut."""
    cut = cut_of(values, period)
    return _merged(cut(values)), cut


def angle_kind(turns: FloatArray) -> Kind:
    """Whether angles (n,) are numbers, or steps around a circle, such as hours and months."""
    return Kind.ANGLE if kind_of(turns) is Kind.CONTINUOUS else Kind.CYCLE


def around(turns: FloatArray) -> FloatArray:
    """Cosine and sine of turns (n,): a closed curve, which does not know where it was cut, shape (2, n)."""
    angles = 2.0 * np.pi * turns
    found: FloatArray = np.round(np.array([np.cos(angles), np.sin(angles)]), DIGITS)
    return found


def _merged(turns: FloatArray) -> FloatArray:
    """Turns (n,) of which those that differ by rounding alone are the same: another origin makes no new values."""
    places, inverse = np.unique(turns, return_inverse=True)
    first: NDArray[np.bool_] = np.diff(places, prepend=-1.0) > ROUNDED
    found: FloatArray = places[first][np.cumsum(first)[inverse] - 1]
    return found

"""What z does to columns in a line, and what ranks do to columns that z moves.

Normal scores of n rows differ from the values that they stand for by about 1 / sqrt(n), smoothly along the column. That
is little beside the column, but not beside what is left of it where z explains most of it: the two sides look less
dependent given z than they are. Ranks of z itself blur in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from pydine.types import FloatArray, IntArray

# precision: for larger samples the bias from ranks is simulated with this many rows and scaled, since it falls as 1/n.
ENOUGH_ROWS = 10_000
MODES = 16  # precision: of bridges; all others have 4% of their variance
SMALLEST_SHARE = 1e-10  # guard: least share of a column's variance that z leaves


@dataclass(frozen=True, eq=False)
class LinearEffect:
    """What z says of columns in a line, in normal scores; of m rows in an order that follows from their values.

    Parameters
    ----------
    z : ndarray, shape (dz, m)
        In a canonical order and with canonical signs.
    slopes : ndarray, shape (d, dz)
        On z, for columns of variance 1.
    """

    z: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, columns: FloatArray, z: FloatArray) -> LinearEffect | None:
        """The effect on columns (d, m), shrunk as an adjusted R^2 is; None where rows are too few to see any."""
        (dz, m), d = z.shape, len(columns)
        if dz == 0 or m <= 2 * (dz + d + 1):
            return None
        columns, centred = (each - each.mean(axis=1, keepdims=True) for each in (columns, z))
        slopes = np.linalg.lstsq(centred.T, columns.T, rcond=None)[0].T
        explained = ((slopes @ centred) ** 2).sum(axis=1) / (columns * columns).sum(axis=1)
        adjusted = np.maximum(1.0 - (1.0 - explained) * (m - 1.0) / (m - dz - 1.0), 0.0)
        scale = np.sqrt(adjusted / np.maximum(explained, SMALLEST_SHARE)) / columns.std(axis=1)
        return cls(z, slopes * scale[:, None])

    def moved(self, drawn: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Columns that z moves, of which these (d, m) are what it leaves, up to scale.

        What z is behind its ranks is drawn: values differ from normal scores by a Brownian bridge over the density.
        """
        bridges = rng.standard_normal((len(self.z), MODES)) @ self._modes
        values = self.slopes @ (self.z + np.take_along_axis(bridges, self._places, axis=1))
        explained = np.minimum((self.slopes @ self.z).var(axis=1), 1.0)
        left: FloatArray = np.sqrt(np.maximum(1.0 - explained, SMALLEST_SHARE))[:, None] * drawn
        return values + left

    def taken(self, columns: FloatArray) -> FloatArray:
        """Columns (d, m) without what is linear in z."""
        found: FloatArray = columns - (columns @ self._basis) @ self._basis.T
        return found

    @cached_property
    def _basis(self) -> FloatArray:
        return np.linalg.qr(np.vstack([np.ones(self.z.shape[1]), self.z]).T)[0]

    @cached_property
    def _modes(self) -> FloatArray:
        """Karhunen and Loeve's modes of the bridges, at the places of sorted values, shape (MODES, m)."""
        m, k = self.z.shape[1], np.arange(1.0, MODES + 1.0)[:, None] * np.pi
        u = np.arange(1.0, m + 1.0) / (m + 1.0)
        density = np.exp(-0.5 * ndtri(u) ** 2) / np.sqrt(2.0 * np.pi)
        found: FloatArray = np.sqrt(2.0 / m) * np.sin(k * u) / (k * density)
        return found

    @cached_property
    def _places(self) -> IntArray:
        """Which of the sorted values each of z is; those that are equal have the same."""
        m = self.z.shape[1]
        places: IntArray = np.clip(np.rint(ndtr(self.z) * (m + 1.0)).astype(np.intp) - 1, 0, m - 1)
        return places

"""Hashes of rows by their values, from which arbitrary choices among rows follow, in whatever order these came."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray

FIRST_PRIME, SECOND_PRIME = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit numbers one by one (the finaliser of Steele, Lea and Flood's SplitMix64, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_PRIME
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_PRIME
    scrambled: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return scrambled


def row_marks(scores: FloatArray) -> NDArray[np.uint64]:
    """A hash of each row of columns (d, n), which does not depend on the columns' order and signs, shape (n,)."""
    marks: NDArray[np.uint64] = mixed(bits_of(np.abs(scores))).sum(axis=0, dtype=np.uint64)
    return marks


def bits_of(scores: FloatArray) -> NDArray[np.uint64]:
    """The bits of numbers, of which 0 and -0 have the same."""
    return np.ascontiguousarray(scores + 0.0).view(np.uint64)

"""All pairs given three columns, and what they say to the last bit: the same on every engine."""

from __future__ import annotations

import hashlib

import numpy as np

import pydine

GIVEN = ["z0", "z1", "z2"]


def columns(p=10, n=400, dz=3):
    """Columns that follow z, of which some pairs depend, two of them without correlation."""
    rng = np.random.default_rng(3)
    z, load = rng.normal(size=(dz, n)), 0.7 * rng.normal(size=(p, dz))
    x = np.sin(load @ z) + rng.normal(size=(p, n))
    x[1] += 0.8 * x[0]
    x[3] = x[2] ** 2 + 0.5 * x[3]
    x[5] += np.abs(x[4])
    return {f"c{i:02}": v for i, v in enumerate(x)} | {f"z{i}": v for i, v in enumerate(z)}


def digest(found):
    """A hash of every number of an answer about pairs."""
    arrays = found.values, found.pvalues, found.standard_errors
    return hashlib.blake2b(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def answer(p=10, n=400, **options):
    return digest(pydine.pairwise_information(columns(p, n), GIVEN, **options))

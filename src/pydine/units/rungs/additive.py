"""The additive rung: a curve along each context column, and along the context's radius."""

from __future__ import annotations

import numpy as np

from pydine.types import FloatArray
from pydine.units.rungs.linear import ExpandedRung


def with_radius(context: FloatArray) -> FloatArray:
    """The context and its radius, (c, n) to (c + 1, n) for c > 1: scales and locations often depend on a radius.

    sqrt(2 chi^2) - sqrt(2 c - 1) is close to standard normal where the columns are independent normal scores (Fisher).
    """
    c = len(context)
    if c < 2:
        return context
    return np.vstack([context, np.sqrt(2.0 * (context * context).sum(axis=0)) - np.sqrt(2.0 * c - 1.0)])


def additive(context: FloatArray) -> FloatArray:
    """The context, its radius, and their Hermite polynomials of degree 2 and 3, orthonormal under normal scores."""
    context = with_radius(context)
    expanded = np.empty((3, *context.shape))
    line, bend, twist = expanded
    line[:] = context
    square = np.multiply(context, context, out=bend)
    np.subtract(square, 3.0, out=twist)
    twist *= context
    twist /= np.sqrt(6.0)
    bend -= 1.0
    bend /= np.sqrt(2.0)
    return expanded.reshape(3 * len(context), context.shape[1])


ADDITIVE = ExpandedRung("additive", additive)

"""Targets of a unit: points, or ordered steps.

A target of points is an array of normal scores (n,). A target of steps (a count, a grade) has two cut points a row,
below and above, shape (2, n), and its likelihood is the probability between them. Only this module and the compiled
likelihood tell the two apart, by their shape.
"""

from __future__ import annotations

import numpy as np

from pydine.kernels.densities import HALF_LOG_2PI
from pydine.kernels.normal import step_moments
from pydine.types import FloatArray

FARTHEST_CUT = 1e6  # guard: stands for infinity: below the lowest and above the highest step


def is_stepped(target: FloatArray) -> bool:
    """Whether a target is one of steps."""
    return target.ndim == 2


def middles(target: FloatArray) -> FloatArray:
    """One score for each row, shape (n,): the point, or the mean of the normal distribution between two cut points."""
    return step_moments(target[0], target[1])[0] if is_stepped(target) else target


def negated(target: FloatArray, sign: float) -> FloatArray:
    """The target times a sign, 1 or -1; for -1 the two cut points of a step change places."""
    if not is_stepped(target):
        return sign * target
    return target if sign > 0.0 else np.ascontiguousarray(-target[::-1])


def marginal_log_density(target: FloatArray) -> FloatArray:
    """Log-density, or log-probability, of a target without a context, in nats, shape (n,)."""
    if is_stepped(target):
        logs: FloatArray = step_moments(target[0], target[1])[1]
        return logs
    return -0.5 * target * target - HALF_LOG_2PI

"""The linear rung, and every other one whose location and log-scale are linear in an expansion of the context."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pydine.kernels.regression import ridge
from pydine.types import FloatArray
from pydine.units.network import Network
from pydine.units.rungs.rung import Effort, Lesson, Rung
from pydine.units.rungs.training import side_by_side, trained
from pydine.units.settings import LINEAR_PRECISION
from pydine.units.steps import middles
from pydine.units.unit import Model

# answer: prior precision of coefficients of the columns that an expansion adds, a deviation of 0.28, which weighs as
# much as 13 rows: the curvature of most targets is smaller than their slope, and there are many such columns.
BASIS_PRECISION = 13.0
LINEAR_ITERATIONS = 40  # precision: most steps; the start is a ridge regression, and most fits end sooner
LEAST_DEVIATION = 1e-6  # guard: least deviation of a residual, for its logarithm


@dataclass(frozen=True)
class ExpandedRung(Rung):
    """Linear location and log-scale in the expanded context.

    It starts from a ridge regression with the components spread over its residual.
    """

    iterations: int = LINEAR_ITERATIONS
    is_tuned: ClassVar[bool] = False

    def fit(self, lesson: Lesson) -> tuple[Model, Effort]:
        """See `Rung`."""
        expanded = self.expansion(lesson.x)
        c, n, k = len(expanded), lesson.x.shape[1], lesson.settings.components
        skip_decay = np.full(c, BASIS_PRECISION / n)
        skip_decay[: len(lesson.x)] = LINEAR_PRECISION / n
        location, spread = ridge(middles(lesson.t), expanded, n * skip_decay)
        start = np.concatenate([location, np.zeros(c), side_by_side(0.0, max(spread, LEAST_DEVIATION), k)])
        decay = np.concatenate([skip_decay, 2.0 * skip_decay, np.full(3 * k, LINEAR_PRECISION / n)])
        return trained(self, Network.linear(c, k), start, decay, lesson, expanded)


def combined(slopes: FloatArray, columns: FloatArray) -> FloatArray:
    """A combination of columns (c, n), column by column: a matrix product's last digits depend on the processor."""
    total: FloatArray = np.zeros(columns.shape[1])
    for slope, column in zip(slopes, columns, strict=True):
        total += slope * column
    return total


@dataclass(frozen=True)
class LocationRung(Rung):
    """A linear location, with noise of one shape everywhere: a ridge regression, and a mixture of its residuals.

    What is linear in z is projected out of the latents exactly, so whatever this rung misses of it does no harm.
    """

    iterations: int = LINEAR_ITERATIONS
    is_tuned: ClassVar[bool] = False

    def fit(self, lesson: Lesson) -> tuple[Model, Effort]:
        """See `Rung`."""
        (c, n), k = lesson.x.shape, lesson.settings.components
        location, spread = ridge(middles(lesson.t), lesson.x, np.full(c, LINEAR_PRECISION))
        start, decay = side_by_side(0.0, max(spread, LEAST_DEVIATION), k), np.full(3 * k, LINEAR_PRECISION / n)
        residuals = replace(lesson, t=lesson.t - combined(location, lesson.x))
        noise, steps = trained(self, Network.linear(0, k), start, decay, residuals, lesson.x[:0])
        return Model(Network.linear(c, k), np.concatenate([location, np.zeros(c), noise.theta]), self.expansion), steps


LINEAR, SCALE = LocationRung("linear"), ExpandedRung("scale")


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

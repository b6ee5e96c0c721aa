"""Index networks: a network of one linear combination of the context.

A z of many columns often acts through few of their combinations, and one direction is learned from far fewer rows than
a network of all columns. One index network starts from the direction of the linear rung's slopes, another from the
direction in which the target is curved most.
"""

from __future__ import annotations

import numpy as np

from pydine.kernels.mixing import total
from pydine.kernels.regression import largest_eigenvector, weighted_moments
from pydine.types import FloatArray
from pydine.units.network import Network
from pydine.units.rungs.networks import NetworkRung
from pydine.units.rungs.rung import Lesson
from pydine.units.settings import LadderSettings
from pydine.units.steps import middles
from pydine.units.unit import SEPARATE

# answer: prior precision of the cubes' coefficients, a deviation of 0.03: maps to scores are curved but little.
WARP_PRECISION = 1000.0
# answer: initial slope of the hidden units, and the centre of the outermost of them along the index, which has a
# deviation of about 1: they cover all but the outer tenth at either end.
INDEX_SLOPE, OUTERMOST = 0.8, 1.3
# answer: most columns among which a direction of curvature is sought: it takes the cube of their number, and rows for
# so many second moments are seldom there.
MOST_BENT = 150
SHORTEST = 1e-12  # guard: least length of a direction, to divide by


def cubic(context: FloatArray) -> FloatArray:
    """The context and its Hermite polynomials of degree 3: a sum of columns in their own units is curved in scores."""
    return np.vstack([context, (context * context - 3.0) * context / np.sqrt(6.0)])


SEPARATE.add(cubic)


class IndexRung(NetworkRung):
    """A network of one combination of the context; start 0 is the direction of slope, start 1 that of curvature."""

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.index(c, settings.hidden_units, settings.components)

    def begin(self, network: Network, theta: FloatArray, decay: FloatArray, lesson: Lesson) -> None:
        """See `NetworkRung`."""
        direction, c = network.layer_slices[0][0], len(lesson.x)
        rises = lesson.linear().theta[:c]
        theta[direction][:c] = _bent(middles(lesson.t), lesson.x, rises) if self.start else _unit(rises)
        along(network, theta, lesson.settings.hidden_units)
        decay[c : 2 * c] = decay[3 * c : 4 * c] = decay[direction][c:] = WARP_PRECISION / lesson.x.shape[1]


def along(network: Network, theta: FloatArray, h: int) -> None:
    """Write the initial slopes and places of h hidden units along the index to the parameters theta (p,)."""
    slopes, biases = network.layer_slices[1]
    theta[slopes] = INDEX_SLOPE
    theta[biases] = INDEX_SLOPE * np.linspace(OUTERMOST, -OUTERMOST, h)


def _unit(direction: FloatArray) -> FloatArray:
    return direction / max(float(np.sqrt(total(direction * direction))), SHORTEST)


def _bent(t: FloatArray, x: FloatArray, location: FloatArray) -> FloatArray:
    """The direction in which the target is curved most: the first principal Hessian direction (Li 1992), shape (c,)."""
    residual = t.copy()
    for slope, column in zip(location, x, strict=True):
        residual -= slope * column
    bent: FloatArray = largest_eigenvector(weighted_moments(x, residual - total(residual) / len(t)))
    return bent

"""Index networks: a network of one linear combination of the context.

A z of many columns often acts through few of their combinations, and one direction is learned from far fewer rows than
a whole network is. One network starts from the direction in which the linear rung found the target to rise, another
from the one in which it is bent most.
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

# answer: prior precision of the cubes' coefficients, a deviation of 0.03: columns bend little as they become scores.
WARP_PRECISION = 1000.0
# answer: slope of the hidden units at the start, and where the outermost of them have their middles along the index,
# which has a deviation of about 1: between them they cover all but its last tenth.
INDEX_SLOPE, OUTERMOST = 0.8, 1.3
SHORTEST = 1e-12  # guard: length of a direction that is divided by


def cubic(context: FloatArray) -> FloatArray:
    """The context and its Hermite polynomials of degree 3: what adds up in the columns' own units bends in scores."""
    return np.vstack([context, (context * context - 3.0) * context / np.sqrt(6.0)])


class IndexRung(NetworkRung):
    """A network of one combination of the context; start 0 is where the target rises, start 1 where it is bent."""

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.index(c, settings.hidden_units, settings.components)

    def begin(self, network: Network, theta: FloatArray, decay: FloatArray, lesson: Lesson) -> None:
        """See `NetworkRung`."""
        (direction, _), (slopes, biases), _ = network.layer_slices
        c, h = len(lesson.x), lesson.settings.hidden_units
        rises = lesson.linear().theta[:c]
        theta[direction][:c] = _bent(middles(lesson.t), lesson.x, rises) if self.start else _unit(rises)
        theta[slopes] = INDEX_SLOPE
        theta[biases] = INDEX_SLOPE * np.linspace(OUTERMOST, -OUTERMOST, h)
        decay[c : 2 * c] = decay[3 * c : 4 * c] = decay[direction][c:] = WARP_PRECISION / lesson.x.shape[1]


def _unit(direction: FloatArray) -> FloatArray:
    return direction / max(float(np.sqrt(total(direction * direction))), SHORTEST)


def _bent(t: FloatArray, x: FloatArray, location: FloatArray) -> FloatArray:
    """Where the target bends most along the context: the first principal Hessian direction (Li 1992), shape (c,)."""
    residual = t.copy()
    for slope, column in zip(location, x, strict=True):
        residual -= slope * column
    bent: FloatArray = largest_eigenvector(weighted_moments(x, residual - total(residual) / len(t)))
    return bent

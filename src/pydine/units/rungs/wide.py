"""Wide networks: for shapes (clusters, rings) that two Gaussians cannot follow."""

from __future__ import annotations

import numpy as np

from pydine.kernels.mixing import mixture_moments
from pydine.types import FloatArray
from pydine.units.network import Network
from pydine.units.rungs.networks import NetworkRung
from pydine.units.rungs.training import side_by_side
from pydine.units.settings import LadderSettings

# answer: multiples of a network's. Eight components follow a ring or a few clusters.
MORE_HIDDEN_UNITS, MORE_COMPONENTS = 2, 4


class WideRung(NetworkRung):
    """A network with more hidden units and components, which sees the context's radius.

    It keeps only the linear rung's slopes and spreads its components over the residual: in the linear rung they may
    coincide, and then every gradient that would separate them is zero.
    """

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.tanh(c, MORE_HIDDEN_UNITS * settings.hidden_units, MORE_COMPONENTS * settings.components)

    def outputs(self, linear: FloatArray) -> FloatArray:
        """Equal Gaussians side by side, with mean and variance of the linear rung's mixture."""
        parts = linear.reshape(3, -1)
        mean, variance = mixture_moments(*parts)
        return side_by_side(mean, np.sqrt(variance), MORE_COMPONENTS * parts.shape[1])

"""Networks of the whole context; the other networks (`index`, `wide`) override some of its methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pydine.types import FloatArray
from pydine.units.network import Network
from pydine.units.rows import SEED
from pydine.units.rungs.rung import Effort, Lesson, Rung
from pydine.units.rungs.training import trained
from pydine.units.settings import LINEAR_PRECISION, LadderSettings
from pydine.units.unit import Model

STARTS_KEPT = 64  # memory: initial parameters of networks, which are the same in all folds and units
BIAS_SPREAD = 0.5  # answer: deviation of the hidden units' initial biases: their centres lie within the data


@dataclass(frozen=True)
class NetworkRung(Rung):
    """A network that starts as the linear rung, with output weights of zero: it learns only what that rung misses.

    Parameters
    ----------
    start : int
        Number of the start: rungs of one name differ in it.
    """

    start: int = 0

    def fit(self, lesson: Lesson) -> tuple[Model, Effort]:
        """See `Rung`."""
        expanded = self.expansion(lesson.x)
        network = self.network(len(expanded), lesson.settings)
        theta, decay = self._as_linear(network, lesson)
        self.begin(network, theta, decay, lesson)
        return trained(self, network, theta, decay, lesson, expanded)

    def network(self, c: int, settings: LadderSettings) -> Network:
        """The network for c expanded columns."""
        return Network.tanh(c, settings.hidden_units, settings.components)

    def outputs(self, linear: FloatArray) -> FloatArray:
        """Logits, means and log-scales of the components at the start, from the linear rung's: here the same."""
        return linear

    def begin(
        self,
        network: Network,
        theta: FloatArray,
        decay: FloatArray,
        lesson: Lesson,  # noqa: ARG002 - for networks whose start depends on the rows
    ) -> None:
        """Write the hidden layers' initial parameters to theta (p,) and, where it differs, their decay to `decay`."""
        first, first_bias = network.layer_slices[0]
        c, h = network.n_context, network.hidden[0]
        decay[first] *= c  # c inputs share the variance of a hidden unit's argument
        theta[first.start : first_bias.stop] = _drawn((SEED, self.start), c, h, BIAS_SPREAD)

    def _as_linear(self, network: Network, lesson: Lesson) -> tuple[FloatArray, FloatArray]:
        """Parameters (p,) that make a network equal to the linear rung, whose columns come first, and decay (p,)."""
        linear, n, c, wider = lesson.linear().theta, lesson.x.shape[1], len(lesson.x), network.n_context
        theta = np.zeros(network.n_parameters)
        decay = np.full(network.n_parameters, lesson.settings.weight_decay / n)
        last_bias = network.layer_slices[-1][1]
        theta[:c], theta[wider : wider + c] = linear[:c], linear[c : 2 * c]
        theta[last_bias] = self.outputs(linear[2 * c :])
        decay[: network.n_skip] = decay[last_bias] = LINEAR_PRECISION / n
        return theta, decay


@lru_cache(maxsize=STARTS_KEPT)
def _drawn(seeds: tuple[int, ...], c: int, h: int, spread: float) -> FloatArray:
    """Initial weights of h hidden units that see c columns, then their biases, shape (h c + h,)."""
    rng = np.random.default_rng(seeds)
    drawn = np.concatenate([rng.standard_normal(h * c) / np.sqrt(c), spread * rng.standard_normal(h)])
    drawn.flags.writeable = False
    return drawn

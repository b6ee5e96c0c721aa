"""Networks: of the whole context, and larger, wide and index networks, which override some of its methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pydine.kernels.mixing import mixture_moments, total
from pydine.kernels.regression import largest_eigenvector, weighted_moments
from pydine.types import FloatArray
from pydine.units.growing import ROWS_PER_PARAMETER
from pydine.units.network import Network
from pydine.units.rows import SEED
from pydine.units.rungs.rung import Effort, Lesson, Rung
from pydine.units.rungs.training import side_by_side, trained
from pydine.units.settings import LINEAR_PRECISION, LadderSettings
from pydine.units.steps import middles
from pydine.units.unit import SEPARATE, Model, identity

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


@dataclass(frozen=True)
class LargerRung(NetworkRung):
    """A network with `times` as many hidden units, tried if that of half as many counts.

    A network of fixed size cannot follow every function however many rows it learns from; a sieve, whose size grows
    with the rows, can (Chen and White 1999).
    """

    times: int = 2

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.tanh(c, self.times * settings.hidden_units, settings.components)


def larger_networks(c: int, n_train: int, settings: LadderSettings) -> Iterator[LargerRung]:
    """Networks of 2, 4, ... times the hidden units, as many as rows allow."""
    times, below = 2, "network"
    while True:
        name = f"{times * settings.hidden_units}-unit network"
        rung = LargerRung(name, identity, settings.iterations, 0, times, after=below)
        if ROWS_PER_PARAMETER * rung.network(c, settings).n_parameters > n_train:
            return
        yield rung
        times, below = 2 * times, rung.name


# answer: multiple of a network's. Eight components follow a ring or a few clusters; more parameters take more steps.
MORE_COMPONENTS = 4


class WideRung(NetworkRung):
    """A network with more components, which sees the context's radius: for clusters and rings.

    It keeps only the linear rung's slopes and spreads its components over the residual: in the linear rung they may
    coincide, and then every gradient that would separate them is zero.
    """

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.tanh(c, settings.hidden_units, MORE_COMPONENTS * settings.components)

    def outputs(self, linear: FloatArray) -> FloatArray:
        """Equal Gaussians side by side, with mean and variance of the linear rung's mixture."""
        parts = linear.reshape(3, -1)
        mean, variance = mixture_moments(*parts)
        return side_by_side(mean, np.sqrt(variance), MORE_COMPONENTS * parts.shape[1])


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
    """A network of one combination of the context; start 0 is the direction of slope, start 1 that of curvature.

    A z of many columns often acts through few of their combinations, and one direction is learned from far fewer rows
    than a network of all columns. The slopes are the linear rung's.
    """

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

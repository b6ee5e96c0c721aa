"""What rungs share: the initial layout of components, and the call of the only training loop."""

from __future__ import annotations

import numpy as np

from pydine.kernels.mixing import logarithm, total
from pydine.kernels.optimiser import maximise
from pydine.types import FloatArray
from pydine.units.evidence import NEGLIGIBLE
from pydine.units.network import Network
from pydine.units.rungs.rung import Lesson, Rung
from pydine.units.unit import Model

# answer: steps without a better held-out likelihood after which training ends in the first fold: a fifth of the most.
PATIENCE = 30
# answer: the initial means of components lie up to SPREAD deviations from the overall mean, so that their gradients
# differ, and each component keeps at least LEAST_SHARE of the variance.
SPREAD, LEAST_SHARE = 0.8, 0.2


def side_by_side(mean: float, deviation: float, k: int) -> FloatArray:
    """K equal Gaussians side by side with this overall mean and deviation: logits, means, log-scales, shape (3k,)."""
    places = np.linspace(-SPREAD, SPREAD, k) if k > 1 else np.zeros(1)
    scale = deviation * np.sqrt(max(1.0 - total(places * places) / k, LEAST_SHARE))
    return np.concatenate([np.zeros(k), mean + places * deviation, np.full(k, logarithm(scale))])


def trained(
    rung: Rung, network: Network, start: FloatArray, decay: FloatArray, lesson: Lesson, expanded: FloatArray
) -> tuple[Model, int]:
    """Train a network from a start (p,) with a decay of each parameter (p,), on rows whose context is expanded already.

    If the lesson has held-out rows, training ends when their likelihood no longer improves. Returns the model and the
    number of steps.
    """
    held = lesson.held
    watched = (lesson.t[..., :0], np.empty((len(expanded), 0))) if held is None else (held[0], rung.expansion(held[1]))
    rows = [a.astype(np.float32, order="C") for a in (lesson.t, expanded, *watched)]
    _, theta, steps = maximise(
        start, decay, *network.layout, *rows, rung.iterations, NEGLIGIBLE / lesson.x.shape[1], PATIENCE
    )
    return Model(network, theta, rung.expansion), steps

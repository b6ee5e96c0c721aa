"""What rungs have in common: how components are laid out at the start, and the call of the one training loop."""

from __future__ import annotations

import numpy as np

from pydine.kernels.mixing import logarithm, total
from pydine.kernels.optimiser import maximise
from pydine.types import FloatArray
from pydine.units.network import Network
from pydine.units.rungs.rung import Lesson, Rung
from pydine.units.unit import Model

LINEAR_PRECISION = 0.67  # of the prior of linear slopes and of what is constant in the context
TOLERANCE = 1e-4  # of the log-likelihood a row, in nats: where training ends
PATIENCE = 30  # steps in the first fold that do not follow held-out rows any better, and training ends


def side_by_side(mean: float, deviation: float, k: int) -> FloatArray:
    """K equal Gaussians side by side, as one of this mean and deviation: logits, means and log-scales, shape (3k,)."""
    places = np.linspace(-0.8, 0.8, k) if k > 1 else np.zeros(1)
    scale = deviation * np.sqrt(max(1.0 - total(places * places) / k, 0.2))
    return np.concatenate([np.zeros(k), mean + places * deviation, np.full(k, logarithm(scale))])


def trained(
    rung: Rung, network: Network, start: FloatArray, decay: FloatArray, lesson: Lesson, expanded: FloatArray
) -> tuple[Model, int]:
    """Train a network from a start (p,) with a decay of each parameter (p,), on rows whose context is expanded already.

    With rows to hold out, training ends when they are followed no better. Returns the model and the steps made.
    """
    held = lesson.held
    watched = (lesson.t[..., :0], np.empty((len(expanded), 0))) if held is None else (held[0], rung.expansion(held[1]))
    rows = [a.astype(np.float32, order="C") for a in (lesson.t, expanded, *watched)]
    _, theta, steps = maximise(start, decay, *network.layout, *rows, rung.iterations, TOLERANCE, PATIENCE)
    return Model(network, theta, rung.expansion), steps

"""What rungs share: the initial layout of components, and the call of the only training loop.

Where rows are many, a network is trained on growing samples, and to the end. Its parameters differ so much in how
far they move the likelihood that plain L-BFGS still gains after thousands of steps; from the Fisher information on, it
takes dozens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pydine.kernels.curvature import GROUP, curvature
from pydine.kernels.mixing import logarithm, total
from pydine.kernels.optimiser import maximise
from pydine.types import FloatArray
from pydine.units.evidence import NEGLIGIBLE
from pydine.units.growing import part_of, sizes, suffices
from pydine.units.network import Network
from pydine.units.rungs.rung import Effort, Lesson, Rung
from pydine.units.unit import Model

# answer: steps without a better held-out likelihood after which training ends in the first fold: a fifth of the most.
PATIENCE = 30
# answer: the initial means of components lie up to so many deviations from the overall mean, so that their gradients
# differ
SPREAD = 0.8
# answer: steps after which the Fisher information is taken anew (a round);
# a round of fewer than FEW steps shows that all is learned; and most rounds, to save time
ROUND, FEW, ROUNDS = 50, 12, 4
GROUPS, GROUPS_PER_PARAMETER = 1000, 4  # guard: at least, whose gradients show the information well enough
UNKNOWN = np.empty((0, 0))  # curvature

Rows32 = Sequence[NDArray[np.float32]]  # targets (m,) or (2, m), and their expanded contexts (c, m)


def side_by_side(mean: float, deviation: float, k: int) -> FloatArray:
    """K equal Gaussians side by side with this overall mean and deviation: logits, means, log-scales, shape (3k,)."""
    places = np.linspace(-SPREAD, SPREAD, k) if k > 1 else np.zeros(1)
    scale = deviation * np.sqrt(1.0 - total(places * places) / k)
    return np.concatenate([np.zeros(k), mean + places * deviation, np.full(k, logarithm(scale))])


def trained(
    rung: Rung, network: Network, start: FloatArray, decay: FloatArray, lesson: Lesson, expanded: FloatArray
) -> tuple[Model, Effort]:
    """Train a network from a start (p,) with a decay of each parameter (p,), on rows whose context is expanded already.

    If the lesson has held-out rows, training ends when their likelihood no longer improves. Returns the model and what
    it took.
    """
    held, n = lesson.held, lesson.x.shape[1]
    watched = (lesson.t[..., :0], np.empty((len(expanded), 0))) if held is None else (held[0], rung.expansion(held[1]))
    arrays = [a.astype(np.float32, order="C") for a in (lesson.t, expanded, *watched)]
    if len(sizes(n, len(start))) == 1:
        enough = NEGLIGIBLE / n
        _, theta, steps = maximise(start, decay, *network.layout, *arrays, rung.iterations, enough, PATIENCE, UNKNOWN)
        return Model(network, theta, rung.expansion), Effort(steps)
    model = Model(network, start, rung.expansion)
    return _on_parts(rung, model, n * decay, arrays[:2], arrays[2:], lesson)


def _on_parts(
    rung: Rung, model: Model, precision: FloatArray, rows: Rows32, held: Rows32, lesson: Lesson
) -> tuple[Model, Effort]:
    """Train a model on growing samples, as long as another doubling gains enough, and at most on all rows.

    `precision` (p,) is that of the parameters' prior.
    """
    n, before = rows[1].shape[1], None
    parts, most = sizes(n, len(precision)), ROUNDS * ROUND
    parts = parts[: rung.parts or len(parts)]
    nothing = [np.ascontiguousarray(a[..., :0]) for a in held]
    for i, m in enumerate(parts):
        some = [np.ascontiguousarray(a[..., part_of(n, m)]) for a in rows]
        is_last = m == parts[-1]
        if i == 0:  # where the start is flat in some parameters, it says nothing of their curvature
            model, _ = _searched(model, precision / m, some, nothing, most, UNKNOWN)
        shown, steps = (held, min(rung.iterations, most)) if is_last else (nothing, ROUND)
        model, taken = _to_the_end(model, precision / m, some, shown, steps)
        if is_last or held[1].shape[1] == 0:
            continue
        after = model.density_of(held[0], held[1])
        if before is not None and suffices(before, after, lesson.of_all or n):
            return model, Effort(taken, i + 1)
        before = after
    return model, Effort(taken, rung.parts)


def _to_the_end(model: Model, decay: FloatArray, rows: Rows32, held: Rows32, most: int) -> tuple[Model, int]:
    """Train a model in rounds, each of which begins with the curvature where the last one ended; and its steps."""
    n, p, taken = rows[1].shape[1], len(decay), 0
    seen = GROUP * min(n // GROUP, max(GROUPS, GROUPS_PER_PARAMETER * p))
    places = np.arange(n)[part_of(n, seen)].reshape(GROUP, -1).T.ravel()  # neighbours are in different groups
    sample = [np.ascontiguousarray(a[..., places]) for a in rows]
    while taken < most:
        at = model.theta.astype(np.float32)
        known = curvature(at, decay, *model.network.layout, *sample) if n >= GROUP * p else UNKNOWN
        model, steps = _searched(model, decay, rows, held, min(ROUND, most - taken), known)
        taken += steps
        if steps < FEW:
            break
    return model, taken


def _searched(
    model: Model, decay: FloatArray, rows: Rows32, held: Rows32, most: int, known: FloatArray
) -> tuple[Model, int]:
    """The model that a search ends with, and its steps.

    It ends when steps gain little beside the deviation of a likelihood ratio of so many parameters, sqrt(p / 2) nats.
    """
    enough = NEGLIGIBLE * np.sqrt(0.5 * len(decay)) / rows[1].shape[1]
    layout = model.network.layout
    _, theta, steps = maximise(model.theta, decay, *layout, *rows, *held, most, enough, PATIENCE, known)
    return replace(model, theta=theta), steps

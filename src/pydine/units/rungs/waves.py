"""Waves: any smooth function of each context column, by cosines of its ranks, and a network of their sum.

The additive rung has three functions of each column, and networks find a wave only if they start near it. A regression
on cosines finds all of them at once. What it finds is the index of a network, since scores of a target that follows a
wave are neither equally spread nor equally skewed along it.
"""

from __future__ import annotations

import numpy as np

from pydine.kernels.normal import add_tails
from pydine.kernels.regression import ridge
from pydine.types import FloatArray
from pydine.units.evidence import ROWS_PER_VALUE
from pydine.units.rungs.linear import BASIS_PRECISION, LEAST_DEVIATION
from pydine.units.rungs.networks import IndexRung, along
from pydine.units.rungs.rung import Effort, Lesson
from pydine.units.rungs.training import side_by_side, trained
from pydine.units.settings import LINEAR_PRECISION
from pydine.units.steps import middles
from pydine.units.unit import SEPARATE, Model

WAVES = 16  # answer: half periods of the fastest cosine: it resolves eight turns of an effect
SLOW = 3.0  # answer: half periods from which on the prior grows as their square: as of a function with a slope


def waves(context: FloatArray) -> FloatArray:
    """The context and, for each of its columns, cosines of their ranks of 1, 2, 3, ... half periods.

    With them are the ranks and their squares: cosines are flat at both ends, and what remains when a slope is taken out
    at either end needs far fewer of them.
    """
    c, n = context.shape
    expanded = np.empty((3 + WAVES, c, n))
    middle = _ranks(context) - 0.5
    expanded[0], expanded[1] = context, 2.0 * np.sqrt(3.0) * middle
    np.multiply(np.sqrt(1.25), expanded[1] ** 2 - 1.0, out=expanded[2])
    slowest = -_sine(np.pi * middle)
    before, cosine = np.ones((c, n)), slowest
    for k in range(WAVES):
        np.multiply(np.sqrt(2.0), cosine, out=expanded[3 + k])
        before, cosine = cosine, 2.0 * slowest * cosine - before
    return expanded.reshape((3 + WAVES) * c, n)


SEPARATE.add(waves)


def _ranks(context: FloatArray) -> FloatArray:
    """Normal probabilities of scores (c, n), the same to the last digit on every processor."""
    c, n = context.shape
    lower, upper = np.zeros((2, c * n))
    add_tails(1.0, np.ones((1, c * n)), np.ascontiguousarray(context).reshape(1, c * n), lower, upper)
    ranks: FloatArray = lower.reshape(c, n)
    return ranks


def _sine(angle: FloatArray) -> FloatArray:
    """The sine of angles between -pi/2 and pi/2, by its series, whose digits are the same on every processor."""
    square, series = angle * angle, np.zeros(angle.shape)
    for odd in range(21, 1, -2):
        series = (1.0 + series) * -square / (odd * (odd - 1.0))
    sine: FloatArray = angle * (1.0 + series)
    return sine


class WavesRung(IndexRung):
    """A network of one combination of cosines, which starts from a ridge regression on them."""

    def fit(self, lesson: Lesson) -> tuple[Model, Effort]:
        """See `Rung`."""
        expanded, settings, n = self.expansion(lesson.x), lesson.settings, lesson.x.shape[1]
        network, c = self.network(len(expanded), settings), len(expanded)
        turns = np.repeat(np.append(np.zeros(3), np.arange(1.0, WAVES + 1.0)), len(lesson.x))
        skip = BASIS_PRECISION / n * np.maximum(turns / SLOW, 1.0) ** 2
        skip[: len(lesson.x)] = LINEAR_PRECISION / n
        location, spread = ridge(middles(lesson.t), expanded, n * skip)
        theta, decay = np.zeros(network.n_parameters), np.full(network.n_parameters, settings.weight_decay / n)
        direction, last_bias = network.layer_slices[0][0], network.layer_slices[-1][1]
        theta[:c], decay[:c], decay[c : 2 * c], decay[direction] = location, skip, 2.0 * skip, skip
        theta[last_bias] = side_by_side(0.0, max(spread, LEAST_DEVIATION), settings.components)
        decay[last_bias] = LINEAR_PRECISION / n
        theta[direction] = location / max(float(np.std(location @ expanded)), LEAST_DEVIATION)
        along(network, theta, settings.hidden_units)
        return trained(self, network, theta, decay, lesson, expanded)


def has_rows(c: int, n_train: int) -> bool:
    """Whether n rows are enough for the cosines of c columns."""
    return c * WAVES * ROWS_PER_VALUE <= n_train

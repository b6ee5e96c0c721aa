"""Targets and contexts for tests of single units, normal scores as units are given them, and settings that are fast."""

import numpy as np
from scipy.stats import norm

from pydine.latents.scores import ScoreMap
from pydine.units.ladder import LadderSettings

SETTINGS = LadderSettings(networks=2, hidden_units=6, iterations=60)


def scores(column):
    return ScoreMap.fit(column)[1]


def linear_data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    return scores(0.6 * context[0] - 0.5 * context[1] + 0.6 * rng.standard_normal(n)), context


def sine_data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, n)
    return scores(np.sin(2.0 * x) + 0.2 * rng.standard_normal(n)), norm.ppf(x[None] / 6.0 + 0.5)


def product_data(n=900, seed=0):
    """The product of two context columns: no column of them alone tells anything of the target's mean."""
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    return scores(context[0] * context[1] + 0.3 * rng.standard_normal(n)), context

"""Looks at residuals: parts that differ are told apart, those that do not are not, and noise has nothing to show."""

import numpy as np
import pytest

from pydine.bases.kinds.looks import apart, beyond
from pydine.inputs.table import Question
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.units.ladder import LadderSettings
from pydine.work.cache import UnitCache

N, FOLDS = 600, 3


def latents(x, y, z):
    """Residuals of numbers; z is given."""
    columns = MixedColumns.of(Question.of(x[:, None], y[:, None], z[:, None]))
    return MixedMaker(LadderSettings(), UnitCache()).latents(columns)


@pytest.fixture
def noise():
    return np.random.default_rng(5).standard_normal((4, N))


def test_parts_whose_dependence_differs_are_apart(noise):
    x, e, z, w = noise
    part = (w > 0.0).astype(np.intp)
    assert apart(latents(x, np.where(part, 0.8, -0.8) * x + e, z), part, FOLDS) == 1.0
    assert apart(latents(x, 0.8 * x + e, z), part, FOLDS) == 0.0


def test_parts_that_differ_in_their_squares_are_apart(noise):
    x, e, z, w = noise
    part = (w > 0.0).astype(np.intp)
    assert apart(latents(x, np.where(part, 1.0, -1.0) * x * x + 0.5 * e, z), part, FOLDS) == 1.0


def test_residuals_show_what_models_have_not_learned(noise):
    x, e, z, _ = noise
    of = latents(x, x + e, z)
    nothing = np.zeros((1, N))
    assert beyond(of, nothing, FOLDS) == 1.0
    assert beyond(latents(x, e, z), nothing, FOLDS) == 0.0
    r = 0.5**0.5  # of the true log-ratio nothing is left to show
    a, b = of.both / of.both.std(axis=1, keepdims=True)
    true = -0.5 * np.log(1 - r * r) - (r * r * (a * a + b * b) - 2 * r * a * b) / (2 * (1 - r * r))
    assert beyond(of, np.vstack([nothing, true]), FOLDS) == 0.0

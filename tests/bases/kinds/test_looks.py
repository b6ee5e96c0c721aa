"""Looks at residuals: parts that differ are told apart, those that do not are not, and noise has nothing to show."""

import numpy as np
import pytest

from pydine.bases.kinds.looks import apart, dependent
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


def test_residuals_show_dependence_in_location_and_in_spread(noise):
    x, e, z, _ = noise
    nothing = np.zeros((1, N))
    assert dependent(latents(x, x + e, z), nothing, FOLDS) == 1.0
    assert dependent(latents(x, x * x + e, z), nothing, FOLDS) == 1.0
    assert dependent(latents(x, e, z), nothing, FOLDS) == 0.0


def test_models_show_what_residuals_do_not(noise):
    x, e, z, _ = noise
    known = np.vstack([np.zeros(N), np.full(N, 0.1) + 0.1 * e])
    assert dependent(latents(x, e, z), known, FOLDS) == 1.0

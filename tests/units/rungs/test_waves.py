"""Waves of a context: found wherever they begin, and what follows of them for questions."""

import numpy as np
import pytest

import pydine
from pydine.sampling import INDEPENDENT
from pydine.units.folds import Fold
from pydine.units.rungs.registry import rungs_for
from pydine.units.rungs.waves import WAVES, waves
from pydine.units.settings import LadderSettings


def test_columns_are_orthonormal_but_for_the_ends():
    """Under normal scores: cosines with each other; the context comes first."""
    rng = np.random.default_rng(0)
    context = rng.standard_normal((2, 20_000))
    columns = waves(context)
    assert columns.shape == (2 * (3 + WAVES), 20_000)
    np.testing.assert_array_equal(columns[:2], context)
    np.testing.assert_allclose(np.cov(columns[6:]), np.eye(2 * WAVES), atol=0.05)


@pytest.mark.parametrize("turns", [3.0, 5.0, 7.0])
def test_a_wave_is_learned_almost_as_if_it_were_known(turns):
    """Within a tenth of a nat a row; a network from a random start is more than a nat away at seven."""
    rng = np.random.default_rng(1)
    context, noise = rng.uniform(-1.7, 1.7, 3000), rng.standard_normal(3000)
    signal = np.sin(turns * context)
    spread = np.std(signal)
    settings = LadderSettings(networks=1)
    fold = Fold.of(
        0, (signal + 0.15 * noise) / spread, context[None], INDEPENDENT.folds(np.arange(3000), 3), settings, {}
    )
    [rung] = [rung for rung in rungs_for(1, 2000, settings) if rung.name == "waves"]
    model, _ = fold.fit(rung, watched=True)
    known = -np.log(0.15 / spread) - 0.5 * np.log(2.0 * np.pi * np.e)
    assert fold.density_of(model).mean() > known - 0.1


@pytest.mark.parametrize("dz", [1, 3])
def test_columns_that_follow_the_same_wave_are_independent_given_z(dz):
    """The estimate was 0.1 to 0.7 nats, with p = 0.001."""
    rng = np.random.default_rng(2)
    z = rng.uniform(-2.0, 2.0, (500, dz))
    x, y = np.sin(7.0 * z[:, 0]) + 0.3 * rng.standard_normal((2, 500))
    assert abs(pydine.mutual_information(x, y, z).value) < 0.03
    assert pydine.independence_test(x, y, z).pvalue > 0.01

"""What z may still hide of a number: nothing without z, more of sharp shapes than of smooth ones."""

import numpy as np
import pytest

import pydine
from pydine.answers.mixed import mixed_maker
from pydine.answers.settings import Settings
from pydine.bases.kinds.densities import balanced, by_densities
from pydine.inputs.reading import read_question
from pydine.latents.kinds.question import MixedColumns

LETTERS = np.array(["a", "b", "c"])


def moved(number, labels, z):
    """What is hidden of a number that z moves, in nats."""
    columns = MixedColumns.of(read_question(LETTERS[labels], number, z))
    return by_densities(columns, mixed_maker(Settings().seeded()), in_parts=False).blur


def sample(seed, n=300):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    return labels, rng.random(n), rng.standard_normal(n), rng.standard_normal(n)


def test_nothing_without_z():
    labels, uniform, _, _ = sample(0)
    assert moved(labels + 1.2 * uniform, labels, None) == 0.0


@pytest.mark.slow
def test_sharp_shapes_hide_more_than_smooth_ones():
    labels, uniform, noise, z = sample(1)
    sharp = moved(labels + 1.2 * uniform + 1.5 * np.sin(1.5 * z), labels, z)
    smooth = moved(labels + 1.2 * noise + 1.5 * np.sin(1.5 * z), labels, z)
    assert sharp > 2.0 * smooth > 0.0


def test_what_is_put_back_grows_with_it():
    seen, held = np.full(100, 0.3), np.full(100, 0.2)
    plain, more, most = (balanced(seen, held, 3, blurred) for blurred in (0.0, 0.05, 0.1))
    assert plain[0] == pytest.approx(0.6 * 0.3 + 0.4 * 0.2 + 0.1 * 0.1)
    assert plain[0] < more[0] < most[0] < plain[0] + 0.05
    assert plain[2] < more[2] < most[2]


@pytest.mark.slow
def test_a_staircase_that_z_moves_is_met_with_500_rows():
    """Truth by the definition: ln 4 - (3 / 4) ln 2."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        step, z = rng.integers(4, size=500), rng.standard_normal(500)
        height = step + 2.0 * rng.random(500) + 1.5 * np.cos(1.5 * z)
        found.append(pydine.mutual_information(step, height, z).value)
    assert np.mean(found) == pytest.approx(np.log(4.0) - 0.75 * np.log(2.0), rel=0.06)

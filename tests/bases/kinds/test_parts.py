import numpy as np
import pytest

import pydine
from pydine.bases.kinds.parts import best_cut, realigned
from pydine.inputs.reading import read_question
from pydine.latents.kinds.question import MixedColumns

LETTERS = np.array(list("abc"))


def turned(seed: int, n: int = 500):
    """Labels that agree in 9 of 10 rows, and that z turns over above 0.3: nothing is left of it in the margins."""
    rng = np.random.default_rng(seed)
    z, x = rng.uniform(-1.0, 1.0, n), rng.integers(3, size=n)
    y = np.where(rng.random(n) < 0.9, x, rng.integers(3, size=n))
    return LETTERS[x], LETTERS[(y + (z > 0.3)) % 3], z


def test_a_cut_is_found_where_z_changes_things():
    x, y, z = turned(0)
    columns = MixedColumns.of(read_question(x, y, z))
    gain, side = best_cut(columns, columns.z)
    assert gain > 20.0
    assert np.mean((side == side[z.argmax()]) == (z > 0.3)) > 0.99


@pytest.mark.parametrize("change", [lambda z: -z, lambda z: z**3])
def test_the_same_rows_are_apart_for_the_same_order(change):
    x, y, z = turned(1)
    sides = []
    for given in (z, change(z)):
        columns = MixedColumns.of(read_question(x, y, given))
        side = best_cut(columns, columns.z)[1]
        sides.append(side == side[0])
    np.testing.assert_array_equal(*sides)


def test_a_z_that_does_nothing_tells_nothing_apart():
    rng = np.random.default_rng(2)
    columns = MixedColumns.of(read_question(*LETTERS[rng.integers(3, size=(2, 500))], rng.standard_normal(500)))
    assert best_cut(columns, columns.z)[0] < 4.0


@pytest.mark.slow
def test_information_that_a_place_in_z_hides_is_found():
    x, y, z = turned(3)
    agree = 0.9 + 0.1 / 3.0
    truth = np.log(3.0) + agree * np.log(agree) + (1.0 - agree) * np.log((1.0 - agree) / 2.0)
    found = pydine.mutual_information(x, y, z)
    assert found.value == pytest.approx(truth, rel=0.12)
    assert found.confidence_interval().low < truth < found.confidence_interval().high
    assert found.details["weights"]["part by part"] > 0.2
    assert found.confidence_interval().high <= min(found.entropies)


class TestRealigned:
    """Labels by their frequency and steps by their order in every part."""

    def test_labels_that_z_exchanges_mean_the_same(self):
        rng = np.random.default_rng(0)
        z = rng.integers(2, size=400)
        flag = rng.random(400) < 0.1
        columns = MixedColumns.of(read_question(flag ^ (z == 1), rng.standard_normal(400), LETTERS[z]))
        found = realigned(columns, z)
        assert len(np.unique(np.column_stack([found.x[0].values, flag]), axis=0)) == 2
        assert found.y == columns.y

    def test_steps_that_z_moves_are_the_same(self):
        rng = np.random.default_rng(1)
        z, steps = rng.integers(2, size=400), rng.integers(4, size=400)
        columns = MixedColumns.of(read_question(steps + 3 * z, rng.standard_normal(400), LETTERS[z]))
        found = realigned(columns, z).x[0].values
        assert np.array_equal(found, steps) or np.array_equal(found, 3 - steps)

    def test_nothing_is_new_where_z_moves_nothing(self):
        rng = np.random.default_rng(2)
        z, steps = rng.integers(2, size=400), rng.integers(4, size=400)
        columns = MixedColumns.of(read_question(steps, rng.standard_normal(400), LETTERS[z]))
        assert realigned(columns, z) is None

"""What models of a shape have not seen: sharp edges are, where there is nothing more nothing is added."""

import numpy as np
import pytest

from pydine import mutual_information
from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.neighbours import completed
from shapes import as_latents, gaussian, given_z, latents_of, parabola, ring


def tiles(n, seed=0):
    """Uniform on five of nine squares: the middle one and the corners."""
    rng = np.random.default_rng(seed)
    column = rng.integers(3, size=n)
    row = np.where(column == 1, 1, 2 * rng.integers(2, size=n))
    return (column + rng.random(n))[:, None], (row + rng.random(n))[:, None]


def tiles_truth():
    """Row and column are in the middle together, or both are not: what one coin of probability 1/3 tells."""
    return -np.log(1.0 / 3.0) / 3.0 - 2.0 * np.log(2.0 / 3.0) / 3.0


class TestShapes:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_sharp_edges(self, seed):
        latents = latents_of(*tiles(600, seed))
        plain = MixtureBase().fit(latents)
        found = completed(plain, latents)
        assert found.value > plain.value + 0.03
        assert found.value == pytest.approx(tiles_truth(), abs=0.09)
        assert found.standard_error > plain.standard_error
        assert found.by_neighbours == pytest.approx(found.value - plain.value)

    def test_given_z(self):
        latents = latents_of(*given_z(*tiles(600)))
        plain = MixtureBase().fit(latents)
        assert plain.value + 0.01 < completed(plain, latents).value < tiles_truth() + 0.05

    def test_a_right_base_is_left_alone(self):
        """The Gaussian base knows all of Gaussian data; on average next to nothing is added."""
        added = []
        for seed in range(10):
            latents = latents_of(*gaussian(400, seed=seed))
            base = GaussianBase().fit(latents)
            added.append(completed(base, latents).value - base.value)
        assert min(added) >= 0.0
        assert np.mean(added) < 0.02

    def test_several_columns_are_left_alone(self):
        base = MixtureBase().fit(latents := latents_of(*gaussian(200, d=2)))
        assert completed(base, latents) is base

    def test_no_part(self):
        base = MixtureBase().fit(latents := latents_of(*ring(200)))
        assert completed(base, latents, 0.0) is base


class TestAddition:
    @pytest.mark.slow
    def test_its_standard_error_is_that_of_a_sum_over_the_same_rows(self):
        """Rows that models know well are those whose neighbours add little, or much: the two do not vary apart."""
        values, errors = [], []
        for seed in range(60):
            latents = latents_of(*tiles(300, seed))
            found = completed(MixtureBase().fit(latents), latents)
            values.append(found.value)
            errors.append(found.standard_error)
        assert 0.8 < np.sqrt(np.mean(np.square(errors))) / np.std(values) < 1.35

    def test_held_out_rows_are_the_bases(self):
        base = MixtureBase().fit(latents := latents_of(*ring(300)))
        np.testing.assert_array_equal(completed(base, latents).held_out, base.held_out)

    def test_it_is_counted_in_part(self):
        base = MixtureBase().fit(latents := latents_of(*tiles(400)))
        whole, half = (completed(base, latents, part).value - base.value for part in (1.0, 0.5))
        assert half == pytest.approx(0.5 * whole)

    def test_the_density_within_a_box_is_not_taken_to_be_even(self):
        """A nearly deterministic line: neighbours alone see little of it, and what the base knows is kept."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal(300)
        latents = as_latents(np.array([x, x + 1e-3 * rng.standard_normal(300)]), 1)
        base = GaussianBase().fit(latents)
        assert completed(base, latents).value >= base.value > 4.0

    def test_many_rows(self, monkeypatch):
        """The neighbours of some of the rows say nearly what those of all rows say."""
        base = MixtureBase().fit(latents := latents_of(*tiles(1500)))
        whole = completed(base, latents).value
        monkeypatch.setattr("pydine.bases.neighbours.ENOUGH_ROWS", 500)
        assert completed(base, latents).value == pytest.approx(whole, abs=0.05)


class TestDoors:
    def test_the_default(self):
        estimate = mutual_information(*tiles(500))
        assert estimate.details["by_neighbours"] > 0.0
        assert estimate.value == pytest.approx(tiles_truth(), abs=0.1)

    def test_not_on_gaussian_data(self):
        assert "by_neighbours" not in mutual_information(*gaussian(500)).details

    def test_sides_and_signs(self):
        x, y = parabola(300)
        value = mutual_information(x, y).value
        assert mutual_information(-y, np.exp(x)).value == pytest.approx(value, abs=1e-9)

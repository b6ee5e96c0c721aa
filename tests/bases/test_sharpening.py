"""What z left in the latents: learned from both sides at once, and from nothing where there is nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from pydine import DINE, mutual_information
from pydine.answers.fitting import fit
from pydine.answers.settings import Settings
from pydine.bases.mixture import MixtureBase
from pydine.bases.sharpening import sharpened
from pydine.inputs.reading import read_question
from pydine.units.ladder import LadderSettings
from shapes import flow_of, gaussian, given_z, latents_of, parabola, parabola_truth, ring


def soft_latents(x, y, z):
    """Latents as bases of shapes see them: less of z is projected out than for a covariance."""
    _, latents = flow_of(x, y, z, LadderSettings())
    soft = latents.projection.softened(latents.n_rows)
    return replace(latents, projection=soft, cross_product=soft.cross_product, dof=soft.dof)


def noise_in(latents, x, y):
    """Mean square by which latents differ from the normal scores of what they would be without z."""
    true = norm.ppf((np.array([rankdata(x), rankdata(y)]) - 0.5) / len(x))
    found = norm.ppf((np.array([rankdata(row) for row in latents.both]) - 0.5) / len(x))
    return float(((found - true) ** 2).mean())


class TestLatents:
    def test_they_come_closer_to_what_they_are_without_z(self):
        before, after = [], []
        for seed in range(4):
            x, y = parabola(600, 0.3, seed)
            latents = soft_latents(*given_z(x, y))
            base = MixtureBase().fit(latents.seen())
            sharp = sharpened(latents, base.log_ratio)
            before.append(noise_in(latents, x[:, 0], y[:, 0]))
            after.append(noise_in(sharp, x[:, 0], y[:, 0]))
        assert np.mean(after) < 0.95 * np.mean(before)

    def test_a_base_that_says_nothing_changes_next_to_nothing(self):
        """Each side's own spread has been used already; noise of one dataset may still move its latents a little."""
        moved = []
        for seed in range(5):
            latents = soft_latents(*given_z(*gaussian(500, seed=seed), seed=10 + seed))
            sharp = sharpened(latents, lambda both, z: np.zeros(both.shape[1]))
            moved.append(float(np.abs(sharp.both - latents.both).mean()))
        assert np.median(moved) < 0.02

    def test_no_part_is_no_change(self):
        latents = soft_latents(*given_z(*ring(300)))
        base = MixtureBase().fit(latents.seen())
        np.testing.assert_array_equal(sharpened(latents, base.log_ratio, part=0.0).both, latents.both)

    def test_without_z_there_is_nothing_to_learn(self):
        latents = latents_of(*ring(300))
        assert sharpened(latents, MixtureBase().fit(latents).log_ratio) is latents

    def test_some_of_the_rows_say_nearly_what_all_do(self):
        latents = soft_latents(*given_z(*parabola(3000, 0.3)))
        ratio = MixtureBase().fit(latents.seen()).log_ratio
        whole, some = (sharpened(latents, ratio, rows).both for rows in (None, latents.outwards[::2]))
        shift = whole - latents.both
        assert np.corrcoef((some - latents.both).ravel(), shift.ravel())[0, 1] > 0.8

    def test_the_order_of_rows_stays(self):
        """Folds are dealt in it, and digits that differ between machines must not decide them."""
        latents = soft_latents(*given_z(*ring(300)))
        sharp = sharpened(latents, MixtureBase().fit(latents.seen()).log_ratio)
        np.testing.assert_array_equal(sharp.seen().outwards, latents.seen().outwards)


def estimated(sides, without):
    """The default estimate without some steps."""
    question = read_question(*sides)
    return fit(question, Settings(without=without)).information_of(question)


class TestEstimates:
    @pytest.mark.slow
    def test_more_of_a_shape_is_found_given_z(self):
        """Means of eight samples, with the step and without it."""
        truth = parabola_truth(0.4)
        data = [given_z(*parabola(600, 0.4, seed), seed=100 + seed) for seed in range(8)]
        found, plain = ([estimated(sides, steps) for sides in data] for steps in ((), ("sharpening",)))
        values, before = (np.mean([e.value - e.details["unlearned"] for e in some]) for some in (found, plain))
        assert before + 0.01 < values < truth
        assert np.mean([e.value for e in found]) == pytest.approx(truth, abs=0.12)

    @pytest.mark.parametrize("base", ["auto", "mixture"])
    def test_new_rows_are_mapped_as_the_sample_was(self, base):
        x, y, z = given_z(*parabola(500, 0.4))
        model = DINE(base=base).fit(x, y, z)
        again = model.pointwise(x, y, z)
        assert again.mean() == pytest.approx(model.information_.value, abs=0.2)
        nearly = model.pointwise(x + 1e-9, y, z)
        np.testing.assert_allclose(nearly, again, atol=1e-3)

    @pytest.mark.parametrize("base", ["auto", "mixture"])
    def test_sides_may_be_exchanged(self, base):
        x, y, z = given_z(*parabola(400, 0.4))
        one, other = mutual_information(x, y, z, base=base), mutual_information(y, -x, z, base=base)
        assert one.value == pytest.approx(other.value, abs=1e-6)
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-6)

    def test_gaussian_data_are_left_alone(self):
        """No weight of a shape, no second fit: the answer is the closed form's."""
        x, y, z = given_z(*gaussian(400))
        auto = mutual_information(x, y, z)
        assert auto.details["weights"]["gaussian"] == 1.0
        assert auto.value == mutual_information(x, y, z, base="gaussian").value

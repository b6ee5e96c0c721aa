"""The Student base: a copula with tails that the sides share, against known truths and SciPy's likelihood."""

import numpy as np
import pytest
from scipy.stats import multivariate_t, norm, t

from pydine import mutual_information
from pydine.bases.student import StudentBase, _minimum
from shapes import gaussian, given_z, latents_of, student, student_truth


class TestStudent:
    @pytest.mark.parametrize("degrees", [2.0, 5.0])
    @pytest.mark.parametrize("d", [1, 2, 3])
    @pytest.mark.slow
    def test_known_truth(self, d, degrees):
        truth = student_truth(d, degrees, 0.5)
        estimate = mutual_information(*student(4000, d, degrees), base="student")
        assert abs(estimate.value - truth) < 3.5 * estimate.standard_error
        assert estimate.standard_error < 0.02
        assert estimate.details["student_degrees"] == pytest.approx(degrees, rel=0.2)
        # What the closed form leaves out is more than the room given above: the test sees the difference.
        if degrees == 2.0:
            plain = mutual_information(*student(4000, d, degrees), base="gaussian")
            assert plain.value < truth - 0.05

    @pytest.mark.parametrize("d", [1, 3])
    def test_gaussian_data_have_many_degrees_and_the_closed_form(self, d):
        x, y = gaussian(2000, d)
        general = mutual_information(x, y, base="student")
        plain = mutual_information(x, y, base="gaussian")
        assert general.details["student_degrees"] > 20.0
        assert general.value == pytest.approx(plain.value, abs=0.3 * plain.standard_error)

    def test_tails_alone_are_found(self):
        """No correlation at all, only a scale that the sides share."""
        x, y = student(3000, 1, 1.5, rho=0.0)
        assert mutual_information(x, y, base="student").value == pytest.approx(student_truth(1, 1.5, 0.0), abs=0.03)
        assert abs(mutual_information(x, y, base="gaussian").value) < 0.02

    def test_given_z(self):
        x, y, z = given_z(*student(2000, 1, 2.0))
        estimate = mutual_information(x, y, z, base="student")
        assert estimate.value == pytest.approx(student_truth(1, 2.0, 0.5), abs=0.06)

    def test_log_ratio_against_scipy(self):
        """The densities of Student vectors at Student scores of the ranks."""
        latents = latents_of(*student(400, 2))
        ratio = StudentBase().fit(latents).log_ratio
        rows = t.ppf(norm.cdf(latents.both), ratio.degrees).T
        expected = multivariate_t(shape=ratio.scale, df=ratio.degrees).logpdf(rows)
        for side in (slice(0, 2), slice(2, 4)):
            expected -= multivariate_t(shape=ratio.scale[side, side], df=ratio.degrees).logpdf(rows[:, side])
        np.testing.assert_allclose(ratio(latents.both, latents.z), expected, atol=1e-3)

    def test_scale_and_degrees_maximise_the_likelihood(self):
        """Of the copula, by SciPy: neither more nor fewer degrees, nor more or less correlation, are better."""
        latents = latents_of(*student(1500, 1))
        ratio = StudentBase().fit(latents).log_ratio
        uniform = norm.cdf(latents.both)

        def likelihood(degrees, rho):
            rows = t.ppf(uniform, degrees)
            joint = multivariate_t(shape=[[1.0, rho], [rho, 1.0]], df=degrees).logpdf(rows.T)
            return (joint - t.logpdf(rows, degrees).sum(axis=0)).mean()

        rho = ratio.scale[0, 1]
        best = likelihood(ratio.degrees, rho)
        for factor in (0.8, 1.25):
            assert likelihood(factor * ratio.degrees, rho) < best
        for step in (-0.05, 0.05):
            assert likelihood(ratio.degrees, rho + step) < best


@pytest.mark.parametrize("where", [-3.0, -0.4, 0.0, 1.7, 3.9, 4.0])
def test_a_minimum_by_golden_sections(where):
    assert _minimum(lambda place: (place - where) ** 2 * (1.0 + 0.1 * place**2), -3.0, 4.0, 0.01) == pytest.approx(
        where, abs=0.01
    )

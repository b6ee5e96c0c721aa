"""Latents to nats: the closed form worked out by hand, its bias and its error against exact values and simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, ndtri
from scipy.stats import rankdata

from pydine.bases.closed_form import (
    gaussian_information,
    gaussian_standard_error,
    is_singular,
    pair_information,
    rank_effect,
    wishart_bias,
)

CASES = [
    (1, 1, 0.0),
    (1, 1, 0.2),
    (1, 1, 0.9),
    (3, 3, 0.0),
    (3, 3, 0.5),
    (3, 3, 0.9),
    (1, 5, 0.0),
    (1, 5, 0.5),
    (4, 2, 0.9),
]


def true_covariance(dx, dy, rho):
    """Unit variances, and a correlation of rho between the i-th column of x and the i-th of y."""
    covariance = np.eye(dx + dy)
    for i in range(min(dx, dy)):
        covariance[i, dx + i] = covariance[dx + i, i] = rho
    return covariance


def truth(dx, dy, rho):
    return -0.5 * min(dx, dy) * np.log(1.0 - rho * rho)


def draw(n, dx, dy, rho, rng):
    """Gaussian latents, shape (dx + dy, n)."""
    return np.linalg.cholesky(true_covariance(dx, dy, rho)) @ rng.standard_normal((dx + dy, n))


def sample_covariance(latents):
    return np.atleast_2d(np.cov(latents))


def normal_scores(latents):
    return ndtri(rankdata(latents, axis=1) / (latents.shape[1] + 1))


class TestClosedForm:
    @pytest.mark.parametrize("r", [0.0, 0.5, -0.5, 0.99])
    def test_one_column_each(self, r):
        """DINE-Gaussian with d = 1: -0.5 ln(1 - r^2)."""
        covariance = np.array([[4.0, 2.0 * 3.0 * r], [2.0 * 3.0 * r, 9.0]])
        assert gaussian_information(covariance, 1) == pytest.approx(-0.5 * np.log(1 - r * r), abs=1e-14)

    def test_blocks_by_hand(self):
        """det S_x = 1 - 1/4, det S_y = 1, det S_xy = (1 - 1/16) - 1/2 (1/2 - 1/8) + 1/2 (1/8 - 1/2) = 9/16."""
        covariance = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.25], [0.5, 0.25, 1.0]])
        assert gaussian_information(covariance, 2) == pytest.approx(0.5 * np.log(0.75 / (9 / 16)), rel=1e-13)

    def test_columns_that_pair_up_add_up(self):
        for dx, dy, rho in CASES:
            value = gaussian_information(true_covariance(dx, dy, rho), dx)
            assert value == pytest.approx(truth(dx, dy, rho), abs=1e-13)

    def test_from_points_by_hand(self):
        """Algorithm 1, steps 4 and 5, on three latents: sums of squares 6 and 9/4, of products 7/2, all over n - 1 = 2.

        Uncentred: with the means taken out it would be another number.
        """
        u = np.array([[1.0, -1.0, 2.0], [0.5, -1.0, 1.0]])
        covariance = u @ u.T / (3 - 1)
        np.testing.assert_allclose(covariance, [[3.0, 1.75], [1.75, 1.125]])
        # (6 * 9/4) / (6 * 9/4 - 49/4) = (54/4) / (5/4)
        assert gaussian_information(covariance, 1) == pytest.approx(0.5 * np.log(54 / 5), rel=1e-13)
        assert gaussian_information(np.cov(u), 1) != pytest.approx(0.5 * np.log(54 / 5), rel=1e-3)

    def test_from_four_points_in_three_dimensions_by_hand(self):
        """x' in two dimensions; det S_x = 16, det S_y = 4, det S_xy = 4 (16 - 4) + 2 (0 - 8) = 32, over n - 1 = 3."""
        u = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [2.0, 0.0, 0.0, 0.0]])
        cross = u @ u.T
        np.testing.assert_allclose(cross, [[4, 0, 2], [0, 4, 2], [2, 2, 4]])
        assert gaussian_information(cross / 3, 2) == pytest.approx(0.5 * np.log(16 * 4 / 32), rel=1e-13)

    @settings(deadline=None, max_examples=60)
    @given(seed=st.integers(0, 10**6), dx=st.integers(1, 4), dy=st.integers(1, 4))
    def test_invariances(self, seed, dx, dy):
        """Not negative; the same for any factor, for other coordinates within a side, and with the sides exchanged."""
        rng = np.random.default_rng(seed)
        covariance = sample_covariance(rng.standard_normal((dx + dy, dx + dy + 20)))
        value = gaussian_information(covariance, dx)
        assert value >= 0
        assert gaussian_information(1e6 * covariance, dx) == pytest.approx(value, abs=1e-11)
        mix = np.zeros((dx + dy, dx + dy))
        mix[:dx, :dx] = rng.standard_normal((dx, dx)) + 3 * np.eye(dx)
        mix[dx:, dx:] = rng.standard_normal((dy, dy)) + 3 * np.eye(dy)
        assert gaussian_information(mix @ covariance @ mix.T, dx) == pytest.approx(value, abs=1e-8)
        exchanged = np.roll(np.roll(covariance, dy, axis=0), dy, axis=1)
        assert gaussian_information(exchanged, dy) == pytest.approx(value, abs=1e-11)


class TestWishartBias:
    @pytest.mark.parametrize("dof", [5, 20, 999])
    def test_one_column_each(self, dof):
        """0.5 (psi(dof / 2) - psi((dof - 1) / 2)), from 1 - r^2 ~ Beta((dof - 1) / 2, 1 / 2) at independence."""
        expected = 0.5 * (digamma(dof / 2) - digamma((dof - 1) / 2))
        assert wishart_bias(1, 1, dof) == pytest.approx(expected, rel=1e-12)

    def test_by_hand(self):
        """dof = 3: (psi(3/2) - psi(1)) / 2 = 1 - ln 2."""
        assert wishart_bias(1, 1, 3) == pytest.approx(1 - np.log(2), rel=1e-13)

    @pytest.mark.slow
    @pytest.mark.parametrize(("dx", "dy", "rho"), CASES)
    def test_simulation(self, dx, dy, rho):
        rng = np.random.default_rng(0)
        values = [gaussian_information(sample_covariance(draw(40, dx, dy, rho, rng)), dx) for _ in range(1500)]
        error = np.std(values) / np.sqrt(len(values))
        bias = wishart_bias(dx, dy, 39)
        assert abs(np.mean(values) - truth(dx, dy, rho) - bias) < 4 * error
        assert bias > 4 * error or rho == 0.9  # the test sees it

    def test_symmetric_and_shrinking(self):
        assert wishart_bias(2, 7, 50) == pytest.approx(wishart_bias(7, 2, 50), rel=1e-13)
        assert wishart_bias(3, 4, 10_000) == pytest.approx(3 * 4 / (2 * 10_000), rel=0.01)


class TestRankEffect:
    @pytest.mark.parametrize(("dx", "dy", "rho"), [(1, 1, 0.9), (3, 3, 0.9), (2, 4, 0.95)])
    def test_it_is_the_bias_of_normal_scores(self, dx, dy, rho):
        """Against other draws: the closed form on scores less that on the Gaussian rows they are scores of."""
        rng = np.random.default_rng(1)
        differences = []
        for _ in range(400):
            latents = draw(100, dx, dy, rho, rng)
            ranked = gaussian_information(sample_covariance(normal_scores(latents)), dx)
            differences.append(ranked - gaussian_information(sample_covariance(latents), dx))
        error = np.std(differences) / 20.0
        effect = rank_effect(true_covariance(dx, dy, rho), dx, 1e12, 100)
        # Of two columns the effect is a mean over 250 draws, of more one over 16.
        assert abs(effect.bias - np.mean(differences)) < 5 * error * (1.0 if dx + dy == 2 else 5.0)
        assert effect.bias < -5 * error
        assert 1.0 <= effect.inflation < 1.25

    @pytest.mark.slow
    @pytest.mark.parametrize(("dx", "dy", "rho", "n"), [(1, 1, 0.95, 100), (3, 3, 0.9, 100), (10, 10, 0.8, 100)])
    def test_correction_reduces_the_bias(self, dx, dy, rho, n):
        """Estimates from ranks alone, over samples: less the two biases they scatter around the truth."""
        rng = np.random.default_rng(3)
        plain, corrected = [], []
        for _ in range(150):
            covariance = sample_covariance(normal_scores(draw(n, dx, dy, rho, rng)))
            value = gaussian_information(covariance, dx) - wishart_bias(dx, dy, n - 1)
            effect = rank_effect(covariance, dx, n - 1, n)
            plain.append(value - truth(dx, dy, rho))
            corrected.append(value - effect.bias - truth(dx, dy, rho))
        error = np.std(corrected) / np.sqrt(150)
        assert abs(np.mean(corrected)) < 0.35 * abs(np.mean(plain)) + 2 * error
        assert abs(np.mean(plain)) > 4 * error

    @pytest.mark.slow
    def test_falls_with_the_rows(self):
        """Beyond the rows that are simulated it goes on as 1 / n."""
        covariance = true_covariance(1, 1, 0.9)
        biases = [rank_effect(covariance, 1, n, n).bias for n in (200, 2000, 10**6, 2 * 10**6)]
        assert biases[0] < 3 * biases[1] < 0
        assert biases[3] == pytest.approx(biases[2] / 2, rel=0.05)
        assert abs(biases[3]) < 1e-4

    def test_scale_of_the_latents_does_not_matter(self):
        covariance = true_covariance(2, 2, 0.7)
        scale = np.diag([1.0, 10.0, 0.1, 3.0])
        one = rank_effect(covariance, 2, 99, 100)
        other = rank_effect(scale @ covariance @ scale, 2, 99, 100)
        assert other.bias == pytest.approx(one.bias, abs=1e-3)

    @pytest.mark.parametrize(("dx", "dy"), [(1, 1), (2, 2), (1, 3)])
    def test_a_function_of_its_arguments(self, dx, dy):
        """No draws of the caller's, nothing that was called in between; and the sides may be exchanged."""
        covariance = true_covariance(dx, dy, 0.7)
        effect = rank_effect(covariance, dx, 99, 100)
        rank_effect(true_covariance(2, 3, 0.5), 2, 50, 51)
        assert rank_effect(covariance, dx, 99, 100) == effect
        exchanged = rank_effect(true_covariance(dy, dx, 0.7), dy, 99, 100)
        assert exchanged.bias == pytest.approx(effect.bias, abs=5e-3 if dx != dy else 1e-12)

    @pytest.mark.parametrize("d", [2, 4])
    def test_smooth_in_the_covariance(self, d):
        """The draws are the same, so a little more correlation moves the bias a little."""
        rhos = np.linspace(0.5, 0.6, 41)
        biases = [rank_effect(true_covariance(d // 2, d // 2, rho), d // 2, 199, 200).bias for rho in rhos]
        assert np.abs(np.diff(biases)).max() < 5e-4


class TestPairInformation:
    @pytest.mark.parametrize("r", [0.0, 0.3, -0.7, 0.95])
    def test_one_pair_is_the_closed_form(self, r):
        covariance = np.array([[1.0, r], [r, 1.0]])
        ranks = rank_effect(covariance, 1, 149, 150)
        found = pair_information(np.array([0.1, r]), 149, 150)
        value = gaussian_information(covariance, 1) - wishart_bias(1, 1, 149) - ranks.bias
        assert found.values[1] == pytest.approx(value, abs=1e-12)
        error = gaussian_standard_error(covariance, 1, 149) * ranks.inflation
        assert found.standard_errors[1] == pytest.approx(error, rel=1e-12)

    def test_infinite_information(self):
        found = pair_information(np.array([1.0, -1.0]), 99, 100)
        assert (found.values == np.inf).all()
        assert np.isfinite(found.standard_errors).all()


@pytest.mark.parametrize(("matrix", "expected"), [(np.eye(3), False), (np.ones((2, 2)), True)])
def test_singular(matrix, expected):
    assert is_singular(matrix) == expected
    assert is_singular(1e9 * matrix) == expected


class TestStandardError:
    @pytest.mark.slow
    @pytest.mark.parametrize("n", [60, 400])
    @pytest.mark.parametrize(("dx", "dy", "rho"), CASES)
    def test_simulation(self, dx, dy, rho, n):
        """The spread of the closed form over samples, within 15%, known from the true covariance."""
        rng = np.random.default_rng(4)
        covariances = [sample_covariance(draw(n, dx, dy, rho, rng)) for _ in range(1500)]
        spread = np.std([gaussian_information(c, dx) for c in covariances])
        known = np.sqrt(np.mean([gaussian_standard_error(c, dx, n - 1) ** 2 for c in covariances[:300]]))
        if rho == 0.0:
            # A sample is never quite without correlation, so what it says errs upwards; the formula itself is exact.
            exact = gaussian_standard_error(true_covariance(dx, dy, rho), dx, n - 1)
            assert exact == pytest.approx(spread, rel=0.15)
            assert 1.0 < known / spread < 1.8
        else:
            assert known == pytest.approx(spread, rel=0.15)

    def test_first_order(self):
        """Large n: variance sum r_i^2 / n."""
        error = gaussian_standard_error(true_covariance(3, 3, 0.6), 3, 1e6)
        assert error == pytest.approx(np.sqrt(3 * 0.36 / 1e6), rel=1e-3)

    def test_symmetric(self):
        covariance = sample_covariance(np.random.default_rng(0).standard_normal((5, 30)))
        exchanged = np.roll(np.roll(covariance, 3, axis=0), 3, axis=1)
        assert gaussian_standard_error(covariance, 2, 29) == pytest.approx(gaussian_standard_error(exchanged, 3, 29))

    @pytest.mark.parametrize(("d", "dof"), [(20, 41), (20, 60), (1, 2)])
    def test_few_degrees_of_freedom(self, d, dof):
        latents = np.random.default_rng(0).standard_normal((2 * d, dof + 1))
        error = gaussian_standard_error(sample_covariance(latents), d, dof)
        assert np.isfinite(error)
        assert error > 0


@pytest.mark.parametrize("n", [12, 20, 30])
def test_few_rows_and_a_correlation_near_one(n):
    """All ranks may agree on both sides, and their information be infinite: that is no measure of a bias."""
    effect = rank_effect(np.array([[1.0, 0.9999], [0.9999, 1.0]]), 1, n - 1, n)
    assert np.isfinite(effect).all()

import numpy as np
import pytest

from pydine import mutual_information
from pydine.bases.closed_form import gaussian_information, pair_information, without_rank_noise
from pydine.latents.linear_effect import kept_by_ranks
from pydine.latents.scores import ScoreMap

RHO, N = 0.9, 300


def linear(seed, dz=5, rho=RHO):
    """Columns that follow z in a line, z, and what is left of both given z."""
    rng = np.random.default_rng([seed, dz])
    z, slopes, (x, noise) = rng.normal(size=(N, dz)), rng.normal(size=(2, dz)), rng.normal(size=(2, N))
    left = np.vstack([x, rho * x + np.sqrt(1.0 - rho**2) * noise])
    return *(slopes @ z.T + left), z, left


def scores(columns):
    return np.array([ScoreMap.fit(column)[1] for column in columns])


def test_columns_that_follow_z_in_a_line_are_as_dependent_given_z_as_they_are():
    """Without what ranks do to columns that z moves, 0.1 nats were missing of 0.83."""
    differences = []
    for seed in range(12):
        x, y, z, (a, b) = linear(seed)
        differences.append(mutual_information(np.exp(x), y, z).value - mutual_information(a, b).value)
    assert abs(np.mean(differences)) < 0.05


def test_the_more_z_explains_the_more_ranks_take():
    rng = np.random.default_rng(0)
    z, (e, f) = rng.normal(size=(2, N)), rng.normal(size=(2, N))
    nothing, weak, strong = kept_by_ranks(scores([e, 0.5 * z[0] + e, 3.0 * z[0] + 3.0 * z[1] + f]), scores(z))
    assert strong < 0.97 < weak < nothing
    assert nothing == pytest.approx(1.0, abs=0.002)


def test_it_falls_as_rows_are_more():
    rng = np.random.default_rng(0)
    lost = []
    for n in (500, 8000):
        z = rng.normal(size=(2, n))
        lost.append(1.0 - kept_by_ranks(scores([z.sum(axis=0) + 0.5 * rng.normal(size=n)]), scores(z))[0])
    assert lost[0] == pytest.approx(16.0 * lost[1], rel=0.4)


def test_what_chance_explains_is_no_effect():
    rng = np.random.default_rng(0)
    assert kept_by_ranks(rng.normal(size=(3, N)), rng.normal(size=(40, N))).min() > 0.99


def test_too_much_of_z_to_see_what_is_linear_in_it():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(kept_by_ranks(rng.normal(size=(2, 30)), rng.normal(size=(20, 30))), [1.0, 1.0])
    np.testing.assert_array_equal(kept_by_ranks(rng.normal(size=(2, 30)), np.empty((0, 30))), [1.0, 1.0])


def test_copies_in_z():
    x, y, z, _ = linear(0)
    once, twice = (kept_by_ranks(scores([x, y]), scores(each)) for each in (z.T, np.vstack([z.T, z[:, 1]])))
    np.testing.assert_allclose(once, twice, atol=0.02)


@pytest.mark.parametrize("n", [N, 3001])
def test_order_signs_and_company(n):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4, n))
    columns = scores(rng.normal(size=(3, 4)) @ z + rng.normal(size=(3, n)))
    z, rows = scores(z), rng.permutation(n)
    expected = kept_by_ranks(columns, z)
    again = kept_by_ranks(-columns[::-1][:, rows], (z * [[1.0], [-1.0], [1.0], [-1.0]])[[2, 0, 3, 1]][:, rows])
    np.testing.assert_allclose(again[::-1], expected, rtol=1e-12)
    np.testing.assert_allclose(kept_by_ranks(columns[1:2], z), expected[1:2], rtol=1e-12)


def test_pairs_are_as_covariances():
    kept = np.array([0.98, 0.9])
    for r in (0.0, 0.5, 0.9, 0.99):
        covariance = np.array([[2.0, r * np.sqrt(6.0)], [r * np.sqrt(6.0), 3.0]])
        sharper = without_rank_noise(covariance, kept)
        own = sharper[0, 1] / np.sqrt(sharper[0, 0] * sharper[1, 1])
        assert abs(r) <= own < 1.0
        pairs = [
            pair_information(np.array([c]), 1e9, 10**9, kept=k) for c, k in ((r, tuple(kept[:, None])), (own, None))
        ]
        assert pairs[0].values[0] == pytest.approx(pairs[1].values[0], rel=1e-9)
        assert pairs[0].values[0] == pytest.approx(gaussian_information(sharper, 1), abs=1e-6)


def test_a_side_that_is_nearly_singular_stays_a_covariance():
    covariance = np.array([[1.0, 0.999, 0.3], [0.999, 1.0, 0.3], [0.3, 0.3, 1.0]])
    assert np.linalg.eigvalsh(without_rank_noise(covariance, np.array([0.95, 0.9, 0.9])))[0] > 0.0

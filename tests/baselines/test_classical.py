"""The baselines against closed forms, what others wrote, and the figures known for the paper's cells."""

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_regression

from pydine.baselines.gaussian import gaussian_copula, oracle
from pydine.baselines.ksg import ksg
from pydine.experiments.datasets import CORRELATIONS, SEEDS, gaussian_truth, paper_cmi, paper_mi


def gaussian_pair(n: int, d: int, rho: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x, e = np.random.default_rng(seed).standard_normal((2, n, d))
    return x, rho * x + np.sqrt(1 - rho * rho) * e


class TestGaussian:
    def test_by_hand(self) -> None:
        """n = 4, one column each: r = 0.8, 3 degrees of freedom."""
        x, y = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]
        # ln det W has mean ln 2 + psi(3/2) for d = 1 and 2 ln 2 + psi(3/2) + psi(1) for d = 2, so that the
        # bias is (psi(3/2) - psi(1)) / 2 = (2 - 2 ln 2) / 2 = 1 - ln 2.
        expected = -0.5 * np.log(1 - 0.8**2) - (1 - np.log(2))
        assert oracle(x, y) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("rho", [0.0, 0.6, -0.95])
    @pytest.mark.parametrize("d", [1, 5])
    def test_oracle_is_unbiased(self, d: int, rho: float) -> None:
        values = [oracle(*gaussian_pair(60, d, rho, seed)) for seed in range(400)]
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values) - gaussian_truth(d, rho)) < 4 * error

    def test_z_is_projected_out(self) -> None:
        rng = np.random.default_rng(0)
        x, y = gaussian_pair(2000, 1, 0.8, 1)
        z = rng.standard_normal((2000, 3))
        shifted = oracle(x + z @ [[1.0], [2.0], [0.0]], y - z @ [[1.0], [0.0], [3.0]] + 5, z)
        assert shifted == pytest.approx(oracle(x, y, z), abs=1e-9)
        assert shifted == pytest.approx(gaussian_truth(1, 0.8), abs=0.05)

    def test_columns_of_z_that_repeat_cost_nothing(self) -> None:
        x, y = gaussian_pair(50, 1, 0.5, 0)
        z = np.random.default_rng(1).standard_normal((50, 2))
        repeated = np.hstack([z, z, 1e6 * z[:, :1], np.ones((50, 1))])
        assert oracle(x, y, repeated) == pytest.approx(oracle(x, y, z), abs=1e-9)

    def test_copula_ignores_monotone_maps(self) -> None:
        x, y = gaussian_pair(300, 2, 0.7, 0)
        assert gaussian_copula(np.exp(x), -(y**3)) == pytest.approx(gaussian_copula(x, y), rel=1e-12)

    def test_copula_of_independent_sides_is_centred(self) -> None:
        values = [gaussian_copula(*gaussian_pair(100, 3, 0.0, seed)) for seed in range(200)]
        assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(200)

    @pytest.mark.parametrize("estimate", [oracle, gaussian_copula, ksg])
    def test_symmetric_in_x_and_y(self, estimate) -> None:
        x, y = gaussian_pair(80, 2, 0.4, 0)
        z = np.random.default_rng(1).standard_normal((80, 2))
        assert estimate(x, y) == pytest.approx(estimate(y, x), rel=1e-7)
        assert estimate(x, y, z) == pytest.approx(estimate(y, x, z), rel=1e-7)

    # Known for the paper's cells, all 350 datasets, to three digits.
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("draw", "n", "d", "error_oracle", "error_copula"),
        [
            (paper_mi, 200, 2, 0.054, 0.078),
            (paper_mi, 1000, 2, 0.021, 0.026),
            (paper_cmi, 200, 20, 0.179, 0.618),
        ],
    )
    def test_papers_cells(self, draw, n: int, d: int, error_oracle: float, error_copula: float) -> None:
        cell = [draw(n, d, rho, seed) for rho in CORRELATIONS for seed in SEEDS]
        from_latents = np.mean([abs(oracle(a.latent_x, a.latent_y, a.z) - a.truth) for a in cell])
        from_ranks = np.mean([abs(gaussian_copula(a.x, a.y, a.z) - a.truth) for a in cell])
        assert from_latents == pytest.approx(error_oracle, abs=6e-4)
        assert from_ranks == pytest.approx(error_copula, abs=6e-4)


class TestKSG:
    @pytest.mark.parametrize("k", [1, 3, 8])
    @pytest.mark.parametrize("rho", [0.3, 0.95])
    def test_agrees_with_scikit_learn(self, rho: float, k: int) -> None:
        x, y = gaussian_pair(500, 1, rho, 0)
        theirs = mutual_info_regression(x, y[:, 0], n_neighbors=k, random_state=0)[0]
        assert ksg(x, y, k=k) == pytest.approx(theirs, abs=1e-6)

    def test_agrees_with_scikit_learn_far_from_gaussian(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.exponential(size=700)
        y = np.sin(5 * x) + 0.1 * rng.standard_normal(700)
        theirs = mutual_info_regression(x[:, None], y, n_neighbors=3, random_state=0)[0]
        assert ksg(x, y) == pytest.approx(theirs, abs=1e-6)

    @pytest.mark.parametrize("with_z", [False, True])
    def test_agrees_with_the_definition(self, with_z: bool) -> None:
        """Brute force over all pairs, straight from the papers; psi(m) = -gamma + sum of 1/i, i < m."""
        rng = np.random.default_rng(3)
        n, k = 40, 2
        x, y, z = rng.standard_normal((n, 2)), rng.standard_normal((n, 1)), rng.standard_normal((n, 2))
        y = y + x[:, :1] + z[:, 1:]

        def distance(*sides: np.ndarray) -> np.ndarray:
            a = np.hstack([(side - side.mean(0)) / side.std(0) for side in sides])
            return np.abs(a[:, None] - a[None]).max(axis=2)

        def psi(m: int) -> float:
            return -np.euler_gamma + sum(1 / i for i in range(1, m))

        joint = distance(x, y, z) if with_z else distance(x, y)
        total = 0.0
        for i in range(n):
            eps = np.sort(joint[i])[k]
            closer = [int((distance(*sides)[i] < eps).sum()) for sides in ([x, z], [y, z], [z], [x], [y])]
            xz, yz, only_z, only_x, only_y = map(psi, closer)
            total += psi(k) + (only_z - xz - yz if with_z else psi(n) - only_x - only_y)
        assert ksg(x, y, z if with_z else None, k=k) == pytest.approx(total / n, abs=1e-6)

    @pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
    def test_gaussian_truth(self, rho: float) -> None:
        # Kraskov et al. (2004), figure 4: hardly any bias on Gaussians; the scatter here is a few hundredths.
        values = [ksg(*gaussian_pair(1000, 1, rho, seed)) for seed in range(10)]
        assert np.mean(values) == pytest.approx(gaussian_truth(1, rho), abs=0.03)

    def test_conditional_truth(self) -> None:
        x, y = gaussian_pair(3000, 1, 0.6, 0)
        z = np.random.default_rng(1).uniform(-1, 1, (3000, 1))
        assert ksg(x + z, y + z, z) == pytest.approx(gaussian_truth(1, 0.6), abs=0.06)
        common = np.random.default_rng(2).standard_normal((3000, 2))
        assert ksg(common[:, 0] + 2 * z[:, 0], common[:, 1] + 2 * z[:, 0], z) == pytest.approx(0, abs=0.05)

    def test_ties_and_repeats_give_one_number(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.integers(0, 4, 300)
        y = x + rng.integers(0, 3, 300)
        value = ksg(x, y)
        assert np.isfinite(value)
        assert value == ksg(x, y)

    def test_scale_does_not_matter(self) -> None:
        x, y = gaussian_pair(200, 2, 0.5, 0)
        assert ksg(1e4 * x + 3, y * [1.0, 1e-3]) == pytest.approx(ksg(x, y), abs=1e-6)

    @pytest.mark.parametrize("k", [0, 20, 25])
    def test_k_out_of_range(self, k: int) -> None:
        x, y = gaussian_pair(20, 1, 0.5, 0)
        with pytest.raises(ValueError, match=f"less than the number of rows, 20, but got {k}"):
            ksg(x, y, k=k)

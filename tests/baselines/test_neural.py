"""MINE, its sister bounds and CCMI against Gaussian truths, published values and the paper's authors."""

import numpy as np
import pytest

from pydine.experiments.datasets import CORRELATIONS, gaussian_truth, paper_cmi, paper_mi

pytest.importorskip("jax")

from pydine.baselines import ccmi, neural

pytestmark = pytest.mark.slow  # networks are trained

# Mean estimates of the paper's authors over seeds 0 to 4, n = 200 and d = 2, of MINE at all correlations together and
# of CCMI at some. Their MINE stopped earlier, by a moving average that lags, and is smaller: the truth is 1.44.
AUTHORS_MINE = 0.715
AUTHORS_CCMI = {-0.99: 0.208, -0.5: 0.050, 0.0: -0.004, 0.75: 0.152}

BOUNDS = [neural.mine, neural.donsker_varadhan, neural.nwj, neural.infonce]


def gaussian_pair(n: int, d: int, rho: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x, e = np.random.default_rng(seed).standard_normal((2, n, d))
    return x, rho * x + np.sqrt(1 - rho * rho) * e


def scores(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal(n).astype(np.float32), rng.standard_normal((m, n)).astype(np.float32)


class TestBounds:
    def test_by_their_formulas(self) -> None:
        observed, shuffled = scores(5, 3)
        mean, mean_exp = observed.mean(), np.exp(shuffled).mean()
        assert neural.donsker_varadhan_bound(observed, shuffled) == pytest.approx(mean - np.log(mean_exp), abs=1e-5)
        assert neural._nwj(observed, shuffled) == pytest.approx(mean - mean_exp / np.e, abs=1e-5)
        ratios = np.exp(observed) / np.exp(np.vstack([observed, shuffled])).mean(axis=0)
        assert neural._infonce(observed, shuffled) == pytest.approx(np.log(ratios).mean(), abs=1e-5)

    def test_infonce_cannot_exceed_the_logarithm_of_the_rows(self) -> None:
        observed, shuffled = scores(5, 3)
        assert neural._infonce(observed + 100, shuffled) == pytest.approx(np.log(4), abs=1e-5)

    def test_large_scores_do_not_overflow(self) -> None:
        observed, shuffled = scores(5, 3)
        assert neural.donsker_varadhan_bound(observed + 500, shuffled + 500) == pytest.approx(
            float(neural.donsker_varadhan_bound(observed, shuffled)), abs=1e-3
        )

    def test_pairs(self) -> None:
        """Scores with y moved on by one row, two rows: never a row with itself."""
        x, y = np.arange(4.0)[:, None], np.arange(4.0)[:, None]
        one, zero = np.ones((1, 1)), np.zeros((1, 1))
        for critic in (
            neural.Critic(one, zero, np.zeros(1), np.ones(1)),
            neural.Critic(zero, one, np.zeros(1), np.ones(1)),
        ):
            for at_once in (True, False):
                observed, shuffled = neural._scores(critic, x, y, 2, at_once)
                assert np.allclose(observed, np.tanh(np.arange(4)))
                rows = np.arange(4) if critic.x_weights[0, 0] else None
                for shift in (1, 2):
                    expected = rows if rows is not None else np.roll(np.arange(4), shift)
                    assert np.allclose(shuffled[shift - 1], np.tanh(expected))

    @pytest.mark.parametrize("estimate", BOUNDS)
    def test_gaussian_truth(self, estimate) -> None:
        # Belghazi et al. (2018), figure 1: no visible bias on two-dimensional Gaussians at moderate correlations.
        dependent = [estimate(*gaussian_pair(200, 2, 0.7, seed), random_state=seed) for seed in range(4)]
        assert np.mean(dependent) == pytest.approx(gaussian_truth(2, 0.7), abs=0.12)
        independent = [estimate(*gaussian_pair(200, 2, 0.0, seed), random_state=seed) for seed in range(4)]
        assert np.mean(independent) == pytest.approx(0, abs=0.08)

    def test_same_seed_same_number(self) -> None:
        x, y = gaussian_pair(200, 2, 0.7, 0)
        assert neural.mine(x, y, random_state=1) == neural.mine(1e3 * x + 5, y, random_state=1)
        assert neural.mine(x, y, random_state=1) != neural.mine(x, y, random_state=2)

    def test_mine_as_the_authors_of_the_paper_measured(self) -> None:
        cell = [paper_mi(200, 2, rho, seed) for rho in CORRELATIONS for seed in range(5)]
        ours = np.mean([neural.mine(a.x, a.y, random_state=a.seed) for a in cell])
        assert ours == pytest.approx(AUTHORS_MINE, rel=0.3)

    def test_diverging_is_refused(self) -> None:
        with pytest.raises(ArithmeticError, match="Training diverged to nan; try another random_state"):
            neural.finite(np.float32("nan"))


class TestCCMI:
    def test_published_value(self) -> None:
        """The example of its authors, 5000 rows: they print 0.9707, and the truth is 0.99."""
        x, e, z = np.random.default_rng(0).standard_normal((3, 5000))
        assert ccmi.ccmi(x, x / 2 + 0.2 * e, z) == pytest.approx(0.9707, abs=0.05)

    def test_as_the_authors_of_the_paper_measured(self) -> None:
        for rho, theirs in AUTHORS_CCMI.items():
            datasets = [paper_cmi(200, 2, rho, seed) for seed in range(5)]
            values = [ccmi.ccmi(a.x, a.y, a.z, random_state=a.seed, standardise=False) for a in datasets]
            assert np.mean(values) == pytest.approx(theirs, rel=0.25, abs=0.1)

    def test_given_what_x_and_y_share(self) -> None:
        z, a, b = np.random.default_rng(0).standard_normal((3, 1000))
        x, y = z + 0.5 * a, z + 0.5 * b
        assert ccmi.ccmi(x, y) > 0.35  # the truth is 0.51
        assert ccmi.ccmi(x, y, z) == pytest.approx(0, abs=0.06)

    def test_same_seed_same_number_at_any_scale(self) -> None:
        z, x, y = np.random.default_rng(0).standard_normal((3, 200, 2))
        assert ccmi.ccmi(x, y, z, random_state=1) == ccmi.ccmi(64 * x, y, z, random_state=1)
        assert ccmi.ccmi(x, y, z, random_state=1) != ccmi.ccmi(x, y, z, random_state=2)

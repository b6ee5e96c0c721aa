"""The tests of conditional independence against those of others, and at their level."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from pydine import baselines
from pydine.baselines.ccit import ccit
from pydine.baselines.gcm import gcm
from pydine.experiments.datasets import paper_cit

# p-values of the program of CCIT's authors (CCIT 0.4 with XGBoost 3.2, its defaults) on trials with dz = 5.
CCIT_PROGRAM = {0: 0.776, 1: 0.184, 2: 0.699, 101: 0.007, 102: 0.0002, 107: 0.425, 109: 0.0001}


def common_cause(n: int, seed: int, link: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x and y that z moves along curves; independent given z unless linked."""
    z, a, b = np.random.default_rng(seed).standard_normal((3, n))
    return np.sin(2 * z) + 0.5 * a, z * z + 0.5 * (b + link * a), z


class TestOfCausalLearn:
    cit = pytest.importorskip("causallearn.utils.cit")

    def test_kcit_is_causal_learns(self) -> None:
        x, y, z = common_cause(120, 0)
        theirs = self.cit.CIT(np.column_stack([x, y, z]), "kci")
        assert baselines.test("kcit", x, y, z) == pytest.approx(theirs(0, 1, [2]), rel=1e-9)
        assert baselines.test("kcit", x, y) == pytest.approx(theirs(0, 1), rel=1e-9)

    def test_kcit_with_several_columns_is_causal_learns(self) -> None:
        x, y, z = np.random.default_rng(0).standard_normal((3, 100, 2))
        theirs = self.cit.CIT(np.column_stack([x, y, z]), "kci")
        assert baselines.test("kcit", x, y, z) == pytest.approx(theirs([0, 1], [2, 3], [4, 5]), rel=1e-9)

    def test_rcit_is_causal_learns(self) -> None:
        x, y, z = common_cause(300, 0)
        np.random.seed(7)  # noqa: NPY002
        theirs = self.cit.CIT(np.column_stack([x, y, z]), "rcit")(0, 1, [2])
        assert baselines.test("rcit", x, y, z, random_state=7) == pytest.approx(theirs, rel=1e-9)

    def test_fisher_z_is_near_the_exact_test(self) -> None:
        x, y, _ = np.random.default_rng(1).standard_normal((3, 400))
        assert baselines.test("fisher_z", x, x + 9 * y) == pytest.approx(pearsonr(x, x + 9 * y).pvalue, rel=0.05)

    def test_fisher_z_takes_one_column(self) -> None:
        x, y = np.random.default_rng(0).standard_normal((2, 50, 2))
        with pytest.raises(ValueError, match="x must have one column for Fisher's z, but has 2; use kcit or rcit"):
            baselines.test("fisher_z", x, y)


@pytest.mark.parametrize("name", baselines.TESTS)
@pytest.mark.parametrize("with_z", [False, True])
def test_never_a_p_value_of_zero(name: str, with_z: bool) -> None:
    if not baselines.available(name):
        pytest.skip(f"{name} is not installed")
    x, e, z = np.random.default_rng(0).standard_normal((3, 300))
    assert 0 < baselines.test(name, x, x + 0.1 * e, z if with_z else None) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kcit", "rcit", "ccit", "gcm"])
def test_level_and_power_given_a_common_cause(name: str) -> None:
    if not baselines.available(name):
        pytest.skip(f"{name} is not installed")
    independent = [baselines.test(name, *common_cause(400, seed), random_state=seed) for seed in range(6)]
    dependent = [baselines.test(name, *common_cause(400, seed, 3.0), random_state=seed) for seed in range(3)]
    assert np.sum(np.array(independent) < 0.01) <= 1
    assert np.median(dependent) < 0.05 < np.median(independent)


class TestCCIT:
    @pytest.mark.slow
    def test_agrees_with_the_program_of_its_authors(self) -> None:
        for trial, theirs in CCIT_PROGRAM.items():
            a = paper_cit(trial, 5)
            assert (ccit(a.x, a.y, a.z, random_state=trial) < 0.05) == (theirs < 0.05)


class TestGCM:
    def test_one_pair_without_z_by_hand(self) -> None:
        x, y = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 0.0, 2.0, 1.0])
        # Residuals (-2.5, -1.5, 0.5, 3.5) and (0, -1, 1, 0): products (0, 1.5, 0.5, 0), mean 0.5, sd sqrt(0.375);
        # 2 * 0.5 / 0.6124 = 1.63299, two-sided 0.10247.
        assert gcm(x, y) == pytest.approx(0.10247, abs=1e-5)

    def test_largest_of_many_pairs(self) -> None:
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((2, 300, 3))
        assert gcm(x, y) > 0.05
        y[:, 2] += x[:, 0]
        assert gcm(x, y) == pytest.approx(1e-4)

    def test_level(self) -> None:
        p = [gcm(*np.random.default_rng(seed).standard_normal((2, 100)), random_state=seed) for seed in range(400)]
        assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.03)

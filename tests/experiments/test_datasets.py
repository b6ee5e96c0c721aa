"""The datasets: drawn to the letter of the recipe, repeatable, and with the information they claim."""

from collections.abc import Callable

import numpy as np
import pytest

from harness import conditional
from pydine.baselines.gaussian import gaussian_copula, oracle
from pydine.experiments import datasets
from pydine.experiments.datasets import Dataset, gaussian_truth, paper_cit, paper_cmi, paper_mi

Draw = Callable[[], Dataset]

DRAWS: dict[str, Draw] = {
    "mi": lambda: paper_mi(50, 2, 0.5, 4),
    "cmi": lambda: paper_cmi(50, 3, -0.75, 4),
    "cit": lambda: paper_cit(123, 5, 50),
    **{name: lambda name=name: conditional.sample(name, 50, 5, 0.5, 4) for name in conditional.FAMILIES},
}


def arrays(dataset: Dataset) -> list[np.ndarray]:
    columns = [dataset.x, dataset.y, dataset.latent_x, dataset.latent_y]
    return columns if dataset.z is None else [*columns, dataset.z]


def rank_agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation without ties."""
    return float(np.corrcoef(a.argsort().argsort(), b.argsort().argsort())[0, 1])


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
class TestEveryDataset:
    def test_same_arguments_same_data(self, draw: Draw) -> None:
        for first, second in zip(arrays(draw()), arrays(draw()), strict=True):
            np.testing.assert_array_equal(first, second)

    def test_global_generator_untouched(self, draw: Draw) -> None:
        before = np.random.get_state(legacy=False)  # noqa: NPY002
        draw()
        after = np.random.get_state(legacy=False)  # noqa: NPY002
        np.testing.assert_array_equal(before["state"]["key"], after["state"]["key"])
        assert before["state"]["pos"] == after["state"]["pos"]

    def test_finite_columns_of_one_length(self, draw: Draw) -> None:
        for a in arrays(draw()):
            assert a.ndim == 2
            assert len(a) == 50
            assert np.isfinite(a).all()

    def test_truth_is_that_of_the_latents(self, draw: Draw) -> None:
        dataset = draw()
        assert dataset.truth == gaussian_truth(dataset.x.shape[1], dataset.rho)


class TestPaper:
    # First rows of a few datasets, pinned when the oracle's estimates followed the authors' published ones,
    # dataset by dataset (correlations up to 0.99): these are their data.
    def test_first_row_mi(self) -> None:
        dataset = paper_mi(200, 2, 0.75, 3)
        np.testing.assert_allclose(dataset.latent_x[0], [-1.63899173, 1.06716174], rtol=1e-6)
        np.testing.assert_allclose(dataset.latent_y[0], [-1.70722574, -0.25052659], rtol=1e-6)
        np.testing.assert_allclose(dataset.x[0], [-2.76491449, 1.80025982], rtol=1e-6)  # linear
        np.testing.assert_allclose(dataset.y[0], [-4.58623179, -0.01449254], rtol=1e-6)  # cube

    def test_first_row_cmi(self) -> None:
        dataset = paper_cmi(200, 2, 0.5, 1)
        np.testing.assert_allclose(dataset.latent_x[0], [-1.67081023, 0.00668772], rtol=1e-5)
        np.testing.assert_allclose(dataset.x[0], [0.88223797, 1.41614305], rtol=1e-6)  # log
        np.testing.assert_allclose(dataset.y[0], [-0.24639445, -0.22741638], rtol=1e-6)
        assert dataset.z is not None
        np.testing.assert_allclose(dataset.z[0], [0.01489182, -0.00386648], rtol=1e-5)

    def test_first_row_cit(self) -> None:
        dataset = paper_cit(150, 5, 200)
        assert dataset.rho == pytest.approx(-0.9086397053250308, rel=1e-12)
        np.testing.assert_allclose(dataset.latent_x[0], [0.3095221], rtol=1e-6)
        np.testing.assert_allclose(dataset.x[0], [1.41093742], rtol=1e-6)
        np.testing.assert_allclose(dataset.y[0], [1.28514464], rtol=1e-6)

    def test_latents_come_first(self) -> None:
        mi, cmi = paper_mi(30, 2, 0.75, 9), paper_cmi(30, 2, 0.75, 9)
        np.testing.assert_array_equal(mi.latent_x, cmi.latent_x)
        np.testing.assert_array_equal(mi.latent_y, cmi.latent_y)
        rng = np.random.RandomState(9)
        cov = np.kron([[1, 0.75], [0.75, 1]], np.eye(2))
        expected = rng.multivariate_normal(np.zeros(4), cov, size=30)
        np.testing.assert_array_equal(np.hstack([mi.latent_x, mi.latent_y]), expected)

    def test_x_is_distorted_before_y(self) -> None:
        """Seed 7 draws two linear functions: each draws its slope when it is applied."""
        dataset = paper_mi(5, 1, 0.5, 7)
        assert dataset.x.std() == pytest.approx(0.3186854244306292, rel=1e-9)
        assert dataset.y.std() == pytest.approx(0.7186620787543886, rel=1e-9)

    def test_all_distortions_are_drawn_and_monotone(self) -> None:
        signs = set()
        for seed in datasets.SEEDS:
            dataset = paper_mi(40, 2, 0.5, seed)
            agreement = rank_agreement(dataset.latent_x.ravel(), dataset.x.ravel())
            assert abs(agreement) == pytest.approx(1)
            signs.add(round(agreement))
        assert signs == {-1, 1}

    def test_z_hardly_matters(self) -> None:
        dataset = paper_cmi(500, 2, 0.75, 0)
        assert dataset.z is not None
        assert 0.002 < dataset.z.std() < 0.02

    def test_dz(self) -> None:
        default, wide = paper_cmi(20, 3, 0.5, 0), paper_cmi(20, 3, 0.5, 0, dz=7)
        assert default.z is not None
        assert wide.z is not None
        assert default.z.shape == (20, 3)
        assert wide.z.shape == (20, 7)

    def test_cit_halves(self) -> None:
        correlations = np.array([paper_cit(i, 1, 2).rho for i in datasets.CIT_TRIALS])
        assert (correlations[:100] == 0).all()
        assert (np.abs(correlations[100:]) >= 0.1).all()
        assert (np.abs(correlations[100:]) < 0.99).all()
        assert 30 < (correlations[100:] > 0).sum() < 70
        assert paper_cit(0, 1, 2).truth == 0

    def test_grid(self) -> None:
        assert datasets.CELLS == ((200, 2), (200, 20), (1000, 2), (1000, 20))
        assert len(datasets.CORRELATIONS) * len(datasets.SEEDS) == 350
        assert datasets.CIT_DIMENSIONS == (5, 8, 11, 14, 17, 20)

    def test_truth_by_hand(self) -> None:
        # The first row of the authors' own table: n = 200, d = 2, rho = -0.99.
        assert paper_mi(5, 2, -0.99, 16).truth == pytest.approx(3.9170355472516896, rel=1e-12)
        assert paper_mi(5, 20, 0.0, 0).truth == 0


@pytest.mark.parametrize("name", conditional.FAMILIES)
class TestConditional:
    def test_z_hides_the_truth_from_a_linear_estimate(self, name: str) -> None:
        dataset = conditional.sample(name, 2000, 5, 0.9, seed=100)
        assert oracle(dataset.latent_x, dataset.latent_y) == pytest.approx(dataset.truth, abs=0.08)
        assert abs(gaussian_copula(dataset.x, dataset.y, dataset.z) - dataset.truth) > 0.08

    def test_increasing_or_decreasing_in_the_noise_given_z(self, name: str) -> None:
        """Noise moved, z kept: the rows of x follow, so that x is one-to-one in its latent."""
        first, second = (conditional.sample(name, 400, 3, rho, seed=100) for rho in (0.3, -0.3))
        np.testing.assert_array_equal(first.x, second.x)
        np.testing.assert_array_equal(first.z, second.z)
        up = first.latent_y > second.latent_y
        rise = first.y > second.y
        assert (rise == up).all() or (rise == ~up).all()

    @pytest.mark.parametrize("dz", conditional.DIMENSIONS)
    def test_shapes(self, name: str, dz: int) -> None:
        dataset = conditional.sample(name, 30, dz, 0.5, seed=100)
        assert dataset.x.shape == dataset.y.shape == (30, 1)
        assert dataset.z is not None
        assert dataset.z.shape == (30, dz)
        assert dataset.truth == pytest.approx(-0.5 * np.log(0.75))


def test_unknown_family() -> None:
    with pytest.raises(ValueError, match="name must be one of sine-index"):
        conditional.sample("nonesuch", 10, 1, 0.0, seed=0)


@pytest.mark.parametrize("shape", conditional.SHAPES)
def test_shaped_noises_depend_without_correlation(shape):
    data = conditional.shaped_sample(shape, 20_000, 3, seed=0)
    again = conditional.shaped_sample(shape, 20_000, 3, seed=0)
    assert np.array_equal(data.x, again.x)
    assert np.array_equal(data.z, again.z)
    u, v = data.latent_x[:, 0], data.latent_y[:, 0]
    assert abs(np.corrcoef(u, v)[0, 1]) < 0.05
    assert max(abs(np.corrcoef(u * u, w)[0, 1]) for w in (v, v * v)) > 0.1
    assert np.isnan(data.truth)

"""What every base promises, whichever it is, and how log-ratios of held-out rows are mixed."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import t

from pydine import DINE, mutual_information
from pydine.bases.base import mean_and_error, mixed, or_independent
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase
from pydine.bases.student import StudentBase
from pydine.kernels.mixing import mixture_weights
from pydine.sampling import INDEPENDENT
from pydine.units.ladder import LadderSettings
from shapes import (
    flow_of,
    gaussian,
    gaussian_truth,
    given_z,
    latents_of,
    parabola,
    parabola_truth,
    ring_truth,
    student,
    student_entropy,
    student_truth,
)

NAMES = ("gaussian", "student", "flow")
BASES = {"gaussian": GaussianBase(), "student": StudentBase(), "flow": FlowBase(LadderSettings())}


@pytest.mark.slow
def test_the_truths_agree_with_each_other():
    """A Student vector of many degrees of freedom is Gaussian; a parabola of much noise is a flat line."""
    assert student_truth(3, 1e7, 0.6) == pytest.approx(gaussian_truth(3, 0.6), abs=1e-5)
    assert student_entropy(1, 3.0, 0.0) == pytest.approx(t(3.0).entropy(), abs=1e-6)
    assert parabola_truth(5.0) == pytest.approx(0.5 * np.log1p(2.0 / 25.0), abs=0.01)
    assert parabola_truth(0.1) > parabola_truth(0.7) > ring_truth(0.2) > ring_truth(0.4) > 0.0


class TestMixing:
    def test_no_row_has_a_say_in_its_own_weights(self):
        rng = np.random.default_rng(0)
        held, folds = rng.standard_normal((3, 90)), INDEPENDENT.folds(np.arange(90), 3)
        ratios, weights = mixed(held, folds)
        np.testing.assert_allclose(weights, mixture_weights(held), rtol=1e-12)
        for rows, _ in folds:
            others = mixture_weights(np.ascontiguousarray(np.delete(held, rows, axis=1)))
            expected = logsumexp(held[:, rows], b=others[:, None], axis=0)
            np.testing.assert_allclose(ratios[rows], expected, rtol=1e-10, atol=1e-12)

    def test_noise_is_mixed_with_independence(self):
        rng = np.random.default_rng(0)
        folds = INDEPENDENT.folds(np.arange(300), 3)
        assert np.abs(or_independent(-2.0 - rng.random(300), folds)).max() < 0.01
        np.testing.assert_allclose(or_independent(np.full(300, 2.0), folds), 2.0, atol=0.01)

    def test_means_and_standard_errors(self):
        values = np.resize([0.0, 2.0], 100)
        assert mean_and_error(values) == (1.0, 0.1)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


RIGHT = {"gaussian": gaussian, "student": student, "flow": parabola}  # data of the kind that a base is for


def blocks(name, n, seed=0):
    return *RIGHT[name](n, seed=seed), np.empty((n, 0))


@pytest.fixture(scope="module")
def maps_and_latents(name):
    return flow_of(*blocks(name, 600), LadderSettings(), by_column=True)


@pytest.fixture(scope="module")
def latents(maps_and_latents):
    return maps_and_latents[1]


@pytest.fixture(scope="module")
def fitted(name, latents):
    return BASES[name].fit(latents)


class TestContract:
    """What every base promises."""

    def test_what_it_returns(self, name, fitted, latents):
        assert fitted.name == name
        assert np.isfinite(fitted.value)
        assert fitted.standard_error > 0.0
        assert fitted.held_out.shape == (latents.n_rows,)
        assert np.isfinite(fitted.held_out).all()

    def test_rows_that_were_seen_are_predicted_better(self, fitted, latents):
        assert fitted.held_out.mean() < fitted.log_ratio(latents.both, latents.z).mean()

    def test_log_ratio_is_close_to_held_out(self, fitted, latents):
        """Models of all rows and models of two thirds of them: the same rows stand out, by much the same."""
        seen = fitted.log_ratio(latents.both, latents.z)
        assert seen.shape == fitted.held_out.shape
        assert np.median(np.abs(seen - fitted.held_out)) < 0.1
        assert np.corrcoef(seen, fitted.held_out)[0, 1] > 0.9

    def test_held_out_is_the_value_or_less(self, fitted):
        """The mean log-ratio of held-out rows estimates the information from below."""
        assert fitted.value - 0.1 < fitted.held_out.mean() < fitted.value + 0.02

    def test_new_rows(self, name, fitted, maps_and_latents):
        """Their mean log-ratio is the information, within the errors of both samples."""
        new = fitted.log_ratio(*maps_and_latents[0].rows(*blocks(name, 4000, seed=1)))
        assert new.mean() == pytest.approx(fitted.value, abs=3.0 * fitted.standard_error)

    def test_noise_is_nothing(self, name):
        """In 5 x 5 dimensions 100 rows suggest a lot; rows that were not seen show that it is nothing."""
        latents = latents_of(*gaussian(100, 5, 0.0))
        fitted = BASES[name].fit(latents)
        assert abs(fitted.held_out.mean()) < 0.02
        assert abs(fitted.value) < 0.05
        assert GaussianBase().fit(latents).log_ratio(latents.both, latents.z).mean() > 0.1

    def test_the_same_latents_the_same_numbers(self, name, fitted, latents):
        again = BASES[name].fit(latents)
        assert again.value == fitted.value
        np.testing.assert_array_equal(again.held_out, fitted.held_out)

    @pytest.mark.slow
    @pytest.mark.parametrize("n_jobs", [2, -1])
    def test_threads(self, name, n_jobs):
        x, y, z = given_z(*parabola(300))
        alone, together = (DINE(base=name, n_jobs=n).fit(x, y, z) for n in (None, n_jobs))
        assert alone.information_ == together.information_
        np.testing.assert_array_equal(alone.pointwise(x, y, z), together.pointwise(x, y, z))

    def test_pickles(self, name):
        x, y = parabola(300)
        model = DINE(base=name).fit(x, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.information_ == model.information_
        assert dict(again.information_.details) == dict(model.information_.details)
        np.testing.assert_array_equal(again.pointwise(x, y), model.pointwise(x, y))
        assert again.score(x, y) == model.score(x, y)

    def test_after_the_papers_flows(self, name):
        """The paper's framework is the same with every base; on a parabola only the flow sees anything."""
        estimate = DINE.paper(base=name).fit(*parabola(600)).information_
        assert estimate.base == name
        assert (estimate.value > 0.3) == (name == "flow")


MAPS = {"none": lambda a: a, "exp": np.exp, "cube": lambda a: a**3, "arctan": np.arctan}


@pytest.fixture(scope="module", params=["gaussian", "student", "shape"])
def columns(request):
    """x in two columns, y in one, z in one, and the estimate that auto chooses the base for."""
    if request.param == "shape":
        x, y, z = given_z(*parabola(300))
        x = np.hstack([x, np.random.default_rng(5).standard_normal((300, 1))])
    else:
        x, y = student(300, 2, 1.0) if request.param == "student" else gaussian(300, 2)
        x, y, z = given_z(x, y[:, :1])
    estimate = mutual_information(x, y, z)
    assert estimate.base in (("mixture", "flow") if request.param == "shape" else (request.param,))
    return np.hstack([x, y, z]), estimate


@pytest.mark.slow
@settings(deadline=None, max_examples=6)
@given(maps=st.lists(st.sampled_from(sorted(MAPS)), min_size=4, max_size=4).filter(lambda m: set(m) != {"none"}))
def test_increasing_maps_of_any_column_change_nothing(columns, maps):
    before, expected = columns
    centred = before / np.abs(before).max(axis=0)  # so that exp and arctan of heavy tails stay apart
    x0, x1, y, z = (MAPS[name](column) for name, column in zip(maps, centred.T, strict=True))
    estimate = mutual_information(np.column_stack([x0, x1]), y, z)
    assert estimate.base == expected.base
    assert estimate.value == pytest.approx(expected.value, abs=1e-6)
    assert estimate.standard_error == pytest.approx(expected.standard_error, abs=1e-6)


class TestFewRows:
    @pytest.mark.parametrize("base", ["student", "flow"])
    def test_a_named_base_says_how_many_it_needs(self, base):
        x, y = gaussian(40, 10)
        with pytest.raises(ValueError, match=rf"^base='{base}' .* needs about (\d+) more .* base='gaussian'") as caught:
            mutual_information(x, y, base=base)
        assert "the 40 rows of x and y" in str(caught.value)
        assert str(caught.value).count(". ") == 0
        more = 40 + int(str(caught.value).partition("about ")[2].split()[0])
        assert np.isfinite(mutual_information(*gaussian(more, 10), base=base).value)

    def test_auto_takes_the_closed_form(self):
        x, y = gaussian(40, 10)
        auto, plain = mutual_information(x, y), mutual_information(x, y, base="gaussian")
        assert auto == plain
        assert "held_out" not in auto.details

    @pytest.mark.parametrize("base", ["student", "flow", "auto"])
    def test_a_few_more_are_enough(self, base):
        estimate = mutual_information(*gaussian(25), base=base)
        assert np.isfinite([estimate.value, estimate.standard_error]).all()


class TestWhereDensitiesAreAtRisk:
    """Ties, columns on one grid of ranks, and rows far out: a density can be made as high as one likes there."""

    @pytest.mark.filterwarnings("ignore::pydine.TiesWarning")
    @pytest.mark.parametrize("values", [2, 5, 10])
    @pytest.mark.parametrize("base", ["auto", "flow", "student"])
    def test_independent_integers(self, values, base):
        x, y = np.random.default_rng(0).integers(0, values, (2, 500)).astype(float)
        assert abs(mutual_information(x, y, base=base).value) < 0.03

    @pytest.mark.filterwarnings("ignore::pydine.TiesWarning")
    @pytest.mark.slow
    def test_a_binary_column_given_z(self):
        rng = np.random.default_rng(1)
        z = rng.standard_normal((1000, 2))
        x = z[:, 0] + rng.standard_normal(1000)
        y = (z[:, 0] + rng.standard_normal(1000) > 0).astype(float)
        assert abs(mutual_information(x, y, z).value) < 0.03

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::pydine.TiesWarning")
    def test_integers_tell_what_they_tell(self):
        """A parabola in integers, by a count of cells; a smooth flow falls short of the edges of what is spread."""
        rng = np.random.default_rng(2)
        x = rng.integers(-3, 4, 4000)
        y = x * x + rng.integers(0, 3, 4000)
        cells = np.zeros((7, 12))
        np.add.at(cells, (x + 3, y), 1 / 4000)
        alone = np.outer(cells.sum(axis=1), cells.sum(axis=0))
        counted = cells[cells > 0] @ np.log(cells[cells > 0] / alone[cells > 0])
        assert 0.7 * counted < mutual_information(x.astype(float), y.astype(float)).value < counted + 0.05

    @pytest.mark.parametrize(("n", "noise"), [(500, 1e-3), (1000, 1e-3), (500, 3e-3)])
    def test_noise_finer_than_the_ranks(self, n, noise):
        x, e = np.random.default_rng(0).standard_normal((2, n))
        assert mutual_information(x, x + noise * e).value < -np.log(noise) + 0.1

    @pytest.mark.parametrize("base", ["gaussian", "student", "flow"])
    def test_rows_far_out_and_no_rows(self, base):
        x, y = np.random.default_rng(3).standard_normal((2, 300))
        model = DINE(base=base).fit(x, x + y)
        assert np.isfinite(model.pointwise([1e6, -1e100, 0.0], [1.0, 1e100, 1.0])).all()
        assert -np.inf < model.score([1e6, -1e100], [1.0, 1e100]) < 0.0
        assert model.pointwise(x[:0], y[:0]).shape == (0,)

    def test_a_row_does_not_depend_on_its_neighbours(self):
        x, y = np.random.default_rng(4).standard_t(3, (2, 300))
        model = DINE(base="student").fit(x, x + y)
        np.testing.assert_array_equal(model.pointwise(x, y)[:5], model.pointwise(x[:5], y[:5]))

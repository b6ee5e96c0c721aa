"""Pointwise information: what each row contributes, where it stands in the data, and how it is drawn."""

import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_t, norm, t

from pydine import DINE, InformationEstimate, PointwiseInformation, mutual_information, pointwise_information
from pydine.latents.scores import ScoreMap

mpl.use("Agg")

import matplotlib.pyplot as plt

BASES = ("gaussian", "student", "flow")
SHAPED = ("mixture", "flow")  # either may be heavier where there is a shape


def gaussian(n, rho=0.8, seed=0):
    x, e = np.random.default_rng(seed).standard_normal((2, n))
    return x, rho * x + np.sqrt(1.0 - rho * rho) * e


def gaussian_truth(x, y, rho=0.8):
    """ln p(y | x) - ln p(y)."""
    return norm.logpdf(y, rho * x, np.sqrt(1.0 - rho * rho)) - norm.logpdf(y)


def student(n, seed=0):
    return tuple(multivariate_t(shape=[[1.0, 0.7], [0.7, 1.0]], df=2.0, seed=seed).rvs(n).T)


def student_truth(x, y):
    joint = multivariate_t(shape=[[1.0, 0.7], [0.7, 1.0]], df=2.0).logpdf(np.column_stack([x, y]))
    return joint - t.logpdf(x, 2.0) - t.logpdf(y, 2.0)


def parabola(n, seed=0):
    x, e = np.random.default_rng(seed).standard_normal((2, n))
    return x, x**2 + 0.5 * e


def parabola_truth(x, y):
    """The density of y is an integral over x."""
    place = np.linspace(-7.0, 7.0, 2001)
    density = norm.pdf(y[:, None], place**2, 0.5) @ norm.pdf(place) * (place[1] - place[0])
    return norm.logpdf(y, x**2, 0.5) - np.log(density)


def half(n, seed=0):
    """The first half of the rows depend, the second half do not."""
    rng = np.random.default_rng(seed)
    x, e = rng.standard_normal((2, n))
    return x, np.where(np.arange(n) < n // 2, x + 0.3 * e, rng.standard_normal(n))


KNOWN = {
    "gaussian": (gaussian, gaussian_truth),
    "student": (student, student_truth),
    "flow": (parabola, parabola_truth),
}


@pytest.fixture(scope="module", params=BASES)
def known(request):
    """Data, the true values, and what was made of them."""
    draw, truth = KNOWN[request.param]
    x, y = draw(1500)
    pointwise = pointwise_information(x, y)
    assert pointwise.estimate.base in SHAPED if request.param == "flow" else pointwise.estimate.base == request.param
    return (x, y), truth(x, y), pointwise


class TestValues:
    @pytest.mark.slow
    def test_row_by_row_they_are_near_the_truth(self, known):
        _, truth, pointwise = known
        assert np.corrcoef(pointwise.values, truth)[0, 1] > 0.9
        assert np.median(np.abs(pointwise.values - truth)) < 0.15

    @pytest.mark.slow
    def test_their_mean_is_near_the_estimate(self, known):
        _, truth, pointwise = known
        by_neighbours = pointwise.estimate.details.get("by_neighbours", 0.0)  # no row's, but all rows' together
        assert pointwise.values.mean() == pytest.approx(pointwise.estimate.value - by_neighbours, abs=0.03)
        assert pointwise.values.mean() == pytest.approx(truth.mean(), abs=0.05)

    def test_shapes(self, known):
        _, _, pointwise = known
        assert isinstance(pointwise, PointwiseInformation)
        assert pointwise.values.shape == (1500,)
        np.testing.assert_array_equal(pointwise.rows, np.arange(1500))
        assert [side.shape for side in pointwise.latents] == [(1500, 1), (1500, 1)]

    def test_the_estimate_is_that_of_the_function(self, known):
        data, _, pointwise = known
        assert isinstance(pointwise.estimate, InformationEstimate)
        assert pointwise.estimate == mutual_information(*data)

    def test_models_have_not_seen_the_row(self):
        """40 rows of pure noise in 3 x 3 dimensions: no one can predict them, though the closed form fits them."""
        x, y = np.random.default_rng(0).standard_normal((2, 40, 3))
        assert pointwise_information(x, y, base="gaussian").values.mean() < 0.05
        assert DINE(base="gaussian").fit(x, y).pointwise(x, y).mean() > 0.1

    def test_parameters_are_passed_on(self):
        x, y = half(300)
        z = np.random.default_rng(3).standard_normal(300)
        named = pointwise_information(x, y, z, base="student", random_state=3, n_jobs=2)
        assert named.estimate == mutual_information(x, y, z, base="student", random_state=3)
        assert named.estimate.dimensions == (1, 1, 1)
        np.testing.assert_array_equal(
            named.values, pointwise_information(x, y, z, base="student", random_state=3).values
        )
        with pytest.raises(ValueError, match=r"^base must be"):
            pointwise_information(x, y, base="cauchy")


class TestFewRowsThatDiffer:
    @pytest.mark.parametrize("base", ["gaussian", "student", "flow", "auto"])
    def test_near_copies(self, base):
        """Two columns of x that differ in two rows: whichever fold has these, the others see one column twice."""
        x, y = gaussian(60, 0.5)
        copy, (first, second) = x.copy(), np.argsort(x)[[28, 29]]
        copy[[first, second]] = x[[second, first]]
        found = pointwise_information(np.column_stack([x, copy]), y, base=base)
        assert np.isfinite(found.values).all()
        assert found.estimate == mutual_information(np.column_stack([x, copy]), y, base=base)

    @pytest.mark.filterwarnings("ignore::pydine.TiesWarning")
    @pytest.mark.parametrize("given", [False, True])
    def test_a_column_that_is_constant_but_for_one_row(self, given):
        x, y = gaussian(60, 0.5)
        spike = np.where(np.arange(60) == 11, 1.0, 0.0)
        question = (spike, y, x) if given else (np.column_stack([spike, x]), y)
        assert np.isfinite(pointwise_information(*question).values).all()


class TestRows:
    def test_which_rows_carry_it(self):
        x, y = half(1000)
        pointwise = pointwise_information(x, y)
        assert (pointwise.top(100) < 500).mean() > 0.75
        assert pointwise.values[:500].mean() > pointwise.values[500:].mean() + 0.5

    def test_top(self):
        estimate = InformationEstimate(0.1, 0.01, "gaussian", 4, (1, 1, 0))
        values, rows = np.array([0.2, -1.0, 3.0, 0.2]), np.array([0, 2, 5, 9])
        latents = (np.zeros((4, 1)), np.zeros((4, 1)))
        pointwise = PointwiseInformation(values, rows, latents, estimate)
        assert pointwise.top(2).tolist() == [5, 0]  # of equals the first
        assert pointwise.top().tolist() == [5, 0, 9, 2]
        assert pointwise.top(0).tolist() == []

    def test_repr(self):
        """The estimate's own sentence, and how the rows share it."""
        pointwise = pointwise_information(*half(300))
        share = (pointwise.values > 0.0).mean()
        assert repr(pointwise) == (
            f"{pointwise.estimate!r}; {share:.0%} of the rows are above zero, "
            f"the largest is {pointwise.values.max():.3f} nats"
        )

    @pytest.mark.parametrize("base", BASES)
    def test_rows_left_out(self, base):
        """Values stand beside the rows of the data that they belong to, whatever was left out."""
        x, y = (column.copy() for column in gaussian(300))
        expected = pointwise_information(np.delete(x, [3, 7, 250]), np.delete(y, [3, 7, 250]), base=base)
        x[3], x[7], y[7], y[250] = np.nan, np.inf, np.nan, -np.inf
        pointwise = pointwise_information(x, y, base=base, nan_policy="omit")
        assert pointwise.rows.tolist() == [i for i in range(300) if i not in (3, 7, 250)]
        np.testing.assert_array_equal(pointwise.values, expected.values)
        assert pointwise.estimate.n_dropped == 3
        assert set(pointwise.top(300)) == set(pointwise.rows)
        ranked = pointwise.values[np.searchsorted(pointwise.rows, pointwise.top(300))]
        assert (np.diff(ranked) <= 0.0).all()

    def test_a_row_that_goes_against_it(self):
        """One row of a strong dependence with its sign changed: the least of all."""
        x, y = (column.copy() for column in gaussian(500, 0.95))
        odd = int(np.argmax(x))
        y[odd] = -y[odd]
        pointwise = pointwise_information(x, y)
        assert int(np.argmin(pointwise.values)) == odd
        assert pointwise.values[odd] < -2.0
        assert pointwise.top(500)[-1] == odd

    def test_names(self):
        frame = pd.DataFrame(np.column_stack(half(200)), columns=["bmi", "target"])
        assert repr(pointwise_information("bmi", "target", data=frame)).startswith("I(bmi; target) = ")


class TestEstimator:
    @pytest.mark.parametrize("base", BASES)
    def test_new_rows(self, base):
        """Those of a fit tell how new rows show the dependence."""
        draw, truth = KNOWN[base]
        model = DINE(base=base).fit(*draw(1000))
        x, y = draw(500, seed=1)
        inside = (np.abs(x) < 2.5) & (np.abs(y) < 2.5)
        values = model.pointwise(x, y)
        assert values.shape == (500,)
        assert np.corrcoef(values[inside], truth(x, y)[inside])[0, 1] > 0.9

    @pytest.mark.parametrize("base", BASES)
    def test_rows_are_taken_one_by_one(self, base):
        x, y = parabola(300)
        model = DINE(base=base).fit(x, y)
        whole = model.pointwise(x, y)
        alone = np.concatenate([model.pointwise(x[i : i + 1], y[i : i + 1]) for i in range(20)])
        np.testing.assert_allclose(alone, whole[:20], atol=1e-4)

    def test_other_numbers_of_columns(self):
        x, y = gaussian(100)
        with pytest.raises(ValueError, match=r"^z must have 0 column.* has 1"):
            DINE().fit(x, y).pointwise(x, y, x)


class TestScore:
    @pytest.mark.parametrize("base", BASES)
    def test_it_is_the_joint_likelihood_of_normal_scores(self, base):
        """ln p(x) + ln p(y) plus pointwise information, from SciPy's normal density."""
        x, y = parabola(300)
        model = DINE(base=base).fit(x, y)
        alone = sum(norm.logpdf(ScoreMap.fit(column)[1]) for column in (x, y))
        assert model.score(x, y) == pytest.approx((alone + model.pointwise(x, y)).mean(), abs=1e-5)

    def test_known_truth(self):
        """Of two standard normal columns with a correlation of 0.8: -ln(2 pi e) less the logarithm of what is left."""
        model = DINE().fit(*gaussian(2000))
        expected = -np.log(2.0 * np.pi * np.e) - 0.5 * np.log(1.0 - 0.64)
        assert model.score(*gaussian(4000, seed=1)) == pytest.approx(expected, abs=0.05)

    @pytest.mark.parametrize("best", ["student", "flow"])
    def test_new_rows_prefer_the_base_that_is_right(self, best):
        draw, _ = KNOWN[best]
        plainer = BASES[: BASES.index(best)]
        scores = {base: DINE(base=base).fit(*draw(1000)).score(*draw(4000, seed=1)) for base in (*plainer, best)}
        assert all(scores[best] > scores[base] + 0.05 for base in plainer)

    def test_increasing_maps_change_nothing(self):
        """A density of ranks; beyond the rows of the fit the map is a line, so new rows stay within."""
        x, y = parabola(400)
        inside = np.abs(x) < 1.5
        plain, mapped = DINE().fit(x, y), DINE().fit(np.exp(x), y)
        assert mapped.score(np.exp(x[inside]), y[inside]) == pytest.approx(plain.score(x[inside], y[inside]), abs=1e-6)


@pytest.fixture
def figures():
    """No figure is left open."""
    yield
    plt.close("all")


@pytest.mark.usefixtures("figures")
class TestPlot:
    def test_axes_and_labels(self):
        frame = pd.DataFrame(np.column_stack(parabola(300)), columns=["dose", "effect"])
        pointwise = pointwise_information("dose", "effect", data=frame)
        axes = pointwise.plot()
        assert isinstance(axes, plt.Axes)
        assert axes.get_xlabel() == "dose, normal score"
        assert axes.get_ylabel() == "effect, normal score"
        assert axes.get_title() == f"{pointwise.estimate.value:.3f} nats in 300 rows ({pointwise.estimate.base} base)"
        assert axes.figure.axes[1].get_ylabel() == "pointwise information (nats)"
        axes.figure.canvas.draw()

    def test_what_is_drawn(self):
        """Every row at its latents, in the colour of its value."""
        pointwise = pointwise_information(*half(200))
        (points,) = pointwise.plot().collections
        drawn = np.column_stack([points.get_offsets(), points.get_array()])
        x, y = pointwise.latents
        expected = np.column_stack([x[:, 0], y[:, 0], pointwise.values])
        np.testing.assert_allclose(drawn[np.argsort(drawn[:, 0])], expected[np.argsort(expected[:, 0])], atol=1e-12)

    def test_given_axes_and_given_z(self):
        x, y = half(200)
        _, axes = plt.subplots()
        z = np.random.default_rng(1).standard_normal((200, 2))
        assert pointwise_information(np.column_stack([x, z[:, 0] ** 2]), y, z).plot(axes) is axes
        assert axes.get_xlabel() == "x0 given z0, z1, normal score"
        assert len(plt.get_fignums()) == 1

    @pytest.mark.parametrize("ask", [pointwise_information, mutual_information])
    def test_original_units(self, ask):
        x, y = half(150)
        frame = pd.DataFrame({"dose": np.exp(3.0 * x), "reply": y, "age": np.random.default_rng(1).normal(size=150)})
        axes = ask("dose", "reply", "age", data=frame).plot(units="original")
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("dose", "reply")
        drawn = axes.collections[0].get_offsets()
        np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(frame["dose"]))
        given = ask("dose", "reply", "age", data=frame).plot()
        assert given.get_xlabel() == "dose given age, normal score"

    @pytest.mark.parametrize("ask", [pointwise_information, mutual_information])
    def test_partial_plots(self, ask):
        x, y = half(300)
        age = np.random.default_rng(1).normal(size=300)
        frame = pd.DataFrame({"dose": x + 3.0 * age**2, "reply": y - 2.0 * age, "age": age})
        found = ask("dose", "reply", "age", data=frame)
        axes = found.plot(units="partial")
        assert (axes.get_xlabel(), axes.get_ylabel()) == (
            "dose, residual given age",
            "reply, residual given age",
        )
        drawn = np.asarray(axes.collections[0].get_offsets())
        assert np.var(drawn[:, 0]) < 1.3 * np.var(x) < 0.3 * np.var(frame["dose"])
        scores, left = found.plot(units="both")
        assert "normal score" in scores.get_xlabel()
        assert left.get_xlabel() == "dose, residual given age"

    def test_labels_have_no_partial_plot(self):
        x, y = half(150)
        frame = {"x": x, "y": np.array(list("abc"))[np.digitize(y, [-0.5, 0.5])], "z": x + y}
        with pytest.raises(ValueError, match="labels or angles"):
            pointwise_information("x", "y", "z", data=frame).plot(units="partial")

    def test_units_that_are_none(self):
        pointwise = pointwise_information(*half(100))
        with pytest.raises(ValueError, match="but got 'metres'"):
            pointwise.plot(units="metres")
        with pytest.raises(ValueError, match="stored without their values"):
            replace(pointwise, observed=None).plot(units="original")

    def test_many_rows_are_thinned(self):
        n = 25_000
        latents = tuple(np.random.default_rng(0).standard_normal((2, n, 1)))
        estimate = InformationEstimate(0.1, 0.01, "gaussian", n, (1, 1, 0))
        pointwise = PointwiseInformation(latents[0][:, 0], np.arange(n), latents, estimate)
        axes = pointwise.plot()
        assert len(axes.collections[0].get_offsets()) == 20_000
        assert "25,000 rows" in axes.get_title()

    def test_without_matplotlib(self, monkeypatch):
        pointwise = pointwise_information(*half(100))
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r'^plotting needs matplotlib: pip install "pydine\[plot\]"$'):
            pointwise.plot()

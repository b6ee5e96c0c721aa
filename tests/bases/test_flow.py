"""The flow base: shapes that no plain base follows, and what it keeps where a plain one is right."""

import numpy as np
import pytest

from pydine import DINE, independence_test, mutual_information, pointwise_information
from pydine.bases import stack as module
from pydine.bases.base import averaged
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.student import StudentBase
from pydine.units.ladder import LadderSettings
from pydine.work.cache import UnitCache
from shapes import gaussian, given_z, latents_of, parabola, parabola_truth, ring, ring_truth, student

BASE = FlowBase(LadderSettings())


def stacked(latents):
    """The plain bases, and mixtures of Gaussians."""
    return MixtureBase().stack([GaussianBase().fit(latents), StudentBase().fit(latents)], latents)


def directions(details):
    return {name for name in details["mixture"] if "given" in name}


class TestFlow:
    @pytest.mark.parametrize(
        ("make", "truth"),
        [(lambda: (*parabola(2000), None), parabola_truth(0.7)), (lambda: (*ring(2000), None), ring_truth(0.2))],
        ids=["parabola", "ring"],
    )
    def test_shapes_without_correlation(self, make, truth):
        estimate = mutual_information(*make(), base="flow")
        assert truth - 0.07 < estimate.value < truth + 0.03
        assert abs(mutual_information(*make(), base="gaussian").value) < 0.02

    @pytest.mark.slow
    def test_given_z(self):
        data = given_z(*parabola(2000, seed=1))
        estimate = mutual_information(*data, base="flow")
        assert estimate.value == pytest.approx(parabola_truth(0.7), abs=0.05)  # sampling alone moves it by 0.02
        assert abs(mutual_information(*data, base="gaussian").value) < 0.02

    @pytest.mark.parametrize("d", [1, 3])
    def test_on_gaussian_data_it_keeps_the_closed_form(self, d):
        """What flows fall short of is not taken off: the plain base anchors the value."""
        x, y = gaussian(500, d)
        flow, plain = (mutual_information(x, y, base=base) for base in ("flow", "gaussian"))
        assert flow.value == pytest.approx(plain.value, abs=0.5 * plain.standard_error)

    @pytest.mark.parametrize("make", [gaussian, student, parabola])
    def test_the_anchor(self, make):
        """The average of the plain bases, and by how much the stack is above it, as rows are held out and as seen."""
        latents = latents_of(*make(400))
        stack = stacked(latents)
        flow, anchor = (
            BASE.fit_beside(stack, latents),
            averaged([GaussianBase().fit(latents), StudentBase().fit(latents)]),
        )
        assert set(flow.details["mixture"]) >= {"gaussian", "student"}
        held_out = flow.held_out - anchor.held_out
        seen = flow.log_ratio(latents.both, latents.z) - anchor.log_ratio(latents.both, latents.z)
        assert flow.value - anchor.value == pytest.approx(0.5 * (held_out + seen).mean(), abs=0.01)
        assert flow.standard_error >= anchor.standard_error
        assert BASE.fit(latents).value == flow.value

    @pytest.mark.parametrize(("dx", "dy", "expected"), [(2, 1, "y given x"), (1, 2, "x given y")])
    def test_the_side_with_fewer_columns_is_predicted(self, dx, dy, expected):
        x, y = np.random.default_rng(0).standard_normal((2, 400, 2))[:, :, : max(dx, dy)]
        x, y = x[:, :dx], y[:, :dy]
        if dx > dy:
            y = x[:, :1] * x[:, 1:] + 0.5 * y
        else:
            x = y[:, :1] * y[:, 1:] + 0.5 * x
        details = mutual_information(x, y, base="flow").details
        assert directions(details) == {expected}
        assert details["mixture"][expected] > 0.1

    def test_sides_of_equal_size(self):
        """Flows of one side where they see more than the rest of the stack; otherwise none, or one."""
        rng = np.random.default_rng(0)
        x = rng.uniform(-1.0, 1.0, 500)
        waved = mutual_information(x, np.sin(6.0 * x) + 0.3 * rng.standard_normal(500), base="flow").details
        plain = mutual_information(*gaussian(500), base="flow").details
        assert len(directions(waved)) == 1
        assert len(directions(plain)) <= 1
        for details in (waved, plain):
            assert sum(details["mixture"].values()) == pytest.approx(1.0, abs=1e-9)

    @pytest.mark.slow
    def test_interaction(self):
        """Neither column of x alone tells anything about the mean of y; together they do."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((1500, 2))
        y = x[:, :1] * x[:, 1:] + 0.4 * rng.standard_normal((1500, 1))
        both = mutual_information(x, y, base="flow").value
        alone = mutual_information(x[:, 0], y, base="flow").value
        assert both > alone + 0.4

    @pytest.mark.slow
    def test_directions_have_the_names_of_the_caller(self):
        """Whichever side a base sees first: the names change with the sides, and nothing else does."""
        rng = np.random.default_rng(1)
        x = rng.uniform(-1.0, 1.0, 400)
        y = np.sin(6.0 * x) + 0.3 * rng.standard_normal(400)
        one, other = (mutual_information(*sides, base="flow").details["mixture"] for sides in ((x, y), (y, x)))
        (first,), (second,) = ([name for name in found if "given" in name] for found in (one, other))
        assert {first, second} == {"x given y", "y given x"}
        assert other[second] == pytest.approx(one[first], abs=1e-6)
        assert one[first] > 0.01

    def test_a_cache_changes_nothing(self):
        latents, cache = latents_of(*parabola(300)), UnitCache()
        plain, first, again = (FlowBase(LadderSettings(), cache=c).fit(latents) for c in (None, cache, cache))
        assert plain.value == first.value == again.value
        assert cache.info().hits == cache.info().misses > 0


class TestDirections:
    def test_they_join_by_how_much_they_could_see(self, monkeypatch):
        """From not at all to in full: the value moves from that of the stack without flows, without a jump."""
        latents, values = latents_of(*parabola(300)), {}
        stack, cached = stacked(latents), FlowBase(LadderSettings(), cache=UnitCache())
        for joined in (0.0, 1e-6, 0.5, 1.0):
            monkeypatch.setattr(module, "evidence", lambda *_, joined=joined, **__: joined)
            fitted = cached.fit_beside(stack, latents)
            values[joined] = fitted.value
            assert sum(fitted.details["mixture"].values()) == pytest.approx(1.0, abs=1e-9)
            assert len(directions(fitted.details)) == (1 if joined else 0)
        assert values[0.0] == stack.as_base("flow").value
        assert values[1e-6] == pytest.approx(values[0.0], abs=1e-5)
        assert min(values[0.0], values[1.0]) - 0.01 < values[0.5] < max(values[0.0], values[1.0]) + 0.01

    @pytest.mark.slow
    def test_steadier_is_no_shape(self):
        """Twelve columns a side of which one pair is related: to leave the others out predicts rows better."""
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((2, 900, 12))
        y[:, 0] += x[:, 0]
        estimate = mutual_information(x, y)
        assert abs(estimate.value - 0.5 * np.log(2.0)) < 2.0 * estimate.standard_error


class TestManyRows:
    @pytest.mark.parametrize("base", ["auto", "flow"])
    def test_flows_learn_from_some(self, base):
        x, y = parabola(1000)
        model = DINE(base=base, max_rows=250).fit(x, y)
        assert model.information_.base in ("mixture", "flow")
        assert model.information_.n_samples == 1000
        assert 0.35 < model.information_.value < 0.7
        assert model.pointwise(x, y).shape == (1000,)
        assert np.isfinite(model.pointwise(x, y)).all()

    @pytest.mark.parametrize("base", ["auto", "mixture"])
    def test_all_rows_have_a_say(self, base):
        """More rows than models learn from: the value is nearer the truth, and its interval says so."""
        x, y = ring(30_000)
        few, many = (DINE(base=base, max_rows=1500).fit(x[:n], y[:n]).information_ for n in (1500, 30_000))
        low, high = many.confidence_interval(0.95)
        assert low < ring_truth(0.2) < high
        sampling = [found.details["uncertainty"]["sampling"] for found in (few, many)]
        assert sampling[1] < 0.5 * sampling[0]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("make", "truth"),
        [(ring, ring_truth(0.2)), (parabola, parabola_truth(0.7))],
        ids=["ring", "parabola"],
    )
    def test_a_shape_that_the_closed_form_cannot_see(self, make, truth):
        """The defaults, beyond the rows that models learn from, where the Gaussian base says almost nothing."""
        x, y = make(100_000)
        estimate, test = mutual_information(x, y), independence_test(x, y, method="analytic")
        assert estimate.value == pytest.approx(truth, abs=0.02)
        assert estimate.standard_error < 0.02
        assert test.pvalue < 1e-6
        assert estimate.confidence_interval(0.95).low > 0.0

    def test_the_closed_form_is_of_all_rows(self):
        x, y = gaussian(1000)
        estimate = DINE(max_rows=250).fit(x, y).information_
        assert estimate.value == DINE(base="gaussian").fit(x, y).information_.value

    def test_a_cap_on_rows_is_said_where_it_binds(self):
        x, y = gaussian(1000)
        capped, free = (DINE(base="gaussian", max_rows=rows).fit(x, y).information_.details for rows in (250, 1000))
        assert capped["learned_rows"] == 250
        assert "learned_rows" not in free

    def test_pointwise_information_has_every_row(self, monkeypatch):
        """As with more than 30 000 rows, only sooner."""
        monkeypatch.setattr("pydine.answers.settings.Settings.ladder", few_rows)
        x, y = parabola(1000)
        pointwise = pointwise_information(x, y)
        assert pointwise.estimate.base in ("mixture", "flow")
        assert pointwise.values.shape == pointwise.rows.shape == (1000,)
        assert pointwise.values.mean() == pytest.approx(pointwise.estimate.value, abs=0.1)


def few_rows(settings):
    return LadderSettings(max_rows=250)

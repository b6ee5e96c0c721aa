"""Several bases, averaged by how well they predict held-out rows: weights, value, error, and bases of one's own."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import norm

from pydine import mutual_information
from pydine.bases.base import FittedBase, averaged, mean_and_error, of_all_rows, pooled, weights_of
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase
from pydine.bases.stack import Stack
from pydine.bases.student import StudentBase
from pydine.latents.flows import Latents
from pydine.units.evidence import evidence
from pydine.units.ladder import LadderSettings
from shapes import gaussian, given_z, latents_of, parabola, student

NAMES = ("gaussian", "student", "mixture", "flow")
ERROR = 0.05  # of the mean of GAINS, whose standard deviation is 1 in 400 rows
GAINS = np.resize([-1.0, 1.0], 400)


def base(name, held_out, value=0.0, error=0.1):
    return FittedBase(name, value, error, lambda both, z: np.full(both.shape[1], value), lambda: held_out)


PLAIN = base("plain", np.zeros(400), 0.2)


def rich(errors, value=0.5, error=0.2):
    """A base that predicts rows better than the plain one, by so many standard errors."""
    return base("rich", GAINS + errors * ERROR, value, error)


class TestWeights:
    @pytest.mark.parametrize("errors", [-5.0, 0.0, 1.0, 2.0, 4.0, 50.0])
    def test_by_the_evidence_of_held_out_rows(self, errors):
        share = evidence(rich(errors).held_out)
        np.testing.assert_allclose(weights_of([PLAIN, rich(errors)]), [1.0 - share, share], atol=1e-12)

    def test_continuous_in_the_gain(self):
        errors = np.linspace(-3.0, 5.0, 801)
        shares = np.array([weights_of([PLAIN, rich(e)])[1] for e in errors])
        assert (np.diff(shares) >= -1e-12).all()
        assert np.abs(np.diff(shares)).max() < 0.01
        assert (shares[0], shares[-1]) == (0.0, 1.0)

    @pytest.mark.parametrize(("chance", "known"), [(0.0, 0.0), (0.1, 0.1), (0.2, 0.2), (9.0, 0.3)])
    def test_what_a_covariance_loses_to_noise_is_no_gain_of_others(self, chance, known):
        """Up to what is known of it, and to what is missing: 0.3 nats a row here, and the richer base gains 0.25."""
        plain = replace(PLAIN, value=0.3, chance=chance)
        expected = evidence(rich(5.0).held_out - known)
        assert weights_of([plain, rich(5.0)])[1] == pytest.approx(expected, abs=1e-12)

    def test_a_base_that_falls_short_of_nothing_promises_no_more(self):
        plain = replace(PLAIN, value=-0.1, chance=0.2)
        np.testing.assert_array_equal(plain.adjusted_held_out, plain.held_out)

    @pytest.mark.slow
    def test_twenty_columns_of_few_rows_stay_gaussian(self):
        """Flows are steadier than a covariance of 40 columns by 200 rows, and there is no shape."""
        rng = np.random.default_rng(1)
        x = rng.standard_normal((200, 20))
        y = 0.99 * x + np.sqrt(1.0 - 0.99**2) * rng.standard_normal((200, 20))
        found = mutual_information(x, y)
        weights = found.details["weights"]
        assert weights["gaussian"] + weights.get("raw", 0.0) == 1.0
        assert abs(found.value + 10.0 * np.log(1.0 - 0.99**2)) < 3.0 * found.standard_error

    def test_shares(self):
        """Whatever the bases: not negative, and 1 together."""
        rng = np.random.default_rng(0)
        for _ in range(50):
            bases = [base(str(i), 0.15 * rng.random() + rng.standard_normal(400)) for i in range(5)]
            weights = weights_of(bases)
            assert weights.shape == (5,)
            assert (weights >= 0.0).all()
            assert weights.sum() == pytest.approx(1.0, abs=1e-12)

    def test_the_third_competes_with_the_average_of_the_others(self):
        second, third = rich(0.3), base("third", GAINS[::-1] + 0.5 * ERROR)
        share = evidence(second.held_out)
        last = evidence(third.held_out - share * second.held_out)
        assert 0.0 < share < 1.0
        assert 0.0 < last < 1.0
        expected = [(1.0 - share) * (1.0 - last), share * (1.0 - last), last]
        np.testing.assert_allclose(weights_of([PLAIN, second, third]), expected, atol=1e-12)

    def test_a_base_that_predicts_all_rows_the_same_way_gains_nothing(self):
        """Or better by the same in every row: there is no error to count in, and no doubt."""
        np.testing.assert_array_equal(weights_of([PLAIN, base("same", np.zeros(400))]), [1.0, 0.0])


class TestPooled:
    def test_by_hand(self):
        """Means 0.2 and 0.6, errors 0.1 and 0.3: the average is 0.3, a quarter of the weight on the second."""
        bases = [base("a", np.zeros(2), 0.2, 0.1), base("b", np.zeros(2), 0.6, 0.3)]
        value, error = pooled(np.array([0.75, 0.25]), bases)
        assert value == pytest.approx(0.3, rel=1e-12)
        assert error == pytest.approx(0.75 * np.hypot(0.1, 0.1) + 0.25 * np.hypot(0.3, 0.3), rel=1e-12)

    def test_one_base_is_itself(self):
        assert pooled(np.ones(1), [rich(0.0)]) == (0.5, 0.2)
        assert pooled(np.array([0.0, 1.0]), [PLAIN, rich(0.0)]) == (0.5, 0.2)

    def test_bases_that_agree_add_nothing_to_the_error(self):
        assert pooled(np.array([0.5, 0.5]), [rich(0.0), rich(0.0)]) == pytest.approx((0.5, 0.2), rel=1e-12)


class TestAveraged:
    def test_of_one_base_is_that_base(self):
        assert averaged([PLAIN]) is PLAIN
        assert averaged([PLAIN, rich(-9.0)]) is PLAIN
        clear = rich(9.0)
        assert averaged([PLAIN, clear]) is clear

    def test_between_two(self):
        close = rich(0.1)
        share = weights_of([PLAIN, close])[1]
        assert 0.2 < share < 0.5
        average = averaged([PLAIN, close])
        assert average.name == "plain"  # the heavier
        assert (average.value, average.standard_error) == pooled(np.array([1.0 - share, share]), [PLAIN, close])
        np.testing.assert_allclose(average.held_out, share * close.held_out, atol=1e-12)
        ratios = average.log_ratio(np.zeros((2, 3)), np.empty((0, 3)))
        np.testing.assert_allclose(ratios, (1.0 - share) * 0.2 + share * 0.5, rtol=1e-12)
        assert averaged([PLAIN, rich(1.0)]).name == "rich"

    def test_continuous_in_the_gain(self):
        averages = [averaged([PLAIN, rich(errors)]) for errors in np.linspace(-4.0, 5.0, 901)]
        for numbers in ([a.value for a in averages], [a.standard_error for a in averages]):
            assert np.abs(np.diff(numbers)).max() < 0.01
        assert averages[0].value == 0.2
        assert averages[-1].value == 0.5


class TestHeldOut:
    def test_held_out_is_made_when_asked_for_and_once(self):
        calls = []
        fitted = FittedBase("counted", 0.0, 0.0, lambda both, z: both[0], lambda: calls.append(1) or np.zeros(3))
        assert calls == []
        assert fitted.held_out is fitted.held_out
        assert calls == [1]


DATA = {
    "gaussian": lambda: gaussian(800, 2),
    "student": lambda: student(800, 2),
    "shapes": lambda: parabola(800),
    "shapes, given z": lambda: given_z(*parabola(800)),
}


class TestAuto:
    @pytest.mark.parametrize("name", DATA)
    def test_auto_takes_what_fits_and_says_so(self, name):
        expected = ("mixture", "flow") if name.startswith("shapes") else (name,)
        estimate = mutual_information(*DATA[name]())
        held_out, gain = estimate.details["held_out"], estimate.details["gain_over_gaussian"]
        assert estimate.base in expected
        assert set(held_out) == set(NAMES)
        weights = estimate.details["weights"]
        assert set(weights) == set(NAMES)
        assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
        assert sum(weights[base] for base in expected) == pytest.approx(1.0, abs=1e-12)
        average = sum(weights[base] * held_out[base] for base in expected)
        assert gain == pytest.approx(average - held_out["gaussian"], abs=1e-12)
        said = f"{estimate.base} base ({gain:.3f} nats more than by the Gaussian base)"
        if name == "gaussian":
            assert gain == 0.0
            assert "gaussian base, n = 800" in repr(estimate)
        else:
            assert gain > 0.05
            assert said in repr(estimate)

    @pytest.mark.parametrize("name", ["gaussian", "student"])
    def test_auto_gives_what_its_choice_gives(self, name):
        auto, named = (mutual_information(*DATA[name](), base=base) for base in ("auto", name))
        assert (auto.value, auto.standard_error, auto.base) == (named.value, named.standard_error, named.base)
        assert "held_out" not in named.details

    @pytest.mark.slow
    @pytest.mark.parametrize("tails", ["normal", "Cauchy"])
    @pytest.mark.parametrize("d", [1, 3])
    def test_independence(self, d, tails):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            x, y = rng.standard_normal((2, 500, d)) if tails == "normal" else rng.standard_cauchy((2, 500, d))
            assert abs(mutual_information(x, y).value) < 0.05

    def test_independence_given_z(self):
        rng = np.random.default_rng(0)
        z = rng.uniform(-2.0, 2.0, 800)
        x, y = np.sin(3.0 * z) + 0.3 * rng.standard_normal((2, 800))
        assert abs(mutual_information(x, y, z).value) < 0.05
        assert mutual_information(x, y).value > 0.5

    def test_exchanged_sides(self):
        x, y = parabola(800)
        one, other = mutual_information(x, y), mutual_information(y, x)
        assert one.base == other.base in ("mixture", "flow")
        assert one.value == pytest.approx(other.value, abs=0.01 * one.standard_error)


@pytest.mark.slow
def test_auto_does_not_depend_on_threads_seeds_or_on_the_call():
    x, y, z = given_z(*parabola(300))
    estimates = [mutual_information(x, y, z, n_jobs=n) for n in (None, 1, 2, -1)]
    assert estimates[0].base in ("mixture", "flow")
    assert {(e.value, e.standard_error) for e in estimates} == {(estimates[0].value, estimates[0].standard_error)}
    assert mutual_information(x, y, z, random_state=1).value == estimates[0].value  # nothing is drawn


# --- a base that someone else wrote ---


@dataclass(frozen=True)
class Cells:
    """A histogram of the ranks of one column on each side: as many cells on a side as asked for."""

    cells: int = 4
    folds: int = 3

    def fit(self, latents):
        places = np.minimum((norm.cdf(latents.both) * self.cells).astype(int), self.cells - 1)
        table = self.table(places)
        ratios, n = table[tuple(places)], latents.n_rows

        def held_out():
            out = np.empty(n)
            for rows in np.array_split(np.random.default_rng(0).permutation(n), self.folds):
                out[rows] = self.table(np.delete(places, rows, axis=1))[tuple(places[:, rows])]
            return out

        def log_ratio(both, z):
            return table[tuple(np.minimum((norm.cdf(both) * self.cells).astype(int), self.cells - 1))]

        return FittedBase("cells", ratios.mean(), ratios.std() / np.sqrt(n), log_ratio, held_out)

    def table(self, places):
        counts = np.ones((self.cells, self.cells))
        np.add.at(counts, tuple(places), 1.0)
        return np.log(counts / counts.sum() * self.cells**2)


def checkerboard(n, seed=0):
    """Half of the cells of a 4 x 4 board, with as many rows each: ln 2 nats."""
    column, upper = np.arange(n) % 4, np.arange(n) // 4 % 2
    places = np.array([column, 2 * upper + column % 2]) + np.random.default_rng(seed).random((2, n))
    return places[0][:, None], places[1][:, None]


class TestABaseOfOnesOwn:
    def test_it_competes(self):
        latents = latents_of(*checkerboard(2000))
        bases = [GaussianBase().fit(latents), StudentBase().fit(latents), Cells().fit(latents)]
        chosen = averaged(bases)
        np.testing.assert_array_equal(weights_of(bases), [0.0, 0.0, 1.0])
        assert chosen.name == "cells"
        assert chosen.value == pytest.approx(np.log(2.0), abs=0.06)
        assert (chosen.held_out - bases[0].held_out).mean() > 0.5
        np.testing.assert_allclose(chosen.log_ratio(latents.both, latents.z).mean(), chosen.value)

    def test_it_loses_where_a_plainer_one_is_right(self):
        latents = latents_of(*gaussian(1000))
        bases = [GaussianBase().fit(latents), Cells().fit(latents)]
        assert averaged(bases) is bases[0]

    def test_it_anchors_a_flow(self):
        """A base of any kind can stand beside the flows, which add what they see beyond it."""
        latents = latents_of(*checkerboard(1000))
        cells = Cells().fit(latents)
        stack = Stack.of([GaussianBase().fit(latents), cells], [], latents, folds=3)
        flow = FlowBase(LadderSettings(networks=1)).fit_beside(stack, latents)
        assert flow.details["mixture"]["cells"] > 0.5
        assert flow.value == pytest.approx(cells.value, abs=0.05)


class TestAllRows:
    """A base that learned from 500 of 20,000 rows, whose log-ratios are the first latent of each row."""

    def of(self, beyond=0.0):
        """The base, the rows it learned from, all rows' latents, and the base of all rows."""
        ratios = np.random.default_rng(5).gamma(1.0, size=20_000) - 0.6
        some = np.arange(0, 20_000, 40)
        latents = Latents((1, 1, 0), np.array([ratios, ratios]), np.empty((0, 20_000)), np.eye(2), 20_000.0)
        value, error = mean_and_error(ratios[some])
        few = FittedBase("few", value + beyond, error, lambda both, z: both[0], lambda: ratios[some])
        return few, some, latents, of_all_rows(few, some, latents, folds=4)

    def test_value_and_error_are_the_means_of_all_rows(self):
        few, _, latents, found = self.of()
        value, error = mean_and_error(latents.both[0])
        assert found.value == pytest.approx(value)
        assert found.standard_error == pytest.approx(error)
        assert abs(few.value - value) > 3.0 * error  # so that rows which were not learned from matter here

    def test_what_the_value_has_beyond_held_out_rows_stays(self):
        """Less by a quarter where no fold was left out: models of all 500 rows fall short by less."""
        assert self.of(0.2)[3].value - self.of()[3].value == pytest.approx(0.2 * (0.025 + 0.975 * 0.75))

    def test_errors_beyond_those_of_the_rows_do_not_shrink(self):
        few, some, latents, found = self.of()
        wider = replace(few, standard_error=float(np.hypot(few.standard_error, 0.3)))
        more = of_all_rows(wider, some, latents, folds=4).standard_error
        assert more == pytest.approx(np.hypot(found.standard_error, 0.3))

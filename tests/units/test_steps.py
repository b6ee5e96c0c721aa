"""Units whose target has ordered steps: probabilities, tails, and the ladder that fits them."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from pydine.kernels.likelihood import log_likelihood
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder
from pydine.units.network import Network
from pydine.units.steps import FARTHEST_CUT, marginal_log_density, middles, negated
from pydine.units.unit import MARGINAL
from pydine.work.cache import UnitCache
from pydine.work.tasks import Fitted, UnitTask

CUTS = np.array([-FARTHEST_CUT, -0.7, 0.1, 0.6, FARTHEST_CUT])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 400))
    level = np.digitize(x[0] + 0.7 * rng.standard_normal(400), CUTS[1:-1])
    return np.array([CUTS[level], CUTS[level + 1]]), x, level


def test_the_marginal_is_the_normal_distribution(rows):
    target, _, _ = rows
    masses = norm.cdf(target[1]) - norm.cdf(target[0])
    np.testing.assert_allclose(marginal_log_density(target), np.log(masses), rtol=1e-10)
    means = (norm.pdf(target[0]) - norm.pdf(target[1])) / masses
    np.testing.assert_allclose(middles(target), means, rtol=1e-9)
    np.testing.assert_allclose(MARGINAL.log_density(target, np.empty((0, 400))), np.log(masses), rtol=1e-4)
    np.testing.assert_allclose(middles(negated(target, -1.0)), -means, rtol=1e-9)


def test_the_gradient(rows):
    target, x, _ = rows
    network = Network.tanh(2, 3, 2)
    theta = 0.4 * np.random.default_rng(1).standard_normal(network.n_parameters)
    gradient, nothing = np.empty(len(theta)), np.empty(0)
    log_likelihood(theta, *network.layout, target, x, nothing, gradient)
    for i in range(len(theta)):
        step = np.zeros(len(theta))
        step[i] = 1e-6
        high, low = (log_likelihood(theta + s, *network.layout, target, x, nothing, nothing) for s in (step, -step))
        assert gradient[i] == pytest.approx((high - low) / 2e-6, rel=1e-4, abs=1e-4)


def test_probabilities_of_all_steps_sum_to_one(rows):
    target, x, _ = rows
    unit = fit_ladder(target, x, LadderSettings())
    masses = [np.exp(unit.log_density(np.array([np.full(400, a), np.full(400, b)]), x)) for a, b in pairwise(CUTS)]
    np.testing.assert_allclose(np.sum(masses, axis=0), 1.0, atol=1e-4)
    lower, upper = unit.tails(np.full(400, CUTS[2]), x)
    np.testing.assert_allclose(lower, masses[0] + masses[1], atol=1e-4)
    np.testing.assert_allclose(lower + upper, 1.0, rtol=1e-12)


def test_the_ladder_learns_and_holds_out(rows):
    target, x, _ = rows
    unit, held = cross_fit_ladder(target, x, LadderSettings())
    gain = (held - marginal_log_density(target)).mean()
    assert 0.25 < gain < (unit.log_density(target, x) - marginal_log_density(target)).mean() < 0.6
    noise = cross_fit_ladder(target, np.random.default_rng(3).standard_normal((1, 400)), LadderSettings())[1]
    assert abs((noise - marginal_log_density(target)).mean()) < 0.05


def test_the_other_way_round_it_is_the_same_unit(rows):
    target, x, _ = rows
    one, other = (fit_ladder(t, x, LadderSettings()) for t in (target, negated(target, -1.0)))
    np.testing.assert_allclose(one.log_density(target, x), other.log_density(negated(target, -1.0), x), rtol=1e-6)


def test_units_of_steps_are_kept(rows, tmp_path):
    target, x, _ = rows
    task = UnitTask(target, x, LadderSettings(), is_crossed=True)
    entry = Fitted(*cross_fit_ladder(target, x, LadderSettings()))
    UnitCache(tmp_path).keep(task, entry)
    found = UnitCache(tmp_path).find(task)
    np.testing.assert_array_equal(found.log_density, entry.log_density)
    assert UnitCache(tmp_path).find(UnitTask(target[0], x, LadderSettings(), is_crossed=True)) is None

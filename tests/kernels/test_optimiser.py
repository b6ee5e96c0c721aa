"""The compiled optimiser against SciPy's, and its promises: early stopping, no side effects, any thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import minimize

import reference
from pydine.kernels.optimiser import maximise
from pydine.units.network import Network

N = 400


def linear_data(n=N, seed=0):
    """One target with a location and a log-scale that are linear in two context columns."""
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    scale = np.exp(-0.4 + 0.3 * context[1])
    target = 0.8 * context[0] - 0.3 * context[1] + scale * rng.standard_normal(n)
    return target, context


def sine_data(n=N, seed=0):
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((1, n))
    return np.sin(2.0 * context[0]) + 0.4 * rng.standard_normal(n), context


def run(network, start, decay, data, held=None, iterations=300, tolerance=0.0, patience=0):
    held = (np.empty(0), np.empty((network.n_context, 0))) if held is None else held
    arrays = [np.ascontiguousarray(a, dtype=np.float32) for a in (*data, *held)]
    decay = np.broadcast_to(decay, start.shape).astype(float)
    return maximise(start, decay, *network.layout, *arrays, iterations, tolerance, patience, np.empty((0, 0)))


def mean_log_likelihood(network, theta, data):
    return reference.log_density(network, theta, *data).mean()


def objective(network, theta, decay, data):
    return mean_log_likelihood(network, theta, data) - 0.5 * np.sum(decay * theta**2)


class TestOptimum:
    @pytest.mark.parametrize("decay", [0.0, 0.05, 1.0])
    def test_linear_unit(self, decay):
        """One component: with l, g, m and s, one optimum; the softmax of a single logit is flat, so decay or not
        it stays where it started, at 0."""
        network, data = Network.linear(2, 1), linear_data()
        start = np.zeros(network.n_parameters)
        theta, *_ = run(network, start, decay, data)
        theirs = minimize(lambda t: -objective(network, t, decay, data), start, tol=1e-9)
        assert objective(network, theta, decay, data) >= -theirs.fun - 1e-6
        np.testing.assert_allclose(theta, theirs.x, atol=2e-3)

    def test_known_answer(self):
        """No context and no decay: the sample's own mean and log standard deviation."""
        target = 3.0 + 0.5 * np.random.default_rng(0).standard_normal(N)
        theta, *_ = run(Network.linear(0, 1), np.zeros(3), 0.0, (target, np.empty((0, N))))
        np.testing.assert_allclose(theta, [0.0, target.mean(), np.log(target.std())], atol=1e-3)

    def test_a_network_ends_where_scipy_would_not_go_on(self):
        """SciPy, started from the result, finds next to nothing left to gain."""
        network, data = Network.tanh(1, 3, 2), sine_data(150)
        start, decay = reference.parameters(network, 5), 0.02
        theta, *_ = run(network, start, decay, data, iterations=2000)
        before = objective(network, start, decay, data)
        reached = objective(network, theta, decay, data)
        further = minimize(lambda t: -objective(network, t, decay, data), theta, options={"maxiter": 6})
        assert reached > before + 0.5
        assert -further.fun - reached < 2e-4

    def test_more_iterations_are_never_worse(self):
        network, data = Network.tanh(1, 4, 2), sine_data()
        start = reference.parameters(network, 2)
        values = [
            objective(network, run(network, start, 0.01, data, iterations=i)[0], 0.01, data)
            for i in (1, 2, 3, 5, 10, 20, 40)
        ]
        assert values[0] > objective(network, start, 0.01, data)
        assert (np.diff(values) > -1e-6).all()
        assert values[-1] > values[0] + 0.05


class TestDecay:
    def test_pulls_towards_zero(self):
        network, data = Network.linear(2, 1), linear_data()
        sizes = [np.linalg.norm(run(network, np.zeros(7), decay, data)[0]) for decay in (0.0, 0.1, 1.0, 10.0, 1e4)]
        assert (np.diff(sizes) < 0).all()
        assert sizes[-1] < 1e-3

    def test_of_one_parameter_alone(self):
        """A large decay of the first slope holds that slope; the others are then those of a fit without it."""
        network, data = Network.linear(2, 1), linear_data()
        decay = np.zeros(7)
        decay[0] = 1e6
        theta, *_ = run(network, np.zeros(7), decay, data)
        assert abs(theta[0]) < 1e-4
        assert abs(theta[1]) > 0.1
        assert abs(theta[3]) > 0.1

    def test_slope_of_the_likelihood_balances_the_decay(self):
        network, data = Network.linear(2, 2), linear_data()
        decay = np.random.default_rng(1).uniform(0.05, 0.5, network.n_parameters)
        theta, *_ = run(network, reference.parameters(network), decay, data, iterations=1000)
        for i in range(len(theta)):
            step = np.zeros(len(theta))
            step[i] = 1e-4
            ends = [mean_log_likelihood(network, theta + s * step, data) for s in (1, -1)]
            assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(decay[i] * theta[i], abs=2e-3)


class TestStopping:
    def overfitted(self):
        """A wide network and few rows: on held-out rows it gets worse again."""
        network = Network.tanh(1, 8, 3)
        return network, reference.parameters(network, 3), sine_data(40, seed=1), sine_data(200, seed=2)

    def test_the_best_on_held_out_rows_is_returned(self):
        network, start, data, held = self.overfitted()
        # The search itself does not look at the held-out rows, so its path is known from shorter searches.
        path = [run(network, start, 0.0, data, iterations=i)[0] for i in range(1, 61)]
        scores = np.array([mean_log_likelihood(network, theta, held) for theta in path])
        best = int(np.argmax(scores))
        assert 2 < best < 50
        assert scores[-1] < scores[best] - 0.05
        theta, last, made = run(network, start, 0.0, data, held, iterations=60, patience=1000)
        assert mean_log_likelihood(network, theta, held) == pytest.approx(scores[best], abs=5e-5)
        assert min(np.abs(theta - other).max() for other in path) == 0.0
        assert made == 60
        np.testing.assert_array_equal(last, path[-1])

    def test_patience(self):
        """It ends `patience` iterations after the last that was better, and still returns that one."""
        network, start, data, held = self.overfitted()
        made = {}
        for patience in (1, 5, 10):
            theta, _, made[patience] = run(network, start, 0.0, data, held, iterations=500, patience=patience)
            same = run(network, start, 0.0, data, iterations=made[patience] - patience)[0]
            np.testing.assert_array_equal(theta, same)
        assert made[1] <= made[5] <= made[10] < 500

    def test_tolerance(self):
        """A looser one ends earlier, no later than where two iterations in a row gain less."""
        network, data = Network.tanh(1, 4, 2), sine_data()
        start = reference.parameters(network, 2)
        made = [run(network, start, 0.01, data, iterations=400, tolerance=t)[2] for t in (1e-1, 1e-3, 1e-6)]
        assert made[0] < made[1] < made[2] < 400

    def test_most_iterations(self):
        network, data = Network.tanh(1, 4, 2), sine_data()
        assert run(network, reference.parameters(network, 2), 0.01, data, iterations=7)[2] == 7

    def test_at_the_optimum_it_stays(self):
        network, data = Network.linear(2, 1), linear_data()
        theta, *_ = run(network, np.zeros(7), 0.1, data)
        again, _, made = run(network, theta, 0.1, data, tolerance=1e-6)
        assert made <= 5
        np.testing.assert_allclose(again, theta, atol=1e-3)


class TestNoSideEffects:
    def test_arguments_are_left_alone(self):
        network = Network.tanh(1, 4, 2)
        start, decay = reference.parameters(network), np.full(network.n_parameters, 0.01)
        arrays = [a.astype(np.float32) for a in (*sine_data(200), *sine_data(50, seed=1))]
        before = [a.copy() for a in (start, decay, *arrays)]
        theta, *_ = maximise(start, decay, *network.layout, *arrays, 30, 0.0, 30, np.empty((0, 0)))
        for now, then in zip((start, decay, *arrays), before, strict=True):
            np.testing.assert_array_equal(now, then)
        assert not np.shares_memory(theta, start)

    def test_threads_do_not_disturb_each_other(self):
        def fit(seed):
            network = Network.tanh(1, 4 + seed % 3, 2)
            start = reference.parameters(network, seed)
            theta, _, made = run(network, start, 0.01, sine_data(300, seed), sine_data(80, seed + 50), 60, 0.0, 20)
            return (*theta, made)

        alone = [fit(seed) for seed in range(8)]
        with ThreadPoolExecutor(4) as pool:
            for _ in range(3):
                assert list(pool.map(fit, range(8))) == alone
        assert len(set(alone)) == 8

"""The curvature from which a search begins."""

import numpy as np
import pytest

from pydine.kernels.curvature import curvature, solve
from pydine.kernels.optimiser import maximise
from pydine.units.network import Network

NETWORK = Network.linear(2, 1)


def of_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((2, n))
    context[1] = 20.0 * (context[0] + 0.1 * context[1])  # so badly scaled that gradients mislead
    target = 0.5 * context[0] + 0.02 * context[1] + 0.5 * rng.standard_normal(n)
    return target.astype(np.float32), context.astype(np.float32)


def at_truth():
    """Slopes of location and log-scale, then logit, mean and log-scale of the only component."""
    return np.array([0.5, 0.02, 0.0, 0.0, 0.0, 0.0, np.log(0.5)])


def test_it_is_the_fisher_information_and_the_prior():
    target, context = of_rows(40_000)
    theta, decay = at_truth(), np.full(7, 0.1)
    factor = np.tril(curvature(theta.astype(np.float32), decay, *NETWORK.layout, target, context))
    information = factor @ factor.T
    moments = context.astype(float) @ context.astype(float).T / context.shape[1]
    np.testing.assert_allclose(information[:2, :2], moments / 0.25 + 0.1 * np.eye(2), rtol=0.1)
    assert information[6, 6] == pytest.approx(2.1, rel=0.1)


def test_a_system_of_equations_is_solved():
    rng = np.random.default_rng(1)
    a = rng.standard_normal((5, 5))
    matrix, right = a @ a.T + np.eye(5), rng.standard_normal(5)
    out = right.copy()
    solve(np.linalg.cholesky(matrix), out)
    np.testing.assert_allclose(matrix @ out, right, atol=1e-9)


def test_a_search_takes_fewer_steps_with_it():
    target, context = of_rows(4000)
    start, decay, none = np.zeros(7), np.full(7, 1e-4), np.empty((0, 0))
    arrays = target, context, target[:0], np.ascontiguousarray(context[:, :0])
    factor = curvature(start.astype(np.float32), decay, *NETWORK.layout, target, context)
    few, many = (maximise(start, decay, *NETWORK.layout, *arrays, 200, 1e-6, 0, known) for known in (factor, none))
    assert few[2] < many[2]
    np.testing.assert_allclose(few[1][:2], [0.5, 0.02], atol=0.1)

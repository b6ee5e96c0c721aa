"""What the engine computes, written again from the paper's formulas: plain NumPy and SciPy in float64.

Only the layout of the flat parameter vector is taken from the engine's documentation (`pydine.kernels.likelihood`):
location (c,) and log-scale (c,) if `skip`, then for each layer its weights (out, in) by rows and its biases (out,);
with three groups the last layer is block-diagonal.
"""

from itertools import pairwise

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp, softmax

from pydine.kernels.densities import HIGHEST_LOG_SCALE, LOWEST_LOG_SCALE
from pydine.kernels.layers import IDENTITY, RELU, TANH
from pydine.units.network import Network

FUNCTIONS = {IDENTITY: lambda a: a, TANH: np.tanh, RELU: lambda a: np.maximum(a, 0.0)}

# Every kind of unit that the engine fits, and a few that it does not yet.
NETWORKS = {
    "constant": Network.linear(0, 3),
    "one Gaussian": Network.linear(2, 1),
    "linear": Network.linear(3, 2),
    "tanh": Network.tanh(3, 6, 2),
    "index": Network.index(4, 5, 2),
    "tanh, one column": Network.tanh(1, 1, 1),
    "paper": Network.paper(2, 4, 16),
    "paper without context": Network.paper(0, 4, 16),
    "two layers": Network(2, 2, (5, 7), 3, (RELU, TANH)),
    "layers see some columns": Network(5, 2, (4,), 2, (TANH,)),
}


def parameters(network, seed=0, size=0.6):
    """Random parameters, shape (p,)."""
    return size * np.random.default_rng(seed).standard_normal(network.n_parameters)


def rows(network, n, seed=1):
    """Random rows: target (n,) and context (c, n)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n), rng.standard_normal((network.n_context, n))


def dense_layers(network, theta):
    """Weights (out, in) and biases (out,) of every layer, with the zeros of a block-diagonal one written out."""
    position = 2 * network.n_context if network.skip else 0
    widths = (network.n_inputs, *network.hidden, 3 * network.components)
    for layer, (n_in, n_out) in enumerate(pairwise(widths)):
        groups = network.groups if layer == len(widths) - 2 else 1
        fan_in, height = n_in // groups, n_out // groups
        weights = np.zeros((n_out, n_in))
        for g in range(groups):
            count = height * fan_in
            block = theta[position : position + count].reshape(height, fan_in)
            weights[g * height : (g + 1) * height, g * fan_in : (g + 1) * fan_in] = block
            position += count
        yield weights, theta[position : position + n_out]
        position += n_out
    assert position == len(theta)


def components(network, theta, context):
    """Weights, means and standard deviations that the rows of a context, (c, n), call for, shapes (n, k)."""
    theta, context = np.asarray(theta, dtype=np.float64), np.asarray(context, dtype=np.float64)
    values = context[: network.n_inputs].T
    for (weights, biases), activation in zip(
        dense_layers(network, theta), (*network.activations, IDENTITY), strict=True
    ):
        values = FUNCTIONS[activation](values @ weights.T + biases)
    logits, means, log_scales = np.split(values, 3, axis=1)
    if network.skip:
        c = network.n_context
        means = means + (theta[:c] @ context)[:, None]
        log_scales = log_scales + (theta[c : 2 * c] @ context)[:, None]
    scales = np.exp(np.clip(log_scales, LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE))
    return softmax(logits, axis=1), means, scales


def log_density(network, theta, target, context):
    """ln p(t | x) of every row, shape (n,)."""
    w, mu, sigma = components(network, theta, context)
    z = (target[:, None] - mu) / sigma
    return logsumexp(-0.5 * z * z - np.log(sigma) - 0.5 * np.log(2.0 * np.pi), b=w, axis=1)


def latent(network, theta, target, context):
    """Phi^-1 of the mixture's CDF at every row, shape (n,), from the logarithm of the smaller tail."""
    w, mu, sigma = components(network, theta, context)
    z = (target[:, None] - mu) / sigma
    lower, upper = (logsumexp(log_ndtr(side * z), b=w, axis=1) for side in (1, -1))
    return np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))

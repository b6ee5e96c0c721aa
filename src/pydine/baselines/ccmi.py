"""Classifiers as estimators of information, in JAX: Mukherjee, Asnani and Kannan (2020), "CCMI".

A classifier that tells observed rows from rows with one side shuffled knows their likelihood ratio; put into the
Donsker-Varadhan bound on rows that it has not seen, it gives I(X;Y). By the chain rule I(X;Y|Z) = I(X;Y,Z) - I(X;Z).
"""

from itertools import pairwise
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import ArrayLike, NDArray

from pydine.baselines.arrays import columns, standardised
from pydine.baselines.neural import Adam, donsker_varadhan_bound, finite, uniform

Layers: TypeAlias = list[tuple[Array, Array]]

# As the authors recommend for their estimator.
HIDDEN = (64, 64)
BATCH = 64
EPOCHS = 20
LEARNING_RATE = 1e-3
WEIGHT_PENALTY = 1e-3
SPLITS = 10  # classifiers, each with another third of the rows held out


def ccmi(
    x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None, random_state: int = 0, standardise: bool = True
) -> float:
    """Estimate I(X;Y), or I(X;Y|Z) as the difference I(X;Y,Z) - I(X;Z), from classifiers.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        Samples of the conditioning variable, shape (n,) or (n, dz).
    random_state
        Seed of the splits, the weights, the batches and the shuffles.
    standardise
        Whether to standardise every column first. The authors' program does not, and learns little from columns with
        a small spread.

    Returns
    -------
    float
        Information in nats. Not clipped at zero: it scatters around it where X and Y are independent.
    """
    prepare = standardised if standardise else columns
    x, y = prepare(x), prepare(y)
    rng = np.random.default_rng(random_state)
    if z is None:
        return _information(x, y, rng)
    z = prepare(z)
    return _information(x, np.hstack([y, z]), rng) - _information(x, z, rng)


def _information(x: NDArray[np.float64], y: NDArray[np.float64], rng: np.random.Generator) -> float:
    n, n_training = len(x), 2 * len(x) // 3
    rows = min(BATCH, n_training)
    orders = rng.permuted(np.tile(np.arange(n), (SPLITS, 1)), axis=1)
    batches = rng.integers(0, n_training, (SPLITS, EPOCHS * n_training // rows, rows))
    networks = [_network(rng, (x.shape[1] + y.shape[1], *HIDDEN, 1)) for _ in range(SPLITS)]
    layers = jax.tree.map(lambda *same: jnp.stack(same), *networks)
    sides = (jnp.asarray(a, dtype=jnp.float32) for a in (x, y))
    return finite(_mean_bound(layers, *sides, jnp.asarray(orders), jnp.asarray(batches)))


@jax.jit
def _mean_bound(layers: Layers, x: Array, y: Array, orders: Array, batches: Array) -> Array:
    def one(layers: Layers, order: Array, batches: Array) -> Array:
        return _held_out_bound(layers, x[order], y[order], batches)

    return jax.vmap(one)(layers, orders, batches).mean()


def _held_out_bound(layers: Layers, x: Array, y: Array, batches: Array) -> Array:
    """Train a classifier on two thirds of the rows; the Donsker-Varadhan bound on the others, in nats.

    The rows are in random order, and so are those of every batch, shape (steps, rows): to give each row the y of the
    row before it is as good as a shuffle.
    """

    def loss(layers: Layers, batch: Array) -> Array:
        entropy = jax.nn.softplus(-_logits(layers, x[batch], y[batch])).mean()
        entropy += jax.nn.softplus(_logits(layers, x[batch], y[jnp.roll(batch, 1)])).mean()
        return entropy / 2 + WEIGHT_PENALTY / 2 * sum(jnp.sum(weights**2) for weights, _ in layers)

    def step(carry: tuple[Layers, Adam], batch: Array) -> tuple[tuple[Layers, Adam], None]:
        layers, adam = carry
        return adam.step(layers, jax.grad(loss)(layers, batch), LEARNING_RATE), None

    (layers, _), _ = lax.scan(step, (layers, Adam.start(layers)), batches)
    n_training = 2 * len(x) // 3
    x, y = x[n_training:], y[n_training:]
    return donsker_varadhan_bound(_logits(layers, x, y), _logits(layers, x, jnp.roll(y, 1, axis=0)))


def _network(rng: np.random.Generator, widths: tuple[int, ...]) -> Layers:
    """Layers of such widths before training, with the limits of Glorot and Bengio (2010)."""
    return [(uniform(rng, (6 / (a + b)) ** 0.5, a, b), jnp.zeros(b)) for a, b in pairwise(widths)]


def _logits(layers: Layers, x: Array, y: Array) -> Array:
    """ln of the likelihood ratio of observed to shuffled rows, as far as the classifier knows it, shape (n,)."""
    *hidden, (weights, offsets) = layers
    a = jnp.concatenate([x, y], axis=1)
    for w, b in hidden:
        a = jax.nn.relu(a @ w + b)
    return (a @ weights + offsets)[:, 0]

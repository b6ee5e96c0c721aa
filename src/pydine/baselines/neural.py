"""Variational bounds on I(X;Y) with a neural critic, in JAX.

A critic T(x, y) is trained to tell rows as they were observed from rows in which y was shuffled; every bound below
is a functional of its scores on both. Belghazi et al. (2018) for MINE and the Donsker-Varadhan bound, Nguyen,
Wainwright and Jordan (2010) for NWJ, van den Oord, Li and Vinyals (2018) for InfoNCE. The width, the batches of all
pairs, the learning rate and the rule to stop by are those of the comparison in Duong and Nguyen (2023).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.scipy.special import logsumexp
from numpy.typing import ArrayLike

from pydine.baselines.arrays import standardised

Tree: TypeAlias = Any  # arrays in nested tuples, as JAX knows them
Bound: TypeAlias = Callable[[Array, Array], Array]

HIDDEN = 128
BATCH = 64  # rows; each is paired with all the others
LEARNING_RATE = 5e-3
EPOCHS = 100
PATIENCE = 10  # epochs without a better bound on the held-out rows
TRAINING_SHARE = 0.7
MEMORY = 0.99  # of the moving average in MINE's gradient
LARGEST_GRADIENT = 1.0
MOST_PAIRS = 1_000_000  # shuffled rows that the final value is taken over


def mine(x: ArrayLike, y: ArrayLike, random_state: int = 0) -> float:
    """Estimate I(X;Y) by MINE: the Donsker-Varadhan bound, its gradient corrected by a moving average.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy). Every column is standardised first.
    random_state
        Seed of the weights, of the split into training and held-out rows, and of the batches.

    Returns
    -------
    float
        Information in nats. The critic has seen most of the rows, so that it is too large by chance where rows
        are few, and too small where the information is large.
    """
    return _estimate(donsker_varadhan_bound, x, y, random_state, averaged=True)


def donsker_varadhan(x: ArrayLike, y: ArrayLike, random_state: int = 0) -> float:
    """Estimate I(X;Y) by the Donsker-Varadhan bound with its plain gradient; otherwise as :func:`mine`."""
    return _estimate(donsker_varadhan_bound, x, y, random_state)


def nwj(x: ArrayLike, y: ArrayLike, random_state: int = 0) -> float:
    """Estimate I(X;Y) by the bound of Nguyen, Wainwright and Jordan; otherwise as :func:`mine`."""
    return _estimate(_nwj, x, y, random_state)


def infonce(x: ArrayLike, y: ArrayLike, random_state: int = 0) -> float:
    """Estimate I(X;Y) by InfoNCE, which cannot exceed ln n; otherwise as :func:`mine`."""
    return _estimate(_infonce, x, y, random_state)


# --- bounds, from scores of observed rows, shape (n,), and of the same x with other y, shape (m, n) ---


def _log_mean_exp(scores: Array) -> Array:
    return logsumexp(scores) - jnp.log(scores.size)


def donsker_varadhan_bound(observed: Array, shuffled: Array) -> Array:
    """E T - ln E exp T, the first over observed rows and the second over shuffled ones, in nats."""
    return observed.mean() - _log_mean_exp(shuffled)


def _nwj(observed: Array, shuffled: Array) -> Array:
    return observed.mean() - jnp.exp(_log_mean_exp(shuffled) - 1)


def _infonce(observed: Array, shuffled: Array) -> Array:
    all_pairs = jnp.concatenate([observed[None], shuffled])
    return (observed - logsumexp(all_pairs, axis=0)).mean() + jnp.log(len(all_pairs))


# --- the critic ---


class Critic(NamedTuple):
    """One hidden layer of tanh units; the two sides' weights apart, since all pairs share their products."""

    x_weights: Array
    y_weights: Array
    offsets: Array
    out: Array


def uniform(rng: np.random.Generator, limit: float, *shape: int) -> Array:
    """Draw weights between -limit and limit."""
    return jnp.asarray(rng.uniform(-limit, limit, shape), dtype=jnp.float32)


def _critic(rng: np.random.Generator, dx: int, dy: int) -> Critic:
    weights = uniform(rng, (dx + dy) ** -0.5, dx + dy + 1, HIDDEN)
    return Critic(weights[:dx], weights[dx:-1], weights[-1], uniform(rng, HIDDEN**-0.5, HIDDEN))


def _scores(critic: Critic, x: Array, y: Array, shifts: int, at_once: bool = False) -> tuple[Array, Array]:
    """Scores of the rows, shape (n,), and with y moved on by 1, 2, .. rows, shape (shifts, n)."""
    from_x, from_y = x @ critic.x_weights + critic.offsets, y @ critic.y_weights

    def moved_by(rows: Array) -> Array:
        return jnp.tanh(from_x + jnp.roll(from_y, rows, axis=0)) @ critic.out

    distances = jnp.arange(1, shifts + 1)
    return moved_by(jnp.array(0)), jax.vmap(moved_by)(distances) if at_once else lax.map(moved_by, distances)


# --- training ---


def _corrected(observed: Array, shuffled: Array, log_average: Array) -> tuple[Array, Array]:
    """MINE's objective, whose gradient divides exp T by its moving average, not by the batch's own mean.

    Belghazi et al. (2018), equation 12. Returns the logarithm of the average after the step too.
    """
    now = _log_mean_exp(shuffled)
    moved = jnp.logaddexp(jnp.log(MEMORY) + log_average, jnp.log(1 - MEMORY) + lax.stop_gradient(now))
    average = jnp.where(jnp.isneginf(log_average), lax.stop_gradient(now), moved)
    return observed.mean() - jnp.exp(now - average), average


class Adam(NamedTuple):
    """Moments of the gradient so far (Kingma and Ba 2015)."""

    mean: Tree
    square: Tree
    steps: Array

    @classmethod
    def start(cls, parameters: Tree) -> "Adam":
        """Before the first step."""
        nothing = jax.tree.map(jnp.zeros_like, parameters)
        return cls(nothing, nothing, jnp.zeros((), int))

    def step(self, parameters: Tree, gradient: Tree, rate: float) -> tuple[Tree, "Adam"]:
        """Descend once."""
        steps = self.steps + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, self.mean, gradient)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, self.square, gradient)
        size, scale = rate / (1 - 0.9**steps), 1 - 0.999**steps
        moved = jax.tree.map(lambda p, m, v: p - size * m / (jnp.sqrt(v / scale) + 1e-8), parameters, mean, square)
        return moved, Adam(mean, square, steps)


class _State(NamedTuple):
    critic: Critic
    adam: Adam
    log_average: Array
    best_bound: Array
    best_epoch: Array
    epoch: Array


@partial(jax.jit, static_argnums=(0, 1))
def _fit(bound: Bound, averaged: bool, critic: Critic, x: Array, y: Array, batches: Array) -> Array:
    """Train until the bound on held-out rows no longer grows; the bound on all rows, in nats.

    The rows are in random order. ``batches`` has the training rows of every batch, shape (epochs, batches, rows).
    """
    n, n_training, rows = len(x), _n_training(len(x)), batches.shape[2]
    held_out = x[n_training:], y[n_training:], min(rows, n - n_training) - 1

    def loss(critic: Critic, batch: Array, log_average: Array) -> tuple[Array, Array]:
        scores = _scores(critic, x[batch], y[batch], rows - 1, at_once=True)
        value, log_average = _corrected(*scores, log_average) if averaged else (bound(*scores), log_average)
        return -value, log_average

    def step(carry: tuple[Critic, Adam, Array], batch: Array) -> tuple[tuple[Critic, Adam, Array], None]:
        critic, adam, log_average = carry
        gradient, log_average = jax.grad(loss, has_aux=True)(critic, batch, log_average)
        gradient = jax.tree.map(lambda g: jnp.clip(g, -LARGEST_GRADIENT, LARGEST_GRADIENT), gradient)
        return (*adam.step(critic, gradient, LEARNING_RATE), log_average), None

    def epoch(state: _State) -> _State:
        before = state.critic, state.adam, state.log_average
        (critic, adam, log_average), _ = lax.scan(step, before, batches[state.epoch])
        value = bound(*_scores(critic, *held_out))
        best_epoch = jnp.where(value > state.best_bound, state.epoch, state.best_epoch)
        best_bound = jnp.maximum(value, state.best_bound)
        return _State(critic, adam, log_average, best_bound, best_epoch, state.epoch + 1)

    def unfinished(state: _State) -> Array:
        return (state.epoch < EPOCHS) & (state.epoch - state.best_epoch <= PATIENCE)

    never, zero = jnp.array(-jnp.inf), jnp.zeros((), int)
    critic = lax.while_loop(unfinished, epoch, _State(critic, Adam.start(critic), never, never, zero, zero)).critic
    return bound(*_scores(critic, x, y, min(n - 1, max(1, MOST_PAIRS // n))))


def _n_training(n: int) -> int:
    return int(TRAINING_SHARE * n)


def _estimate(bound: Bound, x: ArrayLike, y: ArrayLike, random_state: int, averaged: bool = False) -> float:
    rng = np.random.default_rng(random_state)
    x, y = standardised(x), standardised(y)
    order, n_training = rng.permutation(len(x)), _n_training(len(x))
    rows = min(BATCH, n_training)
    epochs = rng.permuted(np.tile(np.arange(n_training), (EPOCHS, 1)), axis=1)
    batches = epochs[:, : n_training // rows * rows].reshape(EPOCHS, -1, rows)
    sides = (jnp.asarray(a[order], dtype=jnp.float32) for a in (x, y))
    return finite(_fit(bound, averaged, _critic(rng, x.shape[1], y.shape[1]), *sides, jnp.asarray(batches)))


def finite(value: Array) -> float:
    """The number, refused if training has left the range of numbers."""
    if not np.isfinite(value):
        raise ArithmeticError(f"Training diverged to {value}; try another random_state or fewer columns.")
    return float(value)

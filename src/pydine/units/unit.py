"""A fitted unit: a mixture of conditional Gaussian mixtures of one target column given its context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pydine.kernels.likelihood import components, log_likelihood
from pydine.kernels.mixing import mixture_log_density
from pydine.kernels.normal import add_log_tail, add_tails, log_quantiles, quantiles
from pydine.types import FloatArray, RowArray, must_fit
from pydine.units.codes import Sums
from pydine.units.network import Network
from pydine.units.rows import Arrangement
from pydine.units.steps import negated

ROWS_AT_ONCE = 1 << 15  # memory: rows processed at a time, so that memory grows with n only by what is returned
ROWS_TOGETHER = 1 << 12  # memory: rows that are worth a call of compiled code
FARTHEST = 1e9  # guard: values beyond are clipped; their densities differ only in float64
SMALLEST_TAIL = 1e-280  # guard: below this a tail is computed in logarithms
FARTHEST_TARGET, BISECTIONS = 12.0, 36  # guard: bounds within which a latent's target is found, to 1e-9
NOTHING = np.empty(0)

Expansion = Callable[[FloatArray], FloatArray]  # what a rung sees of the context: (c, n) to (c', n)


def identity(context: FloatArray) -> FloatArray:
    """The context as it is."""
    return context


SEPARATE: set[Expansion] = {identity}  # of each column by itself, (c, n) to (k, c, n): rungs add theirs


@dataclass(frozen=True)
class Model:
    """One fitted network on an expansion of the context."""

    network: Network
    theta: FloatArray
    expansion: Expansion

    def __post_init__(self) -> None:
        """Refuse parameters of another network: compiled code would read beyond them."""
        if self.theta.dtype != np.float64 or self.theta.shape != (self.network.n_parameters,):
            raise ValueError(f"{self.network!r} has {self.network.n_parameters} parameters, not {self.theta.shape}")

    def _check(self, expanded: NDArray[np.floating]) -> None:
        if len(expanded) != self.network.n_context:
            raise ValueError(f"this model is of {self.network.n_context} columns of context, not of {len(expanded)}")

    def components(self, target: FloatArray, expanded: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights w_j and (t - mu_j) / sigma_j of rows whose context is expanded already, shapes (k, n)."""
        self._check(expanded)
        shares, z = np.empty((2, self.network.components, len(target)))
        components(self.theta, *self.network.layout, target, expanded, shares, z)
        return shares, z

    def log_density(self, target: FloatArray, context: FloatArray) -> FloatArray:
        """ln p(t | x) of rows; shapes (n,), or (2, n) for steps, and (c, n) to (n,), in nats."""
        target, context = (np.clip(a, -FARTHEST, FARTHEST) for a in (target, context))
        expanded = np.ascontiguousarray(self.expansion(context), dtype=np.float32)
        return self.density_of(target.astype(np.float32), expanded)

    def density_of(self, target: NDArray[np.float32], expanded: NDArray[np.float32]) -> FloatArray:
        """ln p(t | x) of rows within `FARTHEST` whose context is expanded already, in nats, shape (n,)."""
        out = np.empty(expanded.shape[1])
        self._check(expanded)
        log_likelihood(self.theta.astype(np.float32), *self.network.layout, target, expanded, out, NOTHING)
        return out


def _no_context(context: FloatArray) -> FloatArray:
    """No columns of the context: (c, n) to (0, n)."""
    return context[:0]


STANDARD_NORMAL = Model(Network.linear(0, 1), np.zeros(3), _no_context)


@dataclass(frozen=True)
class FittedUnit:
    """The mixture of rungs that was learned for one unit.

    Parameters
    ----------
    models : tuple of Model
    weights : ndarray, shape (models,)
        Mixture weights of the models; with `marginal_weight` they sum to 1.
    marginal_weight : float
        Weight of the rung that ignores the context, a standard normal.
    rung_weights : dict of str to float
        Weights by the name of the rung, the marginal one included.
    sign : float
        1, or -1 if the models are of the negated target.
    unlearned : float
        How much of the context's effect the models may have missed, in nats of mean log-density (see `stacking`).
    seen : Arrangement, optional
        The order and signs in which the models see the context's columns; without it, they see them as they are.
    """

    models: tuple[Model, ...]
    weights: FloatArray
    marginal_weight: float
    rung_weights: dict[str, float]
    sign: float = 1.0
    unlearned: float = 0.0
    seen: Arrangement | None = None

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        weights = np.append(self.weights, self.marginal_weight)
        counted = self.weights.shape == (len(self.models),) and (weights >= 0.0).all() and 0.0 < weights.sum() < np.inf
        must_fit(self, bool(counted) and self.sign in (1.0, -1.0) and 0.0 <= self.unlearned < np.inf)

    def of_fold(self, fold: int, folds: int) -> FittedUnit:
        """The same mixture of rungs with the models of one fold alone; `models` are ordered by rung, then by fold."""
        return replace(self, models=self.models[fold::folds], weights=self.weights[fold::folds] * folds)

    @property
    def nonlinear_weight(self) -> float:
        """Total weight of the rungs above the linear one."""
        return sum(w for name, w in self.rung_weights.items() if name not in ("marginal", "linear", "scale"))

    def latent(self, target: FloatArray, context: FloatArray) -> FloatArray:
        """Map rows to standard normal latents: Phi^-1 of the transformer (paper, "Base distribution").

        Parameters
        ----------
        target : ndarray, shape (n,)
        context : ndarray, shape (c, n)

        Returns
        -------
        ndarray, shape (n,)
            Finite for finite input: each tail is summed in logarithms from its own side.
        """
        latent = np.empty(len(target))
        for rows in _blocks(len(target)):
            t, x = self.sign * target[rows], np.ascontiguousarray(context[:, rows])
            lower, upper = np.zeros(len(t)), np.zeros(len(t))
            for weight, model, expanded in self._mixture(x):
                add_tails(weight, *model.components(t, expanded), lower, upper)
            quantiles(lower, upper, latent[rows])
            far = np.minimum(lower, upper) < SMALLEST_TAIL
            if far.any():
                latent[rows][far] = self._far_latent(t[far], np.ascontiguousarray(x[:, far]), lower[far] < upper[far])
        latent *= self.sign
        return latent

    def tails(self, cuts: FloatArray, context: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The transformer tau at cut points (n,), and 1 - tau, each summed from its own side, shapes (n,)."""
        lower, upper = np.zeros(len(cuts)), np.zeros(len(cuts))
        for rows in _blocks(len(cuts)):
            t, x = self.sign * cuts[rows], np.ascontiguousarray(context[:, rows])
            for weight, model, expanded in self._mixture(x):
                add_tails(weight, *model.components(t, expanded), lower[rows], upper[rows])
        return (lower, upper) if self.sign > 0.0 else (upper, lower)

    def target(self, latent: FloatArray, context: FloatArray) -> FloatArray:
        """Map latents (n,) back to targets (n,), given a context (c, n): the inverse of `latent`, by bisection."""
        low, high = np.full(len(latent), -FARTHEST_TARGET), np.full(len(latent), FARTHEST_TARGET)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            is_below = self.latent(middle, context) < latent
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        target: FloatArray = 0.5 * (low + high)
        return target

    def below(self, cuts: Sequence[FloatArray], context: FloatArray) -> Iterator[FloatArray]:
        """The transformer tau at each of several cut points (n,), whose mixtures are the same, shapes (n,)."""
        n, mixtures = context.shape[1], []
        for weight, model, expanded in self._mixture(np.ascontiguousarray(context)):
            shares, start = model.components(np.zeros(n), expanded)
            mixtures.append((weight, shares, start, model.components(np.ones(n), expanded)[1] - start))
        for cut in cuts:
            lower, upper = np.zeros((2, n))
            for weight, shares, start, slope in mixtures:
                add_tails(weight, shares, start + self.sign * cut * slope, lower, upper)
            yield lower if self.sign > 0.0 else upper

    def _far_latent(self, t: FloatArray, x: FloatArray, is_low: NDArray[np.bool_]) -> FloatArray:
        """Latents of rows whose tail underflows, from its logarithm."""
        latent = np.empty(len(t))
        for side, where in ((1, is_low), (-1, ~is_low)):
            log_tail = np.full(int(where.sum()), -np.inf)
            for weight, model, expanded in self._mixture(np.ascontiguousarray(x[:, where])):
                add_log_tail(weight, *model.components(t[where], expanded), side, log_tail)
            latent[where] = side * log_quantiles(log_tail)
        return latent

    def _mixture(self, context: FloatArray) -> Iterator[tuple[float, Model, FloatArray]]:
        """Weight, model and expanded context of everything in the mixture, the marginal included."""
        if self.marginal_weight > 0.0:
            yield self.marginal_weight, STANDARD_NORMAL, np.empty((0, context.shape[1]))
        expanded = self.expanded(context)
        for weight, model in zip(self.weights, self.models, strict=True):
            yield weight, model, expanded[model.expansion]

    def log_density(self, target: FloatArray, context: FloatArray) -> FloatArray:
        """ln p(t | x) of rows under the mixture; shapes (n,), or (2, n) for steps, and (c, n) to (n,), in nats."""
        density = np.empty(context.shape[1])
        for rows in _blocks(len(density)):
            t, x = (np.clip(a, -FARTHEST, FARTHEST) for a in (negated(target[..., rows], self.sign), context[:, rows]))
            seen = t.astype(np.float32)
            expanded = {f: np.ascontiguousarray(part, dtype=np.float32) for f, part in self.expanded(x).items()}
            terms = [model.density_of(seen, expanded[model.expansion]) for model in self.models]
            weights = list(self.weights)
            if self.marginal_weight > 0.0:
                nothing = np.empty((0, x.shape[1]), dtype=np.float32)
                terms, weights = [STANDARD_NORMAL.density_of(seen, nothing), *terms], [self.marginal_weight, *weights]
            density[rows] = mixture_log_density(np.array(terms), np.array(weights))
        return density

    def log_densities(
        self, target: FloatArray, context: FloatArray, places: RowArray, others: Sequence[FloatArray]
    ) -> FloatArray:
        """ln p(t | x) of rows, as `log_density`, with each of g sets of values in some columns of the context.

        Only what follows from these columns is computed anew; where rows are few, several sets are done at once.

        Parameters
        ----------
        target : ndarray, shape (n,) or (2, n)
        context : ndarray, shape (c, n)
        places : ndarray of int, shape (c',)
            The columns whose values change.
        others : sequence of ndarray, shape (c', n)

        Returns
        -------
        ndarray, shape (g, n)
        """
        n, density = context.shape[1], np.empty((len(others), context.shape[1]))
        at_once = max(1, min(len(others), ROWS_TOGETHER // max(n, 1)))
        weights = self.weights if self.marginal_weight == 0.0 else np.append(self.marginal_weight, self.weights)
        for rows in _blocks(n):
            t, x = (np.clip(a, -FARTHEST, FARTHEST) for a in (negated(target[..., rows], self.sign), context[:, rows]))
            told, x = np.tile(t.astype(np.float32), at_once), np.tile(x, at_once)
            m = x.shape[1] // at_once
            known = {f: np.ascontiguousarray(part, dtype=np.float32) for f, part in self.expanded(x).items()}
            marginal = STANDARD_NORMAL.density_of(told, np.empty((0, x.shape[1]), dtype=np.float32))
            seen, signs = (places, np.ones(1)) if self.seen is None else self.seen.places(places)
            x = x if self.seen is None else self.seen(x)
            for first in range(0, len(others), at_once):
                some = [np.clip(values[:, rows], -FARTHEST, FARTHEST) for values in others[first : first + at_once]]
                x[seen, : len(some) * m] = (np.hstack(some).T * signs).T
                for f, expanded in known.items():
                    _replace(f, expanded, x, seen)
                terms = [model.density_of(told, known[model.expansion]) for model in self.models]
                terms = [marginal, *terms] if self.marginal_weight > 0.0 else terms
                each = mixture_log_density(np.array(terms), np.asarray(weights)).reshape(at_once, m)
                density[first : first + len(some), rows] = each[: len(some)]
        return density

    def features(self, context: FloatArray) -> list[FloatArray]:
        """Evaluate what was learned of a context (c, n), by networks and of codes, as arrays (n, q_i)."""
        expanded = self.expanded(context)
        found = [expanded[f][-f.n_added :].T for f in self._sums]
        return found + [m.network.hidden_features(m.theta, expanded[m.expansion]) for m in self.models]

    @property
    def n_features(self) -> int:
        """Number of these functions."""
        return sum(f.n_added for f in self._sums) + sum(m.network.n_features for m in self.models)

    @property
    def _sums(self) -> list[Sums]:
        """Sums of codes that the models see."""
        return [f for f in dict.fromkeys(m.expansion for m in self.models) if isinstance(f, Sums)]

    def expanded(self, context: FloatArray) -> dict[Expansion, FloatArray]:
        """The context (c, n), as it is seen, under each expansion that the models use: once for all folds."""
        context = context if self.seen is None else self.seen(context)
        return {f: np.ascontiguousarray(f(context)) for f in {m.expansion: None for m in self.models}}


def _replace(f: Expansion, expanded: NDArray[np.float32], context: FloatArray, places: NDArray[np.intp]) -> None:
    """Write to an expansion of a context (c, n) what follows from some of its columns, the others being as before."""
    if f in SEPARATE:
        fresh = f(np.ascontiguousarray(context[places]))
        expanded.reshape(-1, *context.shape)[:, places] = fresh.reshape(-1, len(places), context.shape[1])
    else:
        expanded[:] = f(context)


MARGINAL = FittedUnit((), NOTHING, 1.0, {"marginal": 1.0})


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + ROWS_AT_ONCE, n)) for start in range(0, n, ROWS_AT_ONCE))

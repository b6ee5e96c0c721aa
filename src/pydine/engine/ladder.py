"""The ladder: models of one unit from plain to rich, combined by their held-out likelihood.

    marginal -> linear -> additive -> quadratic -> networks

Every rung is a mixture of Gaussians whose parameters depend on the context (a conditional flow of the paper's kind);
a mixture of rungs is one as well. Rungs are fitted on folds; the weights of the mixture maximise the likelihood of
the held-out rows, so a rung that the data do not support gets no weight. That is the paper's tuning by
cross-validated likelihood, done for every unit by itself.

A row's density is then the average over the folds' models: averaging steadies small networks, and no model has to be
fitted again on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.engine.compilation import compiled
from pydine.engine.kernel import HALF_LOG_2PI
from pydine.engine.network import Network
from pydine.engine.optimiser import maximise
from pydine.engine.unit import MARGINAL, Expansion, FittedUnit, Model, additive, identity, quadratic

FloatArray = NDArray[np.float64]
RowArray = NDArray[np.intp]

NEGLIGIBLE = 1e-3  # a model of less weight than this is dropped from the mixture
ROWS_PER_PRODUCT = 10  # the quadratic rung needs this many training rows for each product of two columns
LEAST_GAIN = 3.0  # nats: a likelihood-ratio test of a mixture weight of zero at the level 0.007
LINEAR_PRECISION, BASIS_PRECISION = 0.67, 13.0
LINEAR_ITERATIONS, TOLERANCE = 40, 1e-4


@dataclass(frozen=True)
class LadderSettings:
    """How units are fitted.

    Parameters
    ----------
    networks : int
        Networks in a fold, from different starts.
    hidden_units, components : int
        Width of a network's hidden layer, and Gaussian components of every rung.
    weight_decay : float
        Precision of the normal prior of a network's weights: a rung's penalty is half of it times their squares, in
        nats of the whole log-likelihood, so its pull fades as rows are added.
    iterations : int
        Most L-BFGS iterations of a network.
    folds : int
    max_rows : int
        Rows that a unit learns from at most; the rest is only passed through.
    seed : int
    """

    networks: int = 2
    hidden_units: int = 8
    components: int = 2
    weight_decay: float = 0.67
    iterations: int = 100
    folds: int = 3
    max_rows: int = 30_000
    seed: int = 0


@dataclass(frozen=True)
class _Rung:
    """A way to fit: a name, what it sees of the context, and the start of its network (None: no network)."""

    name: str
    expansion: Expansion = identity
    start: int | None = None


def fit_ladder(target: FloatArray, context: FloatArray, settings: LadderSettings) -> FittedUnit:
    """Fit one unit: normal scores of a target given those of its context.

    Parameters
    ----------
    target : ndarray, shape (n,)
    context : ndarray, shape (c, n)
    settings : LadderSettings

    Returns
    -------
    FittedUnit
        It depends on the arguments alone, not on what else is fitted or in what order.
    """
    if len(context) == 0:
        return MARGINAL
    rng = np.random.default_rng(settings.seed)
    rows = rng.permutation(len(target))[: settings.max_rows]
    folds = np.array_split(rows, settings.folds)
    rungs = _rungs(len(context), len(rows) - len(folds[0]), settings)
    held, fitted = [], []
    for i, held_rows in enumerate(folds):
        train = np.concatenate([fold for j, fold in enumerate(folds) if j != i])
        models, densities, rungs = _climb(target, context, train, held_rows, rungs, settings, choose=i == 0)
        held.append(densities)
        fitted.append(models)
    names = ["marginal", *(rung.name for rung in rungs)]
    weights = mixture_weights(np.hstack(held))
    return _assemble(names, weights, fitted)


def _rungs(c: int, n_train: int, settings: LadderSettings) -> list[_Rung]:
    rungs = [_Rung("linear"), _Rung("additive", additive)]
    if 0 < c * (c - 1) // 2 <= n_train // ROWS_PER_PRODUCT:
        rungs.append(_Rung("quadratic", quadratic))
    return rungs + [_Rung("network", start=s) for s in range(settings.networks)]


def _climb(
    target: FloatArray,
    context: FloatArray,
    train: RowArray,
    held: RowArray,
    rungs: list[_Rung],
    settings: LadderSettings,
    choose: bool,
) -> tuple[list[Model], FloatArray, list[_Rung]]:
    """Fit the rungs on `train` and evaluate them on `held`.

    With `choose`, a rung that adds nothing there to a mixture of those below it is not climbed, here nor in the other
    folds: where nothing is non-linear the ladder ends early, and networks are what costs.
    """
    t, x = target[train], np.ascontiguousarray(context[:, train])
    t_held, x_held = target[held], np.ascontiguousarray(context[:, held])
    densities = [-0.5 * t_held * t_held - HALF_LOG_2PI]
    models: list[Model] = []
    kept: list[_Rung] = []
    refused: set[str] = set()
    linear: Model | None = None  # what networks start from, whether it counts or not
    for rung in rungs:
        if rung.name in refused:
            continue
        if rung.start is None:
            model = _fit_linear(t, x, rung.expansion, settings)
        else:
            linear = linear or _fit_linear(t, x, identity, settings)
            model = _fit_network(t, x, rung.start, settings, linear.theta)
        if rung.name == "linear":
            linear = model
        density = model.log_density(t_held, x_held)
        on_trial = choose and rung.name not in {r.name for r in kept}
        if on_trial and _mixture_gain(densities, density) < LEAST_GAIN:
            refused.add(rung.name)
            continue
        models.append(model)
        densities.append(density)
        kept.append(rung)
    return models, np.array(densities), kept


def _mixture_gain(densities: list[FloatArray], more: FloatArray) -> float:
    """What one more model adds to the log-likelihood of rows under a mixture, in nats."""

    def log_likelihood_of(models: FloatArray) -> float:
        weights = np.maximum(mixture_weights(models), 1e-300)
        return float(np.logaddexp.reduce(models + np.log(weights)[:, None], axis=0).sum())

    return log_likelihood_of(np.array([*densities, more])) - log_likelihood_of(np.array(densities))


def _fit_linear(t: FloatArray, x: FloatArray, expansion: Expansion, settings: LadderSettings) -> Model:
    """Linear location and log-scale in the expanded context.

    It starts from a ridge regression with the components spread over its residual.
    """
    expanded = expansion(x)
    c, n, k = len(expanded), len(t), settings.components
    skip_decay = np.full(c, BASIS_PRECISION / n)
    skip_decay[: len(x)] = LINEAR_PRECISION / n
    location = np.linalg.solve(expanded @ expanded.T + n * np.diag(skip_decay), expanded @ t)
    spread = (t - location @ expanded).std()
    means = np.linspace(-0.8, 0.8, k) * spread if k > 1 else np.zeros(1)
    scale = np.sqrt(max(spread**2 - np.mean(means**2), 0.2 * spread**2))
    start = np.concatenate([location, np.zeros(c + k), means, np.full(k, np.log(scale))])
    decay = np.concatenate([skip_decay, 2.0 * skip_decay, np.full(3 * k, LINEAR_PRECISION / n)])
    network = Network.linear(c, k)
    return Model(network, _train(network, start, decay, t, expanded, LINEAR_ITERATIONS), expansion)


def _fit_network(
    t: FloatArray, x: FloatArray, start_number: int, settings: LadderSettings, linear: FloatArray
) -> Model:
    """A network that starts as the linear rung: its output weights are zero, so it learns only what that misses."""
    c, k, h = len(x), settings.components, settings.hidden_units
    network = Network.tanh(c, h, k)
    (first, first_bias), (_, last_bias) = network.layer_slices
    rng = np.random.default_rng([settings.seed, start_number])
    start, decay = (
        np.zeros(network.n_parameters),
        np.full(network.n_parameters, settings.weight_decay / len(t)),
    )
    decay[first] *= c  # c inputs share the variance of a hidden unit's argument
    start[: 2 * c], start[last_bias] = linear[: 2 * c], linear[2 * c :]
    start[first] = rng.standard_normal(h * c) / np.sqrt(c)
    start[first_bias] = 0.5 * rng.standard_normal(h)
    decay[: 2 * c] = decay[last_bias] = LINEAR_PRECISION / len(t)
    return Model(network, _train(network, start, decay, t, x, settings.iterations), identity)


def _train(
    network: Network,
    start: FloatArray,
    decay: FloatArray,
    t: FloatArray,
    context: FloatArray,
    iterations: int,
) -> FloatArray:
    none = np.empty(0, np.float32), np.empty((len(context), 0), np.float32)
    data = t.astype(np.float32), np.ascontiguousarray(context, dtype=np.float32)
    theta: FloatArray = maximise(start, decay, *network.layout, *data, *none, iterations, TOLERANCE, 0)[0]
    return theta


@compiled()
def mixture_weights(log_densities: FloatArray, iterations: int = 100) -> FloatArray:
    """Weights of a mixture of models that maximise the likelihood of rows, by EM.

    Parameters
    ----------
    log_densities : ndarray, shape (models, n)
        Each model's log-density of each (held-out) row, in nats.
    iterations : int

    Returns
    -------
    ndarray, shape (models,)
    """
    m, n = log_densities.shape
    ratios = np.empty((n, m))
    for i in range(n):
        top = log_densities[:, i].max()
        for j in range(m):
            ratios[i, j] = np.exp(log_densities[j, i] - top)
    weights = np.full(m, 1.0 / m)
    for _ in range(iterations):
        fresh = np.zeros(m)
        for i in range(n):
            total = 0.0
            for j in range(m):
                total += weights[j] * ratios[i, j]
            for j in range(m):
                fresh[j] += weights[j] * ratios[i, j] / total
        fresh /= n
        change = np.abs(fresh - weights).max()
        weights = fresh
        if change < 1e-4:
            break
    return weights


def _assemble(names: list[str], weights: FloatArray, fitted: list[list[Model]]) -> FittedUnit:
    """Drop what does not count and share each rung's weight among its folds' models."""
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    weights /= weights.sum()
    by_name: dict[str, float] = {}
    for name, weight in zip(names, weights, strict=True):
        by_name[name] = by_name.get(name, 0.0) + float(weight)
    counted = [j for j in range(len(weights) - 1) if weights[1 + j] > 0.0]
    models = tuple(fold[j] for j in counted for fold in fitted)
    shares = np.repeat(weights[1:][counted] / len(fitted), len(fitted))
    return FittedUnit(models, shares, float(weights[0]), by_name)

"""The ladder: models of one unit from plain to rich, combined by their held-out likelihood.

    marginal -> linear -> additive -> quadratic -> index -> networks -> wide networks

Every rung is a mixture of Gaussians whose parameters depend on the context (a conditional flow of the paper's kind);
a mixture of rungs is one as well. Rungs are fitted on folds; the weights of the mixture maximise the likelihood of
the held-out rows, so a rung that the data do not support gets no weight. That is the paper's tuning by
cross-validated likelihood, done for every unit by itself.

A row's density is then the average over the folds' models: averaging steadies small networks, and no model has to be
fitted again on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pydine.kernels.likelihood import HALF_LOG_2PI
from pydine.kernels.mixing import logarithm, mixture_log_density, mixture_moments, mixture_weights, smooth_step, total
from pydine.kernels.optimiser import maximise
from pydine.kernels.regression import largest_eigenvector, ridge, weighted_moments
from pydine.types import FloatArray, RowArray
from pydine.units.network import Network
from pydine.units.rows import SEED, dealt, row_marks, signs, some_of
from pydine.units.unit import MARGINAL, Expansion, FittedUnit, Model, additive, cubic, identity, quadratic, with_radius

SharedRungs = dict[tuple[int, str], Model]  # by fold and name

NEGLIGIBLE = 1e-3  # a model of less weight than this is dropped from the mixture
ROWS_PER_PRODUCT = 3  # the quadratic rung needs this many training rows for each product of two columns
# Nats of held-out rows that a rung must add to those below it to begin to count, and to count in full: the levels 0.04
# and 0.001 of a likelihood-ratio test of a mixture weight of zero.
FIRST_GAIN, FULL_GAIN = 1.5, 4.5
TAKEN_OVER = 0.3  # nats of held-out rows that rungs must be missed by together, not to be left out in the end
LINEAR_PRECISION, BASIS_PRECISION = 0.67, 13.0
LINEAR_ITERATIONS, TOLERANCE = 40, 1e-4
WARP_PRECISION = 1000.0  # of the cubes in an index network: columns bend little when they are turned into scores
INDEX_SLOPE = 0.8  # of an index network's hidden units at the start; their middles are spread over the index
PARTITION_ROWS, MOST_PARTITIONS = 1200, 4  # rows of all partitions together, and partitions at most
LEAST_DEVIATION = 1e-6  # of a residual, for its logarithm to be one
PATIENCE = 30  # steps in the first fold that do not follow held-out rows any better, and training ends


@dataclass(frozen=True)
class LadderSettings:
    """How units are fitted.

    Parameters
    ----------
    networks, wide_networks : int
        Networks in a fold, from different starts, beside the two that see one combination of the context; 0 for none at
        all. Wide ones have twice the hidden units and four times the components,
        and see the context's radius: for shapes (clusters, rings) that two Gaussians cannot follow.
    hidden_units, components : int
        Width of a network's hidden layer, and Gaussian components of every rung.
    weight_decay : float
        Precision of the normal prior of a network's weights: a rung's penalty is half of it times their squares, in
        nats of the whole log-likelihood, so its pull fades as rows are added.
    iterations : int
        Most L-BFGS iterations of a network; held-out rows may ask for fewer.
    folds : int
    max_rows : int
        Rows that a unit learns from at most; the rest is only passed through.
    """

    networks: int = 2
    wide_networks: int = 0
    hidden_units: int = 8
    components: int = 2
    weight_decay: float = 0.67
    iterations: int = 150
    folds: int = 3
    max_rows: int = 30_000


@dataclass(frozen=True)
class _Rung:
    """A way to fit: a name, what it sees of the context, the start of its network (None: no network), and most steps.

    "index" and "curved index" are networks that see one linear combination of the context. A z of many columns often
    acts through few of their combinations, and one direction is learned from far fewer rows than a whole network is.
    They start from the direction in which the linear rung found the target to rise, and from the one in which it is
    bent most.
    """

    name: str
    expansion: Expansion = identity
    start: int | None = None
    iterations: int = LINEAR_ITERATIONS

    @property
    def is_wide(self) -> bool:
        return self.name == "wide"

    @property
    def is_index(self) -> bool:
        return self.name in ("index", "curved index")


@dataclass(frozen=True)
class _Folds:
    """What was fitted in every fold: the rows held out, the models, and their log-densities of those rows.

    Where rows are few there are several partitions, one after the other, of `count` folds each.

    The first of the densities' rows is the marginal rung, which has no model. `trust` says how far the first fold's
    rows speak for each rung, between 0 and 1; `sign` with which sign the target was learned.
    """

    count: int
    rows: list[RowArray]
    sign: float
    names: list[str]
    trust: FloatArray
    models: list[list[Model]]
    densities: list[FloatArray]

    def weights(self, without: int | None = None) -> FloatArray:
        """Weights of the mixture of rungs by all rows, or by those that are not in one of the folds, shape (rungs,).

        Without a fold, its own partition alone says what the weights are.
        """
        first = 0 if without is None else without - without % self.count
        last = len(self.densities) if without is None else first + self.count
        held = [self.densities[j] for j in range(first, last) if j != without]
        weights: FloatArray = mixture_weights(np.hstack(held)) * self.trust
        weights /= weights.sum()
        return weights


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
    return _assemble(_fit_folds(target, context, settings))


def cross_fit_ladder(
    target: FloatArray, context: FloatArray, settings: LadderSettings
) -> tuple[FittedUnit, FloatArray]:
    """Fit one unit, and give every row the log-density of models that have not seen it.

    Parameters
    ----------
    target, context, settings
        As in `fit_ladder`.

    Returns
    -------
    unit : FittedUnit
    log_density : ndarray, shape (n,)
        Nats. A row's models were fitted without its fold; the weights of the mixture come from the other folds' rows.
        Which rungs there are and how many steps they take comes from the first fold's.
    """
    if len(context) == 0:
        return MARGINAL, MARGINAL.log_density(target, context)
    folds = _fit_folds(target, context, settings)
    unit = _assemble(folds)
    log_density = _held_out(folds, len(target))
    unseen = np.flatnonzero(np.isnan(log_density))
    log_density[unseen] = unit.log_density(target[unseen], context[:, unseen])
    return unit, log_density


def held_out_likelihood(
    target: FloatArray, context: FloatArray, settings: LadderSettings, shared: SharedRungs
) -> float:
    """Mean held-out log-likelihood of a unit in nats, for tuning.

    Parameters
    ----------
    target, context, settings
        As in `fit_ladder`.
    shared : dict
        Rungs without a network, which depend on `components` and on nothing else that is tuned: those in it are not
        fitted again, and those that are fitted go into it.
    """
    if len(context) == 0:
        return float(MARGINAL.log_density(target, context).mean())
    folds = _fit_folds(target, context, settings, shared)
    return float(np.nanmean(_held_out(folds, len(target))))


def _held_out(folds: _Folds, n: int) -> FloatArray:
    """Log-densities of n rows by models that have not seen them, shape (n,); NaN for rows that no fold has.

    The weights of a fold's mixture come from the other folds. Several partitions are mixed evenly.
    """
    held = np.full((len(folds.rows) // folds.count, n), np.nan)
    for i, (rows, densities) in enumerate(zip(folds.rows, folds.densities, strict=True)):
        held[i // folds.count, rows] = mixture_log_density(densities, folds.weights(without=i))
    mixed: FloatArray = mixture_log_density(held, np.full(len(held), 1.0 / len(held))) if len(held) > 1 else held[0]
    return mixed


def _fit_folds(
    target: FloatArray, context: FloatArray, settings: LadderSettings, shared: SharedRungs | None = None
) -> _Folds:
    shared = {} if shared is None else shared
    # Training is symmetric in the target's sign but for rounding, which it amplifies.
    sign = float(signs(target[None], row_marks(np.vstack([target, context])))[0])
    target = sign * target
    held = _partitions(target, context, settings)
    folds = [_Fold.of(i, target, context, held, settings, shared) for i in range(len(held))]
    climbed = _climb(folds[0], _rungs(len(context), len(folds[0].t), settings))
    models, all_densities = [climbed.models], [climbed.densities]
    for fold in folds[1:]:
        fitted = [fold.fit(rung)[0] for rung in climbed.rungs]
        models.append(fitted)
        all_densities.append(np.array([fold.marginal_density, *map(fold.density_of, fitted)]))
    names = ["marginal", *(rung.name for rung in climbed.rungs)]
    return _Folds(settings.folds, held, sign, names, climbed.trust, models, all_densities)


def _partitions(target: FloatArray, context: FloatArray, settings: LadderSettings) -> list[RowArray]:
    """Which rows each fold holds out, fold by fold of one partition after the other.

    They are dealt out in the order of how far out their target lies; rows as far out as each other go by their context,
    column by column in the end: all columns have the same scores, so sums of their sizes are often equal.
    """
    keys = [target, np.abs(context).sum(axis=0), np.abs(target)]
    if len(np.unique(np.stack(keys), axis=1)[0]) < len(target):
        keys = [*context, *keys]
    order = some_of(np.lexsort(keys), settings.max_rows)
    return [rows for i in range(n_partitions(len(order))) for rows in dealt(order, settings.folds, i)]


def n_partitions(n: int) -> int:
    """How many partitions n rows are worth: which rows are in which fold matters more the fewer there are."""
    return int(np.clip(PARTITION_ROWS // n, 1, MOST_PARTITIONS))


@dataclass(frozen=True)
class _Fold:
    """Rows to learn from and rows that are held out: targets t (n,) and contexts x (c, n) of both.

    Rungs without a network are kept in `shared`.
    """

    i: int
    t: FloatArray
    x: FloatArray
    t_held: FloatArray
    x_held: FloatArray
    settings: LadderSettings
    shared: SharedRungs

    @classmethod
    def of(
        cls,
        i: int,
        target: FloatArray,
        context: FloatArray,
        held: list[RowArray],
        settings: LadderSettings,
        shared: SharedRungs,
    ) -> _Fold:
        """The fold that holds out the i-th of the sets of rows, and learns from the others of its partition."""
        first = i - i % settings.folds
        others = [held[j] for j in range(first, first + settings.folds) if j != i]
        parts = np.concatenate(others), held[i]
        (t, t_held), (x, x_held) = ([np.take(a, rows, axis=-1) for rows in parts] for a in (target, context))
        return cls(i, t, x, t_held, x_held, settings, shared)

    @property
    def marginal_density(self) -> FloatArray:
        """Log-density of the held-out rows without their context."""
        return -0.5 * self.t_held * self.t_held - HALF_LOG_2PI

    def density_of(self, model: Model) -> FloatArray:
        """Log-density of the held-out rows under a model."""
        return model.log_density(self.t_held, self.x_held)

    def fit(self, rung: _Rung, watched: bool = False) -> tuple[Model, int]:
        """Fit a rung, and say how many steps its network took; with `watched` as many as the held-out rows ask for."""
        if rung.start is None:
            return self._without_network(rung.name, rung.expansion), rung.iterations
        linear = self._without_network("linear", identity)  # what networks start from, whether it counts or not
        fit = _fit_index if rung.is_index else _fit_network
        held = (self.t_held, self.x_held) if watched else None
        return fit(self.t, self.x, rung, self.settings, linear.theta, held)

    def _without_network(self, name: str, expansion: Expansion) -> Model:
        key = self.i, name
        if key not in self.shared:
            self.shared[key] = _fit_linear(self.t, self.x, expansion, self.settings)
        return self.shared[key]


def _rungs(c: int, n_train: int, settings: LadderSettings) -> list[_Rung]:
    rungs = [_Rung("linear"), _Rung("additive", additive)]
    if 0 < c * (c - 1) // 2 <= n_train // ROWS_PER_PRODUCT:
        rungs.append(_Rung("quadratic", quadratic))
    most = settings.iterations
    if c > 1 and settings.networks > 0:
        rungs += [_Rung("index", cubic, 0, most), _Rung("curved index", cubic, 1, most)]
    rungs += [_Rung("network", identity, start, most) for start in range(settings.networks)]
    return rungs + [_Rung("wide", with_radius, start, 3 * most) for start in range(settings.wide_networks)]


class _Climbed(NamedTuple):
    """What the first fold chose for all folds: rungs, with the steps their networks are worth, and what they count.

    `models` and `densities` (1 + rungs, n) are the first fold's own; `trust` begins with the marginal rung.
    """

    rungs: list[_Rung]
    trust: FloatArray
    models: list[Model]
    densities: FloatArray


def _climb(fold: _Fold, rungs: list[_Rung]) -> _Climbed:
    """Fit the rungs in the first fold, and choose those that all folds will have.

    A rung that adds next to nothing to a mixture of those below it is refused: where nothing is non-linear the ladder
    ends early, and networks are what costs. One that adds little counts in part, so that no single row decides.
    """
    densities = [fold.marginal_density]
    likelihood = _mixture_likelihood(densities)
    models: list[Model] = []
    kept: list[_Rung] = []
    trusted: dict[str, float] = {}
    for rung in rungs:
        if trusted.get(rung.name) == 0.0:
            continue
        model, steps = fold.fit(rung, watched=True)
        density = fold.density_of(model)
        with_it = _mixture_likelihood([*densities, density])
        if rung.name not in trusted:
            trusted[rung.name] = smooth_step(with_it - likelihood, FIRST_GAIN, FULL_GAIN)
        if trusted[rung.name] == 0.0:
            continue
        likelihood = with_it
        models.append(model)
        densities.append(density)
        kept.append(replace(rung, iterations=steps))
    needed = _needed(densities, likelihood)
    counted = np.array([densities[0], *(densities[1 + j] for j in needed)])
    trust = np.array([1.0, *(trusted[kept[j].name] for j in needed)])
    return _Climbed([kept[j] for j in needed], trust, [models[j] for j in needed], counted)


def _needed(densities: list[FloatArray], likelihood: float) -> list[int]:
    """Rungs without which a mixture would follow rows worse: what richer rungs have taken over is left out.

    The plainest stays in any case: a rich one may have done better on these rows by chance.

    Parameters
    ----------
    densities : list of ndarray, shape (n,)
        Log-densities of the marginal rung, then those of the others.
    likelihood : float
        Of the rows under the best mixture of all, in nats.
    """
    needed = list(range(len(densities) - 1))
    for j in needed[1:]:
        others = [i for i in needed if i != j]
        if _mixture_likelihood([densities[0], *(densities[1 + i] for i in others)]) > likelihood - TAKEN_OVER:
            needed = others
    return needed


def _mixture_likelihood(densities: list[FloatArray]) -> float:
    """Log-likelihood of rows under the best mixture of models, in nats."""
    models = np.array(densities)
    return float(total(mixture_log_density(models, mixture_weights(models))))


def _fit_linear(t: FloatArray, x: FloatArray, expansion: Expansion, settings: LadderSettings) -> Model:
    """Linear location and log-scale in the expanded context.

    It starts from a ridge regression with the components spread over its residual.
    """
    expanded = expansion(x)
    c, n, k = len(expanded), len(t), settings.components
    skip_decay = np.full(c, BASIS_PRECISION / n)
    skip_decay[: len(x)] = LINEAR_PRECISION / n
    location, spread = ridge(t, expanded, n * skip_decay)
    start = np.concatenate([location, np.zeros(c), _side_by_side(0.0, max(spread, LEAST_DEVIATION), k)])
    decay = np.concatenate([skip_decay, 2.0 * skip_decay, np.full(3 * k, LINEAR_PRECISION / n)])
    network = Network.linear(c, k)
    return _trained(network, start, decay, t, expanded, _Rung("", expansion))[0]


def _fit_network(
    t: FloatArray,
    x: FloatArray,
    rung: _Rung,
    settings: LadderSettings,
    linear: FloatArray,
    held: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[Model, int]:
    """A network that starts as the linear rung: its output weights are zero, so it learns only what that misses.

    A wide one keeps the linear rung's slopes only and spreads its components over the residual: in the linear rung they
    may coincide, and where they do every gradient that would part them is zero.

    With rows to hold out, training ends when they are followed no better. The steps made are returned beside it.
    """
    expanded = rung.expansion(x)
    c, extra = len(x), len(expanded) - len(x)
    h, k = settings.hidden_units * (2 if rung.is_wide else 1), settings.components * (4 if rung.is_wide else 1)
    network = Network.tanh(c + extra, h, k)
    first, first_bias = network.layer_slices[0]
    rng = np.random.default_rng([SEED, rung.start or 0])
    outputs = _spread(linear[2 * c :], k) if rung.is_wide else linear[2 * c :]
    start, decay = _as_linear(network, linear[:c], linear[c : 2 * c], outputs, settings.weight_decay, len(t))
    decay[first] *= c + extra  # so many inputs share the variance of a hidden unit's argument
    start[first] = rng.standard_normal(h * (c + extra)) / np.sqrt(c + extra)
    start[first_bias] = 0.5 * rng.standard_normal(h)
    return _trained(network, start, decay, t, expanded, rung, held)


def _as_linear(
    network: Network, location: FloatArray, log_scale: FloatArray, outputs: FloatArray, weight_decay: float, n: int
) -> tuple[FloatArray, FloatArray]:
    """Parameters (p,) that make a network the linear rung, whose columns come first, and their decay, for n rows."""
    start, decay = np.zeros(network.n_parameters), np.full(network.n_parameters, weight_decay / n)
    c, last_bias = network.n_context, network.layer_slices[-1][1]
    start[: len(location)], start[c : c + len(log_scale)], start[last_bias] = location, log_scale, outputs
    decay[: network.n_skip] = decay[last_bias] = LINEAR_PRECISION / n
    return start, decay


def _fit_index(
    t: FloatArray,
    x: FloatArray,
    rung: _Rung,
    settings: LadderSettings,
    linear: FloatArray,
    held: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[Model, int]:
    """A network of one linear combination of the context; it starts as the linear rung, as `_fit_network` does."""
    expanded, c, h, n = rung.expansion(x), len(x), settings.hidden_units, len(t)
    network = Network.index(len(expanded), h, settings.components)
    (direction, _), (slopes, middles), _ = network.layer_slices
    start, decay = _as_linear(network, linear[:c], linear[c : 2 * c], linear[2 * c :], settings.weight_decay, n)
    start[direction][:c] = _bent(t, x, linear[:c]) if rung.start else _unit(linear[:c])
    start[slopes] = INDEX_SLOPE
    start[middles] = INDEX_SLOPE * np.linspace(1.3, -1.3, h)
    decay[c : 2 * c] = decay[3 * c : 4 * c] = decay[direction][c:] = WARP_PRECISION / n
    return _trained(network, start, decay, t, expanded, rung, held)


def _unit(direction: FloatArray) -> FloatArray:
    return direction / max(float(np.sqrt(total(direction * direction))), 1e-12)


def _bent(t: FloatArray, x: FloatArray, location: FloatArray) -> FloatArray:
    """Where the target bends most along the context: the first principal Hessian direction (Li 1992), shape (c,)."""
    residual = t.copy()
    for slope, column in zip(location, x, strict=True):
        residual -= slope * column
    bent: FloatArray = largest_eigenvector(weighted_moments(x, residual - total(residual) / len(t)))
    return bent


def _spread(outputs: FloatArray, k: int) -> FloatArray:
    """K equal Gaussians side by side with mean and variance of a mixture: logits, means and log-scales, shape (3k,)."""
    mean, variance = mixture_moments(*outputs.reshape(3, -1))
    return _side_by_side(mean, np.sqrt(variance), k)


def _side_by_side(mean: float, deviation: float, k: int) -> FloatArray:
    """K equal Gaussians side by side, as one of this mean and deviation: logits, means and log-scales, shape (3k,)."""
    places = np.linspace(-0.8, 0.8, k) if k > 1 else np.zeros(1)
    scale = deviation * np.sqrt(max(1.0 - total(places * places) / k, 0.2))
    return np.concatenate([np.zeros(k), mean + places * deviation, np.full(k, logarithm(scale))])


def _trained(
    network: Network,
    start: FloatArray,
    decay: FloatArray,
    t: FloatArray,
    expanded: FloatArray,
    rung: _Rung,
    held: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[Model, int]:
    """Train a network on rows whose context is expanded already."""
    watched = (np.empty(0), np.empty((len(expanded), 0))) if held is None else (held[0], rung.expansion(held[1]))
    rows = [a.astype(np.float32, order="C") for a in (t, expanded, *watched)]
    _, theta, steps = maximise(start, decay, *network.layout, *rows, rung.iterations, TOLERANCE, PATIENCE)
    return Model(network, theta, rung.expansion), steps


def _assemble(folds: _Folds) -> FittedUnit:
    """Drop what does not count and share each rung's weight among its folds' models."""
    weights = folds.weights()
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    weights /= weights.sum()
    by_name: dict[str, float] = {}
    for name, weight in zip(folds.names, weights, strict=True):
        by_name[name] = by_name.get(name, 0.0) + float(weight)
    counted = [j for j in range(len(weights) - 1) if weights[1 + j] > 0.0]
    models = tuple(fold[j] for j in counted for fold in folds.models)
    shares = np.repeat(weights[1:][counted] / len(folds.models), len(folds.models))
    return FittedUnit(models, shares, float(weights[0]), by_name, folds.sign)

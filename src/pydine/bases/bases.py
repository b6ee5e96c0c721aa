"""Base distributions: from latents to nats.

A base is a model of how the latents of x and y depend on each other (paper, "CMI Approximation": the framework holds
for any family of base distributions). Its contract is small. `Base.fit` takes `Latents` and returns a `FittedBase`:

- ``value`` and ``standard_error``, in nats;
- ``held_out``, shape (n,): ln p(x, y | z) - ln p(x | z) - ln p(y | z) of every row by models that have not seen it. Its
  mean is by how much the base predicts y better than independence does, so bases compete by it;
- ``log_ratio``: the same of new rows.

`GaussianBase` is the paper's closed form, `StudentBase` adds tails that the sides share, and `FlowBase` is the paper's
density-based definition with conditional flows, which can follow any shape. `choose` picks one by held-out likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, ndtr, ndtri, stdtrit

from pydine.bases.closed_form import (
    gaussian_information,
    gaussian_standard_error,
    rank_effect,
    wishart_bias,
    without_chance,
)
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.cache import UnitCache
from pydine.units.execution import run
from pydine.units.ladder import LadderSettings, cross_fit_ladder, mixture_log_density, mixture_weights
from pydine.units.plan import Unit, autoregressive
from pydine.units.unit import MARGINAL, FittedUnit

LogRatio = Callable[[FloatArray, FloatArray], FloatArray]

BIAS_REPLICATES = 16
LEAST_ERRORS = 3.0  # a richer base must predict held-out rows better than a plainer one by so many standard errors
FEWEST_DEGREES, MOST_DEGREES = 0.5, 60.0  # of freedom of a Student base
FARTHEST_SCORE = 8.0  # beyond, the probability of a tail is lost in rounding
STUDENT_STEPS, ROWS_FOR_DEGREES = 6, 5000


@dataclass(frozen=True)
class FittedBase:
    """What a base says of a sample.

    Parameters
    ----------
    name : str
    value, standard_error : float
        Nats.
    log_ratio : callable
        Latents of new rows (dx + dy, m) and their z (dz, m) to log-ratios (m,).
    evaluate : callable
        Makes `held_out`, when it is asked for.
    details : dict
    """

    name: str
    value: float
    standard_error: float
    log_ratio: LogRatio
    evaluate: Callable[[], FloatArray]
    details: dict[str, object] = field(default_factory=dict)

    @cached_property
    def held_out(self) -> FloatArray:
        """Log-ratios of the sample's rows, each by models that have not seen the row, in nats, shape (n,)."""
        return self.evaluate()

    def gain_over(self, other: FittedBase) -> tuple[float, float]:
        """By how much rows are predicted better than by another base: mean and its standard error, in nats."""
        return _mean(self.held_out - other.held_out)

    def beats(self, other: FittedBase) -> bool:
        """Whether the gain over a plainer base is more than chance."""
        return _significant(self.held_out - other.held_out)


class Base(Protocol):
    """The contract of a base distribution."""

    def fit(self, latents: Latents) -> FittedBase:
        """Model the dependence between the sides of latents."""
        ...


# --- Gaussian ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianBase:
    """Jointly Gaussian latents and the closed form 0.5 ln(det S_x det S_y / det S_xy) (paper, DINA-Gaussian).

    Parameters
    ----------
    folds, seed : int
    corrected : bool
        Whether the closed form's bias and that of ranks are taken off.
    """

    folds: int = 3
    seed: int = 0
    corrected: bool = True

    def fit(self, latents: Latents) -> FittedBase:
        """Take the closed form of the latents' covariance."""
        (dx, dy, _), dof = latents.dimensions, latents.dof
        covariance = latents.cross_product / dof
        value, error = gaussian_information(covariance, dx), gaussian_standard_error(covariance, dx, dof)
        details: dict[str, object] = {}
        if self.corrected:
            rng = np.random.default_rng([self.seed, dx, dy])
            ranks = rank_effect(covariance, dx, dof, latents.n_rows, BIAS_REPLICATES, rng)
            details = {"wishart_bias": wishart_bias(dx, dy, dof), "rank_bias": ranks.bias}
            value, error = value - wishart_bias(dx, dy, dof) - ranks.bias, error * ranks.inflation
        ratio = _EllipticalRatio(covariance, np.inf, dx)
        return FittedBase("gaussian", value, error, ratio, lambda: self._held_out(latents), details)

    def _held_out(self, latents: Latents) -> FloatArray:
        """Log-ratios with the covariance of the other folds, less chance, mixed with independence.

        A Gaussian whose covariance is only estimated predicts a Student vector.
        """
        both, dx, ratios = latents.both, latents.dimensions[0], np.empty(latents.n_rows)
        total = both @ both.T
        for rows in _folds(latents.n_rows, self.folds, self.seed):
            part = both[:, rows]
            dof = latents.dof * (1.0 - len(rows) / latents.n_rows)
            learned = without_chance((total - part @ part.T) / dof, dx, dof)
            ratios[rows] = _EllipticalRatio(learned, max(dof - len(both) + 1.0, 1.0), dx).of(part)
        return _or_independent(ratios, self.folds, self.seed)


@dataclass(frozen=True)
class _EllipticalRatio:
    """ln p(x, y) - ln p(x) - ln p(y) of rows of a Student vector, or for infinite degrees a Gaussian one.

    With maps, rows are first turned into the Student scores of a copula.
    """

    scale: FloatArray
    degrees: float
    dx: int
    maps: tuple[ScoreMap, ...] = ()

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:  # noqa: ARG002 - the contract of log-ratios
        if self.maps:
            return self.of(_student_scores(_scores(self.maps, both), self.degrees))
        return self.of(np.clip(both, -FARTHEST_SCORE, FARTHEST_SCORE))

    def of(self, columns: FloatArray) -> FloatArray:
        """Log-ratios of rows of the vector itself, shape (dx + dy, n)."""
        total: FloatArray = np.zeros(columns.shape[1])
        for rows, sign in ((slice(None), 1.0), (slice(0, self.dx), -1.0), (slice(self.dx, None), -1.0)):
            total += sign * _elliptical_density(columns[rows], self.scale[rows, rows], self.degrees)
        return total


def _elliptical_density(columns: FloatArray, scale: FloatArray, degrees: float) -> FloatArray:
    """Log-density of a Student (Gaussian) vector (d, n), shape (n,), but for constants that are proportional to d."""
    d = len(columns)
    factor = np.linalg.cholesky(scale)
    white = solve_triangular(factor, columns, lower=True)
    far = (white * white).sum(axis=0)
    half = 0.5 * far
    constant = -np.log(np.diag(factor)).sum()
    if np.isfinite(degrees):
        half = 0.5 * (degrees + d) * np.log1p(far / degrees)
        constant += gammaln(0.5 * (degrees + d)) - gammaln(0.5 * degrees) - 0.5 * d * np.log(0.5 * degrees)
    density: FloatArray = constant - half
    return density


# --- Student ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudentBase:
    """A Student copula: latents that are Gaussian but for one random scale, which x and y share.

    The value is the mean log-ratio of the rows, which for a Gaussian copula is the closed form, less the same bias.

    Parameters
    ----------
    folds, seed : int
    """

    folds: int = 3
    seed: int = 0

    def fit(self, latents: Latents) -> FittedBase:
        """Fit v and R by maximum likelihood of the copula."""
        maps, scores = _score_maps(latents.both, self.seed)
        (dx, dy, _), n = latents.dimensions, latents.n_rows
        some = np.random.default_rng(self.seed).permutation(n)[:ROWS_FOR_DEGREES]
        degrees = _student_degrees(scores[:, some])
        t = _student_scores(scores, degrees)
        correlation = _student_correlation(t, degrees)

        ratio = _EllipticalRatio(correlation, degrees, dx, maps)

        def held_out() -> FloatArray:
            ratios = np.empty(n)
            for rows in _folds(n, self.folds, self.seed):
                learned = _student_correlation(np.delete(t, rows, axis=1), degrees)
                learned = without_chance(learned, dx, latents.dof * (1.0 - len(rows) / n))
                ratios[rows] = _EllipticalRatio(learned, degrees, dx).of(t[:, rows])
            return _or_independent(ratios, self.folds, self.seed)

        value, error = _mean(ratio.of(t))
        ranks = rank_effect(
            correlation, dx, latents.dof, n, BIAS_REPLICATES, np.random.default_rng([self.seed, dx, dy])
        )
        details = {"wishart_bias": wishart_bias(dx, dy, latents.dof), "rank_bias": ranks.bias}
        value -= sum(details.values())
        return FittedBase("student", value, error, ratio, held_out, {**details, "student_degrees": degrees})


def _student_degrees(scores: FloatArray) -> float:
    """Degrees of freedom of largest likelihood, at the correlation of normal scores (d, n): they hardly interact."""
    correlation: FloatArray = np.asarray(np.corrcoef(scores))

    def loss(log_degrees: float) -> float:
        degrees = float(np.exp(log_degrees))
        return -float(_student_copula(_student_scores(scores, degrees), correlation, degrees).mean())

    return float(np.exp(_minimum(loss, np.log(FEWEST_DEGREES), np.log(MOST_DEGREES), 0.05)))


def _minimum(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Where a function with one minimum has it, by golden sections; scipy.optimize takes longer to import than this."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    inner = [high - golden * (high - low), low + golden * (high - low)]
    values = [function(place) for place in inner]
    while high - low > tolerance:
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - golden * (high - low)
            values[0] = function(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + golden * (high - low)
            values[1] = function(inner[1])
    return float(inner[int(values[1] < values[0])])


def _student_scores(scores: FloatArray, degrees: float) -> FloatArray:
    """Normal scores (d, n) to Student scores, through a fine table: quantiles are slow one by one."""
    table = np.linspace(0.0, FARTHEST_SCORE, 512)
    quantiles = np.arcsinh(-stdtrit(degrees, ndtr(-table)))
    mapped: FloatArray = np.copysign(np.sinh(np.interp(np.abs(scores), table, quantiles)), scores)
    return mapped


def _student_correlation(t: FloatArray, degrees: float) -> FloatArray:
    """Correlation matrix of a Student vector (d, n) by EM: rows far out count less."""
    d, n = t.shape
    correlation = np.eye(d)
    for _ in range(STUDENT_STEPS):
        white = solve_triangular(np.linalg.cholesky(correlation), t, lower=True)
        weighted = t * ((degrees + d) / (degrees + (white * white).sum(axis=0)))
        covariance = weighted @ t.T / n
        scale = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(scale, scale)
    return correlation


def _student_copula(t: FloatArray, correlation: FloatArray, degrees: float) -> FloatArray:
    """Log-density of the copula at Student scores (d, n), shape (n,)."""
    one = np.ones((1, 1))
    single: FloatArray = np.sum([_elliptical_density(column[None], one, degrees) for column in t], axis=0)
    return _elliptical_density(t, correlation, degrees) - single


# --- flow -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlowBase:
    """Conditional flows of the latents: E[ln p(y | x, z) - ln p(y | z)] on held-out rows (paper, density-based CMI).

    The side with fewer columns is predicted from the other: fewer flows to fit. Where both have as many, y is predicted
    from x, and, if that sees more than the plain bases do, x from y as well. If it sees nothing more, they stand.

    The densities of all (both directions and the plain bases) are mixed with weights that maximise the likelihood of
    held-out rows. Flows fall short of what they could learn, so the mean log-ratio of held-out rows alone would be too
    low; that of the better plain base is too, by about as much where latents are near Gaussian, and its value is known
    without that loss. So the value is the plain base's plus what the mixture predicts better than it.

    Parameters
    ----------
    ladder : LadderSettings
    n_jobs : int or None
    cache : UnitCache, optional
    """

    ladder: LadderSettings
    n_jobs: int | None = None
    cache: UnitCache | None = None

    def fit(self, latents: Latents) -> FittedBase:
        """Fit the flows and mix them with the plain bases."""
        folds, seed = self.ladder.folds, self.ladder.seed
        return self.fit_beside([GaussianBase(folds, seed).fit(latents), StudentBase(folds, seed).fit(latents)], latents)

    def fit_beside(self, plain: list[FittedBase], latents: Latents) -> FittedBase:
        """Fit the flows and mix them with plain bases that were fitted to the same latents."""
        folds, seed = self.ladder.folds, self.ladder.seed
        anchor = max(plain, key=lambda base: float(base.held_out.mean()))
        dx, dy, _ = latents.dimensions
        directions = []
        for side in ("y", "x") if dx == dy else ("y",) if dy < dx else ("x",):
            direction = _Direction.fit(side, latents, self, anchor.held_out)
            if direction is None:
                break
            directions.append(direction)
            if not _significant(direction.held_out - anchor.held_out):
                break
        members: list[FittedBase | _Direction] = [anchor, *directions]
        held = np.array([member.held_out for member in members])
        ratios, weights = _stack(held, folds, seed)
        gain, _ = _mean(ratios - anchor.held_out)
        ratio = _MixtureRatio(tuple(member.log_ratio for member in members), weights)
        names = [anchor.name, *(direction.name for direction in directions)]
        details = {**anchor.details, "mixture": dict(zip(names, weights.tolist(), strict=True))}
        error = max(anchor.standard_error, _mean(ratios)[1])
        return FittedBase("flow", anchor.value + gain, error, ratio, lambda: ratios, details)


@dataclass(frozen=True)
class _MixtureRatio:
    """Log-ratios under a mixture of models."""

    members: tuple[LogRatio, ...]
    weights: FloatArray

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        return mixture_log_density(np.array([member(both, z) for member in self.members]), self.weights)


@dataclass(frozen=True)
class _DirectionRatio:
    """Log-ratios by flows of one side: their densities with the other side in the context, less those without it."""

    maps: tuple[ScoreMap, ...]
    units: list[tuple[Unit, float, FittedUnit]]

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        columns = np.vstack([_scores(self.maps, both), z])
        total: FloatArray = np.zeros(both.shape[1])
        for unit, sign, fitted in self.units:
            total += sign * fitted.log_density(columns[unit.target], columns[list(unit.context)])
        return total


@dataclass(frozen=True)
class _Direction:
    """Flows of one side's latents given z, with the other side and without it."""

    name: str
    log_ratio: LogRatio
    held_out: FloatArray

    @classmethod
    def fit(cls, side: str, latents: Latents, base: FlowBase, plain: FloatArray) -> _Direction | None:
        """Fit the flows of side ``"x"`` or ``"y"``, or return None if they see no more than `plain` log-ratios (n,)."""
        ladder = base.ladder
        dx, dy, dz = latents.dimensions
        maps, scores = _score_maps(latents.both, ladder.seed)
        columns = np.vstack([scores, latents.z])
        x, y, z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
        targets, others = (y, x) if side == "y" else (x, y)

        def fit_units(units: list[Unit]) -> tuple[list[FittedUnit], FloatArray]:
            def fit_unit(unit: Unit) -> tuple[FittedUnit, FloatArray]:
                cross_fit = base.cache.cross_fit if base.cache else cross_fit_ladder
                return cross_fit(columns[unit.target], columns[list(unit.context)], ladder)

            fitted, densities = zip(*run(fit_unit, units, base.n_jobs), strict=True)
            return list(fitted), np.sum(densities, axis=0)

        seeing, blind = autoregressive(targets, (*others, *z)), autoregressive(targets, z)
        with_other, density = fit_units(seeing)
        # Without the other side a flow is at least as good as none at all, so log-ratios can be no larger than these.
        most = density - sum(MARGINAL.log_density(columns[target], columns[:0]) for target in targets)
        if not _significant(_stack(np.array([plain, most]), ladder.folds, ladder.seed)[0] - plain, errors=1.0):
            return None
        without_other, alone = fit_units(blind)
        units = [(unit, 1.0, fitted) for unit, fitted in zip(seeing, with_other, strict=True)]
        units += [(unit, -1.0, fitted) for unit, fitted in zip(blind, without_other, strict=True)]
        name = "y given x" if side == "y" else "x given y"
        return cls(name, _DirectionRatio(maps, units), density - alone)


def _stack(held: FloatArray, folds: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Mix log-ratios (members, n) with weights from the other folds; the weights returned are those of all rows."""
    ratios = np.empty(held.shape[1])
    for rows in _folds(len(ratios), folds, seed):
        ratios[rows] = mixture_log_density(held[:, rows], mixture_weights(np.delete(held, rows, axis=1)))
    return ratios, mixture_weights(held)


def _or_independent(ratios: FloatArray, folds: int, seed: int) -> FloatArray:
    """Mix log-ratios (n,) with independence, so that a base which learned nothing but noise says so."""
    return _stack(np.array([np.zeros(len(ratios)), ratios]), folds, seed)[0]


# --- choice -----------------------------------------------------------------------------------------------------------


def choose(bases: Sequence[FittedBase]) -> FittedBase:
    """Choose among bases, from plain to rich, by held-out likelihood: a richer one must win by more than chance."""
    chosen = bases[0]
    for base in bases[1:]:
        if base.beats(chosen):
            chosen = base
    return chosen


def _score_maps(columns: FloatArray, seed: int) -> tuple[tuple[ScoreMap, ...], FloatArray]:
    """Normal scores of columns (d, n), and the maps to them.

    A row's place within its rank is drawn at random (the distributional transform). All columns would share one grid of
    scores otherwise, and a density can be as high as it likes where two grids meet.
    """
    maps, scores, n = [], np.empty(columns.shape), columns.shape[1]
    for i, column in enumerate(columns):
        maps.append(ScoreMap.fit(np.ascontiguousarray(column))[0])
        within = np.random.default_rng([seed, i]).uniform(size=n)
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        below = (np.cumsum(counts) - counts)[inverse]
        scores[i] = ndtri((below + counts[inverse] * within) / n)
    return tuple(maps), np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)


def _scores(maps: tuple[ScoreMap, ...], columns: FloatArray) -> FloatArray:
    """Normal scores of new rows (d, m), within what can be told apart."""
    scores = np.array([m(np.ascontiguousarray(column)) for m, column in zip(maps, columns, strict=True)])
    clipped: FloatArray = np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE)
    return clipped


def _folds(n: int, folds: int, seed: int) -> list[NDArray[np.intp]]:
    return np.array_split(np.random.default_rng(seed).permutation(n), folds)


def _mean(values: FloatArray) -> tuple[float, float]:
    """Mean of rows and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def _significant(gains: FloatArray, errors: float = LEAST_ERRORS) -> bool:
    gain, error = _mean(gains)
    return gain > errors * error

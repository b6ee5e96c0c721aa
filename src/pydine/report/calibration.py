"""How well the flows fit: the likelihood of held-out rows, and their probability integral transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pydine.inputs.table import Question, Table
from pydine.latents.plain import without_ties
from pydine.latents.scores import ScoreMap
from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.work.execution import run

# Folds with many rows, and with few: then flows need nearly all rows to resemble those fitted to all.
FOLDS, FOLDS_OF_FEW, FEW_ROWS = 3, 10, 1000
BINS = 10
MOST_ROWS = 10_000
MOST_CONTEXT = 30
LEAST_ROWS = 40
ROWS_PER_COLUMN = 15  # least number of rows for each column of the context
LOWEST = -100.0  # nats: a row that is nearly impossible under a model does not decide the mean by itself
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Gain:
    """A mean difference of held-out log-likelihoods and its standard error, in nats per row."""

    value: float
    standard_error: float


@dataclass(frozen=True)
class FlowFit:
    """How well the flow of one column, given others, predicts rows that it has not seen.

    Densities are those of the column's normal scores, so that differences between models are those of the column.

    Parameters
    ----------
    name : str
    context : tuple of str
        What the flow is given.
    n_rows : int
        Rows that were held out, each once.
    n_parts : int
        Parts of the rows that were held out, one after the other.
    marginal, linear, flow : float
        Mean held-out log-likelihood in nats per row: of a model that ignores the context, of a linear regression of
        normal scores with normal errors, and of the flow.
    linear_gain, flow_gain, beyond_linear : Gain
        Of the linear model and of the flow over the marginal one, and of the flow over the linear model.
    histogram : ndarray of int, shape (BINS,)
        Of the probability integral transform: where each row fell in the distribution that the flow expected.
    by_third : ndarray of int, shape (3, BINS)
        The same for the rows of which the linear model expects low, middle and high values.
    rungs : dict of str to float
        What the flow is a mixture of, averaged over the folds.
    """

    name: str
    context: tuple[str, ...]
    n_rows: int
    n_parts: int
    marginal: float
    linear: float
    flow: float
    linear_gain: Gain
    flow_gain: Gain
    beyond_linear: Gain
    histogram: NDArray[np.intp]
    by_third: NDArray[np.intp]
    rungs: dict[str, float]


def check_flows(
    columns: Mapping[str, FloatArray],
    questions: Sequence[tuple[str, tuple[str, ...]]],
    settings: LadderSettings,
    n_jobs: int | None = None,
    sampling: Rows = INDEPENDENT,
) -> tuple[FlowFit, ...]:
    """Fit the flow of each question on parts of the rows, and evaluate it on the others.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
    questions : sequence of (str, tuple of str)
        A column, and those that it is given.
    settings : LadderSettings
    n_jobs : int or None
        Threads; the result does not depend on it.
    sampling : Rows
        How rows depend on each other: rows are held out with those that they depend on.
    """
    names, n = list(columns), len(next(iter(columns.values())))
    rows = np.sort(np.random.default_rng(0).permutation(n)[:MOST_ROWS])
    scores = dict(zip(names, _scores(np.column_stack([column[rows] for column in columns.values()])), strict=True))
    some = sampling.only(rows)

    def check(question: tuple[str, tuple[str, ...]]) -> FlowFit:
        name, context = question
        return _check(name, context, scores[name], np.array([scores[other] for other in context]), settings, some)

    return tuple(run(check, list(questions), n_jobs))


def _folds(n: int, sampling: Rows) -> list[HeldOut]:
    """The parts of n rows that are held out, one after the other."""
    order = np.random.default_rng(0).permutation(n)
    if not sampling.exchangeable:
        return sampling.folds(order, FOLDS)
    parts = np.array_split(order, FOLDS if n > FEW_ROWS else FOLDS_OF_FEW)
    return [HeldOut(rows, rows) for rows in parts]


def most_context(n: int) -> int:
    """How many columns a flow may be given with n rows; none if they are too few to hold some out."""
    return 0 if n < LEAST_ROWS else min(MOST_CONTEXT, min(n, MOST_ROWS) // ROWS_PER_COLUMN)


def _scores(columns: FloatArray) -> FloatArray:
    """Normal scores, shape (p, m), of columns (m, p); tied values are spread, since they have no density."""
    untied = without_ties(Question(Table.of([columns]), tuple(range(columns.shape[1])), ()))
    return np.array([ScoreMap.fit(column)[1] for column in untied.table.columns])


def _check(
    name: str,
    context_names: tuple[str, ...],
    target: FloatArray,
    context: FloatArray,
    settings: LadderSettings,
    sampling: Rows,
) -> FlowFit:
    n = len(target)
    densities, expected, transform = np.empty((3, n)), np.empty(n), np.empty(n)
    rungs: dict[str, float] = {}
    folds = _folds(n, sampling)
    for held, away in folds:
        train = np.setdiff1d(np.arange(n), away)
        seen, unseen = np.ascontiguousarray(context[:, train]), np.ascontiguousarray(context[:, held])
        densities[0, held] = -0.5 * target[held] ** 2 - HALF_LOG_2PI
        expected[held], densities[1, held] = _linear(target[train], seen, target[held], unseen)
        unit = fit_ladder(target[train], seen, settings, rows=sampling.only(train))
        densities[2, held] = unit.log_density(target[held], unseen)
        transform[held] = ndtr(unit.latent(target[held], unseen))
        for rung, weight in unit.rung_weights.items():
            rungs[rung] = rungs.get(rung, 0.0) + weight / len(folds)
    bins = np.minimum((transform * BINS).astype(np.intp), BINS - 1)
    thirds = np.array_split(np.argsort(expected, kind="stable"), 3)
    marginal, linear, flow = np.maximum(densities, LOWEST)
    return FlowFit(
        name,
        context_names,
        n,
        len(folds),
        float(marginal.mean()),
        float(linear.mean()),
        float(flow.mean()),
        _gain(linear - marginal, sampling),
        _gain(flow - marginal, sampling),
        _gain(flow - linear, sampling),
        np.bincount(bins, minlength=BINS),
        np.array([np.bincount(bins[third], minlength=BINS) for third in thirds]),
        rungs,
    )


def _linear(
    target: FloatArray, context: FloatArray, held: FloatArray, held_context: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Expected values and log-densities of held-out rows by least squares, shapes (m,)."""
    design = np.vstack([np.ones(len(target)), context]).T
    slopes, *_ = np.linalg.lstsq(design, target, rcond=None)
    variance = max(float(((target - design @ slopes) ** 2).sum()) / (len(target) - len(slopes)), 1e-12)
    expected: FloatArray = slopes[0] + slopes[1:] @ held_context
    return expected, -0.5 * ((held - expected) ** 2 / variance + np.log(variance)) - HALF_LOG_2PI


def _gain(differences: FloatArray, sampling: Rows) -> Gain:
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return Gain(float(differences.mean()), error * float(np.sqrt(sampling.effect_of(lambda: differences))))

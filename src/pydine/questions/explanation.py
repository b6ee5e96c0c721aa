"""The question "why does this column tell so little once the others are known?", answered column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from pydine.answers.asking import ask
from pydine.answers.fitting import fit
from pydine.answers.residuals import numbers
from pydine.answers.settings import CacheLike, Settings
from pydine.inputs.columns import Source, frame_library
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_sides
from pydine.inputs.table import Question
from pydine.results.explanation import Explanation, ExplanationStep
from pydine.types import FloatArray
from pydine.units.rows import SEED
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

__all__ = ["explained", "why"]

MOST_STEPS = 4  # fact: columns that are named one by one
MOST_POINTS = 2000  # fact: rows of a partial plot
CLOSE = 1.0  # convention: standard errors from what all columns leave, within which fewer do as well (Breiman 1984)


def why(
    data: Any,
    name: Any,
    target: Any,
    given: Sequence[Any] | None = None,
    *,
    base: str = "auto",
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Explanation:
    """Say which other columns take over what a column tells about a target, in order, with what is left after each.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        As in `rank`; n rows.
    name, target : column name
    given : sequence of column names, optional
        The other columns; all of `data` by default.
    base, n_jobs, nan_policy, cache, kinds, clusters, time, weights
        As in `mutual_information`. Columns that cannot be used are left out, with a warning, if `given` is not passed,
        and so are those that say how rows were sampled.

    Returns
    -------
    Explanation
        The first column is the one that, given alone, leaves least, the next one leaves least beside it, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.standard_normal((2, 400))
    >>> proxy = cause + 0.5 * rng.standard_normal(400)
    >>> data = {"cause": cause, "proxy": proxy, "noise": noise, "y": cause + rng.standard_normal(400)}
    >>> found = pydine.why(data, "proxy", "y")
    >>> [step.added for step in found.steps]
    [(), ('cause',), ('noise',)]
    >>> found.steps[0].pvalue < 0.001, found.steps[-1].pvalue > 0.05
    (True, True)
    """
    settings = Settings(base=base, n_jobs=n_jobs, cache=UnitCache.of(cache) or UnitCache()).seeded()
    said, source = Dependence(clusters, time, weights=weights), Source.read(data)
    apart = {str(name), str(target), *said.names(source)}
    columns = [key for key in source.names if str(key) not in apart] if given is None else list(given)
    left_out: dict[str, str] | None = {} if given is None else None
    with one_thread():
        source.select("name", name)
        table, places = read_sides(
            {"data": [name, *columns], "target": target},
            data=data,
            nan_policy=nan_policy,
            kinds=kinds,
            left_out=left_out,
            dependence=said,
        )
        if left_out and str(name) in left_out:
            raise ValueError(f"column {name!r} cannot be used: {left_out[str(name)]}.")
        first, *others = places["data"]
        return explained(Question(table, (first,), places["target"], tuple(others)), settings, frame_library(data))


def explained(question: Question, settings: Settings, backend: str = "pandas") -> Explanation:
    """Add the columns that are given to the question one after the other, those that take most first."""
    signatures = question.table.signatures
    own = {signatures[i] for i in (*question.x, *question.y)}
    others = [i for i in question.given if signatures[i] not in own]  # a copy would explain everything, and nothing
    whole = replace(question, given=tuple(others))
    steps = [_step(replace(question, given=()), (), settings)]
    last = _step(whole, (), settings) if others else None
    given: tuple[int, ...] = ()
    while last is not None and len(given) < min(len(others) - 1, MOST_STEPS) and not _is_close(steps[-1], last):
        asked = {i: replace(question, given=(*given, i)) for i in others if i not in given}
        found = {i: _step(one, (question.table.names[i],), settings) for i, one in asked.items()}
        best = min(found, key=lambda i: found[i].left.value)
        given = (*given, best)
        steps.append(found[best])
    if last is not None:
        steps.append(replace(last, added=tuple(question.table.names[i] for i in others if i not in given)))
    names = question.names
    r, pvalue = _partial_correlation(whole)
    return Explanation(names[0][0], ", ".join(names[1]), tuple(steps), r, pvalue, _residuals(whole, settings), backend)


def _is_close(step: ExplanationStep, last: ExplanationStep) -> bool:
    """Whether the columns so far leave no more than all of them do, as far as the errors tell."""
    error = max(step.left.standard_error, last.left.standard_error)
    return step.left.value <= last.left.value + CLOSE * error


def _step(question: Question, added: tuple[str, ...], settings: Settings) -> ExplanationStep:
    found = ask(question, settings)
    return ExplanationStep(added, found.estimate, found.pvalue)


def _partial_correlation(question: Question) -> tuple[float, float]:
    """The linear partial correlation of x and y, and the p-value of its t-test; NaN if a side has several columns."""
    table = question.table
    sides = [np.vstack([numbers(table, i) for i in side]) for side in (question.x, question.y)]
    if any(len(side) > 1 for side in sides):
        return np.nan, np.nan
    n = table.n_samples
    context = np.vstack([np.ones(n), *(numbers(table, i) for i in question.given)])
    context[1:] -= context[1:].mean(axis=1, keepdims=True)
    context[1:] /= np.maximum(context[1:].std(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    both = np.vstack(sides)
    both = (both - both.mean(axis=1, keepdims=True)) / both.std(axis=1, keepdims=True)
    weights, _, rank, _ = np.linalg.lstsq(context.T, both.T, rcond=None)
    x, y = both - (context.T @ weights).T
    size, freedom = float(np.sqrt((x @ x) * (y @ y))), n - int(rank) - 1
    if size <= n * np.finfo(np.float64).eps or freedom < 1:
        return np.nan, np.nan
    r = float(np.clip(x @ y / size, -1.0, 1.0))
    effect, degrees = table.rows.effect(x * y)
    t = abs(r) * np.sqrt(freedom / (effect * max(1.0 - r * r, np.finfo(np.float64).tiny)))
    return r, float(max(2.0 * stdtr(min(freedom, degrees), -t), np.finfo(np.float64).tiny))


def _residuals(question: Question, settings: Settings) -> FloatArray:
    """Both sides less what functions of z predict of them, in their own units, shape (2, m); (2, 0) of labels."""
    left = None if len(question.y) > 1 else fit(question, settings).residuals(question)
    if left is None:
        return np.empty((2, 0))
    both = np.ascontiguousarray(np.hstack(left).T)
    if both.shape[1] > MOST_POINTS:
        both = both[:, np.sort(np.random.default_rng(SEED).permutation(both.shape[1])[:MOST_POINTS])]
    found: FloatArray = np.ascontiguousarray(both)
    return found

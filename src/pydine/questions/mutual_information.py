"""The questions "how much does X tell about Y, given Z?" and "which rows carry it?"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pydine.answers.answer import Answer
from pydine.answers.fitting import fit
from pydine.answers.policy import warn_if_determined
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_question
from pydine.inputs.table import Question
from pydine.questions.streamed.refining import is_refinable, of_sample, refined, sample_of
from pydine.results import InformationEstimate, PointwiseInformation
from pydine.types import FloatArray, RowArray
from pydine.units.rows import some_of
from pydine.work.cache import UnitCache

if TYPE_CHECKING:
    pass

MOST_POINTS = 5000  # memory: rows that an estimate keeps to be drawn


@shown_in_notebooks("Estimating")
def mutual_information(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    base: str = "auto",
    interval: str = "fast",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    within: str | None = None,
    weights: Any = None,
) -> InformationEstimate:
    """Estimate the mutual information I(X;Y), or I(X;Y|Z) given a third argument.

    Parameters
    ----------
    x, y, z : array-like of shape (n,) or (n, d), column, frame, dict of columns, or names of columns of `data`
        Observations of X, Y and, for conditional information, Z: arrays, lists, pandas, polars or pyarrow. They may
        hold numbers, counts, labels or booleans; a vector variable has several columns.
    data : frame, optional
        A pandas or polars frame, a pyarrow table, whatever has ``__arrow_c_stream__`` (a DuckDB relation), a dict of
        columns, or a 2-D array; x, y and z then name its columns.
        Also a table beyond memory, which is streamed: the path of a Parquet or Arrow file or of a folder of them, a
        pyarrow dataset, a polars LazyFrame, a Dask frame.
    base : {"auto", "gaussian", "student", "mixture", "flow"}, default="auto"
        Base distribution of the latents (see `DINE`).
    interval : {"fast", "calibrated"}, default="fast"
        How to estimate what the flows have not learned of Z: from their optimism, or also from five datasets that the
        fitted flow generates and that are estimated again, which takes up to ten times as long.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect: only `DINE.paper()` draws random numbers.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity: refused, or left out and counted in the result.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept. The result does not depend on it.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another: text, categories and booleans are nominal,
        counts and other numbers that repeat ordinal, by default. Arrays without names are called x, y and z.
    clusters : column name or array-like of shape (n,), optional
        Which rows belong together (subjects, sites, families): rows of different clusters are independent, those of one
        may depend on each other in any way. Whole clusters are held out, and errors are those of sums over clusters.
    time : True, column name or array-like of shape (n,), optional
        That rows are in the order of time, or what orders them. Stretches of time are held out, with gaps, and errors
        allow for serial correlation. With `clusters`, a panel.
    within : {None, "clusters"}, default=None
        Ask what X tells about Y among rows of one cluster: the clusters' means of X and Y are given.
    weights : column name or array-like of shape (n,), optional
        How many observations each row stands for. Whole numbers are frequencies: answers are those of the table in
        which each row stands so many times. Other numbers are weights of a survey, of which only the ratios matter.

    Returns
    -------
    InformationEstimate
        ``value`` in nats, ``bits``, ``standard_error``, ``confidence_interval(0.95)``; ``float()`` gives the value.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(1000)
    >>> x, y = z + rng.standard_normal((2, 1000))
    >>> float(pydine.mutual_information(x, y)) > float(pydine.mutual_information(x, y, z))
    True
    """
    said = Dependence(clusters, time, within, weights)
    settings = Settings(
        base=base, interval=interval, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)
    ).seeded()
    sample = sample_of(data, (x, y, z), nan_policy)
    if sample is not None:
        said.refused("for streamed tables")
    source = data if sample is None else sample.columns
    question = read_question(x, y, z, data=source, nan_policy=nan_policy, kinds=kinds, dependence=said)
    answer = fit(question, settings)
    information = answer.information_of(question)
    if sample is not None and is_refinable(answer, sample):
        answer, _ = refined(answer, sample, n_jobs)
        information = answer.information_of(question)
        information = replace(information, n_samples=sample.n_rows, n_dropped=sample.n_dropped)
    elif sample is not None:
        information = of_sample(information, answer, sample)
    if answer.verdict is not None:
        warn_if_determined(answer.verdict, question)
        return information
    return replace(information, points=_Points(answer, question))


@dataclass(frozen=True)
class _Points:
    """Some rows of a fit, for a plot; computed only when one is drawn."""

    fitted: Answer
    question: Question

    def __call__(self, information: InformationEstimate) -> PointwiseInformation:
        latents = self.fitted.shown
        rows = np.sort(some_of(latents.outwards, MOST_POINTS))
        dx, both = latents.dimensions[0], latents.both[:, rows]
        sides, positions = (both[:dx].T, both[dx:].T), self.question.table.positions[rows]
        left = self.fitted.residuals(self.question)
        some = None if left is None else (left[0][rows], left[1][rows])
        observed = observed_of(self.question, rows)
        return PointwiseInformation(self.fitted.of_rows(rows), positions, sides, information, observed, some)


def observed_of(question: Question, rows: RowArray | slice = slice(None)) -> tuple[FloatArray, FloatArray]:
    """Rows of x and of y as they came, shapes (m, dx) and (m, dy)."""
    columns = question.table.columns
    return columns[list(question.x)][:, rows].T, columns[list(question.y)][:, rows].T


@shown_in_notebooks("Estimating")
def pointwise_information(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    within: str | None = None,
    weights: Any = None,
) -> PointwiseInformation:
    """Estimate what every row contributes to the information I(X;Y) or I(X;Y|Z): which rows carry the dependence.

    Parameters
    ----------
    x, y, z, data, base, random_state, n_jobs, nan_policy, kinds, clusters, time, within, weights
        As in `mutual_information`.

    Returns
    -------
    PointwiseInformation
        ``values`` in nats with ``rows``, their places in the data; ``top(10)``, ``plot()``, and ``estimate``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(1000)
    >>> y = np.where(np.arange(1000) < 500, x + 0.3 * rng.standard_normal(1000), rng.standard_normal(1000))
    >>> pointwise = pydine.pointwise_information(x, y)
    >>> bool((pointwise.top(100) < 500).mean() > 0.7)
    True
    """
    said = Dependence(clusters, time, within, weights)
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs).seeded()
    question = read_question(x, y, z, data=data, nan_policy=nan_policy, kinds=kinds, dependence=said)
    answer = fit(question, settings)
    if answer.verdict is not None:
        raise ValueError(f"there is no pointwise information, because {answer.verdict.reason}.")
    sides = answer.shown.of("x").T, answer.shown.of("y").T
    information, positions = answer.information_of(question), question.table.positions
    left = answer.residuals(question)
    return PointwiseInformation(answer.values(), positions, sides, information, observed_of(question), left)

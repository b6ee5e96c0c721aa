"""The questions "how long after X does Y follow?" and "does the past of X tell what the past of Y does not?"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pydine.answers.asking import Answered, ask
from pydine.answers.contrasts import correlations_of
from pydine.answers.policy import warn_if_determined
from pydine.answers.settings import CacheLike, Settings, is_integer
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.checks import check_nan_policy, finite_rows
from pydine.inputs.columns import Source
from pydine.inputs.dependence import Dependence, codes_of, order_of
from pydine.inputs.reading import read_question
from pydine.inputs.table import Question
from pydine.nulls.pvalues import adjusted
from pydine.results.lags import LaggedInformation, TransferInformation
from pydine.types import FloatArray, IntArray
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread


@shown_in_notebooks("Estimating")
@one_thread()
def lagged_information(
    data: Any,
    x: Any,
    y: Any,
    lags: Iterable[int] = range(25),
    *,
    given: Any = None,
    condition_on_past: int = 0,
    clusters: Any = None,
    time: Any = True,
    base: str = "auto",
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
) -> LaggedInformation:
    """Estimate the information between x, so many rows before, and y, at each of several lags.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        One row for each time, at equal distances.
    x, y : column name
    lags : iterable of int, default=range(25)
        By how many rows x comes before y; negative ones after it.
    given : column name or list of names, optional
        To condition on, at the time of y.
    condition_on_past : int, default=0
        So many rows before y, of y itself, are given as well.
    clusters : column name or array-like of shape (n,), optional
        Series that are side by side, as in a panel; lags stay within each.
    time : True, column name or array-like of shape (n,), default=True
        What orders the rows.
    base, n_jobs, cache
        As in `mutual_information`.
    nan_policy : {"raise", "omit"}, default="raise"
        Refuse NaN and infinity, or leave out the rows that would need such a value.

    Returns
    -------
    LaggedInformation
        ``estimates`` and ``adjusted_pvalues`` by lag, ``band(0.95)``, ``best``, ``plot()``; of the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(500)
    >>> y = np.roll(x, 3) + rng.standard_normal(500)
    >>> pydine.lagged_information({"x": x, "y": y}, "x", "y", lags=range(6)).best
    3
    """
    asked = _checked("lags", lags, least=None)
    past = range(1, 1 + _count("condition_on_past", condition_on_past, 0))
    series = _Series.read(data, clusters, time, nan_policy, {"x": [x], "y": [y], "given": _listed(given)})
    settings = Settings(base=base, n_jobs=n_jobs, cache=UnitCache.of(cache) or UnitCache()).seeded()
    known = [*((name, 0) for name in _listed(given)), *((y, lag) for lag in past)]
    everything = [*((x, lag) for lag in asked), (y, 0), *known]
    found = [_ask(series.question([(x, lag)], (y, 0), known, everything), settings) for lag in asked]
    pvalues = np.array([one.pvalue for one in found])
    # Holm's adjustment holds however the lags depend on each other.
    every = tuple(map(float, adjusted(pvalues, "holm")))
    return LaggedInformation(asked, tuple(one.estimate for one in found), tuple(map(float, pvalues)), every)


@shown_in_notebooks("Estimating")
@one_thread()
def transfer_information(
    data: Any,
    x: Any,
    y: Any,
    lags: int | Iterable[int] = 1,
    *,
    given: Any = None,
    clusters: Any = None,
    time: Any = True,
    base: str = "auto",
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
) -> TransferInformation:
    """Estimate what the past of x tells about y beyond the past of y (transfer entropy), and the other way.

    Transfer from x to y is I(past of X; Y | past of Y, past of Z). The test is that of `independence_test`, with the
    variances of a series: what the past leaves unexplained may still be serially correlated.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        One row for each time, at equal distances.
    x, y : column name
    lags : int or iterable of int, default=1
        The rows before that are the past: the last so many, or those named.
    given : column name or list of names, optional
        Series Z whose past is given as well.
    clusters, time, base, n_jobs, nan_policy, cache
        As in `lagged_information`.

    Returns
    -------
    TransferInformation
        ``forward`` and ``backward`` with ``pvalue`` and ``backward_pvalue``; ``difference`` with
        ``difference_interval(0.95)``; ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> x, noise = np.random.default_rng(0).standard_normal((2, 500))
    >>> found = pydine.transfer_information({"x": x, "y": np.roll(x, 1) + noise}, "x", "y")
    >>> found.pvalue < 0.001 < found.backward_pvalue, found.difference_interval().low > 0.0
    (True, True)
    """
    past = _checked("lags", range(1, 1 + _count("lags", lags, 1)) if is_integer(lags) else lags, least=1)
    series = _Series.read(data, clusters, time, nan_policy, {"x": [x], "y": [y], "given": _listed(given)})
    settings = Settings(base=base, n_jobs=n_jobs, cache=UnitCache.of(cache) or UnitCache()).seeded()
    z = [(name, lag) for name in _listed(given) for lag in past]
    everything = [(x, 0), (y, 0), *((name, lag) for name in (x, y) for lag in past), *z]

    def told(source: Any, of: Any) -> Answered:
        given_past = [*((of, lag) for lag in past), *z]
        return _ask(series.question([(source, lag) for lag in past], (of, 0), given_past, everything), settings)

    forward, backward = told(x, y), told(y, x)
    correlation = float(correlations_of([forward, backward])[0, 1])
    return TransferInformation(
        str(x), str(y), past, forward.estimate, backward.estimate, forward.pvalue, backward.pvalue, correlation
    )


Lagged = tuple[Any, int]  # a column, and by how many rows it is moved


def _ask(question: Question, settings: Settings) -> Answered:
    """The estimate with its rows, and its test."""
    found = ask(question, settings, keeps_rows=True)
    warn_if_determined(found.verdict, question)
    return found


@dataclass(frozen=True)
class _Series:
    """Columns in the order of time, cluster after cluster, and the cluster of each row."""

    columns: Mapping[str, FloatArray]
    kinds: Mapping[str, str]
    codes: IntArray | None
    places: IntArray
    omit: bool

    @classmethod
    def read(cls, data: Any, clusters: Any, time: Any, nan_policy: str, sides: Mapping[str, Sequence[Any]]) -> _Series:
        """Read the columns that each argument names."""
        check_nan_policy(nan_policy)
        if time is None or time is False:
            raise ValueError("time must be True or the order of the rows: lags have no meaning without it.")
        source = Source.read(data)
        blocks = [source.select(label, list(names)) for label, names in sides.items() if names]
        n = len(blocks[0].values)
        finite_rows(blocks, omit=nan_policy == "omit")  # refuses what is missing
        codes = None if clusters is None else codes_of(clusters, source, n)
        order = np.lexsort((order_of(time, source, n), np.zeros(n) if codes is None else codes))
        Dependence(clusters, time).read(source, n, None)  # refuses what makes no series
        kinds, columns = {}, {}
        for block in blocks:
            for i, name in enumerate(block.names):
                columns[name] = np.ascontiguousarray(block.values[order, i])
                if (kind := block.kind(i)) is not None:
                    kinds[name] = str(kind)
        return cls(columns, kinds, None if codes is None else codes[order], np.arange(n), nan_policy == "omit")

    def moved(self, name: Any, lag: int) -> FloatArray:
        """A column (n,) with the value of so many rows before, NaN where there is none in the same cluster."""
        column, found = self.columns[str(name)], np.full(len(self.places), np.nan)
        before = self.places - lag
        there = (before >= 0) & (before < len(before))
        if self.codes is not None:
            there[there] = self.codes[before[there]] == self.codes[there]
        found[there] = column[before[there]]
        return found

    def question(
        self, x: Sequence[Lagged], y: Lagged, given: Sequence[Lagged], everything: Sequence[Lagged]
    ) -> Question:
        """The question about moved columns, in the rows in which everything that is asked about has values."""
        complete = np.isfinite([self.moved(*one) for one in everything]).all(axis=0)
        blocks = [list(dict.fromkeys(block)) for block in (x, [y], given)]
        used = {_named(*one): self.moved(*one)[complete] for block in blocks for one in block}
        kinds = {
            _named(*one): self.kinds[str(one[0])] for block in blocks for one in block if str(one[0]) in self.kinds
        }
        x_names, y_names, z_names = ([_named(*one) for one in block] for block in blocks)
        said = Dependence(None if self.codes is None else self.codes[complete], True if self.codes is None else None)
        return read_question(x_names, y_names, z_names or None, data=used, kinds=kinds or None, dependence=said)


def _named(name: Any, lag: int) -> str:
    return str(name) if lag == 0 else f"{name} (t{-lag:+d})"


def _listed(names: Any) -> list[Any]:
    if names is None:
        return []
    return list(names) if isinstance(names, list | tuple) else [names]


def _count(label: str, value: Any, least: int) -> int:
    if not is_integer(value) or value < least:
        raise ValueError(f"{label} must be a whole number of at least {least}, but got {value!r}.")
    return int(value)


def _checked(label: str, lags: Any, least: int | None) -> tuple[int, ...]:
    """Lags, each once, in order."""
    try:
        found = tuple(sorted({int(lag) for lag in lags}))
    except (TypeError, ValueError):
        found = ()
    if not found or (least is not None and found[0] < least):
        more = "" if least is None else f" of at least {least}"
        raise ValueError(f"{label} must be whole numbers{more}, at least one of them, but got {lags!r}.")
    return found

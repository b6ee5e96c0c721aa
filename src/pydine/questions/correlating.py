"""The question "how do my columns correlate?", answered as a frame's own `corr` does, for columns of any kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from pydine.answers.settings import CacheLike
from pydine.inputs.checks import warn_left_out
from pydine.inputs.columns import Source, frame_library
from pydine.inputs.dependence import INDEPENDENTLY, Dependence
from pydine.inputs.kinds import Kind, Kinds, identifier, is_identifier, periods_of
from pydine.inputs.presence import Presence
from pydine.questions.pairs.signs import partial_spearman, signs_of, spearman
from pydine.questions.pairwise import pairwise_information
from pydine.results import PairwiseInformation
from pydine.results.pairs import square_frame
from pydine.types import FloatArray, RowArray

__all__ = ["corr", "correlations"]

METHODS = ("correlation", "information")


def corr(
    data: Any,
    given: Any = None,
    *,
    method: str = "correlation",
    base: str = "auto",
    n_jobs: int | None = None,
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Any:
    """The matrix that ``frame.corr()`` returns, for columns of any kind and dependence of any shape.

    Parameters
    ----------
    data : frame, mapping of columns, or array of shape (n, p)
        Missing values are left out pair by pair.
    given : column name or list of names, optional
        Columns on which every pair is conditioned; they are not in the matrix.
    method : {"correlation", "information"}, default="correlation"
        ``"correlation"``: sqrt(1 - exp(-2 I)), which is abs(r) of normal pairs; negative where both columns have an
        order and one falls as the other rises (ranks see at least half of its square). ``"information"``: nats.
    base, n_jobs, cache, kinds, clusters, time, weights
        As in `pairwise_information`, which has errors, intervals and p-values too. Where rows depend on each other or
        have weights, they must have all columns.

    Returns
    -------
    frame, shape (p, p)
        Of the library that the data came in, otherwise pandas, with the columns' names; pandas has them as index too.
        The diagonal is 1, or a column's entropy in nats (infinite for continuous ones). Columns that are constant, or
        identifiers, have NaN, as ``frame.corr()`` has it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 500))
    >>> frame = pd.DataFrame({"x": x, "falls": -x + noise, "bent": x**2, "sign": np.where(x > 0, "up", "down")})
    >>> pydine.corr(frame).round(1).loc["x"].tolist()
    [1.0, -0.7, 1.0, 0.9]
    """
    said = Dependence(clusters, time, weights=weights)
    names, matrix = correlations(
        data, given, method=method, base=base, n_jobs=n_jobs, cache=cache, kinds=kinds, said=said
    )
    return square_frame(matrix, names, frame_library(data))


def correlations(
    data: Any,
    given: Any = None,
    *,
    method: str = "correlation",
    base: str = "auto",
    n_jobs: int | None = None,
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    unordered: Collection[str] = (),
    said: Dependence = INDEPENDENTLY,
) -> tuple[tuple[str, ...], FloatArray]:
    """What `corr` makes a frame of: names, and the matrix (p, p).

    `unordered` are columns of numbers that stand for labels, and have no sign.
    """
    if method not in METHODS:
        raise ValueError(f"method must be {' or '.join(map(repr, METHODS))}, but got {method!r}.")
    presence = Presence.read(data)
    held, source = presence.named("given", given), Source.read(data)
    apart = {*held, *said.names(source)}
    names = [name for name in source.shown if name not in apart]
    kept = [name for name in names if name not in presence.left_out and _is_useful(presence, name, kinds)]
    if len(kept) < 2:
        raise ValueError(f"data must have at least two columns that vary to correlate, but has {len(kept)}.")
    n = len(presence.whole.values)
    told = said.as_values(source, n)
    found = pairwise_information(
        presence.part([*kept, *held], np.ones(n, dtype=np.bool_)),
        [presence.keys[name] for name in held] or None,
        base=base,
        test=False,
        nan_policy="omit",
        n_jobs=n_jobs,
        cache=cache,
        progress=False,
        kinds={key: kind for key, kind in (kinds or {}).items() if str(key) not in said.names(source)},
        clusters=told.clusters,
        time=told.time,
        weights=told.weights,
    )
    whole = np.full((len(names), len(names)), np.nan)
    places = [names.index(name) for name in found.names]
    levels, angles = presence.whole.levels, periods_of(kinds)
    order = [
        name
        for name in found.names
        if name not in unordered and name not in angles and (name not in levels or _has_order(presence, name))
    ]
    rows = told.weighing(None, n).places(n)
    matrix = _nats(found) if method == "information" else _signed(found, presence, held, order, rows)
    whole[np.ix_(places, places)] = matrix
    return tuple(names), whole


def _has_order(presence: Presence, name: str) -> bool:
    return presence.whole.kind(presence.whole.names.index(name)) is Kind.ORDINAL


def _is_useful(presence: Presence, name: str, kinds: Kinds | None) -> bool:
    """Whether a column varies and is no identifier, of which a warning tells."""
    if not presence.varies(name, presence.finite[name]):
        return False
    i = presence.whole.names.index(name)
    said = (kinds or {}).get(presence.keys[name], presence.whole.kind(i))
    column = presence.whole.values[presence.finite[name], i]
    if said == Kind.NOMINAL and is_identifier(column):
        warn_left_out({presence.whole.where(i): identifier(column)})
        return False
    return True


def _nats(found: PairwiseInformation) -> FloatArray:
    """Information, with entropies on the diagonal, shape (p, p)."""
    entropies = np.array(found.entropies or [np.inf] * len(found.names))
    return np.where(np.eye(len(entropies), dtype=np.bool_), entropies, found.values)


def _signed(
    found: PairwiseInformation, presence: Presence, held: list[str], order: Collection[str], rows: RowArray
) -> FloatArray:
    """Correlations with their signs, between the columns that have an order, shape (p, p)."""
    every, position = presence.whole, presence.whole.names.index
    columns = np.array([every.values[rows, position(name)] for name in found.names])
    given = np.array([every.values[rows, position(name)] for name in held])
    ranks = partial_spearman(columns, given) if held else spearman(columns)
    ordered = [name in order for name in found.names]
    ranks[~np.logical_and.outer(ordered, ordered)] = np.nan
    signed = signs_of(found.values, ranks) * found.correlations
    np.fill_diagonal(signed, 1.0)
    return signed

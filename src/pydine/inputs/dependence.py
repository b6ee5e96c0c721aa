"""How somebody says that rows were sampled, read into `Rows` and `Weights`; and a word where nobody has said it."""

from __future__ import annotations

import warnings
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import Kept
from pydine.inputs.columns import Columns, Source, read_columns
from pydine.inputs.hints import DATES, FREQUENCIES, SUBJECTS, last_word
from pydine.inputs.kinds import Kind
from pydine.inputs.weights import FrequenciesWarning, Weights
from pydine.sampling import FEW_CLUSTERS, INDEPENDENT, Clusters, Rows, Series
from pydine.types import FloatArray, IntArray, RowArray

FEWEST_CLUSTERS = 3  # guard: that folds need
NOTICEABLE, ERRORS = 0.1, 4.0  # words: a serial correlation to speak of, and in standard errors

ROWS_EACH = 2.0  # words: of a subject, on average, from which on it is worth a word


class FewClustersWarning(UserWarning):
    """There are so few clusters that intervals and tests say little."""


class DependentRowsWarning(UserWarning):
    """Rows look as if they depended on each other, and nobody has said so."""


class Dependence(NamedTuple):
    """The arguments `clusters`, `time`, `within` and `weights` of every entry point."""

    clusters: Any = None
    time: Any = None
    within: Any = None
    weights: Any = None

    @property
    def is_said(self) -> bool:
        """Whether anything is said at all."""
        return any(said is not None for said in (self.clusters, self.within, self.weights)) or self.is_timed

    @property
    def is_timed(self) -> bool:
        """Whether rows have an order in time."""
        return self.time is not None and self.time is not False

    def refused(self, why: str) -> None:
        """Raise an error if anything is said, where rows have to be independent."""
        if self.is_said:
            raise ValueError(f"clusters=, time=, within= and weights= are not available {why}; leave them out.")

    def names(self, source: Source) -> set[str]:
        """Columns of a source that say how rows depend, and are no variables."""
        clusters = self.clusters if _are_names(self.clusters, source) else [self.clusters]
        said = [*clusters, self.time, self.weights]
        return {str(name) for name in said if _is_name(name, source)}

    def read(self, source: Source | None, n: int, kept: Kept) -> Rows:
        """Read it for a table of n rows, of which some are kept."""
        self._check()
        every = np.arange(n) if kept is None else np.flatnonzero(kept)
        clusters = None if self.clusters is None else codes_of(self.clusters, source, n)
        order = order_of(self.time, source, n) if self.is_timed else np.arange(n, dtype=np.float64)
        if clusters is not None:
            return _clusters(clusters, order if self.is_timed else None).only(every)
        if not self.is_timed:
            return INDEPENDENT
        if len(np.unique(order)) < n:
            raise ValueError("time holds some times more than once, as in a panel; pass clusters= as well.")
        return Series(np.argsort(np.argsort(order))).only(every)

    def as_values(self, source: Source, n: int) -> Dependence:
        """The same with values of all n rows in place of names."""
        clusters = None if self.clusters is None else codes_of(self.clusters, source, n)
        weights = None if self.weights is None else weights_of(self.weights, source, n)
        order = order_of(self.time, source, n) if self.is_timed and self.time is not True else self.time
        return Dependence(clusters, order, self.within, weights)

    def only(self, rows: RowArray) -> Dependence:
        """Of some of the rows, said by values; each may come several times."""
        every = (said[rows] if isinstance(said, np.ndarray) else said for said in self)
        return Dependence(*every)

    def weighing(self, source: Source | None, n: int) -> Weights:
        """The weights of all n rows of a table."""
        if self.weights is None:
            return Weights.none
        return Weights.of(weights_of(self.weights, source, n))

    def _check(self) -> None:
        if self.within not in (None, "clusters"):
            raise ValueError(f"within must be None or 'clusters', but got {self.within!r}.")
        if self.within is not None and self.clusters is None:
            raise ValueError("within='clusters' needs clusters=, which says which rows belong together.")
        if self.weights is not None and (self.within is not None or (self.is_timed and self.clusters is None)):
            other = "within=" if self.within is not None else "time= without clusters="
            raise ValueError(f"weights= and {other} cannot be used together; leave one of them out.")


INDEPENDENTLY = Dependence()


def codes_of(value: Any, source: Source | None, n: int) -> IntArray:
    """Which cluster each of n rows is of, as whole numbers from 0 on, shape (n,)."""
    columns = _read("clusters", value, source, n)
    if np.isnan(columns).any():
        raise ValueError("clusters must name the cluster of every row, but some are missing; leave those rows out.")
    return np.unique(columns, axis=0, return_inverse=True)[1].ravel()


def order_of(value: Any, source: Source | None, n: int) -> FloatArray:
    """Numbers (n,) that grow with time."""
    if value is True:
        return np.arange(n, dtype=np.float64)
    column = _column(value, source)
    if getattr(column, "dtype", None) is not None and np.asarray(column).dtype.kind == "M":
        times = np.asarray(column).astype("datetime64[ns]").reshape(-1)
        found: FloatArray = np.where(np.isnat(times), np.nan, times.astype(np.int64).astype(np.float64))
    else:
        found = _read("time", value, source, n)[:, 0]
    if np.isnan(found).any() or len(found) != n:
        raise ValueError(f"time must be True, or {n:,} times with none missing.")
    return found


def weights_of(value: Any, source: Source | None, n: int) -> FloatArray:
    """Numbers (n,), one for each row."""
    said = read_columns("weights", value, source if _is_named(value, source) else None)
    if len(said.names) != 1 or said.levels:
        came = f"{len(said.names)} columns" if len(said.names) != 1 else "text"
        raise ValueError(f"weights must be one column of numbers, but got {came}; name or pass one.")
    return _of_length("weights", said.values, n)[:, 0]


def _is_name(value: Any, source: Source | None) -> bool:
    is_word = isinstance(value, str | int) and not isinstance(value, bool)
    return source is not None and is_word and value in source.names


def _are_names(value: Any, source: Source | None) -> bool:
    """Whether a list holds names of columns, each once, and not values of rows, which repeat."""
    if not isinstance(value, list | tuple) or not value or not all(_is_name(name, source) for name in value):
        return False
    return len(set(value)) == len(value)


def _column(value: Any, source: Source | None) -> Any:
    """A column that is named, or passed."""
    found = source.column(value) if source is not None and _is_name(value, source) else value
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def _read(label: str, value: Any, source: Source | None, n: int) -> FloatArray:
    return _of_length(label, read_columns(label, value, source if _is_named(value, source) else None).values, n)


def _is_named(value: Any, source: Source | None) -> bool:
    """Whether a value names columns of a source, or means to."""
    return isinstance(value, str) or _is_name(value, source) or _are_names(value, source)


def _of_length(label: str, columns: FloatArray, n: int) -> FloatArray:
    if len(columns) != n:
        raise ValueError(f"{label} must have one entry per row, {n:,}, but has {len(columns):,}.")
    return columns


def _clusters(codes: IntArray, order: FloatArray | None) -> Clusters:
    count = int(codes.max()) + 1
    if order is not None and len(np.unique(np.column_stack([codes, order]), axis=0)) < len(codes):
        raise ValueError("time holds some times more than once in a cluster; pass clusters in which each occurs once.")
    if count < FEWEST_CLUSTERS:
        raise ValueError(f"clusters must number at least {FEWEST_CLUSTERS}, but there are {count}; leave clusters out.")
    if count < FEW_CLUSTERS:
        warnings.warn(
            f"There are only {count} clusters, and rows within a cluster may be alike: intervals are wide, and a test "
            "detects only what shows in nearly every cluster.",
            FewClustersWarning,
            stacklevel=level_of_caller(),
        )
    return Clusters(codes)


def with_means(blocks: list[Columns], rows: Rows) -> list[Columns]:
    """Columns of x, y and z, with the means of x and y over clusters as further columns of z."""
    if not isinstance(rows, Clusters):
        raise ValueError("within='clusters' needs clusters=, which says which rows belong together.")
    names, means, counts = [], [], np.bincount(rows.codes)
    for block in blocks[:2]:
        for i, name in enumerate(block.names):
            if block.kind(i) is Kind.NOMINAL:
                raise ValueError(f"within='clusters' needs numbers, but {block.where(i)} holds labels.")
            if (kind := block.kind(i)) is not None and kind.is_around:
                raise ValueError(f"within='clusters' needs numbers that have a mean, but {block.where(i)} is an angle.")
            names.append(f"mean of {name}")
            means.append((np.bincount(rows.codes, block.values[:, i]) / counts)[rows.codes])
    given = blocks[2] if len(blocks) > 2 else Columns("z", (), np.empty((len(rows.codes), 0)))
    kinds = (*(given.kind(i) for i in range(len(given.names))), *(Kind.CONTINUOUS for _ in names))
    values = np.ascontiguousarray(np.column_stack([given.values, *means]))
    return [*blocks[:2], replace(given, names=(*given.names, *names), values=values, kinds=kinds)]


def repeated(rows: Rows) -> NDArray[np.bool_]:
    """Which rows are in a cluster with others, shape (n,)."""
    return np.bincount(rows.codes)[rows.codes] > 1 if isinstance(rows, Clusters) else np.ones(0, dtype=np.bool_)


def warn_of_order(blocks: Sequence[Columns]) -> None:
    """Warn if x and y both have serial correlation in the order in which rows came, and nothing is sorted.

    Where rows are in the order of a column of z, neighbours are alike because their z is.
    """
    if any(_is_sorted(column) for block in blocks[2:] for column in block.values.T):
        return
    found = [max((_serial(column) for column in block.values.T), default=0.0) for block in blocks[:2]]
    least = max(NOTICEABLE, ERRORS / np.sqrt(len(blocks[0].values)))
    if min(found) > least:
        warnings.warn(
            f"Neighbouring rows are alike (serial correlations of {found[0]:.2f} in x and {found[1]:.2f} in y), so "
            "rows may depend on each other, and standard errors and p-values may be too small: if rows are in time "
            "order, pass time=True; if they belong to subjects or groups, clusters=.",
            DependentRowsWarning,
            stacklevel=level_of_caller(),
        )


def warn_of_repeats(source: Source, asked: Container[str] = ()) -> None:
    """Warn if a column that is not asked about looks like frequencies, or like subjects or dates of several rows."""
    for key, name in zip(source.names, source.shown, strict=True):
        if name in asked:
            continue
        if last_word(name) in FREQUENCIES and _are_counts(_column(key, source)):
            warnings.warn(
                f"Column {name!r} looks like frequencies: if each row stands for that many observations, pass "
                f"weights={name!r}.",
                FrequenciesWarning,
                stacklevel=level_of_caller(),
            )
            return
        of_dates = str(getattr(source.column(key), "dtype", "")).lower().startswith("date")  # of any library
        is_date = of_dates or last_word(name) in DATES
        if not (is_date or last_word(name) in SUBJECTS):
            continue
        count, n = _distinct(_column(key, source))
        if not FEWEST_CLUSTERS <= count <= n / ROWS_EACH:
            continue
        said = f"clusters={name!r}"
        if is_date:
            said = f"time={name!r} with the clusters= that separate the series, or clusters={name!r}"
        warnings.warn(
            f"Column {name!r} looks like {'dates' if is_date else 'subjects'} with several rows each ({count:,} in "
            f"{n:,} rows), so rows may depend on each other, and standard errors and p-values may be too small: if so, "
            f"pass {said}.",
            DependentRowsWarning,
            stacklevel=level_of_caller(),
        )
        return


def _are_counts(column: Any) -> bool:
    """Whether a column holds whole numbers of at least 0."""
    values = np.asarray(column)
    return bool(values.dtype.kind in "iuf" and (values >= 0).all() and (values == np.round(values)).all())


def _distinct(column: Any) -> tuple[int, int]:
    """How many different values a column has, and how many rows have one; none if they cannot be compared."""
    values = np.asarray(column).reshape(-1)
    try:
        there = [value for value in values.tolist() if value is not None and value == value]
        return len(set(there)), len(there)
    except (TypeError, ValueError):
        return 0, 0


def _is_sorted(column: FloatArray) -> bool:
    """Whether a column goes up or down in long runs, or stays where it is."""
    steps = np.sign(np.diff(column))
    return bool(np.count_nonzero(steps[1:] * steps[:-1] < 0) < 0.1 * len(column))


def _serial(column: FloatArray) -> float:
    """The first autocorrelation of a column's ranks; 0 for one that is sorted, or goes up or down in long runs."""
    if _is_sorted(column):
        return 0.0
    ranks = np.unique(column, return_inverse=True)[1].astype(np.float64)
    ranks -= ranks.mean()
    return float(ranks[1:] @ ranks[:-1] / (ranks @ ranks))

"""All pairs of columns by the ten thousand: tile by tile, without anything as large as all pairs in memory.

Half a million pairs fit in a matrix, fifty million do not: the result is the pairs that are found, the strongest of
them, or matrices on disk. Values are the Gaussian closed form and p-values the analytic test of `pairwise_information`,
up to rounding; for richer bases, ask `pairwise_information` about the columns that were found.

P-values are adjusted over all pairs. Benjamini and Hochberg's adjusted p-value of the i-th smallest of m is the least
of m p_j / j over j >= i, so a pair that is found has a p-value of at most alpha j / m for some j. Pairs that are not
tested yet may all be among those j: the bound falls from alpha to its final value as pairs are tested, and pairs above
it are dropped on the way. If few are found, about a quarter of alpha times all pairs are in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.answers.answer import Verdict
from pydine.answers.policy import left_over
from pydine.answers.settings import CacheLike, Settings
from pydine.bases.closed_form import pair_information
from pydine.bases.learning import pairs_with_unlearned
from pydine.disk import replacing
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kind, Kinds
from pydine.inputs.reading import Variables, read_variables
from pydine.inputs.streams import SAMPLE_BYTES
from pydine.nulls.pvalues import LARGEST_CORRELATION
from pydine.nulls.tiles import Tiles
from pydine.questions.streamed.refining import sample_of, warn_sampled
from pydine.results.wide import WideInformation
from pydine.show.progress import progress_bar
from pydine.types import FloatArray
from pydine.work.cache import UnitCache
from pydine.work.execution import arrivals
from pydine.work.threads import one_thread

TILE = 512  # memory: columns on each side
ROWS_OF_A_GROUP = 1 << 17  # memory: pairs that are written at a time
ROUNDING = 1e-9  # guard: what a bound is widened by
FEWEST_FORGOTTEN = 1 << 16  # memory: pairs that are kept without a look at the bound
MATRICES, UNFINISHED = ("information", "pvalues"), ".unfinished-"
COLUMNS = ["x", "y", "information", "standard_error", "pvalue", "adjusted_pvalue"]


def wide_information(
    data: Any,
    given: Any = None,
    *,
    alpha: float = 0.05,
    top: int | None = 1_000_000,
    threshold: float = 0.0,
    out: str | Path | None = None,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    progress: bool | None = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> WideInformation:
    """Find the pairs of very many columns that depend on each other, alone or given others.

    Parameters
    ----------
    data : frame, mapping of columns, or array of shape (n, p)
        Or the path of a Parquet or Arrow file or folder, a pyarrow dataset, a polars LazyFrame, a Dask frame: up to 256
        MiB of numbers are read, and of more a uniform sample of the rows, with a `SampledWarning`.
    given : column name or list of names, optional
        Columns of `data` to condition every pair on.
    alpha : float, default=0.05
        Pairs are found whose p-value, adjusted over all pairs by Benjamini and Hochberg's method, is at most this.
    top : int or None, default=1,000,000
        Return at most so many of them, those with the smallest p-values; None for all.
    threshold : float, default=0.0
        Return and write only those with at least so much information, in nats.
    out : file or folder, optional
        A ``.parquet`` file for all pairs that are found (needs pyarrow); or a folder for two matrices of all pairs,
        ``information.npy`` in nats and ``pvalues.npy`` (p, p), to be opened with ``np.load(..., mmap_mode="r")``.
    n_jobs : int or None, default=None
        Threads, or workers of the engine that ``joblib.parallel_config`` names.
    nan_policy : {"raise", "omit"}, default="raise"
    cache : UnitCache or folder, optional
        Where flows given `given` are looked for first, and kept.
    progress : bool or None, default=None
        Whether to show a progress bar; None: on a terminal.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another. Counts and columns of two values are compared
        by their ranks, which is a valid test, and a lower bound of the information. Labels of more values are refused.
        Identifiers are left out, with a warning.
    clusters, time, weights
        How rows were sampled, as in `mutual_information`; columns that say it are not compared. The variance of
        every pair is then its own, which takes much longer.

    Returns
    -------
    WideInformation
        The pairs that were found, the smallest p-values first, by positions in its ``names``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> columns = rng.standard_normal((300, 40))
    >>> columns[:, 7] += columns[:, 3]
    >>> found = pydine.wide_information(columns)
    >>> found.n_pairs, found.n_found, found.first.tolist(), found.second.tolist()
    (780, 1, [3], [7])
    """
    _check(alpha, threshold)
    settings = Settings(base="gaussian", n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    sample, said = sample_of(data, None, nan_policy, SAMPLE_BYTES), Dependence(clusters, time, weights=weights)
    if sample is not None:
        said.refused("for streamed tables")
    variables = read_variables(data if sample is None else sample.columns, given, None, nan_policy, kinds, said)
    _check_kinds(variables)
    if sample is not None and not sample.is_whole:
        warn_sampled("the pairs rest", sample, "pairwise_information; a frame in memory is used whole")
    workshop = settings.workshop(variables.table)
    names, n_samples = list(variables.members), variables.table.n_samples
    positions = [variables.members[name][0] for name in names]
    left = positions if not variables.given else list(left_over(positions, variables.given, workshop))
    where = np.searchsorted(positions, left)  # of those that are left, among the variables
    found = _Found(len(names), float(alpha))
    matrices = _Matrices.make(Path(out), len(names)) if out is not None and Path(out).suffix != ".parquet" else None
    nats = _Nats(n_samples, 1.0, np.empty(0), np.empty(0))
    if len(left) > 1:
        with progress_bar(f"fitting {len(left):,} units", len(left) if variables.given else 0, progress) as step:
            latents = workshop.watched(step).very_many(left, variables.given)
        tiles = Tiles.of(latents)
        nats = _Nats(
            n_samples,
            latents.dof,
            np.array(latents.unlearned),
            latents.kept_by_ranks,
            None if tiles.rows.exchangeable else tiles,
        )
        del latents, workshop
        for tile in _tested(tiles, n_jobs, progress):
            found.add(tile)
            if matrices is not None:
                matrices.put(tile, where, nats)
        del tiles
    if matrices is not None:
        matrices.finish()
    is_file = out is not None and matrices is None
    pairs, n_found = _strongest(found, where, nats, threshold, None if is_file else top)
    if out is not None and is_file:
        _write_parquet(Path(out), pairs, names)
    return WideInformation(
        names=tuple(names),
        first=pairs.first[:top],
        second=pairs.second[:top],
        values=pairs.values[:top],
        standard_errors=pairs.errors[:top],
        pvalues=pairs.pvalues[:top],
        adjusted_pvalues=pairs.adjusted[:top],
        n_pairs=found.n_pairs,
        n_found=n_found,
        alpha=found.alpha,
        n_samples=n_samples,
        n_dropped=variables.table.n_dropped if sample is None else sample.n_dropped,
        is_shared=bool(variables.given) and len(left) > 2,
    )


def _check(alpha: Any, threshold: Any) -> None:
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0.0 < alpha <= 1.0:
        raise ValueError(f"alpha must be a number above 0 and at most 1, but got {alpha!r}.")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not threshold >= 0.0:
        raise ValueError(f"threshold must be a number of nats, at least 0, but got {threshold!r}.")


def _check_kinds(variables: Variables) -> None:
    """Refuse labels, whose numbers have no order, and angles, whose order has no end."""
    table = variables.table
    for i, name in enumerate(table.names):
        if table.kind(i).is_around:
            raise ValueError(
                f"wide_information compares continuous and ordinal columns, but {name!r} is an angle; leave it out, "
                "or use pairwise_information."
            )
    labels = [
        name
        for i, name in enumerate(table.names)
        if table.kind(i) is Kind.NOMINAL and len(np.unique(table.columns[i])) > 2
    ]
    if labels:
        more = f" and {len(labels) - 1:,} others are" if len(labels) > 1 else " is"
        raise ValueError(
            f"wide_information compares continuous and ordinal columns, but {labels[0]!r}{more} nominal; "
            "leave them out, or use pairwise_information."
        )


def _strongest(
    found: _Found,
    where: NDArray[np.intp],
    nats: _Nats,
    threshold: float,
    top: int | None,
) -> tuple[_Pairs, int]:
    """The figures of the pairs that were found, the smallest p-values first, and the number of these pairs."""
    first, second, correlations, pvalues, adjusted = found.sorted()
    n_found, shown = len(first), slice(top if threshold == 0.0 else None)
    first, second = first[shown], second[shown]
    with one_thread():
        values, errors = nats.of(correlations[shown], first, second)
    first, second = where[first].astype(np.int32), where[second].astype(np.int32)
    pairs = _Pairs(first, second, values, errors, pvalues[shown], adjusted[shown])
    if threshold == 0.0:
        return pairs, n_found
    strong = values >= threshold
    return _Pairs(*(part[strong] for part in pairs)), int(np.count_nonzero(strong))


class _Tile(NamedTuple):
    """Pairs of two ranges of columns: correlations and p-values, (p1, p2); where both are the same, each pair twice."""

    first: slice
    second: slice
    correlations: FloatArray
    pvalues: FloatArray

    def pairs(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions within the tile of chosen pairs, each once."""
        i, j = np.nonzero(np.triu(chosen, 1) if self.first == self.second else chosen)
        return i, j


def _tested(tiles: Tiles, n_jobs: int | None, progress: bool | None) -> Iterator[_Tile]:
    """All tiles, as they are ready."""
    starts = range(0, len(tiles.columns), TILE)
    every = [(slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if i <= j]

    def test(tile: tuple[slice, slice]) -> _Tile:
        correlations = tiles.correlations(*tile)
        correlations[np.abs(correlations) > LARGEST_CORRELATION] = 1.0
        pvalues = tiles.test(*tile, correlations)
        pvalues[correlations == 1.0] = Verdict.INFINITE.pvalue
        return _Tile(*tile, correlations, pvalues)

    with one_thread(), progress_bar(f"{len(every):,} tiles of pairs", len(every), progress) as step:
        for _, tile in arrivals(test, every, n_jobs, step, here=True):
            yield tile


class _Nats(NamedTuple):
    """Converts correlations into information, as `pairwise_information` does with the Gaussian base.

    Parameters
    ----------
    n : int
        Rows.
    dof : float
        Degrees of freedom of the correlations.
    unlearned : ndarray, shape (p,)
        What the unit of each column may have missed of what is given, in nats.
    ranks : ndarray, shape (p,)
        What ranks keep of the correlations of each column.
    tiles : Tiles or None
        The columns, where rows depend on each other.
    """

    n: int
    dof: float
    unlearned: FloatArray
    ranks: FloatArray
    tiles: Tiles | None = None

    def of(
        self, correlations: FloatArray, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Values and standard errors of pairs (m,) of columns."""
        effects = None if self.tiles is None else self.tiles.effects(first, second, correlations)
        values, errors = pair_information(
            correlations, self.dof, self.n, effects, (self.ranks[first], self.ranks[second])
        )
        learned = pairs_with_unlearned(values, errors, self.unlearned[first] + self.unlearned[second])
        return learned.values, learned.errors


class _Pairs(NamedTuple):
    """What is told of pairs: positions, nats, p-values; each (m,), in the order of `COLUMNS`."""

    first: NDArray[Any]
    second: NDArray[Any]
    values: FloatArray
    errors: FloatArray
    pvalues: FloatArray
    adjusted: FloatArray


@dataclass
class _Found:
    """Pairs with a p-value that may turn out to be small enough, collected tile by tile."""

    p: int
    alpha: float
    _kept: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    _tested: int = 0
    _size: int = 0
    _bound: float = 1.0
    _enough: int = 0

    def __post_init__(self) -> None:
        """No p-value above alpha is small enough."""
        self._bound, self._enough = self.alpha, FEWEST_FORGOTTEN

    @property
    def n_pairs(self) -> int:
        """All, whether they were looked at or not."""
        return self.p * (self.p - 1) // 2

    def add(self, tile: _Tile) -> None:
        """Collect those of a tile."""
        i, j = tile.pairs(tile.pvalues <= self._bound)
        first, second = (i + tile.first.start).astype(np.int32), (j + tile.second.start).astype(np.int32)
        self._kept.append((first, second, tile.correlations[i, j], tile.pvalues[i, j]))
        rows, columns = tile.pvalues.shape
        self._tested += rows * (rows - 1) // 2 if tile.first == tile.second else rows * columns
        self._size += len(first)
        if self._size > self._enough:
            self._forget()

    def _forget(self) -> None:
        """Drop the pairs that cannot be found even if all pairs not tested yet have smaller p-values."""
        parts = tuple(np.concatenate(part) for part in zip(*self._kept, strict=True))
        ordered, untested = np.sort(parts[3]), self.n_pairs - self._tested
        levels = self.alpha / self.n_pairs * (1.0 + ROUNDING) * (untested + np.arange(1, len(ordered) + 1))
        small = np.flatnonzero(ordered <= levels)
        bound = levels[small[-1]] if len(small) else self.alpha * (1.0 + ROUNDING) * untested / self.n_pairs
        self._bound = min(self._bound, float(bound))
        kept = parts[3] <= self._bound
        self._kept = [tuple(part[kept] for part in parts)]
        self._size = int(np.count_nonzero(kept))
        self._enough = max(FEWEST_FORGOTTEN, 2 * self._size)

    def sorted(self) -> tuple[NDArray[Any], NDArray[Any], FloatArray, FloatArray, FloatArray]:
        """Those that are found: positions, correlations, p-values and adjusted ones, the smallest first."""
        empty = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0))
        first, second, correlations, pvalues = (np.concatenate(part) for part in zip(empty, *self._kept, strict=True))
        order = np.lexsort((second, first, pvalues))
        ranks = np.arange(1, len(order) + 1)
        steps = self.n_pairs * (pvalues[order] / ranks)
        adjusted = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
        order, adjusted = order[adjusted <= self.alpha], adjusted[adjusted <= self.alpha]
        return first[order], second[order], correlations[order], pvalues[order], adjusted


@dataclass(frozen=True)
class _Matrices:
    """Matrices on disk, filled tile by tile: the information of all pairs, and their p-values."""

    folder: Path
    information: np.memmap[Any, Any]
    pvalues: np.memmap[Any, Any]

    @classmethod
    def make(cls, folder: Path, p: int) -> _Matrices:
        """Make their files; entries that are not filled are those of determined columns, whose information is 0."""
        folder.mkdir(parents=True, exist_ok=True)
        files = [
            np.lib.format.open_memmap(folder / f"{UNFINISHED}{name}.npy", mode="w+", dtype=np.float64, shape=(p, p))
            for name in MATRICES
        ]
        for file, value, own in zip(files, (0.0, 1.0), (np.nan, np.nan), strict=True):
            for i in range(p):
                file[i] = value
                file[i, i] = own
        return cls(folder, *files)

    def finish(self) -> None:
        """Give the files their names: they are whole."""
        for name, file in zip(MATRICES, (self.information, self.pvalues), strict=True):
            file.flush()
            (self.folder / f"{UNFINISHED}{name}.npy").replace(self.folder / f"{name}.npy")

    def put(self, tile: _Tile, where: NDArray[np.intp], nats: _Nats) -> None:
        """Fill in a tile and its mirror image."""
        shape, starts = tile.correlations.shape, (tile.first.start, tile.second.start)
        pairs = [part.ravel() + start for part, start in zip(np.indices(shape), starts, strict=True)]
        values = nats.of(tile.correlations.ravel(), pairs[0], pairs[1])[0].reshape(shape)
        rows, columns = where[tile.first], where[tile.second]
        for matrix, block in ((self.information, values), (self.pvalues, tile.pvalues)):
            if tile.first == tile.second:
                np.fill_diagonal(block, np.nan)
            matrix[np.ix_(rows, columns)] = block
            matrix[np.ix_(columns, rows)] = block.T


def _write_parquet(path: Path, pairs: _Pairs, names: list[str]) -> None:
    """Write pairs with their names, atomically."""
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError('a .parquet file needs pyarrow: pip install "pyarrow".') from error
    words = pa.array(names)

    def group(start: int) -> Any:
        some = [part[start : start + ROWS_OF_A_GROUP] for part in pairs]
        columns = [pa.DictionaryArray.from_arrays(pa.array(part), words) for part in some[:2]]
        return pa.table(
            [*columns, *map(pa.array, some[2:])], names=COLUMNS, metadata={"generator": "written by pydine"}
        )

    with replacing(path) as unfinished, pq.ParquetWriter(unfinished, group(0).schema) as writer:
        for start in range(0, max(len(pairs.first), 1), ROWS_OF_A_GROUP):
            writer.write_table(group(start))

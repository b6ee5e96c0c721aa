"""How the rows of a table depend on each other: not at all, within clusters, or in time.

An estimate is a mean over rows, and a test is a sum over them. Both need two things that dependence between rows
changes: rows to hold out that have nothing to do with the others, and the variance of a sum. `Rows` is the one place
that knows either, and nothing else asks how rows were sampled:

- `folds`: rows are held out alone, as whole clusters, or as stretches of time, with a gap around each that nobody
  learns from.
- `effects`: the variance of a sum of values over rows, relative to that of as many independent rows (Kish's design
  effect), and the degrees of freedom with which it is known. Information, its bias and its evidence are those of
  n / effect independent rows, its interval and the test have a t distribution.
- `flips`: signs under which sums keep their null distribution, for tests by resampling.
- `resampled`: the rows of a bootstrap sample.

Rows that stand for more or for fewer than others, as those of a survey do, become rows that all stand for as many
(`self_weighting`): copies of the same row are a cluster, of which nothing is learned twice.

For another kind of dependence, write another class with these methods and have `inputs.sampling` make it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from pydine.serial import FEWEST_COSINES, Repetition, kept, long_run, of_sides, repetition, repetition_of
from pydine.types import FloatArray, IntArray, RowArray

SEED = 0  # convention: of folds, starts of networks, jitter, sketches and generated data; any other would do
PARTITIONS_KEPT = 4  # memory: each as large as the rows' order
PRODUCTS_AT_ONCE = 256  # memory: series that are transformed together
FLIPPED = 0.4  # convention: stretches of time that have a sign each, times n^(2/3) (Lazarus, Lewis, Stock, Watson 2018)
STRETCHES = 4  # answer: of time in a fold: fewer would all be early or late, more would have more ends
GAP = 0.125  # answer: rows left out on either side of a stretch of time, as a share of it
FEW_CLUSTERS = 10  # words: with less, intervals are very wide, and a resampled table has hardly any
SMALLEST = float(np.finfo(np.float64).tiny)  # guard: values that do not vary have a variance of nothing


class HeldOut(NamedTuple):
    """Rows that a fold holds out, and those that it does not learn from: these, and neighbours that depend on them."""

    rows: RowArray
    away: RowArray


class Effects(NamedTuple):
    """Variances of sums over rows, relative to those of independent rows, and their degrees of freedom; same shapes."""

    ratios: FloatArray
    degrees: FloatArray

    def normal(self, statistics: FloatArray) -> FloatArray:
        """Sums over the standard errors of independent rows, as normal variables that are as far in the tail."""
        if np.isinf(self.degrees).all():
            return statistics
        studentised = np.abs(statistics) / np.sqrt(self.ratios)
        tails = np.maximum(stdtr(self.degrees, -studentised), SMALLEST)
        found: FloatArray = np.sign(statistics) * -ndtri(tails)
        return found

    def squares(self, squares: FloatArray) -> FloatArray:
        """The squares of `normal`, of squared sums."""
        return squares if np.isinf(self.degrees).all() else self.normal(np.sqrt(squares)) ** 2

    def correlations(self, correlations: FloatArray, dof: float) -> FloatArray:
        """Correlations of `dof` independent rows that have the p-values of these."""
        if np.isinf(self.degrees).all():
            return correlations
        studentised = np.abs(correlations) * np.sqrt(dof / self.ratios)
        quantiles = -stdtrit(dof - 1.0, np.maximum(stdtr(self.degrees, -studentised), SMALLEST))
        found: FloatArray = np.sign(correlations) * quantiles / np.sqrt(dof - 1.0 + quantiles**2)
        return found


class Rows:
    """Independent rows; also the contract of all others."""

    exchangeable: ClassVar[bool] = True  # whether any order of the rows is as likely as any other
    distinct: ClassVar[bool] = True  # whether each row is an observation of its own, and none a copy of another
    words: str = ""  # how rows depend, for people to read
    key: bytes = b""  # the same for rows that depend in the same way

    def only(self, rows: RowArray) -> Rows:  # noqa: ARG002 - the contract
        """Some of the rows, in any order."""
        return self

    def left(self, n: int) -> int:
        """How many of n rows are left, as degrees of freedom, after what was learned before any model saw them."""
        return n

    def folds(self, order: RowArray, count: int) -> list[HeldOut]:
        """Deal rows (m,) out to folds; the order, which follows from the values, decides what is arbitrary."""
        return [HeldOut(rows, rows) for rows in dealt(order, count)]

    def effects(self, x: FloatArray, y: FloatArray) -> Effects:
        """Effects on sums of products of x (p, n) and y (q, n), shape (q, p)."""
        return Effects(np.ones((len(y), len(x))), np.full((len(y), len(x)), np.inf))

    def effects_of(self, values: FloatArray) -> Effects:
        """Effects on sums of values (k, n), shape (k,)."""
        ratios, degrees = self.effects(values, np.ones((1, values.shape[1])))
        return Effects(ratios[0], degrees[0])

    def effect(self, values: FloatArray) -> tuple[float, float]:
        """The effect on a sum of values (n,), and its degrees of freedom."""
        ratios, degrees = self.effects_of(values[None])
        return float(ratios[0]), float(degrees[0])

    def of_residuals(self, left: Callable[[FloatArray], FloatArray]) -> Rows:  # noqa: ARG002 - the contract
        """The same rows, of whose columns (k, n) a projection has left `left(columns)`: what varies slowly is gone."""
        return self

    def depleted(self, x: FloatArray, y: FloatArray) -> float:  # noqa: ARG002 - the contract
        """By how much effects on sums of products of x (p, n) and y (q, n) are larger as these are residuals."""
        return 1.0

    def effect_of(self, values: Callable[[], FloatArray]) -> float:
        """The effect on a sum of values (n,), which are made only where it depends on them."""
        return 1.0 if self.exchangeable else self.effect(values())[0]

    def flips(self, n: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Signs (count, n) of rows: those that depend on each other have the same."""
        return rng.choice([-1.0, 1.0], (count, n))

    def resampled(self, order: RowArray, rng: np.random.Generator) -> RowArray:
        """The distinct rows of a bootstrap sample, in ascending order; the order (n,) says which row is drawn."""
        return np.sort(order[drawn(len(order), rng)])


INDEPENDENT = Rows()


@dataclass(frozen=True)
class Centred(Rows):
    """Independent rows less the means of their groups: as many as there are groups tell nothing any more.

    Parameters
    ----------
    share : float
        Of the rows, from 0 to less than 1.
    """

    share: float

    def left(self, n: int) -> int:
        """See `Rows`."""
        return round(n * (1.0 - self.share))

    def effects(self, x: FloatArray, y: FloatArray) -> Effects:
        """Sums of products vary as those of the rows that are left."""
        found = super().effects(x, y)
        return Effects(found.ratios / (1.0 - self.share), found.degrees)


@dataclass(frozen=True, eq=False)
class Clusters(Rows):
    """Rows that depend on each other within clusters, in whatever way, and not between them.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Which cluster each row is of, from 0 on; none is empty.
    """

    exchangeable: ClassVar[bool] = False
    codes: IntArray

    @property
    def words(self) -> str:  # type: ignore[override]
        """How rows depend."""
        return f"{len(self._sizes):,} clusters"

    @property
    def key(self) -> bytes:  # type: ignore[override]
        """The codes, numbered as they come up."""
        return b"clusters" + _numbered(self.codes).tobytes()

    @cached_property
    def _sizes(self) -> FloatArray:
        return np.bincount(self.codes).astype(np.float64)

    @cached_property
    def _sorted(self) -> tuple[RowArray, RowArray]:
        """Rows cluster by cluster, and where each cluster starts."""
        return np.argsort(self.codes, kind="stable"), np.cumsum(self._sizes.astype(np.intp)) - self._sizes.astype(int)

    def only(self, rows: RowArray) -> Clusters:
        """See `Rows`."""
        return Clusters(_numbered(self.codes[rows]))

    def folds(self, order: RowArray, count: int) -> list[HeldOut]:
        """Whole clusters: large ones first, and those of one size by the mean place of their rows in the order."""
        codes = _numbered(self.codes[order])
        sizes = np.bincount(codes)
        if len(sizes) < count:
            raise ValueError(f"clusters must be at least as many as folds, {count}, but there are {len(sizes)}.")
        places = np.bincount(codes, np.arange(len(codes))) / sizes
        fold_of = np.empty(len(sizes), dtype=np.intp)
        for i, some in enumerate(dealt(np.lexsort((places, -sizes)), count)):
            fold_of[some] = i
        found = (order[fold_of[codes] == i] for i in range(count))
        return [HeldOut(rows, rows) for rows in found]

    def effects(self, x: FloatArray, y: FloatArray) -> Effects:
        """Sums over clusters, with Bell and McCaffrey's (2002) correction of their squares.

        The degrees of freedom are those of Imbens and Kolesár (2016) for a mean: Satterthwaite's, if rows of a cluster
        are as correlated as the variance says.
        """
        (order, starts), sizes, n = self._sorted, self._sizes, len(self.codes)
        ratios, degrees = np.ones((2, len(y), len(x)))
        if len(sizes) == 1:  # of which nobody knows whether its rows say more than one of them
            return Effects(np.full_like(ratios, float(n)), degrees)
        spare, crowd = 1.0 - sizes / n, max(float((sizes * sizes).sum()) / n - 1.0, SMALLEST)
        for j, column in enumerate(y):
            values, variances = _centred(x * column)
            sums = np.add.reduceat(values[:, order], starts, axis=1)
            ratios[j] = np.where(
                variances > 0.0, (sums * sums / spare).sum(axis=1) / (n * np.maximum(variances, SMALLEST)), 1.0
            )
            within = np.clip((ratios[j] - 1.0) / crowd, 0.0, 1.0)[:, None]
            weights = sizes * (1.0 + within * (sizes - 1.0))
            degrees[j] = weights.sum(axis=1) ** 2 / (weights * weights).sum(axis=1) - 1.0
        return Effects(ratios, np.maximum(degrees, 1.0))

    def flips(self, n: int, count: int, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002 - the contract
        """See `Rows`."""
        return rng.choice([-1.0, 1.0], (count, len(self._sizes)))[:, self.codes]

    def resampled(self, order: RowArray, rng: np.random.Generator) -> RowArray:
        """Whole clusters, numbered as they come up in the order."""
        if len(self._sizes) < FEW_CLUSTERS:
            raise ValueError(
                f"clusters must number at least {FEW_CLUSTERS} to resample, but there are {len(self._sizes)}."
            )
        codes = np.empty(len(order), dtype=np.intp)
        codes[order] = _numbered(self.codes[order])
        return np.flatnonzero(np.isin(codes, drawn(len(self._sizes), rng)))


@dataclass(frozen=True, eq=False)
class Weighted(Clusters):
    """Rows that were counted by their weights: copies of a row, or all rows of a cluster of the sample, are a cluster.

    Variances of sums over these are those of weighted sums.

    Parameters
    ----------
    of : str
        How the rows that were weighted depend on each other, in words.
    """

    distinct: ClassVar[bool] = False
    by: ClassVar[str] = "by weights"
    of: str = ""

    @property
    def words(self) -> str:  # type: ignore[override]
        """How rows depend."""
        return f"{self.of}, {self.by}" if self.of else self.by

    @property
    def key(self) -> bytes:  # type: ignore[override]
        """That of the clusters."""
        return b"weighted " + super().key

    def only(self, rows: RowArray) -> Weighted:
        """See `Rows`."""
        return Weighted(_numbered(self.codes[rows]), self.of)


@dataclass(frozen=True, eq=False)
class Series(Rows):
    """Rows in time, each of which may depend on those not long before it.

    Parameters
    ----------
    places : ndarray of int, shape (n,)
        The place of each row in time, from 0 to n - 1.
    residuals : callable, optional
        What a projection leaves of columns (k, n), where rows' values are what it has left; by default all but means.
    """

    exchangeable: ClassVar[bool] = False
    words: ClassVar[str] = "in time"  # type: ignore[misc]
    places: IntArray
    residuals: Callable[[FloatArray], FloatArray] | None = None

    @property
    def key(self) -> bytes:  # type: ignore[override]
        """The places."""
        return b"series" + self.places.astype(np.int64).tobytes()

    @cached_property
    def _order(self) -> RowArray:
        """Rows in their order in time, of which either direction will do."""
        return np.argsort(self.places)

    def only(self, rows: RowArray) -> Series:
        """See `Rows`; of a part of the rows nobody knows what a projection would have left."""
        places = np.argsort(np.argsort(self.places[rows]))
        if self.residuals is None or len(rows) < len(self.places):
            return Series(places)
        return Series(places, partial(_in_order, self.residuals, rows))

    def of_residuals(self, left: Callable[[FloatArray], FloatArray]) -> Series:
        """See `Rows`."""
        return replace(self, residuals=left)

    def folds(self, order: RowArray, count: int) -> list[HeldOut]:
        """Stretches of time, which fold after fold gets back and forth, so that time may run either way."""
        n = len(order)
        places = np.argsort(np.argsort(self.places[order]))
        back_and_forth = np.tile(np.append(np.arange(count), np.arange(count)[::-1]), -(-STRETCHES // 2))
        from_end = np.minimum(places, n - 1 - places)
        fold_of = back_and_forth[(2 * from_end + 1) * len(back_and_forth) // (2 * n)]
        in_time = np.empty(n, dtype=np.intp)
        in_time[places] = fold_of
        gap, found = int(GAP * n / len(back_and_forth)), []
        for i in range(count):
            reach = np.convolve(in_time == i, np.ones(2 * gap + 1), mode="same") > 0.5
            found.append(HeldOut(order[fold_of == i], order[reach[places]]))
        return found

    def effects(self, x: FloatArray, y: FloatArray) -> Effects:
        """Mean squares of cosines, over the part of them that a projection has left."""
        x, y = x[:, self._order], y[:, self._order]
        found = self._of_products(x, y)
        return Effects(found.ratios / self._kept(x, y, found.degrees), found.degrees)

    def effects_of(self, values: FloatArray) -> Effects:
        """See `Rows`; values are as they are, and only their mean is taken out."""
        values = values[:, self._order]
        return _of_sums(values, repetition_of(_centred(values)[0]))

    def depleted(self, x: FloatArray, y: FloatArray) -> float:
        """See `Rows`."""
        if self.residuals is None:
            return 1.0
        x, y = x[:, self._order], y[:, self._order]
        return float((1.0 / self._kept(x, y, self._of_products(x, y).degrees)).mean())

    def _of_products(self, x: FloatArray, y: FloatArray) -> Effects:
        """Effects on sums of products of x (p, n) and y (q, n), in time, as they are, shape (q, p)."""
        ratios, degrees = np.empty((2, len(y), len(x)))
        past_of_x, past_of_y = of_sides(x), of_sides(y)
        step = max(PRODUCTS_AT_ONCE // max(len(x), 1), 1)
        for start in range(0, len(y), step):
            some = y[start : start + step]
            past = past_of_x * past_of_y[start : start + step, None]
            found = _of_sums((x * some[:, None]).reshape(-1, x.shape[1]), repetition(past.reshape(-1, past.shape[2])))
            for to, effects in zip((ratios, degrees), found, strict=True):
                to[start : start + step] = effects.reshape(len(some), len(x))
        return Effects(ratios, degrees)

    def _kept(self, x: FloatArray, y: FloatArray, cosines: FloatArray) -> FloatArray:
        """The part of the squares of cosines that a projection has left, by either side, shape (q, p)."""
        if self.residuals is None or cosines.size == 0:
            return np.ones(cosines.shape)
        left = partial(_in_order, self.residuals, self._order)
        of_both: FloatArray = kept(x, y, cosines, left) * kept(y, x, cosines.T, left).T
        return np.sqrt(np.maximum(of_both, SMALLEST))

    def flips(self, n: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Stretches of time."""
        stretches = _stretches(n)
        return rng.choice([-1.0, 1.0], (count, stretches))[:, self.places * stretches // n]

    def resampled(self, order: RowArray, rng: np.random.Generator) -> RowArray:
        """Stretches of time, as long as those that are given signs."""
        n = len(order)
        stretches = _stretches(n)
        return np.flatnonzero(np.isin(self.places * stretches // n, drawn(stretches, rng)))


def _of_sums(values: FloatArray, past: Repetition) -> Effects:
    """Effects on sums of series (k, n), shape (k,)."""
    centred, variances = _centred(values)
    found, cosines = long_run(centred, past.curvatures)
    ratios = np.where(variances > 0.0, found / np.maximum(variances, SMALLEST), 1.0)
    return Effects(ratios / past.shown(cosines, values.shape[1]), cosines)


def _stretches(n: int) -> int:
    """How many stretches of time get a sign each, or are resampled."""
    return max(int(FLIPPED * n ** (2.0 / 3.0)), int(FEWEST_COSINES))


def _in_order(left: Callable[[FloatArray], FloatArray], rows: RowArray, columns: FloatArray) -> FloatArray:
    """What is left of columns (k, n) whose rows are in another order."""
    found = np.empty_like(columns)
    found[:, rows] = columns
    return left(found)[:, rows]


def self_weighting(weights: FloatArray, marks: NDArray[np.uint64] | None = None) -> RowArray:
    """As many of n rows as there are, each as often as its weight (n,) says, as near as whole numbers come to it.

    A systematic sample in the order of the weights: as many of any range of weights as they add up to. Which of the
    rows with one weight are taken once more is decided by their marks (n,), which follow from their values, so that the
    same rows in another order are the same sample; without marks, by their places. Equal weights give every row once.
    """
    n = len(weights)
    places = np.random.default_rng((SEED, 1)).permutation(n)
    order = np.lexsort((places, weights) if marks is None else (places, marks, weights))
    ends = np.floor(np.cumsum(weights[order]) * (n / float(weights.sum())) + 0.5).astype(np.intp)
    counts = np.empty(n, dtype=np.intp)
    counts[order] = np.diff(ends, prepend=0)
    return np.repeat(np.arange(n), counts)


def drawn(count: int, rng: np.random.Generator) -> IntArray:
    """The distinct members of a bootstrap sample of so many."""
    return np.unique(rng.integers(0, count, count))


def dealt(order: RowArray, folds: int) -> list[RowArray]:
    """Deal rows out to folds: of every `folds` consecutive rows in the order, each fold gets one, at random.

    So all folds have the same share of central and of outlying rows.
    """
    return [order[places] for places in _places(len(order), folds)]


@lru_cache(maxsize=PARTITIONS_KEPT)
def _places(n: int, folds: int) -> tuple[RowArray, ...]:
    """The places in an order of n rows that each fold gets: all units and bases deal alike."""
    rng = np.random.default_rng((SEED, 0))
    neighbours = np.tile(np.arange(folds), (-(-n // folds), 1))
    labels = rng.permuted(neighbours, axis=1).ravel()[:n]
    return tuple(np.flatnonzero(labels == i) for i in range(folds))


def _numbered(codes: IntArray) -> IntArray:
    """Codes (n,) as numbers from 0 on, in the order in which they come up."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.intp)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[inverse]


def _centred(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values (k, n) without their means, and their variances (k,)."""
    centred = values - values.mean(axis=1, keepdims=True)
    return centred, (centred * centred).sum(axis=1) / max(values.shape[1] - 1, 1)

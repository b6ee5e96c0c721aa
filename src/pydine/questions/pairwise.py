"""The question "how much does every column tell about every other, given Z?": p units, then matrix products."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.bases.closed_form import pair_information
from pydine.bases.gaussian import algorithmic_errors
from pydine.bases.learning import pairs_with_unlearned, with_unlearned
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import SPARE_ROWS, TiesWarning, check_nan_policy, enumeration
from pydine.inputs.columns import frame_library
from pydine.inputs.kinds import Kind, Kinds
from pydine.inputs.presence import Presence
from pydine.inputs.reading import REST, Variables, read_variables
from pydine.inputs.streams import Sample
from pydine.inputs.table import Question, Table
from pydine.latents.flows import Latents
from pydine.latents.mixed import is_mixed, with_plain_given
from pydine.latents.workshop import Workshop
from pydine.nulls.analytic import analytic_test, combined, pairwise_test
from pydine.nulls.blocks import adjusted
from pydine.nulls.screening import not_gaussian
from pydine.questions.fitting import entropy_of, fit, information_of
from pydine.questions.policy import Verdict, left_over, reduced, warn_determined
from pydine.questions.settings import CacheLike, RandomState, Settings
from pydine.questions.streamed import Sums, sample_of, warn_sampled
from pydine.results import InformationEstimate, PairwiseInformation
from pydine.show.progress import progress_bar
from pydine.types import FloatArray, RowArray
from pydine.units.asking import ask_all
from pydine.units.cache import UnitCache, fit_units
from pydine.units.execution import is_sent_away, run
from pydine.units.tasks import UnitTask
from pydine.units.threads import one_thread

Pair = tuple[int, int]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]  # positions of their first and of their second variables

ADJUSTMENTS = ("bh", "holm")
ALMOST_ONE = 1.0 - 1e-12  # guard: a correlation of more than this is one


def pairwise_information(
    data: Any,
    given: Any = None,
    *,
    groups: Mapping[str, Sequence[Any]] | None = None,
    base: str = "auto",
    test: bool = True,
    adjust: str = "bh",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    progress: bool | None = None,
    kinds: Kinds | None = None,
) -> PairwiseInformation:
    """Estimate the information between every two variables of a table, alone or given others.

    Every column is mapped by a flow of its own, given the columns to condition on: p flows for p (p - 1) / 2 pairs,
    whose Gaussian information is then one matrix product. Pairs that do not look Gaussian (see `screening`) are fitted
    with richer bases, one by one. If more than two variables are given others, the effect of those is projected out
    of all variables together. That approximates the answer to a question about each pair alone, and ``is_shared``
    says so.

    Parameters
    ----------
    data : frame, mapping of columns, or array of shape (n, p)
        One row for each observation: pandas, polars, pyarrow, NumPy. Or a table beyond memory, which is streamed: the
        path of a Parquet or Arrow file or folder, a pyarrow dataset, a polars LazyFrame, a Dask frame.
    given : column name or list of names, or "rest", optional
        Columns of `data` to condition every pair on, or ``"rest"``: each pair given all other columns, which is the
        conditional-independence graph and needs p (p - 1) flows. A column named "rest" is asked for as ``["rest"]``.
    groups : mapping of str to list of column names, optional
        Columns that are one variable together, by its name. Other columns are variables by themselves.
    base : {"auto", "gaussian", "student", "mixture", "flow"}, default="auto"
        As in `mutual_information`. ``"gaussian"`` fits no pair by itself, the richer ones fit every pair.
    test : bool, default=True
        Whether to test each pair for independence, by the analytic test of `independence_test`.
    adjust : {"bh", "holm"}, default="bh"
        How p-values are adjusted for the number of pairs: Benjamini-Hochberg or Holm.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        The same number for every seed: only `DINE.paper()` draws.
    n_jobs : int or None, default=None
        Threads, or workers of the engine that ``joblib.parallel_config`` names; None is as many as that says, or one.
        The result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to NaN and infinity: refused, or left out pair by pair, so that every figure has all rows in which
        its two variables and what is given have values (``counts``). Given the rest, rows must have all columns.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept: work that was interrupted goes on where it was.
    progress : bool or None, default=None
        Whether to show a progress bar; None: on a terminal.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal"}, optional
        What columns are, where it is not what their types and values say. Pairs with a column that is not continuous
        are asked about one by one, as `mutual_information` does. Identifiers are left out, with a warning.

    Returns
    -------
    PairwiseInformation
        ``values``, ``pvalues``, ... as matrices; ``to_frame()``, ``to_matrix()``, ``plot()``, ``graph(alpha)``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.standard_normal((2, 500))
    >>> found = pydine.pairwise_information({"a": a, "b": b, "sum": a + b})
    >>> found.names
    ('a', 'b', 'sum')
    >>> bool(found.values[0, 2] > 0.2), bool(found.adjusted_pvalues[0, 1] > 0.05)
    (True, True)
    """
    if adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust must be {' or '.join(map(repr, ADJUSTMENTS))}, but got {adjust!r}.")
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    # Fits of single pairs find the units of the whole in the cache, so there always is one.
    settings = replace(settings, cache=settings.cache or UnitCache())
    is_rest = isinstance(given, str) and given == REST
    check_nan_policy(nan_policy)
    sample = sample_of(data, None, nan_policy)
    data = data if sample is None else sample.columns
    presence = Presence.read(data) if nan_policy == "omit" and sample is None and not is_rest else None
    with one_thread():
        if presence is None or presence.is_complete():
            variables = read_variables(data, given, groups, nan_policy, kinds)
            asked = _Asked(variables, settings, is_rest, test, progress)
            found = asked.every()
            table, n_units = variables.table, asked.n_units
            found.kinds = tuple(_kind([table.kind(i) for i in block]) for block in variables.members.values())
            found.entropies = tuple(entropy_of(table, block) for block in variables.members.values())
            names, known = tuple(variables.members), tuple(table.names[i] for i in variables.given)
            n_samples, n_dropped = table.n_samples, table.n_dropped
            found.counts[:] = n_samples
            if sample is not None:
                n_samples, n_dropped = sample.n_rows, sample.n_dropped
                if not sample.is_whole:
                    asked.from_all_rows(found, sample)
                    if (found.counts < n_samples).any():
                        warn_sampled("some pairs rest (see counts)", sample)
        else:
            parted = _Parted.of(presence, given, groups or {}, settings, test, progress, kinds or {})
            names, known = tuple(parted.members), tuple(parted.given)
            found, n_units = parted.pairs()
            n_samples, n_dropped = parted.n_rows
    warn_determined(f"{x} and {y}" for x, y in found.determined(list(names)))

    def matrix(entries: NDArray[Any], diagonal: Any = np.nan) -> Any:
        return _matrix(found.pairs, len(names), entries, diagonal)

    return PairwiseInformation(
        names=names,
        values=matrix(found.values),
        standard_errors=matrix(found.errors),
        errors=(matrix(found.below), matrix(found.above)),
        pvalues=matrix(found.pvalues),
        adjusted_pvalues=matrix(adjusted(found.pvalues, adjust) if test else found.pvalues),
        bases=matrix(found.bases, ""),
        given=REST if is_rest else known,
        n_samples=n_samples,
        n_dropped=n_dropped,
        n_units=n_units,
        n_general=found.n_general,
        is_shared=found.is_shared,
        adjustment=adjust,
        backend=frame_library(data),
        counts=matrix(found.counts, 0),
        kinds=found.kinds,
        entropies=found.entropies,
    )


class Shard(NamedTuple):
    """One of several parts of the work, counted from 1."""

    number: int
    total: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read ``"3/16"``."""
        number, slash, total = text.partition("/")
        if slash and number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total):
            return cls(int(number), int(total))
        raise ValueError(f"shard must be like 3/16, the third of sixteen parts, but got {text!r}.")

    @property
    def of_all(self) -> slice:
        """Which of all pieces are this part's."""
        return slice(self.number - 1, None, self.total)


def fit_shard(
    data: Any,
    given: Any = None,
    *,
    shard: str,
    cache: CacheLike,
    groups: Mapping[str, Sequence[Any]] | None = None,
    base: str = "auto",
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    progress: bool | None = None,
) -> int:
    """Do a part of the work of `pairwise_information`, into a folder that all parts share.

    For clusters without a connection to a scheduler: parts may run at any time, side by side, twice or not at all.
    `pairwise_information` with the same arguments and the same folder then finds what they fitted, and fits the rest.
    Flows of single columns come first. Pairs that need richer bases are known once the flows of all are there: whoever
    finds them all goes on with its part of these pairs.

    Parameters
    ----------
    data, given, groups, base, n_jobs, nan_policy, kinds, progress
        As in `pairwise_information`.
    shard : str
        ``"3/16"``: the third of sixteen parts.
    cache : UnitCache or folder
        Shared by all parts.

    Returns
    -------
    int
        Flows that other parts have not fitted yet; if there are any, pairs were not gone on with.
    """
    part, kept = Shard.read(shard), UnitCache.of(cache)
    if kept is None or kept.folder is None:
        raise ValueError("cache must be a folder that all shards share, but there is none.")
    settings = Settings(base=base, n_jobs=n_jobs, cache=kept).seeded()
    is_rest = isinstance(given, str) and given == REST
    sample = sample_of(data, None, nan_policy)
    data = data if sample is None else sample.columns
    presence = Presence.read(data) if nan_policy == "omit" and sample is None and not is_rest else None
    with one_thread():
        if presence is not None and not presence.is_complete():
            parted = _Parted.of(presence, given, groups or {}, settings, True, progress, kinds or {})
            return parted.share(part, kept)
        variables = read_variables(data, given, groups, nan_policy, kinds)
        return _Asked(variables, settings, is_rest, True, progress).share(part, kept)


@dataclass
class _Pairs:
    """What is known of pairs, one entry each; filled in as it is found.

    `is_shared`: whether what z does was projected out of all columns together, not pair by pair.
    """

    pairs: Pairs
    values: FloatArray
    errors: FloatArray
    below: FloatArray
    above: FloatArray
    pvalues: FloatArray
    bases: NDArray[np.str_]
    counts: RowArray
    n_general: int = 0
    is_shared: bool = False
    kinds: tuple[str, ...] = ()
    entropies: tuple[float, ...] = ()

    @classmethod
    def empty(cls, p: int) -> _Pairs:
        """Nothing known yet of the pairs of p variables."""
        pairs = np.triu_indices(p, 1)
        count = len(pairs[0])
        values, errors, below, above, pvalues = np.full((5, count), np.nan)
        bases, counts = np.full(count, "gaussian", dtype="U8"), np.zeros(count, dtype=np.intp)
        return cls(pairs, values, errors, below, above, pvalues, bases, counts)

    def pair(self, k: int) -> Pair:
        """Positions of the two variables of the k-th pair."""
        return int(self.pairs[0][k]), int(self.pairs[1][k])

    def determined(self, names: list[str]) -> list[tuple[str, str]]:
        """Pairs of which nothing is left: their information is known to be 0."""
        places = [self.pair(k) for k in np.flatnonzero((self.values == 0.0) & (self.errors == 0.0)).tolist()]
        return [(names[i], names[j]) for i, j in places]


@dataclass(frozen=True)
class _Asked:
    """A table of variables, how it is to be estimated, and whether each pair is given all other variables."""

    variables: Variables
    settings: Settings
    is_rest: bool
    test: bool
    progress: bool | None

    @cached_property
    def names(self) -> list[str]:
        """The variables, in their order."""
        return list(self.variables.members)

    @property
    def n_units(self) -> int:
        """Flows of single columns that are needed, those in the cache included."""
        sizes = self.variables.sizes
        return (len(sizes) - 1) * sum(sizes) if self.is_rest else sum(sizes)

    def every(self, wanted: NDArray[np.bool_] | None = None) -> _Pairs:
        """All pairs: together where that can be done, otherwise one by one."""
        if wanted is None and (self.is_rest or len(self.names) == 2):
            return self.one_by_one()
        smooth = [i for i, name in enumerate(self.names) if self._is_continuous(self.variables.members[name])]
        if len(smooth) == len(self.names) and self._is_continuous(self.variables.given):
            return self.together(wanted)
        found = _Pairs.empty(len(self.names))
        both = np.isin(found.pairs, smooth if len(smooth) > 2 else []).all(axis=0)
        if len(smooth) > 2:
            places = np.flatnonzero(both)
            among = replace(self, variables=self._of_continuous(smooth)).together(
                None if wanted is None else wanted[places]
            )
            for name in ("values", "errors", "below", "above", "pvalues", "bases"):
                getattr(found, name)[places] = getattr(among, name)
            found.n_general, found.is_shared = among.n_general, among.is_shared
        self._ask(found, np.flatnonzero(~both if wanted is None else ~both & wanted).tolist())
        return found

    def _is_continuous(self, columns: Sequence[int]) -> bool:
        return all(self.variables.table.kind(i) is Kind.CONTINUOUS for i in columns)

    def _of_continuous(self, smooth: list[int]) -> Variables:
        """The variables that are continuous, and what is given as numbers."""
        members = {self.names[i]: self.variables.members[self.names[i]] for i in smooth}
        columns = [i for positions in members.values() for i in positions]
        plain = with_plain_given(Question(self.variables.table, tuple(columns), (), self.variables.given))
        if plain.table is self.variables.table:
            return replace(self.variables, members=members)
        place = {i: k for k, i in enumerate(columns)}
        return Variables(
            plain.table, {name: tuple(place[i] for i in positions) for name, positions in members.items()}, plain.given
        )

    def together(self, wanted: NDArray[np.bool_] | None = None, shard: Shard | None = None) -> _Pairs:
        """All pairs from one set of latents, then those of groups, and those that are not Gaussian, one by one.

        Variables that what is given determines have no latents; pairs with them have a verdict. With `wanted`, one
        entry a pair, others are asked no further; of a shard, only the pairs that are its own are.
        """
        found, workshop = _Pairs.empty(len(self.names)), self._workshop()
        left = self._left_over(workshop)
        found.is_shared = bool(self.variables.given)
        blocks = [self.variables.members[name] for name in self.names]
        lost = ~np.isin(found.pairs, left).all(axis=0)
        found.values[lost] = Verdict.NOTHING_LEFT.value
        found.errors[lost] = found.below[lost] = found.above[lost] = 0.0
        if self.test:
            found.pvalues[lost] = Verdict.NOTHING_LEFT.pvalue
        if len(left) < 2:
            return found
        with self._bar() as step:
            latents = workshop.watched(step).many([blocks[i] for i in left], self.variables.given)
        columns = _of_unit_variance(latents)
        places = np.flatnonzero(~lost)
        self._fill(found, places, latents, columns, [blocks[i] for i in left])
        doubtful = self._doubtful(found, places, columns, latents.dof, [blocks[i] for i in left])
        doubtful = [k for k in doubtful if wanted is None or wanted[k]]
        self._ask(found, doubtful if shard is None else doubtful[shard.of_all])
        return found

    def share(self, shard: Shard, cache: UnitCache) -> int:
        """Fit a shard's units, and what its pairs need beside them, into the cache; how many units others still owe."""
        columns = [i for positions in self.variables.members.values() for i in positions]
        if self.is_rest or len(self.names) == 2 or not self._is_continuous([*columns, *self.variables.given]):
            found = _Pairs.empty(len(self.names))
            self._ask(found, list(range(len(found.values)))[shard.of_all])
            return 0
        workshop = self._workshop()
        blocks = [self.variables.members[self.names[i]] for i in self._left_over(workshop)]
        tasks = workshop.tasks_of_many(blocks, self.variables.given) if len(blocks) > 1 else []
        own = tasks[shard.of_all]
        with progress_bar(f"fitting {len(own):,} of {len(tasks):,} units", len(own), self.progress) as step:
            fit_units(own, cache, self.settings.n_jobs, step)
        missing = sum(not cache.has(task) for task in tasks)
        if not missing:
            self.together(shard=shard)
        return missing

    def from_all_rows(self, found: _Pairs, sample: Sample) -> None:
        """Put what all rows of a stream say in place of what its sample does, for pairs whose base is Gaussian."""
        if self.is_rest:
            raise ValueError(
                "given='rest' needs all rows in memory: every pair has flows of its own; name the columns to condition "
                "on, or pass a part of the rows."
            )
        workshop, given = self._workshop(), self.variables.given
        table = self.variables.table
        if with_plain_given(Question(table, (), (), given)).table is not table or any(
            sample.is_label(table.names[i]) for i in given
        ):
            return  # labels, which no sum over rows takes for numbers
        left = [i for i in self._left_over(workshop) if self._is_continuous(self.variables.members[self.names[i]])]
        blocks = [self.variables.members[self.names[i]] for i in left]
        if len(left) < 2:
            return
        flow, latents = workshop.flow_of_many(blocks, given)
        columns = [table.names[i] for i in (*(c for block in blocks for c in block), *given)]
        places = [sample.names.index(name) for name in columns]
        stops = np.cumsum([len(block) for block in blocks]).tolist()
        variables = [slice(stop - len(block), stop) for block, stop in zip(blocks, stops, strict=True)]
        sums = Sums.of(flow, latents, variables, (rows[:, places] for rows in sample.all_rows()))
        where = dict(zip(left, variables, strict=True))
        for k in range(len(found.values)):
            i, j = found.pair(k)
            if i not in where or j not in where or not np.isfinite(found.values[k]):
                continue
            if found.bases[k] == "gaussian":
                value, error = sums.information(where[i], where[j])
                unlearned = [float(np.mean(latents.unlearned[where[side]])) for side in (i, j)]
                learned = with_unlearned(value, sum(unlearned), min(len(blocks[left.index(side)]) for side in (i, j)))
                found.values[k], found.counts[k] = learned.value, sums.n
                found.below[k], found.above[k], found.errors[k] = learned.errors(error)
            if self.test:
                blocks_of_pair = sums.blocks(where[i], where[j])
                found.pvalues[k] = float(combined("auto", sums.pvalues(blocks_of_pair, where[i], where[j])))

    def _workshop(self) -> Workshop:
        return self.settings.workshop(self.variables.table)

    def _bar(self) -> Any:
        count = sum(self.variables.sizes) if self.variables.given else 0
        return progress_bar(f"fitting {self.n_units:,} units", count, self.progress)

    def _left_over(self, workshop: Workshop) -> list[int]:
        """Variables that what is given does not determine."""
        return [i for i, name in enumerate(self.names) if not self._is_determined(name, workshop)]

    def _is_determined(self, name: str, workshop: Workshop) -> bool:
        members = self.variables.members[name]
        if not self.variables.given:
            return False
        return left_over(members, self.variables.given, workshop) != members

    def _fill(
        self, found: _Pairs, places: RowArray, latents: Latents, columns: FloatArray, blocks: list[tuple[int, ...]]
    ) -> None:
        """Gaussian information and p-values of pairs of single columns, by matrix products."""
        starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        leading, dof = columns[starts], latents.dof
        pair = np.triu_indices(len(blocks), 1)
        correlations = (leading @ leading.T / dof)[pair]
        correlations[np.abs(correlations) > ALMOST_ONE] = 1.0
        values, errors = pair_information(correlations, dof, self.variables.table.n_samples)
        if latents.fold_products is not None:
            errors = np.hypot(errors, algorithmic_errors(latents.fold_products[:, starts][:, :, starts])[pair])
        unlearned = np.array(latents.unlearned)[starts]
        learned = pairs_with_unlearned(values, errors, unlearned[pair[0]] + unlearned[pair[1]])
        for name, entries in learned._asdict().items():
            getattr(found, name)[places] = entries
        if self.test:
            found.pvalues[places] = pairwise_test(leading, latents.of_columns(starts.tolist(), []))
            found.pvalues[np.isinf(found.values)] = Verdict.INFINITE.pvalue

    def _doubtful(
        self, found: _Pairs, places: RowArray, columns: FloatArray, dof: float, blocks: list[tuple[int, ...]]
    ) -> list[int]:
        """Which pairs are asked about one by one: pairs of groups, and pairs that need more than a Gaussian base.

        The latter are all, none, or those that the screen finds.
        """
        starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        first, second = np.triu_indices(len(blocks), 1)
        if self.settings.base == "auto":
            leading = columns[starts]
            doubtful = not_gaussian(leading, np.clip(leading @ leading.T / dof, -1.0, 1.0), dof)[first, second]
        else:
            doubtful = np.full(len(first), self.settings.base != "gaussian")
        is_group = np.array([len(block) > 1 for block in blocks])
        doubtful = (doubtful & np.isfinite(found.values[places])) | is_group[first] | is_group[second]
        chosen: list[int] = places[doubtful].tolist()
        return chosen

    def one_by_one(self) -> _Pairs:
        """Every pair as a question of its own."""
        found = _Pairs.empty(len(self.names))
        self._ask(found, list(range(len(found.values))), self.n_units)
        return found

    def _ask(self, found: _Pairs, chosen: list[int], n_units: int = 0) -> None:
        """Ask about pairs one by one; what was fitted for others is in the cache."""
        asker = _Asker.of(self, [found.pair(k) for k in chosen])
        units = f"{n_units:,} units for " if n_units else ""
        with progress_bar(f"fitting {units}{len(chosen):,} pairs", len(chosen), self.progress) as step:
            answers = ask_all(
                asker, [found.pair(k) for k in chosen], self.settings.cache, self.settings.n_jobs, step, asker.tasks
            )
        for k, (information, pvalue) in zip(chosen, answers, strict=True):
            found.values[k], found.errors[k] = information.value, information.standard_error
            found.below[k], found.above[k] = information.errors or (information.standard_error,) * 2
            found.bases[k], found.pvalues[k] = information.base, pvalue if self.test else np.nan
            found.n_general += information.base != "gaussian"


@dataclass(frozen=True)
class _Asker:
    """Answers questions about single pairs, in whatever process it is.

    The settings name no cache, which is the business of whoever asks.
    """

    variables: Variables
    settings: Settings
    is_rest: bool
    test: bool
    workshop: Workshop

    @classmethod
    def of(cls, asked: _Asked, pairs: Sequence[Pair]) -> _Asker:
        """Of pairs of all that is asked; they run beside each other, and units of one do not, unless it is alone."""
        settings = replace(asked.settings, cache=None, n_jobs=asked.settings.n_jobs if len(pairs) == 1 else 1)
        variables = asked.variables
        if is_sent_away(asked.settings.n_jobs) and not asked.is_rest:
            variables = _with_only(variables, {i for pair in pairs for i in pair})
        return cls(variables, settings, asked.is_rest, asked.test, settings.workshop(variables.table))

    def __call__(self, pair: Pair, cache: UnitCache | None) -> tuple[InformationEstimate, float]:
        """The estimate of a pair and its p-value."""
        question = self._question(pair)
        answer = fit(question, replace(self.settings, cache=cache), self.workshop.beside(cache, self.settings.n_jobs))
        if isinstance(answer, Verdict):
            return information_of(answer, question), answer.pvalue
        return information_of(answer, question), analytic_test(answer.latents).pvalue if self.test else np.nan

    def tasks(self, pair: Pair) -> list[UnitTask]:
        """The units that a pair needs, unless it turns out that some of its columns add nothing."""
        question = reduced(self._question(pair), self.workshop)
        if isinstance(question, Verdict) or question.table is not self.workshop.table or is_mixed(question):
            return []
        return self.workshop.tasks(question)

    def _question(self, pair: Pair) -> Question:
        first, second = (list(self.variables.members)[i] for i in pair)
        return self.variables.pair(first, second, self.is_rest)


def _with_only(variables: Variables, chosen: Set[int]) -> Variables:
    """The same with nothing in the columns of other variables, which nobody asks for: they need not travel."""
    members = list(variables.members.values())
    needed = [*variables.given, *(column for i in chosen for column in members[i])]
    columns = np.zeros_like(variables.table.columns)
    columns[needed] = variables.table.columns[needed]
    return replace(variables, table=replace(variables.table, columns=columns))


@dataclass(frozen=True)
class _Parted:
    """A table with missing values: pairs that lack the same rows are asked about together, each with all rows it has.

    `members`: the columns of each variable; `given`: those that are conditioned on.
    """

    presence: Presence
    members: dict[str, list[str]]
    given: list[str]
    settings: Settings
    test: bool
    progress: bool | None
    kinds: dict[str, Kind]
    said: Kinds

    @classmethod
    def of(
        cls,
        presence: Presence,
        given: Any,
        groups: Mapping[str, Sequence[Any]],
        settings: Settings,
        test: bool,
        progress: bool | None,
        said: Kinds,
    ) -> _Parted:
        """Name the variables as `read_variables` does: columns by themselves, then groups."""
        kinds = presence.kinds(said)
        presence = presence.without_identifiers(kinds)
        known = presence.named("given", given)
        together = {str(name): presence.named(f"groups[{name!r}]", columns) for name, columns in groups.items()}
        taken = {column for block in (*together.values(), known) for column in block}
        singles = {name: [name] for name in presence.keys if name not in taken}
        return cls(presence, {**singles, **together}, known, settings, test, progress, kinds, said)

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows that some figure uses, and rows that none does."""
        masks = np.array([self.presence.rows_with([*columns, *self.given]) for columns in self.members.values()])
        used = int((masks.sum(axis=0) >= 2).sum())
        return used, masks.shape[1] - used

    def pairs(self) -> tuple[_Pairs, int]:
        """What is known of all pairs, and the number of units that it rests on."""
        found = _Pairs.empty(len(self.members))
        blocks = list(self.members.values())
        places = {found.pair(k): k for k in range(len(found.values))}
        needs = self._needs()
        parts = self.presence.parts(needs)
        with progress_bar(f"{len(needs):,} pairs", len(parts), self.progress) as step:
            answers = run(self._ask, parts, self.settings.n_jobs, step)
        found.is_shared = any(part.found.is_shared for part in answers if part.found is not None)
        for (rows, pairs), part in zip(parts, answers, strict=True):
            for pair in pairs:
                k = places[pair]
                found.counts[k] = rows.sum()
                self._enter(found, k, part, pair)
        self._warn([part for part in answers if part.refusal], found)
        self.presence.warn_of_ties([*(name for block in blocks for name in block), *self.given], self.said)
        found.kinds = tuple(_kind([self.kinds[name] for name in block]) for block in blocks)
        found.entropies = tuple(self._entropy(block) for block in blocks)
        return found, sum(part.n_units for part in answers)

    def share(self, shard: Shard, cache: UnitCache) -> int:
        """Do a shard's share of every part with the same rows; how many units others still owe."""
        parts = [self._asked(part) for part in self.presence.parts(self._needs())]
        return sum(part[0].share(shard, cache) for part in parts if not isinstance(part, _Part))

    def _needs(self) -> dict[Pair, list[str]]:
        """The columns that each pair needs."""
        blocks = list(self.members.values())
        pairs = zip(*np.triu_indices(len(blocks), 1), strict=True)
        return {(int(i), int(j)): [*blocks[i], *blocks[j], *self.given] for i, j in pairs}

    def _ask(self, part: tuple[NDArray[np.bool_], list[Pair]]) -> _Part:
        """Ask about pairs that have the same rows."""
        found = self._asked(part)
        if isinstance(found, _Part):
            return found
        asked, order = found
        wanted = {tuple(sorted(pair)) for pair in part[1]}
        places = zip(*np.triu_indices(len(order), 1), strict=True)
        chosen = np.array([tuple(sorted((order[a], order[b]))) in wanted for a, b in places])
        return _Part(asked.every(chosen), order, asked.n_units)

    def _asked(self, part: tuple[NDArray[np.bool_], list[Pair]]) -> tuple[_Asked, list[int]] | _Part:
        """Pairs that have the same rows, and the positions of their variables in the whole.

        A constant tells nothing; what cannot be asked is refused.
        """
        rows, pairs = part
        names = list(self.members)
        members = sorted({i for pair in pairs for i in pair})
        if rows.sum() <= SPARE_ROWS:
            return _Part(None, members, 0, f"they have {rows.sum()} rows, and more than {SPARE_ROWS} are needed.")
        varying = [i for i in members if all(self.presence.varies(name, rows) for name in self.members[names[i]])]
        if len(varying) < 2:
            return _Part(None, varying, 0)
        columns = [name for i in varying for name in self.members[names[i]]]
        keys = self.presence.keys
        groups = {
            names[i]: [keys[c] for c in block] for i in varying if (block := self.members[names[i]]) != [names[i]]
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TiesWarning)  # one word for all parts
                data = self.presence.part([*columns, *self.given], rows)
                kinds = {name: self.kinds[name] for name in (*columns, *self.given)}
                known = [keys[name] for name in self.given] or None
                variables = read_variables(data, known, groups or None, kinds=kinds)
        except ValueError as error:
            return _Part(None, members, 0, str(error))
        asked = _Asked(variables, replace(self.settings, n_jobs=None), False, self.test, progress=False)
        return asked, [names.index(name) for name in variables.members]

    def _entropy(self, block: Sequence[str]) -> float:
        """Entropy of a variable in the rows that it has."""
        rows, places = self.presence.rows_with(block), [self.presence.whole.names.index(name) for name in block]
        columns = np.ascontiguousarray(self.presence.whole.values[rows][:, places].T)
        kinds = tuple(self.kinds[name] for name in block)
        return entropy_of(Table(columns, tuple(block), None, kinds), range(len(block)))

    def _enter(self, found: _Pairs, k: int, part: _Part, pair: Pair) -> None:
        """Enter what a part says of a pair."""
        place = part.place(pair)
        if part.found is None or place is None:
            if not part.refusal:  # one of them is constant where the other has values
                found.values[k] = Verdict.NOTHING_LEFT.value
                found.errors[k] = found.below[k] = found.above[k] = 0.0
            found.pvalues[k] = Verdict.NOTHING_LEFT.pvalue if self.test else np.nan
            return
        for name in ("values", "errors", "below", "above", "pvalues", "bases"):
            getattr(found, name)[k] = getattr(part.found, name)[place]
        found.n_general += found.bases[k] != "gaussian"

    def _warn(self, refused: list[_Part], found: _Pairs) -> None:
        """Say which pairs have no figure, and why; if none has one, that is an error."""
        unknown = np.flatnonzero(np.isnan(found.values))
        if len(unknown) == len(found.values):
            raise ValueError(refused[0].refusal)
        if len(unknown):
            names = list(self.members)
            shown = [" and ".join(names[i] for i in found.pair(int(k))) for k in unknown[:5]]
            more = [f"{len(unknown) - 5} more"] if len(unknown) > 5 else []
            warnings.warn(
                f"No figure for {enumeration(shown + more)}, which have too few rows in common: {refused[0].refusal}",
                UserWarning,
                stacklevel=level_of_caller(),
            )


@dataclass(frozen=True)
class _Part:
    """What was found of variables, whose positions in the whole are `order`, or why nothing was."""

    found: _Pairs | None
    order: list[int]
    n_units: int
    refusal: str = ""

    @cached_property
    def _places(self) -> dict[frozenset[int], int]:
        pairs = zip(*np.triu_indices(len(self.order), 1), strict=True)
        return {frozenset((self.order[a], self.order[b])): k for k, (a, b) in enumerate(pairs)}

    def place(self, pair: Pair) -> int | None:
        """Where a pair of the whole is among those found."""
        return self._places.get(frozenset(pair))


def _kind(kinds: Iterable[Kind]) -> str:
    """The kinds of a variable's columns, each once."""
    return "/".join(dict.fromkeys(map(str, kinds)))


def _of_unit_variance(latents: Latents) -> FloatArray:
    """The latents, scaled so that their products over the degrees of freedom are correlations, same shape."""
    scaled: FloatArray = latents.both / np.sqrt((latents.both**2).sum(axis=1, keepdims=True) / latents.dof)
    return scaled


def _matrix(pairs: Pairs, p: int, entries: NDArray[Any], diagonal: Any) -> Any:
    """A symmetric matrix of the entries of pairs."""
    matrix = np.full((p, p), diagonal, dtype=entries.dtype)
    first, second = pairs
    matrix[first, second] = matrix[second, first] = entries
    return matrix

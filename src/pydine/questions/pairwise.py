"""The question "how much does every column tell about every other, given Z?": p units, then matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pydine.answers.answer import entropy_of
from pydine.answers.policy import warn_determined
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.inputs.checks import check_nan_policy
from pydine.inputs.columns import frame_library
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.presence import Presence
from pydine.inputs.reading import REST, read_variables
from pydine.nulls.pvalues import adjusted
from pydine.questions.pairs.asked import AllPairs, Shard
from pydine.questions.pairs.found import Pairs, kinds_of
from pydine.questions.pairs.parted import Parted
from pydine.questions.streamed.refining import sample_of, warn_sampled
from pydine.results.pairs import PairwiseInformation
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

if TYPE_CHECKING:
    from pydine.inputs.streams import Sample

ADJUSTMENTS = ("bh", "holm")
SUMMED = "continuous pairs that look Gaussian, given numbers, and for the p-values of all continuous pairs"


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
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> PairwiseInformation:
    """Estimate the information between every two variables of a table, alone or given others.

    Every column is mapped by one flow, given the columns to condition on: p flows for p (p - 1) / 2 pairs, whose
    Gaussian information is then one matrix product. Pairs that do not look Gaussian (see `screening`) are fitted with
    richer bases, one by one. Given other columns, all pairs of a small table (up to 50,000 rows times pairs) are
    estimated one by one. In larger tables the effect of what is given is projected out of all variables together, which
    approximates the answers to separate questions about each pair; ``is_shared`` says so.

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
        As in `mutual_information`. With ``"gaussian"`` no pair is fitted separately, with a richer base every pair is.
    test : bool, default=True
        Whether to test each pair for independence, by the analytic test of `independence_test`.
    adjust : {"bh", "holm"}, default="bh"
        How p-values are adjusted for the number of pairs: Benjamini-Hochberg or Holm.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect: only `DINE.paper()` draws random numbers.
    n_jobs : int or None, default=None
        Threads, or workers of the engine that ``joblib.parallel_config`` names; None is as many as that says, or one.
        The result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to NaN and infinity: refused, or left out pair by pair, so that every figure has all rows in which
        its two variables and what is given have values (``counts``). Given the rest, rows must have all columns.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept: interrupted work resumes.
    progress : bool or None, default=None
        Whether to show a progress bar; None: on a terminal.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another. Pairs with a column that is not continuous
        are asked about one by one, as `mutual_information` does. Identifiers are left out, with a warning.
    clusters, time, weights
        How rows were sampled, as in `mutual_information`; columns that say it are no variables, and every pair
        is asked about by itself. Rows must then have all columns.

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
    sample, said = sample_of(data, None, nan_policy), Dependence(clusters, time, weights=weights)
    if sample is not None:
        said.refused("for streamed tables")
    data = data if sample is None else sample.columns
    by_parts = nan_policy == "omit" and sample is None and not is_rest and not said.is_said
    presence = Presence.read(data) if by_parts else None
    with one_thread():
        if presence is None or presence.is_complete():
            variables = read_variables(data, given, groups, nan_policy, kinds, said)
            answered = _together(AllPairs(variables, settings, is_rest, test, progress), sample)
        else:
            answered = _by_parts(Parted.of(presence, given, groups or {}, settings, test, progress, kinds or {}))
    warn_determined(f"a side of {x} and {y}" for x, y in answered.found.determined(list(answered.names)))
    given_names = REST if is_rest else answered.given
    return answered.result(given_names, adjust, is_tested=test, backend=frame_library(data))


class _Answered(NamedTuple):
    """What was found of pairs, of which variables, and from how many rows."""

    found: Pairs
    names: tuple[str, ...]
    given: tuple[str, ...]
    widths: tuple[int, ...]
    n_samples: int
    n_dropped: int
    n_units: int

    def result(
        self, given: tuple[str, ...] | str, adjustment: str, *, is_tested: bool, backend: str
    ) -> PairwiseInformation:
        """As matrices, with adjusted p-values."""
        found = self.found
        matrix = partial(found.matrix, len(self.names))
        return PairwiseInformation(
            names=self.names,
            values=matrix(found.values),
            standard_errors=matrix(found.errors),
            errors=(matrix(found.below), matrix(found.above)),
            pvalues=matrix(found.pvalues),
            adjusted_pvalues=matrix(adjusted(found.pvalues, adjustment) if is_tested else found.pvalues),
            bases=matrix(found.bases, ""),
            given=given,
            n_samples=self.n_samples,
            n_dropped=self.n_dropped,
            n_units=self.n_units,
            n_general=found.n_general,
            is_shared=found.is_shared,
            adjustment=adjustment,
            backend=backend,
            counts=matrix(found.counts, 0),
            kinds=found.kinds,
            widths=self.widths if max(self.widths) > 1 else (),
            entropies=found.entropies,
            degrees=matrix(found.degrees) if np.isfinite(found.degrees).any() else np.zeros((0, 0)),
        )


def _together(asked: AllPairs, sample: Sample | None) -> _Answered:
    """All pairs from the same rows, and from all rows of a stream where the closed form is the answer."""
    found, variables = asked.every(), asked.variables
    table, blocks = variables.table, list(variables.members.values())
    found.kinds = tuple(kinds_of([table.kind(i) for i in block]) for block in blocks)
    found.entropies = tuple(entropy_of(table, block) for block in blocks)
    n_samples, n_dropped = table.n_samples, table.n_dropped
    found.counts[:] = n_samples
    if sample is not None:
        n_samples, n_dropped = sample.n_rows, sample.n_dropped
        if not sample.is_whole:
            asked.from_all_rows(found, sample)
            if (found.counts < n_samples).any():
                warn_sampled("some pairs rest (see counts)", sample, SUMMED)
    names, given = tuple(variables.members), tuple(table.names[i] for i in variables.given)
    return _Answered(found, names, given, tuple(map(len, blocks)), n_samples, n_dropped, asked.n_units)


def _by_parts(parted: Parted) -> _Answered:
    """Every pair from the rows that have both."""
    found, n_units = parted.pairs()
    widths = tuple(map(len, parted.members.values()))
    return _Answered(found, tuple(parted.members), tuple(parted.given), widths, *parted.n_rows, n_units)


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

    For clusters without a connection to a scheduler: parts may run at any time, in parallel, twice or not at all.
    `pairwise_information` with the same arguments and the same folder then finds what they fitted, and fits the rest.
    Flows of single columns come first. Which pairs need richer bases is known once the flows of all columns are there:
    a part that finds them all goes on to its share of these pairs.

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
        Number of flows that other parts have not fitted yet; if there are any, no pairs were fitted.
    """
    part, kept = Shard.read(shard), UnitCache.of(cache)
    if kept is None or kept.folder is None:
        raise ValueError("cache must be a folder that all shards share, but is None; pass one.")
    settings = Settings(base=base, n_jobs=n_jobs, cache=kept).seeded()
    is_rest = isinstance(given, str) and given == REST
    sample = sample_of(data, None, nan_policy)
    data = data if sample is None else sample.columns
    presence = Presence.read(data) if nan_policy == "omit" and sample is None and not is_rest else None
    with one_thread():
        if presence is not None and not presence.is_complete():
            parted = Parted.of(presence, given, groups or {}, settings, True, progress, kinds or {})
            return parted.share(part, kept)
        variables = read_variables(data, given, groups, nan_policy, kinds)
        return AllPairs(variables, settings, is_rest, True, progress).share(part, kept)

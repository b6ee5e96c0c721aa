"""The question "which columns may cause which?": a search by tests of independence, with strengths of what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pydine.answers.settings import CacheLike, Settings, is_integer
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.columns import frame_library
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.nulls.pvalues import adjusted
from pydine.questions.graphs.asking import Tests
from pydine.questions.graphs.directions import COLLIDERS, Directed, directions
from pydine.questions.graphs.knowledge import Knowledge
from pydine.questions.graphs.sheet import PartedTests, Sheet
from pydine.questions.graphs.skeleton import Pair, PairQuestion, Search, Skeleton, Told, to_nobody
from pydine.results.graphs import CONFLICTING, DIRECTED, UNDIRECTED, AbsentEdge, CausalGraph, GraphEdge
from pydine.show.progress import counter
from pydine.types import FloatArray
from pydine.work.cache import UnitCache
from pydine.work.kept import Numbers
from pydine.work.threads import one_thread


@shown_in_notebooks("Searching")
@one_thread()
def causal_graph(
    data: Any,
    alpha: float = 0.01,
    *,
    depth: int | None = None,
    sets: int | None = 3,
    tiers: Any = None,
    forbidden: Any = (),
    required: Any = (),
    colliders: str = "checked",
    fdr: float | None = None,
    bootstrap: int = 0,
    min_information: float | None = None,
    strengths: bool = True,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    progress: bool | None = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> CausalGraph:
    """Search for the causal graph of the columns of a table, with the PC algorithm and the test of `independence_test`.

    Two columns stay joined if no set of their neighbours makes them independent, and an edge has a direction where
    independences, or what is known beforehand, settle it. Arrows assume that no common cause of two columns is missing
    from the table, that rows were not selected by effects, and that causes do not cancel out. The result does not
    depend on the order of columns, nor on `n_jobs`.

    Parameters
    ----------
    data : frame, mapping of columns, or array of shape (n, p)
        One row for each observation, with columns of any kind: numbers, steps, labels.
    alpha : float, default=0.01
        Level of the tests: an edge is dropped where a p-value is larger.
    depth : int or None, default=None
        The most columns in a set; None: as many as there are neighbours.
    sets : int or None, default=3
        The most sets of each size that a pair tries: those that are likeliest to separate it, as far as partial
        correlations of a few functions of the columns tell, and only sets that should leave clearly less dependence
        than those that did not. None: all sets, as in the original algorithm, which takes several times as long.
    tiers : mapping of column name to int, or list of lists of names, optional
        When columns come about, the earliest first: no column causes one of an earlier tier.
    forbidden, required : iterable of (str, str)
        Arrows, as a cause and its effect, that cannot be, and that are known to be. Two columns that cannot cause each
        other in either direction are not joined.
    colliders : {"checked", "majority", "conservative"}, default="checked"
        When two causes of a common effect are told from its two effects: by the separating set, if the two depend on
        each other again once the effect is added to it; by the majority of all separating sets among neighbours; or if
        all of these agree. The latter two need many more tests.
    fdr : float, optional
        Drop edges so that the expected share of false ones is at most this: Benjamini and Hochberg's procedure over all
        pairs, each with the largest p-value of the sets that it tried (Strobl, Spirtes and Visweswaran 2019). The
        search itself runs at `alpha`, which should not be smaller.
    bootstrap : int, default=0
        How many times to repeat the search on resampled rows, for the stability of edges. A resampled table has the
        distinct rows of a bootstrap sample, about 63% of all.
    min_information : float, optional
        Nats below which two columns count as independent: pairs without an edge are estimated too, and
        ``graph.independent`` has those whose 95% interval lies below. That takes about as long as the search.
    strengths : bool, default=True
        Whether to estimate how strong edges are, which takes about as long as the search; otherwise these are NaN.
    n_jobs : int or None, default=None
        Threads, or workers of the engine that ``joblib.parallel_config`` names; the tests of a round run side by side,
        where they take long enough.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to NaN and infinity: refused, or every test uses the rows that have all of its columns.
    cache : UnitCache or folder, optional
        Where flows and p-values are kept. With a folder, a search that was interrupted goes on where it was.
    progress : bool or None, default=None
        Whether to count tests and edges on standard error; None: on a terminal.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another.
    clusters, time, weights
        How rows were sampled, as in `mutual_information`; columns that say it are not in the graph, and rows
        must have all columns. Resampled tables have whole clusters, or whole stretches of time.

    Returns
    -------
    CausalGraph
        ``edges`` with strengths in nats, intervals and p-values, ``absent`` with separating sets; ``to_frame()``,
        ``to_networkx()``, ``to_dot()``, ``to_graphml()``, ``to_json()``, ``plot()``.

    Notes
    -----
    A set that determines one of two columns separates nothing: what it leaves tells neither for nor against an edge.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> rain, sun = rng.standard_normal((2, 500))
    >>> plants = np.abs(rain) + sun + 0.3 * rng.standard_normal(500)
    >>> graph = pydine.causal_graph({"rain": rain, "sun": sun, "plants": plants})
    >>> sorted((edge.source, edge.target, edge.kind) for edge in graph.edges)
    [('rain', 'plants', 'directed'), ('sun', 'plants', 'directed')]
    """
    _check(alpha, depth, sets, colliders, fdr, bootstrap, min_information)
    settings = Settings(n_jobs=n_jobs, cache=UnitCache.of(cache) or UnitCache()).seeded()
    sheet = Sheet.read(data, nan_policy, kinds, Dependence(clusters, time, weights=weights))
    if bootstrap:
        sheet.resampled(0)  # refuses what cannot be resampled before the search begins
    known = Knowledge.read(sheet.table.names, tiers, forbidden, required)
    searcher = _Searcher(settings, known, float(alpha), depth, sets, colliders, fdr)
    with counter(progress) as tell:
        found = searcher.run(sheet, lambda size, n, left: tell(f"sets of {size}: {n:,} tests, {left:,} edges left"))
        shares = np.full(found.skeleton.joined.shape, np.nan)
        if bootstrap:
            counts = np.zeros(shares.shape)
            for number in range(bootstrap):
                tell(f"resampled table {number + 1:,} of {bootstrap:,}")
                # Nobody asks for the units of a resampled table again; its p-values are kept.
                part = replace(searcher, settings=replace(settings, cache=_beside(settings)))
                counts += part.run(sheet.resampled(number)).skeleton.joined
            shares = counts / bootstrap
        tell("strengths of edges")
        asked = _Wanted(min_information, strengths, int(bootstrap), frame_library(data))
        return _result(sheet, found, searcher, shares, asked)


@dataclass(frozen=True)
class _Found:
    """A graph in the order of a sheet."""

    skeleton: Skeleton
    directed: Directed
    tests: Tests | PartedTests
    n_tests: int


@dataclass(frozen=True)
class _Searcher:
    """How to search."""

    settings: Settings
    known: Knowledge
    alpha: float
    depth: int | None
    sets: int | None
    colliders: str
    fdr: float | None

    def run(self, sheet: Sheet, told: Told = to_nobody) -> _Found:
        """Search the columns of a sheet."""
        tests, n_tests = sheet.tests(self.settings), 0

        def ask(asked: Any) -> list[float]:
            nonlocal n_tests
            n_tests += len(asked)
            return tests.pvalues(asked)

        search = Search(ask, sheet.likely(), self.alpha, self.depth, self.sets, self.known, told)
        skeleton = search.run()
        if self.fdr is not None:
            self._thin(skeleton, self.fdr)
        directed = directions(skeleton, ask, self.alpha, self.colliders, self.depth, self.known)
        return _Found(skeleton, directed, tests, n_tests)

    def _thin(self, skeleton: Skeleton, rate: float) -> None:
        """Drop edges so that the share of false ones is expected to be at most a rate."""
        pairs, must = list(skeleton.links), self.known.must | self.known.must.T
        pvalues: FloatArray = np.array([skeleton.links[pair].pvalue for pair in pairs])
        for pair, p in zip(pairs, adjusted(np.where(np.isnan(pvalues), 1.0, pvalues), "bh"), strict=True):
            if p > rate and not must[pair]:
                skeleton.part(pair)


def _beside(settings: Settings) -> UnitCache:
    """A cache for one resampled table: its numbers go to the folder, its units nowhere."""
    if settings.cache is None or settings.cache.folder is None:
        return UnitCache()
    return UnitCache.for_numbers(settings.cache.folder)


class _Wanted(NamedTuple):
    """What else was asked about the graph."""

    min_information: float | None
    strengths: bool
    bootstrap: int
    backend: str


def _result(sheet: Sheet, found: _Found, searcher: _Searcher, shares: FloatArray, asked: _Wanted) -> CausalGraph:
    """The graph by names, with strengths; pairs in the order of the data."""
    skeleton, names = found.skeleton, sheet.table.names
    edges = skeleton.edges
    figures: Sequence[Numbers] = [(np.nan,) * 4] * len(edges)
    if asked.strengths:
        figures = found.tests.strengths([PairQuestion(*pair, skeleton.links[pair].given) for pair in edges])
    made = []
    for pair, known in zip(edges, figures, strict=True):
        (a, b), kind = _turned(pair, found.directed, sheet)
        link = skeleton.links[pair]
        given = _named(link.given, sheet)
        value, error, low, high = known
        tests = link.pvalue, given, link.tried
        made.append(GraphEdge(names[a], names[b], kind, value, error, low, high, *tests, float(shares[pair])))
    apart = [pair for pair in _every_pair(sheet) if not skeleton.joined[pair]]
    highs = dict.fromkeys(apart, np.nan)
    if asked.min_information is not None:
        tested = [pair for pair in apart if pair in skeleton.links and not np.isnan(skeleton.links[pair].pvalue)]
        estimates = found.tests.strengths([PairQuestion(*pair, skeleton.links[pair].given) for pair in tested])
        highs |= {pair: numbers[3] for pair, numbers in zip(tested, estimates, strict=True)}
    place = {name: int(where) for name, where in zip(names, sheet.places, strict=True)}
    absent = [_absent(pair, skeleton, sheet, highs[pair], float(shares[pair])) for pair in apart]
    return CausalGraph(
        names=tuple(sorted(names, key=place.__getitem__)),
        edges=tuple(
            sorted(
                made,
                key=lambda edge: (
                    -edge.information if asked.strengths else edge.pvalue,
                    place[edge.source],
                    place[edge.target],
                ),
            )
        ),
        absent=tuple(sorted(absent, key=lambda pair: (place[pair.source], place[pair.target]))),
        alpha=searcher.alpha,
        n_samples=sheet.n_used,
        n_dropped=sheet.table.n_dropped + sheet.table.n_samples - sheet.n_used,
        n_tests=found.n_tests,
        fdr=searcher.fdr,
        bootstrap=asked.bootstrap,
        min_information=asked.min_information,
        backend=asked.backend,
    )


def _every_pair(sheet: Sheet) -> list[Pair]:
    p = len(sheet.places)
    return [(i, j) for i in range(p) for j in range(i + 1, p)]


def _turned(pair: Pair, directed: Directed, sheet: Sheet) -> tuple[Pair, str]:
    """An edge from its cause to its effect or, if that is not known, in the order of the data, and its kind."""
    heads = directed.heads[pair], directed.heads[pair[::-1]]
    if heads == (True, False):
        return pair, DIRECTED
    if heads == (False, True):
        return pair[::-1], DIRECTED
    first = pair if sheet.places[pair[0]] < sheet.places[pair[1]] else pair[::-1]
    return first, CONFLICTING if heads[0] else UNDIRECTED


def _named(given: tuple[int, ...], sheet: Sheet) -> tuple[str, ...]:
    """A set by names, in the order of the data."""
    return tuple(sheet.table.names[i] for i in sorted(given, key=lambda i: int(sheet.places[i])))


def _absent(pair: Pair, skeleton: Skeleton, sheet: Sheet, high: float, share: float) -> AbsentEdge:
    i, j = sorted(pair, key=lambda i: int(sheet.places[i]))
    names, link = (sheet.table.names[i], sheet.table.names[j]), skeleton.links.get(pair)
    if link is None:  # somebody knows that there is no edge
        return AbsentEdge(*names, np.nan, (), 0, high, share)
    return AbsentEdge(*names, link.pvalue, _named(link.given, sheet), link.tried, high, share)


def _check(alpha: Any, depth: Any, sets: Any, colliders: Any, fdr: Any, bootstrap: Any, min_information: Any) -> None:
    for name, share in (("alpha", alpha), ("fdr", 0.5 if fdr is None else fdr)):
        if isinstance(share, bool) or not isinstance(share, Real) or not 0.0 < float(share) < 1.0:
            raise ValueError(f"{name} must be a number strictly between 0 and 1, but got {share!r}.")
    for name, count, least in (("depth", depth, 0), ("sets", sets, 1)):
        if count is not None and (not is_integer(count) or count < least):
            raise ValueError(f"{name} must be None or an integer of at least {least}, but got {count!r}.")
    if not is_integer(bootstrap) or bootstrap < 0:
        raise ValueError(f"bootstrap must be an integer of at least 0, but got {bootstrap!r}.")
    if colliders not in COLLIDERS:
        raise ValueError(f"colliders must be {' or '.join(map(repr, COLLIDERS))}, but got {colliders!r}.")
    amount = 1.0 if min_information is None else min_information
    if isinstance(amount, bool) or not isinstance(amount, Real) or not 0.0 < float(amount) < np.inf:
        raise ValueError(f"min_information must be a number of nats above 0, but got {min_information!r}.")

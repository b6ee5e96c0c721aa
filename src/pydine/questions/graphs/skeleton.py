"""The skeleton of a causal graph: which columns no set of others separates.

The PC algorithm (Spirtes, Glymour and Scheines 2000) tries to separate every pair by sets of its neighbours, small sets
first, and drops the edge at the first that succeeds. Here a level runs in rounds: in a round each pair that is still
joined tries the likeliest of its sets that it has not tried yet, all pairs side by side, and edges are dropped between
rounds. So the graph does not depend on the order of columns, as in PC-stable (Colombo and Maathuis 2014), yet sets of
columns that have turned out to be no neighbours are no longer tried, as in PC itself: nearly all pairs that can be
separated are so in the first rounds, and what is left has few neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.questions.graphs.knowledge import Knowledge

Pair = tuple[int, int]  # positions, the smaller first
Given = tuple[int, ...]  # positions in ascending order

ALWAYS = 2  # answer: the likeliest set is tried up to this size, whatever it is expected to leave
LESS = 0.8  # answer: of the dependence that earlier sets were expected to leave; 0.5 finds the same graphs
AT_ONCE = 256  # answer: sets of a pair that are put in order together; beyond, the likeliest neighbours go first


class PairQuestion(NamedTuple):
    """The question whether columns i and j (i < j) are independent given others."""

    i: int
    j: int
    given: Given = ()

    @property
    def pair(self) -> Pair:
        """The two columns."""
        return self.i, self.j


Ask = Callable[[Sequence[PairQuestion]], Sequence[float]]  # p-values; NaN where rows or columns leave nothing to test
Rank = Callable[[Pair, Sequence[Given]], NDArray[np.float64]]  # the dependence that sets may leave, 0 or less if none


Told = Callable[[int, int, int], None]  # the size of sets, the number of tests so far, the edges that are left


def to_nobody(_size: int, _tests: int, _edges: int) -> None:
    """Count for nobody."""


@dataclass
class Link:
    """What the tests have found of a pair.

    Parameters
    ----------
    pvalue : float
        The largest of all sets tried; NaN if none could be.
    given : tuple of int
        The set that has it: it separates the pair, or came nearest to it.
    tried : int
        Sets that were tried.
    least : float
        The least dependence that one of them was expected to leave.
    """

    pvalue: float = np.nan
    given: Given = ()
    tried: int = 0
    least: float = np.inf

    def hopes(self, left: float, size: int, tried: int) -> bool:
        """Whether a set that is expected to leave so much dependence is worth a test.

        The first of a small size always is. Others should leave clearly less than those that did not separate the pair:
        a test of a true neighbour has nothing to find, but some chance to lose it.
        """
        return (tried == 0 and size <= ALWAYS) or left < LESS * self.least

    def note(self, given: Given, pvalue: float) -> None:
        """Take a test into account."""
        self.tried += 1
        if not pvalue <= self.pvalue and not np.isnan(pvalue):
            self.pvalue, self.given = float(pvalue), given


@dataclass
class Skeleton:
    """Which of p columns are joined, and what is known of every pair that may be.

    Parameters
    ----------
    joined : ndarray of bool, shape (p, p)
    links : dict of pair to Link
    """

    joined: NDArray[np.bool_]
    links: dict[Pair, Link] = field(default_factory=dict)

    @property
    def edges(self) -> list[Pair]:
        """The pairs that are joined."""
        return [(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(self.joined)), strict=True)]

    @property
    def n_tests(self) -> int:
        """How many tests there were."""
        return sum(link.tried for link in self.links.values())

    def neighbours(self, i: int) -> list[int]:
        """Columns that are joined with i."""
        found: list[int] = np.flatnonzero(self.joined[i]).tolist()
        return found

    def part(self, pair: Pair) -> None:
        """Drop an edge."""
        self.joined[pair] = self.joined[pair[::-1]] = False


@dataclass(frozen=True)
class Search:
    """A search for a skeleton.

    Parameters
    ----------
    ask : callable
        From questions to their p-values.
    rank : callable
        From a pair and sets of one size to the dependence that each is expected to leave, 0 or less if none.
    alpha : float
        An edge is dropped where a p-value is larger.
    depth : int or None
        The most columns in a set.
    sets : int or None
        The most sets of each size that a pair tries, the likeliest, and only as long as they promise more than others
        did (`Link.hopes`); None: all.
    knowledge : Knowledge
    told : callable
        Called after each round with the size of sets, the number of tests so far and the edges that are left.
    """

    ask: Ask
    rank: Rank
    alpha: float
    depth: int | None
    sets: int | None
    knowledge: Knowledge
    told: Told = to_nobody

    def run(self) -> Skeleton:
        """Find the skeleton."""
        found = Skeleton(self.knowledge.joinable.copy())
        found.links = {pair: Link() for pair in found.edges}
        self._round(found, 0, [PairQuestion(*pair) for pair in found.edges])
        size = 1
        while self.depth is None or size <= self.depth:
            queues = {pair: self._sets(found, pair, size) for pair in self._open(found)}
            if not self._level(found, size, queues):
                return found
            size += 1
        return found

    def _open(self, found: Skeleton) -> list[Pair]:
        """Pairs that are joined, and not because somebody knows that they are."""
        must = self.knowledge.must | self.knowledge.must.T
        return [pair for pair in found.edges if not must[pair]]

    def _level(self, found: Skeleton, size: int, queues: dict[Pair, Iterator[Given]]) -> bool:
        """Try sets of one size until every pair is separated or has tried all; whether there were any sets."""
        is_any = False
        while True:
            asked = [
                PairQuestion(*pair, given) for pair, queue in queues.items() if (given := next(queue, None)) is not None
            ]
            if not asked:
                return is_any
            is_any = True
            self._round(found, size, asked)
            queues = {one.pair: queues[one.pair] for one in asked if found.joined[one.pair]}

    def _round(self, found: Skeleton, size: int, asked: Sequence[PairQuestion]) -> None:
        """Ask, note the answers, and drop the edges of pairs that are separated."""
        must = self.knowledge.must | self.knowledge.must.T
        for one, pvalue in zip(asked, self.ask(asked), strict=True):
            found.links[one.pair].note(one.given, pvalue)
            is_unknown = size == 0 and np.isnan(pvalue)  # no test says that they are joined
            if (pvalue > self.alpha or is_unknown) and not must[one.pair]:
                found.part(one.pair)
        self.told(size, found.n_tests, len(found.edges))

    def _sets(self, found: Skeleton, pair: Pair, size: int) -> Iterator[Given]:
        """Sets of neighbours of either end, the likeliest first; a set is left out once it is no longer of neighbours.

        Neighbours are those at the beginning of the level; which of them still are is looked up when a set is due.
        """
        i, j = pair
        near = [
            [k for k in found.neighbours(a) if k != b and self.knowledge.may_separate(k, i, j)]
            for a, b in ((i, j), (j, i))
        ]
        every = sorted({*near[0], *near[1]})
        if max(map(len, near)) < size:
            return
        alone = dict(zip(every, self.rank(pair, [(k,) for k in every]), strict=True))
        tried = 0
        first, second = (sorted(side, key=lambda k: (alone[k], k)) for side in near)
        candidates = _of_either(first, second, size)
        while some := list(islice(candidates, AT_ONCE)):
            ranks = self.rank(pair, some) if size > 1 else np.array([alone[given[0]] for given in some])
            for place in np.argsort(ranks, kind="stable"):
                given = some[place]
                if found.joined[i, list(given)].all() or found.joined[j, list(given)].all():
                    link, left = found.links[pair], float(ranks[place])
                    if self.sets is not None and (tried == self.sets or not link.hopes(left, size, tried)):
                        return
                    link.least = min(link.least, left)
                    tried += 1
                    yield given


def _of_either(first: Sequence[int], second: Sequence[int], size: int) -> Iterator[Given]:
    """Sets of a size out of one side or the other, each once, in turns, each side's first members first."""
    seen: set[Given] = set()
    sides = [combinations(side, size) for side in (first, second)]
    while sides:
        for side in list(sides):
            some = next(side, None)
            if some is None:
                sides.remove(side)
                continue
            given = tuple(sorted(some))
            if given not in seen:
                seen.add(given)
                yield given

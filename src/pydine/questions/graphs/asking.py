"""The tests of a search: a whole round at once, each test once, in whatever order and wherever they run.

Without z, continuous columns have one set of latents, and all pairs are a few matrix products. Other tests are grouped
by what they are given, since they share its units and latents. P-values are kept beside units: a search that is
repeated asks no test twice, and one that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pydine.answers.answer import Verdict
from pydine.answers.asking import Asker
from pydine.answers.mixed import tested
from pydine.answers.settings import Settings
from pydine.inputs.checks import SPARE_ROWS
from pydine.inputs.kinds import Kind
from pydine.inputs.table import Question, Table
from pydine.kernels.compilation import PACKAGE, sources_digest
from pydine.latents.workshop import Workshop
from pydine.nulls.analytic import pairwise_test
from pydine.questions.graphs.skeleton import Given, PairQuestion
from pydine.work.asking import ask_all
from pydine.work.cache import UnitCache
from pydine.work.kept import Numbers

# What p-values and strengths depend on beside the data.
ROOMS = ("inputs", "kernels", "units", "latents", "bases", "nulls", "answers", "results")
TEST_SOURCES = ("types.py", "sampling.py", *(f"{room}/**/*.py" for room in ROOMS))
A_TEST, AN_ESTIMATE = 3e-3, 2e-2  # memory: seconds of a thousand rows, for each column of a question beyond one
# memory: seconds of work below which it stays in this thread, and after which it is kept
WORTH_WORKERS, PORTION = 0.2, 8.0
MOST_PAIRS = 16  # memory: questions in a group
KEPT_AT_ONCE = 64  # memory: numbers that are written together
NOT_TESTED = (np.nan,)


@cache
def test_digest() -> str:
    """A digest of the code that p-values depend on."""
    return sources_digest(PACKAGE, TEST_SOURCES)


@dataclass(frozen=True)
class Group:
    """Questions given the same columns, by their pairs, and about how many seconds they take."""

    given: Given
    pairs: tuple[tuple[int, int], ...]
    seconds: float


@dataclass(frozen=True)
class Tester:
    """Tests groups of questions, in any process."""

    workshop: Workshop

    def __call__(self, group: Group, cache: UnitCache | None) -> Numbers:
        """P-values of the pairs of a group."""
        workshop = self.workshop if self.workshop.cache is cache else self.workshop.for_tests(cache)
        return tuple(_pvalue(Question(workshop.table, (i,), (j,), group.given), workshop) for i, j in group.pairs)


def _pvalue(question: Question, workshop: Workshop) -> float:
    """The p-value of the analytic test; NaN where nothing is left to test, which speaks for nothing."""
    found = tested(question, workshop)
    return np.nan if found.verdict is Verdict.NOTHING_LEFT else found.analytic().pvalue


@dataclass(frozen=True)
class Estimator:
    """Estimates the information of single questions, in any process."""

    asker: Asker

    def __call__(self, group: Group, cache: UnitCache | None) -> Numbers:
        """Value, standard error and the ends of the 95% interval, in nats."""
        ((i, j),) = group.pairs
        found = self.asker(((i,), (j,), group.given), cache).estimate
        return found.value, found.standard_error, *found.confidence_interval()


@dataclass(eq=False)
class Tests:
    """Tests and estimates of questions about one table.

    Parameters
    ----------
    table : Table
        Without missing values.
    settings : Settings
        With a cache.
    marks : list of bytes
        What tells columns apart, among all rows of the search.
    """

    table: Table
    settings: Settings
    marks: list[bytes]

    @property
    def cache(self) -> UnitCache:
        """Where units and p-values are kept."""
        if self.settings.cache is None:
            raise ValueError("tests of a search need a cache")
        return self.settings.cache

    @cached_property
    def workshop(self) -> Workshop:
        """Makes units and latents for the tests."""
        return self.settings.workshop(self.table).for_tests(self.cache)

    @cached_property
    def name(self) -> str:
        """Under which p-values are kept: by the code, and by the columns in any order."""
        digest = hashlib.blake2b(test_digest().encode(), digest_size=16)
        digest.update(repr(self.settings.ladder()).encode())
        digest.update(self.table.rows.key)
        for mark in sorted(self.marks):
            digest.update(mark)
        return digest.hexdigest()

    def key(self, asked: PairQuestion, what: str = "p") -> str:
        """The key of a question, whatever the order of its columns."""
        digest = hashlib.blake2b(digest_size=12)
        for block in ((asked.i, asked.j), asked.given):
            digest.update(b"|" + b"".join(sorted(self.marks[i] for i in block)))
        return what + digest.hexdigest()

    def pvalues(self, asked: Sequence[PairQuestion]) -> list[float]:
        """P-values of independence; NaN where what is given determines a side, or rows are too few."""
        return [found[0] for found in self._kept("p", asked, self._pvalues)]

    def strengths(self, asked: Sequence[PairQuestion]) -> list[Numbers]:
        """Estimates of the information in nats: value, standard error, and the ends of its 95% interval."""
        return self._kept("i", asked, self._strengths)

    def _kept(
        self,
        what: str,
        asked: Sequence[PairQuestion],
        answer: Callable[[Sequence[PairQuestion]], Iterator[tuple[PairQuestion, Numbers]]],
    ) -> list[Numbers]:
        """Numbers that are kept, and those that `answer` finds, kept as they arrive, some at a time."""
        numbers = self.cache.numbers(self.name)
        keys = {one: self.key(one, what) for one in asked}
        arriving = answer([one for one, key in keys.items() if numbers.find(key) is None])
        while some := {keys[one]: new for one, new in islice(arriving, KEPT_AT_ONCE)}:
            self.cache.keep_numbers(self.name, some)
        return [numbers.find(keys[one]) or NOT_TESTED for one in asked]

    def _pvalues(self, asked: Sequence[PairQuestion]) -> Iterator[tuple[PairQuestion, Numbers]]:
        done = {one for one in asked if not self._is_testable(one)}
        yield from ((one, NOT_TESTED) for one in done)
        alone = [one for one in asked if not one.given and one not in done and self._is_smooth(one)]
        if len(alone) > 1:
            yield from zip(alone, self._all_pairs(alone), strict=True)
            done.update(alone)
        groups: dict[Given, list[tuple[int, int]]] = {}
        for one in asked:
            if one not in done:
                groups.setdefault(one.given, []).append(one.pair)
        items = [
            self._group(given, tuple(pairs[start : start + MOST_PAIRS]), A_TEST)
            for given, pairs in groups.items()
            for start in range(0, len(pairs), MOST_PAIRS)
        ]
        for group, pvalues in self._ask(Tester(self.workshop), items):
            for pair, pvalue in zip(group.pairs, pvalues, strict=True):
                yield PairQuestion(*pair, group.given), (pvalue,)

    def _group(self, given: Given, pairs: tuple[tuple[int, int], ...], each: float) -> Group:
        return Group(given, pairs, each * len(pairs) * (1.0 + len(given)) * self.table.n_samples / 1000.0)

    def _is_testable(self, one: PairQuestion) -> bool:
        """Whether there are enough rows, and all columns vary in them."""
        columns = [*one.pair, *one.given]
        return self.table.n_samples >= len(columns) + SPARE_ROWS and bool(self._varies[columns].all())

    @cached_property
    def _varies(self) -> NDArray[np.bool_]:
        varies: NDArray[np.bool_] = np.ptp(self.table.columns, axis=1) > 0.0
        return varies

    def _is_smooth(self, one: PairQuestion) -> bool:
        """Whether a pair is continuous, and its columns are not monotone functions of each other."""
        kinds = {self.table.kind(i) for i in one.pair}
        return kinds == {Kind.CONTINUOUS} and self.marks[one.i] != self.marks[one.j]

    def _all_pairs(self, alone: Sequence[PairQuestion]) -> list[Numbers]:
        """P-values of pairs of continuous columns, by matrix products."""
        columns = sorted({i for one in alone for i in one.pair})
        place = {column: k for k, column in enumerate(columns)}
        found = np.ones((len(columns), len(columns)))
        latents = self.settings.workshop(self.table).many([(i,) for i in columns], ())
        found[np.triu_indices(len(columns), 1)] = pairwise_test(latents)
        return [(float(found[place[one.i], place[one.j]]),) for one in alone]

    def _strengths(self, asked: Sequence[PairQuestion]) -> Iterator[tuple[PairQuestion, Numbers]]:
        estimator = Estimator(Asker.of(self.table, self.settings, is_tested=False))
        yield from ((one, (np.nan,) * 4) for one in asked if not self._is_testable(one))
        items = [self._group(one.given, (one.pair,), AN_ESTIMATE) for one in asked if self._is_testable(one)]
        for group, numbers in self._ask(estimator, items):
            yield PairQuestion(*group.pairs[0], group.given), numbers

    def _ask(
        self, answer: Callable[[Group, UnitCache | None], Numbers], items: Sequence[Group]
    ) -> Iterator[tuple[Group, Numbers]]:
        """Answer groups of questions, side by side where that is worth it, a portion at a time."""
        is_long = sum(item.seconds for item in items) > WORTH_WORKERS
        n_jobs = self.settings.n_jobs if is_long else 1
        ends = np.cumsum([item.seconds for item in items]) // PORTION
        for portion in np.unique(ends):
            some = [item for item, end in zip(items, ends, strict=True) if end == portion]
            yield from zip(some, ask_all(answer, some, self.cache, n_jobs), strict=True)

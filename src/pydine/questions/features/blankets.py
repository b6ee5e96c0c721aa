"""The search for a Markov blanket: which features to ask about next, and what the test says of them.

Forward and backward selection as in IAMB (Tsamardinos, Aliferis and Statnikov, 2003); `selection` shows it in
scikit-learn's terms.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from pydine.answers.asking import Asker
from pydine.answers.mixed import tested
from pydine.answers.policy import units_of
from pydine.answers.settings import Settings
from pydine.inputs.checks import warn_left_out
from pydine.inputs.columns import Columns
from pydine.inputs.kinds import Kind, Kinds, periods_of
from pydine.inputs.reading import with_kinds
from pydine.inputs.table import Question, Table
from pydine.latents.workshop import Workshop
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray
from pydine.work.asking import ask_all
from pydine.work.cache import UnitCache
from pydine.work.tasks import UnitTask


class Step(NamedTuple):
    """One decision of a `ConditionalSelector`.

    Parameters
    ----------
    action : {"add", "remove"}
    feature : int
        Its column.
    pvalue : float
        Of the feature's independence of y given those selected at that step, before the correction for the number of
        candidates.
    """

    action: str
    feature: int
    pvalue: float


class Query(NamedTuple):
    """The question what a feature tells about y, given other features."""

    feature: int
    given: tuple[int, ...]

    @classmethod
    def beside(cls, feature: int, selected: Sequence[int]) -> Query:
        """What a feature tells given the selected ones other than itself."""
        return cls(feature, tuple(other for other in selected if other != feature))


class FeatureTest(NamedTuple):
    """The result of a feature's test: its p-value, and its statistic in nats, which breaks ties between p-values."""

    pvalue: float
    nats: float

    @property
    def rank(self) -> tuple[float, float]:
        """The smaller, the stronger the evidence."""
        return self.pvalue, -self.nats


NOTHING = FeatureTest(1.0, 0.0)


# --- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """Forward and backward selection.

    Parameters
    ----------
    judge : Judge
    alpha : float
    limit : int
        Features that are selected at most.
    backward : bool
    """

    judge: Judge
    alpha: float
    limit: int
    backward: bool

    def run(self) -> tuple[list[int], list[Step]]:
        """Add and remove features until nothing changes; return those selected, in order, and the steps.

        A feature that was removed does not come back, so that this ends.
        """
        selected: list[int] = []
        steps: list[Step] = []
        candidates = self.judge.varying()
        while True:
            steps += self._grow(selected, candidates)
            removed = self._shrink(selected) if self.backward else []
            if not removed:
                return selected, steps
            steps += removed

    def _grow(self, selected: list[int], candidates: set[int]) -> list[Step]:
        """Add the strongest candidate while it is significant, moving it from `candidates` to `selected`."""
        steps: list[Step] = []
        while candidates and len(selected) < self.limit:
            features = sorted(candidates)
            answers = self.judge.ask([Query(feature, tuple(selected)) for feature in features])
            best, feature = min(zip(answers, features, strict=True), key=lambda pair: (pair[0].rank, pair[1]))
            if best.pvalue * len(features) > self.alpha:
                break
            candidates.remove(feature)
            selected.append(feature)
            steps.append(Step("add", feature, best.pvalue))
        return steps

    def _shrink(self, selected: list[int]) -> list[Step]:
        """Take the weakest feature out of `selected` while it is not significant given the others."""
        steps: list[Step] = []
        while len(selected) > 1:
            answers = self.judge.ask([Query.beside(feature, selected) for feature in selected])
            worst, feature = max(zip(answers, selected, strict=True), key=lambda pair: (pair[0].rank, pair[1]))
            if worst.pvalue <= self.alpha:
                break
            selected.remove(feature)
            steps.append(Step("remove", feature, worst.pvalue))
        return steps


# --- the question -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judge:
    """What does a feature tell about y, given other features? Asked of one table many times.

    Parameters
    ----------
    table : Table
        Ranks of the features, which have the same information and never overflow, or turns of angles, then y.
    y : tuple of int
        The position of y.
    settings : Settings
        With a cache, so that the flow of y given the selected features is fitted once for all candidates.
    answers : dict of Query to FeatureTest
        Those given so far: a search asks some queries again.
    """

    table: Table
    y: tuple[int, ...]
    settings: Settings
    answers: dict[Query, FeatureTest] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        features: Columns,
        y: FloatArray,
        kind: Kind,
        settings: Settings,
        kinds: Kinds | None = None,
        rows: Rows = INDEPENDENT,
        apart: Collection[int] = (),
    ) -> Judge:
        """Of features and a target of this kind; features that are set `apart` say how rows depend on each other."""
        ranks, periods = np.asarray(rankdata(features.values, axis=0), dtype=np.float64), periods_of(kinds)
        angles = [i for i, name in enumerate(features.names) if name in periods]
        ranks[:, angles] = features.values[:, angles]
        (known,), _, unclear = with_kinds([replace(features, values=ranks, levels={})], kinds)
        said = {known.where(i) for i in apart}
        if strange := {where: why for where, why in unclear.items() if where not in said}:
            warn_left_out(strange)
        out = [i for i in range(len(known.names)) if known.where(i) in unclear or i in apart]
        known.values[:, out] = 0.0  # as good as constant
        every = [*(k or Kind.CONTINUOUS for k in known.kinds), kind]
        table = Table.of([known.values, y[:, None]], kinds=every, rows=rows)
        return cls(table, (len(known.names),), settings)

    def varying(self) -> set[int]:
        """Features that are not constant."""
        return set(np.flatnonzero(np.ptp(self.table.columns[: self.y[0]], axis=1) > 0.0).tolist())

    def ask(self, queries: Sequence[Query]) -> list[FeatureTest]:
        """Test for each query whether its feature is independent of y given the others."""
        unanswered = [query for query in queries if query not in self.answers]
        workshop = replace(self.settings, cache=None, n_jobs=1).workshop(self.table)
        tester = _Tester(self.y, workshop, frozenset(self.varying()))
        found = ask_all(tester, unanswered, self.settings.cache, self.settings.n_jobs, needs=tester.tasks)
        self.answers.update(zip(unanswered, found, strict=True))
        return [self.answers[query] for query in queries]

    def information(self, queries: Sequence[Query]) -> FloatArray:
        """I(feature; y | given) in nats for each query, shape (len(queries),)."""
        asker, varying = Asker.of(self.table, self.settings, is_tested=False), self.varying()
        asked = [query for query in queries if query.feature in varying]
        blocks = [((query.feature,), self.y, query.given) for query in asked]
        answers = ask_all(asker, blocks, self.settings.cache, self.settings.n_jobs, needs=asker.tasks)
        found = {query: answer.estimate.value for query, answer in zip(asked, answers, strict=True)}
        return np.array([found.get(query, 0.0) for query in queries])


@dataclass(frozen=True)
class _Tester:
    """Tests independence for single queries, in any process; the workshop has no cache."""

    y: tuple[int, ...]
    workshop: Workshop
    varying: frozenset[int]

    def question(self, query: Query) -> Question:
        return Question(self.workshop.table, (query.feature,), self.y, query.given)

    def tasks(self, query: Query) -> list[UnitTask]:
        """The units that a query needs, unless some of its columns turn out to be redundant."""
        if query.feature not in self.varying:
            return []
        return units_of(self.question(query), self.workshop)

    def __call__(self, query: Query, cache: UnitCache | None) -> FeatureTest:
        if query.feature not in self.varying:
            return NOTHING
        test = tested(self.question(query), self.workshop.beside(cache)).analytic()
        return FeatureTest(test.pvalue, float(test.blocks.max()))

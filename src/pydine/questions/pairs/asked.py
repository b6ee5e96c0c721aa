"""Pairs of variables that have the same rows: from one set of latents, or one by one."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.answers.answer import Verdict
from pydine.answers.asking import Asker
from pydine.answers.policy import left_over
from pydine.answers.settings import Settings
from pydine.bases.closed_form import pair_information
from pydine.bases.learning import LearnedPairs, pairs_with_unlearned, with_unlearned
from pydine.inputs.kinds import Kind
from pydine.inputs.reading import Variables
from pydine.inputs.table import Question
from pydine.latents.flows import Latents
from pydine.latents.plain import with_plain_given
from pydine.latents.workshop import Workshop
from pydine.nulls.analytic import in_sample, pairwise_test
from pydine.nulls.moments import combined
from pydine.nulls.pvalues import LARGEST_CORRELATION
from pydine.nulls.screening import not_gaussian
from pydine.questions.pairs.found import FIGURES, Pairs
from pydine.show.progress import progress_bar
from pydine.types import FloatArray, RowArray
from pydine.work.asking import ask_all
from pydine.work.cache import UnitCache, fit_units
from pydine.work.execution import is_sent_away

if TYPE_CHECKING:
    from pydine.inputs.streams import Sample

# answer: rows times pairs up to which every pair is a question of its own, with the answer of `mutual_information`:
# those take a few seconds. Beyond, projections are shared, and pairs that look Gaussian have the closed form.
MOST_OWN = 50_000


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


@dataclass(frozen=True)
class AllPairs:
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

    @property
    def is_each_alone(self) -> bool:
        """Whether every pair is a separate question."""
        p = len(self.names)
        few = p * (p - 1) // 2 * self.variables.table.n_samples <= MOST_OWN
        return few or p == 2 or self.is_rest or not self.variables.table.rows.exchangeable

    def every(self, wanted: NDArray[np.bool_] | None = None) -> Pairs:
        """All pairs: together where that can be done, otherwise one by one."""
        if self.is_each_alone:
            return self.one_by_one(wanted)
        smooth = [i for i, name in enumerate(self.names) if self._is_continuous(self.variables.members[name])]
        if len(smooth) == len(self.names) and self._is_continuous(self.variables.given):
            return self.together(wanted)
        found = Pairs.empty(len(self.names))
        both = np.isin(found.pairs, smooth if len(smooth) > 2 else []).all(axis=0)
        if len(smooth) > 2:
            places = np.flatnonzero(both)
            among = replace(self, variables=self._of_continuous(smooth)).together(
                None if wanted is None else wanted[places]
            )
            for name in FIGURES:
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

    def together(self, wanted: NDArray[np.bool_] | None = None, shard: Shard | None = None) -> Pairs:
        """All pairs from one set of latents, then pairs of groups, and pairs that are not Gaussian, one by one.

        A variable that the given columns determine has no latents, and its pairs have a verdict. Only pairs that are
        `wanted` (one entry a pair) are asked about one by one and, with a shard, only its own.
        """
        found, workshop = Pairs.empty(len(self.names)), self._workshop()
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
        """Fit a shard's units, and what else its pairs need, into the cache; return how many units others still owe."""
        columns = [i for positions in self.variables.members.values() for i in positions]
        if self.is_each_alone or not self._is_continuous([*columns, *self.variables.given]):
            found = Pairs.empty(len(self.names))
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

    def from_all_rows(self, found: Pairs, sample: Sample) -> None:
        """Replace the figures of a stream's sample by those of all its rows, for pairs whose base is Gaussian."""
        if self.is_rest:
            raise ValueError(
                "given='rest' needs all rows in memory: every pair has its own flows; name the columns to condition "
                "on, or pass a sample of the rows."
            )
        workshop, table = self._workshop(), self.variables.table
        given = workshop.in_order(self.variables.given)
        if with_plain_given(Question(table, (), (), given)).table is not table or any(
            sample.is_label(table.names[i]) for i in given
        ):
            return  # labels, which no sum over rows takes for numbers
        left = [i for i in self._left_over(workshop) if self._is_continuous(self.variables.members[self.names[i]])]
        blocks = [self.variables.members[self.names[i]] for i in left]
        if len(left) < 2:
            return
        flow, latents = workshop.flow_of_many(blocks, given)
        found.is_shared = len(left) > 2 and bool(given)
        columns = [table.names[i] for i in (*(c for block in blocks for c in block), *given)]
        places = [sample.names.index(name) for name in columns]
        stops = np.cumsum([len(block) for block in blocks]).tolist()
        variables = [slice(stop - len(block), stop) for block, stop in zip(blocks, stops, strict=True)]
        batches = (rows[:, places] for rows in sample.all_rows())
        from pydine.questions.streamed.sums import Sums

        sums = Sums.of(flow, latents, variables, batches, self.settings.n_jobs)
        where = dict(zip(left, variables, strict=True))
        of_sample = in_sample(latents, variables) if self.test else None
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
            if of_sample:
                squares = sums.pvalues(sums.blocks(where[i], where[j]), where[i], where[j])
                pvalues = np.concatenate([squares, of_sample(left.index(i), left.index(j))[len(squares) :]])
                found.pvalues[k] = float(combined("auto", pvalues, has_z=bool(given)))

    def _workshop(self) -> Workshop:
        return self.settings.workshop(self.variables.table)

    def _bar(self) -> Any:
        count = sum(self.variables.sizes) if self.variables.given else 0
        return progress_bar(f"fitting {self.n_units:,} units", count, self.progress)

    def _left_over(self, workshop: Workshop) -> list[int]:
        """Variables that the given columns do not determine."""
        return [i for i, name in enumerate(self.names) if not self._is_determined(name, workshop)]

    def _is_determined(self, name: str, workshop: Workshop) -> bool:
        members = self.variables.members[name]
        if not self.variables.given:
            return False
        return left_over(members, self.variables.given, workshop) != members

    def _fill(
        self, found: Pairs, places: RowArray, latents: Latents, columns: FloatArray, blocks: list[tuple[int, ...]]
    ) -> None:
        """Gaussian information and p-values of pairs of single columns, by matrix products."""
        starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        leading = _some(columns, starts)
        learned = self._informations(latents, leading, starts)
        for name, entries in learned._asdict().items():
            getattr(found, name)[places] = entries
        del learned  # all pairs: the test needs as much again
        if self.test:
            single = latents if len(starts) == len(columns) else latents.of_columns(starts.tolist(), [])
            found.pvalues[places] = pairwise_test(single)
            found.pvalues[np.isinf(found.values)] = Verdict.INFINITE.pvalue

    def _informations(self, latents: Latents, leading: FloatArray, starts: RowArray) -> LearnedPairs:
        """Gaussian information of all pairs of columns (p, n), which are at these places among the latents."""
        pair, dof = np.triu_indices(len(leading), 1), latents.dof
        correlations = (leading @ leading.T / dof)[pair]
        correlations[np.abs(correlations) > LARGEST_CORRELATION] = 1.0
        ranks = latents.kept_by_ranks[starts]
        n, kept = self.variables.table.n_samples, (ranks[pair[0]], ranks[pair[1]])
        values, errors = pair_information(correlations, dof, n, kept=kept)
        unlearned = np.array(latents.unlearned)[starts]
        return pairs_with_unlearned(values, errors, unlearned[pair[0]] + unlearned[pair[1]])

    def _doubtful(
        self, found: Pairs, places: RowArray, columns: FloatArray, dof: float, blocks: list[tuple[int, ...]]
    ) -> list[int]:
        """Which pairs are asked about one by one: pairs of groups, and pairs that need more than a Gaussian base.

        The latter are all, none, or those that the screen finds.
        """
        starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        first, second = np.triu_indices(len(blocks), 1)
        if self.settings.base == "auto":
            leading = _some(columns, starts)
            doubtful = not_gaussian(leading, np.clip(leading @ leading.T / dof, -1.0, 1.0), dof)[first, second]
        else:
            doubtful = np.full(len(first), self.settings.base != "gaussian")
        is_group = np.array([len(block) > 1 for block in blocks])
        doubtful = (doubtful & np.isfinite(found.values[places])) | is_group[first] | is_group[second]
        chosen: list[int] = places[doubtful].tolist()
        return chosen

    def one_by_one(self, wanted: NDArray[np.bool_] | None = None) -> Pairs:
        """Every pair, or those that are wanted, as separate questions."""
        found = Pairs.empty(len(self.names))
        chosen = np.arange(len(found.values)) if wanted is None else np.flatnonzero(wanted)
        self._ask(found, chosen.tolist(), self.n_units)
        return found

    def _ask(self, found: Pairs, chosen: list[int], n_units: int = 0) -> None:
        """Ask about pairs one by one; what was fitted for others is in the cache."""
        pairs = [found.pair(k) for k in chosen]
        n_jobs, variables = self.settings.n_jobs, self.variables
        if is_sent_away(n_jobs) and not self.is_rest:
            variables = _with_only(variables, {i for pair in pairs for i in pair})
        asker = Asker.of(variables.table, self.settings, n_jobs if len(pairs) == 1 else 1, is_tested=self.test)
        items = [variables.pair(self.names[i], self.names[j], self.is_rest).blocks for i, j in pairs]
        units = f"{n_units:,} units for " if n_units else ""
        with progress_bar(f"fitting {units}{len(chosen):,} pairs", len(chosen), self.progress) as step:
            answers = ask_all(asker, items, self.settings.cache, n_jobs, step, asker.tasks)
        for k, answer in zip(chosen, answers, strict=True):
            information = answer.estimate
            found.values[k], found.errors[k] = information.value, information.standard_error
            found.below[k], found.above[k] = information.errors or (information.standard_error,) * 2
            found.degrees[k] = information.degrees_of_freedom
            found.bases[k], found.pvalues[k] = information.base, answer.pvalue if self.test else np.nan
            found.n_general += information.base != "gaussian"


def _with_only(variables: Variables, chosen: Set[int]) -> Variables:
    """The same without the values of other variables' columns, which need not be sent."""
    members = list(variables.members.values())
    needed = [*variables.given, *(column for i in chosen for column in members[i])]
    columns = np.zeros_like(variables.table.columns)
    columns[needed] = variables.table.columns[needed]
    return replace(variables, table=replace(variables.table, columns=columns))


def _some(columns: FloatArray, places: RowArray) -> FloatArray:
    """Some of columns (d, n), in their order; not copied if these are all."""
    return columns if len(places) == len(columns) else columns[places]


def _of_unit_variance(latents: Latents) -> FloatArray:
    """The latents, scaled so that their products over the degrees of freedom are correlations, same shape."""
    scaled: FloatArray = latents.both / np.sqrt((latents.both**2).sum(axis=1, keepdims=True) / latents.dof)
    return scaled

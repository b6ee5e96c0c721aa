"""Pairs of a table with missing values: those that lack the same rows are asked about together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.answers.answer import Verdict, entropy_of
from pydine.answers.settings import Settings
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import SPARE_ROWS, CopiesWarning, FewRowsWarning, TiesWarning, enumeration
from pydine.inputs.kinds import Kind, Kinds, as_said
from pydine.inputs.presence import Presence
from pydine.inputs.reading import check_two_variables, read_variables
from pydine.inputs.table import Table
from pydine.questions.pairs.asked import AllPairs, Shard
from pydine.questions.pairs.found import FIGURES, Pair, Pairs, kinds_of
from pydine.show.progress import progress_bar
from pydine.work.cache import UnitCache
from pydine.work.execution import run


@dataclass(frozen=True)
class Parted:
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
    ) -> Parted:
        """Name the variables as `read_variables` does: columns by themselves, then groups."""
        kinds = presence.kinds(said)
        presence = presence.without_identifiers(kinds)
        known = presence.named("given", given)
        together = {str(name): presence.named(f"groups[{name!r}]", columns) for name, columns in groups.items()}
        taken = {column for block in (*together.values(), known) for column in block}
        singles = {name: [name] for name in presence.keys if name not in taken}
        check_two_variables(len(singles) + len(together))
        return cls(presence, {**singles, **together}, known, settings, test, progress, kinds, said)

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows that some figure uses, and rows that none does."""
        masks = np.array([self.presence.rows_with([*columns, *self.given]) for columns in self.members.values()])
        used = int((masks.sum(axis=0) >= 2).sum())
        return used, masks.shape[1] - used

    def pairs(self) -> tuple[Pairs, int]:
        """The figures of all pairs, and the number of units behind them."""
        found = Pairs.empty(len(self.members))
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
        self.presence.warn([*(name for block in blocks for name in block), *self.given], self.said)
        found.kinds = tuple(kinds_of([self.kinds[name] for name in block]) for block in blocks)
        found.entropies = tuple(self._entropy(block) for block in blocks)
        return found, sum(part.n_units for part in answers)

    def share(self, shard: Shard, cache: UnitCache) -> int:
        """Do a shard's share of every part with the same rows; return how many units others still owe."""
        parts = [self._asked(part) for part in self.presence.parts(self._needs())]
        return sum(part[0].share(shard, cache) for part in parts if not isinstance(part, FoundPart))

    def _needs(self) -> dict[Pair, list[str]]:
        """The columns that each pair needs."""
        blocks = list(self.members.values())
        pairs = zip(*np.triu_indices(len(blocks), 1), strict=True)
        return {(int(i), int(j)): [*blocks[i], *blocks[j], *self.given] for i, j in pairs}

    def _ask(self, part: tuple[NDArray[np.bool_], list[Pair]]) -> FoundPart:
        """Ask about pairs that have the same rows."""
        found = self._asked(part)
        if isinstance(found, FoundPart):
            return found
        asked, order = found
        wanted = {tuple(sorted(pair)) for pair in part[1]}
        places = zip(*np.triu_indices(len(order), 1), strict=True)
        chosen = np.array([tuple(sorted((order[a], order[b]))) in wanted for a, b in places])
        return FoundPart(asked.every(chosen), order, asked.n_units)

    def _asked(self, part: tuple[NDArray[np.bool_], list[Pair]]) -> tuple[AllPairs, list[int]] | FoundPart:
        """Positions that have the same rows, and the positions of their variables in the whole.

        A constant tells nothing; what cannot be asked is refused.
        """
        rows, pairs = part
        names = list(self.members)
        members = sorted({i for pair in pairs for i in pair})
        if rows.sum() <= SPARE_ROWS:
            return FoundPart(None, members, 0, f"they have {rows.sum()} rows, but need more than {SPARE_ROWS}.")
        varying = [i for i in members if all(self.presence.varies(name, rows) for name in self.members[names[i]])]
        if len(varying) < 2:
            return FoundPart(None, varying, 0)
        columns = [name for i in varying for name in self.members[names[i]]]
        keys = self.presence.keys
        groups = {
            names[i]: [keys[c] for c in block] for i in varying if (block := self.members[names[i]]) != [names[i]]
        }
        try:
            with warnings.catch_warnings():
                for category in (TiesWarning, FewRowsWarning, CopiesWarning):  # one word for all parts
                    warnings.simplefilter("ignore", category)
                data = self.presence.part([*columns, *self.given], rows)
                kinds = as_said({name: self.kinds[name] for name in (*columns, *self.given)}, self.said)
                known = [keys[name] for name in self.given] or None
                variables = read_variables(data, known, groups or None, kinds=kinds)
        except ValueError as error:
            return FoundPart(None, members, 0, str(error))
        asked = AllPairs(variables, replace(self.settings, n_jobs=None), False, self.test, progress=False)
        return asked, [names.index(name) for name in variables.members]

    def _entropy(self, block: Sequence[str]) -> float:
        """Entropy of a variable in the rows that it has."""
        rows, places = self.presence.rows_with(block), [self.presence.whole.names.index(name) for name in block]
        columns = np.ascontiguousarray(self.presence.whole.values[rows][:, places].T)
        kinds = tuple(self.kinds[name] for name in block)
        return entropy_of(Table(columns, tuple(block), None, kinds), range(len(block)))

    def _enter(self, found: Pairs, k: int, part: FoundPart, pair: Pair) -> None:
        """Enter what a part says of a pair."""
        place = part.place(pair)
        if part.found is None or place is None:
            if not part.refusal:  # one of them is constant where the other has values
                found.values[k] = Verdict.NOTHING_LEFT.value
                found.errors[k] = found.below[k] = found.above[k] = 0.0
            found.pvalues[k] = Verdict.NOTHING_LEFT.pvalue if self.test else np.nan
            return
        for name in FIGURES:
            getattr(found, name)[k] = getattr(part.found, name)[place]
        found.n_general += found.bases[k] != "gaussian"

    def _warn(self, refused: list[FoundPart], found: Pairs) -> None:
        """Warn which pairs have no figure, and why; raise an error if none has one."""
        unknown = np.flatnonzero(np.isnan(found.values))
        if len(unknown) == len(found.values):
            raise ValueError(refused[0].refusal)
        if len(unknown):
            names = list(self.members)
            shown = [" and ".join(names[i] for i in found.pair(int(k))) for k in unknown[:5]]
            more = [f"{len(unknown) - 5} more"] if len(unknown) > 5 else []
            warnings.warn(
                f"No estimate for {enumeration(shown + more)}, which have too few rows in common: {refused[0].refusal}",
                UserWarning,
                stacklevel=level_of_caller(),
            )


@dataclass(frozen=True)
class FoundPart:
    """What was found of variables, whose positions in the whole are `order`, or why nothing was."""

    found: Pairs | None
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

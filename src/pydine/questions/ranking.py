"""The question "which columns tell about the target, and which beyond the others?", answered by a ranking.

Each column has two figures. Alone, it is estimated from the rows in which it and the target have values. Given the
rest, rows must have all columns; with very many columns the rest is a selection of those that tell most (`screened`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.answers.answer import Verdict
from pydine.answers.asking import Answered, Blocks, ask
from pydine.answers.policy import determined_side, warn_determined
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import (
    CopiesWarning,
    FewRowsWarning,
    TiesWarning,
    check_nan_policy,
    warn_left_out,
    warn_of_index,
)
from pydine.inputs.columns import Source, frame_library, read_columns
from pydine.inputs.dependence import Dependence
from pydine.inputs.hints import hint_of
from pydine.inputs.kinds import Kinds, as_said
from pydine.inputs.presence import Presence
from pydine.inputs.reading import read_sides
from pydine.inputs.table import Question, Table, copy_signature
from pydine.nulls.pvalues import adjusted
from pydine.questions.explanation import explained
from pydine.questions.features.rest import rest_of
from pydine.questions.features.ties import MOST_VALUES, Comparer
from pydine.results.explanation import Explanation
from pydine.results.ranking import RankedColumn, Ranking
from pydine.show.progress import progress_bar
from pydine.work.asking import ask_all
from pydine.work.cache import UnitCache
from pydine.work.execution import arrivals, is_sent_away
from pydine.work.threads import one_thread

__all__ = ["RankedColumn", "Ranking", "rank"]


LOOK_ROWS = 2000  # memory: rows of a first look, which is to be there within seconds
LOOK_FROM = 10  # memory: so many times as many rows are worth one


def rank(
    data: Any,
    target: Any,
    features: Sequence[Any] | None = None,
    *,
    alpha: float = 0.05,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    progress: bool | None = None,
    watch: Callable[[Ranking], None] | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Ranking:
    """Rank columns by the information they have about a target, alone and given all the others.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        As in `mutual_information`; n rows.
    target : column name or list of names; or column, array or frame of n rows
        Several columns are one target together. Names of columns of `data`, or the values themselves.
    features : sequence of column names, optional
        The columns to rank; every column but the target by default. With more than 31, the rest is a selection of 30
        (`Ranking.screened`), in which a column of labels counts once for every label. Columns that are strictly
        monotone functions of one before them, or of the target (of steps and labels: one to one), are left out of the
        rest.
    alpha : float, default=0.05
        The false discovery rate that is accepted among the columns that are found to add something.
    base, random_state, n_jobs, cache, kinds
        As in `pairwise_information`. Columns that nothing can be learned from (dates, objects, constants, identifiers,
        no values) are left out of the ranking, with a warning.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to NaN and infinity: refused, or left out. A figure alone has all rows in which its column and the
        target have values; given the rest, rows must have all columns.
    progress : bool or None, default=None
        Whether to show a bar with the time left on the standard error; None to do so on a terminal.
    watch : callable, optional
        Called with the ranking as far as it is known: when all figures alone are, then after each one given the rest,
        those of the columns first that tell most alone. Of very many rows there is a first look at some before that.
    clusters, time, weights
        How rows were sampled, as in `mutual_information`; columns that say it are not ranked, and all figures
        are of the rows that have all columns.

    Returns
    -------
    Ranking
        If it is interrupted (Ctrl-C) once a figure is known: what is known by then, as `Ranking.unfinished` says.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.questions.ranking import rank
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.standard_normal((2, 400))
    >>> proxy = cause + 0.5 * rng.standard_normal(400)
    >>> data = {"cause": cause, "proxy": proxy, "noise": noise, "y": cause + rng.standard_normal(400)}
    >>> ranking = rank(data, "y")
    >>> [column.name for column in ranking]
    ['cause', 'proxy', 'noise']
    >>> ranking.not_detected
    ('proxy', 'noise')
    """
    check_nan_policy(nan_policy)
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    settings = replace(settings, cache=settings.cache or UnitCache())
    backend = frame_library(data)
    data, targets = _with_target(data, target)
    said, source = Dependence(clusters, time, weights=weights), Source.read(data)
    sides = {"features": features, "target": targets}
    if features is None:
        apart = said.names(source)
        every = [name for name in source.names if name not in targets and str(name) not in apart]
        sides = {"data": every, "target": targets}  # as messages call them
    with one_thread():
        asked = _read(data, sides, nan_policy, kinds or {}, said)
        return _Work(asked, settings, alpha, progress, watch or unwatched, backend).ranking()


def unwatched(_: Ranking) -> None:
    """Nobody watches."""


def _with_target(data: Any, target: Any) -> tuple[Any, list[Any]]:
    """The data, with the target among its columns if it came as values, and the names of the target."""
    if not (isinstance(target, np.ndarray) or hasattr(target, "shape") or hasattr(target, "to_numpy")):
        return data, target if isinstance(target, list) else [target]
    warn_of_index([data, target])
    source, names = Source.read(data), read_columns("y", target).names
    kept = {name: source.column(name) for name in source.names if str(name) not in names}
    return kept | dict(zip(names, _columns_of(target), strict=True)), list(names)


def _columns_of(values: Any) -> list[Any]:
    """The columns of a frame, or of an array, as they are; a column is its own."""
    if isinstance(values, np.ndarray):
        return list(values.T) if values.ndim > 1 else [values]
    source = Source.read(values) if len(np.shape(values)) > 1 else None
    return [values] if source is None else [source.column(name) for name in source.names]


@dataclass(frozen=True)
class _Questions:
    """The questions of a ranking.

    Parameters
    ----------
    target : str
    alone : dict of str to Question
        One for each column, with the rows that it has.
    whole : Question or None
        About all columns and the target, with the rows that have all; None if there are too few.
    n_complete, n_rows : int
        Rows that have all, and all rows.
    left_out : dict of str to str
        Columns that cannot be asked about, and why.
    why_no_rest : str
        Why there is no `whole`.
    """

    target: str
    alone: dict[str, Question]
    whole: Question | None
    n_complete: int
    n_rows: int
    left_out: dict[str, str]
    why_no_rest: str = ""

    @cached_property
    def first_of(self) -> dict[str, str]:
        """For each column with a question given the rest, the one that it is a copy of: itself if it is none."""
        if self.whole is None:
            return {}
        table, (x, y, _) = self.whole.table, self.whole.blocks
        signatures = {i: copy_signature(table.columns[i], table.kind(i)) for i in (*x, *y)}
        first = {signatures[y[0]]: self.target} if len(y) == 1 else {}
        return {table.names[i]: first.setdefault(signatures[i], table.names[i]) for i in x}

    @property
    def hints(self) -> dict[str, str]:
        """What columns look like, where that may be something else."""
        found = {}
        for name, question in self.alone.items():
            table, (i,) = question.table, question.x
            found[name] = hint_of(name, table.columns[i], table.kind(i))
        return {name: hint for name, hint in found.items() if hint}


def _read(data: Any, sides: Mapping[str, Any], nan_policy: str, kinds: Kinds, said: Dependence) -> _Questions:
    """Read the columns: all together if no value is missing, otherwise each with the rows that it has."""
    features, targets = sides.values()
    presence = Presence.read(data) if nan_policy == "omit" and not said.is_said else None
    if presence is not None:
        y = presence.named("target", list(targets))
        names = presence.named("features", [name for name in features if str(name) not in presence.left_out])
        if not presence.is_complete([*names, *y]):
            wanted = set(map(str, features))
            presence = replace(presence, left_out={k: v for k, v in presence.left_out.items() if k in wanted})
            return _read_by_rows(presence, names, y, kinds)
    left_out: dict[str, str] = {}
    table, places = read_sides(sides, data=data, nan_policy=nan_policy, kinds=kinds, left_out=left_out, dependence=said)
    whole = Question(table, *places.values())
    alone = {name: Question(whole.table, (i,), whole.y) for name, i in zip(whole.names[0], whole.x, strict=True)}
    n, why = whole.table.n_samples, {name: f"it {reason}" for name, reason in left_out.items()}
    return _Questions(", ".join(whole.names[1]), alone, whole, n, n, why)


def _read_by_rows(presence: Presence, names: Sequence[str], target: Sequence[str], said: Kinds) -> _Questions:
    kinds = presence.kinds({name: kind for name, kind in said.items() if str(name) not in presence.left_out})
    alone: dict[str, Question] = {}
    left_out = {name: f"it {reason}" for name, reason in presence.left_out.items()}
    if left_out:
        warn_left_out({f"column {name!r} of data": reason for name, reason in presence.left_out.items()})

    def question(some: Sequence[str], rows: NDArray[np.bool_]) -> Question:
        keys = presence.keys
        with warnings.catch_warnings():
            for category in (TiesWarning, FewRowsWarning, CopiesWarning):  # one word for all parts
                warnings.simplefilter("ignore", category)
            data = presence.part([*some, *target], rows)
            known = as_said({name: kinds[name] for name in (*some, *target)}, said)
            y = [keys[name] for name in target]
            sides = {"features": [keys[name] for name in some], "target": y}
            table, places = read_sides(sides, data=data, kinds=known)
            return Question(table, places["features"], places["target"])

    for rows, pairs in presence.parts({(i, i): (name, *target) for i, name in enumerate(names)}):
        for name in (names[i] for i, _ in pairs):
            try:
                alone[name] = question([name], rows)
            except ValueError as error:
                left_out[name] = str(error)
    kept = [name for name in names if name in alone]
    if not kept:
        raise ValueError(next(iter(left_out.values())))
    presence.warn([*kept, *target], said)
    rows = presence.rows_with([*kept, *target])
    varying = [name for name in kept if presence.varies(name, rows)]
    n_complete, n_rows = int(rows.sum()), len(rows)
    whole, why = None, f"{n_complete:,} of {n_rows:,} rows have all columns"
    try:
        whole, why = (question(varying, rows), "") if varying else (None, f"{why}.")
    except ValueError as error:
        why = f"{why}: {error}"
    return _Questions(", ".join(target), {name: alone[name] for name in kept}, whole, n_complete, n_rows, left_out, why)


@dataclass(frozen=True)
class _Work:
    """What is ranked, and how."""

    asked: _Questions
    settings: Settings
    alpha: float
    progress: bool | None
    watch: Callable[[Ranking], None]
    backend: str

    def ranking(self) -> Ranking:
        """All figures alone, then all given the rest; if that is interrupted, what is known by then."""
        alone: dict[str, Answered] = {}
        known: dict[str, Answered] = {}
        screened: tuple[str, ...] = ()
        try:
            self._look()
            answers = self._answers(list(self.asked.alone.values()), "alone")
            alone.update(zip(self.asked.alone, answers, strict=True))  # one by one
            rest, screened = self._rest(alone)
            if not rest:
                known = {} if self.asked.why_no_rest else self._of_alone(alone)
                return self._with_ties(self._result(alone, known, screened))
            self.watch(self._result(alone, {}, screened))
            for name, answer in zip(rest, self._answers(list(rest.values()), "given the rest"), strict=True):
                known[name] = answer
                self.watch(self._result(alone, known, screened))
        except KeyboardInterrupt:
            if not alone:
                raise
            of, count = ("given the rest", len(known)) if known else ("alone", len(alone))
            why = f"Interrupted: estimates {of} are known for {count} of {len(self.asked.alone)} columns."
            warnings.warn(why, UserWarning, stacklevel=level_of_caller())
            return replace(self._result(alone, known, screened), unfinished=why)
        gone = [name for name, answer in known.items() if answer.verdict is Verdict.NOTHING_LEFT]
        warn_determined(determined_side(rest[name]) for name in gone)
        return self._with_ties(self._result(alone, known, screened))

    def _of_alone(self, alone: dict[str, Answered]) -> dict[str, Answered]:
        """The figures of columns that are no copies, where there is no rest to be given."""
        first = self.asked.first_of
        return {name: answer for name, answer in alone.items() if first.get(name, name) == name}

    def _look(self) -> None:
        """Show figures alone of some of the rows at once, where there are so many that all of them take long."""
        tables = {id(question.table): question.table for question in self.asked.alone.values()}
        if self.watch is unwatched or max(table.n_samples for table in tables.values()) < LOOK_FROM * LOOK_ROWS:
            return
        few = {key: _some_rows(table) for key, table in tables.items()}
        questions = {name: replace(q, table=few[id(q.table)]) for name, q in self.asked.alone.items()}
        varying = {n: q for n, q in questions.items() if all(np.ptp(q.table.columns[i]) > 0.0 for i in (*q.x, *q.y))}
        alone = dict(zip(varying, self._answers(list(varying.values()), "at a first look"), strict=True))
        if alone:
            said = f"A first look at {LOOK_ROWS:,} of {self.asked.n_rows:,} rows; the full ranking follows."
            self.watch(replace(self._result(alone, {}, ()), unfinished=said))

    def _with_ties(self, ranking: Ranking) -> Ranking:
        """The ranking with its first columns compared, once all is known."""
        if not isinstance(ranking.comparer, Comparer):
            return ranking
        return replace(ranking, tied=ranking.comparer.tied([column.name for column in ranking], self.alpha))

    def _comparer(self, alone: dict[str, Answered]) -> Comparer:
        """Compares columns by what their rows contribute."""
        kept = {name: a for name, a in alone.items() if len(a.values) and a.verdict is None}
        return Comparer({name: a for name, a in kept.items() if np.isfinite(a.estimate.value)})

    def _answers(self, questions: list[Question], how: str) -> Iterator[Answered]:
        """Ask questions in parallel, and yield their answers in order, each as soon as it is known."""
        tables = list({id(question.table): question.table for question in questions}.values())
        items = [(_place(question.table, tables), question.blocks) for question in questions]
        n_values = sum(0 if question.given else question.table.n_samples for question in questions)
        settings = replace(self.settings, cache=None, n_jobs=1 if len(items) > 1 else None)
        asker = _Asker(tuple(tables), settings, 0 < n_values <= MOST_VALUES)
        cache, n_jobs = self.settings.cache, self.settings.n_jobs
        with progress_bar(f"{len(questions)} columns {how}", len(questions), self.progress) as step:
            if len(items) == 1 or is_sent_away(n_jobs):
                yield from ask_all(asker, items, cache, n_jobs, step)
                return
            known: dict[int, Answered] = {}
            due = 0
            for i, answer in arrivals(lambda item: asker(item, cache), items, n_jobs, step):
                known[i] = answer
                while due in known:
                    yield known.pop(due)
                    due += 1

    def _rest(self, alone: dict[str, Answered]) -> tuple[dict[str, Question], tuple[str, ...]]:
        """Every column given the others, or given those that stand for them, which are named."""
        first, whole = self.asked.first_of, self.asked.whole
        if whole is None or len(whole.x) < 2:
            return {}, ()
        whole = replace(whole, x=tuple(i for i in whole.x if first[whole.table.names[i]] == whole.table.names[i]))
        if len(whole.x) < 2:
            return {}, ()
        names = whole.names[0]
        rest = rest_of(whole, np.array([alone[name].estimate.value for name in names]))
        asked = sorted(zip(names, whole.x, strict=True), key=lambda pair: -alone[pair[0]].estimate.value)
        questions = {name: Question(whole.table, (i,), whole.y, rest.without(i)) for name, i in asked}
        return questions, () if rest.is_whole else tuple(whole.table.names[j] for j in rest.columns)

    def _result(self, alone: dict[str, Answered], known: dict[str, Answered], screened: tuple[str, ...]) -> Ranking:
        """What is known so far."""
        of_alone = adjusted(np.array([answer.pvalue for answer in alone.values()]), "bh")
        of_rest = dict(zip(known, adjusted(np.array([a.pvalue for a in known.values()]), "bh"), strict=True))
        columns, asked = [], self.asked
        copies = {name: other for name, other in asked.first_of.items() if other != name}
        for (name, first), q in zip(alone.items(), of_alone, strict=True):
            second, q_rest = known.get(name), float(of_rest.get(name, np.nan))
            information, pvalue = (None, np.nan) if second is None else (second.estimate, second.pvalue)
            nothing, shows = q_rest > self.alpha, "" if second is None else second.shows
            columns.append(
                RankedColumn(
                    name,
                    first.estimate,
                    information,
                    first.pvalue,
                    pvalue,
                    float(q),
                    q_rest,
                    nothing,
                    shows,
                    copies.get(name, ""),
                )
            )
        columns.sort(key=lambda column: -column.alone.value)
        comparer = self._comparer(alone)
        return Ranking(
            asked.target,
            tuple(columns),
            self.alpha,
            asked.n_complete,
            asked.n_rows - asked.n_complete,
            screened,
            asked.why_no_rest,
            asked.left_out,
            asked.hints,
            self.backend,
            partial(_explained, asked, self.settings, screened, self.backend),
            comparer=comparer if comparer.answers else None,
        )


def _explained(asked: _Questions, settings: Settings, screened: Sequence[str], backend: str, name: str) -> Explanation:
    """Why a column of a ranking tells what it does given the rest."""
    if name not in asked.alone:
        raise ValueError(f"{name!r} is not among the columns of the ranking, which are {', '.join(asked.alone)}.")
    if asked.whole is None or name not in asked.whole.names[0]:
        raise ValueError(
            f"what {name!r} tells given the rest cannot be computed: {asked.why_no_rest or 'it is constant'}"
        )
    table, first = asked.whole.table, asked.first_of
    names = [other for other in (screened or first) if first[other] == other and other != first[name]]
    given = tuple(table.names.index(other) for other in names if other != name)
    with one_thread():
        return explained(Question(table, (table.names.index(name),), asked.whole.y, given), settings, backend)


def _some_rows(table: Table) -> Table:
    """Rows of a table for a first look, spread over all of them."""
    rows = np.linspace(0, table.n_samples - 1, min(LOOK_ROWS, table.n_samples)).astype(np.intp)
    return replace(table, columns=table.columns[:, rows], kept=None, rows=table.rows.only(rows))


_Item = tuple[int, Blocks]  # a question, by the place of its table among the asker's


def _place(table: Table, tables: Sequence[Table]) -> int:
    return next(i for i, other in enumerate(tables) if other is table)


@dataclass(frozen=True)
class _Asker:
    """Estimates and tests questions about its tables, by the same latents; the settings name no cache."""

    tables: tuple[Table, ...]
    settings: Settings
    keeps_rows: bool = False

    def __call__(self, item: _Item, cache: UnitCache | None) -> Answered:
        """The answer to one question."""
        place, blocks = item
        return ask(
            Question(self.tables[place], *blocks), replace(self.settings, cache=cache), keeps_rows=self.keeps_rows
        )

"""The question "which columns tell about the target, and which add nothing to the others?", answered by a ranking.

Each column has two figures. Alone, it is estimated from the rows in which it and the target have values. Given the
rest, rows must have all columns; with very many columns the rest is a selection of those that tell most (`screened`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.answers.contrasts import Answered, rows_of
from pydine.answers.fitting import fit, information_of
from pydine.answers.policy import Verdict, determined_side, warn_determined
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.inputs.checks import CopiesWarning, FewRowsWarning, TiesWarning, check_nan_policy
from pydine.inputs.columns import Source
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.presence import Presence
from pydine.inputs.reading import read_question
from pydine.inputs.table import Question, Table
from pydine.nulls.analytic import analytic_test
from pydine.nulls.pvalues import adjusted
from pydine.questions.features.rest import rest_of
from pydine.questions.features.ties import MOST_VALUES, Comparer
from pydine.results import InformationEstimate
from pydine.results.contrasts import Difference
from pydine.results.records import Record
from pydine.show.cards import card, figure, pvalue_text, strip, strip_end, table
from pydine.show.plotting import draw_ranking
from pydine.show.progress import progress_bar
from pydine.types import FloatArray
from pydine.work.asking import ask_all
from pydine.work.cache import UnitCache
from pydine.work.execution import arrivals, is_sent_away
from pydine.work.threads import one_thread

__all__ = ["RankedColumn", "Ranking", "rank"]

SHOWN = 30  # fact: columns of a ranking that is printed


@dataclass(frozen=True)
class RankedColumn(Record):
    """What one column tells about the target.

    Parameters
    ----------
    name : str
    alone : InformationEstimate
        I(column; target) in nats.
    given_rest : InformationEstimate or None
        I(column; target | the other columns) in nats; the same as `alone` if there is no other, and None where it could
        not be asked (`Ranking.why_no_rest`) or is not known yet.
    pvalue_alone, pvalue_given_rest : float
        Of the analytic test of independence, alone and given the rest; NaN where there is no estimate.
    adjusted_alone, adjusted_given_rest : float
        The same, adjusted for the number of columns by Benjamini and Hochberg.
    adds_nothing : bool
        Whether, given the rest, independence is not rejected at the ranking's level: nothing was found, which is no
        proof that nothing is there.
    shows : str, default=""
        Where dependence given the rest shows: as "correlation", "bent", "spread", "any shape" or "changes with z".
        Empty where it was not tested.
    """

    name: str
    alone: InformationEstimate
    given_rest: InformationEstimate | None
    pvalue_alone: float
    pvalue_given_rest: float
    adjusted_alone: float
    adjusted_given_rest: float
    adds_nothing: bool
    shows: str = ""

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        rest = self.given_rest
        told = "" if rest is None else f"given the rest {figure(rest.value, rest.standard_error, 'nats')}"
        nothing = "nothing was found beyond the rest" if self.adds_nothing else ""
        return card(self.name, f"{figure(self.alone.value, self.alone.standard_error, 'nats')} alone", [told, nothing])


@dataclass(frozen=True, repr=False)
class Ranking(Record):
    """Columns by what they tell about the target on their own, the most first.

    Parameters
    ----------
    target : str
    columns : tuple of RankedColumn
    alpha : float
        The level of `RankedColumn.adds_nothing`, a false discovery rate.
    n_samples, n_dropped : int
        Rows that have all columns, which are used given the rest, and the others. How many rows a figure alone has is
        in its own `InformationEstimate.n_samples`.
    screened : tuple of str, default=()
        With very many columns, those that stand for the rest: every column is conditioned on these, except itself.
        Empty if the rest is all other columns.
    why_no_rest : str, default=""
        Why there are no figures given the rest, if so.
    left_out : dict of str to str
        Columns that were not ranked, and why: they have too few values.
    tied : tuple of str, default=()
        The first columns, if they cannot be told apart by what they tell alone, at level alpha.
    comparer : callable, optional
        Makes the `Difference` of two columns, for `compare`; ignored by ``==``.
    """

    target: str
    columns: tuple[RankedColumn, ...]
    alpha: float
    n_samples: int
    n_dropped: int
    screened: tuple[str, ...] = ()
    why_no_rest: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    tied: tuple[str, ...] = ()
    comparer: Callable[[str, str], Difference] | None = field(default=None, compare=False)

    def compare(self, first: str, second: str) -> Difference:
        """How much more one column tells about the target alone than another: in nats, with an interval and a p-value.

        Parameters
        ----------
        first, second : str
            Names of ranked columns.

        Returns
        -------
        Difference
        """
        if self.comparer is None:
            raise ValueError("this ranking holds no rows to compare; ask pydine.compare, or what pydine.rank returns.")
        return self.comparer(first, second)

    @property
    def ties(self) -> str:
        """Which columns cannot be told apart, in a sentence; empty if the first tells more than all others."""
        if not self.tied:
            return ""
        return f"The first {len(self.tied)} columns cannot be told apart: {', '.join(self.tied)}."

    def __iter__(self) -> Iterator[RankedColumn]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        rows = f"{self.n_samples:,} rows" + (f" with all columns, {self.n_dropped:,} without" if self.n_dropped else "")
        lines = [f"{len(self)} columns by their information about {self.target}, in nats, {rows}:"]
        for column in self.columns[:SHOWN]:
            rest = column.given_rest
            told = "" if rest is None else f"{figure(rest.value, rest.standard_error)} given the rest"
            nothing = ", adds nothing" if column.adds_nothing else ""
            alone = figure(column.alone.value, column.alone.standard_error)
            lines.append(f"  {column.name:<{width}}  {alone} alone  {told}{nothing}".rstrip())
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more")
        return "\n".join([*lines, *(f"  {sentence}" for sentence in (self.ties, self.why_no_rest) if sentence)])

    def _repr_html_(self) -> str:
        """A table for notebooks, with intervals drawn."""
        ends = [(c.alone, *([] if c.given_rest is None else [c.given_rest])) for c in self.columns]
        limit = strip_end([(e.value, e.standard_error, e.confidence_interval().high) for pair in ends for e in pair])
        rows = []
        for column, pair in list(zip(self.columns, ends, strict=True))[:SHOWN]:
            drawn = zip(("alone", "rest"), pair, strict=False)
            bars = strip([(kind, e.value, *e.confidence_interval()) for kind, e in drawn], limit)
            rest = "–" if column.given_rest is None else figure(pair[1].value, pair[1].standard_error)
            alone = figure(column.alone.value, column.alone.standard_error)
            rows.append([column.name, bars, alone, rest, pvalue_text(column.adjusted_given_rest)])
        more = f"{len(self) - SHOWN:,} more columns. " if len(self) > SHOWN else ""
        more += f"{self.ties} " if self.ties else ""
        note = f"{more}Light: alone, dark: given the rest; 95% intervals. {self.n_samples:,} rows have all columns."
        header = ["column", f"0 to {limit:.2g} nats", "alone", "given the rest", "adjusted p"]
        return table(f"What tells about {self.target}", header, rows, f"{note} {self.why_no_rest}".strip(), strips=1)

    def plot(self, axes: Any = None) -> Any:
        """Draw what columns tell alone and given the rest, with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return draw_ranking(self, axes)

    @property
    def add_nothing(self) -> tuple[str, ...]:
        """The columns for which nothing was found beyond what the rest tells."""
        return tuple(column.name for column in self.columns if column.adds_nothing)


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
) -> Ranking:
    """Rank columns by the information they have about a target, alone and given all the others.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        As in `mutual_information`; n rows.
    target : column name
    features : sequence of column names, optional
        The columns to rank; every column but the target by default. With more than 31, the rest is a selection of 30
        (`Ranking.screened`), in which a column of labels counts once for every label.
    alpha : float, default=0.05
        The false discovery rate that is accepted among the columns that add something.
    base, random_state, n_jobs, cache, kinds
        As in `pairwise_information`. Identifiers are left out of the ranking, with a warning.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to NaN and infinity: refused, or left out. A figure alone has all rows in which its column and the
        target have values; given the rest, rows must have all columns.
    progress : bool or None, default=None
        Whether to show a bar with the time left on the standard error; None to do so on a terminal.
    watch : callable, optional
        Called with the ranking as far as it is known: first when all figures alone are, then after each one given the
        rest.
    clusters, time
        How rows depend on each other, as in `mutual_information`; columns that say it are not ranked, and all figures
        are of the rows that have all columns.

    Returns
    -------
    Ranking

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
    >>> ranking.add_nothing
    ('proxy', 'noise')
    """
    check_nan_policy(nan_policy)
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    settings = replace(settings, cache=settings.cache or UnitCache())
    said, source = Dependence(clusters, time), Source.read(data)
    if features is None:
        apart = said.names(source)
        features = [name for name in source.names if name != target and str(name) not in apart]
    with one_thread():
        asked = _read(data, features, target, nan_policy, kinds or {}, said)
        return _Work(asked, settings, alpha, progress, watch or (lambda _: None)).ranking()


class _Answer(NamedTuple):
    """An estimate, the p-value of its analytic test, whether what is given determines a side, and where it shows."""

    information: InformationEstimate
    pvalue: float
    is_determined: bool
    shows: str = ""
    values: FloatArray | None = None  # what rows contribute, if they are kept


@dataclass(frozen=True)
class _Asked:
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


def _read(data: Any, features: Sequence[Any], target: Any, nan_policy: str, kinds: Kinds, said: Dependence) -> _Asked:
    """Read the columns: all together if no value is missing, otherwise each with the rows that it has."""
    presence = Presence.read(data) if nan_policy == "omit" and not said.is_said else None
    if presence is not None:
        (y,), names = presence.named("target", target), presence.named("features", list(features))
        if not presence.is_complete([*names, y]):
            return _read_by_rows(presence, names, y, kinds)
    whole = read_question(features, target, data=data, nan_policy=nan_policy, kinds=kinds, many_x=True, dependence=said)
    alone = {name: Question(whole.table, (i,), whole.y) for name, i in zip(whole.names[0], whole.x, strict=True)}
    return _Asked(whole.names[1][0], alone, whole, whole.table.n_samples, whole.table.n_samples, {})


def _read_by_rows(presence: Presence, names: Sequence[str], target: str, said: Kinds) -> _Asked:
    kinds = presence.kinds(said)
    alone: dict[str, Question] = {}
    left_out: dict[str, str] = {}

    def question(some: Sequence[str], rows: NDArray[np.bool_]) -> Question:
        keys = presence.keys
        with warnings.catch_warnings():
            for category in (TiesWarning, FewRowsWarning, CopiesWarning):  # one word for all parts
                warnings.simplefilter("ignore", category)
            data = presence.part([*some, target], rows)
            known = {name: kinds[name] for name in (*some, target)}
            return read_question([keys[name] for name in some], keys[target], data=data, kinds=known)

    for rows, pairs in presence.parts({(i, i): (name, target) for i, name in enumerate(names)}):
        for name in (names[i] for i, _ in pairs):
            try:
                alone[name] = question([name], rows)
            except ValueError as error:
                left_out[name] = str(error)
    kept = [name for name in names if name in alone]
    if not kept:
        raise ValueError(next(iter(left_out.values())))
    presence.warn([*kept, target], said)
    rows = presence.rows_with([*kept, target])
    varying = [name for name in kept if presence.varies(name, rows)]
    n_complete, n_rows = int(rows.sum()), len(rows)
    whole, why = None, f"{n_complete:,} of {n_rows:,} rows have all columns"
    try:
        whole, why = (question(varying, rows), "") if varying else (None, f"{why}.")
    except ValueError as error:
        why = f"{why}: {error}"
    return _Asked(target, {name: alone[name] for name in kept}, whole, n_complete, n_rows, left_out, why)


@dataclass(frozen=True)
class _Work:
    """What is ranked, and how."""

    asked: _Asked
    settings: Settings
    alpha: float
    progress: bool | None
    watch: Callable[[Ranking], None]

    def ranking(self) -> Ranking:
        """All figures alone, then all given the rest."""
        asked = self.asked
        alone = dict(zip(asked.alone, self._answers(list(asked.alone.values()), "alone"), strict=True))
        rest, screened = self._rest(alone)
        if not rest:
            return self._with_ties(self._result(alone, {} if asked.why_no_rest else alone, screened))
        self.watch(self._result(alone, {}, screened))
        known: dict[str, _Answer] = {}
        for name, answer in zip(rest, self._answers(list(rest.values()), "given the rest"), strict=True):
            known[name] = answer
            self.watch(self._result(alone, known, screened))
        warn_determined(determined_side(rest[name]) for name, answer in known.items() if answer.is_determined)
        return self._with_ties(self._result(alone, known, screened))

    def _with_ties(self, ranking: Ranking) -> Ranking:
        """The ranking with its first columns compared, once all is known."""
        if not isinstance(ranking.comparer, Comparer):
            return ranking
        return replace(ranking, tied=ranking.comparer.tied([column.name for column in ranking], self.alpha))

    def _comparer(self, alone: dict[str, _Answer]) -> Comparer:
        """Compares columns by what their rows contribute."""
        kept = {}
        for name, answer in alone.items():
            if answer.values is not None and np.isfinite(answer.information.value):
                rows = self.asked.alone[name].table.positions
                kept[name] = Answered(answer.information, answer.values, rows)
        return Comparer(kept)

    def _answers(self, questions: list[Question], how: str) -> Iterator[_Answer]:
        """Ask questions in parallel, and yield their answers in order, each as soon as it is known."""
        tables = list({id(question.table): question.table for question in questions}.values())
        items = [_Item(_place(question.table, tables), *question.blocks) for question in questions]
        n_values = sum(0 if question.given else question.table.n_samples for question in questions)
        settings = replace(self.settings, cache=None, n_jobs=1 if len(items) > 1 else None)
        asker = _Asker(tuple(tables), settings, 0 < n_values <= MOST_VALUES)
        cache, n_jobs = self.settings.cache, self.settings.n_jobs
        with progress_bar(f"{len(questions)} columns {how}", len(questions), self.progress) as step:
            if len(items) == 1 or is_sent_away(n_jobs):
                yield from ask_all(asker, items, cache, n_jobs, step)
                return
            known: dict[int, _Answer] = {}
            due = 0
            for i, answer in arrivals(lambda item: asker(item, cache), items, n_jobs, step):
                known[i] = answer
                while due in known:
                    yield known.pop(due)
                    due += 1

    def _rest(self, alone: dict[str, _Answer]) -> tuple[dict[str, Question], tuple[str, ...]]:
        """Every column given the others, or given those that stand for them, which are named."""
        whole = self.asked.whole
        if whole is None or len(whole.x) < 2:
            return {}, ()
        names = whole.names[0]
        rest = rest_of(whole, np.array([alone[name].information.value for name in names]))
        questions = {
            name: Question(whole.table, (i,), whole.y, rest.without(i)) for name, i in zip(names, whole.x, strict=True)
        }
        return questions, () if rest.is_whole else tuple(whole.table.names[j] for j in rest.columns)

    def _result(self, alone: dict[str, _Answer], known: dict[str, _Answer], screened: tuple[str, ...]) -> Ranking:
        """What is known so far."""
        of_alone = adjusted(np.array([answer.pvalue for answer in alone.values()]), "bh")
        of_rest = dict(zip(known, adjusted(np.array([a.pvalue for a in known.values()]), "bh"), strict=True))
        columns = []
        for (name, first), q in zip(alone.items(), of_alone, strict=True):
            second, q_rest = known.get(name), float(of_rest.get(name, np.nan))
            information, pvalue = (None, np.nan) if second is None else (second.information, second.pvalue)
            nothing, shows = q_rest > self.alpha, "" if second is None else second.shows
            columns.append(
                RankedColumn(
                    name, first.information, information, first.pvalue, pvalue, float(q), q_rest, nothing, shows
                )
            )
        columns.sort(key=lambda column: -column.alone.value)
        asked, comparer = self.asked, self._comparer(alone)
        return Ranking(
            asked.target,
            tuple(columns),
            self.alpha,
            asked.n_complete,
            asked.n_rows - asked.n_complete,
            screened,
            asked.why_no_rest,
            asked.left_out,
            comparer=comparer if comparer.answers else None,
        )


class _Item(NamedTuple):
    """A question, by the place of its table among the asker's."""

    place: int
    x: tuple[int, ...]
    y: tuple[int, ...]
    given: tuple[int, ...]


def _place(table: Table, tables: Sequence[Table]) -> int:
    return next(i for i, other in enumerate(tables) if other is table)


@dataclass(frozen=True)
class _Asker:
    """Estimates and tests questions about its tables, by the same latents; the settings name no cache."""

    tables: tuple[Table, ...]
    settings: Settings
    keeps_rows: bool = False

    def __call__(self, item: _Item, cache: UnitCache | None) -> _Answer:
        """The answer to one question."""
        question = Question(self.tables[item.place], *item[1:])
        answer = fit(question, replace(self.settings, cache=cache))
        information = information_of(answer, question)
        if isinstance(answer, Verdict):
            return _Answer(information, answer.pvalue, answer is Verdict.NOTHING_LEFT)
        test = analytic_test(answer.tested)
        values = rows_of(answer, question) if self.keeps_rows else None
        return _Answer(information, test.pvalue, is_determined=False, shows=test.shows, values=values)

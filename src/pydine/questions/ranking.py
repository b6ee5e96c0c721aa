"""The question "which columns tell about the target, and which add nothing to the others?", answered by a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pydine.inputs.columns import Source
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_question
from pydine.inputs.table import Question
from pydine.nulls.analytic import analytic_test
from pydine.nulls.blocks import adjusted
from pydine.questions.fitting import fit, information_of
from pydine.questions.policy import Verdict, warn_determined
from pydine.questions.settings import RandomState, Settings
from pydine.results import InformationEstimate
from pydine.show.progress import progress_bar
from pydine.units.cache import UnitCache

__all__ = ["RankedColumn", "Ranking", "rank"]


@dataclass(frozen=True)
class RankedColumn:
    """What one column tells about the target.

    Parameters
    ----------
    name : str
    alone : InformationEstimate
        I(column; target) in nats.
    given_rest : InformationEstimate
        I(column; target | all other columns) in nats; the same as `alone` if there is no other.
    pvalue_alone, pvalue_given_rest : float
        Of the analytic test of independence, alone and given the rest.
    adjusted_alone, adjusted_given_rest : float
        The same, adjusted for the number of columns by Benjamini and Hochberg.
    adds_nothing : bool
        Whether, given the rest, independence is not rejected at the ranking's level: nothing was found, which is no
        proof that nothing is there.
    """

    name: str
    alone: InformationEstimate
    given_rest: InformationEstimate
    pvalue_alone: float
    pvalue_given_rest: float
    adjusted_alone: float
    adjusted_given_rest: float
    adds_nothing: bool


@dataclass(frozen=True)
class Ranking:
    """Columns by what they tell about the target on their own, the most first.

    Parameters
    ----------
    target : str
    columns : tuple of RankedColumn
    alpha : float
        The level of `RankedColumn.adds_nothing`, a false discovery rate.
    n_samples, n_dropped : int
        Rows that were used, and that were left out because of NaN or infinity.
    """

    target: str
    columns: tuple[RankedColumn, ...]
    alpha: float
    n_samples: int
    n_dropped: int

    def __iter__(self) -> Iterator[RankedColumn]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

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
    kinds: Kinds | None = None,
    progress: bool | None = None,
) -> Ranking:
    """Rank columns by the information they have about a target, alone and given all the others.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
        As in `mutual_information`; n rows.
    target : column name
    features : sequence of column names, optional
        The columns to rank; every column but the target by default.
    alpha : float, default=0.05
        The share of false discoveries that is accepted among the columns said to add something.
    base, random_state, n_jobs, nan_policy, kinds
        As in `mutual_information`. Rows with a missing value in any of the columns are left out of every estimate, and
        columns that are identifiers out of the ranking, with a warning.
    progress : bool or None, default=None
        Whether to show a bar with the time left on the standard error; None to do so on a terminal.

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
    if features is None:
        features = [name for name in Source.read(data).names if name != target]
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache()).seeded()
    # One reading for all: the same rows in every estimate, and one warning of ties.
    whole = read_question(features, target, data=data, nan_policy=nan_policy, kinds=kinds, many_x=True)
    answers: list[tuple[_Answer, _Answer]] = []
    with progress_bar(f"{len(whole.x)} columns", len(whole.x), progress) as advance:
        for i in whole.x:
            rest = tuple(other for other in whole.x if other != i)
            alone = _answer(Question(whole.table, (i,), whole.y), settings)
            answers.append((alone, _answer(Question(whole.table, (i,), whole.y, rest), settings) if rest else alone))
            advance()
    names, (target_name,) = whole.names[0], whole.names[1]
    warn_determined(
        f"{name} and {target_name}" for name, (_, given) in zip(names, answers, strict=True) if given.is_determined
    )
    both = [adjusted(np.array([pair[k].pvalue for pair in answers]), "bh") for k in (0, 1)]
    columns = [
        RankedColumn(
            name,
            alone.information,
            given.information,
            alone.pvalue,
            given.pvalue,
            float(first),
            float(second),
            bool(second > alpha),
        )
        for name, (alone, given), first, second in zip(names, answers, *both, strict=True)
    ]
    columns.sort(key=lambda column: -column.alone.value)
    return Ranking(target_name, tuple(columns), alpha, whole.table.n_samples, whole.table.n_dropped)


class _Answer(NamedTuple):
    """An estimate and the p-value of its analytic test; and whether what is given leaves nothing to estimate."""

    information: InformationEstimate
    pvalue: float
    is_determined: bool


def _answer(question: Question, settings: Settings) -> _Answer:
    """Estimate and test one question, by the same latents."""
    answer = fit(question, settings)
    information = information_of(answer, question)
    if isinstance(answer, Verdict):
        return _Answer(information, answer.pvalue, answer is Verdict.NOTHING_LEFT)
    return _Answer(information, analytic_test(answer.latents).pvalue, is_determined=False)

"""The question "which columns tell about the target, and which add nothing to the others?", answered by a ranking."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pydine.inputs.columns import Table
from pydine.inputs.sample import TiesWarning, read_sample
from pydine.nulls.blocks import adjusted
from pydine.questions.estimation import RandomState, mutual_information
from pydine.questions.independence import independence_test
from pydine.results import IndependenceTestResult, InformationEstimate
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
    base, random_state, n_jobs, nan_policy
        As in `mutual_information`. Rows with a missing value in any of the columns are left out of every estimate.
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
        features = [name for name in Table.read(data).names if name != target]
    # One reading for all: the same rows in every estimate, and one warning of ties.
    sample = read_sample(features, target, data=data, nan_policy=nan_policy)
    names, (target_name,) = sample.names[0], sample.names[1]
    clean = {**dict(zip(names, sample.x.T, strict=True)), target_name: sample.y[:, 0]}
    pairs: list[tuple[_Answer, _Answer]] = []
    # An estimate and its test rest on the same flows.
    options = {"data": clean, "random_state": random_state, "n_jobs": n_jobs, "cache": UnitCache()}
    with progress_bar(f"{len(names)} columns", len(names), progress) as advance:
        for name in names:
            rest = [other for other in names if other != name]
            alone = _answer(name, target_name, None, base, alpha, options)
            pairs.append((alone, _answer(name, target_name, rest, base, alpha, options) if rest else alone))
            advance()
    both = [adjusted(np.array([pair[k][1].pvalue for pair in pairs]), "bh") for k in (0, 1)]
    columns = [
        RankedColumn(
            name, alone[0], given[0], alone[1].pvalue, given[1].pvalue, float(first), float(second), second > alpha
        )
        for name, (alone, given), first, second in zip(names, pairs, *both, strict=True)
    ]
    columns.sort(key=lambda column: -column.alone.value)
    return Ranking(target_name, tuple(columns), alpha, sample.n_samples, sample.n_dropped)


_Answer = tuple[InformationEstimate, IndependenceTestResult]


def _answer(
    name: str, target: str, given: list[str] | None, base: str, alpha: float, options: dict[str, Any]
) -> _Answer:
    """Estimate and test one question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)  # it was given once, for all columns
        test = independence_test(name, target, given, method="analytic", alpha=alpha, **options)
        return mutual_information(name, target, given, base=base, **options), test

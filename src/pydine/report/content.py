"""What a report says, as plain data: every number in it comes from here, and `page` only writes it down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import NormalDist

import numpy as np

from pydine.inputs.files import Frame
from pydine.inputs.kinds import Kinds
from pydine.latents.scores import ScoreMap
from pydine.nulls.blocks import adjusted
from pydine.questions.pairwise import pairwise_information
from pydine.questions.ranking import rank
from pydine.questions.settings import Settings
from pydine.report.calibration import FlowFit, check_flows, most_context
from pydine.report.description import Column, describe
from pydine.results import PairwiseInformation
from pydine.types import FloatArray
from pydine.units.cache import UnitCache

MOST_COLUMNS = 500  # 125 thousand pairs, about 5 MB
MOST_IN_GRAPH = 20  # p (p - 1) flows
MOST_RANKED_GIVEN_REST = 30  # 2 p flows
MOST_POINTS = 500  # rows that scatter plots show
LEVEL = 0.95


@dataclass(frozen=True)
class Provenance:
    """Where a report comes from, for whoever wants to make it again.

    Parameters
    ----------
    command : tuple of str
        The command line, word by word.
    made : date
    digest : str or None
        SHA-256 of the file; None if there is none, as for a pipe.
    versions : mapping of str to str
        Of what it was made with.
    """

    command: tuple[str, ...] = ()
    made: date | None = None
    digest: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The information between two columns in nats, and the test of their independence.

    `adjusted` is the p-value adjusted for the number of columns or pairs that it stands among.
    """

    value: float
    standard_error: float
    pvalue: float
    adjusted: float
    base: str

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval, cut off at zero."""
        margin = NormalDist().inv_cdf(0.5 + 0.5 * LEVEL) * self.standard_error
        return max(self.value - margin, 0.0), max(self.value + margin, 0.0)


@dataclass(frozen=True)
class Ranked:
    """What one column tells about the target: alone and, where that was asked, given all the others."""

    name: str
    alone: Answer
    given_rest: Answer | None


@dataclass(frozen=True, eq=False)
class Points:
    """Rows to draw: their values and latents (normal scores), both of shape (p, m)."""

    values: FloatArray
    latents: FloatArray


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a report says.

    Parameters
    ----------
    source : str
        The file, as it is called.
    target : str
    alpha : float
        The level of decisions, a false discovery rate.
    n_rows, n_samples, n_dropped : int
        Rows of the file, rows used, rows left out because a value was missing.
    columns : tuple of Column
        Those used, in the order of the file.
    left_out : mapping of str to str
        Columns that were not used, and why.
    matrix : PairwiseInformation
        Of all pairs of columns.
    graph : PairwiseInformation or None
        Of all pairs given the rest: its edges are the conditional-independence graph.
    why_no_graph : str
        Where there is none.
    ranking : tuple of Ranked
        The other columns by what they tell about the target alone, the most first.
    why_no_rest : str
        Where the ranking says nothing of what columns tell given the rest.
    fits : tuple of FlowFit
        The target's first.
    points : Points
    settings : mapping of str to str
        What the numbers depend on beside the data.
    provenance : Provenance
    """

    source: str
    target: str
    alpha: float
    n_rows: int
    n_samples: int
    n_dropped: int
    columns: tuple[Column, ...]
    left_out: Mapping[str, str]
    matrix: PairwiseInformation
    graph: PairwiseInformation | None
    why_no_graph: str
    ranking: tuple[Ranked, ...]
    why_no_rest: str
    fits: tuple[FlowFit, ...]
    points: Points
    settings: Mapping[str, str]
    provenance: Provenance


def make_report(
    frame: Frame,
    target: str,
    *,
    missing: Mapping[str, int] | None = None,
    alpha: float = 0.05,
    base: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
    kinds: Kinds | None = None,
    progress: bool | None = None,
    provenance: Provenance | None = None,
) -> Report:
    """Compute a report on a file.

    Parameters
    ----------
    frame : Frame
        The columns of numbers, without missing or constant values.
    target : str
        The column that the others are ranked for.
    missing : mapping of str to int, optional
        Missing values that the file had, by column.
    alpha : float, default=0.05
        The share of false discoveries that is accepted among the pairs said to depend on each other.
    base : str, default="auto"
        As in `pydine.mutual_information`.
    seed : int, default=0
    n_jobs : int or None, default=None
        Threads; the report does not depend on it.
    kinds : mapping of column name to kind, optional
        As in `pydine.mutual_information`.
    progress : bool or None, default=None
        Whether to show progress bars; None: on a terminal.
    provenance : Provenance, optional

    Returns
    -------
    Report
        `pydine.report.to_html` makes a page of it.

    Raises
    ------
    ValueError
        If there are too few or too many columns, or too few rows.
    """
    if not 2 <= len(frame) <= MOST_COLUMNS:
        raise ValueError(
            f"a report needs 2 to {MOST_COLUMNS} columns of numbers that vary, but there are {len(frame)}."
        )
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")
    cache = UnitCache()
    work = _Work(base, seed, n_jobs, progress, cache, kinds or {})
    columns = describe(frame, target, missing or {})
    matrix = work.pairs(frame, None)
    distinct = {column.name: frame[column.name] for column in columns if column.copy_of is None}
    graph, why_no_graph = _graph(distinct, work)
    ranking, why_no_rest = _ranking(distinct, target, matrix, graph, alpha, work)
    return Report(
        Path(frame.source).name,
        target,
        alpha,
        frame.n_rows,
        frame.n_samples,
        frame.n_dropped,
        columns,
        frame.left_out,
        matrix,
        graph,
        why_no_graph,
        ranking,
        why_no_rest,
        _fits(distinct, target, ranking, graph is not None, work),
        _points(frame, seed),
        {"base": base, "alpha": f"{alpha:g}", "seed": str(seed), "confidence of intervals": f"{LEVEL:.0%}"},
        provenance or Provenance(),
    )


@dataclass(frozen=True)
class _Work:
    """How everything in a report is estimated."""

    base: str
    seed: int
    n_jobs: int | None
    progress: bool | None
    cache: UnitCache
    kinds: Kinds

    def of(self, columns: Iterable[str]) -> Kinds:
        """What is said of some columns."""
        return {name: self.kinds[name] for name in columns if name in self.kinds}

    def pairs(self, columns: Mapping[str, FloatArray], given: str | None) -> PairwiseInformation:
        return pairwise_information(
            columns,
            given,
            base=self.base,
            random_state=self.seed,
            n_jobs=self.n_jobs,
            cache=self.cache,
            progress=self.progress,
            kinds=self.of(columns),
        )


def _graph(columns: Mapping[str, FloatArray], work: _Work) -> tuple[PairwiseInformation | None, str]:
    """Every pair given all other columns, or why not."""
    if len(columns) < 3:
        return None, "It takes three different columns or more: with two there is nothing else to be given."
    if len(columns) > MOST_IN_GRAPH:
        return None, (
            f"It is left out with more than {MOST_IN_GRAPH} columns: each of {len(columns) * (len(columns) - 1):,} "
            "flows would be given nearly all of them, which takes long and finds little. Choose columns with --column, "
            "or ask pydine graph, which looks for small sets that make columns independent."
        )
    try:
        return work.pairs(columns, "rest"), ""
    except ValueError as error:  # too few rows, or columns that determine each other
        return None, f"It cannot be computed: {error}"


def _ranking(
    columns: Mapping[str, FloatArray],
    target: str,
    matrix: PairwiseInformation,
    graph: PairwiseInformation | None,
    alpha: float,
    work: _Work,
) -> tuple[tuple[Ranked, ...], str]:
    """Rank by the target's row of the matrix; what is left given the rest is its row of the graph, if there is one."""
    alone = _row(matrix, target)
    given_rest: Mapping[str, Answer] = {}
    why = ""
    if graph is not None:
        given_rest = _row(graph, target)
    elif len(columns) < 3:
        why = "There is no third column that could be given."
    elif len(columns) - 1 > MOST_RANKED_GIVEN_REST:
        why = (
            f"What columns tell given all the others is left out with more than {MOST_RANKED_GIVEN_REST} of them; "
            "choose some with --column."
        )
    else:
        try:
            given_rest = _ranked_one_by_one(columns, target, alpha, work)
        except ValueError as error:
            why = f"What columns tell given all the others cannot be computed: {error}"
    rows = [Ranked(name, answer, given_rest.get(name)) for name, answer in alone.items()]
    return tuple(sorted(rows, key=lambda row: -row.alone.value)), why


def _row(matrix: PairwiseInformation, target: str) -> dict[str, Answer]:
    """What the other variables of a matrix tell about one; p-values are adjusted for their number."""
    t = matrix.names.index(target)
    others = [i for i in range(len(matrix.names)) if i != t]
    controlled = adjusted(matrix.pvalues[others, t], "bh")
    return {
        matrix.names[i]: Answer(
            float(matrix.values[i, t]),
            float(matrix.standard_errors[i, t]),
            float(matrix.pvalues[i, t]),
            float(q),
            str(matrix.bases[i, t]),
        )
        for i, q in zip(others, controlled, strict=True)
    }


def _ranked_one_by_one(columns: Mapping[str, FloatArray], target: str, alpha: float, work: _Work) -> dict[str, Answer]:
    ranking = rank(
        columns,
        target,
        alpha=alpha,
        base=work.base,
        random_state=work.seed,
        n_jobs=work.n_jobs,
        kinds=work.of(columns),
        progress=work.progress,
    )
    return {
        column.name: Answer(
            column.given_rest.value,
            column.given_rest.standard_error,
            column.pvalue_given_rest,
            column.adjusted_given_rest,
            column.given_rest.base,
        )
        for column in ranking
    }


def _fits(
    columns: Mapping[str, FloatArray], target: str, ranking: tuple[Ranked, ...], every: bool, work: _Work
) -> tuple[FlowFit, ...]:
    """Check the target's flow, and if there are few columns every other's, each given the others.

    Where there are more than a flow can be given, it gets those that tell most about the target.
    """
    most = most_context(len(columns[target]))
    told = [row.name for row in ranking if row.name in columns]
    if most < 1 or not told:
        return ()
    questions = [(target, tuple(told[:most]))]
    if every and len(columns) - 1 <= most:
        questions += [(name, tuple(other for other in columns if other != name)) for name in columns if name != target]
    ladder = Settings(random_state=work.seed).ladder()
    return check_flows(columns, questions, ladder, work.n_jobs)


def _points(frame: Frame, seed: int) -> Points:
    """Some rows of every column, and their normal scores among all rows."""
    rows = np.sort(np.random.default_rng(seed).permutation(frame.n_samples)[:MOST_POINTS])
    values = np.array([column[rows] for column in frame.values()])
    latents = np.array([ScoreMap.fit(np.ascontiguousarray(column))[1][rows] for column in frame.values()])
    return Points(values, latents)

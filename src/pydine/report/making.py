"""The making of a report: every number in it is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.answers.settings import Settings
from pydine.inputs.columns import Source
from pydine.inputs.dependence import INDEPENDENTLY, Dependence
from pydine.inputs.files import Frame
from pydine.inputs.kinds import Kind, Kinds
from pydine.nulls.pvalues import adjusted
from pydine.questions.pairs.signs import spearman
from pydine.questions.pairwise import pairwise_information
from pydine.questions.ranking import rank
from pydine.report.calibration import FlowFit, check_flows, most_context
from pydine.report.causes import found_causes
from pydine.report.content import LEVEL, Answer, Provenance, Ranked, Report
from pydine.report.correlations import partial_correlations
from pydine.report.description import Column, describe, lacks
from pydine.report.points import points_of
from pydine.results import InformationEstimate, PairwiseInformation
from pydine.results.ranking import Ranking
from pydine.sampling import Rows
from pydine.types import FloatArray
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

MOST_COLUMNS = 500  # 125 thousand pairs, about 5 MB
MOST_ASKED_IN_GRAPH = 12  # columns: p (p - 1) flows; with more, partial correlations of normal scores
MOST_IN_GRAPH = 60
MOST_EXPLAINED = 3  # columns whose loss is explained: each takes as long as some columns of the ranking


def make_report(
    frame: Frame,
    target: str,
    *,
    alpha: float = 0.05,
    base: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    provenance: Provenance | None = None,
    clusters: str | None = None,
    time: str | bool | None = None,
    weights: str | None = None,
) -> Report:
    """Compute a report on a file.

    Parameters
    ----------
    frame : Frame
        The columns, none of them constant; values may be missing.
    target : str
        The column that the others are ranked for.
    alpha : float, default=0.05
        The false discovery rate that is accepted among all dependences that the report claims.
    base : str, default="auto"
        As in `pydine.mutual_information`.
    seed : int, default=0
    n_jobs : int or None, default=None
        Threads; the report does not depend on it.
    progress : bool or None, default=None
        Whether to show progress bars; None: on a terminal.
    provenance : Provenance, optional
    clusters, time, weights : column name, or for time True, optional
        How rows were sampled, as in `pydine.mutual_information`. The columns that say it are not reported on,
        and rows must have all columns.

    Returns
    -------
    Report
        `pydine.report.to_html` makes a page of it.

    Raises
    ------
    ValueError
        If there are too few or too many columns, or too few rows.
    """
    said, frame = _dependence(frame, Dependence(clusters, time, weights=weights))
    if not 2 <= len(frame) <= MOST_COLUMNS:
        raise ValueError(f"a report needs 2 to {MOST_COLUMNS} columns that vary, but there are {len(frame)}.")
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")
    work = _Work(base, seed, n_jobs, progress, UnitCache(), frame.kinds, said)
    sampling = said.read(None, frame.n_samples, None)
    counted = said.weighing(None, frame.n_samples).words
    words = ", ".join(filter(None, (sampling.words, counted)))
    with one_thread():
        columns = describe(frame, target)
        matrix = work.pairs(frame, None)
        distinct = {column.name: frame[column.name] for column in columns if column.copy_of is None}
        complete = frame.complete_rows
        whole = _varying({name: values[complete] for name, values in distinct.items()})
        kinds = {column.name: column.kind for column in columns}
        graph, is_linear, why_no_graph = _graph(whole, kinds, work)
        rest = _given_rest(distinct, target, work)
        matrix = _adjusted(_with_row(matrix, target, rest.alone))
        graph = None if graph is None else _adjusted(_with_row(graph, target, rest.answers))
        ranking = _explained(_ranked(_row(matrix, target), rest), rest.ranking, alpha)
        fits = _fits(whole, kinds, target, ranking, work, sampling)
        causes = found_causes(distinct, work.settings(distinct))
    return Report(
        source=Path(frame.source).name,
        target=target,
        alpha=alpha,
        n_rows=frame.n_rows,
        n_samples=frame.n_samples,
        n_complete=int(complete.sum()),
        columns=columns,
        left_out=frame.left_out,
        conversions=frame.conversions,
        notes=frame.notes,
        matrix=matrix,
        spearman=spearman(np.array([_ordered(frame, column) for column in columns])),
        graph=graph,
        causes=causes,
        is_linear_graph=is_linear,
        why_no_graph=why_no_graph,
        ranking=ranking,
        screened=rest.screened,
        why_no_rest=rest.why,
        fits=fits,
        points=points_of(frame, columns, seed),
        settings={
            "base": base,
            "alpha": f"{alpha:g}",
            "seed": str(seed),
            "confidence of intervals": f"{LEVEL:.0%}",
            "rows": words or "assumed to be independent",
        },
        provenance=provenance or Provenance(),
        sampling=words,
        lacks=lacks(frame),
    )


def _dependence(frame: Frame, said: Dependence) -> tuple[Dependence, Frame]:
    """How rows were sampled, as values, and the frame without the columns that say it.

    Where anything is said, only the rows are left that have all columns. Rows that are counted by frequencies stand in
    the frame as often.
    """
    if not said.is_said:
        return INDEPENDENTLY, frame
    source, frame = Source.read(frame), frame.complete()
    apart, told = said.names(source), said.as_values(Source.read(frame), frame.n_samples)
    frame = frame.without(dict.fromkeys(apart, "it says how rows were sampled"))
    weights = told.weighing(None, frame.n_samples)
    if weights.are_frequencies:
        rows = weights.places(frame.n_samples)
        frame, told = frame.only(rows), told.only(rows)._replace(weights=np.ones(len(rows)))
    return told, frame


def _ranked(alone: Mapping[str, Answer], rest: _Rest) -> tuple[Ranked, ...]:
    """What columns tell about the target alone, the most first, with what they tell given the rest.

    P-values are adjusted for the columns of the ranking, as those of `rank` are.
    """
    known = {} if rest.ranking is None else {column.name: column.adjusted_alone for column in rest.ranking}
    told = {name: replace(answer, adjusted=known.get(name, answer.adjusted)) for name, answer in alone.items()}
    ranked = (Ranked(name, answer, rest.answers.get(name)) for name, answer in told.items())
    return tuple(sorted(ranked, key=lambda row: -row.alone.value))


def _explained(rows: tuple[Ranked, ...], ranking: Ranking | None, alpha: float) -> tuple[Ranked, ...]:
    """The columns that tell most alone but are not detected given the others, with the reason why."""
    if ranking is None:
        return rows
    lost = [row for row in rows if row.alone.adjusted <= alpha and row.given_rest and row.given_rest.adjusted > alpha]
    chosen = {row.name for row in lost[:MOST_EXPLAINED]}
    return tuple(replace(row, why=ranking.why(row.name)) if row.name in chosen else row for row in rows)


def _ordered(frame: Frame, column: Column) -> FloatArray:
    """The values of a column that have an order, shape (n,), or NaN."""
    return np.full(frame.n_samples, np.nan) if column.is_labels and len(column.levels) > 2 else frame[column.name]


@dataclass(frozen=True)
class _Work:
    """How everything in a report is estimated."""

    base: str
    seed: int
    n_jobs: int | None
    progress: bool | None
    cache: UnitCache
    kinds: Kinds
    said: Dependence

    def settings(self, columns: Iterable[str]) -> dict[str, Any]:
        """The settings of every question about these columns."""
        return {
            "base": self.base,
            "random_state": self.seed,
            "n_jobs": self.n_jobs,
            "nan_policy": "omit",
            "cache": self.cache,
            "progress": self.progress,
            "kinds": {name: self.kinds[name] for name in columns if name in self.kinds},
            "clusters": self.said.clusters,
            "time": self.said.time,
            "weights": self.said.weights,
        }

    def pairs(
        self, columns: Mapping[str, FloatArray], given: str | None, base: str | None = None
    ) -> PairwiseInformation:
        return pairwise_information(
            columns,
            given,
            **(self.settings(columns) | ({"base": base} if base else {})),
        )


def _varying(columns: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Columns that are not constant."""
    return {name: values for name, values in columns.items() if len(values) and values.min() != values.max()}


def _graph(
    columns: Mapping[str, FloatArray], kinds: Mapping[str, Kind], work: _Work
) -> tuple[PairwiseInformation | None, bool, str]:
    """Every pair given all other columns; whether by partial correlations; and, if there is no graph, why."""
    if len(columns) < 3:
        return None, False, "It needs three columns that are not copies: with two there is nothing to condition on."
    if len(columns) > MOST_IN_GRAPH:
        return (
            None,
            False,
            (
                f"It is left out with more than {MOST_IN_GRAPH} columns. Choose columns with --column, or use pydine "
                "graph, which looks for small sets that make columns independent."
            ),
        )
    n = len(next(iter(columns.values())))
    if len(columns) > MOST_ASKED_IN_GRAPH and work.said.is_said:
        why = f"It is left out with more than {MOST_ASKED_IN_GRAPH} columns where rows depend on each other"
        return None, False, f"{why}: choose columns with --column."
    if len(columns) > MOST_ASKED_IN_GRAPH:
        graph = partial_correlations(columns, kinds)
        few = f"It cannot be computed: only {n} rows have all {len(columns)} columns."
        return graph, True, few if graph is None else ""
    try:
        # p-values are the same with every base, and the width of an edge is that of the plainest.
        return work.pairs(columns, "rest", "gaussian"), False, ""
    except ValueError as error:  # too few rows
        return None, False, f"It cannot be computed: {error}"


@dataclass(frozen=True)
class _Rest:
    """What columns tell about the target given the rest, which columns stand for the rest, or why nothing is told.

    And what they tell alone, as far as the same ranking has it.
    """

    answers: Mapping[str, Answer]
    alone: Mapping[str, Answer] = field(default_factory=dict)
    screened: tuple[str, ...] = ()
    why: str = ""
    ranking: Ranking | None = None


def _with_row(pairs: PairwiseInformation, target: str, answers: Mapping[str, Answer]) -> PairwiseInformation:
    """The pairs with the ranking's figures for the target, so that a figure is the same wherever it is shown."""
    if target not in pairs.names:
        return pairs
    t = pairs.names.index(target)
    known = [(i, answers[name]) for i, name in enumerate(pairs.names) if i != t and name in answers]

    def patched(entries: NDArray[Any], of: Callable[[Answer], Any]) -> NDArray[Any]:
        entries = entries.copy()
        for i, answer in known:
            entries[i, t] = entries[t, i] = of(answer)
        return entries

    below, above = pairs.errors
    degrees = patched(pairs.degrees, lambda answer: answer.degrees) if pairs.degrees.size else pairs.degrees
    return replace(
        pairs,
        degrees=degrees,
        values=patched(pairs.values, lambda answer: answer.value),
        standard_errors=patched(pairs.standard_errors, lambda answer: answer.standard_error),
        errors=(patched(below, lambda answer: answer.errors[0]), patched(above, lambda answer: answer.errors[1])),
        pvalues=patched(pairs.pvalues, lambda answer: answer.pvalue),
        bases=patched(pairs.bases, lambda answer: answer.base),
    )


def _given_rest(columns: Mapping[str, FloatArray], target: str, work: _Work) -> _Rest:
    """What every column tells about the target given the others."""
    if len(columns) < 3:
        return _Rest({}, why="There is no third column to condition on.")
    try:
        ranking = rank(
            columns,
            target,
            **work.settings(columns),
        )
    except ValueError as error:
        return _Rest({}, why=f"What columns tell given all the others cannot be computed: {error}")
    answers = {
        column.name: _answer(told, column.pvalue_given_rest, column.adjusted_given_rest, column.shows)
        for column in ranking
        if (told := column.given_rest) is not None
    }
    alone = {column.name: _answer(column.alone, column.pvalue_alone, column.adjusted_alone) for column in ranking}
    why = f"What columns tell given the others cannot be computed: {ranking.why_no_rest}" if ranking.why_no_rest else ""
    return _Rest(answers, alone, ranking.screened, why, ranking)


def _answer(told: InformationEstimate, pvalue: float, adjusted_pvalue: float, shows: str = "") -> Answer:
    """An estimate and its test, as a report has them."""
    return Answer(
        told.value,
        told.standard_error,
        told.errors or (told.standard_error, told.standard_error),
        pvalue,
        adjusted_pvalue,
        told.base,
        told.n_samples,
        min(told.entropies),
        told.terms,
        shows,
        told.degrees_of_freedom,
    )


def _adjusted(pairs: PairwiseInformation) -> PairwiseInformation:
    """The same with p-values that are adjusted for all of its pairs."""
    upper, square = np.triu_indices(len(pairs.names), 1), np.full(pairs.pvalues.shape, np.nan)
    square[upper] = square.T[upper] = adjusted(pairs.pvalues[upper], "bh")
    return replace(pairs, adjusted_pvalues=square)


def _row(matrix: PairwiseInformation, target: str) -> dict[str, Answer]:
    """What the other variables of a matrix tell about one."""
    t = matrix.names.index(target)
    return {
        name: Answer(
            float(matrix.values[i, t]),
            float(matrix.standard_errors[i, t]),
            (float(matrix.errors[0][i, t]), float(matrix.errors[1][i, t])),
            float(matrix.pvalues[i, t]),
            float(matrix.adjusted_pvalues[i, t]),
            str(matrix.bases[i, t]),
            int(matrix.counts[i, t]),
            float(matrix.bounds[i, t]),
            int(matrix.terms[i, t]),
            degrees=float(matrix.degrees[i, t]) if matrix.degrees.size else np.inf,
        )
        for i, name in enumerate(matrix.names)
        if i != t
    }


def _fits(
    columns: Mapping[str, FloatArray],
    kinds: Mapping[str, Kind],
    target: str,
    ranking: tuple[Ranked, ...],
    work: _Work,
    sampling: Rows,
) -> tuple[FlowFit, ...]:
    """Check the target's flow given the others; if these are too many for a flow, given those that tell most.

    Labels have no flow, and labels with more than two levels are not given to one.
    """
    if target not in columns or kinds[target] is Kind.NOMINAL:
        return ()
    most = most_context(len(columns[target]))
    is_plain = {name: kinds[name] is not Kind.NOMINAL or len(np.unique(v)) == 2 for name, v in columns.items()}
    told = [row.name for row in ranking if is_plain.get(row.name)]
    if most < 1 or not told:
        return ()
    ladder = Settings(random_state=work.seed).ladder()
    return check_flows(columns, [(target, tuple(told[:most]))], ladder, work.n_jobs, sampling)

"""The content of a report, as plain data: every number in it is here, and `page` only writes it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from pydine.report.calibration import FlowFit
from pydine.report.description import Column, Lack
from pydine.report.points import Points
from pydine.results import CausalGraph, PairwiseInformation
from pydine.results.explanation import Explanation
from pydine.results.intervals import interval_ends
from pydine.types import FloatArray

LEVEL = 0.95


@dataclass(frozen=True)
class Provenance:
    """The provenance of a report: what it takes to make it again.

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

    `errors` are standard errors downwards and upwards; `adjusted` is the p-value adjusted for the columns of the
    ranking;
    `n` counts the rows behind the figure; `bound`, the entropy of a discrete side, `terms` and `degrees` (of freedom)
    are for the interval;
    `shows` says in words where the test sees dependence, if that is known.
    """

    value: float
    standard_error: float
    errors: tuple[float, float]
    pvalue: float
    adjusted: float
    base: str
    n: int
    bound: float = np.inf
    terms: int = 1
    shows: str = ""
    degrees: float = np.inf

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval."""
        low, high = interval_ends(self.value, *self.errors, LEVEL, self.bound, self.terms, self.degrees)
        return float(low), float(high)


@dataclass(frozen=True)
class Ranked:
    """What one column tells about the target: alone and, where that was asked, given all the others.

    Where it tells something alone and nothing is detected given the others, `why` says which of them take it over.
    """

    name: str
    alone: Answer
    given_rest: Answer | None
    why: Explanation | None = None


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
    n_rows, n_samples, n_complete : int
        Rows of the file, rows that were read, and those of them that have all columns.
    columns : tuple of Column
        Those used, in the order of the file.
    left_out : mapping of str to str
        Columns that were not used, and why.
    conversions : mapping of str to str
        Columns that are no plain numbers in the file, and how they were read.
    notes : tuple of str
        What was done to read the file at all.
    matrix : PairwiseInformation
        Of all pairs of columns.
    spearman : ndarray, shape (p, p)
        Rank correlations of the same pairs.
    graph : PairwiseInformation or None
        Of all pairs given the rest: its edges are the conditional-independence graph.
    causes : CausalGraph or None
        What `pydine.causal_graph` finds; None where columns are many, or rows too few.
    is_linear_graph : bool
        Whether the graph is that of partial correlations of normal scores, which sees lines only.
    why_no_graph : str
        Where there is none.
    ranking : tuple of Ranked
        The other columns by what they tell about the target alone, the most first.
    screened : tuple of str
        The columns that stand for the rest, where there are very many (see `Ranking`).
    why_no_rest : str
        Where the ranking says nothing of what columns tell given the rest.
    fits : tuple of FlowFit
        The target's, unless there are too few rows.
    points : Points
    settings : mapping of str to str
        What the numbers depend on apart from the data.
    provenance : Provenance
    sampling : str
        How rows depend on each other; empty if they are taken to be independent.
    lacks : tuple of Lack
        Which columns lack values in the same rows.
    """

    source: str
    target: str
    alpha: float
    n_rows: int
    n_samples: int
    n_complete: int
    columns: tuple[Column, ...]
    left_out: Mapping[str, str]
    conversions: Mapping[str, str]
    notes: tuple[str, ...]
    matrix: PairwiseInformation
    spearman: FloatArray
    graph: PairwiseInformation | None
    causes: CausalGraph | None
    is_linear_graph: bool
    why_no_graph: str
    ranking: tuple[Ranked, ...]
    screened: tuple[str, ...]
    why_no_rest: str
    fits: tuple[FlowFit, ...]
    points: Points
    settings: Mapping[str, str]
    provenance: Provenance
    sampling: str = ""
    lacks: tuple[Lack, ...] = ()

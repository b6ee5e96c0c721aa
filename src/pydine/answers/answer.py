"""What is learned about a question: one contract for columns of any kind, and for answers that need no fit.

A question whose answer is known without one raises `Known` from wherever that shows; `fitting.fit` makes it `Settled`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from pydine.inputs.kinds import MOST_LEVELS, Kind, atoms_of
from pydine.inputs.table import Question, Table
from pydine.results import InformationEstimate
from pydine.sampling import Rows
from pydine.types import FloatArray, RowArray

if TYPE_CHECKING:  # tests are imported only where somebody tests
    from pydine.latents.flows import Latents
    from pydine.nulls.analytic import AnalyticTest
    from pydine.nulls.tables import CodeTable


class Verdict(Enum):
    """An answer that is known without an estimate, by its value in nats."""

    NOTHING_LEFT = 0.0
    INFINITE = np.inf

    @property
    def reason(self) -> str:
        """The verdict in words."""
        if self is Verdict.NOTHING_LEFT:
            return "what is given determines a side, so the information is 0"
        return "the sides determine each other as far as these rows show, so the information is infinite"

    @property
    def pvalue(self) -> float:
        """P-value of the null hypothesis of independence; never 0."""
        return 1.0 if self is Verdict.NOTHING_LEFT else float(np.finfo(np.float64).tiny)


class Known(Exception):
    """The answer to a question is known without a fit."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict


class Answer(ABC):
    """What is learned about a question: `Fit` of continuous columns, `MixedFit` of any kind, or `Settled` without.

    `latents`, which are what is left of both sides given z, are those of a fit; an answer with a `verdict` has none.
    """

    latents: Latents

    @property
    def verdict(self) -> Verdict | None:
        """How the answer is known without a fit; None if it is not."""
        return None

    @abstractmethod
    def information_of(self, question: Question) -> InformationEstimate:
        """The answer in nats, in the words of the question that was asked, as it was before columns were left out."""

    @property
    def shown(self) -> Latents:
        """The latents that figures show."""
        return self.latents

    @property
    def tested(self) -> Latents | CodeTable:
        """What the test looks at."""
        return self.latents

    def analytic(self, statistic: str = "auto") -> AnalyticTest:
        """The analytic test of independence of both sides given z."""
        from pydine.nulls.analytic import analytic_test

        return analytic_test(self.tested, statistic)

    def residuals(self, question: Question) -> tuple[FloatArray, FloatArray] | None:
        """Both sides in their own units less what z predicts of them, (n, dx) and (n, dy); None if they have none."""
        from pydine.answers.residuals import left_of

        return left_of(question, self.latents)

    @abstractmethod
    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Pointwise information of rows of the sample, by models that have seen them, in nats."""

    @abstractmethod
    def held_out(self) -> FloatArray | None:
        """Pointwise information of the rows, by models that have not seen them; None if not all were held out."""

    def values(self) -> FloatArray:
        """What each row contributes, in nats, shape (n,): by models that have not seen it if there are any."""
        held = self.held_out()
        return self.of_rows(slice(None)) if held is None else held


@dataclass(frozen=True)
class Settled(Answer):
    """The answer to a question that needs no fit, by its verdict."""

    question: Question
    why: Verdict

    @property
    def verdict(self) -> Verdict:
        """How the answer is known."""
        return self.why

    def information_of(self, question: Question) -> InformationEstimate:
        """The verdict's value."""
        from pydine.answers.policy import determined_sides

        is_determined = self.why is Verdict.NOTHING_LEFT
        sides = determined_sides(question) if is_determined else ()
        known: dict[str, object] = {"verdict": self.why.name, "determined": sides}
        return information_about(question, self.why.value, 0.0 if is_determined else np.nan, "gaussian", known)

    def analytic(self, statistic: str = "auto") -> AnalyticTest:  # noqa: ARG002 - all statistics say the same
        """The test without latents: every p-value is that of the verdict."""
        from pydine.nulls.analytic import AnalyticTest

        return AnalyticTest.settled(self.why.value, self.why.pvalue)

    def residuals(self, question: Question) -> None:
        """Nothing that could be shown."""

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Nothing that differs between rows."""
        return self.held_out()[rows]

    def held_out(self) -> FloatArray:
        """Nothing that differs between rows, shape (n,)."""
        return np.zeros(self.question.table.n_samples)


def information_about(
    question: Question,
    value: float,
    error: float,
    base: str,
    details: dict[str, object],
    errors: tuple[float, float] | None = None,
) -> InformationEstimate:
    """An estimate in nats with what its question says: names, kinds, rows, and entropies of discrete sides."""
    table = question.table
    x, y, z = (tuple(map(str, kinds)) for kinds in question.kinds)
    return InformationEstimate(
        value,
        error,
        base,
        table.n_samples,
        question.dimensions,
        table.n_dropped,
        question.names,
        details,
        kinds=(x, y, z) if table.kinds else ((), (), ()),
        entropies=(entropy_of(table, question.x, question.y), entropy_of(table, question.y, question.x)),
        errors=errors,
    )


def of_sampling(information: InformationEstimate, ratios: FloatArray, rows: Rows) -> InformationEstimate:
    """An estimate with the degrees of freedom of its error, by rows' log-ratios, where rows depend on each other."""
    if rows.exchangeable or len(ratios) != information.n_samples:
        return replace(information, sampling=rows.words) if rows.words else information
    effect, degrees = rows.effect(ratios)
    details = {**information.details, "effective_rows": len(ratios) / effect}
    return replace(information, degrees_of_freedom=degrees, sampling=rows.words, details=details)


def entropy_of(table: Table, columns: Sequence[int], others: Sequence[int] = ()) -> float:
    """Joint entropy of discrete columns, in nats; infinite if one of them is continuous, or partly so.

    It is the plug-in entropy, or what the entropy may be if these columns, or others in the question, have many labels.
    """
    if not table.kinds or any(table.kind(i).is_continuous or len(atoms_of_column(table, i)) for i in columns):
        return np.inf
    from pydine.bases.kinds.tables import codes_of, entropy, most_entropy

    labels = [i for i in (*columns, *others) if table.kind(i) is Kind.NOMINAL]
    is_many = any(table.columns[i].max() >= MOST_LEVELS for i in labels)
    return (most_entropy if is_many else entropy)(codes_of(table.columns[list(columns)]))


def atoms_of_column(table: Table, i: int) -> FloatArray:
    """Point masses of an ordinal column that is otherwise continuous; empty for other columns."""
    return atoms_of(table.columns[i]) if table.kind(i) is Kind.ORDINAL else np.empty(0)

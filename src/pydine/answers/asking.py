"""Questions answered with all that a caller may want: the estimate, the test, and what each row contributes.

`Asker` does so in any process, for those who ask many questions about one table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pydine.answers.answer import Verdict
from pydine.answers.fitting import fit
from pydine.answers.policy import units_of
from pydine.answers.settings import Settings
from pydine.inputs.table import Question, Table
from pydine.latents.workshop import Workshop
from pydine.results import InformationEstimate
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray, RowArray
from pydine.work.cache import UnitCache
from pydine.work.tasks import UnitTask

Blocks = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # places of the columns of x, y and z in a table


@dataclass(frozen=True, eq=False)
class Answered:
    """The answer to a question, without what was fitted for it.

    Parameters
    ----------
    estimate : InformationEstimate
    verdict : Verdict or None
        How the answer is known without a fit.
    values : ndarray, shape (n,)
        What each row contributes, in nats. This and what follows on rows is empty if it is not kept.
    rows : ndarray of int, shape (n,)
        Where these rows are in the data.
    sampling : Rows
        How they were sampled.
    pvalue : float
        Of the analytic test; NaN if nothing was tested.
    shows : str
        Where dependence shows, in words; empty without a test, and if there is a verdict.
    """

    estimate: InformationEstimate
    verdict: Verdict | None = None
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    rows: RowArray = field(default_factory=lambda: np.empty(0, np.intp))
    sampling: Rows = INDEPENDENT
    pvalue: float = np.nan
    shows: str = ""


def ask(
    question: Question,
    settings: Settings,
    workshop: Workshop | None = None,
    *,
    is_tested: bool = True,
    keeps_rows: bool = False,
) -> Answered:
    """Answer a question, whether something has to be fitted for it or not.

    Parameters
    ----------
    question : Question
    settings : Settings
        Checked.
    workshop : Workshop, optional
        That of the question's table, if there is one already.
    is_tested : bool
        Whether there is to be a p-value; that of a verdict costs nothing and is always there.
    keeps_rows : bool
        Whether to keep what each row contributes.
    """
    answer = fit(question, settings, workshop)
    told, verdict, table = answer.information_of(question), answer.verdict, question.table
    if keeps_rows:
        found = Answered(told, verdict, answer.values(), table.positions, table.rows)
    else:
        found = Answered(told, verdict)
    if verdict is not None:
        return replace(found, pvalue=verdict.pvalue)
    if not is_tested:
        return found
    test = answer.analytic()
    return replace(found, pvalue=float(test.pvalue), shows=test.shows)


@dataclass(frozen=True)
class Asker:
    """Answers questions about the table of a workshop, in any process: neither this nor the settings have a cache."""

    workshop: Workshop
    settings: Settings
    is_tested: bool = True

    @classmethod
    def of(cls, table: Table, settings: Settings, n_jobs: int | None = 1, *, is_tested: bool = True) -> Asker:
        """For questions that run in parallel, so that their units do not, unless `n_jobs` says so."""
        settings = replace(settings, cache=None, n_jobs=n_jobs)
        return cls(settings.workshop(table), settings, is_tested)

    def __call__(self, blocks: Blocks, cache: UnitCache | None) -> Answered:
        """The answer to one question."""
        workshop = self.workshop.beside(cache, self.settings.n_jobs)
        return ask(self._question(blocks), replace(self.settings, cache=cache), workshop, is_tested=self.is_tested)

    def tasks(self, blocks: Blocks) -> list[UnitTask]:
        """The units that a question needs, unless some of its columns turn out to be redundant."""
        return units_of(self._question(blocks), self.workshop)

    def _question(self, blocks: Blocks) -> Question:
        return Question(self.workshop.table, *blocks)

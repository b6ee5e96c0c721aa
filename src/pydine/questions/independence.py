"""The question "is X independent of Y given Z?": a test on the latents of the default's flows."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pydine.answers.fitting import Fit, fit
from pydine.answers.policy import table_of, warn_if_determined
from pydine.answers.settings import CacheLike, RandomState, Settings, is_integer
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_question
from pydine.nulls.analytic import STATISTICS, analytic_test, in_words, named_order, summary
from pydine.nulls.moments import combined, moments_of
from pydine.questions.streamed.refining import is_refinable, of_sample, refined, sample_of
from pydine.results import InformationEstimate
from pydine.results.independence import IndependenceTestResult
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

if TYPE_CHECKING:
    from pydine.inputs.streams import Sample
    from pydine.inputs.table import Question
    from pydine.latents.flows import Latents
    from pydine.nulls.tables import CodeTable

METHODS = ("permutation", "analytic")
FORMULAS = ("plus-one", "paper")
ROUNDING = 1e-9  # guard: a permutation that comes as close as this to the statistic reaches it


@shown_in_notebooks("Testing")
@one_thread()
def independence_test(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    statistic: str = "auto",
    method: str = "permutation",
    algorithm: str = "ladder",
    n_permutations: int = 999,
    alpha: float = 0.05,
    pvalue_formula: str = "plus-one",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    within: str | None = None,
    weights: Any = None,
) -> IndependenceTestResult:
    """Test whether X is independent of Y, or independent of Y given Z.

    Flows map X and Y, given Z, to latents, once (Duong and Nguyen, AAAI 2023, Algorithm 2); the test asks whether the
    latents depend on each other. The assumption is that the flows, and the projection of functions of Z after them,
    leave no effect of Z that both sides share.

    Parameters
    ----------
    x, y, z : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of X, Y and, for the conditional test, Z.
    data : frame, optional
        Where named columns are found.
    statistic : {"auto", "gaussian", "general"}, default="auto"
        ``"gaussian"``: the information of the latents by the closed form (the paper's), which sees correlation.
        ``"general"``: squares and waves of the latents, and products with functions of Z, which see dependence without
        correlation. ``"auto"``: all of them, with one combined p-value.
    method : {"permutation", "analytic"}, default="permutation"
        Whether the null distribution comes from permutations of the latents of Y, or is Wilks': the latter is instant,
        reaches p-values far below 1 / n_permutations, and assumes that latents are close to normal.
    algorithm : {"ladder", "paper"}, default="ladder"
        The flows, as in `DINE`. With ``"paper"`` correlations are not studentised either: ``statistic="gaussian"``,
        ``pvalue_formula="paper"`` and this are the paper's Algorithm 2 to the letter.
    n_permutations : int, default=999
    alpha : float, default=0.05
        Level of the decision.
    pvalue_formula : {"plus-one", "paper"}, default="plus-one"
        (r + 1) / (B + 1) where r of B permutations reach the statistic, or the paper's r / B, which may be 0.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect, unless ``algorithm="paper"``, which draws random numbers: permutations are drawn once and for
        all.
    n_jobs, nan_policy, cache, kinds, clusters, time, within, weights
        As in `mutual_information`. With `clusters` or `time`, signs of whole clusters or stretches of time take the
        place of permutations, and with weights of a survey signs of rows.

    Returns
    -------
    IndependenceTestResult
        ``pvalue``, ``rejected``, ``statistic``, ``estimate`` (nats), ``null_distribution``, ``block_pvalues``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(500)
    >>> x, y = z + rng.standard_normal((2, 500))
    >>> pydine.independence_test(x, y).rejected
    True
    >>> pydine.independence_test(x, y, z).rejected
    False
    """
    _check(statistic, method, pvalue_formula, n_permutations, alpha)
    said = Dependence(clusters, time, within, weights)
    if algorithm == "paper":
        said.refused("for the paper's algorithm")
    settings = Settings.of(
        algorithm, base="gaussian", random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)
    ).seeded()
    sample = sample_of(data, (x, y, z), nan_policy)
    if sample is not None:
        said.refused("for streamed tables")
    source = data if sample is None else sample.columns
    question = read_question(x, y, z, data=source, nan_policy=nan_policy, kinds=kinds, dependence=said)
    table = None if algorithm == "paper" else table_of(question, settings.workshop(question.table))
    asked: dict[str, Any] = {"alpha": float(alpha), "kind": statistic, "method": method}
    if table is not None and sample is None:
        found = _found(table, statistic, method, n_permutations, pvalue_formula)
        return IndependenceTestResult.without_estimate(partial(_estimate, question, settings), **found, **asked)
    answer = fit(question, settings)
    if sample is not None and is_refinable(answer, sample):
        if method != "analytic":
            raise ValueError("method='permutation' needs all rows in memory; pass method='analytic' for streamed data.")
        return _streamed(answer, sample, statistic, float(alpha), n_jobs)
    information = answer.information_of(question)
    if sample is not None:
        information = of_sample(information, answer, sample)
    if answer.verdict is not None:
        warn_if_determined(answer.verdict, question)
        test = answer.analytic()
        every = in_words(test.block_pvalues, bool(question.given))
        return IndependenceTestResult(answer.verdict.value, test.pvalue, information, **asked, block_pvalues=every)
    found = _found(answer.tested, statistic, method, n_permutations, pvalue_formula, algorithm != "paper")
    if "linear_log_pvalue" in information.details:
        # The leading directions, or all columns at once in a line: twice the smaller p-value (Bonferroni).
        linear = float(np.exp(cast(float, information.details["linear_log_pvalue"])))
        found["pvalue"] = max(min(1.0, 2.0 * min(found["pvalue"], linear)), float(np.finfo(np.float64).tiny))
    return IndependenceTestResult(estimate=information, **found, **asked)


def _found(
    tested: Latents | CodeTable,
    statistic: str,
    method: str,
    n_permutations: int,
    formula: str,
    studentised: bool = True,
) -> dict[str, Any]:
    """What the test of latents, or of a table of labels, finds, by the names of the result's fields."""
    moments = moments_of(tested, studentised=studentised)
    pvalues, has_z = moments.pvalues(), moments.has_z
    value, null = summary(statistic, moments.statistics(), pvalues, has_z), None
    if method == "analytic":
        pvalue = float(combined(statistic, pvalues, has_z))
    else:
        null = summary(statistic, *moments.permuted(n_permutations), has_z)
        reached = int(np.count_nonzero(null >= value * (1.0 - ROUNDING)))
        pvalue = reached / n_permutations if formula == "paper" else (reached + 1) / (n_permutations + 1)
    by_block = in_words(pvalues[named_order(tested)], has_z)
    return {"statistic": float(value), "pvalue": pvalue, "null_distribution": null, "block_pvalues": by_block}


def _estimate(question: Question, settings: Settings) -> InformationEstimate:
    """The estimate of a question, made when somebody asks for it."""
    return fit(question, settings).information_of(question)


def _streamed(answer: Fit, sample: Sample, statistic: str, alpha: float, n_jobs: int | None) -> IndependenceTestResult:
    """The analytic test of all rows of a table that is larger than memory; waves are those of its sample."""
    answer, sums = refined(answer, sample, n_jobs)
    blocks = sums.blocks(*sums.variables)
    pvalues, has_z = analytic_test(answer.latents).block_pvalues, bool(answer.question.given)
    pvalues[: len(blocks)] = sums.pvalues(blocks, *sums.variables)
    value, pvalue = summary(statistic, blocks, pvalues, has_z), float(combined(statistic, pvalues, has_z))
    by_block = in_words(pvalues, has_z)
    information = answer.information
    return IndependenceTestResult(float(value), pvalue, information, alpha, statistic, "analytic", None, by_block)


def _check(statistic: str, method: str, formula: str, n_permutations: int, alpha: float) -> None:
    for name, value, choices in (
        ("statistic", statistic, tuple(STATISTICS)),
        ("method", method, METHODS),
        ("pvalue_formula", formula, FORMULAS),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, but got {value!r}.")
    if not is_integer(n_permutations) or n_permutations < 1:
        raise ValueError(f"n_permutations must be an integer of at least 1, but got {n_permutations!r}.")
    level: Any = alpha
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")

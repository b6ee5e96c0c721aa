"""Several questions about the same rows, or about others, with the correlations of their answers' errors.

To first order, the error of an estimate is the mean of its rows' values (pointwise information), less their
expectation. So the errors of two estimates are as correlated as their values over the rows that both have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pydine.answers.asking import Answered, ask
from pydine.answers.policy import warn_if_determined
from pydine.answers.settings import Settings
from pydine.inputs.table import Question
from pydine.results import InformationEstimate
from pydine.types import FloatArray
from pydine.work.cache import UnitCache


def answer_all(questions: Sequence[Question], settings: Settings) -> list[Answered]:
    """Answer questions one after the other; flows that several need are fitted once."""
    settings = replace(settings, cache=settings.cache or UnitCache())
    return [answered(question, settings) for question in questions]


def answered(question: Question, settings: Settings) -> Answered:
    """Answer a question, with its rows' values; infinite information, whose errors nobody knows, is refused."""
    found = ask(question, settings, is_tested=False, keeps_rows=True)
    if np.isinf(found.estimate.value):
        x, y, _ = (", ".join(names) for names in found.estimate.names)
        raise ValueError(
            f"{x} and {y} determine each other as far as these rows show, so their information is infinite and has no "
            "difference from another; leave one of the columns out."
        )
    warn_if_determined(found.verdict, question)
    return found


def correlations_of(parts: Sequence[Answered]) -> FloatArray:
    """Correlations (k, k) of the errors of answers.

    What is not known of an estimate beside the noise of its rows (what flows have not learned, say) is taken as
    independent of what is not known of the others.
    """
    found = np.eye(len(parts))
    shares = [_sampled(part.estimate) for part in parts]
    for i, first in enumerate(parts):
        for j, second in enumerate(parts[:i]):
            found[i, j] = found[j, i] = shares[i] * shares[j] * _correlation(first, second)
    return found


def _correlation(first: Answered, second: Answered) -> float:
    """How the means of two answers' rows go together: over the rows that both have; 0 if these are none.

    Where rows depend on each other, the variances of the sum and of the difference tell.
    """
    a, b = first.values - first.values.mean(), second.values - second.values.mean()
    if not np.array_equal(first.rows, second.rows):
        _, here, there = np.intersect1d(first.rows, second.rows, assume_unique=True, return_indices=True)
        together, squares = a[here] @ b[there], (a @ a) * (b @ b)
    elif first.sampling.exchangeable:
        together, squares = a @ b, (a @ a) * (b @ b)
    else:
        own, others, more, less = ((v @ v) * first.sampling.effect(v)[0] for v in (a, b, a + b, a - b))
        together, squares = 0.25 * (more - less), own * others
    return float(np.clip(together / np.sqrt(squares), -1.0, 1.0)) if squares > 0.0 else 0.0


def _sampled(estimate: InformationEstimate) -> float:
    """The share of an estimate's standard error that is the noise of rows, between 0 and 1."""
    parts, error = estimate.details.get("uncertainty"), estimate.standard_error
    noise = parts["sampling"] if isinstance(parts, Mapping) else min(estimate.errors or (error,))
    return min(float(noise) / error, 1.0) if error > 0.0 else 0.0

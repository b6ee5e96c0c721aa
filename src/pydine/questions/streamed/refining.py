"""Answers from all rows of a table that is larger than memory.

The first pass draws a uniform sample of rows, from which a question is answered as any other: ranks, flows, functions
of z, bases and their weights. Ranks from m rows err by no more than sqrt(ln(200) / 2m) with probability 0.99
(Dvoretzky, Kiefer and Wolfowitz; Massart 1990): 0.0016 for a million, which moves a correlation by about its square.
The second pass maps every row by the same flows, and accumulates what the closed form, its projection and the tests are
computed from: cross-products, which have the size of the question and not of the table. Richer bases, sides that are
not continuous, and questions given labels are answered from the sample alone; a warning says so in the last two cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from pydine.answers.answer import Answer
from pydine.answers.fitting import Fit, learned_of, with_errors
from pydine.bases.base import pooled
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import check_nan_policy
from pydine.latents.flows import RankFlow
from pydine.results.estimates import InformationEstimate

# Streams and their sums are imported when data may be one.
if TYPE_CHECKING:
    from pydine.inputs.streams import Sample, Stream
    from pydine.questions.streamed.sums import Sums

__all__ = ["SampledWarning", "is_refinable", "of_sample", "refined", "sample_of", "warn_sampled"]


class SampledWarning(UserWarning):
    """A figure was computed from a sample of a table's rows, not from all of them."""


def sample_of(data: Any, wanted: Iterable[Any] | None, nan_policy: str, most_bytes: int | None = None) -> Sample | None:
    """A sample of the columns that are named, or of all; None if the data are in memory."""
    check_nan_policy(nan_policy)
    if data is None or isinstance(data, np.ndarray):
        return None
    from pydine.inputs.streams import Sample, stream_of

    stream = stream_of(data)
    if stream is None:
        return None
    names = stream.names if wanted is None else _named(stream, wanted)
    most = None if most_bytes is None else max(1, most_bytes // (8 * len(names)))
    return Sample.draw(stream, names, omit=nan_policy == "omit", most=most)


def _named(stream: Stream, wanted: Iterable[Any]) -> tuple[str, ...]:
    """The columns that arguments name, each once; what is not a name is left to the reader of the arguments."""
    names: dict[str, None] = {}
    for argument in wanted:
        several = [argument] if isinstance(argument, str) or argument is None else list(argument)
        names.update(dict.fromkeys(name for name in several if name in stream.names))
    if not names:
        raise ValueError(f"x and y must name columns of data, which has {', '.join(stream.names[:10])}.")
    return tuple(names)


def is_refinable(answer: Answer, sample: Sample) -> TypeGuard[Fit]:
    """Whether all rows can be mapped by what was learned from the sample, and there are more than those."""
    if sample.is_whole or not isinstance(answer, Fit) or answer.directions is not None:
        return False
    table = answer.question.table
    if any(kind.is_around for kind in table.kinds):
        return False  # rows of the stream are not in turns
    names = table.names  # of indicators of labels, which stand for one column, they are not different
    return len(set(names)) == len(names) and not any(sample.is_label(name) for name in names)


def of_sample(information: InformationEstimate, answer: Answer, sample: Sample) -> InformationEstimate:
    """The answer to a question from the sample: with a warning, if that is not all rows."""
    information = replace(information, n_dropped=sample.n_dropped)
    if sample.is_whole or answer.verdict is not None:
        return information
    warn_sampled("the answer rests", sample, "continuous columns, given numbers")
    return replace(information, details={**information.details, "sample_rows": information.n_samples})


def warn_sampled(what: str, sample: Sample, summed: str) -> None:
    """Warn that something is computed from a sample of the rows, and say what is computed from all."""
    warnings.warn(
        f"{what} on a random sample of {sample.size:,} of {sample.n_rows:,} rows: sums over all rows are used only for "
        f"{summed}.",
        SampledWarning,
        stacklevel=level_of_caller(),
    )


def refined(answer: Fit, sample: Sample, n_jobs: int | None = None) -> tuple[Fit, Sums]:
    """An answer from a sample, with the closed form of all rows in place of the sample's."""
    from pydine.questions.streamed.sums import Sums

    if not isinstance(answer.flow, RankFlow):
        raise ValueError("streamed data need algorithm='ladder'; the paper's flows are fitted to all rows.")
    dx, dy, _ = answer.question.dimensions
    columns = answer.question.table.names
    order = [columns[i] for block in answer.question.blocks for i in block]
    places = [sample.names.index(name) for name in order]
    variables = [slice(0, dx), slice(dx, dx + dy)]
    batches = (rows[:, places] for rows in sample.all_rows())
    sums = Sums.of(answer.flow, answer.latents, variables, batches, n_jobs)
    value, error = sums.information(*variables)
    bases = [
        replace(part.base, value=value, standard_error=error) if part.base.name == "gaussian" else part.base
        for part in answer.parts
    ]
    parts = tuple(part._replace(base=base) for part, base in zip(answer.parts, bases, strict=True))
    mean, sampling = pooled(np.array([part.weight for part in parts]), bases)
    learned = learned_of(answer.latents, parts, mean)
    value, error, errors, parted = with_errors(learned, sampling)
    details = {**answer.information.details, **parted, "degrees_of_freedom": sums.dof}
    information = replace(
        answer.information,
        value=value,
        standard_error=error,
        errors=errors,
        n_samples=sums.n,
        n_dropped=sample.n_dropped,
        details={**details, "sample_rows": answer.question.table.n_samples},
    )
    return replace(answer, parts=parts, information=information), sums

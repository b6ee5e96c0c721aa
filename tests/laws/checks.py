"""Laws of information: what changing a sample may do to an answer, and how far beyond that an answer goes.

Exact laws say that a change leaves the answer as it is: a violation is a figure that moves by more than rounding error,
`ROUNDING` nats, or that share of a p-value. Statistical laws compare answers to different questions, each with errors
of its own: a violation is a difference of more than `ERRORS` combined standard errors on the wrong side. Were these
errors normal and independent, and the law just fulfilled, one comparison in 740 would be one by chance.
"""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

import pydine

ROUNDING = 1e-6  # nats; of p-values, a share
ERRORS = 3.0  # combined standard errors


class Answer(NamedTuple):
    value: float
    error: float
    low: float
    high: float
    pvalue: float


def ask(sample, is_tested=True):
    """The estimate of a sample with its interval, and the p-value of the analytic test (nan if not `is_tested`)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = pydine.mutual_information(*sample.arguments())
        pvalue = pydine.independence_test(*sample.arguments(), method="analytic").pvalue if is_tested else np.nan
    return Answer(estimate.value, estimate.standard_error, *estimate.confidence_interval(0.95), pvalue)


def moved(first, second):
    """How far figures are apart: the largest difference in nats, or of ln p."""
    pairs = [*zip(first[:4], second[:4], strict=True), (np.log(first.pvalue), np.log(second.pvalue))]
    return max(0.0 if a == b or (np.isnan(a) and np.isnan(b)) else abs(a - b) for a, b in pairs)


def is_number(column):
    return pd.api.types.is_numeric_dtype(column)


def by_column(sample, change):
    """A sample with `change` made to every column."""
    return sample.mapped(lambda frame: frame.apply(change) if frame.shape[1] else frame)


# --- exact laws: the same information, put in another way ---


def permuted(sample, rng):
    rows = rng.permutation(len(sample.x))
    return sample.mapped(lambda frame: frame.iloc[rows].reset_index(drop=True))


def swapped(sample, rng):
    return replace(sample, x=sample.y, y=sample.x)


def reordered(sample, rng):
    return sample.mapped(lambda frame: frame[list(rng.permutation(frame.columns))] if frame.shape[1] else frame)


def negated(sample, rng):
    return by_column(sample, lambda column: -column if is_number(column) and rng.random() < 0.6 else column)


def mapped(sample, rng):
    """Strictly increasing maps of numbers; ties stay ties."""
    return by_column(sample, lambda column: np.arcsinh(column) * 3.0 + 1.0 if is_number(column) else column)


def relabelled(sample, rng):
    def renamed(column):
        names = np.unique(column)
        return column.map(dict(zip(names, rng.permutation(names), strict=True)))

    return by_column(sample, lambda column: column if is_number(column) else renamed(column))


def copied(sample, rng):
    """Every row twice. Rows of steps and labels repeat by nature, and are left as they are."""
    if any(kind in sample.name for kind in ("halves", "yes_no", "words", "codes", "counts", "rounded")):
        return sample
    return sample.mapped(lambda frame: pd.concat([frame, frame], ignore_index=True))


EXACT = {
    "permute rows": permuted,
    "swap x and y": swapped,
    "reorder columns": reordered,
    "negate columns": negated,
    "monotone maps": mapped,
    "rename labels": relabelled,
    "copies of rows": copied,
}


def at_once(sample, seed):
    """All of them one after the other: if the answer stays, each of them leaves it, unless two undo each other."""
    for change in EXACT.values():
        sample = change(sample, np.random.default_rng(seed))
    return sample


# --- statistical laws: (what must not be larger, what must not be smaller) ---


def compared(sample, answer, rng):
    """By law, the answer that must not be larger, and the one that must not be smaller."""

    def asked(**sides):
        return ask(replace(sample, **sides), is_tested=False)

    found = {}
    first = sample.x.iloc[:, [0]]
    is_alone = sample.x.shape[1] == 1
    if not is_alone or is_number(first.iloc[:, 0]):
        alone = answer if is_alone else asked(x=first)
    if not is_alone:
        found["x tells no less than its first column"] = alone, answer
    if is_number(first.iloc[:, 0]):
        ranks = first.iloc[:, 0].rank(method="average")
        quarter = pd.DataFrame({"q": np.ceil(4.0 * ranks / (len(ranks) + 1.0))})
        found["coarsen x"] = asked(x=quarter), alone  # data processing
    more = asked(x=sample.x.assign(more=rng.normal(size=len(first))))
    found["one more column in x takes nothing away"] = answer, more  # the chain rule
    found["an independent column in x adds nothing"] = more, answer
    given = asked(z=sample.z.assign(more=rng.normal(size=len(first))))
    found["an independent column in z adds nothing"] = given, answer
    found["an independent column in z takes nothing away"] = answer, given
    return found


def excess(low, high):
    """By how many combined standard errors the first answer is above the second."""
    if not (np.isfinite(low.value) and np.isfinite(high.value)):
        return 0.0 if low.value <= high.value or not np.isfinite(low.value) else np.inf
    return (low.value - high.value) / max(np.hypot(low.error, high.error), 1e-12)


# --- laws of one answer ---


def entropy(frame):
    return float(np.inf) if any(is_number(frame[name]) for name in frame) else _plug_in(frame)


def _plug_in(frame):
    shares = frame.value_counts(normalize=True).to_numpy()
    return float(-(shares * np.log(shares)).sum())


def within(sample, answer):
    """Which laws of a single answer it breaks."""
    broken = []
    if np.isfinite(answer.value) and not answer.low - 1e-9 <= max(answer.value, 0.0) <= answer.high + 1e-9:
        broken.append("value inside its interval")
    bound = min(entropy(sample.x), entropy(sample.y))
    if answer.value > bound + ERRORS * answer.error:
        broken.append("below the entropy of labels")
    if answer.low > ERRORS * answer.error and answer.pvalue > 0.5:
        broken.append("test beside interval")
    return broken

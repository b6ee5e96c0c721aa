"""Hints: columns of numbers that look like something else, which nobody but their owner can know.

- Codes for missing values, such as 9999, lie far from all others.
- Serial numbers: whole numbers without a gap, each in one row.
- Codes of labels: whole numbers of a column whose name says so, such as ``race`` or ``zip_code``.
- Subjects and dates that stand in several rows: a name that ends as theirs do, such as ``patient_id``.
"""

from __future__ import annotations

import re

import numpy as np

from pydine.inputs.kinds import Kind
from pydine.types import FloatArray

__all__ = ["DATES", "FREQUENCIES", "SUBJECTS", "code_hint", "far_value", "hint_of", "last_word"]

FAR = 20.0  # words: interquartile ranges of the other values, from which on a value may be a code such as 9999
LEAST_SERIAL = 20  # fact: rows without a gap from which on numbers look like serial ones
# fact: words of names whose numbers are labels
CODES = frozenset(
    {"category", "class", "cluster", "code", "codes", "country", "department", "ethnicity", "id", "industry"}
    | {"nationality", "occupation", "origin", "plz", "postal", "postcode", "race", "region", "religion", "sector"}
    | {"species", "type", "zip", "zipcode"}
)

# fact: how names end of columns that say of whom a row is, and when
SUBJECTS = frozenset(
    {"animal", "customer", "family", "household", "id", "individual", "participant", "patient", "person", "pupil"}
    | {"respondent", "student", "subject", "user"}
)
DATES = frozenset({"date", "datetime", "timestamp"})
# fact: how columns are called that say how often each row was seen, as in tables made by R
FREQUENCIES = frozenset({"freq", "freqs", "frequency", "frequencies"})


def hint_of(name: str, values: FloatArray, kind: Kind) -> str:
    """A hint about a column (n,), NaN where a value is missing; empty if there is none."""
    there = values[np.isfinite(values)]
    if kind is Kind.NOMINAL or kind.is_around or not len(there):
        return ""
    far = far_value(there)
    if far is not None:
        return f"{far:.6g} lies far from the rest: an error, or a code for a missing value?"
    return code_hint(name, there)


def far_value(values: FloatArray) -> float | None:
    """A value (of n) that lies far from all others, as codes do; the end of a long tail does not."""
    from_middle = np.abs(values - np.median(values))
    distances = np.unique(from_middle)
    if len(distances) < 2:  # all are as far from the middle as each other, as two values are
        return None
    away, gap = distances[-1], distances[-1] - distances[-2]
    lower, upper = np.quantile(values[from_middle < away], (0.25, 0.75))  # of the others: a code may be in many rows
    if upper > lower and gap > max(FAR * (upper - lower), 0.5 * away):
        return float(values[np.argmax(from_middle)])
    return None


def code_hint(name: str, values: FloatArray) -> str:
    """Whether whole numbers (n,) look like serial numbers or codes of labels."""
    if not (values == np.round(values)).all() or (low := values.min()) == (high := values.max()):
        return ""
    count = len(np.unique(values))
    if count == len(values) >= LEAST_SERIAL and high - low == count - 1:
        return "numbers without a gap, one per row: if it is a serial number, leave it out"
    if count > 2 and CODES.intersection(_words(name)):
        return "whole numbers that may be codes: if their order means nothing, set the kind to nominal"
    return ""


def last_word(name: str) -> str:
    """The last word of a name, in small letters: ``id`` of ``patientId`` and ``patient_id``."""
    return _words(name)[-1] if _words(name) else ""


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())

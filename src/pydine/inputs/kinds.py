"""Kinds of column: what the values of a column are, found by a rule, or said by whoever asks.

- *continuous*: real numbers that hardly repeat. What is estimated is a density.
- *ordinal*: ordered steps. Counts, integers of few values, ordered categories, numbers with many ties, and continuous
  numbers with point masses among them (zeros of a rainfall, a detection limit).
- *nominal*: labels. Text, categories, booleans, and whatever has two values. In which order they stand, and what they
  are called, changes no answer.
- *angle*: numbers around a circle, such as directions and times of day, which nobody but who asks can tell:
  ``"angle:360"`` says once around, in the units of the column. Those of few values (hours, months) are a *cycle*.

The rule (`kind_of`), in this order:

1. Text, unordered categories and booleans are nominal; ordered categories are ordinal. The type of the column says so.
2. Numbers with two different values are nominal: with two, there is no order to speak of.
3. Numbers are ordinal if two rows drawn at random have the same value with a probability of more than 1 / 30, or if
   there are point masses: values that 5% of the rows (and ten rows) hold, and that are ten times as frequent as is
   usual in the column.
4. All others are continuous. Ties among them are so fine that a step can be taken for a point.

Of up to 24 labels, those with fewer than ten rows are taken together as one. More labels all stand by themselves, and
are drawn towards each other as their rows are few (`latents.kinds.levels`). A column in which hardly any label repeats
is an identifier: nothing can be learned from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray

__all__ = [
    "Kind",
    "Kinds",
    "as_said",
    "atoms_of",
    "check_kinds",
    "count_of",
    "identifier",
    "is_identifier",
    "is_thin",
    "kind_of",
    "period_of",
    "periods_of",
    "pooled",
]

COARSE = 1.0 / 30.0  # answer: probability that two rows have the same value, from which on a column has steps
# answer: rows of a point mass, as a share of all: a few values of rounded measurements have nearly as many
ATOM_SHARE = 0.05
# answer: with fewer rows, or fewer times as many as are usual, a value is no point mass, and a label does not stand by
# itself.
FEW_ROWS = 10
# answer: least rows for models of their own: of a part, beside point masses, for a yes/no question about labels.
OWN_ROWS = 40
MOST_LEVELS = 24  # answer: labels that are few: each has an indicator, and a yes/no question about it
REPEATED = 3.0  # words: times that a label comes up on average, if it is none of an identifier


class Kind(StrEnum):
    """What the values of a column are."""

    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    ANGLE = "angle"
    CYCLE = "cycle"

    @property
    def is_continuous(self) -> bool:
        """Whether values have a density."""
        return self in (Kind.CONTINUOUS, Kind.ANGLE)

    @property
    def is_around(self) -> bool:
        """Whether values lie on a circle."""
        return self in (Kind.ANGLE, Kind.CYCLE)


Kinds = Mapping[Any, str]  # what somebody says of columns, by their names
SAID = (Kind.CONTINUOUS, Kind.ORDINAL, Kind.NOMINAL)
ANGLES = "an angle with its period, such as 'angle:360' or 'angle:radians'"
PERIODS = {"degrees": 360.0, "radians": 2.0 * np.pi, "hours": 24.0}  # fact: by the units of an angle


def check_kinds(kinds: Kinds | None, names: Sequence[str]) -> dict[str, Kind]:
    """Read the argument `kinds`: names of columns, which must be there, to kinds."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise ValueError(f"kinds must be a mapping of column names to kinds, but got {type(kinds).__name__}.")
    found = {}
    for key, kind in kinds.items():
        name = _name(key)
        if name not in names:
            shown = ", ".join(map(repr, names[:10])) + (" ..." if len(names) > 10 else "")
            raise ValueError(f"kinds names the column {key!r}, which is not in the question; its columns are {shown}.")
        if (period := period_of(kind)) is None and str(kind) not in SAID:
            choices = ", ".join(repr(str(choice)) for choice in SAID)
            raise ValueError(f"kinds[{key!r}] must be {choices} or {ANGLES}, but got {kind!r}.")
        found[name] = Kind(str(kind)) if period is None else Kind.ANGLE
    return found


def period_of(kind: str) -> float | None:
    """Once around, as ``"angle:360"`` or ``"angle:radians"`` says it; None if that is not what is said."""
    word, _, period = str(kind).partition(":")
    if word.strip() != Kind.ANGLE:
        return None
    try:
        found = PERIODS.get(period.strip()) or float(period)
    except ValueError:
        return None
    return found if 0.0 < found < np.inf else None


def periods_of(kinds: Kinds | None) -> dict[str, float]:
    """Once around, by the names of the columns that are said to be angles."""
    return {_name(key): period for key, kind in (kinds or {}).items() if (period := period_of(kind)) is not None}


def as_said(kinds: Mapping[str, Kind], said: Kinds | None) -> dict[str, str]:
    """The kinds that columns were found to have, in the words that `check_kinds` takes: with the periods of angles."""
    periods = periods_of(said)
    return {name: f"{Kind.ANGLE}:{periods[name]!r}" if name in periods else str(kind) for name, kind in kinds.items()}


def _name(key: Any) -> str:
    return f"column {key}" if isinstance(key, int | np.integer) else str(key)


def kind_of(column: FloatArray) -> Kind:
    """Find the kind of a column of numbers, shape (n,), NaN and infinity left aside; the rule is the module's."""
    counts = _counts(column)[1]
    if len(counts) == 2:
        return Kind.NOMINAL
    if len(counts) < 2 or counts.max() == 1:
        return Kind.CONTINUOUS
    n = counts.sum()
    same = float((counts * (counts - 1.0)).sum() / (n * (n - 1.0)))
    return Kind.ORDINAL if same > COARSE or len(atoms_of(column)) else Kind.CONTINUOUS


def atoms_of(column: FloatArray) -> FloatArray:
    """Point masses among the values of a column (n,) that hardly repeat otherwise, in order; none if all are steps."""
    values, counts = _counts(column)
    n, usual = counts.sum(), float(np.median(counts)) if len(counts) else 0.0
    is_atom = counts >= max(FEW_ROWS * max(usual, 1.0), ATOM_SHARE * n)
    rest = counts[~is_atom]
    left = float(rest.sum())
    if not is_atom.any() or left < max(OWN_ROWS, 0.1 * n):
        return values[:0]
    same = float((rest * (rest - 1.0)).sum() / (left * (left - 1.0)))
    return values[is_atom] if same <= COARSE else values[:0]


def _counts(column: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    finite = np.isfinite(column)
    return np.unique(column if finite.all() else column[finite], return_counts=True)


def is_identifier(column: FloatArray) -> bool:
    """Whether hardly any label of a nominal column (n,) repeats."""
    values, counts = _counts(column)
    return len(values) > 2 and bool(counts.sum() < REPEATED * len(values))


def count_of(column: FloatArray) -> int:
    """How many different values a column (n,) has, NaN and infinity left aside."""
    return len(_counts(column)[0])


def is_thin(column: FloatArray) -> bool:
    """Whether the labels of a nominal column (n,) are many, and have so few rows on average that little is known."""
    values, counts = _counts(column)
    return len(values) > MOST_LEVELS and bool(counts.sum() < FEW_ROWS * len(values))


def identifier(column: FloatArray) -> str:
    """Why nothing can be learned from such a column (n,)."""
    return f"has {count_of(column):,} different labels in {len(column):,} rows, too many to learn from"


def pooled(codes: FloatArray) -> tuple[FloatArray, dict[float, int]]:
    """Labels (n,) as whole numbers from 0 on, the most frequent first; of few, the rare ones as one, which comes last.

    Labels that are as frequent as each other stay in the order of their codes, and so do two. The new code of every old
    one is returned beside them.
    """
    values, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable") if len(counts) > 2 else np.arange(len(counts))
    places = np.empty(len(counts), dtype=np.intp)
    places[order] = np.arange(len(counts))
    own = int(np.count_nonzero(counts >= FEW_ROWS))
    if len(counts) <= MOST_LEVELS and len(counts) - own > 1 and own > 0:
        places = np.minimum(places, own)
    return places[inverse].astype(np.float64), dict(zip(values.tolist(), places.tolist(), strict=True))

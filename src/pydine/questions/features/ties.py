"""Which columns of a ranking cannot be told apart: differences of what they tell, from rows' values that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydine.answers.asking import Answered
from pydine.questions.comparing import difference_of
from pydine.results.contrasts import Difference

MOST_VALUES = 2_000_000  # memory: rows times columns of which a ranking keeps what each row contributes


@dataclass(frozen=True, eq=False)
class Comparer:
    """What the rows of ranked columns contribute, by the columns' names; without those of infinite information."""

    answers: Mapping[str, Answered]

    def __call__(self, first: str, second: str) -> Difference:
        """How much more one column tells than the other."""
        for name in (first, second):
            if name not in self.answers:
                known = ", ".join(list(self.answers)[:10])
                raise ValueError(f"{name!r} is not a ranked column whose rows were kept; name one of {known}.")
        return difference_of([self.answers[first], self.answers[second]], (first, second))

    def tied(self, names: list[str], alpha: float) -> tuple[str, ...]:
        """The first of some columns, in the order of what they tell, and those after it that it is no better than.

        One after the other is compared with the first, up to the one that tells less, so that the chance of any wrong
        step is at most alpha.
        """
        found = names[:1]
        for name in names[1:]:
            if name not in self.answers or names[0] not in self.answers:
                break
            low, high = self(names[0], name).confidence_interval(1.0 - alpha)
            if not low <= 0.0 <= high:
                break
            found.append(name)
        return tuple(found) if len(found) > 1 else ()

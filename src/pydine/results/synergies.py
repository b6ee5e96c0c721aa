"""Pairs of columns by how much more they tell about a target together than apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydine.results.interactions import Interaction
from pydine.results.records import Record
from pydine.show.cards import figure, pvalue_text, table
from pydine.types import must_fit

__all__ = ["Synergies"]

SHOWN = 15  # fact: pairs that are printed or drawn


@dataclass(frozen=True, repr=False, eq=False)
class Synergies(Record):
    """Interactions of pairs of columns about a target, the largest synergy first.

    Parameters
    ----------
    target : str
    interactions : tuple of Interaction
        Those of the pairs that a screen of all pairs picked out.
    adjusted_pvalues : tuple of float
        Of each interaction, adjusted for all pairs by Benjamini and Hochberg, those that were not picked out too.
    n_pairs : int
        How many pairs there are.
    names : tuple of str
        The columns that were paired.
    """

    target: str
    interactions: tuple[Interaction, ...]
    adjusted_pvalues: tuple[float, ...]
    n_pairs: int
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, len(self.interactions) == len(self.adjusted_pvalues) <= self.n_pairs)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(self.interactions)

    def __len__(self) -> int:
        return len(self.interactions)

    def found(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """The pairs with more synergy than redundancy, at a false discovery rate."""
        rows = zip(self.interactions, self.adjusted_pvalues, strict=True)
        return [pair.labels for pair, p in rows if p <= alpha and pair.value > 0.0]

    def plot(self, axes: Any = None) -> Any:
        """Draw the interactions with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.contrasts import draw_intervals

        lines = [(" and ".join(p.labels), p.value, *p.confidence_interval()) for p in self.interactions[:SHOWN]]
        return draw_intervals(lines, f"synergy about {self.target}, {len(self)} of {self.n_pairs:,} pairs", axes)

    def _rows(self) -> list[list[str]]:
        shown = list(zip(self.interactions, self.adjusted_pvalues, strict=True))[:SHOWN]
        rows = []
        for pair, adjusted in shown:
            told, joint = (figure(part.value, part.standard_error) for part in (pair, pair.together))
            rows.append([" and ".join(pair.labels), told, joint, pvalue_text(adjusted)])
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        width = max((len(row[0]) for row in rows), default=0)
        head = f"{len(self)} of {self.n_pairs:,} pairs of columns by their synergy about {self.target}, in nats:"
        lines = [f"  {pair:<{width}}  {value}  together {joint}  adjusted p {p}" for pair, value, joint, p in rows]
        more = [f"  … and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join([head, *lines, *more])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        note = f"The {len(self)} of {self.n_pairs:,} pairs chosen by screening; p is adjusted for all."
        header = ["pair", "interaction", "together", "adjusted p"]
        return table(f"Synergy about {self.target}, in nats", header, self._rows(), note)

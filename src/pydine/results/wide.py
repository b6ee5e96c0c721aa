"""The pairs of very many columns that were found to depend on each other, as a frozen result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.results.records import Record
from pydine.show.cards import figure, pvalue_text, table
from pydine.types import FloatArray, must_fit

SHOWN_PAIRS = 10


@dataclass(frozen=True, repr=False, eq=False)
class WideInformation(Record):
    """Pairs that were found, the smallest p-values first.

    Parameters
    ----------
    names : tuple of str
        The variables.
    first, second : ndarray of int, shape (k,)
        Positions of the pairs' variables; the first is the smaller.
    values, standard_errors : ndarray, shape (k,)
        Nats, by the Gaussian closed form; infinite where one variable is a function of the other.
    pvalues, adjusted_pvalues : ndarray, shape (k,)
        Of independence; adjusted over all pairs.
    n_pairs, n_found : int
        Pairs in all, and those of them whose adjusted p-value is at most `alpha`, of which k are here.
    alpha : float
    n_samples, n_dropped : int
        Rows that were used, and rows that were left out because of NaN or infinity.
    is_shared : bool
        Whether what is given was projected out of all variables together, which approximates the answers to separate
        questions about each pair.
    """

    names: tuple[str, ...]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    values: FloatArray
    standard_errors: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    n_pairs: int
    n_found: int
    alpha: float
    n_samples: int
    n_dropped: int
    is_shared: bool = False

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        parts = self.first, self.second, self.values, self.standard_errors, self.pvalues, self.adjusted_pvalues
        must_fit(self, {part.shape for part in parts} == {(self.first.size,)})
        must_fit(self, all(0 <= place < len(self.names) for place in (*self.first, *self.second)))

    def __len__(self) -> int:
        return len(self.first)

    def columns(self) -> dict[str, list[Any]]:
        """The pairs as columns: names, nats, p-values."""
        return {
            "x": [self.names[i] for i in self.first],
            "y": [self.names[i] for i in self.second],
            "information": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
            "pvalue": self.pvalues.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def __repr__(self) -> str:
        found = f"Dependence detected in {self.n_found:,} of {self.n_pairs:,} pairs of {len(self.names):,} columns"
        lines = [
            f"  {self.names[i]}, {self.names[j]}: {value:.3f} nats, adjusted p = {p:.2g}"
            for i, j, value, p in zip(self.first, self.second, self.values, self.adjusted_pvalues, strict=True)
        ][:SHOWN_PAIRS]
        more = ["  ..."] if len(self) > SHOWN_PAIRS else []
        return "\n".join([f"{found} at {self.alpha:g}; n = {self.n_samples:,}.", *lines, *more])

    def _repr_html_(self) -> str:
        """A table for notebooks: the first pairs."""
        rows = [
            [
                f"{self.names[i]}; {self.names[j]}",
                figure(float(value), float(error)),
                pvalue_text(float(p)),
            ]
            for i, j, value, error, p in zip(
                self.first[:SHOWN_PAIRS],
                self.second[:SHOWN_PAIRS],
                self.values,
                self.standard_errors,
                self.adjusted_pvalues,
                strict=False,
            )
        ]
        more = f"{len(self) - SHOWN_PAIRS:,} more: columns() has all." if len(self) > SHOWN_PAIRS else ""
        return table(repr(self).partition("\n")[0], ["pair", "nats", "adjusted p"], rows, more)

"""Sums and differences of estimates, whose errors may depend on each other: one interval and one p-value for all.

The interval recovers variances from the intervals of the parts (MOVER; Zou and Donner 2008): its distance from the
value is the root of the sum of the parts' own distances, squared, with their correlations. It so inherits what these
know: that information is not negative, errors that differ downwards and upwards, and entropies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pydine.results.estimates import ConfidenceInterval, InformationEstimate, expression
from pydine.results.records import Record
from pydine.show.cards import card, figure, pvalue_text
from pydine.types import FloatArray, must_fit

__all__ = ["Difference", "Terms"]

LEAST_PVALUE = 1e-15  # guard: confidence levels closer to one than this are not told apart
HALVINGS = 60  # guard: of ln p, between its ends; far beyond what is shown


class Terms(NamedTuple):
    """What a contrast sums up: estimates with coefficients, and the correlations (k, k) of their errors."""

    estimates: tuple[InformationEstimate, ...]
    coefficients: tuple[float, ...]
    correlations: FloatArray

    @property
    def value(self) -> float:
        """The sum, in nats."""
        return float(sum(c * e.value for c, e in zip(self.coefficients, self.estimates, strict=True)))

    @property
    def standard_error(self) -> float:
        """Of the sum, in nats."""
        signed = np.array([c * e.standard_error for c, e in zip(self.coefficients, self.estimates, strict=True)])
        return _length(signed, self.correlations)

    def interval(self, level: float) -> ConfidenceInterval:
        """A confidence interval of the sum, in nats."""
        values = np.array([estimate.value for estimate in self.estimates])
        low, high = np.array([estimate.confidence_interval(level) for estimate in self.estimates]).T
        down, up = np.maximum(values - low, 0.0), np.maximum(high - values, 0.0)
        signs = np.array(self.coefficients)
        below = _length(signs * np.where(signs > 0.0, down, up), self.correlations)
        above = _length(signs * np.where(signs > 0.0, up, down), self.correlations)
        return ConfidenceInterval(self.value - below, self.value + above)

    def pvalue(self) -> float:
        """One less the highest level at which the interval does not reach zero: both always say the same."""
        low, high = math.log(LEAST_PVALUE), 0.0
        if not math.isfinite(self.standard_error):
            return math.nan
        if self.standard_error == 0.0:
            return 1.0 if self.value == 0.0 else LEAST_PVALUE
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            ends = self.interval(-math.expm1(middle))
            low, high = (middle, high) if ends.low <= 0.0 <= ends.high else (low, middle)
        return math.exp(high)


def _length(distances: FloatArray, correlations: FloatArray) -> float:
    """The root of the variance of a sum of terms with these signed deviations (k,) and correlations (k, k)."""
    return math.sqrt(max(float(distances @ correlations @ distances), 0.0))


class Contrast(Record):
    """A sum or difference of estimates; what it is of, `terms` says."""

    @property
    def terms(self) -> Terms:
        """Estimates, their coefficients, and the correlations of their errors."""
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The contrast, in nats; it may be negative."""
        return self.terms.value

    @property
    def standard_error(self) -> float:
        """Its standard error, in nats."""
        return self.terms.standard_error

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that it is zero; the interval of level 1 - p ends at zero. At least 1e-15."""
        return self.terms.pvalue()

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """A confidence interval, in nats.

        Parameters
        ----------
        level : float, default=0.95
            The confidence level, between 0 and 1.

        Returns
        -------
        ConfidenceInterval
            The ends ``low`` and ``high`` in nats.
        """
        return self.terms.interval(level)

    def __float__(self) -> float:
        return self.value

    def _figures(self) -> str:
        """The value, its interval and p-value, in a line."""
        low, high = self.confidence_interval()
        return (
            f"{self.value:+.4f} ± {self.standard_error:.4f} nats, 95% interval [{low:.3f}, {high:.3f}], "
            f"p = {self.pvalue:.2g}"
        )


@dataclass(frozen=True, repr=False)
class Difference(Contrast):
    """How much more one thing tells than another, with the uncertainty of the difference.

    Parameters
    ----------
    first, second : InformationEstimate
        What is compared, in nats.
    labels : tuple of two str
        What they are called.
    correlation : float, default=0.0
        Of the errors of the two: those of the same rows cancel in part. Zero for different rows.
    is_paired : bool, default=True
        Whether both were found in the same rows.

    Examples
    --------
    >>> first, second = (InformationEstimate(v, 0.03, "gaussian", 500, (1, 1, 0)) for v in (0.25, 0.15))
    >>> difference = Difference(first, second, ("a", "b"), 0.5)
    >>> difference
    a - b: +0.1000 ± 0.0300 nats, 95% interval [0.039, 0.158], p = 0.0017; a tells more, 500 rows
    """

    first: InformationEstimate
    second: InformationEstimate
    labels: tuple[str, str]
    correlation: float = 0.0
    is_paired: bool = True

    def __post_init__(self) -> None:
        """Refuse a correlation that is none."""
        must_fit(self, -1.0 <= self.correlation <= 1.0)

    @property
    def terms(self) -> Terms:
        """The first less the second."""
        correlations = np.array([[1.0, self.correlation], [self.correlation, 1.0]])
        return Terms((self.first, self.second), (1.0, -1.0), correlations)

    def verdict(self, alpha: float = 0.05) -> str:
        """Which of the two tells more, in a few words, at a level."""
        if not self.pvalue <= alpha:
            return f"{self.labels[0]} and {self.labels[1]} cannot be told apart"
        more = self.labels[0 if self.value > 0.0 else 1]
        return f"{more} tells more" if self.is_paired else f"more information in {more}"

    @property
    def row_counts(self) -> str:
        """How many rows there were, in words."""
        if self.is_paired and self.first.n_samples == self.second.n_samples:
            return f"{self.first.n_samples:,} rows"
        return f"{self.first.n_samples:,} and {self.second.n_samples:,} rows"

    def plot(self, axes: Any = None) -> Any:
        """Draw both, and their difference, with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.contrasts import draw_intervals

        lines = [(label, e.value, *e.confidence_interval()) for label, e in self._parts()]
        lines.append(("difference", self.value, *self.confidence_interval()))
        return draw_intervals(lines, f"{self.verdict()} (p = {self.pvalue:.2g})", axes)

    def _parts(self) -> list[tuple[str, InformationEstimate]]:
        return list(zip(self.labels, (self.first, self.second), strict=True))

    def __repr__(self) -> str:
        return f"{self.labels[0]} - {self.labels[1]}: {self._figures()}; {self.verdict()}, {self.row_counts}"

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        low, high = self.confidence_interval()
        lines = [f"95% interval {low:.3f} to {high:.3f} nats, p = {pvalue_text(self.pvalue)}; {self.verdict()}"]
        lines += [f"{expression(e.names)} = {figure(e.value, e.standard_error, 'nats')}" for _, e in self._parts()]
        title = f"{self.labels[0]} minus {self.labels[1]}, {self.row_counts}"
        return card(title, figure(self.value, self.standard_error, "nats"), lines)

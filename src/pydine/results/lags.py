"""Frozen answers about series: information at each of several lags, and what the past of one tells of another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pydine.results.contrasts import Difference
from pydine.results.estimates import ConfidenceInterval, InformationEstimate
from pydine.results.records import Record
from pydine.show.cards import card, figure, pvalue_text, table
from pydine.types import must_fit


@dataclass(frozen=True, repr=False)
class LaggedInformation(Record):
    """Information between x some rows before and y, for each of several lags.

    Parameters
    ----------
    lags : tuple of int
        By how many rows x comes before y; after it where negative.
    estimates : tuple of InformationEstimate
        One for each lag, of the same rows.
    pvalues, adjusted_pvalues : tuple of float
        Of independence at each lag, and adjusted for the number of lags (Holm).
    """

    lags: tuple[int, ...]
    estimates: tuple[InformationEstimate, ...]
    pvalues: tuple[float, ...]
    adjusted_pvalues: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        sizes = {len(self.lags), len(self.estimates), len(self.pvalues), len(self.adjusted_pvalues)}
        must_fit(self, len(sizes) == 1 and 0 not in sizes)

    @property
    def best(self) -> int:
        """The lag with the most information."""
        return self.lags[max(range(len(self.lags)), key=lambda i: self.estimates[i].value)]

    @property
    def values(self) -> tuple[float, ...]:
        """The estimates in nats."""
        return tuple(estimate.value for estimate in self.estimates)

    def band(self, level: float = 0.95) -> tuple[ConfidenceInterval, ...]:
        """Intervals in nats that hold all true values together with this probability at least (Bonferroni)."""
        each = 1.0 - (1.0 - level) / len(self.lags)
        return tuple(estimate.confidence_interval(each) for estimate in self.estimates)

    def plot(self, axes: Any = None) -> Any:
        """Draw information against the lag, with 95% intervals and the simultaneous band; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.plotting import draw_lags

        return draw_lags(self, axes)

    @property
    def _names(self) -> tuple[str, str]:
        """Names of the series, without the lag."""
        (x,), (y,), _ = self.estimates[0].names
        return x.rpartition(" (t")[0] or x, y

    def __repr__(self) -> str:
        first, (x, y) = self.estimates[0], self._names
        lines = [f"{x} before {y}, in nats, {first.n_samples:,} rows, {first.sampling or 'independent rows'}:"]
        for lag, estimate, (low, high), p in zip(
            self.lags, self.estimates, self.band(), self.adjusted_pvalues, strict=True
        ):
            lines.append(
                f"  lag {lag:>3}  {figure(estimate.value, estimate.standard_error)}  band [{low:.3f}, {high:.3f}]  "
                f"adjusted p {pvalue_text(p)}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [
            [str(lag), figure(e.value, e.standard_error), f"{low:.3f} to {high:.3f}", pvalue_text(p)]
            for lag, e, (low, high), p in zip(
                self.lags, self.estimates, self.band(), self.adjusted_pvalues, strict=True
            )
        ]
        x, y = self._names
        return table(f"{x} before {y}, in nats", ["lag", "information", "95% band", "adjusted p"], rows)


@dataclass(frozen=True, repr=False)
class TransferInformation(Record):
    """What the past of x tells about y beyond the past of y, and the other way (transfer entropy; Schreiber 2000).

    Parameters
    ----------
    x, y : str
        Names of the series.
    lags : tuple of int
        The rows before that make up the past.
    forward, backward : InformationEstimate
        Of the past of x and y, given the past of y; and of the past of y and x, given the past of x.
    pvalue, backward_pvalue : float
        Of no transfer in either direction.
    correlation : float
        Of the errors of the two.
    """

    x: str
    y: str
    lags: tuple[int, ...]
    forward: InformationEstimate
    backward: InformationEstimate
    pvalue: float
    backward_pvalue: float
    correlation: float

    def __post_init__(self) -> None:
        """Refuse a correlation that is none."""
        must_fit(self, -1.0 <= self.correlation <= 1.0)

    @property
    def contrast(self) -> Difference:
        """Transfer from x to y less that from y to x, with its interval and p-value."""
        labels = f"{self.x} to {self.y}", f"{self.y} to {self.x}"
        return Difference(self.forward, self.backward, labels, self.correlation)

    @property
    def difference(self) -> float:
        """The value of `contrast`, in nats."""
        return self.contrast.value

    def difference_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """A confidence interval for the difference, in nats."""
        return self.contrast.confidence_interval(level)

    def __float__(self) -> float:
        return self.forward.value

    def plot(self, axes: Any = None) -> Any:
        """Draw both directions and their difference with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return self.contrast.plot(axes)

    def __repr__(self) -> str:
        low, high = self.difference_interval()
        parts = [
            f"{a} to {b}: {figure(e.value, e.standard_error)} nats (p {pvalue_text(p)})"
            for a, b, e, p in (
                (self.x, self.y, self.forward, self.pvalue),
                (self.y, self.x, self.backward, self.backward_pvalue),
            )
        ]
        known = "" if math.isnan(low) else f", 95% interval [{low:.3f}, {high:.3f}]"
        rows = f"n = {self.forward.n_samples}"
        return "; ".join([*parts, f"difference {self.difference:z.4f}{known}, {rows}, {self.forward.sampling}"])

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        first, *rest = repr(self).split("; ")
        return card(f"Transfer of information, {self.x} and {self.y}", first, rest)

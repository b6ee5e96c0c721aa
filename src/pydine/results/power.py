"""How many rows find how much information, as a frozen result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pydine.results.estimates import correlation_of
from pydine.results.records import Record
from pydine.show.cards import card
from pydine.types import FloatArray, must_fit

__all__ = ["Power"]


@dataclass(frozen=True, repr=False, eq=False)
class Power(Record):
    """Rows, and the information that the test of independence finds in them with a given probability.

    Parameters
    ----------
    rows : int
        How many rows are needed, or are there.
    information : float
        Nats.
    power : float
        The probability that independence is rejected.
    alpha : float
        The level of the test.
    dimensions : tuple of int
        The numbers of columns of x, y and z.
    statistic : str
        That of the test: ``"auto"`` or ``"gaussian"``.
    solved : str
        Which of the two was asked for: ``"rows"`` or ``"information"``.
    interval : tuple of two floats
        If it is for the information of an estimate: rows for the ends of its interval, the fewest first. Infinite if
        that reaches zero, NaN if there was no estimate.
    curve_rows, curve_power : ndarray, shape (m,)
        The power with other numbers of rows.
    """

    rows: int
    information: float
    power: float
    alpha: float
    dimensions: tuple[int, int, int]
    statistic: str
    solved: str
    interval: tuple[float, float]
    curve_rows: FloatArray = field(compare=False)
    curve_power: FloatArray = field(compare=False)

    def __post_init__(self) -> None:
        """Refuse a curve that is none."""
        must_fit(self, self.curve_rows.shape == self.curve_power.shape)

    def __int__(self) -> int:
        return self.rows

    def __float__(self) -> float:
        return float(self.rows if self.solved == "rows" else self.information)

    @property
    def correlation(self) -> float:
        """The information on the scale of a correlation, from 0 to 1."""
        return correlation_of(self.information)

    def plot(self, axes: Any = None) -> Any:
        """Draw the power against the number of rows; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.plotting import new_axes

        axes = new_axes(5.6, 3.6) if axes is None else axes
        axes.plot(self.curve_rows, self.curve_power, color="#0b5c8c", lw=2)
        axes.axhline(self.power, color="0.7", lw=1)
        axes.plot([self.rows], [self.power], "o", color="#d55e00")
        axes.annotate(f"{self.rows:,} rows", (self.rows, self.power), (6, -14), textcoords="offset points")
        axes.set(xscale="log", ylim=(0.0, 1.02), xlabel="rows", ylabel=f"power at level {self.alpha:g}")
        axes.set_title(f"{self.information:.3g} nats, as a correlation of {self.correlation:.2f}")
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def _said(self) -> tuple[str, str]:
        """What was asked for, and the rest."""
        told = f"{self.information:.3g} nats (a correlation of {self.correlation:.2f})"
        size = f"with a probability of {self.power:g} at level {self.alpha:g}"
        if self.solved == "information":
            return told, f"is the least that {self.rows:,} rows detect {size}"
        few, many = self.interval
        ends = "" if np.isnan(few) else f"; {few:,.0f} to {many:,.0f} for the ends of its interval"
        return f"{self.rows:,} rows", f"detect {told} {size}{ends}"

    def __repr__(self) -> str:
        dx, dy, dz = self.dimensions
        given = f", {dz} given" if dz else ""
        return f"{' '.join(self._said())}; {self.statistic} statistic, {dx} by {dy} columns{given}"

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        title = "Rows needed" if self.solved == "rows" else "Smallest detectable information"
        head, rest = self._said()
        return card(title, head, [rest])

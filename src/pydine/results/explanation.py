"""Why a column tells little once others are known: what is left of it after each of them, as a frozen result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pydine.results.estimates import InformationEstimate
from pydine.results.pairs import as_frame
from pydine.results.records import Record
from pydine.show.cards import figure, pvalue_text, table
from pydine.show.plotting import draw_explanation
from pydine.types import FloatArray

__all__ = ["Explanation", "ExplanationStep"]


@dataclass(frozen=True)
class ExplanationStep(Record):
    """What a column tells about the target, given some of the others.

    Parameters
    ----------
    added : tuple of str
        The columns that are given here and were not given in the step before; none in the first step.
    left : InformationEstimate
        I(column; target | those given so far), in nats.
    pvalue : float
        Of the analytic test of independence given them.
    """

    added: tuple[str, ...]
    left: InformationEstimate
    pvalue: float


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(Record):
    """Which columns take over what a column tells about a target, those that take most first.

    Parameters
    ----------
    name, target : str
    steps : tuple of ExplanationStep
        Alone, then given one more of the other columns each, then given all of them.
    correlation, correlation_pvalue : float
        The linear partial correlation given all of them, as a regression has it, and the p-value of its t-test; NaN
        for a side of more than two labels. Where it is significant and the last step is not, either the target bends
        with the other columns, which a line does not see, or the rows are too few for the more careful test.
    residuals : ndarray, shape (2, m)
        The column and the target less what functions of the others predict of them, in their own units; of at most
        2,000 rows. No columns where a side has more than two labels.
    backend : str, default="pandas"
        The library of `to_frame`.
    """

    name: str
    target: str
    steps: tuple[ExplanationStep, ...]
    correlation: float
    correlation_pvalue: float
    residuals: FloatArray
    backend: str = "pandas"

    def lines(self) -> list[tuple[str, ExplanationStep]]:
        """The steps, with what is given in each, in words."""
        named: list[tuple[str, ExplanationStep]] = []
        for step in self.steps:
            some = ", ".join(step.added[:3]) + (f" and {len(step.added) - 3} more" if len(step.added) > 3 else "")
            named.append((f"and {some}" if named[1:] else f"given {some}" if named else "alone", step))
        return named

    @property
    def summary(self) -> str:
        """What takes it over, and what may be left, in a sentence or two."""
        first, last = self.steps[0], self.steps[-1]
        if len(self.steps) == 1:
            return f"There is no other column that could tell the same as {self.name}."
        taken = [name for step in self.steps[1:-1] or self.steps[1:] for name in step.added]
        bound = last.left.confidence_interval().high
        whose = ", ".join(taken[:3]) + (f" and {len(taken) - 3} more" if len(taken) > 3 else "")
        if last.pvalue > 0.05:
            rest = f"nothing more is detected given all of them: at most {bound:.3f} nats."
        else:
            rest = f"{last.left.value:.3f} nats are left given all of them (p {_p(last.pvalue)})."
        lost = first.left.value - self.steps[-2 if len(self.steps) > 2 else -1].left.value
        share = f" {min(lost / first.left.value, 1.0):.0%} of" if first.left.value > 0.0 and lost > 0.0 else ""
        start = (
            f"{whose} account{'s' if len(taken) == 1 else ''} for{share} what {self.name} tells about {self.target}; "
        )
        return start + rest

    @property
    def beside_line(self) -> str:
        """The linear partial correlation, in a sentence; empty where there is none."""
        if math.isnan(self.correlation):
            return ""
        said = f"The linear partial correlation is {self.correlation:z.2f} (p {_p(self.correlation_pvalue)})"
        if self.correlation_pvalue <= 0.05 < self.steps[-1].pvalue:
            return (
                f"{said}: either linear regression on the others leaves curvature in both sides, which looks like "
                "dependence, or there are too few rows for a test that allows for curvature."
            )
        return f"{said}."

    def __repr__(self) -> str:
        named = self.lines()
        width = max(len(text) for text, _ in named)
        lines = [f"What {self.name} tells about {self.target}, in nats, n = {self.steps[0].left.n_samples:,}:"]
        for text, step in named:
            low, high = step.left.confidence_interval()
            value = figure(step.left.value, step.left.standard_error)
            lines.append(f"  {text:<{width}}  {value}  [{low:.3f}, {high:.3f}]  p {_p(step.pvalue)}")
        return "\n".join([*lines, self.summary, *filter(None, [self.beside_line])])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = []
        for text, step in self.lines():
            low, high = step.left.confidence_interval()
            value = figure(step.left.value, step.left.standard_error)
            rows.append([text, value, f"{low:.3f} to {high:.3f}", pvalue_text(step.pvalue)])
        title = f"What {self.name} tells about {self.target}"
        note = " ".join(filter(None, [self.summary, self.beside_line]))
        return table(title, ["", "nats", "95% interval", "p"], rows, note)

    def columns(self) -> dict[str, list[Any]]:
        """The steps as columns, as `to_frame` has them."""
        every = [step.left.confidence_interval() for step in self.steps]
        return {
            "given": [", ".join(step.added) for step in self.steps],
            "information": [step.left.value for step in self.steps],
            "standard_error": [step.left.standard_error for step in self.steps],
            "low": [interval.low for interval in every],
            "high": [interval.high for interval in every],
            "pvalue": [step.pvalue for step in self.steps],
        }

    def to_frame(self) -> Any:
        """A row for each step: what was added to what is given, and what is left, in nats."""
        return as_frame(self.columns(), self.backend)

    def plot(self, axes: Any = None) -> Any:
        """Draw what the other columns leave of the column and of the target, in their units; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        if not np.size(self.residuals):
            raise ValueError("a nominal column of more than two labels has no units, so there is no partial plot.")
        return draw_explanation(self, axes)


def _p(pvalue: float) -> str:
    text = pvalue_text(pvalue)
    return text if text.startswith(("<", "–")) else f"= {text}"

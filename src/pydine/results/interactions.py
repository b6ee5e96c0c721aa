"""What two columns tell about a third together, each alone, and each beyond the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydine.results.contrasts import Contrast, Terms
from pydine.results.estimates import InformationEstimate, expression
from pydine.show.cards import figure, pvalue_text, strip, strip_end, table
from pydine.types import FloatArray, must_fit

__all__ = ["Interaction"]


@dataclass(frozen=True, repr=False, eq=False)
class Interaction(Contrast):
    """Interaction information: I(X1,X2;Y|Z) - I(X1;Y|Z) - I(X2;Y|Z), with its uncertainty.

    Above zero the two tell more together than the sum of what they tell alone (synergy); below zero they tell in part
    the same (redundancy). Where both happen, this is what is left of one after the other.

    Parameters
    ----------
    together : InformationEstimate
        I(X1,X2;Y|Z) in nats.
    first, second : InformationEstimate
        I(X1;Y|Z) and I(X2;Y|Z): each alone.
    first_beyond, second_beyond : InformationEstimate
        I(X1;Y|X2,Z) and I(X2;Y|X1,Z): what each tells that the other does not, alone or with its help.
    labels : tuple of two str
        What X1 and X2 are called.
    correlations : ndarray, shape (3, 3)
        Of the errors of together, first and second.
    """

    together: InformationEstimate
    first: InformationEstimate
    second: InformationEstimate
    first_beyond: InformationEstimate
    second_beyond: InformationEstimate
    labels: tuple[str, str]
    correlations: FloatArray

    def __post_init__(self) -> None:
        """Refuse correlations of another shape."""
        must_fit(self, self.correlations.shape == (3, 3))

    @property
    def terms(self) -> Terms:
        """Together, less each alone."""
        return Terms((self.together, self.first, self.second), (1.0, -1.0, -1.0), self.correlations)

    def verdict(self, alpha: float = 0.05) -> str:
        """What the sign says, in plain words, at a level."""
        one, other = self.labels
        target = ", ".join(self.together.names[1])
        if not self.pvalue <= alpha:
            return f"{one} and {other} show no detectable synergy or redundancy about {target}"
        if self.value > 0.0:
            return f"{one} and {other} together tell more about {target} than the sum of each alone (synergy)"
        return f"{one} and {other} partly tell the same about {target} (redundancy)"

    def parts(self) -> list[tuple[str, InformationEstimate]]:
        """The five estimates, with what they are."""
        one, other = self.labels
        return [
            (f"{one} and {other} together", self.together),
            (f"{one} alone", self.first),
            (f"{other} alone", self.second),
            (f"{one} beyond {other}", self.first_beyond),
            (f"{other} beyond {one}", self.second_beyond),
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw the parts and the interaction with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.contrasts import draw_intervals

        lines = [(label, e.value, *e.confidence_interval()) for label, e in self.parts()]
        lines.append(("interaction", self.value, *self.confidence_interval()))
        return draw_intervals(lines, f"p = {self.pvalue:.2g}, n = {self.together.n_samples:,}", axes)

    def __repr__(self) -> str:
        each = ", ".join(f"{label} {estimate.value:z.3f}" for label, estimate in self.parts())
        return f"interaction {self._figures()}; {each}; {self.verdict()}, n = {self.together.n_samples}"

    def _repr_html_(self) -> str:
        """A table for notebooks, with intervals drawn."""
        parts = self.parts()
        limit = strip_end([(e.value, e.standard_error, e.confidence_interval().high) for _, e in parts])
        rows = [
            [label, strip([("alone", e.value, *e.confidence_interval())], limit), figure(e.value, e.standard_error)]
            for label, e in parts
        ]
        low, high = self.confidence_interval()
        note = (
            f"Interaction {figure(self.value, self.standard_error, 'nats')}, 95% interval {low:.3f} to {high:.3f}, "
            f"p = {pvalue_text(self.pvalue)}: {self.verdict()}."
        )
        return table(expression(self.together.names), ["", f"0 to {limit:.2g} nats", "nats"], rows, note, strips=1)

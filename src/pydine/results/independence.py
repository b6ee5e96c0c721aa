"""The outcome of a test of conditional independence, as a frozen result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydine.results.estimates import InformationEstimate, shortened
from pydine.results.records import Record
from pydine.show.cards import card, pvalue_text

__all__ = ["IndependenceTestResult"]


@dataclass(frozen=True, repr=False)
class IndependenceTestResult(Record):
    """The outcome of a test of "X is independent of Y", or of "X is independent of Y given Z".

    Parameters
    ----------
    statistic : float
        What was compared with its null distribution: nats for ``"gaussian"``, otherwise -ln of the combined p-value of
        the block statistics.
    pvalue : float
        In (0, 1]; with permutations at least 1 / (n_permutations + 1), unless the paper's formula was asked for.
    estimate : InformationEstimate
        The information between X and Y given Z by the Gaussian base, in nats.
    alpha : float
        The level at which the decision was taken.
    kind : str
        The statistic that was used: ``"auto"``, ``"gaussian"`` or ``"general"``.
    method : str
        ``"permutation"`` or ``"analytic"``.
    null_distribution : ndarray or None
        The statistic under each permutation, shape (n_permutations,); None for the analytic method.
    block_pvalues : mapping of str to float
        The analytic p-value of every block, which says where the dependence shows: ``"correlation"``, ``"bent in x"``,
        ``"bent in y"``, ``"spread"``, ``"any shape"`` and, given Z, ``"changes with z"``.
    """

    statistic: float
    pvalue: float
    estimate: InformationEstimate
    alpha: float
    kind: str
    method: str
    null_distribution: Any = field(default=None, compare=False)
    block_pvalues: Mapping[str, float] = field(default_factory=dict, compare=False)

    @classmethod
    def without_estimate(cls, estimate: Callable[[], InformationEstimate], **found: Any) -> IndependenceTestResult:
        """The outcome of a test that did not need the estimate, which is made when somebody asks for it."""
        result = cls(estimate=estimate, **found)  # type: ignore[arg-type]
        object.__delattr__(result, "estimate")
        object.__setattr__(result, "_estimated", estimate)
        return result

    def __getattr__(self, name: str) -> Any:
        """Make the estimate if it is not there; other attributes that are not there are not there."""
        if name != "estimate" or "_estimated" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, "estimate", self.__dict__.pop("_estimated")())
        return self.estimate

    def __getstate__(self) -> dict[str, Any]:
        """All of it, with the estimate."""
        return {"estimate": self.estimate, **{k: v for k, v in self.__dict__.items() if k != "_estimated"}}

    @property
    def rejected(self) -> bool:
        """Whether independence is rejected at level alpha."""
        return self.pvalue <= self.alpha

    def plot(self, axes: Any = None) -> Any:
        """Draw the statistic among those of the permutations; needs matplotlib, and ``method="permutation"``.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        if self.null_distribution is None:
            raise ValueError("the analytic method has no permutations to draw; pass method='permutation'.")
        from pydine.show.plotting import draw_null

        return draw_null(self, axes)

    def __repr__(self) -> str:
        x, y, z = (", ".join(shortened(columns)) for columns in self.estimate.names)
        question = f"{x} independent of {y}" + (f" given {z}" if z else "")
        verdict = "rejected" if self.rejected else "not rejected"
        how = self.method if self.null_distribution is None else f"{len(self.null_distribution)} permutations"
        return (
            f"{question}: {verdict} at {self.alpha:g} (p = {self.pvalue:.3g}, {self.kind} statistic, {how}), "
            f"information {self.estimate.value:z.4f} nats, n = {self.estimate.n_samples}"
        )

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        question, _, found = repr(self).partition(": ")
        p = pvalue_text(self.pvalue)
        verdict = f"{'rejected' if self.rejected else 'not rejected'} at {self.alpha:g}"
        sign = "" if p.startswith("<") else "= "
        return card(f"{question}?", f"{verdict}, p {sign}{p}", [found.partition("), ")[2]])

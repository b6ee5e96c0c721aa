"""A ranking of columns by what they tell about a target, as a frozen result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydine.results.contrasts import Difference
from pydine.results.estimates import InformationEstimate
from pydine.results.explanation import Explanation
from pydine.results.pairs import as_frame
from pydine.results.records import Record
from pydine.show.cards import card, figure, pvalue_text, strip, strip_end, table
from pydine.show.plotting import draw_ranking

__all__ = ["RankedColumn", "Ranking"]

SHOWN = 30  # fact: columns of a ranking that is printed


@dataclass(frozen=True)
class RankedColumn(Record):
    """What one column tells about the target.

    Parameters
    ----------
    name : str
    alone : InformationEstimate
        I(column; target) in nats.
    given_rest : InformationEstimate or None
        I(column; target | the other columns) in nats; the same as `alone` if there is no other, and None where it could
        not be asked (`Ranking.why_no_rest`) or is not known yet.
    pvalue_alone, pvalue_given_rest : float
        Of the analytic test of independence, alone and given the rest; NaN where there is no estimate.
    adjusted_alone, adjusted_given_rest : float
        The same, adjusted for the number of columns by Benjamini and Hochberg.
    not_detected : bool
        Whether, given the rest, independence is not rejected at the ranking's level: nothing was found, which is no
        proof that nothing is there. How much there may be is the upper end of the interval (`bound`).
    shows : str, default=""
        Where dependence given the rest shows: as "correlation", "bent", "spread", "any shape" or "changes with z".
        Empty where it was not tested.
    copy_of : str, default=""
        A column before it, or the target, of which this one is a strictly monotone function (of steps and labels:
        one to one). It is then left out of the rest, and has no figure given the rest.
    """

    name: str
    alone: InformationEstimate
    given_rest: InformationEstimate | None
    pvalue_alone: float
    pvalue_given_rest: float
    adjusted_alone: float
    adjusted_given_rest: float
    not_detected: bool
    shows: str = ""
    copy_of: str = ""

    @property
    def bound(self) -> float:
        """Nats that there may be given the rest: the upper end of the 95% interval; NaN where there is none."""
        return math.nan if self.given_rest is None else self.given_rest.confidence_interval().high

    @property
    def is_determined(self) -> bool:
        """Whether the rest determines the column, or the target, so that the information is 0."""
        return self.given_rest is not None and self.given_rest.value == self.given_rest.standard_error == 0.0

    @property
    def verdict(self) -> str:
        """What the test says given the rest, in a few words; empty where it rejects."""
        if self.copy_of:
            return f"a copy of {self.copy_of}"
        if self.is_determined:
            return "determined by the rest"
        return f"not detected: at most {self.bound:.3f}" if self.not_detected else ""

    def figures(self) -> dict[str, Any]:
        """Everything by name, alone and given the rest."""
        line: dict[str, Any] = {"column": self.name}
        for suffix, estimate, raw, adjusted in (
            ("alone", self.alone, self.pvalue_alone, self.adjusted_alone),
            ("given_rest", self.given_rest, self.pvalue_given_rest, self.adjusted_given_rest),
        ):
            low, high = (math.nan, math.nan) if estimate is None else estimate.confidence_interval()
            line |= {
                f"information_{suffix}": None if estimate is None else estimate.value,
                f"standard_error_{suffix}": None if estimate is None else estimate.standard_error,
                f"low_{suffix}": low,
                f"high_{suffix}": high,
                f"pvalue_{suffix}": raw,
                f"adjusted_pvalue_{suffix}": adjusted,
                f"base_{suffix}": None if estimate is None else estimate.base,
                f"n_{suffix}": None if estimate is None else estimate.n_samples,
                f"correlation_{suffix}": None if estimate is None else estimate.correlation,
                f"explained_{suffix}": None if estimate is None else estimate.explained,
            }
        kinds = self.alone.kinds[0]  # none are recorded if all are continuous
        kind = kinds[0] if kinds else "continuous"
        return {**line, "not_detected": self.not_detected, "copy_of": self.copy_of or None, "kind": kind}

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        rest = self.given_rest
        told = "" if rest is None else f"given the rest {figure(rest.value, rest.standard_error, 'nats')}"
        alone = f"{figure(self.alone.value, self.alone.standard_error, 'nats')} alone"
        return card(self.name, alone, [told, self.verdict])


@dataclass(frozen=True, repr=False)
class Ranking(Record):
    """Columns by what they tell about the target on their own, the most first.

    Parameters
    ----------
    target : str
    columns : tuple of RankedColumn
    alpha : float
        The level of `RankedColumn.not_detected`, a false discovery rate.
    n_samples, n_dropped : int
        Rows that have all columns, which are used given the rest, and the others. How many rows a figure alone has is
        in its own `InformationEstimate.n_samples`.
    screened : tuple of str, default=()
        With very many columns, those that stand for the rest: every column is conditioned on these, except itself.
        Empty if the rest is all other columns.
    why_no_rest : str, default=""
        Why there are no figures given the rest, if so.
    left_out : dict of str to str
        Columns that were not ranked, and why: they hold dates or objects, are constant or identifiers, or have too few
        values.
    hints : dict of str to str
        Columns whose numbers look like something else: codes of labels, serial numbers, codes for missing values.
    backend : str, default="pandas"
        The library of `to_frame`.
    explain : callable, optional
        From the name of a column to its `Explanation`, for `why`; not written as JSON, and ignored by ``==``.
    tied : tuple of str, default=()
        The first columns, if they cannot be told apart by what they tell alone, at level alpha.
    comparer : callable, optional
        Makes the `Difference` of two columns, for `compare`; ignored by ``==``.
    unfinished : str, default=""
        What is not known yet, of a ranking that was interrupted or that is still being made.
    """

    target: str
    columns: tuple[RankedColumn, ...]
    alpha: float
    n_samples: int
    n_dropped: int
    screened: tuple[str, ...] = ()
    why_no_rest: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    backend: str = "pandas"
    explain: Callable[[str], Explanation] | None = field(default=None, compare=False)
    tied: tuple[str, ...] = ()
    comparer: Callable[[str, str], Difference] | None = field(default=None, compare=False)
    unfinished: str = ""

    def compare(self, first: str, second: str) -> Difference:
        """How much more one column tells about the target alone than another: in nats, with an interval and a p-value.

        Parameters
        ----------
        first, second : str
            Names of ranked columns.

        Returns
        -------
        Difference
        """
        if self.comparer is None:
            raise ValueError("this ranking holds no rows to compare; use pydine.compare, or what pydine.rank returns.")
        return self.comparer(first, second)

    @property
    def ties(self) -> str:
        """Which columns cannot be told apart, in a sentence; empty if the first tells more than all others."""
        if not self.tied:
            return ""
        return f"The first {len(self.tied)} columns cannot be told apart: {', '.join(self.tied)}."

    def __iter__(self) -> Iterator[RankedColumn]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        rows = f"{self.n_samples:,} rows" + (f" with all columns, {self.n_dropped:,} without" if self.n_dropped else "")
        columns = "1 column" if len(self) == 1 else f"{len(self)} columns"
        lines = [f"{columns} by their information about {self.target}, in nats, {rows}:"]
        for column in self.columns[:SHOWN]:
            rest = column.given_rest
            told = "" if rest is None else f"{figure(rest.value, rest.standard_error)} given the rest"
            alone, verdict = figure(column.alone.value, column.alone.standard_error), column.verdict
            said = ", ".join(filter(None, (told, verdict)))
            lines.append(f"  {column.name:<{width}}  {alone} alone  {said}".rstrip())
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more")
        lines += [f"  {sentence}" for sentence in (self.ties, self.why_no_rest, self.unfinished) if sentence]
        return "\n".join([*lines, *(f"  {name}: {hint}" for name, hint in self.hints.items())])

    def _repr_html_(self) -> str:
        """A table for notebooks, with intervals drawn."""
        ends = [(c.alone, *([] if c.given_rest is None else [c.given_rest])) for c in self.columns]
        limit = strip_end([(e.value, e.standard_error, e.confidence_interval().high) for pair in ends for e in pair])
        rows = []
        for column, pair in list(zip(self.columns, ends, strict=True))[:SHOWN]:
            drawn = zip(("alone", "rest"), pair, strict=False)
            bars = strip([(kind, e.value, *e.confidence_interval()) for kind, e in drawn], limit)
            rest = "–" if column.given_rest is None else figure(pair[1].value, pair[1].standard_error)
            alone = figure(column.alone.value, column.alone.standard_error)
            rows.append([column.name, bars, alone, rest, pvalue_text(column.adjusted_given_rest)])
        more = f"{len(self) - SHOWN:,} more columns. " if len(self) > SHOWN else ""
        more += f"{self.ties} " if self.ties else ""
        note = f"{more}Light: alone, dark: given the rest; 95% intervals. {self.n_samples:,} rows have all columns."
        note = " ".join(filter(None, (note, self.why_no_rest, self.unfinished)))
        header = ["column", f"0 to {limit:.2g} nats", "alone", "given the rest", "adjusted p"]
        return table(f"What tells about {self.target}", header, rows, note, strips=1)

    def plot(self, axes: Any = None) -> Any:
        """Draw what columns tell alone and given the rest, with 95% intervals; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return draw_ranking(self, axes)

    @property
    def not_detected(self) -> tuple[str, ...]:
        """The columns for which nothing was found beyond what the rest tells."""
        return tuple(column.name for column in self.columns if column.not_detected)

    def why(self, name: str) -> Explanation:
        """Say which of the other columns take over what a column tells: what is left of it after each.

        Parameters
        ----------
        name : str
            One of the columns of the ranking.

        Returns
        -------
        Explanation
            With the linear partial correlation beside it; `Explanation.plot` shows what is left, in the units of the
            columns.
        """
        if self.explain is None:
            raise ValueError("why needs the data, which a ranking from a file does not have; use pydine.why.")
        return self.explain(name)

    def to_frame(self) -> Any:
        """A row for each column, the most informative first, in the library of the data that were ranked.

        Returns
        -------
        frame
            With values, standard errors, ends of 95% intervals and p-values, ``..._alone`` and ``..._given_rest``.
        """
        rows = [column.figures() for column in self.columns]
        return as_frame({key: [row[key] for row in rows] for key in rows[0]} if rows else {}, self.backend)

"""What every door asks of columns before anything is estimated: finite rows, columns that vary, a word about ties."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.callers import level_of_caller
from pydine.inputs.columns import Columns

# guard: rows that are needed beyond the number of columns, for the covariance to have degrees of freedom left.
SPARE_ROWS = 10
# answer: most directions of a side; one with more columns is reduced to those that stand out. Flows of so many columns
# given each other take a second, and hardly any shape is learned of more.
MOST_DIRECTIONS = 20
TRANSPOSE_HINT = " (a matrix with observations as columns needs transposing)"
# guard: sums of squares of what lies between stay clear of float64's overflow and underflow, whatever n.
SMALLEST_SPREAD, LARGEST_VALUE = 1e-140, 1e140

Kept = NDArray[np.bool_] | None  # which rows are left, if not all


class LeftOutWarning(UserWarning):
    """Columns of a table that nothing can be learned from, such as constants and identifiers, are left out."""


class OrderWarning(UserWarning):
    """Columns that were passed one by one have the same index in another order."""


class CopiesWarning(UserWarning):
    """Rows stand in the data more than once."""


class FewRowsWarning(UserWarning):
    """A column has many labels, and few rows for each."""


class TiesWarning(UserWarning):
    """Columns that are declared continuous hold tied values.

    Attributes
    ----------
    shares : mapping of str to float
        For every column concerned, the share of its rows that have their value in common with another row.
    """

    shares: Mapping[str, float]


def check_nan_policy(nan_policy: str) -> None:
    """Refuse what is not one of the two policies."""
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit', but got {nan_policy!r}.")


def finite_rows(blocks: list[Columns], *, omit: bool) -> tuple[list[Columns], Kept]:
    """Refuse rows with NaN or infinity, or leave them out of every block and say which are kept."""
    keep = np.ones(len(blocks[0].values), dtype=np.bool_)
    for block in blocks:
        finite = np.isfinite(block.values)
        if not (omit or finite.all()):
            row, i = np.argwhere(~finite)[0]
            count = int((~finite.all(axis=1)).sum())
            raise ValueError(
                f"{block.label} must hold finite numbers, but {count} of its {len(keep)} rows hold NaN or "
                f"infinity, the first in row {row} ({block.where(i)} is {block.values[row, i]}); correct those "
                "rows, or pass nan_policy='omit' to leave them out."
            )
        keep &= finite.all(axis=1)
    if keep.all():
        return blocks, None
    return [replace(block, values=block.values[keep]) for block in blocks], keep


def check_range(block: Columns) -> None:
    """Refuse constant columns, and those whose squares would leave the range of float64."""
    lows, highs = block.values.min(axis=0), block.values.max(axis=0)
    for i, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        if low == high:
            labels = block.levels.get(block.names[i])
            value = f"{low:g}" if labels is None else repr(labels[int(low)])
            raise ValueError(
                f"{block.where(i)} must vary, but is constant ({value} in every row); leave the column out."
            )
        if max(-low, high) > LARGEST_VALUE or high - low < SMALLEST_SPREAD:
            raise ValueError(
                f"{block.where(i)} must stay within ±{LARGEST_VALUE:g} and vary by more than "
                f"{SMALLEST_SPREAD:g} for float64 to square it, but runs from {low:g} to {high:g}; rescale "
                "it or take logarithms, which does not change the information."
            )


def tied_share(column: NDArray[np.float64]) -> float:
    """Share of the rows of a column, shape (n,), that have their value in common with another row."""
    counts = np.unique(column, return_counts=True)[1]
    return float(counts[counts > 1].sum() / len(column))


def warn_of_ties(tied: Sequence[tuple[str, str, float]]) -> None:
    """Warn once of columns that are declared continuous but have ties: where, name, and share of tied rows."""
    if not tied:
        return
    shown = [f"{where} ({share:.0%} of the rows)" for where, _, share in tied[:5]]
    more = [f"{len(tied) - 5} more"] if len(tied) > 5 else []
    warning = TiesWarning(
        f"Tied values in {enumeration(shown + more)}, which kinds= says are continuous: the estimate is that of a "
        "smoothed variable."
    )
    warning.shares = {name: share for _, name, share in tied}
    warnings.warn(warning, stacklevel=level_of_caller())


def warn_of_copies(copies: int, n: int) -> None:
    """Warn that so many of n rows are copies of others."""
    many = f"{copies:,} of the {n:,} rows are copies" if copies > 1 else f"One of the {n:,} rows is a copy"
    warnings.warn(
        f"{many} of others: each distinct row is counted once, and intervals are those of {n - copies:,} rows.",
        CopiesWarning,
        stacklevel=level_of_caller(),
    )


def warn_of_index(values: Sequence[Any]) -> None:
    """Warn if columns or frames of pandas have the same index in another order: rows are matched by position."""
    indexed = [v.index for v in values if type(v).__module__.partition(".")[0] == "pandas" and hasattr(v, "iloc")]
    for other in indexed[1:]:
        first = indexed[0]
        if len(first) == len(other) and not first.equals(other) and first.sort_values().equals(other.sort_values()):
            warnings.warn(
                "The same index comes in another order, but rows are matched by position, not by index; to match by "
                "index, pass columns of one frame, or y.reindex(x.index).",
                OrderWarning,
                stacklevel=level_of_caller(),
            )
            return


def warn_of_labels(thin: Mapping[str, int], n: int) -> None:
    """Warn once of columns with few rows a label: where, and how many labels they have in n rows."""
    if not thin:
        return
    shown = [f"{where} ({count:,} labels, {n / count:.1f} rows each)" for where, count in list(thin.items())[:5]]
    more = [f"{len(thin) - 5} more"] if len(thin) > 5 else []
    warnings.warn(
        f"Few rows per label in {enumeration(shown + more)}: estimates for rare labels are shrunk "
        "towards each other, and intervals are wide; coarser labels would narrow them.",
        FewRowsWarning,
        stacklevel=level_of_caller(),
    )


def warn_left_out(reasons: Mapping[str, str]) -> None:
    """Say once which columns of a table are left out, and why."""
    shown = [f"{where} {reason}" for where, reason in list(reasons.items())[:5]]
    more = f", and {len(reasons) - 5} more" if len(reasons) > 5 else ""
    warnings.warn(f"Left out: {'; '.join(shown)}{more}.", LeftOutWarning, stacklevel=level_of_caller())


def check_rows(labels: Sequence[str], n: int, needed: int, columns: int, n_dropped: int = 0) -> None:
    """Refuse n rows of so many columns together if an estimate needs more, which counts `needed` of the columns."""
    if n >= needed + SPARE_ROWS:
        return
    rows, who = f"{n} rows" + (f" ({n_dropped} with NaN or infinity were left out)" if n_dropped else ""), enumeration
    if columns > n:
        raise ValueError(
            f"{who(labels)} have {columns} columns together but only {rows}, and with more dimensions than rows "
            f"nothing can be estimated; pass more rows or fewer columns{TRANSPOSE_HINT}."
        )
    raise ValueError(
        f"{who(labels)} must have at least {needed + SPARE_ROWS} rows, {SPARE_ROWS} more than their columns "
        f"together, but have {rows}; pass more rows or fewer columns."
    )


def enumeration(items: Sequence[object]) -> str:
    """Write "a", "a and b" or "a, b and c"."""
    *head, last = map(str, items)
    return f"{', '.join(head)} and {last}" if head else last

"""The arguments x, y and z, read and checked: from what people have to one ``Sample`` of clean arrays."""

from __future__ import annotations

import hashlib
import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.columns import Columns, Table, read_columns
from pydine.types import FloatArray

__all__ = ["Sample", "TiesWarning", "read_rows", "read_sample"]

# Rows that are needed beyond the number of columns, for the covariance to have degrees of freedom left.
SPARE_ROWS = 10
# A column is reported when more than this share of its rows have a value in common with another row.
TIED_SHARE = 0.05
# Sums of squares of what lies between stay clear of float64's overflow and underflow, whatever n.
SMALLEST_SPREAD, LARGEST_VALUE = 1e-140, 1e140

TRANSPOSE_HINT = " (a matrix with observations as columns needs transposing)"
PACKAGE_FOLDER = str(Path(__file__).parents[1]) + os.sep


class TiesWarning(UserWarning):
    """Columns hold tied values, though the estimator assumes continuous variables.

    Attributes
    ----------
    shares : mapping of str to float
        For every column concerned, the share of its rows that have their value in common with another row.
    """

    shares: Mapping[str, float]


GIVEN_LABELS = ("z", "given")  # arguments that hold what is conditioned on
Kept = NDArray[np.bool_] | None  # which rows are left, if not all


@dataclass(frozen=True, eq=False)
class Sample:
    """Clean observations of X, Y and Z, one row each.

    Parameters
    ----------
    x, y, z : ndarray of float64, shapes (n, dx), (n, dy) and (n, dz)
        C-contiguous, finite, no column constant; dz = 0 when nothing is conditioned on. They may share memory
        with the caller's data: not to be written to.
    names : tuple of tuple of str
        The column names of x, of y and of z.
    kept : ndarray of bool, shape (rows of the data,), optional
        Which rows of the data these are, if some were left out because of NaN or infinity.
    """

    x: FloatArray
    y: FloatArray
    z: FloatArray
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    kept: Kept = None

    @property
    def n_dropped(self) -> int:
        """Rows that were left out because of NaN or infinity."""
        return 0 if self.kept is None else int((~self.kept).sum())

    @property
    def positions(self) -> NDArray[np.intp]:
        """Where the rows were in the data, counted from 0, shape (n,)."""
        return np.arange(self.n_samples) if self.kept is None else np.flatnonzero(self.kept)

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return len(self.x)

    @property
    def dimensions(self) -> tuple[int, int, int]:
        """Numbers of columns (dx, dy, dz)."""
        return self.x.shape[1], self.y.shape[1], self.z.shape[1]


def read_sample(x: Any, y: Any, z: Any = None, *, data: Any = None, nan_policy: str = "raise") -> Sample:
    """Read x, y and z into arrays and refuse what cannot be estimated.

    Rows are matched by position: an index, as pandas has it, is not looked at.

    Parameters
    ----------
    x, y : array, list, series or frame, shapes (n,) or (n, dx) and (n,) or (n, dy)
        Observations of X and Y: NumPy, anything with ``__array__``, (nested) lists, or columns and frames of
        pandas, polars and pyarrow. With ``data``: a column name or a list of names.
    z : as x, shape (n,) or (n, dz), optional
        Observations of the variables to condition on. No columns at all means the same as None.
    data : frame, mapping of columns or 2-D array, optional
        Where names are looked up. In an array, columns go by their position.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with rows that hold NaN, infinity or a missing value: refuse, or leave them out of x, y and
        z together and count them in ``n_dropped``.

    Returns
    -------
    Sample
        Finite float64 arrays with as many rows each.

    Raises
    ------
    ValueError
        If the input cannot be read or nothing could be estimated from it. The message says what to do.

    Warns
    -----
    TiesWarning
        Once, if more than 5% of the rows of a column have a value in common with another row.
    """
    check_nan_policy(nan_policy)
    blocks, kept = _read_blocks(x, y, z, data, omit=nan_policy == "omit")
    _check_rows(blocks, 0 if kept is None else int((~kept).sum()))
    for block in blocks:
        check_range(block)
    orders = [[order_of(column) for column in block.values.T] for block in blocks]
    check_copies(blocks, orders)
    warn_of_ties(blocks, orders)
    return _as_sample(blocks, kept)


def check_nan_policy(nan_policy: str) -> None:
    """Refuse what is not one of the two policies."""
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit', but got {nan_policy!r}.")


def read_rows(x: Any, y: Any, z: Any = None, *, data: Any = None) -> Sample:
    """Read rows for a model that is fitted already, as `read_sample` does, without asking what a fit needs.

    Few rows, constant columns and ties are fine here; NaN, infinity and unequal lengths are not.
    """
    return _as_sample(*_read_blocks(x, y, z, data, omit=False))


def _read_blocks(x: Any, y: Any, z: Any, data: Any, *, omit: bool) -> tuple[list[Columns], Kept]:
    table = None if data is None else Table.read(data)
    blocks = [read_columns("x", x, table), read_columns("y", y, table)]
    if z is not None and (given := read_columns("z", z, table)).names:
        blocks.append(given)
    _check_shapes(blocks)
    return finite_rows(blocks, omit=omit)


def _as_sample(blocks: Sequence[Columns], kept: Kept) -> Sample:
    nothing = Columns("z", (), np.empty((len(blocks[0].values), 0)))
    read_x, read_y, read_z = (*blocks, nothing)[:3]
    return Sample(
        x=read_x.values,
        y=read_y.values,
        z=read_z.values,
        names=(read_x.names, read_y.names, read_z.names),
        kept=kept,
    )


def _check_shapes(blocks: Sequence[Columns]) -> None:
    for block in blocks:
        if not block.names:
            raise ValueError(f"{block.label} must have at least one column, but has none; name or pass one.")
    lengths = [len(block.values) for block in blocks]
    if len(set(lengths)) > 1:
        labels = enumeration([block.label for block in blocks])
        raise ValueError(
            f"{labels} must have the same number of rows, one for each observation, but have "
            f"{enumeration(lengths)}; pass as many rows in each{TRANSPOSE_HINT}."
        )


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
                f"infinity, the first in row {row} ({block.where(i)} is {block.values[row, i]}); mend those "
                "rows, or pass nan_policy='omit' to leave them out."
            )
        keep &= finite.all(axis=1)
    if keep.all():
        return blocks, None
    return [Columns(block.label, block.names, block.values[keep]) for block in blocks], keep


def _check_rows(blocks: Sequence[Columns], n_dropped: int) -> None:
    n = len(blocks[0].values)
    columns = sum(len(block.names) for block in blocks)
    if n >= columns + SPARE_ROWS:
        return
    labels = enumeration([block.label for block in blocks])
    rows = f"{n} rows" + (f" ({n_dropped} with NaN or infinity were left out)" if n_dropped else "")
    if columns > n:
        raise ValueError(
            f"{labels} have {columns} columns together but only {rows}, and with more dimensions than rows "
            f"nothing can be estimated; pass more rows or fewer columns{TRANSPOSE_HINT}."
        )
    raise ValueError(
        f"{labels} must have at least {columns + SPARE_ROWS} rows, {SPARE_ROWS} more than their columns "
        f"together, but have {rows}; pass more rows or fewer columns."
    )


def check_range(block: Columns) -> None:
    """Refuse constant columns, and those whose squares would leave the range of float64."""
    lows, highs = block.values.min(axis=0), block.values.max(axis=0)
    for i, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        if low == high:
            raise ValueError(
                f"{block.where(i)} must vary, but is constant ({low:g} in every row); leave the column out."
            )
        if max(-low, high) > LARGEST_VALUE or high - low < SMALLEST_SPREAD:
            raise ValueError(
                f"{block.where(i)} must stay within ±{LARGEST_VALUE:g} and vary by more than "
                f"{SMALLEST_SPREAD:g} for float64 to square it, but runs from {low:g} to {high:g}; rescale "
                "it or take logarithms, which does not change the information."
            )


class Order(NamedTuple):
    """What the order of a column's values tells."""

    signature: bytes  # the same for columns that are strictly monotone functions of each other
    reversed: bool  # whether the signature was taken of the reversed order
    tied: float  # share of rows with a value in common with another row


def order_of(column: FloatArray) -> Order:
    """Sort a column, shape (n,), once, for its ties and for a signature of its ranks."""
    order = np.argsort(column)
    ascending = column[order]
    steps = ascending[1:] != ascending[:-1]
    alone = np.concatenate([[True], steps]) & np.concatenate([steps, [True]])
    ranks = np.empty(len(column), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(steps)])
    top = int(ranks[order[-1]])
    # Ranks or reversed ranks: the signature takes those whose first entry off the middle is the smaller.
    first = int(np.argmax(2 * ranks != top))
    reverse = 2 * int(ranks[first]) > top
    signature = hashlib.blake2b((top - ranks if reverse else ranks).data, digest_size=16).digest()
    return Order(signature, reverse, float(np.mean(~alone)))


def check_copies(blocks: Sequence[Columns], orders: Sequence[Sequence[Order]]) -> None:
    """Refuse a column that is another one over again, up to a strictly monotone function."""
    seen: dict[bytes, tuple[Columns, int, bool]] = {}
    # z goes first: a column of x or y that z holds too is refused for that, whatever else it equals.
    z_first = sorted(zip(blocks, orders, strict=True), key=lambda pair: pair[0].label not in GIVEN_LABELS)
    for block, block_orders in z_first:
        for i, order in enumerate(block_orders):
            earlier, j, was_reversed = seen.setdefault(order.signature, (block, i, order.reversed))
            if earlier is block and j == i:
                continue
            if np.array_equal(earlier.values[:, j], block.values[:, i]):
                relation = "holds the same values as"
            else:
                direction = "increasing" if was_reversed == order.reversed else "decreasing"
                relation = f"is a strictly {direction} function of"
            raise ValueError(
                f"{block.where(i)} {relation} {earlier.where(j)} in all {len(block.values)} rows, "
                f"{_consequence(earlier.label, block.label)}."
            )


def _consequence(earlier: str, label: str) -> str:
    if earlier == label:
        return f"so that it adds nothing and makes {label} singular; leave one of the two out"
    if earlier in GIVEN_LABELS:
        return f"so that it is constant once {earlier} is known; leave it out of {label} or out of {earlier}"
    return "so that the information is infinite as far as they tell; leave it out of x or out of y"


def warn_of_ties(blocks: Sequence[Columns], orders: Sequence[Sequence[Order]]) -> None:
    tied = [
        (block.where(i), block.names[i], order.tied)
        for block, block_orders in zip(blocks, orders, strict=True)
        for i, order in enumerate(block_orders)
        if order.tied > TIED_SHARE
    ]
    if not tied:
        return
    shown = [f"{where} ({share:.0%} of the rows)" for where, _, share in tied[:5]]
    more = [f"{len(tied) - 5} more"] if len(tied) > 5 else []
    warning = TiesWarning(
        f"Tied values in {enumeration(shown + more)}: the estimator assumes continuous variables and gives "
        "tied rows the average of their ranks, so that the estimate is that of a smoothed variable and may "
        "be too small or too large. Take finer measurements if there are any, or add a little noise to those "
        "columns and see how far the estimate moves."
    )
    warning.shares = {name: share for _, name, share in tied}
    warnings.warn(warning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Count how far up the stack, as seen from the calling function, the package ends."""
    level = 0
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
        level += 1
    return level


def enumeration(items: Sequence[object]) -> str:
    """Write "a", "a and b" or "a, b and c"."""
    *head, last = map(str, items)
    return f"{', '.join(head)} and {last}" if head else last

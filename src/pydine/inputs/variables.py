"""A table read as variables: every column one, or several columns together as a group; and what is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pydine.inputs.columns import Columns, Table
from pydine.inputs.sample import (
    SPARE_ROWS,
    Kept,
    Sample,
    check_copies,
    check_nan_policy,
    check_range,
    finite_rows,
    order_of,
    warn_of_ties,
)
from pydine.types import FloatArray

REST = "rest"


@dataclass(frozen=True, eq=False)
class Variables:
    """Clean observations of several variables, and perhaps of others that are given.

    Parameters
    ----------
    columns : ndarray of float64, shape (n, c)
    names : tuple of str
        Of the columns.
    members : dict of str to tuple of int
        The variables, and which columns belong to each.
    given : ndarray of float64, shape (n, dz)
    given_names : tuple of str
    kept : ndarray of bool, shape (rows of the data,), optional
        Which rows of the data these are, if some were left out because of NaN or infinity.
    """

    columns: FloatArray
    names: tuple[str, ...]
    members: dict[str, tuple[int, ...]]
    given: FloatArray
    given_names: tuple[str, ...]
    kept: Kept = None

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return len(self.columns)

    @property
    def n_dropped(self) -> int:
        """Rows that were left out because of NaN or infinity."""
        return 0 if self.kept is None else int((~self.kept).sum())

    @property
    def sizes(self) -> list[int]:
        """How many columns each variable has."""
        return [len(columns) for columns in self.members.values()]

    def of_variable(self, name: str) -> FloatArray:
        """The columns of a variable, shape (n, d)."""
        return np.ascontiguousarray(self.columns[:, list(self.members[name])])

    def pair(self, x: str, y: str, rest: bool = False) -> Sample:
        """Two variables as a sample, given what is given or, if `rest`, all other variables."""
        others = [i for name, columns in self.members.items() if name not in (x, y) for i in columns] if rest else []
        z = np.ascontiguousarray(self.columns[:, others]) if rest else self.given
        z_names = tuple(self.names[i] for i in others) if rest else self.given_names
        names = [tuple(self.names[i] for i in self.members[name]) for name in (x, y)]
        return Sample(self.of_variable(x), self.of_variable(y), z, (names[0], names[1], z_names), self.kept)


def read_variables(
    data: Any,
    given: Any = None,
    groups: Mapping[str, Sequence[Any]] | None = None,
    nan_policy: str = "raise",
) -> Variables:
    """Read a table into variables and refuse what cannot be estimated.

    Parameters
    ----------
    data : frame, mapping of columns or array of shape (n, p)
    given : column name or list of names, or ``"rest"``, optional
        Columns to condition on; they are no variables then. With ``"rest"``, the rows must suffice to condition every
        pair on all other columns.
    groups : mapping of str to list of column names, optional
        Variables of several columns. Columns in no group are variables by themselves.
    nan_policy : {"raise", "omit"}

    Returns
    -------
    Variables

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
    table = Table.read(data)
    is_rest = isinstance(given, str) and given == REST
    fixed = None if given is None or is_rest else table.select("given", given)
    grouped = {str(name): table.select(f"groups[{name!r}]", columns) for name, columns in (groups or {}).items()}
    taken = {name for block in [*grouped.values(), *([] if fixed is None else [fixed])] for name in block.names}
    singles = table.select("data", list(table.names))
    left = [i for i, name in enumerate(singles.names) if name not in taken]
    singles = Columns("data", tuple(singles.names[i] for i in left), singles.values[:, left])
    _check_names(singles, grouped, fixed)
    blocks = [singles, *grouped.values(), *([] if fixed is None else [fixed])]
    blocks, kept = finite_rows(blocks, omit=nan_policy == "omit")
    variables = _assemble(blocks[0], dict(zip(grouped, blocks[1:], strict=False)), fixed and blocks[-1], kept)
    _check_rows(variables, is_rest)
    _check_columns(variables, blocks)
    return variables


def _assemble(singles: Columns, groups: dict[str, Columns], given: Columns | None, kept: Kept) -> Variables:
    members: dict[str, tuple[int, ...]] = {name: (i,) for i, name in enumerate(singles.names)}
    start = len(members)
    for name, block in groups.items():
        members[name] = tuple(range(start, start + len(block.names)))
        start += len(block.names)
    columns = np.hstack([singles.values, *(block.values for block in groups.values())])
    names = (*singles.names, *(name for block in groups.values() for name in block.names))
    z = np.empty((len(columns), 0)) if given is None else given.values
    return Variables(columns, names, members, z, () if given is None else given.names, kept)


def _check_names(singles: Columns, groups: dict[str, Columns], given: Columns | None) -> None:
    if len(singles.names) + len(groups) < 2:
        raise ValueError(
            f"data must have at least two variables beside what is given, but has {len(singles.names) + len(groups)}; "
            "pass more columns."
        )
    seen: dict[str, str] = dict.fromkeys(given.names, "given") if given is not None else {}
    for group, block in groups.items():
        if group in singles.names:
            raise ValueError(f"groups must not be named as a column is, but {group!r} is both; rename the group.")
        for name in block.names:
            if name in seen:
                raise ValueError(f"column {name!r} must be in one place only, but is in {seen[name]} and in {group!r}.")
            seen[name] = repr(group)


def _check_rows(variables: Variables, is_rest: bool) -> None:
    largest = sorted(variables.sizes)[-2:]
    needed = variables.columns.shape[1] if is_rest else sum(largest) + variables.given.shape[1]
    if variables.n_samples >= needed + SPARE_ROWS:
        return
    dropped = f" ({variables.n_dropped} with NaN or infinity were left out)" if variables.n_dropped else ""
    raise ValueError(
        f"data must have at least {needed + SPARE_ROWS} rows, {SPARE_ROWS} more than the columns that enter one "
        f"estimate, but has {variables.n_samples}{dropped}; pass more rows or condition on fewer columns."
    )


def _check_columns(variables: Variables, blocks: Sequence[Columns]) -> None:
    """Refuse constant columns, copies within a group, and columns that what is given holds already.

    Copies among variables are no error: their information is infinite, and said to be.
    """
    for block in blocks:
        check_range(block)
    orders = [[order_of(column) for column in block.values.T] for block in blocks]
    has_given = variables.given.shape[1] > 0
    given, given_orders = blocks[-1], orders[-1]
    for block, block_orders in zip(blocks[1:], orders[1:], strict=True):
        check_copies([block], [block_orders])
    for block, block_orders in zip(blocks[:-1] if has_given else (), orders, strict=False):
        for i, order in enumerate(block_orders):
            column = Columns(block.label, block.names[i : i + 1], block.values[:, i : i + 1])
            check_copies([column, given], [[order], given_orders])
    warn_of_ties(blocks, orders)

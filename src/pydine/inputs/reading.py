"""Whatever people pass, read into one clean table and checked: the arguments of a question, or a whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.angles import Cut, angle_kind, opened
from pydine.inputs.checks import (
    MOST_DIRECTIONS,
    SPARE_ROWS,
    TRANSPOSE_HINT,
    Kept,
    check_nan_policy,
    check_range,
    check_rows,
    enumeration,
    finite_rows,
    tied_share,
    warn_left_out,
    warn_of_copies,
    warn_of_index,
    warn_of_labels,
    warn_of_ties,
)
from pydine.inputs.columns import Columns, Source, read_columns
from pydine.inputs.copies import distinct_rows
from pydine.inputs.dependence import INDEPENDENTLY, Dependence, repeated, warn_of_order, warn_of_repeats, with_means
from pydine.inputs.kinds import (
    MOST_LEVELS,
    Kind,
    Kinds,
    check_kinds,
    count_of,
    identifier,
    is_identifier,
    is_thin,
    kind_of,
    periods_of,
    pooled,
)
from pydine.inputs.table import Question, Table
from pydine.inputs.weights import Told
from pydine.sampling import INDEPENDENT, Rows

NAMES_HINT = ", or pass data= if these are the names of columns"
REST = "rest"
OPTIONAL = ("z", "given")  # fact: arguments that may have no columns

Coding = dict[str, int] | Cut
Codings = Mapping[str, Coding]
Labels = Sequence[Coding | None]  # of the columns of a block: the numbers of their labels, or where angles are cut


# --- the arguments x, y and z -----------------------------------------------------------------------------------------


def read_question(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    left_out: dict[str, str] | None = None,
    dependence: Dependence = INDEPENDENTLY,
) -> Question:
    """Read x, y and z into arrays and refuse what cannot be estimated.

    Rows are matched by position, whatever their index, as pandas has it; a warning tells of the same index in another
    order.

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
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another (`inputs.kinds`).
    left_out : dict, optional
        Passed if the columns of x will be asked about one by one: those that nothing can be learned from (dates,
        objects, constants, identifiers, no values) are then left out, with a warning, and not refused. Their names are
        entered, with the reason.
    dependence : Dependence
        How rows depend on each other.

    Returns
    -------
    Question
        About a new table: the columns of x, then of y, then of z, finite and with as many rows each.

    Raises
    ------
    ValueError
        If the input cannot be read or nothing could be estimated from it. The message says what to do.

    Warns
    -----
    TiesWarning
        Once, if a column is declared continuous whose values repeat.
    CopiesWarning
        If rows stand more than once; each is counted once.
    OrderWarning
        If x, y and z have the same index in another order.
    LeftOutWarning
        If columns are left out.
    """
    sides = {"x": x, "y": y, "z": z}
    table, places = read_sides(
        sides, data=data, nan_policy=nan_policy, kinds=kinds, left_out=left_out, dependence=dependence
    )
    return Question(table, places["x"], places["y"], places["z"])


def read_sides(
    sides: Mapping[str, Any],
    *,
    data: Any = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    left_out: dict[str, str] | None = None,
    dependence: Dependence = INDEPENDENTLY,
) -> tuple[Table, dict[str, tuple[int, ...]]]:
    """Read several arguments into one table of the rows that all of them have, as `read_question` does.

    Parameters
    ----------
    sides : mapping of str to argument
        By what messages call them; ``"z"`` and ``"given"`` may be None, and have no columns then.
    data, nan_policy, kinds, left_out, dependence
        As in `read_question`.

    Returns
    -------
    table : Table
    places : dict of str to tuple of int
        Which columns of the table each argument is.
    """
    check_nan_policy(nan_policy)
    source = None if data is None else Source.read(data)
    blocks, kept = _read_blocks(sides, source, omit=nan_policy == "omit", left_out=left_out)
    n = len(blocks[0].values) if kept is None else len(kept)
    rows, weights = dependence.read(source, n, kept), dependence.weighing(source, n)
    if dependence.within is not None:
        blocks, kept, rows = _only(repeated(rows), blocks, kept, rows)
    blocks, kept, rows, counted = weights.expanded(Told(blocks, kept, rows))
    _check_rows(blocks, 0 if kept is None else int((~kept).sum()))
    for block in blocks:
        check_range(block)
    blocks, codings, unclear = with_kinds(blocks, _known(kinds, left_out))
    if left_out or unclear:
        blocks[0] = without_useless(blocks[0] if left_out is not None else blocks[0].only([]), unclear, left_out or {})
    if dependence.is_said:
        blocks = with_means(blocks, rows) if dependence.within else blocks
    else:
        warn_of_order(blocks)
        if source is not None:
            asked = blocks if left_out is None else blocks[1:]  # the others are whatever the table has
            warn_of_repeats(source, {name for block in asked for name in block.names})
        blocks, kept = without_copies(blocks, kept)
    blocks, kept, rows, counted = weights.counted(Told(blocks, kept, rows, counted))
    return replace(_as_table(blocks, kept, codings, rows), counted=counted), _places(blocks, sides)


def _only(some: NDArray[np.bool_], blocks: list[Columns], kept: Kept, rows: Rows) -> tuple[list[Columns], Kept, Rows]:
    """Some of the rows (n,) that are left."""
    places = np.flatnonzero(some)
    remaining = np.zeros(len(some) if kept is None else len(kept), dtype=np.bool_)
    remaining[(np.arange(len(some)) if kept is None else np.flatnonzero(kept))[places]] = True
    blocks = [replace(block, values=np.ascontiguousarray(block.values[places])) for block in blocks]
    return blocks, remaining, rows.only(places)


def read_rows(x: Any, y: Any, z: Any = None, *, data: Any = None, labels: Sequence[Labels] = ()) -> Question:
    """Read rows for a model that is fitted already, as `read_question` does, without asking what a fit needs.

    Few rows, constant columns and ties are fine here; NaN, infinity and unequal lengths are not. Labels get the numbers
    that they had in the fit, which `labels_of` says.
    """
    sides, source = {"x": x, "y": y, "z": z}, None if data is None else Source.read(data)
    blocks, kept = _read_blocks(sides, source, omit=False)
    blocks = [numbered(block, labels[i] if i < len(labels) else ()) for i, block in enumerate(blocks)]
    places = _places(blocks, sides)
    return Question(_as_table(blocks, kept, {}), places["x"], places["y"], places["z"])


def _known(kinds: Kinds | None, left_out: Mapping[str, str] | None) -> Kinds | None:
    """What is said of columns that are not left out."""
    return {key: kind for key, kind in kinds.items() if str(key) not in left_out} if kinds and left_out else kinds


def _read_blocks(
    sides: Mapping[str, Any], source: Source | None, *, omit: bool, left_out: dict[str, str] | None = None
) -> tuple[list[Columns], Kept]:
    """The arguments that are there; what nothing can be learned from among columns of the first is `left_out`."""
    if source is None:
        warn_of_index(list(sides.values()))
    asked = [label for label, value in sides.items() if value is not None or label not in OPTIONAL]
    read = [
        read_columns(label, sides[label], source)
        if source is None or i
        else source.select(label, sides[label], left_out)
        for i, label in enumerate(asked)
    ]
    if left_out and not read[0].names:
        name, reason = next(iter(left_out.items()))
        raise ValueError(f"{asked[0]} must have a usable column, but column {name!r} {reason}; name another one.")
    blocks = [block for block in read if block.names or block.label not in OPTIONAL]
    _check_shapes(blocks)
    return finite_rows(blocks, omit=omit)


def _places(blocks: Sequence[Columns], sides: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The columns of each argument in a table of these blocks; none for those that were left out."""
    places: dict[str, tuple[int, ...]] = dict.fromkeys(sides, ())
    start = 0
    for block in blocks:
        places[block.label] = tuple(range(start, start + len(block.names)))
        start += len(block.names)
    return places


def _check_shapes(blocks: Sequence[Columns]) -> None:
    for block in blocks:
        if not block.names:
            raise ValueError(f"{block.label} must have at least one column, but has none; name or pass one.")
    lengths = [len(block.values) for block in blocks]
    if len(set(lengths)) > 1:
        labels = enumeration([block.label for block in blocks])
        hint = NAMES_HINT if any(block.levels for block in blocks) else TRANSPOSE_HINT
        raise ValueError(
            f"{labels} must have the same number of rows, one for each observation, but have "
            f"{enumeration(lengths)}; pass as many rows in each{hint}."
        )


def _check_rows(blocks: Sequence[Columns], n_dropped: int) -> None:
    """Refuse too few rows for the columns that are left of sides of many, and for those given."""
    widths = [len(block.names) for block in blocks]
    columns = sum(min(width, MOST_DIRECTIONS) for width in widths[:2]) + sum(widths[2:])
    check_rows([block.label for block in blocks], len(blocks[0].values), columns, sum(widths), n_dropped)


def _as_table(blocks: Sequence[Columns], kept: Kept, codings: Codings, rows: Rows = INDEPENDENT) -> Table:
    kinds = [kind or Kind.CONTINUOUS for block in blocks for kind in block.kinds or (None,) * len(block.names)]
    if all(kind is Kind.CONTINUOUS for kind in kinds):
        kinds = []
    return Table.of([block.values for block in blocks], [block.names for block in blocks], kept, kinds, codings, rows)


# --- kinds of columns -------------------------------------------------------------------------------------------------


def with_kinds(
    blocks: Sequence[Columns], kinds: Kinds | None
) -> tuple[list[Columns], dict[str, Coding], dict[str, str]]:
    """Columns with the kind of each, as somebody says, as its type says, or as its values do; labels are numbered.

    Returns
    -------
    blocks : list of Columns
    codings : dict
        By the name of a nominal column: the number of each label. By that of an angle: where its circle is cut.
    unclear : dict
        By where a column is found: why nothing can be learned from it.
    """
    said = check_kinds(kinds, [name for block in blocks for name in block.names])
    found, unclear, thin, tied, periods = [], {}, {}, [], periods_of(kinds)
    codings: dict[str, Coding] = {}
    for block in blocks:
        values, every = block.values, []
        for i, name in enumerate(block.names):
            kind = said.get(name) or block.kind(i) or kind_of(values[:, i])
            _check_said(block, i, kind)
            if kind is Kind.CONTINUOUS and name in said and kind_of(values[:, i]) is not kind:
                tied.append((block.where(i), name, tied_share(values[:, i])))
            if kind is Kind.NOMINAL:
                if is_identifier(values[:, i]):
                    unclear[block.where(i)] = identifier(values[:, i])
                elif is_thin(values[:, i]):
                    thin[block.where(i)] = count_of(values[:, i])
                numbers, places = pooled(values[:, i])
                values = values if values is not block.values else values.copy()
                values[:, i] = numbers
                names = block.levels.get(name)
                codings[name] = {f"{v:g}" if names is None else names[int(v)]: k for v, k in places.items()}
            elif kind is Kind.ANGLE:
                values = values if values is not block.values else values.copy()
                values[:, i], codings[name] = opened(values[:, i], periods[name])
                kind = angle_kind(values[:, i])
            every.append(kind)
        found.append(replace(block, values=values, kinds=tuple(every)))
    warn_of_ties(tied)
    warn_of_labels(thin, len(blocks[0].values))
    return found, codings, unclear


def without_useless(block: Columns, unclear: Mapping[str, str], left_out: dict[str, str]) -> Columns:
    """Columns of a table, or of x, without identifiers, of which a warning tells, and of those left out before.

    Such columns elsewhere, or no columns left, are an error.
    """
    wheres = [block.where(i) for i in range(len(block.names))]
    left = [i for i, where in enumerate(wheres) if where not in unclear]
    elsewhere = [where for where in unclear if where not in wheres]
    if elsewhere or not left:
        where = (elsewhere or list(unclear))[0]
        raise ValueError(f"{where} {unclear[where]}; leave the column out, or set its kind with kinds=.")
    warn_left_out({f"column {name!r} of {block.label}": reason for name, reason in left_out.items()} | dict(unclear))
    left_out |= {name: unclear[wheres[i]] for i, name in enumerate(block.names) if i not in left}
    return block.only(left)


def without_copies(blocks: list[Columns], kept: Kept) -> tuple[list[Columns], Kept]:
    """Columns without rows that stand more than once (`copies`), of which a warning tells, and which rows are left."""
    columns = [column for block in blocks for column in block.values.T]
    kinds = [kind or Kind.CONTINUOUS for block in blocks for kind in block.kinds or (None,) * len(block.names)]
    distinct = distinct_rows(columns, [kind.is_continuous for kind in kinds])
    if distinct is None:
        return blocks, kept
    n, left = len(distinct), int(distinct.sum())
    if left < len(columns) + SPARE_ROWS:
        raise ValueError(
            f"{enumeration([block.label for block in blocks if block.names])} must have at least "
            f"{len(columns) + SPARE_ROWS} different rows, but have {left} and copies of them; pass more rows."
        )
    warn_of_copies(n - left, n)
    every = np.ones(n, dtype=np.bool_) if kept is None else kept
    rows = np.flatnonzero(every)[distinct]
    remaining = np.zeros(len(every), dtype=np.bool_)
    remaining[rows] = True
    return [replace(block, values=np.ascontiguousarray(block.values[distinct])) for block in blocks], remaining


def labels_of(question: Question) -> tuple[Labels, ...]:
    """The numbers of labels, and cuts of angles, of x, of y and of what is given; None for columns of numbers."""
    table = question.table

    def coding(i: int) -> Coding | None:
        known = table.codings.get(table.names[i])
        if isinstance(known, Cut):
            return known
        return dict(known) if known is not None and table.kind(i) is Kind.NOMINAL else None

    return tuple(tuple(coding(i) for i in block) for block in question.blocks)


def numbered(block: Columns, known: Labels) -> Columns:
    """New rows with the numbers that labels had in a fit, and angles from the cut that they had.

    A label that is new goes with the rare ones if these are one, and has the next number if labels were many.
    """
    values = block.values
    for i, coding in enumerate(known[: len(block.names)]):
        if coding is None:
            continue
        values = values if values is not block.values else values.copy()
        if isinstance(coding, Cut):
            values[:, i] = coding(values[:, i])
            continue
        names = block.levels.get(block.names[i])
        labels = [f"{v:g}" if names is None else names[int(v)] for v in values[:, i].tolist()]
        rest = max(coding.values(), default=0)
        is_pooled = list(coding.values()).count(rest) > 1
        new = [label for label in labels if label not in coding]
        if len(coding) > MOST_LEVELS:
            rest += 1
        elif new and not is_pooled:
            raise ValueError(f"{block.where(i)} holds the label {new[0]!r}, which was not in fit; leave such rows out.")
        values[:, i] = [coding.get(label, rest) for label in labels]
    return replace(block, values=values)


def _check_said(block: Columns, i: int, kind: Kind) -> None:
    """Refuse a kind that labels cannot have."""
    if block.kind(i) is Kind.NOMINAL and kind is not Kind.NOMINAL and block.names[i] in block.levels:
        raise ValueError(
            f"{block.where(i)} holds text, which has no order or size, so it cannot be {kind}; "
            "pass numbers or an ordered categorical."
        )


# --- a whole table ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Variables:
    """A table whose columns are variables, by themselves or several together, and perhaps some that are given.

    Parameters
    ----------
    table : Table
    members : dict of str to tuple of int
        The variables, and which columns belong to each.
    given : tuple of int
    """

    table: Table
    members: dict[str, tuple[int, ...]]
    given: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        """How many columns each variable has."""
        return [len(columns) for columns in self.members.values()]

    def pair(self, x: str, y: str, rest: bool = False) -> Question:
        """Ask about two variables, given what is given or, if `rest`, all other variables."""
        others = tuple(i for name, columns in self.members.items() if name not in (x, y) for i in columns)
        return Question(self.table, self.members[x], self.members[y], others if rest else self.given)


def read_variables(
    data: Any,
    given: Any = None,
    groups: Mapping[str, Sequence[Any]] | None = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    dependence: Dependence = INDEPENDENTLY,
    *,
    lenient: bool = True,
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
    kinds : mapping of column name to kind, optional
        As in `read_question`. Identifiers are left out, with a warning.
    dependence : Dependence
        How rows depend on each other; columns that say it are no variables.
    lenient : bool, default=True
        Whether other columns that nothing can be learned from (dates, objects, constants, no values) are left out too,
        with a warning, and not refused.

    Returns
    -------
    Variables
        What cannot be used is refused, and ties are warned of, as in `read_question`.
    """
    check_nan_policy(nan_policy)
    is_rest = isinstance(given, str) and given == REST
    source, left_out = Source.read(data), dict[str, str]()
    if dependence.within is not None:
        raise ValueError("within= is for two variables; leave it out, or use pydine.mutual_information.")
    apart = dependence.names(source)
    blocks = _variable_blocks(source, None if is_rest else given, groups or {}, apart, left_out if lenient else None)
    n = len(blocks[0].values)
    blocks, kept = finite_rows(blocks, omit=nan_policy == "omit")
    rows, weights = dependence.read(source, n, kept), dependence.weighing(source, n)
    blocks, kept, rows, counted = weights.expanded(Told(blocks, kept, rows))
    _check_table_rows(_assemble(blocks, [str(name) for name in groups or {}], kept, {}), is_rest)
    for block in blocks:
        check_range(block)
    blocks, codings, unclear = with_kinds(blocks, _known(kinds, left_out))
    if unclear or left_out:
        blocks[0] = without_useless(blocks[0], unclear, left_out)
        _check_names(blocks[0], dict(zip(groups or {}, blocks[1:-1], strict=True)), blocks[-1])
    if not dependence.is_said:
        warn_of_repeats(source, blocks[-1].names)
        blocks, kept = without_copies(blocks, kept)
    blocks, kept, rows, counted = weights.counted(Told(blocks, kept, rows, counted))
    found = _assemble(blocks, [str(name) for name in groups or {}], kept, codings, rows)
    return replace(found, table=replace(found.table, counted=counted))


def _variable_blocks(
    source: Source, given: Any, groups: Mapping[str, Sequence[Any]], apart: set[str], left_out: dict[str, str] | None
) -> list[Columns]:
    """Columns that are variables by themselves, then the groups one by one, then what is given, if only no columns.

    Those that are set `apart` say how rows depend, and are not read. Columns of the first kind that nothing can be
    learned from are entered in `left_out`, or refused if it is None.
    """
    singles = source.select("data", [name for name in source.names if str(name) not in apart], left_out)
    fixed = Columns("given", (), singles.values[:, :0])
    if given is not None and (selected := source.select("given", given)).names:
        fixed = selected
    grouped = {str(name): source.select(f"groups[{name!r}]", columns) for name, columns in groups.items()}
    taken = {name for block in [*grouped.values(), fixed] for name in block.names}
    for name in taken.intersection(left_out or ()):
        (left_out or {}).pop(name)  # what was asked for by name is refused, if need be
    if taken:
        left = [i for i, name in enumerate(singles.names) if name not in taken]
        singles = singles.only(left)
    _check_names(singles, grouped, fixed)
    return [singles, *grouped.values(), fixed]


def _assemble(
    blocks: Sequence[Columns], groups: Sequence[str], kept: Kept, codings: Codings, rows: Rows = INDEPENDENT
) -> Variables:
    table = _as_table(blocks, kept, codings, rows)
    members: dict[str, tuple[int, ...]] = {name: (i,) for i, name in enumerate(blocks[0].names)}
    start = len(members)
    for name, block in zip(groups, blocks[1:-1], strict=True):
        members[name] = tuple(range(start, start + len(block.names)))
        start += len(block.names)
    return Variables(table, members, tuple(range(start, len(table.names))))


def check_two_variables(count: int) -> None:
    """Refuse a table that has no pair."""
    if count < 2:
        raise ValueError(
            f"data must have at least two variables besides what is given, but has {count}; pass more columns."
        )


def _check_names(singles: Columns, groups: dict[str, Columns], given: Columns) -> None:
    check_two_variables(len(singles.names) + len(groups))
    seen: dict[str, str] = dict.fromkeys(given.names, "given")
    for group, block in groups.items():
        if not block.names:
            raise ValueError(f"{block.label} must have at least one column, but has none; name one or leave it out.")
        if group in singles.names:
            raise ValueError(f"groups must not have the name of a column, but {group!r} is both; rename the group.")
        for name in block.names:
            if name in seen:
                raise ValueError(f"column {name!r} must be in one place only, but is in {seen[name]} and {group!r}.")
            seen[name] = repr(group)


def _check_table_rows(variables: Variables, is_rest: bool) -> None:
    largest, table = sorted(variables.sizes)[-2:], variables.table
    needed = len(table.names) if is_rest else sum(largest) + len(variables.given)
    if table.n_samples >= needed + SPARE_ROWS:
        return
    dropped = f" ({table.n_dropped} with NaN or infinity were left out)" if table.n_dropped else ""
    raise ValueError(
        f"data must have at least {needed + SPARE_ROWS} rows, {SPARE_ROWS} more than the columns that enter one "
        f"estimate, but has {table.n_samples}{dropped}; pass more rows or condition on fewer columns."
    )

"""Whatever holds columns, read as named columns of float64.

Arrays, lists, pandas / polars / pyarrow columns and frames, whatever speaks Arrow's protocol (`inputs.arrow`), or
references into a ``data`` argument. Numbers are what
they are; text, categories and booleans become codes, with the kind that their type says. Every
refusal is a ValueError of one sentence that names the argument, what was expected, what came and what to do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.arrow import from_arrow
from pydine.inputs.kinds import Kind
from pydine.inputs.names import with_different_names
from pydine.results import default_names
from pydine.types import FloatArray

__all__ = ["Columns", "Source", "frame_library", "is_missing", "read_columns"]

# What to do about values that are not real numbers, by what they are.
ADVICE = {
    "dates or times": "turn them into numbers first, such as days since a fixed date",
    "complex numbers": "pass the real and the imaginary part as two columns",
    "nested lists or records": "spread them over columns of their own",
    "Python objects": "convert them first, for instance with astype(float)",
}
ARRAY_KINDS = {
    **dict.fromkeys("Mm", "dates or times"),
    "c": "complex numbers",
    "V": "nested lists or records",
}
CONSTANT, EMPTY = "is constant", "has no values"  # why a column is left out of a table
NESTED = ("List", "Array", "Struct")  # types of columns of frames, as narwhals calls them


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of one argument.

    Parameters
    ----------
    label : str
        The argument they came in: ``"x"``, ``"y"`` or ``"z"``.
    names : tuple of str
        One name a column.
    values : ndarray of float64, shape (n, d)
        C-contiguous. May share memory with the caller's data: not to be written to.
    kinds : tuple of Kind or None
        What the type of each column says of it; None where the values will tell. Empty if all of them will.
    levels : mapping of str to tuple of str
        By the name of a column of labels: what its codes 0, 1, ... stand for.
    """

    label: str
    names: tuple[str, ...]
    values: FloatArray
    kinds: tuple[Kind | None, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def where(self, i: int) -> str:
        """Say which column the i-th is, as an error message puts it."""
        return _where(self.label, self.names[i], i)

    def kind(self, i: int) -> Kind | None:
        """What the type of the i-th column says of it."""
        return self.kinds[i] if self.kinds else None

    def only(self, columns: Sequence[int]) -> Columns:
        """Some of the columns."""
        names = tuple(self.names[i] for i in columns)
        levels = {name: self.levels[name] for name in names if name in self.levels}
        return Columns(self.label, names, self.values[:, list(columns)], tuple(self.kind(i) for i in columns), levels)


def read_columns(label: str, value: Any, source: Source | None = None) -> Columns:
    """Read one argument.

    Parameters
    ----------
    label : str
        The argument's name in messages: ``"x"``, ``"y"`` or ``"z"``.
    value : array, list, series, frame or mapping of columns; or column name or list of names
        The values, shape (n,) or (n, d); with a source, which of its columns.
    source : Source, optional
        The ``data`` argument.

    Returns
    -------
    Columns
        Missing values are NaN, booleans 0 and 1, labels codes in the order of their names or categories.

    Raises
    ------
    ValueError
        If it cannot be read as columns of numbers or labels.
    """
    if source is not None:
        return source.select(label, value)
    if isinstance(value, str):
        raise ValueError(
            f"{label} is the name {value!r}, but there is no data; "
            "pass data=frame to name columns, or pass the values themselves."
        )
    if isinstance(value, Mapping) and not _is_sparse(value):  # one of SciPy's sparse matrices is a mapping
        return _stack(label, tuple(map(_display, value)), [_one_column(label, column) for column in value.values()])
    frame = _from_native(label, value)
    if _is_wrapped(frame, "DataFrame"):
        names = tuple(_display(name) for name in frame.columns)
        return _stack(label, names, [frame.get_column(name) for name in frame.columns])
    if _is_wrapped(frame, "Series"):
        names = (label,) if frame.name in (None, "") else (_display(frame.name),)
        return _stack(label, names, [frame])
    return _from_array(label, value)


@dataclass(frozen=True, eq=False)
class Source:
    """The ``data`` argument: columns by name, or by position where it is an array.

    Parameters
    ----------
    names : tuple of hashable
        The columns, in order.
    column : callable
        From one of the names to its values.
    """

    names: tuple[Hashable, ...]
    column: Callable[[Any], Any]

    @classmethod
    def read(cls, data: Any) -> Source:
        """Read a frame, a mapping of columns, a structured array or a 2-D array."""
        if isinstance(data, Mapping):
            return cls(tuple(data), data.__getitem__)
        frame = _from_native("data", data)
        if _is_wrapped(frame, "DataFrame"):
            return cls(tuple(frame.columns), frame.get_column)
        array = _as_array("data", data)
        if array.dtype.names is not None and array.ndim == 1:
            return cls(array.dtype.names, array.__getitem__)
        if array.ndim != 2:
            raise ValueError(
                "data must be a frame, a mapping of columns or a two-dimensional array, "
                f"but got {_description(data, array)}."
            )
        return cls(tuple(range(array.shape[1])), lambda position: array[:, position])

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns, as answers call them."""
        return tuple(_display(name) for name in self.names)

    def select(self, label: str, value: Any, left_out: dict[str, str] | None = None) -> Columns:
        """Read the columns that an argument refers to: a name, or a list of names.

        Parameters
        ----------
        label : str
            The argument's name in messages.
        value : hashable or iterable of hashable
            Names; positions where the source is an array, counted from the end if negative.
        left_out : dict, optional
            If given, columns that nothing can be learned from are not refused, here or later: those that hold neither
            numbers nor labels, have no values or are constant. Their names are entered, with what is wrong.

        Returns
        -------
        Columns
            In the order asked for.
        """
        wanted = [self._find(label, name) for name in self._references(label, value)]
        columns = [self.column(name) for name in wanted]
        series = [c if _is_wrapped(c, "Series") else _one_column(label, c) for c in columns]
        return _stack(label, tuple(_display(name) for name in wanted), series, left_out)

    def _references(self, label: str, value: Any) -> list[Any]:
        """Take an argument for one name or for several. A tuple can be a name: pandas has such columns."""
        if _hashable(value) and (value in self.names or not isinstance(value, Iterable)):
            return [value]
        references = [value] if isinstance(value, str) else list(value)
        # Hashable numbers that are no integers are values, not names: somebody passed data and the column.
        if all(_hashable(name) and not isinstance(name, (float, np.floating)) for name in references):
            return references
        raise ValueError(
            f"{label} must be a column name or a list of them when data is given, "
            f"but got {type(value).__name__}; leave data out to pass values."
        )

    def _find(self, label: str, name: Any) -> Hashable:
        if name in self.names and not isinstance(name, bool):
            return name  # type: ignore[no-any-return]
        positional = self.names == tuple(range(len(self.names)))
        if positional and isinstance(name, (int, np.integer)) and -len(self.names) <= name < 0:
            return int(name) + len(self.names)
        raise ValueError(f"{label} asks for the column {name!r}, which data does not have; {self._hint(name)}.")

    def _hint(self, name: object) -> str:
        lowered = {str(known).lower(): known for known in reversed(self.names)}
        near = get_close_matches(str(name).lower(), lowered, n=1, cutoff=0.5)
        if near:
            return f"the nearest name is {lowered[near[0]]!r}"
        return f"its columns are {_quoted_list(self.names, 10)}" if self.names else "it has no columns"


def frame_library(data: Any) -> str:
    """The library to make frames with for whoever brought the data: its own, or pandas where it was no frame."""
    library = type(data).__module__.partition(".")[0]
    return library if library in ("pandas", "polars", "pyarrow") else "pandas"


def _quoted_list(names: Iterable[object], limit: int) -> str:
    """Write names in quotes with commas, those beyond a limit as a count."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - limit
    return ", ".join(quoted[:limit]) + (f" and {more} more" if more > 0 else "")


def _from_native(label: str, value: Any) -> Any:
    """Wrap a series or a frame of any library that narwhals knows; anything else comes back as it is."""
    if isinstance(value, np.ndarray | list | tuple):
        return value
    import narwhals as nw  # takes its time, and arrays do not need it

    value = with_different_names(label, _as_series(value))
    try:
        frame = nw.from_native(value, allow_series=True, pass_through=True)
    except (nw.exceptions.NarwhalsError, ValueError) as error:
        raise ValueError(f"{label} cannot be read as a series or a frame ({error}).") from error
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame
    if (table := from_arrow(label, value)) is not None:
        return nw.from_native(with_different_names(label, table), allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(f"{label} must hold values, but is a lazy {type(value).__name__}; call collect() first.")
    return frame


def _is_wrapped(value: Any, kind: str) -> bool:
    """Whether narwhals has wrapped something as a ``"Series"`` or a ``"DataFrame"``."""
    wrapper = sys.modules.get("narwhals")  # what nobody has imported has wrapped nothing
    return wrapper is not None and isinstance(value, getattr(wrapper, kind))


def _as_series(value: Any) -> Any:
    """Wrap the one-dimensional relatives of a series, which narwhals does not take, into one."""
    library = type(value).__module__.partition(".")[0]
    module = sys.modules.get(library) if library in ("pandas", "pyarrow") else None
    if module is None:
        return value
    if library == "pyarrow":
        if isinstance(value, module.Array):
            return module.chunked_array([value])
        return module.Table.from_batches([value]) if isinstance(value, module.RecordBatch) else value
    relatives = (module.Index, module.api.extensions.ExtensionArray)
    return module.Series(value) if isinstance(value, relatives) else value


def _stack(label: str, names: tuple[str, ...], columns: list[Any], left_out: dict[str, str] | None = None) -> Columns:
    """Put columns side by side, shape (n, d), each converted on its own so that memory stays small."""
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(
            f"the columns of {label} must have the same number of rows, but have {sorted(lengths)}; "
            "pass columns of equal length."
        )
    kinds: list[Kind | None] = []
    levels: dict[str, tuple[str, ...]] = {}
    stacked = np.empty((lengths.pop() if lengths else 0, len(columns) if len(columns) > 1 else 0))
    for i, column in enumerate(columns):
        try:
            read = _read_column(_where(label, names[i], i), column)
            wrong = "" if left_out is None else _useless(read.values)
        except ValueError as error:
            kind = vars(error).get("kind")
            if left_out is None or kind is None:
                raise
            read, wrong = _Read(np.full(len(column), np.nan)), f"holds {kind}"
        if wrong and left_out is not None:
            left_out[names[i]] = wrong
        kinds.append(read.kind)
        if read.levels:
            levels[names[i]] = read.levels
        if len(columns) == 1:  # one column needs no copy
            stacked = np.ascontiguousarray(read.values).reshape(-1, 1)
        else:
            stacked[:, i] = read.values
    every = Columns(label, names, stacked, tuple(kinds), levels)
    return every.only([i for i, name in enumerate(names) if name not in left_out]) if left_out else every


def _useless(values: FloatArray) -> str:
    """Why nothing can be learned from a column (n,), if so."""
    there = values[np.isfinite(values)]
    return EMPTY if not len(there) else CONSTANT if there.min() == there.max() else ""


class _Read(NamedTuple):
    """One column as float64 (n,), the kind that its type says it has, and the names of its codes if they are labels."""

    values: FloatArray
    kind: Kind | None = None
    levels: tuple[str, ...] = ()


def _read_column(where: str, column: Any) -> _Read:
    """Read a narwhals series or a 1-D array."""
    if not _is_wrapped(column, "Series"):
        return _read_array(where, column)
    import narwhals as nw

    dtype = column.dtype
    if dtype.is_numeric():
        if dtype.is_integer() and column.len() > column.null_count():
            check_whole(where, column.min(), column.max())
        return _Read(_as_numbers(column))
    if dtype == nw.Boolean:
        return _Read(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64), Kind.NOMINAL)
    if dtype in (nw.Categorical, nw.Enum):
        order = _ordered_categories(column)
        return _labels(column.cast(nw.String).to_list(), order)
    if dtype == nw.String:
        return _labels(column.to_list())
    if dtype in (nw.Unknown, nw.Object):
        # Complex and sparse pandas columns, nothing but nulls, or objects: NumPy knows what they are.
        return _read_array(where, np.asarray(column.to_numpy()))
    if dtype.is_temporal():
        raise _not_real(where, "dates or times")
    raise _not_real(where, "nested lists or records" if type(dtype).__name__ in NESTED else "Python objects")


def _as_numbers(column: Any) -> FloatArray:
    """A narwhals series of numbers as float64 (n,), nulls as NaN."""
    import narwhals as nw

    try:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    except ValueError:  # Arrow refuses whole numbers that have no float64 of their own; the others round them
        return np.array(column.to_list(), dtype=np.float64)


def _ordered_categories(column: Any) -> tuple[str, ...] | None:
    """The categories of a series, in order, if their order means something; polars never says that it does."""
    native = column.to_native()
    dtype = getattr(native, "dtype", getattr(native, "type", None))
    if not getattr(dtype, "ordered", False):
        return None
    categories = native.cat.categories if hasattr(native, "cat") else native.unify_dictionaries().chunk(0).dictionary
    return tuple(str(item) for item in categories.tolist())


def is_missing(item: Any) -> bool:
    """Whether an object stands for nothing: None, NaN, or one of pandas' own, which cannot be compared."""
    return item is None or type(item).__name__ in ("NAType", "NaTType") or item != item


def _labels(items: Sequence[Any], order: tuple[str, ...] | None = None) -> _Read:
    """Codes of labels, None and NaN missing: in an order that means something, if given, or in that of their names."""
    text = [item if type(item) is str else None if is_missing(item) else str(item) for item in items]
    names = order or tuple(sorted({item for item in text if item is not None}))
    codes: dict[str | None, float] = {None: np.nan, **{name: float(i) for i, name in enumerate(names)}}
    values = np.fromiter(map(codes.__getitem__, text), dtype=np.float64, count=len(text))
    return _Read(values, Kind.NOMINAL if order is None else Kind.ORDINAL, names)


def _from_array(label: str, value: Any) -> Columns:
    array = _as_array(label, value)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{label} must have one or two dimensions, one row for each observation, "
            f"but got {_description(value, array)}; reshape it to (rows, columns)."
        )
    columns = array[:, None] if array.ndim == 1 else array
    names = default_names(label, columns.shape[1])
    if columns.dtype.kind in "iuf":
        for i in range(columns.shape[1] if columns.dtype.kind in "iu" and len(columns) else 0):
            check_whole(_where(label, names[i], i), columns[:, i].min(), columns[:, i].max())
        return Columns(label, names, np.ascontiguousarray(columns.astype(np.float64, copy=False)))
    return _stack(label, names, list(columns.T)) if columns.size else Columns(label, names, np.empty(columns.shape))


def _one_column(label: str, value: Any) -> Any:
    """Take one column out of a mapping or an array: a narwhals series or a 1-D array."""
    series = _from_native(label, value)
    if _is_wrapped(series, "Series"):
        return series
    array = _as_array(label, value)
    if array.ndim != 1:
        raise ValueError(f"the columns of {label} must be one-dimensional, but one is {_description(value, array)}.")
    return array


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "toarray") and type(value).__module__.startswith(("scipy.", "sparse."))


def _as_array(label: str, value: Any) -> NDArray[Any]:
    """Make an array of anything NumPy takes. Missing entries, None or masked, become NaN."""
    if _is_sparse(value):
        raise ValueError(f"{label} is a sparse matrix, which is not read; pass its toarray().")
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "biuf":
        return np.ma.filled(value.astype(np.float64), np.nan)
    try:
        array = np.asarray(value)
        # A list has no dtype, so None in it is a missing number; an array of objects was somebody's choice.
        if array.dtype == object and isinstance(value, (list, tuple)) and _all_numbers(array):
            whole = [item for item in array.ravel().tolist() if type(item) is int]
            if len(whole) == array.size:  # beyond 64 bits
                check_whole(label, min(whole), max(whole))
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(
            f"{label} must be an array with rows of equal length, a series or a frame, "
            f"but this {type(value).__name__} cannot be read as one ({error})."
        ) from error
    return array


def check_whole(where: str, low: Any, high: Any) -> None:
    """Refuse whole numbers that vary, and would all be the same as float64."""
    if int(low) < int(high) and float(low) == float(high):
        raise ValueError(
            f"{where} must vary by more than float64 can resolve, but runs from {int(low)} to {int(high)}; "
            f"subtract {int(low)}, which does not change the information."
        )


def _all_numbers(objects: NDArray[np.object_]) -> bool:
    return all(item is None or isinstance(item, Real) for item in objects.ravel())


def _read_array(where: str, array: NDArray[Any]) -> _Read:
    """Read a 1-D array: numbers, booleans, or text. An array of objects may hold text, None and NaN; or numbers."""
    kind = array.dtype.kind
    if kind in "iuf":
        if kind in "iu" and len(array):
            check_whole(where, array.min(), array.max())
        return _Read(array.astype(np.float64, copy=False))
    if kind == "b":
        return _Read(array.astype(np.float64), Kind.NOMINAL)
    if kind == "U":
        return _labels(array.tolist())
    if kind in "ST":
        return _labels([item.decode() if isinstance(item, bytes) else str(item) for item in array.tolist()])
    if kind == "O" and len(array) and (found := _read_objects(array)) is not None:
        return found
    raise _not_real(where, ARRAY_KINDS.get(kind, "Python objects"))


def _read_objects(array: NDArray[np.object_]) -> _Read | None:
    """Objects that are all text or all booleans, some of them perhaps missing; None if they are anything else."""
    items = array.tolist()
    missing = [is_missing(item) for item in items]
    there = [item for item, gone in zip(items, missing, strict=True) if not gone]
    if there and all(isinstance(item, str) for item in there):
        return _labels([None if gone else item for item, gone in zip(items, missing, strict=True)])
    if there and all(isinstance(item, bool | np.bool_) for item in there):
        values = [np.nan if gone else float(item) for item, gone in zip(items, missing, strict=True)]
        return _Read(np.array(values), Kind.NOMINAL)
    return None


def _not_real(where: str, kind: str) -> ValueError:
    """The error of a column that holds neither numbers nor labels; its `kind` says why it may be left out."""
    error = ValueError(f"{where} must hold numbers or labels, but holds {kind}; {ADVICE[kind]}.")
    vars(error)["kind"] = kind
    return error


def _where(label: str, name: str, i: int) -> str:
    if name == label:
        return label
    if name == f"{label}{i}":
        return f"column {i} of {label}"
    return f"{name} of {label}" if name.startswith("column ") else f"column {name!r} of {label}"


def _display(name: object) -> str:
    return f"column {name}" if isinstance(name, (int, np.integer)) else str(name)


def _description(value: object, array: NDArray[Any]) -> str:
    kind = type(value).__name__
    return f"a single {kind}" if array.ndim == 0 else f"{kind} of shape {array.shape}"


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True

"""Results to JSON and back, by the types of their fields.

An object begins with ``"pydine"``, the name of its class, and ``"version"``. Fields follow, with numbers as the command
line's ``--json`` writes them: NaN is null, and the infinities are the words inf and -inf. Matrices are lists of rows.
Where a field may hold anything, as in `details`, what JSON does not know is marked::

    {"$float": "nan"}, {"$tuple": [...]}, {"$array": ["float64", [2, 3], [...]]}, {"$dict": [[key, value]]}

Fields that hold a function for drawing are left out. A field with a default may be missing, as in files of a version
that did not have it yet.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from pydine.show.text import escaped

__all__ = ["Record"]

VERSION = 1
WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
LONGEST_REASON = 200
ARRAY_TYPES = ("float64", "float32", "int64", "bool")


class Record:
    """A frozen dataclass that can be written as JSON and read back."""

    def to_json(self, indent: int | None = None) -> str:
        """Write the result as JSON, which `from_json` reads.

        Parameters
        ----------
        indent : int, optional
            Spaces by which nested lines are moved in; None for a single line.

        Returns
        -------
        str
            Strict JSON in ASCII: NaN is null, and infinity the word inf.
        """
        return json.dumps(_record(self), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a result that `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is not JSON, of another class or of a newer version.
        """
        try:
            tree = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"text must be JSON that to_json wrote, but cannot be read ({_shown(error)}).") from None
        named = tree.get("pydine") if isinstance(tree, dict) else None
        if named != cls.__name__:
            what = f"holds a {_shown(named)}" if isinstance(named, str) else "names no class"
            raise ValueError(f"text must hold a {cls.__name__} that to_json wrote, but {what}.")
        if not isinstance(tree.get("version"), int) or tree["version"] > VERSION:
            found = tree["version"] if isinstance(tree.get("version"), int | str) else None
            raise ValueError(
                f"text must have version {VERSION} at most, but has {_shown(repr(found))}; install a newer pydine."
            )
        try:
            made: Self = _from_record(cls, tree)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            why = f"does not fit ({_shown(error)})"
            raise ValueError(f"text must hold a {cls.__name__} that to_json wrote, but {why}.") from None
        return made


def _shown(made_up: object) -> str:
    """What a text says, as a part of a sentence."""
    return escaped(" ".join(str(made_up)[:LONGEST_REASON].split()))


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not valid JSON")


def _hints(cls: type) -> dict[str, Any]:
    """Types of the fields that are written."""
    known = get_type_hints(cls)
    return {f.name: known[f.name] for f in fields(cls) if not _is_function(known[f.name])}


def _is_function(hint: Any) -> bool:
    return any(get_origin(part) is Callable for part in (hint, *get_args(hint)))


def _record(result: Any) -> dict[str, Any]:
    hints = _hints(type(result))
    named = {name: _written(hint, getattr(result, name)) for name, hint in hints.items()}
    return {"pydine": type(result).__name__, "version": VERSION, **named}


def _from_record(cls: Any, tree: Mapping[str, Any]) -> Any:
    hints = _hints(cls)
    optional = {f.name for f in fields(cls) if f.default is not MISSING or f.default_factory is not MISSING}
    wrong = [name for name in tree if name not in {"pydine", "version", *hints}]
    wrong += [name for name in hints if name not in tree and name not in optional]
    if wrong:
        raise ValueError(f"other fields: {', '.join(wrong)}")
    return cls(**{name: _read(hint, tree[name]) for name, hint in hints.items() if name in tree})


# --- by type ----------------------------------------------------------------------------------------------------------


def _parts(hint: Any) -> tuple[Any, ...]:
    """The types of a union but None; empty if it is no union."""
    is_union = get_origin(hint) in (Union, UnionType)
    return tuple(part for part in get_args(hint) if part is not NoneType) if is_union else ()


def _written(hint: Any, value: Any) -> Any:
    """A value of a field of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if parts := _parts(hint):
        if value is None:
            return None
        if isinstance(value, float) and math.isnan(value):
            return "nan"  # null is None here
        return _written(parts[0] if not isinstance(value, str) or parts[0] is str else str, value)
    if is_dataclass(hint):
        return _record(value)
    if hint is float or origin is np.ndarray:
        return _numbers(value.tolist() if isinstance(value, np.ndarray) else float(value))
    if origin is tuple:
        each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return [_written(*pair) for pair in zip(each, value, strict=True)]
    if origin is Mapping and inner[1] is float:
        return {str(key): _numbers(float(item)) for key, item in value.items()}
    return value if hint in (int, str, bool) else _marked(value)


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _read(hint: Any, tree: Any) -> Any:
    """The value of a field of a type, from what `_written` made of it."""
    origin, inner = get_origin(hint), get_args(hint)
    if parts := _parts(hint):
        if tree is None:
            return None
        return tree if isinstance(tree, str) and str in parts else _read(parts[0], tree)
    if is_dataclass(hint):
        return _from_record(hint, tree)
    if hint is float:
        return _number(tree)
    if origin is np.ndarray:
        return _array(get_args(inner[1])[0], tree)
    if origin is tuple:
        each = inner[:1] * len(tree) if inner[-1] is Ellipsis else inner
        return tuple(_read(*pair) for pair in zip(each, tree, strict=True))
    if origin is Mapping and inner[1] is float:
        return {key: _number(item) for key, item in tree.items()}
    if hint in (int, str, bool):
        if type(tree) is not hint:
            raise TypeError(f"{tree!r} is not a {hint.__name__}")
        return tree
    return _unmarked(tree)


def _number(tree: Any) -> float:
    if tree is None:
        return math.nan
    if isinstance(tree, str):
        return WORDS[tree]
    if isinstance(tree, bool) or not isinstance(tree, int | float):
        raise TypeError(f"{tree!r} is not a number")
    return float(tree)


def _array(kind: Any, tree: Any) -> Any:
    def read(item: Any) -> Any:
        return [read(one) for one in item] if isinstance(item, list) else _number(item)

    return np.array(read(tree) if kind is np.float64 else tree, dtype=kind)


# --- anything ---------------------------------------------------------------------------------------------------------


def _marked(value: Any) -> Any:
    """Anything of numbers, text, lists, tuples, dictionaries and arrays."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, np.generic):
        return _marked(value.item())
    if isinstance(value, np.ndarray) and value.dtype.name in ARRAY_TYPES:
        return {"$array": [value.dtype.name, list(value.shape), _numbers(value.ravel().tolist())]}
    if isinstance(value, tuple):
        return {"$tuple": [_marked(item) for item in value]}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: _marked(item) for key, item in value.items()}
        return {"$dict": [[_marked(key), _marked(item)] for key, item in value.items()]}
    raise ValueError(f"a result with a {type(value).__name__} in it cannot be written as JSON.")


def _unmarked(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_unmarked(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1 or not next(iter(tree)).startswith("$"):
        return {key: _unmarked(item) for key, item in tree.items()}
    ((mark, content),) = tree.items()
    if mark == "$float":
        return WORDS[content]
    if mark == "$tuple":
        return tuple(_unmarked(item) for item in content)
    if mark == "$dict":
        return {_unmarked(key): _unmarked(item) for key, item in content}
    if mark != "$array":
        raise ValueError(f"{mark} marks nothing")
    kind, shape, numbers = content
    if kind not in ARRAY_TYPES:
        raise ValueError(f"there are no arrays of {kind}")
    read = [_number(item) for item in numbers] if kind.startswith("float") else numbers
    return np.array(read, dtype=kind).reshape(shape)

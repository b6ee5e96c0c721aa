"""Objects in files that hold arrays and a line of JSON, and nothing that runs.

A file is a zip of ``.npy`` arrays, which ``numpy.load`` opens too: ``head``, the JSON, and one long array for each type
of number. The JSON says what kind of file it is (`Schema`), and writes an object as a tree. What JSON does not know
stands in an object of one key::

    {"float": "nan"}                      NaN and the infinities
    {"tuple": [...]}, {"dict": [[k, v]]}  a list is a list, and a dictionary a list of pairs
    {"array": ["float64", 9, [3, 4], "C"]}  twelve numbers of the array float64, from the 9th on, as 3 rows of 4
    {"class": ["View", {...}]}            a dataclass or a named tuple, by its fields
    {"enum": ["Verdict", "INFINITE"]}, {"function": "cubic"}
    {"same": 7}                           the 7th object or array of the file, counted as they end, once more

A class is read and written only if the schema lists it: to keep another frozen dataclass, add it to the list. A field
that was added later and has a default may be missing in a file; anything else that does not fit is refused. Whoever
made a file up gets no further than a constructor: fields are held against their annotations (`suits`), arrays must be
finite, and the constructors of classes whose arrays compiled code reads refuse shapes that do not fit each other.

Arrays stand in a file in the order in which the head names them, each once and without gaps. So what is read takes no
more room than the file, and how much the head takes is bounded by its commas and brackets before it is parsed.

The file ends in a digest of all its other bytes, so that a flipped bit or a missing end is noticed before anything is
read. It guards against damage, not against somebody who writes a file on purpose.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

__all__ = ["Refused", "Schema", "suits"]

MARK = b"pydine:"  # stands before the digest, in the comment that ends a zip
DIGEST_BYTES = 32
TYPES = ("float64", "float32", "int64", "bool")  # of the numbers that arrays hold
HEAD = "head"
# memory: bytes of Python's objects, at most, for the marks of JSON; and what they may come to: so many times the file,
# and a little that any file may take. An array of a few numbers, as models have them, comes to five times its bytes.
MARK_BYTES = {b"[": 80, b"{": 240, b",": 64}
TIMES_THE_FILE, ANY_FILE = 6, 24 << 20
LONGEST_REASON = 200
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Refused(ValueError):
    """Why a file cannot be read, in words that may follow its name."""


@dataclass(frozen=True)
class Schema:
    """What a kind of file may hold.

    Parameters
    ----------
    name : str
        Of the kind, such as ``"pydine.model"``.
    version : int
        Raised when files can no longer be read by those who know the versions before.
    classes : tuple of type
        Dataclasses, named tuples and enumerations that it may hold; and other classes that say which attributes are
        ``KEPT`` and how an object is ``remade`` of them.
    functions : mapping of str to callable
        Functions that it may name.
    """

    name: str
    version: int
    classes: tuple[type, ...]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse classes that their names do not tell apart."""
        if len({cls.__name__ for cls in self.classes}) < len(self.classes):
            raise ValueError("classes of a schema must have different names")

    def to_bytes(self, content: Any, **more: Any) -> bytes:
        """Write an object as a file; the same bytes for the same content.

        Parameters
        ----------
        content : object
            Numbers, text, arrays, lists, tuples, dictionaries, and objects of the schema's classes.
        **more
            What else the head says, for people, in values that JSON knows.

        Raises
        ------
        TypeError
            If it holds anything else.
        """
        writer = _Writer(self)
        tree = writer.tree(content)
        head = {"schema": self.name, "version": self.version, **more, "content": tree}
        text = json.dumps(head, allow_nan=False, separators=(",", ":")).encode()
        return _sealed({HEAD: np.frombuffer(text, dtype=np.uint8), **writer.arrays()})

    def from_bytes(self, data: bytes) -> tuple[Any, dict[str, Any]]:
        """Read an object back, and what else the head says.

        Raises
        ------
        Refused
            If the file is damaged, of another kind, or newer than the schema.
        """
        members = _members(data)
        try:
            text = members.pop(HEAD).tobytes()
            unpacked = sum(text.count(mark) * size for mark, size in MARK_BYTES.items())
            if unpacked > TIMES_THE_FILE * len(data) + ANY_FILE:
                raise Refused("has a header that would take up many times the memory of the file")
            head = json.loads(text)
            name, version = head.pop("schema"), head.pop("version")
            tree = head.pop("content")
        except Refused:
            raise
        except (KeyError, AttributeError, TypeError, ValueError, RecursionError):
            raise Refused("has no readable header") from None
        if name != self.name:
            raise Refused(f"holds a {_shown(name)}, not a {self.name}")
        if not isinstance(version, int) or version > self.version:
            by = f", by pydine {_shown(head['pydine'])}" if "pydine" in head else ""
            known = f"version {_shown(version)}, but at most {self.version} can be read"
            raise Refused(f"was written in a newer format{by} ({known})")
        try:
            reader = _Reader(self, members)
            content = reader.value(tree)
            reader.end()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Refused(f"does not hold what a {self.name} of this version holds ({_shown(error)})") from None
        return content, head


def _shown(made_up: Any) -> str:
    """What a file says, as a part of a sentence."""
    text = " ".join(str(made_up).split())[:LONGEST_REASON]
    return "".join(character if character.isprintable() else "?" for character in text)


# --- types ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _hints(cls: type, named: tuple[type, ...]) -> dict[str, Any]:
    """Types of a class's fields; names that its module knows only to a type checker are those of the schema."""
    names = {other.__name__: other for other in named}
    for base in reversed(cls.__mro__):
        names |= vars(sys.modules[base.__module__])
    return get_type_hints(cls, names)


def suits(hint: Any, value: Any) -> bool:
    """Whether a value is what an annotation says; arrays of floating-point numbers must be finite as well."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(suits(part, value) for part in inner)
    if hint is float:
        return type(value) in (float, int)
    if hint in (int, str, bool):
        return type(value) is hint
    if origin is np.ndarray:
        (kind,) = get_args(inner[1])
        return isinstance(value, np.ndarray) and value.dtype == kind and (value.dtype.kind != "f" or _is_finite(value))
    if origin is tuple:
        each = inner[:1] * len(value) if isinstance(value, tuple) and inner[-1] is Ellipsis else inner
        return isinstance(value, tuple) and len(each) == len(value) and all(map(suits, each, value))
    if origin is list:
        return isinstance(value, list) and all(suits(inner[0], item) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(suits(inner[0], k) and suits(inner[1], v) for k, v in value.items())
    if origin is Callable:
        return callable(value)
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False):
        return isinstance(value, hint)
    return not isinstance(value, str | int | float | list | tuple | dict | np.ndarray)  # a protocol's


def _is_finite(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array).all())


# --- trees ------------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes objects as trees, and puts their arrays side by side."""

    def __init__(self, schema: Schema) -> None:
        self._classes, self._functions = set(schema.classes), schema.functions
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}
        self._known: dict[
            int, tuple[int, Any]
        ] = {}  # by identity, with the object: while it lives, no other has its id

    def tree(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return {"enum": [self._permitted(value), value.name]}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        if isinstance(value, np.generic):
            return self.tree(value.item())
        if isinstance(value, np.ndarray) or (type(value) in self._classes and not isinstance(value, tuple)):
            return self._once(value)
        if isinstance(value, Mapping):
            return {"dict": [[self.tree(key), self.tree(item)] for key, item in value.items()]}
        if type(value) in self._classes:  # a named tuple
            return {"class": [type(value).__name__, {name: self.tree(getattr(value, name)) for name in value._fields}]}
        if type(value) in (list, tuple):
            items = [self.tree(item) for item in value]
            return items if isinstance(value, list) else {"tuple": items}
        name = getattr(value, "__name__", None)
        if name is not None and self._functions.get(name) is value:
            return {"function": name}
        raise TypeError(f"a {type(value).__name__} cannot be saved in a file")

    def _permitted(self, value: Any) -> str:
        if type(value) not in self._classes:
            raise TypeError(f"a {type(value).__name__} cannot be saved in a file")
        return type(value).__name__

    def _once(self, value: Any) -> Any:
        """Write an array or a dataclass, or where it was written before."""
        if id(value) in self._known:
            return {"same": self._known[id(value)][0]}
        if isinstance(value, np.ndarray):
            tree = {"array": self._array(value)}
        else:
            names = _kept(type(value)) if is_dataclass(value) else value.KEPT
            held = {name: self.tree(getattr(value, name)) for name in names}
            tree = {"class": [self._permitted(value), held]}
        self._known[id(value)] = len(self._known), value
        return tree

    def _array(self, array: NDArray[Any]) -> list[Any]:
        kind = array.dtype.name
        if kind not in TYPES:
            raise TypeError(f"an array of {kind} cannot be saved in a file")
        # How an array lies in memory is kept: sums of a matrix product may go in another order otherwise.
        order: Literal["C", "F"] = "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"
        start = self._lengths.get(kind, 0)
        self._parts.setdefault(kind, []).append(np.ravel(array, order))
        self._lengths[kind] = start + array.size
        return [kind, start, list(array.shape), order]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """One long array for each type of number."""
        return {kind: np.concatenate(parts) for kind, parts in sorted(self._parts.items())}


class _Reader:
    """Reads what a writer wrote; whatever does not fit raises one of Python's own errors."""

    def __init__(self, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._classes = {cls.__name__: cls for cls in schema.classes}
        self._functions, self._arrays = schema.functions, arrays
        self._known: list[Any] = []
        self._ends: Counter[str] = Counter()  # of the numbers that were read, by their type
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": NOT_FINITE.__getitem__,
            "tuple": lambda items: tuple(self.value(item) for item in items),
            "dict": lambda pairs: {self.value(key): self.value(item) for key, item in pairs},
            "array": self._array,
            "class": self._class,
            "enum": self._enum,
            "function": self._functions.__getitem__,
            "same": self._same,
        }

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        return self._kinds[kind](content)

    def _array(self, place: list[Any]) -> NDArray[Any]:
        kind, start, shape, order = place
        size = math.prod(shape)
        if kind not in TYPES or min(shape, default=0) < 0 or start + size > len(self._arrays[kind]):
            raise ValueError("an array lies beyond the numbers")
        if start != self._ends[kind]:
            raise ValueError("an array does not begin where the one before ends")
        self._ends[kind] += size
        array = self._arrays[kind][start : start + size].reshape(shape, order=order).copy(order=order)
        self._known.append(array)
        return array

    def end(self) -> None:
        """Refuse numbers that nothing has named."""
        if any(len(numbers) != self._ends[kind] for kind, numbers in self._arrays.items()):
            raise ValueError("there are more numbers than its arrays have")

    def _same(self, place: int) -> Any:
        if type(place) is not int or place < 0:
            raise ValueError("there is no such object")
        return self._known[place]

    def _class(self, described: list[Any]) -> Any:
        name, held = described
        cls: Any = self._classes[name]
        optional: set[str] = set()
        if is_dataclass(cls):
            known = _kept(cls)
            optional = {f.name for f in fields(cls) if f.default is not MISSING or f.default_factory is not MISSING}
        else:
            known = cls._fields if issubclass(cls, tuple) else cls.KEPT
        wrong = [field for field in known if field not in held and field not in optional]
        wrong += [field for field in held if field not in known]
        if wrong:
            raise ValueError(f"{name} has other fields: {', '.join(wrong)}")
        hints = _hints(cls, tuple(self._classes.values()))
        values = {part: self.value(item) for part, item in held.items()}
        for part, value in values.items():
            if not suits(hints.get(part, Any), value):
                raise ValueError(f"the {part} of a {name} cannot be what it holds")
        made = getattr(cls, "remade", cls)(**values)
        if not isinstance(made, tuple):
            self._known.append(made)
        return made

    def _enum(self, described: list[str]) -> Enum:
        name, member = described
        enum: Any = self._classes[name]
        found: Enum = enum[member]
        return found


def _kept(cls: Any) -> list[str]:
    """The fields of a dataclass that a file holds: those that matter to what is kept."""
    return [f.name for f in fields(cls) if f.init and f.metadata.get("kept", True)]


# --- files ------------------------------------------------------------------------------------------------------------


def _digest(content: bytes) -> bytes:
    return MARK + hashlib.blake2b(content, digest_size=DIGEST_BYTES).hexdigest().encode()


def _sealed(members: Mapping[str, NDArray[Any]]) -> bytes:
    """A zip of arrays that ends in a digest of its bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, array in members.items():
            with file.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        file.comment = bytes(len(_digest(b"")))
    content = buffer.getvalue()[: -len(_digest(b""))]
    return content + _digest(content)


def _members(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a zip whose digest agrees; nothing is unpacked, so that they take no more room than the file."""
    length = len(_digest(b""))
    content, seal = data[:-length], data[-length:]
    if not (data.startswith(b"PK\x03\x04") and MARK in seal):
        raise Refused("was not written by pydine, or is cut short")
    if seal != _digest(content):
        raise Refused("is damaged: its digest does not match its content")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            if len(members) < len(file.infolist()) or not {HEAD} <= set(members) <= {HEAD, *TYPES}:
                raise ValueError("other members")  # or many that are one and the same
            return {name: _array_of(file, info, name) for name, info in members.items()}
    except Exception as error:  # noqa: BLE001 - somebody made it up, and zipfile and NumPy raise whatever they raise
        raise Refused(f"does not hold arrays ({type(error).__name__})") from None


def _array_of(file: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed")
    with file.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError("another form of array")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        if len(shape) != 1 or dtype.name != ("uint8" if name == HEAD else name):
            raise ValueError("another kind of array")
        return np.frombuffer(stream.read(), dtype=dtype, count=shape[0])

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
that was added later and has a default may be missing in a file; anything else that does not fit is refused.

The file ends in a digest of all its other bytes, so that a flipped bit or a missing end is noticed before anything is
read. It guards against damage, not against somebody who writes a file on purpose.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Refused", "Schema"]

MARK = b"pydine:"  # stands before the digest, in the comment that ends a zip
DIGEST_BYTES = 32
TYPES = ("float64", "float32", "int64", "bool")  # of the numbers that arrays hold
HEAD = "head"
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
            head = json.loads(members.pop(HEAD).tobytes())
            name, version = head.pop("schema"), head.pop("version")
            tree = head.pop("content")
        except (KeyError, AttributeError, TypeError, ValueError, RecursionError):
            raise Refused("has no head that can be read") from None
        if name != self.name:
            raise Refused(f"holds a {name!s}, and not a {self.name}")
        if not isinstance(version, int) or version > self.version:
            by = f", by pydine {head['pydine']!s}" if "pydine" in head else ""
            raise Refused(f"was written in a newer form{by} (version {version!s} of it, and {self.version} is known)")
        try:
            return _Reader(self, members).value(tree), head
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Refused(f"does not hold what a {self.name} of this version holds ({error})") from None


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
        raise TypeError(f"a {type(value).__name__} cannot be kept in a file")

    def _permitted(self, value: Any) -> str:
        if type(value) not in self._classes:
            raise TypeError(f"a {type(value).__name__} cannot be kept in a file")
        return type(value).__name__

    def _once(self, value: Any) -> Any:
        """Write an array or a dataclass, or where it was written before."""
        if id(value) in self._known:
            return {"same": self._known[id(value)][0]}
        if isinstance(value, np.ndarray):
            tree = {"array": self._array(value)}
        else:
            names = [f.name for f in fields(value) if f.init] if is_dataclass(value) else value.KEPT
            held = {name: self.tree(getattr(value, name)) for name in names}
            tree = {"class": [self._permitted(value), held]}
        self._known[id(value)] = len(self._known), value
        return tree

    def _array(self, array: NDArray[Any]) -> list[Any]:
        kind = array.dtype.name
        if kind not in TYPES:
            raise TypeError(f"an array of {kind} cannot be kept in a file")
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
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": NOT_FINITE.__getitem__,
            "tuple": lambda items: tuple(self.value(item) for item in items),
            "dict": lambda pairs: {self.value(key): self.value(item) for key, item in pairs},
            "array": self._array,
            "class": self._class,
            "enum": self._enum,
            "function": self._functions.__getitem__,
            "same": self._known.__getitem__,
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
        if kind not in TYPES or start < 0 or min(shape, default=0) < 0 or start + size > len(self._arrays[kind]):
            raise ValueError("an array lies beyond the numbers")
        array = self._arrays[kind][start : start + size].reshape(shape, order=order).copy(order=order)
        self._known.append(array)
        return array

    def _class(self, described: list[Any]) -> Any:
        name, held = described
        cls: Any = self._classes[name]
        if issubclass(cls, tuple):
            return cls(**{name: self.value(item) for name, item in held.items()})
        if not is_dataclass(cls):
            if set(held) != set(cls.KEPT):
                raise ValueError(f"{name} has other attributes: {', '.join(held)}")
            remade = cls.remade(**{name: self.value(item) for name, item in held.items()})
            self._known.append(remade)
            return remade
        expected = {f.name: f.default is not MISSING or f.default_factory is not MISSING for f in fields(cls) if f.init}
        missing = [name for name, is_optional in expected.items() if name not in held and not is_optional]
        unknown = [name for name in held if name not in expected]
        if missing or unknown:
            raise ValueError(f"{name} has other fields: {', '.join(missing + unknown)}")
        made = self._classes[name](**{name: self.value(item) for name, item in held.items()})
        self._known.append(made)
        return made

    def _enum(self, described: list[str]) -> Enum:
        name, member = described
        enum: Any = self._classes[name]
        found: Enum = enum[member]
        return found


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
        raise Refused("is not a file that pydine wrote, or its end is missing")
    if seal != _digest(content):
        raise Refused("is damaged: its digest is not that of its content")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return {info.filename.removesuffix(".npy"): _array_of(file, info) for info in file.infolist()}
    except Exception as error:  # noqa: BLE001 - somebody made it up, and zipfile and NumPy raise whatever they raise
        raise Refused(f"does not hold arrays ({type(error).__name__})") from None


def _array_of(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed")
    stream = io.BytesIO(file.read(info))
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError("another form of array")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if len(shape) != 1 or dtype.hasobject or dtype.name not in (*TYPES, "uint8"):
        raise ValueError("another kind of array")
    return np.frombuffer(stream.read(), dtype=dtype, count=shape[0])

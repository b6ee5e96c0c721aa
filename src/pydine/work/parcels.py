"""Work that is sent to other processes: small pickles, with large arrays beside them, which are sent once.

A task of a few columns is many kilobytes of columns and a few bytes of everything else, and tasks share most of their
columns. So objects are pickled here without their large arrays: rows of the same bytes are stored once, by a digest,
side by side in `chunks`, and the pickle refers to them by chunk and position. An engine sends every worker the chunks
that its parcels refer to, once. Unpickled objects have arrays of their own again, with the same bits in the same
layout.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    from cloudpickle import CloudPickler
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals.cloudpickle import CloudPickler

Chunk = NDArray[np.uint8]
Place = tuple[int, int]  # a chunk, and where in it something begins

LEAST_BYTES = 512  # memory: size of an array, or of a row of one, below which it is pickled in place
CHUNK_BYTES = 32 << 20  # memory: approximate size of a chunk, which is sent as one piece
ALIGNED = 64  # fact: bytes
FUNCTIONS_KEPT = 4  # memory: most recent functions that a worker keeps unpickled


class Parcel(NamedTuple):
    """A pickled object, and the chunks that it refers to."""

    content: bytes
    chunks: tuple[int, ...]


@dataclass
class Packing:
    """Packs objects that share their large arrays."""

    _places: dict[bytes, Place] = field(default_factory=dict)
    _rows: list[list[NDArray[Any]]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def pack(self, thing: object) -> Parcel:
        """Pickle an object without its large arrays."""
        buffer, named = io.BytesIO(), set[int]()
        _Pickler(buffer, self, named).dump(thing)
        return Parcel(buffer.getvalue(), tuple(sorted(named)))

    def put(self, row: NDArray[Any]) -> Place:
        """Store contiguous bytes, unless the same bytes are stored already, and return their place."""
        digest = hashlib.blake2b(row.data, digest_size=24).digest()
        if digest not in self._places:
            if not self._rows or self._sizes[-1] + row.nbytes > CHUNK_BYTES:
                self._rows.append([])
                self._sizes.append(0)
            self._places[digest] = len(self._rows) - 1, self._sizes[-1]
            self._rows[-1].append(row)
            self._sizes[-1] += -(-row.nbytes // ALIGNED) * ALIGNED
        return self._places[digest]

    def chunks(self) -> list[Chunk]:
        """All stored bytes, as arrays."""
        chunks = [np.zeros(size, dtype=np.uint8) for size in self._sizes]
        for chunk, rows in zip(chunks, self._rows, strict=True):
            start = 0
            for row in rows:
                chunk[start : start + row.nbytes] = np.frombuffer(row.data.cast("B"), dtype=np.uint8)
                start += -(-row.nbytes // ALIGNED) * ALIGNED
        return chunks


class _Pickler(CloudPickler):
    """Replaces large arrays by references to their places."""

    def __init__(self, buffer: io.BytesIO, packing: Packing, named: set[int]) -> None:
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        self._packing, self._named = packing, named

    def persistent_id(self, thing: object) -> tuple[Any, ...] | None:
        """The reference to an array, or None for what is pickled in place."""
        if type(thing) is not np.ndarray or thing.dtype.kind not in "biuf" or thing.nbytes < LEAST_BYTES:
            return None
        is_turned = thing.ndim == 2 and thing.flags.f_contiguous and not thing.flags.c_contiguous
        array = np.ascontiguousarray(thing.T if is_turned else thing)
        is_split = array.ndim == 2 and array[0].nbytes >= LEAST_BYTES
        places = [self._packing.put(row) for row in (array if is_split else array[None])]
        self._named.update(chunk for chunk, _ in places)
        return array.dtype.str, array.shape, is_turned, places


class _Unpickler(pickle.Unpickler):
    """Restores arrays, in writable memory of their own, for which the compiled code was compiled."""

    def __init__(self, content: bytes, chunks: Mapping[int, Chunk]) -> None:
        super().__init__(io.BytesIO(content))
        self._chunks = chunks

    def persistent_load(self, reference: tuple[str, tuple[int, ...], bool, list[Place]]) -> NDArray[Any]:
        """The array that a reference refers to."""
        dtype, shape, is_turned, places = reference
        array = np.empty(shape, dtype=np.dtype(dtype))
        rows = array.reshape(len(places), -1)
        for row, (chunk, start) in zip(rows, places, strict=True):
            row[:] = self._chunks[chunk][start : start + row.nbytes].view(row.dtype)
        return array.T if is_turned else array


def unpack(parcel: Parcel, chunks: Mapping[int, Chunk]) -> Any:
    """Restore a packed object."""
    return _Unpickler(parcel.content, chunks).load()


@dataclass(frozen=True)
class Job:
    """A function, items in groups, and the arrays that they share, ready to be sent.

    Parameters
    ----------
    function : Parcel
    groups : list of Parcel
        Lists of items.
    chunks : list of ndarray of uint8
        The arrays that the parcels refer to, by position.
    name : str
        Unique among all jobs.
    """

    function: Parcel
    groups: list[Parcel]
    chunks: list[Chunk]
    name: str

    @classmethod
    def of(cls, function: Callable[[Any], Any], groups: Iterable[Sequence[Any]]) -> Job:
        """Pack a function and groups of items."""
        packing = Packing()
        # The pickle of a function may hold its code and be large: as an array of bytes it is sent only once, too.
        code = packing.pack(function)
        whole = packing.pack(np.frombuffer(code.content, dtype=np.uint8).copy())
        head = Parcel(whole.content, tuple(sorted({*code.chunks, *whole.chunks})))
        parcels = [packing.pack(list(group)) for group in groups]
        return cls(head, parcels, packing.chunks(), uuid.uuid4().hex)

    @cached_property
    def nbytes(self) -> int:
        """Bytes of all chunks, which a worker on all groups is sent once."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def errand(self, group: int) -> Errand:
        """The errand that runs one group."""
        parcel = self.groups[group]
        needed = tuple(sorted({*self.function.chunks, *parcel.chunks}))
        return Errand(self.name, self.function.content, parcel.content, needed)


class Errand(NamedTuple):
    """One group of a job, as it is sent; the chunks that it needs are sent beside it, in their order."""

    job: str
    function: bytes
    items: bytes
    chunks: tuple[int, ...]

    def run(self, chunks: Sequence[Chunk]) -> list[Any]:
        """Apply the function to the items, in their order."""
        found = dict(zip(self.chunks, chunks, strict=True))
        function = _functions.get(self.job, lambda: self._function(found))
        return [function(item) for item in unpack(Parcel(self.items, self.chunks), found)]

    def _function(self, chunks: Mapping[int, Chunk]) -> Callable[[Any], Any]:
        code: NDArray[np.uint8] = unpack(Parcel(self.function, self.chunks), chunks)
        function: Callable[[Any], Any] = unpack(Parcel(code.tobytes(), self.chunks), chunks)
        return function


class _Functions:
    """The functions of a worker's most recent jobs, so that each is unpacked only once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, job: str, make: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
        """The function of a job, unpacked by `make` if it is not kept."""
        with self._lock:
            if job not in self._kept:
                self._kept[job] = make()
            self._kept.move_to_end(job)
            while len(self._kept) > FUNCTIONS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[job]


_functions = _Functions()

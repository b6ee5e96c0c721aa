"""Work that is sent away: pickled small, with all that is large beside it, where it travels once.

A task of a few columns is many kilobytes of columns and a few bytes of everything else, and tasks share most of their
columns. So whatever is pickled here leaves its arrays behind: rows of the same bytes are kept once, by a digest, side
by side in `chunks`, and what is left refers to them by chunk and position. An engine hands every worker the chunks that
its parcels name, once; what is unpickled has arrays of its own again, with the same bits in the same layout.
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

LEAST_BYTES = 512  # memory: of an array, or of a row of one: what is smaller is pickled where it stands
CHUNK_BYTES = 32 << 20  # memory: what travels as one piece, about
ALIGNED = 64  # fact: bytes
FUNCTIONS_KEPT = 4  # memory: that a worker has unpickled last


class Parcel(NamedTuple):
    """Something pickled, and the chunks that it refers to."""

    content: bytes
    chunks: tuple[int, ...]


@dataclass
class Packing:
    """What is packed together, and shares what is large."""

    _places: dict[bytes, Place] = field(default_factory=dict)
    _rows: list[list[NDArray[Any]]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def pack(self, thing: object) -> Parcel:
        """Pickle something without its large arrays."""
        buffer, named = io.BytesIO(), set[int]()
        _Pickler(buffer, self, named).dump(thing)
        return Parcel(buffer.getvalue(), tuple(sorted(named)))

    def put(self, row: NDArray[Any]) -> Place:
        """Keep contiguous bytes, unless the same are here already."""
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
        """All that was kept."""
        chunks = [np.zeros(size, dtype=np.uint8) for size in self._sizes]
        for chunk, rows in zip(chunks, self._rows, strict=True):
            start = 0
            for row in rows:
                chunk[start : start + row.nbytes] = np.frombuffer(row.data.cast("B"), dtype=np.uint8)
                start += -(-row.nbytes // ALIGNED) * ALIGNED
        return chunks


class _Pickler(CloudPickler):
    """Names arrays by their places."""

    def __init__(self, buffer: io.BytesIO, packing: Packing, named: set[int]) -> None:
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        self._packing, self._named = packing, named

    def persistent_id(self, thing: object) -> tuple[Any, ...] | None:
        """What stands for an array, or None for what is pickled as it is."""
        if type(thing) is not np.ndarray or thing.dtype.kind not in "biuf" or thing.nbytes < LEAST_BYTES:
            return None
        is_turned = thing.ndim == 2 and thing.flags.f_contiguous and not thing.flags.c_contiguous
        array = np.ascontiguousarray(thing.T if is_turned else thing)
        is_split = array.ndim == 2 and array[0].nbytes >= LEAST_BYTES
        places = [self._packing.put(row) for row in (array if is_split else array[None])]
        self._named.update(chunk for chunk, _ in places)
        return array.dtype.str, array.shape, is_turned, places


class _Unpickler(pickle.Unpickler):
    """Puts arrays back: memory of their own that can be written to, as compiled code was compiled for."""

    def __init__(self, content: bytes, chunks: Mapping[int, Chunk]) -> None:
        super().__init__(io.BytesIO(content))
        self._chunks = chunks

    def persistent_load(self, reference: tuple[str, tuple[int, ...], bool, list[Place]]) -> NDArray[Any]:
        """The array that a reference stands for."""
        dtype, shape, is_turned, places = reference
        array = np.empty(shape, dtype=np.dtype(dtype))
        rows = array.reshape(len(places), -1)
        for row, (chunk, start) in zip(rows, places, strict=True):
            row[:] = self._chunks[chunk][start : start + row.nbytes].view(row.dtype)
        return array.T if is_turned else array


def unpack(parcel: Parcel, chunks: Mapping[int, Chunk]) -> Any:
    """What was packed."""
    return _Unpickler(parcel.content, chunks).load()


@dataclass(frozen=True)
class Job:
    """A function, items in groups, and what they share, ready to be sent.

    Parameters
    ----------
    function : Parcel
    groups : list of Parcel
        Of lists of items.
    chunks : list of ndarray of uint8
        What the parcels refer to, by position.
    name : str
        No two jobs have the same.
    """

    function: Parcel
    groups: list[Parcel]
    chunks: list[Chunk]
    name: str

    @classmethod
    def of(cls, function: Callable[[Any], Any], groups: Iterable[Sequence[Any]]) -> Job:
        """Pack a function and groups of items."""
        packing = Packing()
        # A function that was not imported is pickled with its code: an array of bytes, so that it travels once, too.
        code = packing.pack(function)
        whole = packing.pack(np.frombuffer(code.content, dtype=np.uint8).copy())
        head = Parcel(whole.content, tuple(sorted({*code.chunks, *whole.chunks})))
        parcels = [packing.pack(list(group)) for group in groups]
        return cls(head, parcels, packing.chunks(), uuid.uuid4().hex)

    @cached_property
    def nbytes(self) -> int:
        """What a worker that takes part in all groups is sent, once."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def errand(self, group: int) -> Errand:
        """What does one group."""
        parcel = self.groups[group]
        needed = tuple(sorted({*self.function.chunks, *parcel.chunks}))
        return Errand(self.name, self.function.content, parcel.content, needed)


class Errand(NamedTuple):
    """One group of a job, as it is sent: the chunks that it needs go beside it, in their order."""

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
    """The functions of the jobs that a worker took part in last, so that what they hold is unpacked once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, job: str, make: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
        """The function of a job, made if it is not here."""
        with self._lock:
            if job not in self._kept:
                self._kept[job] = make()
            self._kept.move_to_end(job)
            while len(self._kept) > FUNCTIONS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[job]


_functions = _Functions()

"""What a Parquet or Arrow file unpacks to, from the sizes that its own pages and buffers say, before any is unpacked.

A reader allocates what the head of a compressed page or buffer asks for, whatever a footer claims. So these heads are
read, and nothing else: Parquet's, in Thrift's compact form, along each column, and Arrow's, which are FlatBuffers.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

__all__ = ["arrow_bytes", "parquet_bytes"]

# Which fields of Thrift's structures are kept: their numbers, and of a structure or a list of them, what is kept there.
COLUMN: dict[int, Any] = {
    3: {3: {}, 7: {}, 9: {}, 11: {}}
}  # path, compressed size, where data begin, where a dictionary does
FOOTER: dict[int, Any] = {4: {1: COLUMN}}  # the row groups' columns
PAGE: dict[int, Any] = {2: {}, 3: {}}  # sizes, unpacked and packed
HEAD_BYTES = 1 << 20  # memory: of a page's head, which may hold its smallest and its largest value
DEEPEST = 32
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
MESSAGE = b"\xff\xff\xff\xff"
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
DAMAGED = (IndexError, LookupError, OverflowError, RecursionError, TypeError, ValueError, struct.error)


def parquet_bytes(file: BinaryIO, columns: Collection[str] | None = None) -> dict[str, int]:
    """The bytes that columns of a Parquet file, by default all, unpack to, while dictionaries stay as they are.

    Raises
    ------
    ValueError
        If the file is not one of Parquet.
    """
    total: Counter[str] = Counter()
    try:
        file.seek(-8, 2)
        end = file.tell()
        (length,) = struct.unpack("<I4x", file.read(8))
        file.seek(end - length)
        for group in _Thrift(file.read(length)).structure(FOOTER).get(4, []):
            for column in group.get(1, []):
                name = column[3][3][0].decode()
                if columns is None or name in columns:
                    total[name] += sum(_pages(file, end, column[3]))
    except DAMAGED:
        raise ValueError("its pages are damaged") from None
    return total


def _pages(file: BinaryIO, end: int, column: dict[int, Any]) -> Iterator[int]:
    """Unpacked sizes of the pages of a column in a row group."""
    place = min(start for start in (column.get(11), column[9]) if start)
    stop = min(place + column[7], end)
    while place < stop:
        file.seek(place)
        head = _Thrift(file.read(min(HEAD_BYTES, stop - place)))
        sizes = head.structure(PAGE)
        if min(sizes[2], sizes[3]) < 0:
            raise ValueError("a page of negative size")
        yield sizes[2]
        place += head.place + sizes[3]


class _Thrift:
    """Structures in Thrift's compact form; only fields that are asked for are kept."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def structure(self, wanted: dict[int, Any] | None, depth: int = 0) -> dict[int, Any]:
        """Fields of the structure that begins here, by their numbers."""
        if depth > DEEPEST:
            raise ValueError("too deep")
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            inner = None if wanted is None else wanted.get(number)
            value = self._value(head & 15, inner, depth)
            if inner is not None:
                found[number] = value
        return found

    def _value(self, kind: int, wanted: dict[int, Any] | None, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == STRUCT:
            return self.structure(wanted, depth + 1)
        if kind in (LIST, SET):
            return self._items(wanted, depth)
        if kind == MAP:
            count = self._number()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._skip(kinds >> 4, depth)
                self._skip(kinds & 15, depth)
            return None
        return self._plain(kind)

    def _plain(self, kind: int) -> Any:
        if kind in (BYTE, DOUBLE, BINARY):
            count = self._number() if kind == BINARY else 8 if kind == DOUBLE else 1
            start, self.place = self.place, self.place + count
            if self.place > len(self.content):
                raise ValueError("cut short")
            return self.content[start : self.place]
        return self._whole()

    def _items(self, wanted: dict[int, Any] | None, depth: int) -> list[Any]:
        head = self._byte()
        count, kind = (head >> 4 if head >> 4 < 15 else self._number()), head & 15
        found = []
        for _ in range(count):
            value = self._byte() if kind in (TRUE, FALSE) else self._value(kind, wanted, depth)
            if wanted is not None:
                found.append(value)
        return found

    def _skip(self, kind: int, depth: int) -> None:
        if kind in (TRUE, FALSE):
            self._byte()
        else:
            self._value(kind, None, depth)

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _number(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("no number")

    def _whole(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)


# --- Arrow ------------------------------------------------------------------------------------------------------------


def arrow_bytes(file: BinaryIO, *, is_stream: bool) -> int:
    """The bytes that the compressed buffers of an Arrow file or stream unpack to.

    Raises
    ------
    ValueError
        If the file is not one of Arrow.
    """
    try:
        places = _in_stream(file) if is_stream else _in_file(file)
        return sum(_buffers(file, place) for place in places)
    except DAMAGED:
        raise ValueError("its buffers are damaged") from None


def _in_file(file: BinaryIO) -> Iterator[int]:
    """Where the messages of an Arrow file begin, by its footer; one that is named again is read again."""
    file.seek(-10, 2)
    end = file.tell()
    (length,) = struct.unpack("<i6x", file.read(10))
    file.seek(end - length)
    footer = _Flat.root(file.read(length))
    for field in (2, 3):
        for block in footer.structures(field, 24):
            yield struct.unpack_from("<q", block)[0]


def _in_stream(file: BinaryIO) -> Iterator[int]:
    place, end = 0, file.seek(0, 2)
    while place < end:
        yield place
        message, start = _message(file, place)
        if message is None:
            return
        place = start + message.number(3, "<q")


def _message(file: BinaryIO, place: int) -> tuple[_Flat | None, int]:
    """The message that begins at a place, and where its buffers do; None at the end of a stream."""
    file.seek(place)
    mark, length = struct.unpack("<4si", file.read(8).ljust(8, b"\0"))
    if mark != MESSAGE:  # of Arrow before 0.15
        length, place = struct.unpack("<i", mark)[0], place - 4
    if length <= 0:
        return None, place
    file.seek(place + 8)
    return _Flat.root(file.read(length)), place + 8 + length


def _buffers(file: BinaryIO, place: int) -> int:
    message, start = _message(file, place)
    kind = 0 if message is None else message.number(1, "<B")
    if message is None or kind not in (DICTIONARY_BATCH, RECORD_BATCH):
        return 0
    batch = message.table(2)
    batch = batch.table(1) if batch is not None and kind == DICTIONARY_BATCH else batch
    if batch is None or batch.table(3) is None:
        return 0
    total = 0
    for buffer in batch.structures(2, 16):
        offset, length = struct.unpack("<qq", buffer)
        if length > 0:
            file.seek(start + offset)
            total += max(struct.unpack("<q", file.read(8))[0], 0)  # -1 for one that is not compressed
    return total


class _Flat:
    """A table of FlatBuffers."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content, self.place = content, place
        self._fields = place - struct.unpack_from("<i", content, place)[0]

    @classmethod
    def root(cls, content: bytes) -> _Flat:
        """The table that a buffer holds."""
        return cls(content, struct.unpack_from("<I", content)[0])

    def _at(self, field: int) -> int | None:
        if self._fields < 0 or struct.unpack_from("<H", self.content, self._fields)[0] < 6 + 2 * field:
            return None
        offset = struct.unpack_from("<H", self.content, self._fields + 4 + 2 * field)[0]
        return self.place + offset if offset else None

    def number(self, field: int, form: str) -> int:
        """A whole number; 0 where it is not written."""
        at = self._at(field)
        return 0 if at is None else int(struct.unpack_from(form, self.content, at)[0])

    def _followed(self, field: int) -> int | None:
        at = self._at(field)
        return None if at is None else at + struct.unpack_from("<I", self.content, at)[0]

    def table(self, field: int) -> _Flat | None:
        """Another table."""
        at = self._followed(field)
        return None if at is None else _Flat(self.content, at)

    def structures(self, field: int, size: int) -> Iterator[bytes]:
        """Structures of a size, side by side."""
        at = self._followed(field)
        count = 0 if at is None else struct.unpack_from("<I", self.content, at)[0]
        for i in range(count):
            part = self.content[(at or 0) + 4 + i * size : (at or 0) + 4 + (i + 1) * size]
            if len(part) < size:
                raise ValueError("cut short")
            yield part

"""Labels of a table that is gone through batch by batch, as numbers on their way.

A label's number is a hash of its text, so that it is the same in every batch and needs no list of all labels, which in
a column of identifiers would be as long as the table. Ordered categories are numbered in their order. What the numbers
stand for is kept for as many as there is room for: beyond that, labels differ as they did but have made-up names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from pydine.types import FloatArray

__all__ = ["Labels"]

HASH_BYTES, SPARE_BITS = (
    8,
    12,
)  # fact: a float64 holds whole numbers of 52 bits; among a million, two are equal once in 9000
MOST_NAMES = 1 << 16  # memory: labels of a column whose text is kept


@dataclass(frozen=True)
class Labels:
    """What was met so far: booleans, orders of categories, and numbers of labels with their text."""

    _booleans: set[str] = field(default_factory=set)
    _orders: dict[str, dict[str, int]] = field(default_factory=dict)
    _known: dict[str, dict[str, float]] = field(default_factory=dict)

    @staticmethod
    def is_one(kind: Any) -> bool:
        """Whether an Arrow type is one of labels: text, categories, or booleans."""
        types = import_module("pyarrow").types
        known = [types.is_boolean, types.is_string, types.is_large_string, types.is_dictionary]
        known += [types.is_string_view] if hasattr(types, "is_string_view") else []
        return any(is_one(kind) for is_one in known)

    def numbers(self, name: str, column: Any) -> FloatArray:
        """An Arrow column of labels as numbers, NaN where there is none, shape (rows,)."""
        arrow = import_module("pyarrow")
        if arrow.types.is_boolean(column.type):
            self._booleans.add(name)
            return np.asarray(column.cast(arrow.int8()).cast(arrow.float64()).to_numpy(zero_copy_only=False))
        if isinstance(column, arrow.Array):
            column = arrow.chunked_array([column])
        kind = column.type
        is_ordered = arrow.types.is_dictionary(kind) and kind.ordered
        parts = [
            part if arrow.types.is_dictionary(kind) else part.dictionary_encode() for part in column.chunks if len(part)
        ]
        return np.concatenate([np.empty(0), *(self._of_part(name, part, is_ordered) for part in parts)])

    def _of_part(self, name: str, part: Any, is_ordered: bool) -> FloatArray:
        """One chunk of an Arrow column that is dictionary-encoded."""
        words = [None if word is None else str(word) for word in part.dictionary.to_pylist()]
        coded = (self._ordered if is_ordered else self._hashed)(name, words)
        indices = part.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        numbers: FloatArray = np.append(coded, np.nan)[indices]  # the last is what -1 takes
        return numbers

    def _ordered(self, name: str, words: Sequence[str | None]) -> FloatArray:
        order = self._orders.setdefault(name, {})
        return np.array([np.nan if word is None else order.setdefault(word, len(order)) for word in words], dtype=float)

    def _hashed(self, name: str, words: Sequence[str | None]) -> FloatArray:
        known = self._known.setdefault(name, {})
        found = np.full(len(words), np.nan)
        for i, word in enumerate(words):
            if word is None:
                continue
            number = known.get(word)
            if number is None:
                number = _hash(word)
                if len(known) < MOST_NAMES:
                    known[word] = number
            found[i] = number
        return found

    def has(self, name: str) -> bool:
        """Whether a column was met that holds labels, booleans aside: these are 0 and 1."""
        return name in self._known or name in self._orders

    def restored(self, name: str, values: FloatArray) -> Any:
        """Numbers of a column (rows,) as what they were: labels, booleans, ordered categories; or numbers."""
        if name in self._booleans:
            return values.astype(np.bool_)
        if name in self._orders:
            arrow = import_module("pyarrow")
            codes, words = arrow.array(values.astype(np.int32)), arrow.array(list(self._orders[name]))
            return arrow.DictionaryArray.from_arrays(codes, words, ordered=True)
        if name in self._known:
            words = {number: word for word, number in self._known[name].items()}
            different, places = np.unique(values, return_inverse=True)
            names = np.array(
                [words.get(number, f"label {int(number):x}") for number in different.tolist()], dtype=object
            )
            return names[places]
        return values


def _hash(word: str) -> float:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()
    return float(int.from_bytes(digest, "big") >> SPARE_BITS)

"""Objects in files without pickle: what comes back is what was written, or a sentence says why not."""

import io
import json
import math
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from faults import flips, retold
from pydine.archive import Refused, Schema, _digest, _members, _sealed


@dataclass(frozen=True, eq=False)
class Leaf:
    values: object
    extra: object = None


@dataclass(frozen=True, eq=False)
class Branch:
    leaves: tuple
    name: str = ""
    more: dict = field(default_factory=dict)
    call: Callable | None = None


class Pair(NamedTuple):
    first: object
    second: object


class Colour(Enum):
    RED = 0.0
    BLUE = math.inf


class Stranger(NamedTuple):
    x: int


def doubled(x):
    return 2 * x


SCHEMA = Schema("test", 2, (Leaf, Branch, Pair, Colour), {"doubled": doubled})


def again(content):
    return SCHEMA.from_bytes(SCHEMA.to_bytes(content))[0]


def same(a, b):
    """To the last bit, types included; NaN is NaN."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, Leaf | Branch):
        same(vars(a), vars(b))
    elif isinstance(a, dict):
        same(list(a.items()), list(b.items()))
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    else:
        assert repr(a) == repr(b)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]))
ARRAYS = arrays.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.bool_]), arrays.array_shapes(min_dims=0, min_side=0)
)
TREES = st.recursive(
    SCALARS | ARRAYS | st.sampled_from([doubled, *Colour]),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(SCALARS, inner)
        | st.builds(Leaf, inner, inner)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(TREES)
@pytest.mark.slow
def test_what_comes_back_is_what_was_written(content):
    data = SCHEMA.to_bytes(content)
    same(SCHEMA.from_bytes(data)[0], content)
    assert SCHEMA.to_bytes(content) == data


def test_what_is_shared_stays_shared():
    leaf = Leaf(np.arange(3.0))
    found = again([leaf, Branch((leaf, Leaf(leaf.values)), call=doubled), leaf.values])
    assert found[1].leaves[0] is found[0]
    assert found[1].leaves[1].values is found[0].values is found[2]
    assert found[1].call is doubled


def test_how_an_array_lies_in_memory_is_kept():
    tall = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for array in (tall, tall.T, np.arange(12.0).reshape(3, 4)[:, ::2]):
        found = again(array)
        np.testing.assert_array_equal(found, array)
        assert found.flags.f_contiguous or not array.flags.f_contiguous
        assert found.flags.writeable


def test_numbers_of_numpy_are_plain_ones():
    assert again([np.float64(1.5), np.int64(3), np.bool_(True)]) == [1.5, 3, True]


@pytest.mark.parametrize("content", [object(), lambda x: x, Stranger(1), np.array(["a"]), np.array([None]), {1, 2}, 1j])
def test_nothing_else_is_written(content):
    with pytest.raises(TypeError, match="cannot be saved in a file"):
        SCHEMA.to_bytes([content])


def test_numpy_opens_it_too():
    with np.load(io.BytesIO(SCHEMA.to_bytes(Leaf(np.arange(3.0)), by="somebody")), allow_pickle=False) as file:
        assert json.loads(file["head"].tobytes())["by"] == "somebody"
        np.testing.assert_array_equal(file["float64"], np.arange(3.0))


def test_every_flipped_bit_is_noticed():
    data = SCHEMA.to_bytes(Leaf(np.arange(3.0), "text"))
    for damaged in flips(data, 4000):
        with pytest.raises(Refused, match=r"is damaged|was not written by pydine"):
            SCHEMA.from_bytes(damaged)


def test_every_missing_end_is_noticed():
    data = SCHEMA.to_bytes(Leaf(np.arange(3.0), "text"))
    for length in range(len(data)):
        with pytest.raises(Refused):
            SCHEMA.from_bytes(data[:length])
    with pytest.raises(Refused):
        SCHEMA.from_bytes(data + b"\0")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"x,y\n1,2\n", pickle.dumps([1]), None])
def test_files_of_others(data):
    if data is None:
        buffer = io.BytesIO()
        np.savez(buffer, head=np.zeros(3))
        data = buffer.getvalue()
    with pytest.raises(Refused, match="was not written by pydine"):
        SCHEMA.from_bytes(data)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('"test"', '"other"', "holds a other, not a test"),
        ('"version":2', '"version":3', r"newer format, by pydine 9\.9 \(version 3, but at most 2 can be read\)"),
        ('"version":2', '"version":"a"', "newer format"),
        ('{"schema"', '{"scheme"', "no readable header"),
        ('{"schema"', '["schema"', "no readable header"),
        ('"Leaf"', '"Root"', "does not hold what a test of this version holds"),
        ('"values"', '"value"', "Leaf has other fields: values, value"),
        ('"array"', '"__class__"', "does not hold"),
        ('"array"', '"_array"', "does not hold"),
        ('{"function":"doubled"}', '{"function":"eval"}', "does not hold"),
        ('{"function":"doubled"}', '{"same":5}', "does not hold"),
        ('{"function":"doubled"}', "[" * 5000 + "]" * 5000, "does not hold|no readable header"),
        ('["float64",0,[3]', '["float64",1,[3]', "beyond the numbers"),
        ('["float64",0,[3]', '["float64",0,[-1,-3]', "beyond the numbers"),
        ('["float64",0,[3]', '["float64",0,[1e9]', "does not hold"),
        ('["float64",0,[3]', '["uint8",0,[3]', "beyond the numbers"),
    ],
)
def test_what_somebody_made_up(before, after, why):
    """With a digest that agrees."""
    data = SCHEMA.to_bytes(Leaf(np.arange(3.0), doubled), pydine="9.9")
    with pytest.raises(Refused, match=why):
        SCHEMA.from_bytes(retold(data, before, after))


def test_a_field_that_came_later_has_its_default():
    data = SCHEMA.to_bytes(Leaf(1.0, None))
    assert SCHEMA.from_bytes(retold(data, ',"extra":null', ""))[0].extra is None


def test_older_files_are_read():
    assert SCHEMA.from_bytes(retold(SCHEMA.to_bytes([1]), '"version":2', '"version":1')) == ([1], {})


def test_nothing_is_unpacked():
    """A few bytes that would become many are refused, and so are objects."""
    members = _members(SCHEMA.to_bytes([1]))
    for compression, array in ((zipfile.ZIP_DEFLATED, members["head"]), (zipfile.ZIP_STORED, None)):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as file, file.open("head.npy", "w") as member:
            np.save(member, np.array([Stranger(1)], dtype=object) if array is None else array)
        content = buffer.getvalue()
        with zipfile.ZipFile(io.BytesIO(_sealed({}))) as empty:
            length = len(empty.comment)
        content = content[:-2] + length.to_bytes(2, "little")
        with pytest.raises(Refused, match="does not hold arrays"):
            SCHEMA.from_bytes(content + _digest(content))


def test_classes_are_known_by_name():
    with pytest.raises(ValueError, match="must have different names"):
        Schema("twice", 1, (Leaf, Leaf))

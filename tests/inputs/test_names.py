"""Column names that are there twice: every column keeps a name of its own, and a warning says which."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pydine
from pydine.inputs.names import with_different_names
from pydine.questions.ranking import rank


def names_of(*names):
    frame = pd.DataFrame(np.zeros((2, len(names))), columns=pd.Index(list(names), tupleize_cols=False, dtype=object))
    return list(with_different_names("x", frame).columns)


@pytest.mark.parametrize(
    ("names", "renamed"),
    [
        (("a", "a"), ["a", "a.1"]),
        (("a", "b", "a", "a", "b"), ["a", "b", "a.1", "a.2", "b.1"]),
        (("a", "a.1", "a"), ["a", "a.1", "a.2"]),
        (("a", "a", "a.1"), ["a", "a.2", "a.1"]),
        ((0, 0), [0, "0.1"]),
        (("", ""), ["", ".1"]),
        (("c",) * 8, ["c", *(f"c.{i}" for i in range(1, 8))]),
    ],
)
def test_as_pandas_calls_them(names, renamed):
    with pytest.warns(UserWarning, match="x has repeated column names; later ones are renamed"):
        assert names_of(*names) == renamed


def test_names_of_several_levels():
    frame = pd.DataFrame(np.zeros((2, 2)), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "b")]))
    with pytest.warns(UserWarning, match="repeated column names"):
        assert list(with_different_names("x", frame).columns) == [("a", "b"), ("a", "b.1")]


@pytest.mark.parametrize(
    "value",
    [pd.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]}), pd.Series([1]), 3, None],
)
def test_others_are_left_alone(value):
    assert with_different_names("x", value) is value


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((40, 3)), columns=["c", "c", "y"])


DOORS = {
    "mutual_information": lambda f: pydine.mutual_information(f[["c"]], f["y"]).names[0],
    "DINE": lambda f: pydine.DINE(base="gaussian").fit("c.1", "y", data=f).information_.names[0],
    "independence_test": lambda f: pydine.independence_test(["c", "c.1"], "y", data=f).estimate.names[0],
    "pairwise_information": lambda f: pydine.pairwise_information(f, base="gaussian").names,
    "rank": lambda f: sorted(column.name for column in rank(f, "y", base="gaussian")),
    "selector": lambda f: pydine.ConditionalSelector().fit(f[["c"]], f["y"]).feature_names_in_,
    "selected": lambda f: pydine.ConditionalSelector().set_output(transform="pandas").fit(f, f["c"].iloc[:, 1])
    .transform(f).columns,
    "score": lambda f: [f"{score:.0f}" for score in pydine.mutual_information_score(f, f["c"].iloc[:, 1])[0]],
}  # fmt: skip
NAMES = {
    "mutual_information": ["c", "c.1"],
    "DINE": ["c.1"],
    "independence_test": ["c", "c.1"],
    "pairwise_information": ["c", "c.1", "y"],
    "rank": ["c", "c.1"],
    "selector": ["c", "c.1"],
    "selected": ["c.1"],
    "score": ["0", "inf", "0"],
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door(door, frame):
    with pytest.warns(UserWarning, match=r"repeated column names; later ones are renamed 'c\.1'\.") as caught:
        found = list(DOORS[door](frame))
    assert caught[0].filename == __file__
    assert [name.replace("-0", "0") for name in found] == NAMES[door]

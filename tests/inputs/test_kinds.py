"""Kinds of column: the rule that finds them, what is read, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pydine.inputs.checks import FewRowsWarning, LeftOutWarning, TiesWarning
from pydine.inputs.kinds import Kind, atoms_of, check_kinds, is_identifier, is_thin, kind_of, pooled
from pydine.inputs.reading import labels_of, read_question, read_rows, read_variables

N = 300
LABELS = np.array(["b", "a", "c"])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (lambda rng: rng.standard_normal(N), Kind.CONTINUOUS),
        (lambda rng: np.round(rng.standard_normal(N), 2), Kind.CONTINUOUS),
        (lambda rng: rng.integers(18, 90, N), Kind.CONTINUOUS),
        (lambda rng: rng.poisson(3.0, N), Kind.ORDINAL),
        (lambda rng: np.round(rng.standard_normal(N)), Kind.ORDINAL),
        (lambda rng: np.where(rng.random(N) < 0.3, 0.0, rng.random(N)), Kind.ORDINAL),
        (lambda rng: np.where(rng.random(N) < 0.08, 0.0, rng.random(N)), Kind.ORDINAL),
        (lambda rng: rng.integers(0, 2, N), Kind.NOMINAL),
        (lambda rng: rng.integers(0, 3, N), Kind.ORDINAL),
    ],
)
def test_kinds_of_numbers(rng, draw, kind):
    column = draw(rng).astype(float)
    assert kind_of(column) is kind
    assert kind_of(np.append(column, [np.nan, np.inf])) is kind


def test_point_masses(rng):
    bulk = rng.standard_normal(N)
    column = np.where(rng.random(N) < 0.2, 5.0, bulk)
    np.testing.assert_array_equal(atoms_of(column), [5.0])
    assert len(atoms_of(bulk)) == 0
    assert len(atoms_of(rng.poisson(2.0, N).astype(float))) == 0  # all are steps


def frames():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, N)
    columns = {"text": LABELS[code], "flag": rng.random(N) < 0.3, "count": rng.poisson(2.0, N), "z": rng.random(N)}
    pandas = pd.DataFrame(columns).assign(
        category=pd.Categorical(LABELS[code]),
        objects=LABELS[code].astype(object),
        nullable=pd.array(columns["count"], dtype="Int64"),
    )
    polars = pl.DataFrame(columns).with_columns(
        category=pl.col("text").cast(pl.Categorical), nullable=pl.col("count").cast(pl.Int16)
    )
    arrow = pa.table({**columns, "category": pa.array(LABELS[code]).dictionary_encode(), "nullable": columns["count"]})
    return {"pandas": pandas, "polars": polars, "pyarrow": arrow}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_types_of_frames(library):
    table = read_variables(frames()[library]).table
    kinds = dict(zip(table.names, table.kinds, strict=True))
    assert {kinds[name] for name in ("text", "flag", "category")} == {Kind.NOMINAL}
    assert {kinds[name] for name in ("count", "nullable")} == {Kind.ORDINAL}
    assert kinds["z"] is Kind.CONTINUOUS
    places = {name: i for i, name in enumerate(table.names)}
    np.testing.assert_array_equal(table.columns[places["text"]], table.columns[places["category"]])
    assert set(table.codings["text"]) == {"a", "b", "c"}


def test_ordered_categories_keep_their_order(rng):
    grades = pd.Categorical(
        np.array(["low", "mid", "top"])[rng.integers(0, 3, N)], categories=["low", "mid", "top"], ordered=True
    )
    question = read_question(pd.Series(grades), rng.random(N))
    assert question.kinds[0] == (Kind.ORDINAL,)
    np.testing.assert_array_equal(question.table.columns[0], grades.codes)


def test_missing_labels_are_missing(rng):
    text = LABELS[rng.integers(0, 3, N)].astype(object)
    text[4] = None
    with pytest.raises(ValueError, match="1 of its 300 rows hold NaN or infinity, the first in row 4"):
        read_question(text, rng.random(N))
    assert read_question(text, rng.random(N), nan_policy="omit").table.n_dropped == 1


def test_what_is_said_goes_first(rng):
    count = rng.poisson(2.0, N)
    assert read_question(count, rng.random(N), kinds={"x": "nominal"}).kinds[0] == (Kind.NOMINAL,)
    with pytest.warns(TiesWarning, match="which kinds= says are continuous"):
        assert read_question(count, rng.random(N), kinds={"x": "continuous"}).table.kinds == ()
    frame = np.column_stack([count, rng.random(N)])
    assert read_variables(frame, kinds={0: "nominal"}).table.kinds[0] is Kind.NOMINAL


def test_what_cannot_be_meant():
    with pytest.raises(ValueError, match=r"kinds names the column 'age', .* its columns are 'x', 'y'\."):
        check_kinds({"age": "nominal"}, ["x", "y"])
    with pytest.raises(
        ValueError, match=r"kinds\['x'\] must be 'continuous', 'ordinal', 'nominal' or an angle .*, but got 'text'"
    ):
        check_kinds({"x": "text"}, ["x", "y"])
    with pytest.raises(ValueError, match="kinds must be a mapping"):
        check_kinds(["x"], ["x", "y"])
    with pytest.raises(ValueError, match="x holds text, which has no order or size, so it cannot be ordinal"):
        read_question(LABELS[np.arange(60) % 3], np.arange(60.0), kinds={"x": "ordinal"})


def test_identifiers(rng):
    names = np.array([f"row {i}" for i in range(N)])
    assert is_identifier(np.arange(N, dtype=float))
    with pytest.raises(ValueError, match="x has 300 different labels in 300 rows, too many to learn from; leave"):
        read_question(names, rng.random(N))
    table = {"id": names, "a": rng.random(N), "b": rng.random(N)}
    with pytest.warns(LeftOutWarning, match="Left out: column 'id' of data has 300 different labels"):
        assert read_variables(table).table.names == ("a", "b")
    with pytest.warns(LeftOutWarning):
        assert read_question(["id", "a"], "b", data=table, left_out={}).names[0] == ("a",)


def test_rare_labels_are_one():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], [30, 50, 4, 3, 2])
    numbers, places = pooled(codes)
    assert places == {0.0: 1, 1.0: 0, 2.0: 2, 3.0: 2, 4.0: 2}
    np.testing.assert_array_equal(np.unique(numbers, return_counts=True)[1], [50, 30, 9])


def test_many_labels_all_stand_by_themselves(rng):
    codes = np.append(rng.permutation(np.repeat(np.arange(30.0), 12)), 30.0)
    numbers, places = pooled(codes)
    assert len(set(places.values())) == 31
    np.testing.assert_array_equal(np.unique(numbers, return_counts=True)[1], [12] * 30 + [1])


def test_few_rows_a_label_are_told_of(rng):
    names = np.array([f"label {i}" for i in range(N)])[np.arange(N) // 5]
    assert is_thin(np.arange(N) // 5 * 1.0)
    with pytest.warns(FewRowsWarning, match=r"Few rows per label in x \(60 labels, 5.0 rows each\)"):
        question = read_question(names, rng.random(N))
    again = read_rows(np.array(["label 3", "another"]), [0.1, 0.2], labels=labels_of(question))
    np.testing.assert_array_equal(again.table.columns[0], [question.table.codings["x"]["label 3"], 60.0])


def test_new_rows_have_the_numbers_of_the_old_ones(rng):
    text = LABELS[rng.integers(0, 3, N)]
    question = read_question(text, rng.random(N))
    again = read_rows(np.array(["c", "a"]), [0.1, 0.2], labels=labels_of(question))
    coding = question.table.codings["x"]
    np.testing.assert_array_equal(again.table.columns[0], [coding["c"], coding["a"]])
    with pytest.raises(ValueError, match="x holds the label 'd', which was not in fit"):
        read_rows(np.array(["d"]), [0.1], labels=labels_of(question))


def test_signatures_of_labels_do_not_depend_on_their_numbers(rng):
    codes = rng.integers(0, 3, N)
    one = read_question(LABELS[codes], rng.random(N)).table.signatures[0]
    other = read_question(np.array(["z", "y", "w"])[codes], rng.random(N)).table.signatures[0]
    assert one == other


@pytest.mark.parametrize("dtype", [object, "string", "string[pyarrow]", pd.ArrowDtype(pa.string()), "category"])
def test_labels_that_are_missing_in_columns_of_pandas(rng, dtype):
    """What stands for nothing differs from one type of pandas to the next: None, NaN, and NA, which is neither."""
    labels = LABELS[rng.integers(0, 3, N)].astype(object)
    labels[7] = None
    data = pd.DataFrame({"text": pd.Series(labels).astype(dtype), "z": rng.random(N)})
    read = read_question("text", "z", data=data, nan_policy="omit")
    assert read.table.kinds[0] is Kind.NOMINAL
    assert read.table.n_dropped == 1
    with pytest.raises(ValueError, match="x must hold finite numbers, but 1 of its 300 rows"):
        read_question("text", "z", data=data)

"""Whatever people pass as x, y and z, read as it is."""

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import refusals
from pydine.inputs.kinds import Kind
from pydine.inputs.reading import read_question, read_rows, read_variables
from reading_data import FRAMES, MARK, NAMES, RNG, TABLE, TABLES, A, B, C, D, E, N, assert_same, columns

refusal = partial(refusals.refusal, read_question)


class TestWhatIsRead:
    @pytest.mark.parametrize(
        "make",
        [
            np.asarray,
            list,
            tuple,
            memoryview,
            np.ma.masked_invalid,
            pd.Series,
            pd.Index,
            lambda values: pd.array(values, dtype="Float64"),
            pl.Series,
            pa.array,
            lambda values: pa.chunked_array([values[:9], values[9:]]),
        ],
    )
    def test_one_column(self, make):
        question = read_question(make(A.copy()), B, make(C.copy()))
        assert_same(question, A, B, C)
        assert question.names == (("x",), ("y",), ("z",))
        assert question.dimensions == (1, 1, 1)
        assert question.table.n_samples == N

    @pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, np.ndarray.tolist, list])
    def test_unnamed_columns(self, make):
        question = read_question(make(TABLE[:, :2]), make(TABLE[:, 2:3]), make(TABLE[:, 3:]))
        assert_same(question, TABLE[:, :2], C, TABLE[:, 3:])
        assert question.names == (("x0", "x1"), ("y",), ("z0", "z1"))

    def test_a_dict_of_columns_is_a_frame(self):
        """At x, y and z; its columns may be lists, arrays or series."""
        mixed = {"a": A.tolist(), "b": pd.Series(B), "k": np.array(["u", "v", "w"])[np.arange(N) % 3]}
        frame = pd.DataFrame(mixed)
        found = read_question({"c": C}, {"d": D}, mixed)
        expected = read_question(frame.assign(c=C)[["c"]], pd.Series(D, name="d"), frame)
        assert_same(found, *expected.values())
        assert (found.names, found.kinds) == (expected.names, expected.kinds)
        with pytest.raises(ValueError, match="must have the same number of rows"):
            read_question(C, D, {"a": A, "b": B[1:]})
        with pytest.raises(ValueError, match="the columns of z must be one-dimensional, but one is a single float"):
            read_question(C, D, {"a": 1.5})

    @pytest.mark.parametrize("frame", FRAMES)
    def test_frames_as_arguments(self, frame):
        frame = FRAMES[frame]()
        question = read_question(frame, RNG.normal(size=N))
        np.testing.assert_array_equal(question.values()[0], TABLE)
        assert question.names == (tuple(NAMES), ("y",), ())

    def test_names_of_series(self):
        question = read_question(pd.Series(A, name="bmi"), pl.Series("target", B), pd.Series(C, name=3))
        assert question.names == (("bmi",), ("target",), ("column 3",))

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.slow
    def test_names_in_data(self, table):
        question = read_question("d", ["b"], ["e", "a"], data=TABLES[table]())
        assert_same(question, D, B, TABLE[:, [4, 0]])
        assert question.names == (("d",), ("b",), ("e", "a"))

    @pytest.mark.parametrize("make", [pd.Index, np.array, tuple])
    def test_lists_of_names_of_other_kinds(self, make):
        question = read_question("a", "b", make(["c", "d"]), data=FRAMES["pandas"]())
        assert question.names[2] == ("c", "d")

    @pytest.mark.parametrize("data", [TABLE, TABLE.tolist(), pd.DataFrame(TABLE)])
    def test_positions_in_data(self, data):
        question = read_question(3, -1, np.array([0, 1]), data=data)
        assert_same(question, D, E, TABLE[:, :2])
        assert question.names == (("column 3",), ("column 4",), ("column 0", "column 1"))

    def test_tuples_that_are_names(self):
        frame = pd.DataFrame(TABLE[:, :3], columns=pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a")]))
        assert_same(read_question((1, "a"), [(2, "a")], data=frame), A, C)

    @pytest.mark.parametrize(
        ("z", "data"),
        [([], pd.DataFrame(columns())), (np.empty((N, 0)), None), (pl.DataFrame(), None)],
    )
    def test_no_columns_in_z_is_no_z(self, z, data):
        x, y = ("a", "b") if data is not None else (A, B)
        question = read_question(x, y, z, data=data)
        assert question.values()[2].shape == (N, 0)
        assert question.names == ((x if data is not None else "x",), (y if data is not None else "y",), ())

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, ">f8"])
    def test_other_floats(self, dtype):
        x = np.linspace(-1, 1, N).astype(dtype)
        assert_same(read_question(x, B), x.astype(float), B)

    @pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
    def test_integers(self, dtype):
        x = RNG.permutation(N).astype(dtype)
        assert_same(read_question(x, B), x.astype(float), B)
        assert_same(read_question(pd.Series(x), pl.Series(x[::-1].copy()), pa.array(B)), x, x[::-1], B)

    def test_huge_integers_in_a_list(self):
        x = [10**30 + 10**25 * int(i) for i in RNG.permutation(N)]
        assert_same(read_question(x, B), np.array(x, dtype=float), B)

    def test_integers_that_have_no_float64_of_their_own(self):
        x = 2**62 + 2**50 * RNG.permutation(N) + 1
        for column in (pa.array(x), pd.Series(x, dtype="int64[pyarrow]"), pl.Series(x), pd.Series(x)):
            assert_same(read_question(column, B), x.astype(float), B)

    def test_decimals(self):
        x = pl.Series(RNG.permutation(N) / 4).cast(pl.Decimal(10, 2))
        assert_same(read_question(x, B), x.cast(pl.Float64).to_numpy(), B)

    @pytest.mark.parametrize(
        "make",
        [
            np.asarray,
            list,
            pd.Series,
            pl.Series,
            pa.array,
            lambda v: pd.Series(v, dtype="boolean"),
        ],
    )
    def test_booleans_are_zero_and_one(self, make):
        flags = np.arange(N) % 3 == 0  # the more frequent one is 0
        question = read_question(A, make(flags))
        assert question.kinds[1] == (Kind.NOMINAL,)
        assert_same(question, A, flags.astype(float))

    def test_the_table_is_not_the_caller_s(self):
        x = np.ascontiguousarray(TABLE[:, :2])
        y = C.copy()
        columns = read_question(x, y).table.columns
        assert not np.shares_memory(columns, x)
        assert not np.shares_memory(columns, y)

    @pytest.mark.parametrize("policy", ["raise", "omit"])
    @pytest.mark.parametrize(
        ("make", "read"),
        [
            (np.asarray, lambda wide, **how: read_question(wide[:, 0], wide[:, 1], wide[:, 2:], **how)),
            (pd.DataFrame, lambda wide, **how: read_question(0, 1, [*range(2, 20)], data=wide, **how)),
            (np.asarray, read_variables),
            (pd.DataFrame, lambda wide, **how: read_variables(wide, [8, 9], {"pair": [0, 1]}, **how)),
        ],
        ids=["arrays", "frame", "table", "frame with groups"],
    )
    def test_memory_stays_a_small_multiple(self, make, read, policy):
        """Two copies of the data (columns side by side, then the table), and room to sort one column."""
        wide = np.random.default_rng(1).normal(size=(30_000, 20))
        wide[MARK, 3] = np.nan if policy == "omit" else 0.0
        data = make(wide)
        tracemalloc.start()
        read(data, nan_policy=policy)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2.3 * wide.nbytes


class TestReferences:
    @pytest.mark.parametrize("table", TABLES)
    def test_unknown_name(self, table):
        data = TABLES[table]()
        message = refusal("a", "body", data=data)
        assert message == (
            "y asks for the column 'body', which data does not have; its columns are 'a', 'b', 'c', 'd', 'e'."
        )

    @pytest.mark.parametrize(("asked", "meant"), [("bim", "bmi"), ("BMI", "bmi"), ("traget", "Target")])
    def test_nearest_name(self, asked, meant):
        frame = pd.DataFrame(TABLE[:, :3], columns=["bmi", "Target", "sex"])
        assert refusal("sex", asked, data=frame).endswith(f"the nearest name is {meant!r}.")

    def test_many_names_are_not_all_listed(self):
        frame = pd.DataFrame(np.ones((3, 30)), columns=[f"gene_{i}" for i in range(30)])
        assert "'gene_9' and 20 more." in refusal("x", "y", data=frame)

    @pytest.mark.parametrize("position", [5, -6, "a", True, 1.5])
    def test_unknown_position(self, position):
        assert refusal(0, [1, position], data=TABLE).startswith("y ")

    def test_names_without_data(self):
        message = refusal("bmi", B)
        assert message.startswith("x is the name 'bmi', but there is no data; pass data=frame")
        assert "pass data= if these are the names of columns" in refusal(A, B, ["age", "sex"])

    @pytest.mark.parametrize("value", [A, A.tolist(), pd.Series(A), TABLE, pd.DataFrame(TABLE).iloc[0], 0.5])
    def test_values_and_data(self, value):
        assert refusal(value, "b", data=columns()).startswith("x ")

    def test_values_and_data_are_told_apart(self):
        assert refusal(A, "b", data=columns()).startswith(
            "x must be a column name or a list of them when data is given, but got ndarray"
        )

    @pytest.mark.parametrize(
        "frame",
        [
            pd.DataFrame(TABLE[:, :3], columns=["a", "b", "a"]),
            pa.table([A, B, C], names=["a", "b", "a"]),
        ],
    )
    def test_names_that_stand_twice(self, frame):
        with pytest.warns(UserWarning, match=r"data has repeated column names; later ones are renamed 'a\.1'\."):
            question = read_question("a", "a.1", "b", data=frame)
        assert_same(question, A, C, B)
        assert question.names == (("a",), ("a.1",), ("b",))
        with pytest.warns(UserWarning, match="x has repeated column names"):
            assert read_question(frame, D).names[0] == ("a", "b", "a.1")
        with pytest.warns(UserWarning, match="data has repeated column names"):
            assert read_variables(frame).table.names == ("a", "b", "a.1")

    @pytest.mark.parametrize("data", [A, 3.0, TABLE.reshape(N, 5, 1), "frame.csv", pd.Series(A)])
    def test_data_that_is_no_table(self, data):
        assert refusal(0, 1, data=data).startswith("data must be a frame, a mapping of columns or a two-dim")

    def test_columns_of_a_mapping_with_two_dimensions(self):
        assert "the columns of x must be one-dimensional, but one is ndarray of shape" in refusal(
            "a", "b", data={"a": TABLE, "b": B}
        )


class TestCopies:
    """What is there twice is no fault of the input: the policy of the questions has an answer to it."""

    @pytest.mark.parametrize("label", ["x", "y", "z"])
    def test_copies_are_read_as_they_are(self, label):
        arguments = {"x": A, "y": B, "z": C, label: np.column_stack([D, A, B, C, D])}
        assert_same(read_question(**arguments), *arguments.values())

    def test_a_name_may_be_asked_for_twice(self):
        assert read_question("a", "a", ["a", "b"], data=columns()).names == (("a",), ("a",), ("a", "b"))


class TestRows:
    def test_what_a_fit_would_refuse_is_fine(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            question = read_rows([1.0, 1.0], [[2.0, 3.0], [2.0, 3.0]], [0.0, 1e300])
        assert_same(question, [1.0, 1.0], [[2.0, 3.0], [2.0, 3.0]], [0.0, 1e300])

    def test_no_row_at_all(self):
        assert read_rows(A[:0], TABLE[:0, :2], C[:0]).table.columns.shape == (4, 0)

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ((A, B[1:]), "x and y must have the same number of rows"),
            ((A, np.where(np.arange(N) == MARK, np.nan, B)), "y must hold finite numbers, but 1 of its 60 rows"),
        ],
    )
    def test_what_no_model_can_map(self, rows, message):
        with pytest.raises(ValueError, match=message):
            read_rows(*rows)

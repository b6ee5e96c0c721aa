"""Whatever people pass: read as it is, or refused with one sentence that says what to do."""

import datetime as dt
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import refusals
from pydine.inputs.checks import TiesWarning
from pydine.inputs.kinds import Kind
from pydine.inputs.reading import read_question, read_rows, read_variables

N = 60
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 5))
A, B, C, D, E = TABLE.T
NAMES = ["a", "b", "c", "d", "e"]
MARK = 17  # the row that a test makes missing


def columns():
    return dict(zip(NAMES, TABLE.T.tolist(), strict=True))


FRAMES = {
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas with an index": lambda: pd.DataFrame(columns(), index=range(N, 0, -1)),
    "polars": lambda: pl.DataFrame(columns()),
    "pyarrow": lambda: pa.table(columns()),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict(columns()),
}
TABLES = {
    **FRAMES,
    "mapping": columns,
    "mapping of series": lambda: dict(pd.DataFrame(columns()).items()),
    "structured": lambda: np.rec.fromarrays(TABLE.T, names=NAMES),
}


def assert_same(question, x, y, z=None):
    assert question.table.columns.flags.c_contiguous
    for read, truth in zip(question.values(), (x, y, z), strict=True):
        expected = np.empty((question.table.n_samples, 0)) if truth is None else np.reshape(truth, (len(truth), -1))
        assert read.dtype == np.float64
        assert read.flags.c_contiguous
        np.testing.assert_array_equal(read, expected)


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


class TestMissingValues:
    missing = pytest.mark.parametrize(
        "make",
        [
            np.array,
            lambda v: [None if item != item else item for item in v],
            lambda v: np.ma.masked_invalid(v),
            lambda v: pd.Series(v),
            lambda v: pd.array(v, dtype="Float64"),
            lambda v: pd.Series(v, dtype="Float32"),
            lambda v: pd.Series(v, dtype="double[pyarrow]"),
            lambda v: pl.Series(v).fill_nan(None),
            lambda v: pa.array(v, from_pandas=True),
        ],
    )

    @staticmethod
    def holed():
        # Quarters are exact in every floating type.
        values = RNG.permutation(N) / 4
        values[MARK] = np.nan
        return values

    @missing
    def test_refused_unless_told(self, make):
        message = refusal(A, B, make(self.holed()))
        assert message.startswith(f"z must hold finite numbers, but 1 of its {N} rows hold NaN")
        assert f"the first in row {MARK} (z is nan)" in message
        assert "nan_policy='omit'" in message

    @missing
    def test_omitted_and_counted(self, make):
        holed = self.holed()
        question = read_question(make(holed), B, C, nan_policy="omit")
        keep = np.arange(N) != MARK
        assert_same(question, holed[keep], B[keep], C[keep])
        assert question.table.n_dropped == 1

    @pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
    def test_nullable_integers(self, dtype):
        x = pd.Series(RNG.permutation(N), dtype=dtype)
        x[MARK] = None
        assert read_question(x, B, nan_policy="omit").table.n_dropped == 1

    @settings(deadline=None, max_examples=30)
    @given(
        bad=st.lists(
            st.tuples(st.integers(0, N - 1), st.integers(0, 4), st.sampled_from([np.nan, np.inf, -np.inf])),
            max_size=20,
        )
    )
    def test_rows_go_from_all_three_together(self, bad):
        table = TABLE.copy()
        for row, column, value in bad:
            table[row, column] = value
        rows = sorted(set(range(N)) - {row for row, _, _ in bad})
        question = read_question(table[:, :2], table[:, 2], table[:, 3:], nan_policy="omit")
        assert_same(question, TABLE[rows, :2], TABLE[rows, 2], TABLE[rows, 3:])
        assert question.table.n_dropped == N - len(rows)

    def test_first_bad_entry_is_named(self):
        frame = FRAMES["pandas"]()
        frame.loc[[5, 9], "e"] = np.inf
        message = refusal("a", "b", ["c", "e"], data=frame)
        assert "z must hold finite numbers, but 2 of its 60 rows" in message
        assert "row 5 (column 'e' of z is inf)" in message

    def test_too_few_rows_left(self):
        x = A.copy()
        x[5:] = np.nan
        message = refusal(x, B, nan_policy="omit")
        assert "x and y must have at least 12 rows" in message
        assert "5 rows (55 with NaN or infinity were left out)" in message

    @pytest.mark.parametrize("policy", ["drop", "propagate", None, True])
    def test_unknown_policy(self, policy):
        assert refusal(A, B, nan_policy=policy) == f"nan_policy must be 'raise' or 'omit', but got {policy!r}."


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (np.array([object()] * N), "Python objects"),
            (A.astype(object), "Python objects"),
            (pd.Series(A, dtype=object), "Python objects"),
            ([{}] * N, "Python objects"),
            (pl.Series([object()] * N), "Python objects"),
            (A + 1j * B, "complex numbers"),
            ([1j] * N, "complex numbers"),
            (pd.Series(A + 1j * B), "complex numbers"),
            (np.arange(N).astype("datetime64[D]"), "dates or times"),
            (np.arange(N).astype("timedelta64[s]"), "dates or times"),
            (pd.Series(pd.date_range("2024-01-01", periods=N)), "dates or times"),
            (pd.date_range("2024-01-01", periods=N), "dates or times"),
            (pl.Series([dt.date(2024, 1, 1)] * N), "dates or times"),
            (pa.array([dt.datetime(2024, 1, 1)] * N), "dates or times"),
            (pl.Series([[1.0, 2.0]] * N), "nested lists or records"),
            (pl.Series([{"a": 1.0}] * N), "nested lists or records"),
            (np.rec.fromarrays([A, B]), "nested lists or records"),
        ],
    )
    def test_what_is_not_a_real_number(self, values, kind):
        message = refusal(A, values)
        assert message.startswith(f"y must hold numbers or labels, but holds {kind}; ")

    def test_the_column_is_named(self):
        frame = FRAMES["pandas"]().assign(c="red")
        constant = "must vary, but is constant ('red' in every row); leave the column out."
        assert refusal("a", "b", ["d", "c"], data=frame) == f"column 'c' of z {constant}"
        assert refusal(frame, B) == f"column 'c' of x {constant}"

    def test_integers_beyond_float64(self):
        assert refusal([10**400] * N, B).startswith("x ")

    @pytest.mark.parametrize(
        ("values", "what"),
        [
            (TABLE.reshape(N, 5, 1), "ndarray of shape (60, 5, 1)"),
            (1.5, "a single float"),
            (columns(), "a single dict"),
            (sparse.csr_array(TABLE), "a single csr_array"),
        ],
    )
    def test_wrong_number_of_dimensions(self, values, what):
        message = refusal(values, B)
        assert message.startswith("x must have one or two dimensions, one row for each observation, but got")
        assert what in message

    def test_ragged_lists(self):
        assert refusal([[1.0, 2.0], [3.0]], B).startswith("x must be an array with rows of equal length")

    def test_arrays_that_cannot_be_read(self):
        class OnTheDevice:
            def __array__(self, dtype=None, copy=None):
                raise RuntimeError("copy it to the host first")

        assert "copy it to the host first" in refusal(OnTheDevice(), B)

    def test_lazy_frames(self):
        lazy = FRAMES["polars"]().lazy()
        assert refusal(lazy, B) == "x must hold values, but is a lazy LazyFrame; collect it first."
        assert refusal("a", "b", data=lazy).startswith("data must hold values, but is a lazy LazyFrame")

    def test_lengths_that_differ(self):
        message = refusal(A, B[1:], C)
        assert message.startswith("x, y and z must have the same number of rows")
        assert "60, 59 and 60" in message
        assert "x and y must have the same number" in refusal(TABLE.T, B)

    def test_lengths_that_differ_within_data(self):
        ragged = {**columns(), "b": B[1:]}
        assert "60 and 59" in refusal("a", "b", data=ragged)
        assert refusal("c", "d", ["a", "b"], data=ragged).startswith("the columns of z must have the same number")

    @pytest.mark.parametrize("empty", [np.empty((N, 0)), pd.DataFrame(index=range(N)), pl.DataFrame()])
    def test_no_columns(self, empty):
        assert refusal(A, empty).startswith("y must have at least one column, but has none")
        assert refusal("a", [], data=FRAMES["polars"]()).startswith("y must have at least one column")

    def test_fewer_rows_than_can_be_estimated(self):
        columns = 4
        needed = columns + 10
        x, y, z = TABLE[:needed, :2], C[:needed], D[:needed]
        assert read_question(x, y, z).table.n_samples == needed
        message = refusal(x[1:], y[1:], z[1:])
        assert message.startswith("x, y and z must have at least 14 rows")
        assert "but have 13 rows" in message

    @pytest.mark.parametrize("n", [0, 1])
    def test_hardly_any_rows(self, n):
        assert f"only {n} rows" in refusal(A[:n], B[:n])

    def test_more_dimensions_than_rows(self):
        wide = RNG.normal(size=(30, 40))
        message = refusal(wide, RNG.normal(size=(30, 2)))
        assert message.startswith("x and y have 42 columns together but only 30 rows")
        assert "more dimensions than rows" in message

    def test_constant_columns(self):
        frame = FRAMES["pandas"]().assign(d=7.0)
        assert refusal("a", "b", ["c", "d"], data=frame).startswith(
            "column 'd' of z must vary, but is constant (7 in every row)"
        )
        assert refusal(np.zeros(N), B).startswith("x must vary, but is constant (0 in every row)")

    @pytest.mark.parametrize("scale", [1e200, 1e307, 1e-200, 5e-322])
    def test_values_beyond_the_range_of_squares(self, scale):
        message = refusal(A, np.round(B, 1) * scale)
        assert message.startswith("y must stay within ±1e+140 and vary by more than 1e-140")
        assert "rescale" in message

    def test_the_whole_range_of_float64(self):
        x = A.copy()
        x[:2] = np.finfo(float).min, np.finfo(float).max
        assert "runs from -1.79769e+308 to 1.79769e+308" in refusal(x, B)

    @pytest.mark.parametrize("scale", [1e130, 1e-130])
    def test_values_within_the_range_of_squares(self, scale):
        assert_same(read_question(A * scale, B), A * scale, B)


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
        assert message.startswith("x is the name 'bmi', but no data came with it; pass data=frame")
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
        with pytest.warns(
            UserWarning, match=r"data has column names more than once; those met again are called 'a\.1'\."
        ):
            question = read_question("a", "a.1", "b", data=frame)
        assert_same(question, A, C, B)
        assert question.names == (("a",), ("a.1",), ("b",))
        with pytest.warns(UserWarning, match="x has column names more than once"):
            assert read_question(frame, D).names[0] == ("a", "b", "a.1")
        with pytest.warns(UserWarning, match="data has column names more than once"):
            assert read_variables(frame).table.names == ("a", "b", "a.1")

    @pytest.mark.parametrize("data", [A, 3.0, TABLE.reshape(N, 5, 1), "frame.csv", pd.Series(A)])
    def test_data_that_is_no_table(self, data):
        assert refusal(0, 1, data=data).startswith("data must be a frame, a mapping of columns or a two-dim")

    def test_columns_of_a_mapping_with_two_dimensions(self):
        assert "x must name one-dimensional columns of data" in refusal("a", "b", data={"a": TABLE, "b": B})


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


def refused_table(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the callers look at the message)
            read_variables(*args, **kwargs)
    return str(caught.value)


class TestWholeTables:
    @pytest.mark.parametrize("table", TABLES)
    def test_every_column_is_a_variable(self, table):
        variables = read_variables(TABLES[table]())
        np.testing.assert_array_equal(variables.table.columns, TABLE.T)
        assert variables.members == {name: (i,) for i, name in enumerate(NAMES)}
        assert variables.given == ()
        assert variables.sizes == [1] * 5

    def test_columns_of_arrays_go_by_position(self):
        variables = read_variables(TABLE, given=-1)
        assert variables.table.names == ("column 0", "column 1", "column 2", "column 3", "column 4")
        assert variables.given == (4,)

    def test_groups_and_what_is_given(self):
        variables = read_variables(columns(), given=["b"], groups={"pair": ["e", "a"]})
        assert variables.members == {"c": (0,), "d": (1,), "pair": (2, 3)}
        assert variables.table.names == ("c", "d", "e", "a", "b")
        np.testing.assert_array_equal(variables.table.columns, TABLE[:, [2, 3, 4, 0, 1]].T)
        assert variables.given == (4,)
        assert variables.sizes == [1, 1, 2]

    def test_a_pair_is_a_question_about_the_same_table(self):
        variables = read_variables(columns(), given=["b"], groups={"pair": ["e", "a"]})
        question = variables.pair("pair", "d")
        assert question.table is variables.table
        assert question.names == (("e", "a"), ("d",), ("b",))

    def test_given_the_rest(self):
        variables = read_variables(columns(), given="rest", groups={"pair": ["e", "a"]})
        assert variables.given == ()
        assert variables.pair("b", "d", rest=True).names == (("b",), ("d",), ("c", "e", "a"))

    @pytest.mark.parametrize("given", [None, [], ()])
    def test_nothing_given(self, given):
        assert read_variables(TABLE, given=given).given == ()

    def test_rows_go_from_all_columns_together(self):
        holed = {**columns(), "b": [np.inf, *B[1:]], "e": [*E[:-1], None]}
        message = refused_table(holed)
        assert message.startswith("data must hold finite numbers, but 2 of its 60 rows hold NaN or infinity")
        variables = read_variables(holed, given="b", nan_policy="omit")
        np.testing.assert_array_equal(variables.table.columns, TABLE[1:-1, [0, 2, 3, 4, 1]].T)
        np.testing.assert_array_equal(variables.table.positions, np.arange(1, N - 1))
        assert variables.table.n_dropped == 2

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"given": list("abcd")}, "data must have at least two variables beside what is given, but has 1;"),
            ({"groups": {"all": NAMES}}, "data must have at least two variables beside what is given, but has 1;"),
            ({"groups": {"none": []}}, "groups['none'] must have at least one column, but has none;"),
            ({"groups": {"c": ["a", "b"]}}, "groups must not be named as a column is, but 'c' is both;"),
            (
                {"groups": {"p": ["a", "b"], "q": ["b"]}},
                "column 'b' must be in one place only, but is in 'p' and in 'q'.",
            ),
            ({"given": "a", "groups": {"p": ["a", "b"]}}, "column 'a' must be in one place only, but is in given and "),
            ({"groups": {"p": ["a", "A1"]}}, "groups['p'] asks for the column 'A1', which data does not have;"),
            ({"given": "f"}, "given asks for the column 'f', which data does not have;"),
            ({"nan_policy": "drop"}, "nan_policy must be 'raise' or 'omit', but got 'drop'."),
        ],
    )
    def test_what_cannot_be_meant(self, asked, message):
        assert refused_table(columns(), **asked).startswith(message)

    @pytest.mark.parametrize(
        ("asked", "needed"),
        [({}, 12), ({"given": ["d", "e"]}, 14), ({"groups": {"p": ["a", "b", "c"]}}, 14), ({"given": "rest"}, 15)],
    )
    def test_as_many_rows_as_the_largest_estimate_needs(self, asked, needed):
        assert read_variables(dict(zip(NAMES, TABLE[:needed].T, strict=True)), **asked).table.n_samples == needed
        message = refused_table(dict(zip(NAMES, TABLE[: needed - 1].T, strict=True)), **asked)
        assert message.startswith(f"data must have at least {needed} rows, 10 more than the columns that enter one")
        assert f"but has {needed - 1};" in message

    def test_rows_that_were_left_out_are_counted_in_the_refusal(self):
        holed = TABLE.copy()
        holed[5:] = np.nan
        assert "but has 5 (55 with NaN or infinity were left out);" in refused_table(holed, nan_policy="omit")

    def test_constant_columns_wherever_they_are(self):
        flat = {**columns(), "b": np.full(N, 7.0)}
        assert refused_table(flat).startswith("column 'b' of data must vary, but is constant (7 in every row)")
        assert refused_table(flat, given="b").startswith("column 'b' of given must vary")
        assert refused_table(flat, groups={"p": ["a", "b"]}).startswith("column 'b' of groups['p'] must vary")

    def test_one_warning_of_ties(self):
        said = {"b": "continuous", "e": "continuous"}
        with pytest.warns(TiesWarning) as caught:
            read_variables({**columns(), "b": np.round(B), "e": np.round(E)}, given="e", kinds=said)
        (warning,) = caught
        assert str(warning.message).startswith("Tied values in column 'b' of data (")
        assert set(warning.message.shares) == {"b", "e"}
        assert warning.filename == __file__

    def test_copies_are_read_as_they_are(self):
        twice = {**columns(), "b": A, "c": -A}
        assert read_variables(twice, given="c").table.names == ("a", "b", "d", "e", "c")

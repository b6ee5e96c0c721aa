import datetime as dt
import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pydine.inputs.checks import TiesWarning
from pydine.inputs.reading import read_question

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


def assert_same(sample, x, y, z=None):
    for read, truth in zip((sample.x, sample.y, sample.z), (x, y, z), strict=True):
        expected = np.empty((sample.n_samples, 0)) if truth is None else np.reshape(truth, (len(truth), -1))
        assert read.dtype == np.float64
        assert read.flags.c_contiguous
        np.testing.assert_array_equal(read, expected)


def refusal(*args, **kwargs):
    """The sentence with which the input is refused; no warning may go before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the callers look at the message)
            read_question(*args, **kwargs)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


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
        sample = read_question(make(A.copy()), B, make(C.copy()))
        assert_same(sample, A, B, C)
        assert sample.names == (("x",), ("y",), ("z",))
        assert sample.dimensions == (1, 1, 1)
        assert sample.n_samples == N

    @pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, np.ndarray.tolist, list])
    def test_unnamed_columns(self, make):
        sample = read_question(make(TABLE[:, :2]), make(TABLE[:, 2:3]), make(TABLE[:, 3:]))
        assert_same(sample, TABLE[:, :2], C, TABLE[:, 3:])
        assert sample.names == (("x0", "x1"), ("y",), ("z0", "z1"))

    @pytest.mark.parametrize("frame", FRAMES)
    def test_frames_as_arguments(self, frame):
        frame = FRAMES[frame]()
        sample = read_question(frame, RNG.normal(size=N))
        np.testing.assert_array_equal(sample.x, TABLE)
        assert sample.names == (tuple(NAMES), ("y",), ())

    def test_names_of_series(self):
        sample = read_question(pd.Series(A, name="bmi"), pl.Series("target", B), pd.Series(C, name=3))
        assert sample.names == (("bmi",), ("target",), ("column 3",))

    @pytest.mark.parametrize("table", TABLES)
    def test_names_in_data(self, table):
        sample = read_question("d", ["b"], ["e", "a"], data=TABLES[table]())
        assert_same(sample, D, B, TABLE[:, [4, 0]])
        assert sample.names == (("d",), ("b",), ("e", "a"))

    @pytest.mark.parametrize("make", [pd.Index, np.array, tuple])
    def test_lists_of_names_of_other_kinds(self, make):
        sample = read_question("a", "b", make(["c", "d"]), data=FRAMES["pandas"]())
        assert sample.names[2] == ("c", "d")

    @pytest.mark.parametrize("data", [TABLE, TABLE.tolist(), pd.DataFrame(TABLE)])
    def test_positions_in_data(self, data):
        sample = read_question(3, -1, np.array([0, 1]), data=data)
        assert_same(sample, D, E, TABLE[:, :2])
        assert sample.names == (("column 3",), ("column 4",), ("column 0", "column 1"))

    def test_tuples_that_are_names(self):
        frame = pd.DataFrame(TABLE[:, :3], columns=pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a")]))
        assert_same(read_question((1, "a"), [(2, "a")], data=frame), A, C)

    @pytest.mark.parametrize(
        ("z", "data"),
        [([], pd.DataFrame(columns())), (np.empty((N, 0)), None), (pl.DataFrame(), None)],
    )
    def test_no_columns_in_z_is_no_z(self, z, data):
        x, y = ("a", "b") if data is not None else (A, B)
        sample = read_question(x, y, z, data=data)
        assert sample.z.shape == (N, 0)
        assert sample.names == ((x if data is not None else "x",), (y if data is not None else "y",), ())

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
        flags = RNG.random(N) < 0.5
        with pytest.warns(TiesWarning):
            sample = read_question(A, make(flags))
        assert_same(sample, A, flags.astype(float))

    def test_clean_arrays_are_not_copied(self):
        x = np.ascontiguousarray(TABLE[:, :2])
        y = C.copy()
        sample = read_question(x, y)
        assert np.shares_memory(sample.x, x)
        assert np.shares_memory(sample.y, y)

    def test_memory_stays_a_small_multiple(self):
        table = np.random.default_rng(1).normal(size=(100_000, 7))
        frame = pd.DataFrame(table, columns=list("abcdefg"))
        tracemalloc.start()
        read_question("a", "b", list("cdefg"), data=frame)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2.5 * table.nbytes


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
        sample = read_question(make(holed), B, C, nan_policy="omit")
        keep = np.arange(N) != MARK
        assert_same(sample, holed[keep], B[keep], C[keep])
        assert sample.n_dropped == 1

    @pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
    def test_nullable_integers(self, dtype):
        x = pd.Series(RNG.permutation(N), dtype=dtype)
        x[MARK] = None
        assert read_question(x, B, nan_policy="omit").n_dropped == 1

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
        sample = read_question(table[:, :2], table[:, 2], table[:, 3:], nan_policy="omit")
        assert_same(sample, TABLE[rows, :2], TABLE[rows, 2], TABLE[rows, 3:])
        assert sample.n_dropped == N - len(rows)

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
            (["red", "blue"] * 30, "strings"),
            (np.array(["1.5"] * N), "strings"),
            (pd.Series(["red"] * N), "strings"),
            (pl.Series(["red"] * N), "strings"),
            (pa.array(["red"] * N), "strings"),
            (np.array([object()] * N), "Python objects"),
            (A.astype(object), "Python objects"),
            (pd.Series(A, dtype=object), "Python objects"),
            ([1.0, "red"] * 30, "strings"),
            ([{}] * N, "Python objects"),
            (pl.Series([object()] * N), "Python objects"),
            (pd.Series(["low", "high"] * 30, dtype="category"), "categories"),
            (pl.Series(["low", "high"] * 30, dtype=pl.Categorical), "categories"),
            (pl.Series(["low", "high"] * 30, dtype=pl.Enum(["low", "high"])), "categories"),
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
        assert message.startswith(f"y must hold real numbers, but holds {kind}; ")

    def test_the_column_is_named(self):
        frame = FRAMES["pandas"]().assign(c="red")
        assert refusal("a", "b", ["d", "c"], data=frame).startswith("column 'c' of z must hold real numbers")
        assert refusal(frame, B).startswith("column 'c' of x must hold real numbers")

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
        assert read_question(x, y, z).n_samples == needed
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


class TestColumnsOverAgain:
    @staticmethod
    def monotone(name):
        return {
            "cube": lambda v: v**3,
            "exp": np.exp,
            "affine": lambda v: 2 * v - 3,
            "negative": np.negative,
            "reciprocal": lambda v: -1 / (v - v.min() + 1),
            "falling": lambda v: np.exp(-v),
        }[name]

    def test_the_same_column_in_x_and_y(self):
        message = refusal(TABLE[:, :3], B)
        assert message == (
            "y holds the same values as column 1 of x in all 60 rows, "
            "so that the information is infinite as far as they tell; leave it out of x or out of y."
        )
        assert "column 'a' of y holds the same values as column 'a' of x" in refusal("a", "a", data=columns())

    @pytest.mark.parametrize(
        ("name", "direction"),
        [
            ("cube", "increasing"),
            ("exp", "increasing"),
            ("affine", "increasing"),
            ("reciprocal", "increasing"),
            ("negative", "decreasing"),
            ("falling", "decreasing"),
        ],
    )
    @pytest.mark.parametrize("n", [N, N - 1])
    def test_monotone_functions(self, name, direction, n):
        message = refusal(A[:n], self.monotone(name)(A[:n]))
        assert message.startswith(f"y is a strictly {direction} function of x in all {n} rows")
        assert "infinite" in message

    @settings(deadline=None, max_examples=50)
    @given(
        values=st.lists(st.integers(-20, 20), min_size=12, max_size=12).filter(lambda v: len(set(v)) > 1),
        rising=st.booleans(),
    )
    def test_monotone_functions_of_tied_values(self, values, rising):
        x = np.array(values, dtype=float)
        y = np.arctan(x) * (1 if rising else -1)
        assert ("increasing" if rising else "decreasing") in refusal(x, y)

    @settings(deadline=None, max_examples=50)
    @given(order=st.permutations(range(12)))
    def test_other_orders_are_no_copies(self, order):
        x = np.arange(12.0)
        if list(order) in (sorted(order), sorted(order, reverse=True)):
            assert "infinite" in refusal(x, np.array(order))
        else:
            assert read_question(x, np.array(order)).n_samples == 12

    @pytest.mark.parametrize("name", ["cube", "negative"])
    def test_a_column_that_z_holds_too(self, name):
        copy = self.monotone(name)(A)
        message = refusal(TABLE[:, :2], C, copy)
        assert message.startswith("column 0 of x is a strictly ")
        assert "constant once z is known; leave it out of x or out of z" in message
        assert "leave it out of y or out of z" in refusal(B, A, np.column_stack([C, A]))

    def test_a_column_in_all_three(self):
        assert "constant once z is known" in refusal(A, A, A)

    @pytest.mark.parametrize("label", ["x", "y", "z"])
    def test_twice_in_one_argument(self, label):
        arguments = {"x": A, "y": B, "z": C, label: np.column_stack([D, E, D])}
        message = refusal(**arguments)
        assert message.startswith(f"column 2 of {label} holds the same values as column 0 of {label}")
        assert f"makes {label} singular; leave one of the two out" in message


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
        assert refusal("a", "b", data=frame).startswith(
            "data must have column names that differ, but has 'a' more than once"
        )
        assert refusal(frame, B).startswith("x must have column names that differ")

    @pytest.mark.parametrize("data", [A, 3.0, TABLE.reshape(N, 5, 1), "frame.csv", pd.Series(A)])
    def test_data_that_is_no_table(self, data):
        assert refusal(0, 1, data=data).startswith("data must be a frame, a mapping of columns or a two-dim")

    def test_columns_of_a_mapping_with_two_dimensions(self):
        assert "x must name one-dimensional columns of data" in refusal("a", "b", data={"a": TABLE, "b": B})


class TestTies:
    def test_one_warning_names_every_column(self):
        frame = FRAMES["pandas"]().assign(a=np.repeat([0.0, 1.0], N // 2), e=np.round(E))
        with pytest.warns(TiesWarning) as caught:
            read_question("a", "b", ["c", "e"], data=frame)
        (warning,) = caught
        text = str(warning.message)
        assert text.startswith("Tied values in column 'a' of x (100% of the rows) and column 'e' of z (")
        assert "assumes continuous variables" in text
        assert set(warning.message.shares) == {"a", "e"}
        assert warning.message.shares["a"] == 1.0

    def test_points_at_the_caller(self):
        with pytest.warns(TiesWarning) as caught:
            read_question(np.round(A), B)
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(("tied", "warns"), [(3, False), (4, True)])
    def test_more_than_a_twentieth_of_the_rows(self, tied, warns):
        x = A.copy()
        x[:tied] = x[0]  # 5% of 60 rows is 3
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read_question(x, B)
        assert [warning.category for warning in caught] == [TiesWarning] * warns
        assert not warns or caught[0].message.shares == {"x": pytest.approx(tied / N)}

    def test_many_columns_are_not_all_listed(self):
        with pytest.warns(TiesWarning, match=r"column 4 of x \(.*\) and 3 more: ") as caught:
            read_question(np.random.default_rng(2).integers(0, 9, size=(N, 8)), B)
        assert len(caught[0].message.shares) == 8

    def test_dropped_rows_do_not_count(self):
        x = A.copy()
        x[:20] = 1.0
        x[20:40] = np.nan
        y = B.copy()
        y[:20] = np.nan
        assert read_question(x, y, nan_policy="omit").n_dropped == 40

    def test_pickles(self):
        with pytest.warns(TiesWarning) as caught:
            read_question(np.round(A), B)
        copy = pickle.loads(pickle.dumps(caught[0].message))
        assert str(copy) == str(caught[0].message)
        assert copy.shares == caught[0].message.shares

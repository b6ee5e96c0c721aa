"""What cannot be used is refused with one sentence that says what to do; missing values are refused or left out."""

import datetime as dt
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
from pydine.inputs.reading import read_question
from reading_data import FRAMES, MARK, RNG, TABLE, A, B, C, D, N, assert_same, columns

refusal = partial(refusals.refusal, read_question)


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

    @pytest.mark.parametrize("lowest", [2**53, 2**60, 2**63 - 2, -(2**63), 2**64 - 2, 2**70])
    @pytest.mark.parametrize("kind", [list, np.array, lambda values: pl.DataFrame({"c": values})])
    def test_whole_numbers_that_float64_takes_for_one(self, lowest, kind):
        """They vary, so that to call them constant would be wrong."""
        values = [lowest + i % 2 for i in range(N)]
        message = refusal(values if lowest == 2**70 else kind(values), B)  # lists alone hold more than 64 bits
        assert f"must vary by more than float64 can resolve, but runs from {lowest} to {lowest + 1}" in message
        assert f"subtract {lowest}, which does not change the information" in message

    @pytest.mark.parametrize("matrix", [sparse.csr_array(TABLE), sparse.coo_matrix(TABLE), sparse.dok_array(TABLE)])
    def test_a_sparse_matrix(self, matrix):
        assert refusal(matrix, B) == "x is a sparse matrix, which is not read; pass its toarray()."

    @pytest.mark.parametrize(
        ("values", "what"),
        [
            (TABLE.reshape(N, 5, 1), "ndarray of shape (60, 5, 1)"),
            (1.5, "a single float"),
            ({1.0, 2.0}, "a single set"),
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
        assert refusal(lazy, B) == "x must hold values, but is a lazy LazyFrame; call collect() first."
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

"""What is asked of columns before anything is estimated, and the words for it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pydine
from pydine.inputs.checks import (
    LARGEST_VALUE,
    SMALLEST_SPREAD,
    TiesWarning,
    check_nan_policy,
    check_range,
    enumeration,
    finite_rows,
    tied_share,
    warn_of_ties,
)
from pydine.inputs.columns import Columns
from pydine.inputs.reading import read_question

N = 60
TABLE = np.random.default_rng(0).normal(size=(N, 5))
A, B, C, D, E = TABLE.T


def block(values, label="x", names=None):
    values = np.reshape(np.asarray(values, dtype=float), (len(values), -1))
    return Columns(label, names or tuple(f"{label}{i}" for i in range(values.shape[1])), values)


class TestFiniteRows:
    def test_clean_blocks_come_back_as_they_are(self):
        blocks = [block(TABLE[:, :2]), block(C, "y")]
        for omit in (True, False):
            kept_blocks, kept = finite_rows(blocks, omit=omit)
            assert kept_blocks is blocks
            assert kept is None

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_row_goes_from_every_block(self, bad):
        holed = TABLE[:, :2].copy()
        holed[4, 1] = bad
        (x, y), kept = finite_rows([block(holed), block(C, "y")], omit=True)
        assert np.flatnonzero(~kept).tolist() == [4]
        np.testing.assert_array_equal(x.values, np.delete(TABLE[:, :2], 4, axis=0))
        np.testing.assert_array_equal(y.values, np.delete(C, 4)[:, None])
        assert (x.label, x.names, y.label) == ("x", ("x0", "x1"), "y")

    def test_the_first_one_is_named_unless_they_are_to_be_left_out(self):
        holed = TABLE[:, :2].copy()
        holed[[4, 9, 9], [1, 0, 1]] = np.nan
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole message is compared)
            finite_rows([block(C, "y"), block(holed)], omit=False)
        assert str(caught.value) == (
            "x must hold finite numbers, but 2 of its 60 rows hold NaN or infinity, the first in row 4 (column 1 of x "
            "is nan); correct those rows, or pass nan_policy='omit' to leave them out."
        )

    def test_nothing_may_be_left(self):
        (x,), kept = finite_rows([block(np.full((3, 2), np.nan))], omit=True)
        assert x.values.shape == (0, 2)
        assert not kept.any()


@pytest.mark.parametrize("policy", ["raise", "omit"])
def test_the_two_policies(policy):
    check_nan_policy(policy)


class TestRange:
    @pytest.mark.parametrize(
        "column", [[-LARGEST_VALUE, LARGEST_VALUE], [0.0, 2 * SMALLEST_SPREAD], [1.0, np.nextafter(1.0, 2.0)]]
    )
    def test_what_can_be_squared(self, column):
        check_range(block(column))

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ([3.0, 3.0], "column 1 of x must vary, but is constant (3 in every row); leave the column out."),
            ([0.0, 1.1 * LARGEST_VALUE], "column 1 of x must stay within ±1e+140 and vary by more than 1e-140"),
            ([-1.1 * LARGEST_VALUE, 0.0], "column 1 of x must stay within ±1e+140 and vary by more than 1e-140"),
            ([0.0, 0.9 * SMALLEST_SPREAD], "column 1 of x must stay within ±1e+140 and vary by more than 1e-140"),
        ],
    )
    def test_what_cannot(self, column, message):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared)
            check_range(block(np.column_stack([[0.0, 1.0], column])))
        assert str(caught.value).startswith(message)


class TestTies:
    @given(values=st.lists(st.integers(0, 9), min_size=1, max_size=30))
    def test_share_of_the_rows(self, values):
        alike = sum(values.count(value) > 1 for value in values)
        assert tied_share(np.array(values, dtype=float)) == alike / len(values)

    def test_one_warning_names_every_column(self):
        with pytest.warns(TiesWarning) as caught:
            warn_of_ties([("column 'a' of x", "a", 1.0), ("column 'e' of z", "e", tied_share(np.round(E)))])
        (warning,) = caught
        text = str(warning.message)
        assert text.startswith("Tied values in column 'a' of x (100% of the rows) and column 'e' of z (")
        assert text.endswith("the estimate is that of a smoothed variable.")
        assert warning.message.shares == {"a": 1.0, "e": tied_share(np.round(E))}

    @pytest.mark.parametrize("ask", [read_question, pydine.mutual_information])
    def test_points_at_the_caller(self, ask):
        with pytest.warns(TiesWarning) as caught:
            ask(np.round(A), B, kinds={"x": "continuous"})
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("kinds", [None, {"x": "ordinal"}, {"x": "nominal"}])
    def test_a_kind_that_is_handled_needs_no_warning(self, kinds):
        assert read_question(np.round(A), B, kinds=kinds).kinds[0] == ((kinds or {}).get("x", "ordinal"),)

    def test_many_columns_are_not_all_listed(self):
        with pytest.warns(TiesWarning, match=r"column 4 of x \(.*\) and 3 more, which") as caught:
            warn_of_ties([(f"column {i} of x", f"x{i}", 0.5) for i in range(8)])
        assert len(caught[0].message.shares) == 8

    def test_dropped_rows_do_not_count(self):
        x = A.copy()
        x[:20] = 1.0
        x[20:40] = np.nan
        y = B.copy()
        y[:20] = np.nan
        assert read_question(x, y, nan_policy="omit").table.n_dropped == 40

    def test_pickles(self):
        with pytest.warns(TiesWarning) as caught:
            read_question(np.round(A), B, kinds={"x": "continuous"})
        copy = pickle.loads(pickle.dumps(caught[0].message))
        assert str(copy) == str(caught[0].message)
        assert copy.shares == caught[0].message.shares


@pytest.mark.parametrize(("items", "written"), [(["a"], "a"), (["a", 2], "a and 2"), (["a", "b", "c"], "a, b and c")])
def test_enumeration(items, written):
    assert enumeration(items) == written

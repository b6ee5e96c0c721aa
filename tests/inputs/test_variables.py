"""Whole tables, read into variables."""

import warnings

import numpy as np
import pytest

from pydine.inputs.checks import LeftOutWarning, TiesWarning
from pydine.inputs.reading import read_variables
from reading_data import NAMES, TABLE, TABLES, A, B, E, N, columns


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
            ({"given": list("abcd")}, "data must have at least two variables besides what is given, but has 1;"),
            ({"groups": {"all": NAMES}}, "data must have at least two variables besides what is given, but has 1;"),
            ({"groups": {"none": []}}, "groups['none'] must have at least one column, but has none;"),
            ({"groups": {"c": ["a", "b"]}}, "groups must not have the name of a column, but 'c' is both;"),
            (
                {"groups": {"p": ["a", "b"], "q": ["b"]}},
                "column 'b' must be in one place only, but is in 'p' and 'q'.",
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
        with pytest.warns(LeftOutWarning, match="Left out: column 'b' of data is constant"):
            assert "b" not in read_variables(flat).members
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

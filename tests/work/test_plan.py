"""The planner: which units answer a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydine.work.tasks import Unit, autoregressive, columnwise, unique


def test_each_target_sees_those_before_it_and_what_is_given():
    """h_i = c_i(x_<i, z), the paper's "Conditioner"."""
    assert autoregressive([0, 1, 2], [7, 8]) == [Unit(0, (7, 8)), Unit(1, (0, 7, 8)), Unit(2, (0, 1, 7, 8))]


def test_nothing_given():
    assert autoregressive(range(2), range(0)) == [Unit(0, ()), Unit(1, (0,))]


def test_no_targets():
    assert autoregressive([], [1, 2]) == []


def test_positions_are_taken_in_the_order_of_the_targets():
    assert autoregressive([5, 2], []) == [Unit(5, ()), Unit(2, (5,))]


def test_sides_do_not_see_each_other():
    x, y, z = [0, 1], [2, 3], [4]
    units = autoregressive(x, z) + autoregressive(y, z)
    for unit in units:
        side = x if unit.target in x else y
        assert set(unit.context) <= {*side, *z}
        assert unit.target not in unit.context


def test_column_by_column_no_target_sees_another():
    assert columnwise([0, 1, 2], [7, 8]) == [Unit(0, (7, 8)), Unit(1, (7, 8)), Unit(2, (7, 8))]
    assert columnwise(range(2), range(0)) == [Unit(0, ()), Unit(1, ())]
    assert columnwise([], [1]) == []


@pytest.mark.slow
@given(st.lists(st.integers(0, 9), max_size=1), st.lists(st.integers(10, 19), max_size=4))
def test_one_target_is_the_same_either_way(targets, given_columns):
    assert columnwise(targets, given_columns) == autoregressive(targets, given_columns)


units = st.lists(st.builds(Unit, st.integers(0, 3), st.lists(st.integers(0, 3), max_size=2).map(tuple)))


@given(units)
def test_unique_keeps_the_first_of_each(units):
    kept = unique(units)
    assert len(set(kept)) == len(kept)
    assert set(kept) == set(units)
    assert sorted(kept, key=units.index) == kept


def test_units_are_values():
    assert unique([Unit(1, (2,)), Unit(1, (2,)), Unit(1, (2, 3))]) == [Unit(1, (2,)), Unit(1, (2, 3))]
    assert Unit(1, (2, 3)) != Unit(1, (3, 2))
    assert sorted([Unit(1, (2,)), Unit(0, (5,))])[0] == Unit(0, (5,))

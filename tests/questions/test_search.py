"""The test as graph searches ask it: canonical, cached, and at ease with columns that determine each other."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pydine
from pydine.integrations.dowhy import DineTest as DowhyTest
from pydine.integrations.function import DineTest as FunctionTest
from pydine.integrations.pgmpy import DineTest as PgmpyTest
from pydine.questions.search import SearchTest, TableTest

TINY = np.finfo(np.float64).tiny


def columns(n=150, seed=0):
    """Two effects of two common causes, without and with a bend, and a column by itself: shape (n, 5)."""
    rng = np.random.default_rng(seed)
    z, w, other = rng.standard_normal((3, n))
    x, y = z + w + 0.5 * rng.standard_normal(n), np.abs(z) + 0.5 * rng.standard_normal(n)
    return np.column_stack([x, y, z, w, other])


TABLE = columns()
ANSWER = TableTest(TABLE).ask_columns(0, 1, [2, 3])


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.permutations(range(5)), st.booleans(), st.booleans())
def test_an_answer_does_not_depend_on_the_order_of_anything(order, swapped, reversed_z):
    test = TableTest(TABLE[:, order])
    x, y, *z = (order.index(i) for i in (0, 1, 2, 3))
    answer = test.ask_columns(*((y, x) if swapped else (x, y)), z[::-1] if reversed_z else z)
    assert answer == pytest.approx(ANSWER, rel=1e-9)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from([np.exp, np.cbrt, lambda c: 3.0 * c - 1.0]), min_size=5, max_size=5))
def test_increasing_maps_of_columns_change_nothing(maps):
    mapped = np.column_stack([f(column) for f, column in zip(maps, TABLE.T, strict=True)])
    assert TableTest(mapped).ask_columns(0, 1, [2, 3]) == ANSWER


@pytest.mark.parametrize("statistic", ["auto", "gaussian", "general"])
@pytest.mark.parametrize("z", [[], [2]])
def test_it_is_the_analytic_independence_test(statistic, z):
    test = SearchTest(statistic=statistic, random_state=3)
    x, y, given = TABLE[:, 0], TABLE[:, 1], TABLE[:, z] if z else None
    options = {"method": "analytic", "statistic": statistic, "random_state": 3}
    expected = {pydine.independence_test(*pair, given, **options).pvalue for pair in ((x, y), (y, x))}
    assert test.ask(x, y, given).pvalue in expected
    assert TableTest(TABLE, statistic=statistic, random_state=3).ask_columns(0, 1, z).pvalue in expected


def test_information_is_in_nats():
    rng = np.random.default_rng(0)
    z, x = rng.standard_normal((2, 2000))
    y = 0.8 * x + 0.6 * rng.standard_normal(2000) + z
    answer = SearchTest().ask(x, y, z)
    assert answer.information == pytest.approx(-0.5 * np.log1p(-(0.8**2)), abs=0.05)
    assert abs(SearchTest().ask(rng.standard_normal(2000), y, z).information) < 0.01


def test_flows_are_shared_by_all_pairs_given_the_same_columns():
    test = TableTest(columns(n=100))
    for i, j in combinations([0, 1, 2, 4], 2):
        test.ask_columns(i, j, [3])
    info = test.cache.info()
    assert (info.misses, info.hits, info.hit_rate) == (4, 8, 2 / 3)
    for i, j in combinations([0, 1, 2, 4], 2):  # answers are remembered
        test.ask_columns(j, i, [3])
    assert test.cache.info() == info


def test_arrays_and_tables_share_a_cache():
    cache = pydine.UnitCache()
    table, arrays = TableTest(TABLE, cache=cache), SearchTest(cache=cache)
    first = table.ask_columns(0, 1, [2, 3])
    assert arrays.ask(TABLE[:, 1], TABLE[:, :1], TABLE[:, [3, 2]]) == pytest.approx(first, rel=1e-9)
    assert cache.info().misses == 2


def test_neither_threads_nor_a_drawn_seed_make_a_difference(tmp_path):
    answers = {TableTest(TABLE, n_jobs=n_jobs).ask_columns(0, 1, [2, 3]) for n_jobs in (None, 1, 2)}
    assert answers == {ANSWER}
    test = TableTest(TABLE, cache=tmp_path, random_state=np.random.default_rng(1))
    assert test.ask_columns(0, 1, [2]) == test.ask_columns(1, 0, [2])
    assert test.cache.info().misses == 2


# --- columns that determine each other ---


def test_given_what_determines_it_a_column_depends_on_nothing():
    data = np.column_stack([TABLE, np.exp(TABLE[:, 2])])
    test = TableTest(data)
    with pytest.warns(UserWarning, match="so the information is 0 and the p-value is 1"):
        assert test.ask_columns(5, 0, [2, 3]).pvalue == 1.0
    assert test.ask_columns(0, 2, [5]) == (1.0, 0.0)  # and no second warning, which would be an error
    assert test.cache.info().misses == 0


def test_copies_depend_on_each_other():
    test = TableTest(np.column_stack([TABLE, -(TABLE[:, 2] ** 3)]))
    assert test.ask_columns(2, 5) == test.ask_columns(2, 5, [3]) == (TINY, np.inf)


def test_a_copy_among_what_is_given_adds_nothing():
    test = TableTest(np.column_stack([TABLE, np.exp(TABLE[:, 2])]))
    assert test.ask_columns(0, 1, [2, 3, 5]) == ANSWER


def test_what_ties_leave_nothing_of():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 4, 200).astype(float)
    table = {"c": c, "large": (c > 1).astype(float), "y": rng.standard_normal(200)}
    test = TableTest(table)
    with pytest.warns(UserWarning, match="so the information is 0"):
        assert test.ask_columns(1, 2, [0]).pvalue == 1.0
    assert test.ask_columns(1, 2).pvalue > 0.01


def test_some_columns_of_a_side_may_be_known_already():
    test = SearchTest()
    both = np.column_stack([TABLE[:, 0], np.exp(TABLE[:, 2])])
    assert test.ask(both, TABLE[:, 1], TABLE[:, 2:4]) == ANSWER
    with pytest.warns(UserWarning, match="so the information is 0"):
        assert test.ask(both[:, 1:], TABLE[:, 1], TABLE[:, 2:4]).pvalue == 1.0


def test_functions_that_are_not_monotone_are_no_obstacle():
    z = TABLE[:, 2]
    assert 0.001 < SearchTest().ask(np.sin(3.0 * z), TABLE[:, 1], z).pvalue <= 1.0


# --- copies of the test ---


def test_a_deep_copy_is_the_same_test():
    test = TableTest(TABLE)
    assert copy.deepcopy(test) is test


def test_a_pickled_test_shares_the_folder(tmp_path):
    test = TableTest(TABLE, cache=tmp_path)
    test.ask_columns(0, 1, [2])
    other = pickle.loads(pickle.dumps(test))
    assert other.ask_columns(0, 4, [2]).pvalue == TableTest(TABLE).ask_columns(0, 4, [2]).pvalue
    assert (other.cache.info().hits, other.cache.info().misses) == (1, 1)
    in_memory = pickle.loads(pickle.dumps(TableTest(TABLE)))
    assert in_memory.ask_columns(0, 1, [2, 3]) == ANSWER


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "best"}, "statistic must be 'auto' or 'gaussian' or 'general', but got 'best'"),
        ({"random_state": -1}, "random_state must be a non-negative integer, a generator or None, but got -1"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, but got 0"),
        ({"cache": 7}, "cache must be None, a folder or a pydine.UnitCache, but got 7"),
        ({"nan_policy": "drop"}, "nan_policy must be 'raise' or 'omit', but got 'drop'"),
    ],
)
def test_bad_options_are_named(options, message):
    for make in (SearchTest, lambda **options: TableTest(TABLE, **options)):
        with pytest.raises(ValueError, match=message):
            make(**options)


def test_bad_tables_are_refused_before_the_search():
    frame = pd.DataFrame(TABLE, columns=list("abcde"))
    with pytest.raises(ValueError, match="column 'b' of data must vary, but is constant"):
        TableTest(frame.assign(b=1.0))
    with pytest.raises(ValueError, match="data must hold finite numbers, but 1 of its 150 rows"):
        TableTest(frame.assign(b=[np.nan, *frame.b[1:]]))
    with pytest.raises(ValueError, match=r"column 'b' of data must vary, but is constant \('text' in every row"):
        TableTest(frame.assign(b="text"))
    left_out = TableTest(frame.assign(b=[np.nan, *frame.b[1:]]), nan_policy="omit")
    assert left_out.values.shape == (149, 5)


def test_bad_arrays():
    test = SearchTest()
    x, y = TABLE[:, 0], TABLE[:, 1]
    with pytest.raises(ValueError, match="the same number of rows, one for each observation, but have 150 and 149"):
        test.ask(x, y[1:])
    with pytest.raises(ValueError, match="y must vary, but is constant"):
        test.ask(x, np.ones(150))
    with pytest.raises(ValueError, match="x must hold finite numbers"):
        test.ask(np.where(x > 1, np.nan, x), y)
    assert 0.0 < SearchTest(nan_policy="omit").ask(np.where(x > 1, np.nan, x), y).pvalue <= 1.0
    with pytest.raises(ValueError, match="x, y and z must have at least 13 rows, 10 more"):
        test.ask(x[:12], y[:12], TABLE[:12, 2])


# --- the adapters that need no library ---


def test_pgmpy_s_form():
    frame = pd.DataFrame(TABLE, columns=list("abcde"))
    test = PgmpyTest(frame)
    assert test("a", "b", ["d", "c"], significance_level=ANSWER.pvalue)  # at least the level: independent
    assert (test.p_value_, test.effect_size_) == ANSWER
    assert not test("b", "a", {"c", "d"}, significance_level=min(1.0, 1.01 * ANSWER.pvalue), data=frame)
    assert test.cache.info().misses == 2
    assert PgmpyTest(TABLE)(0, 1, [2, 3], significance_level=0.0)  # positions, for an array
    with pytest.raises(ValueError, match="the search asks for the column 'f', which the data of the test do not have"):
        test("a", "f")


def test_a_plain_function_of_names():
    test = FunctionTest(pd.DataFrame(TABLE, columns=list("abcde")))
    assert test("a", "b", ["d", "c"]) == test("b", "a", {"c", "d"}) == ANSWER.pvalue
    assert FunctionTest(TABLE)(0, 1, (2, 3)) == ANSWER.pvalue
    with pytest.raises(ValueError, match="the search asks for the column 'f', which the data of the test do not have"):
        test("a", "f")
    with pytest.warns(UserWarning, match="Left out: column 'who' of data"):
        named = FunctionTest(pd.DataFrame({"who": [f"p{i}" for i in range(150)], "a": TABLE[:, 0], "b": TABLE[:, 1]}))
    assert named("b", "a") == test("a", "b")


def test_dowhy_s_form():
    test = DowhyTest()
    assert test(TABLE[:, [0]], TABLE[:, 1], TABLE[:, [2, 3]]) == ANSWER.pvalue
    assert test(TABLE[:, 0], TABLE[:, 1], np.empty((150, 0))) == test(TABLE[:, 0], TABLE[:, 1])

"""Rows that stand more than once, and rows that only look like it."""

import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.inputs.checks import CopiesWarning, TiesWarning
from pydine.inputs.copies import distinct_rows
from pydine.inputs.reading import read_question, read_variables

N = 300


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def kept(columns, *is_continuous):
    found = distinct_rows(list(columns), is_continuous)
    return None if found is None else int(found.sum())


@pytest.mark.parametrize("times", [2, 4, 10])
def test_rows_that_stand_several_times_count_once(times, rng):
    x, y = rng.normal(size=(2, 150))
    rows = rng.permutation(np.repeat(np.arange(150), times))
    with pytest.warns(CopiesWarning, match=f"^{150 * (times - 1):,} of the {150 * times:,} rows are copies of others"):
        found = pydine.mutual_information(x[rows], y[rows])
    alone = pydine.mutual_information(x, y)
    assert (found.value, found.standard_error) == pytest.approx((alone.value, alone.standard_error), abs=1e-9)
    assert (found.n_samples, found.n_dropped) == (150, 150 * (times - 1))


def test_bootstrap_samples_of_numbers_and_labels(rng):
    x, label, yes = rng.normal(size=N), rng.integers(3, size=N) * 1.0, rng.integers(2, size=N) * 1.0
    rows = rng.integers(N, size=N)
    different = len(np.unique(rows))
    assert kept([x[rows], rng.normal(size=N)[rows]], True, True) == different
    assert kept([x[rows], label[rows]], True, False) == different
    assert kept([yes[rows], x[rows]], False, True) == different
    assert kept([x, label], True, False) is None


def test_one_copy_is_found_and_told_of(rng):
    table = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    with pytest.warns(CopiesWarning, match="^One of the 301 rows is a copy of others"):
        variables = read_variables(pd.concat([table, table[7:8]]))
    assert variables.table.n_samples == N
    np.testing.assert_array_equal(np.flatnonzero(~variables.table.kept), [N])


def test_rows_of_steps_and_labels_repeat_by_nature(rng):
    assert kept(rng.integers(3, size=(3, N)) * 1.0, False, False, False) is None


@pytest.mark.parametrize("spread", [0.5, 1.0, 100.0])
def test_logarithms_of_few_decimals_repeat_by_nature(spread, rng):
    """They lie on no grid, and half of all rows have the same yes or no."""
    x = rng.normal(size=N)
    yes = (x + spread * rng.normal(size=N) > 0.0) * 1.0
    assert kept([np.arcsinh(np.round(x, 1)), yes], True, False) is None
    assert kept([np.exp(np.round(x, 2)), yes], True, False) is None


def test_few_decimals_repeat_by_nature(rng):
    x = rng.normal(size=3000)
    rounded = [np.round(column, 1) for column in (x, 0.9 * x + 0.4 * rng.normal(size=3000), rng.normal(size=3000))]
    for other in rounded[1:]:
        assert kept([rounded[0], other], True, True) is None
    age, sex = rng.integers(18, 91, size=3000) * 1.0, rng.integers(2, size=3000) * 1.0
    assert kept([age, sex], True, False) is None
    assert kept([age, np.floor(age / 20.0)], True, False) is None  # a label that follows the number
    assert kept([age, age > 50], True, False) is None


def test_order_and_scale_change_nothing(rng):
    x, y = rng.normal(size=(2, N))
    rows = np.append(np.arange(N), rng.integers(N, size=40))
    some, order = len(np.unique(rows)), rng.permutation(len(rows))
    for one, other in ((x, y), (y, x), (-x, y), (np.exp(x), -y)):
        assert kept([one[rows][order], other[rows][order]], True, True) == some


def test_missing_values_and_copies_together(rng):
    x, y = rng.normal(size=(2, N))
    x[3], rows = np.nan, np.append(np.arange(N), [5, 5])
    with pytest.warns(CopiesWarning):
        question = read_question(x[rows], y[rows], nan_policy="omit")
    np.testing.assert_array_equal(question.table.positions, np.delete(np.arange(N), 3))


def test_too_few_different_rows_are_refused():
    x = np.repeat(np.linspace(0.0, 1.0, 9) ** 2, 100)
    with (
        pytest.warns(TiesWarning),
        pytest.raises(ValueError, match="x and y must have at least 12 different rows, but have 9 and copies of them"),
    ):
        read_question(x, np.sin(40.0 * x), kinds={"x": "continuous", "y": "continuous"})


def test_columns_that_miss_different_rows_are_ranked():
    """Copies are looked for in whole rows, also where each column has as many values as it has."""
    rng = np.random.default_rng(4)
    x, u = np.round(rng.standard_normal((2, 300)), 2)
    columns = {"x": x, "u": u, "y": x + 0.5 * rng.standard_normal(300)}
    columns["x"][:5], columns["u"][7:20] = np.nan, np.nan
    ranking = pydine.rank(columns, "y", nan_policy="omit")
    assert next(iter(ranking.columns)).name == "x"

"""The front end of kernels: the same bits as Numba's own, and a sentence where a kernel is not in its language."""

import inspect

import numba as nb
import numpy as np
import pytest

from pydine.kernels import classes, gaussians, mixing, neighbours, normal, regression, segments, tables
from pydine.kernels.direct import direct
from pydine.kernels.instructions import RefusedError

RNG = np.random.default_rng(0)


def normals(*shape):
    return RNG.standard_normal(shape)


def shares(*shape):
    found = RNG.random(shape) + 0.1
    return found / found.sum()


CODES = [RNG.integers(0, k, 200) for k in (4, 5, 3)]
SQUARE = normals(5, 5)
CALLS = {
    "segments": (segments.segment_shares, RNG.integers(0, 9, (12, 4)).astype(float), np.full(4, 0.5), 0.1),
    "tables": (tables.stratified, *CODES, np.array([4, 5, 3])),
    "sums": (tables.added_up, np.array([[20, 8, 9], [15, 5, 5], [30, 20, 3]]), 6.0, 500),
    "steps": (normal.step_moments, normals(50) - 3.0, normals(50) + 1.0),
    "tails": (normal.add_tails, 0.3, np.abs(normals(3, 40)), normals(3, 40), normals(40), normals(40)),
    "weights": (mixing.mixture_weights, normals(3, 100)),
    "mixture": (mixing.mixture_log_density, normals(3, 100), shares(3)),
    "neighbours": (neighbours.neighbours, normals(60), normals(60), normals(2, 60), np.arange(30), 3),
    "ridge": (regression.ridge, normals(60), normals(7, 60), np.ones(7)),
    "eigenvector": (regression.largest_eigenvector, SQUARE @ SQUARE.T),
    "classes": (classes.fit_classes, normals(2, 90), shares(4), 1.0 + 0.1 * np.abs(normals(2, 6, 4)), 0.5, 4),
    "gaussians": (
        gaussians._em, normals(2, 600), shares(3), normals(3, 2), np.array([np.eye(2)] * 3), np.eye(2), 2.0, 4, 1e-9,
        np.empty(600),
    ),
}  # fmt: skip


def results(function, arguments):
    """All that a function returns, and what it leaves in the arrays that it was given."""
    own = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    returned = function(*own)
    return [np.asarray(one) for one in (*(returned if isinstance(returned, tuple) else (returned,)), *own)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_are_those_of_numba(name):
    kernel, *arguments = CALLS[name]
    plain = nb.njit(error_model="numpy")(inspect.unwrap(kernel.py_func))
    for ours, theirs in zip(results(kernel, arguments), results(plain, arguments), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def whole(a, b):
    return a // b, a % b, -a // b, -(-a // b)


def chosen(values, k):
    """The k-th value unless it is beyond the end, and how many came before the first that is negative."""
    count = 0
    for i in range(values.shape[0]):
        if values[i] < 0.0:
            break
        if values[i] > 9.0 and i > 0:
            continue
        count += 1
    last = values[k] if 0 <= k < values.shape[0] else -1.0
    place = values.shape[0]
    while place > 0 and values[place - 1] > 1.0:
        place -= 1
    return last, count, place


def new_rows(values):
    """Arrays that are made in each turn of a loop."""
    result = np.zeros(values.shape)
    for i in range(values.shape[0]):
        row = values[i].copy()
        row[:] = row[0] + 1.0
        for j in range(values.shape[1]):
            result[i, j] = row[j]
    return result


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (whole, (7, 2)),
        (whole, (-7, 2)),
        (whole, (7, -2)),
        (chosen, (np.array([1.0, 10.0, 2.0, -1.0, 3.0]), 7)),
        (chosen, (np.array([10.0, 10.0, 2.0]), 1)),
        (new_rows, (normals(4, 3),)),
    ],
)
def test_python_means_what_it_means_in_python(function, arguments):
    found = nb.njit(direct(function))(*arguments)
    np.testing.assert_array_equal(found, function(*arguments))


def another_type(a):
    result = 0
    result += a
    return result


def a_list(a):
    return [a]


@pytest.mark.parametrize(("function", "said"), [(another_type, "begins as int64"), (a_list, "List")])
def test_what_is_not_in_the_language_is_refused(function, said):
    with pytest.raises(RefusedError, match=said):
        nb.njit(direct(function))(1.5)


@pytest.mark.slow
def test_arrays_that_cannot_be_written_are_no_new_type():
    values = normals(20)
    expected, before = mixing.total(values), len(mixing.total.overloads)
    values.flags.writeable = False
    assert mixing.total(values) == expected
    assert len(mixing.total.overloads) == before

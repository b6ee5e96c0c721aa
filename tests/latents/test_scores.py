"""Normal scores: exact on the sample, strictly increasing, finite everywhere."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata

from pydine.latents.scores import ScoreMap

columns = st.one_of(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60),
    st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=60),
    st.lists(st.floats(-1e140, 1e140, allow_subnormal=False), min_size=2, max_size=60),
).filter(lambda values: len(set(values)) > 1)


@settings(deadline=None, max_examples=150)
@given(values=columns)
@example(values=[0.0, 2.225073858507203e-309])
def test_scores_of_the_sample(values):
    column = np.array(values)
    score, scores = ScoreMap.fit(column)
    np.testing.assert_allclose(scores, ndtri(rankdata(column) / (len(column) + 1)), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(score(column), scores)


def test_rows_beyond_a_column_that_spans_next_to_nothing_have_finite_scores():
    score, _ = ScoreMap.fit(np.array([0.0, 2.225073858507203e-309]))
    far = score(np.array([-1e6, -1e-300, 1e-300, 1e6]))
    assert np.isfinite(far).all()
    assert (np.diff(far)[[0, 2]] >= 0.0).all()
    assert far[1] < 0.0 < far[2]


@settings(deadline=None, max_examples=150)
@given(values=columns)
def test_strictly_increasing_on_the_sample(values):
    column = np.array(values)
    _, scores = ScoreMap.fit(column)
    order = np.argsort(column, kind="stable")
    rises, steps = np.diff(column[order]) > 0, np.diff(scores[order])
    assert (steps[rises] > 0).all()
    assert (steps[~rises] == 0).all()


@settings(deadline=None, max_examples=150)
@given(
    values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=60).filter(lambda v: len(set(v)) > 1),
    new=st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40),
)
def test_new_rows_keep_their_order(values, new):
    """Between the rows of the sample, on them and far beyond them."""
    column = np.array(values, dtype=float)
    score, _ = ScoreMap.fit(column)
    ordered = np.unique(np.concatenate([new, column, column - 1e-3, column + 1e-3, [-1e12, 1e12]]))
    mapped = score(ordered)
    assert np.isfinite(mapped).all()
    apart = np.diff(ordered) > 1e-9 * np.maximum(1.0, np.abs(ordered[1:]))
    assert (np.diff(mapped)[apart] > 0).all()
    assert (np.diff(mapped) >= -1e-14 * np.maximum(1.0, np.abs(mapped[1:]))).all()  # rounding at a knot


@pytest.mark.parametrize("n", [2, 3, 12, 39, 41, 500])
def test_far_beyond_the_sample(n):
    score, scores = ScoreMap.fit(np.random.default_rng(n).standard_normal(n))
    far = np.array([-1e300, -1e100, -1e6, -30.0, 30.0, 1e6, 1e100, 1e300])
    mapped = score(far)
    assert np.isfinite(mapped).all()
    assert (np.diff(mapped) > 0).all()
    assert mapped[3] < scores.min()
    assert mapped[4] > scores.max()


@pytest.mark.parametrize("gap", [1e-16, 1e-100, 1e-300])
def test_the_outermost_rows_may_be_next_to_each_other(gap):
    """Their slope is not a guide to what lies beyond."""
    column = np.concatenate([[0.0, gap], np.linspace(1.0, 2.0, 10)])
    score, _ = ScoreMap.fit(column)
    mapped = score(np.array([-1e6, -1.0, 3.0, 1e6]))
    assert np.isfinite(mapped).all()
    assert (np.diff(mapped) > 0).all()


def test_by_hand():
    """Four rows, two of them tied: ranks 1, 2.5, 2.5, 4 of 5, and a line between the scores."""
    score, scores = ScoreMap.fit(np.array([7.0, 1.0, 3.0, 3.0]))
    edge = ndtri(0.8)
    np.testing.assert_allclose(scores, [edge, -edge, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(score(np.array([2.0, 5.0, 4.0])), [-edge / 2, edge / 2, edge / 4], atol=1e-15)


def test_ties_take_the_average_rank():
    column = np.array([2.0, 2.0, 2.0, 5.0, 9.0, 9.0])
    _, scores = ScoreMap.fit(column)
    np.testing.assert_allclose(scores, ndtri(np.array([2, 2, 2, 4, 5.5, 5.5]) / 7), rtol=1e-14)


def test_shape_of_the_data_beyond_the_sample():
    """Of a normal sample the map is close to standardisation, a little beyond the sample too."""
    column = 5.0 + 2.0 * ndtri(np.arange(1, 2001) / 2001)
    score, _ = ScoreMap.fit(column)
    new = 5.0 + 2.0 * np.array([-4.0, -3.6, 3.6, 4.0])
    np.testing.assert_allclose(score(new), [-4.0, -3.6, 3.6, 4.0], atol=0.3)


def test_the_column_is_left_alone():
    column = np.array([3.0, 1.0, 2.0])
    score, _ = ScoreMap.fit(column)
    score(column)
    np.testing.assert_array_equal(column, [3.0, 1.0, 2.0])

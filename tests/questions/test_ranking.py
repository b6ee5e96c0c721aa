"""A ranking is what single estimates and tests say, of the same rows, adjusted for their number."""

import warnings

import numpy as np
import pytest
from scipy.stats import false_discovery_control

import pydine
from pydine.questions.ranking import rank


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    cause = rng.standard_normal(200)
    return {
        "noise": rng.standard_normal(200),
        "proxy": cause + 0.5 * rng.standard_normal(200),
        "cause": cause,
        "y": cause + 0.7 * rng.standard_normal(200),
    }


def test_the_figures_are_those_of_single_questions(data):
    ranking = rank(data, "y", base="gaussian")
    assert [column.name for column in ranking] == ["cause", "proxy", "noise"]
    for column in ranking:
        rest = [name for name in ("noise", "proxy", "cause") if name != column.name]
        assert column.alone == pydine.mutual_information(column.name, "y", data=data, base="gaussian")
        assert column.given_rest == pydine.mutual_information(column.name, "y", rest, data=data, base="gaussian")
        test = pydine.independence_test(column.name, "y", rest, data=data, method="analytic")
        assert column.pvalue_given_rest == test.pvalue
    for kind in ("alone", "given_rest"):
        raw = [getattr(column, f"pvalue_{kind}") for column in ranking]
        adjusted = [getattr(column, f"adjusted_{kind}") for column in ranking]
        np.testing.assert_allclose(adjusted, false_discovery_control(raw))


def test_what_adds_nothing(data):
    ranking = rank(data, "y", base="gaussian")
    assert ranking.add_nothing == ("proxy", "noise")
    assert (ranking.target, len(ranking), ranking.n_samples, ranking.n_dropped) == ("y", 3, 200, 0)


def test_one_column_has_no_rest(data):
    (only,) = rank(data, "y", ["proxy"], base="gaussian")
    assert only.given_rest == only.alone
    assert not only.adds_nothing


def test_every_estimate_has_the_same_rows(data):
    data["noise"][:7] = np.nan
    ranking = rank(data, "y", base="gaussian", nan_policy="omit")
    assert (ranking.n_samples, ranking.n_dropped) == (193, 7)
    assert {column.alone.n_samples for column in ranking} == {193}
    with pytest.raises(ValueError, match="nan_policy='omit'"):
        rank(data, "y")


def test_threads_change_nothing(data):
    assert rank(data, "y", n_jobs=2, random_state=3) == rank(data, "y", random_state=3)


def test_ties_are_warned_of_once(data):
    data = {name: np.round(values) for name, values in data.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rank(data, "y", base="gaussian", kinds=dict.fromkeys(data, "continuous"))
    assert [warning.category for warning in caught] == [pydine.TiesWarning]
    assert set(caught[0].message.shares) == set(data)


def test_a_copy_adds_nothing_and_stops_nothing(data):
    with pytest.warns(pydine.DeterminedWarning, match="a side of cause and y and copy and y"):
        ranking = rank({**data, "copy": np.exp(data["cause"])}, "y")
    assert {"cause", "copy"} <= set(ranking.add_nothing)
    first, second = ranking.columns[:2]
    assert {first.name, second.name} == {"cause", "copy"}
    assert first.alone.value == second.alone.value
    assert first.given_rest.value == 0.0


def test_unknown_columns_are_refused(data):
    with pytest.raises(ValueError, match="the nearest name is 'y'"):
        rank(data, "Y")

"""The matrix of `corr`: beside pandas', of any kind, with signs, missing values and what is given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pydine


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x, noise, other = rng.standard_normal((3, 400))
    return pd.DataFrame(
        {
            "x": x,
            "falls": -x + noise,
            "bent": x**2 + 0.3 * other,
            "label": np.where(x + 0.5 * noise > 0, "up", "down"),
            "steps": pd.Categorical(np.clip(np.round(-x), -1, 1).astype(int), ordered=True),
        }
    )


def test_normal_columns_are_as_pandas_has_them():
    rng = np.random.default_rng(1)
    a, b, c = rng.standard_normal((3, 1000))
    data = pd.DataFrame({"a": a, "b": a + b, "c": c - a})
    found, theirs = pydine.corr(data), data.corr()
    assert list(found.index) == list(found.columns) == list(theirs.columns)
    np.testing.assert_allclose(found, theirs, atol=0.05)


def test_signs_are_where_they_mean_something(frame):
    found = pydine.corr(frame)
    assert found.loc["x", "falls"] < -0.5
    assert found.loc["x", "steps"] < -0.7
    assert found.loc["falls", "steps"] > 0.3
    assert found.loc["x", "bent"] > 0.7  # neither rises nor falls
    assert found.loc["falls", "label"] > 0.1  # labels have no order
    np.testing.assert_array_equal(np.diag(found), 1.0)
    np.testing.assert_array_equal(found, found.T)


def test_size_is_that_of_all_pairs(frame):
    theirs = pydine.pairwise_information(frame, test=False)
    off = ~np.eye(len(frame.columns), dtype=bool)
    np.testing.assert_allclose(np.abs(pydine.corr(frame).to_numpy())[off], theirs.correlations[off])
    nats = pydine.corr(frame, method="information").to_numpy()
    np.testing.assert_allclose(nats[off], theirs.values[off])
    assert np.isinf(nats[0, 0])
    assert nats[3, 3] == pytest.approx(np.log(2.0), abs=0.01)


def test_what_is_given_is_not_in_the_matrix_and_signs_are_partial():
    rng = np.random.default_rng(2)
    z, a, b = rng.standard_normal((3, 600))
    data = {"a": a + 2.0 * z, "b": -a + b + 2.0 * z, "z": z}
    assert pydine.corr(data).loc["a", "b"] > 0.3
    found = pydine.corr(data, given="z")
    assert list(found.columns) == ["a", "b"]
    assert found.loc["a", "b"] == pytest.approx(-np.sqrt(0.5), abs=0.08)


def test_missing_values_pair_by_pair_and_columns_that_tell_nothing(frame):
    data = frame[["x", "falls"]].assign(flat=1.0, other=np.random.default_rng(3).standard_normal(400))
    data.loc[:199, "other"] = np.nan
    found = pydine.corr(data)
    assert found.loc["x", "falls"] == pydine.corr(frame[["x", "falls"]]).loc["x", "falls"]
    assert np.isnan(found["flat"]).all()
    assert not np.isnan(found.loc["x", "other"])
    data["name"] = [f"row {i}" for i in range(400)]
    with pytest.warns(UserWarning, match="'name' of data has 400 different labels"):
        assert np.isnan(pydine.corr(data)["name"]).all()


def test_frames_are_of_the_callers_library(frame):
    data = pl.DataFrame({"x": frame["x"].to_numpy(), "falls": frame["falls"].to_numpy()})
    found = pydine.corr(data)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == data.corr().columns
    assert found.shape == data.corr().shape


def test_refusals(frame):
    with pytest.raises(ValueError, match="method must be 'correlation' or 'information', but got 'pearson'"):
        pydine.corr(frame, method="pearson")
    with pytest.raises(ValueError, match="at least two columns that vary to correlate, but has 1"):
        pydine.corr(frame[["x"]])
    with pytest.raises(ValueError, match="given asks for the column 'nope'"):
        pydine.corr(frame, given="nope")


def test_pandas_can_call_it(frame):
    numbers = frame[["x", "falls"]]
    found = numbers.corr(method=lambda a, b: pydine.mutual_information(a, b).correlation)
    assert found.loc["x", "falls"] == pytest.approx(abs(pydine.corr(numbers).loc["x", "falls"]))

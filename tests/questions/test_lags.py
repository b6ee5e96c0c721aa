"""Lags and transfer of information, where the lag and the direction are known."""

import numpy as np
import pytest

import pydine


def coupled(seed=0, n=400, lag=3, panel=1):
    rng = np.random.default_rng(seed)
    parts = []
    for unit in range(panel):
        x, e = rng.normal(size=(2, n))
        y = np.zeros(n)
        for t in range(n):
            y[t] = 0.5 * y[t - 1] * (t > 0) + (0.7 * x[t - lag] if t >= lag else 0.0) + e[t]
        parts.append({"x": x, "y": y, "unit": np.full(n, unit), "t": np.arange(n)})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def test_the_lag_is_found():
    found = pydine.lagged_information(coupled(), "x", "y", range(-2, 6), condition_on_past=1)
    assert found.best == 3
    by_lag = dict(zip(found.lags, found.adjusted_pvalues, strict=True))
    assert by_lag[3] < 0.001
    assert min(by_lag[-2], by_lag[0]) > 0.01
    assert {estimate.n_samples for estimate in found.estimates} == {400 - 5 - 2}
    assert all(
        wide.high >= one.confidence_interval().high for wide, one in zip(found.band(), found.estimates, strict=True)
    )


def test_lags_stay_within_a_cluster():
    data = coupled(n=40, panel=12)
    order = np.random.default_rng(0).permutation(480)
    shuffled = {name: column[order] for name, column in data.items()}
    first, second = (
        pydine.lagged_information(some, "x", "y", [3], clusters="unit", time="t").estimates[0]
        for some in (data, shuffled)
    )
    assert first.n_samples == second.n_samples == 12 * 37
    assert first.value == pytest.approx(second.value)
    assert first.confidence_interval().low > 0.05


def test_a_lag_is_the_information_of_moved_columns():
    data = coupled()
    found = pydine.lagged_information(data, "x", "y", [2])
    alone = pydine.mutual_information(data["x"][:-2], data["y"][2:], time=True)
    assert found.values[0] == pytest.approx(alone.value)
    assert found.pvalues[0] == pytest.approx(
        pydine.independence_test(data["x"][:-2], data["y"][2:], time=True, method="analytic").pvalue
    )


def test_transfer_has_a_direction():
    found = pydine.transfer_information(coupled(lag=1), "x", "y")
    assert found.pvalue < 0.001 < found.backward_pvalue
    assert found.difference_interval().low > 0.0
    truth = 0.5 * np.log(1.0 + 0.49)
    low, high = found.forward.confidence_interval()
    assert low < truth < high
    other = pydine.transfer_information(coupled(lag=1), "y", "x")
    assert other.difference == pytest.approx(-found.difference)
    assert other.contrast.standard_error == pytest.approx(found.contrast.standard_error)


def test_results_are_records():
    data = coupled()
    for found in (
        pydine.lagged_information(data, "x", "y", [0, 3]),
        pydine.transfer_information(data, "x", "y", [1, 3], given=[]),
    ):
        assert repr(type(found).from_json(found.to_json())) == repr(found)
        assert "y" in found._repr_html_()
        pytest.importorskip("matplotlib").use("Agg")
        assert found.plot().get_xlabel()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda d: pydine.lagged_information(d, "x", "y", []), "lags must be whole numbers, at least one"),
        (lambda d: pydine.transfer_information(d, "x", "y", 0), "lags must be a whole number of at least 1"),
        (lambda d: pydine.transfer_information(d, "x", "y", [0, 1]), "whole numbers of at least 1"),
        (lambda d: pydine.lagged_information(d, "x", "y", time=None), "time must be True or the order of the rows"),
        (lambda d: pydine.lagged_information(d, "x", "y", condition_on_past=-1), "condition_on_past must be a whole"),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(coupled(n=60))

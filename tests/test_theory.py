import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma
from scipy.stats import chi2

from pydine.bases.closed_form import gaussian_information, gaussian_standard_error
from pydine.theory import asymptotic_variance, log_determinant_variance, sample_complexity, variance_bound

DOMAIN = {"bound": 1.0, "lipschitz": 1.0, "radius": 1.0, "n_parameters": 1}


@pytest.mark.parametrize(
    ("accuracy", "failure", "domain", "rows"),
    [
        # 288 (ln 192 + ln 40) = 288 (5.257495 + 3.688879) = 2576.556
        (0.5, 0.05, (1.0, 1.0, 1.0, 1), 2577),
        # 28800 (4 ln 28800 + ln 200) = 28800 (41.072523 + 5.298317) = 1335480.2
        (0.1, 0.01, (2.0, 3.0, 5.0, 4), 1335481),
        # 72 (ln 96 + ln 4) = 72 (4.564348 + 1.386294) = 428.446
        (1.0, 0.5, (1.0, 1.0, 1.0, 1), 429),
    ],
)
def test_sample_complexity_is_what_is_worked_out_by_hand(accuracy, failure, domain, rows):
    names = ("bound", "lipschitz", "radius", "n_parameters")
    assert sample_complexity(accuracy, failure, **dict(zip(names, domain, strict=True))) == rows


def test_a_domain_too_small_for_the_formula_still_asks_for_a_row():
    assert sample_complexity(100.0, 0.9, bound=1.0, lipschitz=0.1, radius=0.1, n_parameters=1) == 1


@given(st.floats(1e-3, 1.0), st.floats(1e-6, 0.5), st.integers(1, 1000))
def test_more_accuracy_confidence_or_parameters_take_more_rows(accuracy, failure, n_parameters):
    domain = {**DOMAIN, "n_parameters": n_parameters}
    rows = sample_complexity(accuracy, failure, **domain)
    assert sample_complexity(accuracy / 2, failure, **domain) >= 4 * (rows - 1)
    assert sample_complexity(accuracy, failure / 2, **domain) >= rows
    assert sample_complexity(accuracy, failure, **{**domain, "n_parameters": n_parameters + 1}) > rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accuracy": 0.0}, "accuracy must be a finite number above 0, but got 0.0"),
        ({"failure": 1.0}, "failure must be a probability strictly between 0 and 1, but got 1.0"),
        ({"lipschitz": float("inf")}, "lipschitz must be a finite number above 0, but got inf"),
        ({"radius": "1"}, "radius must be a finite number above 0, but got '1'"),
        ({"n_parameters": 1.5}, "n_parameters must be an integer of at least 1, but got 1.5"),
    ],
)
def test_sample_complexity_says_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        sample_complexity(**{"accuracy": 0.1, "failure": 0.1, **DOMAIN, **change})


def test_variances_are_what_is_worked_out_by_hand():
    assert log_determinant_variance(3, 100) == pytest.approx(0.06)
    assert variance_bound(1, 1, 300) == pytest.approx(8 / 900)  # (2 + 2 + 4) / (3 n)
    assert variance_bound(2, 3, 10) == pytest.approx(2 / 3)  # (4 + 6 + 10) / (3 n)
    assert asymptotic_variance([0.75], 100) == pytest.approx(0.005625)
    assert asymptotic_variance([0.6, -0.8], 50) == pytest.approx(0.02)
    assert asymptotic_variance([0.0, 0.0], 50) == 0.0


def test_the_variance_of_a_log_determinant_is_the_wishart_matrix_s():
    d, n = 4, 100_000
    exact = polygamma(1, (n - np.arange(d)) / 2.0).sum()
    assert log_determinant_variance(d, n) == pytest.approx(exact, rel=1e-4)


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=8), st.integers(0, 5), st.integers(1, 10**6))
def test_the_bound_of_the_lemma_holds(correlations, more, n):
    d = len(correlations)
    assert asymptotic_variance(correlations, n) <= variance_bound(d, d + more, n)


@pytest.mark.parametrize("rho", [0.3, 0.75, 0.95])
def test_the_asymptotic_variance_is_that_of_samples(rho):
    n, repeats, d = 1000, 500, 2
    rng = np.random.default_rng(7)
    x = rng.standard_normal((repeats, d, n))
    both = np.concatenate([x, rho * x + np.sqrt(1 - rho**2) * rng.standard_normal((repeats, d, n))], axis=1)
    estimates = [gaussian_information(rows @ rows.T, d) for rows in both]
    ratio = np.var(estimates, ddof=1) / asymptotic_variance([rho] * d, n)
    low, high = chi2.ppf([1e-4, 1 - 1e-4], repeats - 1) / (repeats - 1)
    assert low < ratio < high * 1.05  # the second order adds about a hundredth at the weakest


def test_the_standard_error_of_an_estimate_agrees_for_many_rows():
    d, n, rho = 3, 1_000_000, 0.6
    covariance = np.block([[np.eye(d), rho * np.eye(d)], [rho * np.eye(d), np.eye(d)]])
    error = gaussian_standard_error(covariance, d, n)
    assert error**2 == pytest.approx(asymptotic_variance([rho] * d, n), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: asymptotic_variance([1.1], 10), "canonical_correlations must lie between -1 and 1, but one is 1.1"),
        (lambda: asymptotic_variance([0.1], 0), "n must be an integer of at least 1, but got 0"),
        (lambda: variance_bound(0, 1, 10), "^dx must be an integer of at least 1, but got 0"),
    ],
)
def test_variances_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The rule of evidence: the weight of a richer model by its gains on rows that it has not seen."""

import numpy as np
import pytest
from scipy.special import expit

from pydine.units.evidence import LEAST, PRIOR, evidence


def gains(total, spread, n=400):
    """Gains of n rows with this sum, whose sum of squared deviations is `spread`."""
    return np.resize([-1.0, 1.0], n) * np.sqrt(spread / n) + total / n


def clipped(weight):
    return np.clip((weight - LEAST) / (1.0 - 2.0 * LEAST), 0.0, 1.0)


@pytest.mark.parametrize("spread", [0.0, 1.0, 40.0, 1000.0])
@pytest.mark.parametrize("total", [-50.0, 0.0, 3.0, 6.0, 9.0, 40.0])
def test_the_mean_over_bootstrap_draws_of_the_rows(total, spread):
    """As pseudo-BMA+ has it: of the logistic function of sums over resampled rows, less the prior."""
    weights = np.random.default_rng(0).dirichlet(np.ones(400), 4000) * 400.0
    drawn = clipped(expit(weights @ gains(total, spread) - PRIOR).mean())
    assert evidence(gains(total, spread)) == pytest.approx(drawn, abs=0.03)


def test_few_rows_that_agree_count_by_their_nats():
    assert evidence(gains(PRIOR, 0.0)) == pytest.approx(0.5, abs=1e-12)
    assert evidence(gains(PRIOR + 4.0, 0.0)) == 1.0
    assert evidence(gains(PRIOR - 4.0, 0.0)) == 0.0


def test_many_rows_that_disagree_count_by_standard_errors():
    for spread in (1e4, 1e6):
        found = [evidence(gains(PRIOR + errors * np.sqrt(spread), spread)) for errors in (-2.0, 0.0, 1.0, 2.0)]
        np.testing.assert_allclose(found, [0.0, 0.5, clipped(expit(np.sqrt(8.0 / np.pi))), 1.0], atol=0.01)


def test_no_row_decides():
    """Weights rise with the gain, without a jump."""
    found = np.array([evidence(gains(total, 30.0)) for total in np.linspace(-20.0, 40.0, 601)])
    assert (np.diff(found) >= 0.0).all()
    assert np.diff(found).max() < 0.02
    assert (found[0], found[-1]) == (0.0, 1.0)


def test_the_order_of_rows_is_nothing():
    rows = np.random.default_rng(1).normal(0.02, 0.3, 500)
    assert evidence(rows) == pytest.approx(evidence(np.sort(rows)), abs=1e-12)


def test_a_part_of_the_rows_stands_for_all():
    """The sum of a third of the rows is extrapolated, and so is its uncertainty."""
    third = gains(3.0, 2.0, 300)
    assert evidence(third, 1.0 / 3.0) == pytest.approx(evidence(gains(9.0, 18.0)), abs=1e-9)
    assert evidence(third, 1.0 / 3.0) > evidence(third)


def test_gains_beyond_all_bounds():
    assert evidence(np.full(10, -1e100)) == 0.0
    assert evidence(np.full(10, 1e100)) == 1.0

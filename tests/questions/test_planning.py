"""Rows that are needed: textbook power, simulated power, and the way back."""

import math

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import ncx2, norm

import pydine
from pydine import InformationEstimate, Power
from pydine.nulls.power import power_of

mpl.use("Agg")


@pytest.mark.parametrize("r", [0.1, 0.3])
def test_the_gaussian_statistic_needs_what_textbooks_say(r):
    """Fisher's z: ((z_alpha + z_beta) / atanh r)^2 + 3 rows."""
    textbook = ((norm.isf(0.025) + norm.isf(0.2)) / math.atanh(r)) ** 2 + 3
    found = pydine.rows_needed(-0.5 * math.log1p(-r * r), statistic="gaussian")
    assert found.rows == pytest.approx(textbook, rel=0.06)


def test_power_with_several_columns_is_noncentral_chi_squared():
    threshold = ncx2.isf(0.01, 6, 1e-12)
    assert power_of(0.05, 201, (2, 3, 0), 0.01, "gaussian") == pytest.approx(ncx2.sf(threshold, 6, 20.0), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dz", [0, 2])
def test_the_test_itself_has_the_power(dz):
    plan, rejected = pydine.rows_needed(0.05, dz=dz), 0
    r = math.sqrt(-math.expm1(-0.1))
    for seed in range(120):
        rng = np.random.default_rng(seed)
        x, noise = rng.standard_normal((2, plan.rows))
        z = rng.standard_normal((plan.rows, dz))
        y = r * x + math.sqrt(1.0 - r * r) * noise + z.sum(axis=1)
        rejected += pydine.independence_test(x, y, z if dz else None, method="analytic").rejected
    assert rejected / 120 == pytest.approx(0.8, abs=0.11)  # three standard errors


def test_more_is_found_with_fewer_rows_and_back_again():
    rows = [pydine.rows_needed(nats).rows for nats in (0.01, 0.02, 0.1)]
    assert rows[0] > rows[1] > rows[2]
    assert pydine.rows_needed(0.02, dz=5).rows > rows[1]
    assert pydine.rows_needed(0.02, power=0.95).rows > rows[1]
    assert pydine.detectable_information(rows[1]).information == pytest.approx(0.02, rel=0.01)


def test_a_pilot_says_how_many_columns_there_are_and_how_sure_it_is():
    pilot = InformationEstimate(0.02, 0.01, "gaussian", 200, (1, 1, 2))
    found = pydine.rows_needed(pilot)
    assert found.dimensions == (1, 1, 2)
    assert found.rows == pydine.rows_needed(0.02, dz=2).rows
    assert found.interval[0] < found.rows < found.interval[1]
    unsure = pydine.rows_needed(InformationEstimate(0.001, 0.01, "gaussian", 200, (1, 1, 0)))
    assert unsure.interval[1] == math.inf


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: pydine.rows_needed(-0.1), "must be a number of nats above 0"),
        (lambda: pydine.rows_needed("much"), "must be a number of nats above 0"),
        (lambda: pydine.rows_needed(1e-12), "needs more than 1,000,000,000 rows"),
        (lambda: pydine.rows_needed(0.1, power=1.5), "power must be a number strictly between 0 and 1"),
        (lambda: pydine.rows_needed(0.1, power=0.01), "power must be above alpha"),
        (lambda: pydine.rows_needed(0.1, dz=-1), "dz must be an integer of at least 0"),
        (lambda: pydine.rows_needed(0.1, statistic="other"), "statistic must be 'auto' or 'gaussian'"),
        (lambda: pydine.detectable_information(5), "rows must be an integer of at least 12"),
    ],
)
def test_refusals(ask, says):
    with pytest.raises(ValueError, match=says):
        ask()


def test_shown_and_read_back():
    found = pydine.rows_needed(0.05)
    assert Power.from_json(found.to_json()).to_json() == found.to_json()
    assert repr(found).startswith("103 rows detect 0.05 nats (a correlation of 0.31)")
    assert "Rows needed" in found._repr_html_()
    assert int(found) == found.rows
    assert "0.05 nats" in found.plot().get_title()

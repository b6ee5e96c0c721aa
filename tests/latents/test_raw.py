"""Latents on the scale of the data: sharp lines between several columns, and what they have to pay."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln

import pydine
from pydine.bases.lines import Line


def sharp(n, nats, seed=0):
    """Two columns a side, turned within each side."""
    rng = np.random.default_rng(seed)
    rho = np.sqrt(-np.expm1(-nats))
    x, e = rng.standard_normal((2, n, 2))
    turns = [np.linalg.qr(rng.standard_normal((2, 2)))[0] for _ in range(2)]
    return x @ turns[0], (rho * x + np.sqrt(1.0 - rho * rho) * e) @ turns[1]


@pytest.mark.parametrize("nats", [6.0, 10.0])
def test_a_sharp_line_between_several_columns_is_kept(nats):
    """Scores of each column by itself leave 5 nats of 10."""
    x, y = sharp(2000, nats)
    found = pydine.mutual_information(x, y)
    low, high = found.confidence_interval(0.95)
    assert low < nats < high
    assert found.value == pytest.approx(nats, abs=0.1)
    assert found.base == "raw"
    model = pydine.DINE().fit(x, y)
    assert model.pointwise(x, y).mean() == pytest.approx(nats, abs=0.1)


@pytest.mark.parametrize("bend", [np.exp, lambda a: a**3, lambda a: np.round(a, 1)])
def test_columns_that_are_not_normal_have_nothing_of_it(bend):
    x, y = sharp(1000, 1.0)
    found = pydine.mutual_information(bend(x), bend(y))
    assert found.details["weights"].get("raw", 0.0) == 0.0


def test_what_a_line_misses():
    """Of a uniform column it is the negentropy, ln sqrt(2 pi e / 12); of a normal one nothing."""
    rng = np.random.default_rng(0)
    normal, uniform = rng.standard_normal((1, 20_000)), rng.uniform(size=(1, 20_000)) * np.sqrt(12.0)

    def missed(columns):
        d = len(columns)
        return Line(columns.mean(axis=1), np.eye(d), np.inf).missed(columns)

    assert missed(normal).mean() == pytest.approx(0.0, abs=0.02)
    assert missed(uniform).mean() == pytest.approx(0.5 * np.log(2.0 * np.pi * np.e / 12.0), abs=0.02)
    both = missed(np.vstack([normal, uniform]))
    np.testing.assert_allclose(both, missed(normal) + missed(uniform), atol=1e-12)


@pytest.mark.parametrize("degrees", [1.0, 4.0])
def test_the_line_of_a_student_vector(degrees):
    """Columns without a mean: location, correlation and degrees of freedom are those of the generator."""
    rng = np.random.default_rng(0)
    whole = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.3], [0.0, 0.3, 1.0]])
    size = np.sqrt(rng.chisquare(degrees, 5000) / degrees)
    line = Line.fit(np.linalg.cholesky(whole) @ rng.standard_normal((3, 5000)) / size + 2.0)
    np.testing.assert_allclose(line.location, 2.0, atol=0.1)
    assert line.degrees == pytest.approx(degrees, rel=0.15)
    np.testing.assert_allclose(line.scale, whole, atol=0.1)


def test_a_sharp_line_with_heavy_tails_is_kept():
    """Scores of each column by itself leave less than 5 nats of 8."""
    x, y = sharp(4000, 6.0)
    size = np.sqrt(np.random.default_rng(2).chisquare(1.0, (4000, 1)))
    found = pydine.mutual_information(x / size, y / size)
    half = 0.5 * np.arange(6)
    term = [float(gammaln(h) - h * digamma(h)) for h in half[1:]]  # of 1 to 5 degrees of freedom
    truth = 6.0 + term[0] + term[4] - 2.0 * term[2]
    low, high = found.confidence_interval(0.95)
    assert low < truth < high
    assert found.value == pytest.approx(truth, abs=0.15)


def test_single_columns_are_told_by_ranks_unless_ranks_are_too_coarse():
    rng = np.random.default_rng(0)
    x, e = rng.standard_normal((2, 2000))
    plain, bent = pydine.mutual_information(x, x + 0.5 * e), pydine.mutual_information(np.exp(x), x + 0.5 * e)
    assert plain.value == bent.value
    sharp = pydine.mutual_information(x, x + 1e-4 * e)
    assert sharp.value == pytest.approx(np.log(1e4), abs=0.1)
    assert sharp.confidence_interval(0.95).high == np.inf
    assert "open above" in repr(sharp)

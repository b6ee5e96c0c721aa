"""Latents on the scale of the data: sharp lines between several columns, and what they have to pay."""

import numpy as np
import pytest

import pydine
from pydine.latents.raw import not_normal


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


def test_what_is_not_normal():
    """Of a uniform column it is the negentropy, ln sqrt(2 pi e / 12); of a normal one nothing."""
    rng = np.random.default_rng(0)
    normal, uniform = rng.standard_normal((1, 20_000)), rng.uniform(size=(1, 20_000))
    assert not_normal(normal).mean() == pytest.approx(0.0, abs=0.02)
    assert not_normal(uniform).mean() == pytest.approx(0.5 * np.log(2.0 * np.pi * np.e / 12.0), abs=0.02)
    both = not_normal(np.vstack([normal, uniform]))
    np.testing.assert_allclose(both, not_normal(normal) + not_normal(uniform), atol=1e-12)

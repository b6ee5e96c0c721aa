import numpy as np
import pytest
from scipy.special import i0e, i1e

from pydine.bases.waves import WaveRatio


def test_the_first_order_is_von_mises():
    kappa, rng = 1.5, np.random.default_rng(0)
    x = rng.random(20_000)
    y = np.mod(x + rng.vonmises(0.0, kappa, len(x)) / (2.0 * np.pi), 1.0)
    found = WaveRatio.fit(np.array([x, y]), 1, (True, True))
    truth = kappa * i1e(kappa) / i0e(kappa) - np.log(i0e(kappa)) - kappa
    assert found.of(np.array([x, y])).mean() == pytest.approx(truth, abs=0.01)
    # kappa cos(a - b) is kappa (cos a cos b + sin a sin b): the products come after four waves of single sides.
    np.testing.assert_allclose(found.coefficients, [0, 0, 0, 0, kappa, 0, 0, kappa], atol=0.08)


@pytest.mark.parametrize("around", [(True, True), (True, False), (False, True)])
def test_densities_integrate_to_one(around):
    rng = np.random.default_rng(1)
    u = rng.beta(2.0, 3.0, (2, 300))
    found = WaveRatio.fit(u, 2, around)
    places = (np.arange(200) + 0.5) / 200
    grid = np.array([np.repeat(places, 200), np.tile(places, 200)])
    assert np.exp(found.of(grid)).mean() == pytest.approx(1.0, abs=1e-6)


def test_an_angle_has_no_edge():
    rng = np.random.default_rng(2)
    found = WaveRatio.fit(rng.random((2, 300)), 3, (True, False))
    v = rng.random(5)
    np.testing.assert_allclose(found.of(np.array([np.zeros(5), v])), found.of(np.array([np.ones(5), v])), atol=1e-12)
    assert np.abs(found.of(np.array([v, np.zeros(5)])) - found.of(np.array([v, np.ones(5)]))).max() > 1e-3

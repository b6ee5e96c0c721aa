"""A small sample, and both algorithms fitted to it."""

import numpy as np
import pytest

from estimator_data import ESTIMATORS


@pytest.fixture(scope="session")
def small():
    """x in two columns, y in one, z in two, 150 rows, with effects of every kind between them."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((150, 2))
    x = rng.standard_normal((150, 2)) + np.sin(2.0 * z)
    y = x[:, :1] + np.exp(0.3 * z[:, :1]) * rng.standard_normal((150, 1))
    return x, y, z


@pytest.fixture(scope="session", params=ESTIMATORS)
def fitted(request, small):
    return ESTIMATORS[request.param]().fit(*small)

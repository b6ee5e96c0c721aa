"""Fitted units that tests of several modules look at."""

import pytest

from pydine.units.ladder import fit_ladder
from unit_data import SETTINGS, linear_data, sine_data


@pytest.fixture(scope="session")
def sine():
    return fit_ladder(*sine_data(), SETTINGS)


@pytest.fixture(scope="session")
def linear():
    return fit_ladder(*linear_data(), SETTINGS)

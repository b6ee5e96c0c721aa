"""The linear rung: it starts from a ridge regression, whose residual may be nothing."""

import warnings

import numpy as np
import pytest

from pydine.units.rungs.linear import LINEAR
from pydine.units.rungs.rung import Lesson
from unit_data import SETTINGS


def fitted(t, x):
    return LINEAR.fit(Lesson(t, x, SETTINGS, linear=lambda: None))[0]


@pytest.mark.parametrize("kind", ["constant", "column of the context"])
def test_no_logarithm_of_nothing_where_nothing_is_left_to_explain(kind):
    """In a fold that lacks the one row with another value the target does not vary; its log-scale stays finite."""
    context = np.random.default_rng(0).standard_normal((2, 40))
    target = np.zeros(40) if kind == "constant" else context[1].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(divide="raise", invalid="raise"):
            model = fitted(target, context)
    assert np.isfinite(model.theta).all()

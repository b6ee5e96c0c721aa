"""Columns of numbers that look like something else."""

import numpy as np
import pytest

from pydine.inputs.hints import far_value


@pytest.mark.parametrize("share", [0.01, 0.2, 0.4])
def test_a_code_for_missing_values(share):
    """However many rows have it: a fifth of them widens the quartiles of all rows, not those of the others."""
    rng = np.random.default_rng(0)
    ages = rng.integers(1, 80, 300) * 1.0
    ages[: round(300 * share)] = -999.0
    assert far_value(ages) == -999.0


@pytest.mark.parametrize("tail", ["lognormal", "pareto", "normal", "steps"])
def test_the_end_of_a_tail_is_none(tail):
    rng = np.random.default_rng(0)
    drawn = {
        "lognormal": rng.lognormal(0, 1.5, 1000),
        "pareto": rng.pareto(2.0, 1000),
        "normal": rng.normal(size=1000),
        "steps": rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], 1000),
    }
    assert far_value(drawn[tail]) is None

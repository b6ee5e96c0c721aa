"""What columns of all kinds say of themselves, in place of their classes."""

import numpy as np
import pytest

from pydine.inputs.kinds import MOST_LEVELS, Kind
from pydine.latents.kinds.canonical import canonical

RNG = np.random.default_rng(0)
FEW, MANY = (RNG.integers(0, k, 400).astype(np.float64) for k in (3, MOST_LEVELS + 20))


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (Kind.CONTINUOUS, RNG.standard_normal(400), (False, False, False, False)),
        (Kind.ANGLE, RNG.random(400), (False, False, False, False)),
        (Kind.ORDINAL, FEW, (True, True, False, False)),
        (Kind.CYCLE, FEW / 3.0, (True, True, False, False)),
        (Kind.NOMINAL, FEW, (True, False, True, False)),
        (Kind.NOMINAL, MANY, (True, False, True, True)),
    ],
)
def test_what_a_column_says_of_itself(kind, values, expected):
    column, _ = canonical([values, RNG.standard_normal(400)], [kind, Kind.CONTINUOUS])
    assert (column.is_discrete, column.has_steps, column.is_label, column.has_many_labels) == expected

"""The quadratic rung: products of columns, where rows are enough for them."""

import numpy as np
import pytest

from pydine.units.rungs.additive import additive
from pydine.units.rungs.quadratic import is_learnable, quadratic


def test_products_of_every_two():
    context = np.random.default_rng(0).standard_normal((3, 20))
    a, b, c = context
    rows = quadratic(context)
    assert len(rows) == len(additive(context)) + 3
    for product in (a * b, a * c, b * c):
        assert np.isclose(rows, product).all(axis=1).any()


@pytest.mark.parametrize(("c", "n", "expected"), [(1, 1000, False), (2, 2, False), (2, 3, True), (5, 29, False)])
def test_three_rows_a_product(c, n, expected):
    assert is_learnable(c, n) == expected

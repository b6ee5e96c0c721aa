"""The expansions of a context."""

import numpy as np
import pytest

from pydine.units.rungs.additive import additive
from pydine.units.rungs.quadratic import quadratic


@pytest.mark.parametrize("c", [0, 1, 3])
def test_columns_do_not_depend_on_the_number_of_rows(c):
    """Blocks of rows are expanded one by one, and a block may be empty, as that of rows far out."""
    context = np.random.default_rng(0).standard_normal((c, 5))
    for expansion in (additive, quadratic):
        whole = expansion(context)
        for rows in (slice(0), slice(1), slice(2, 5)):
            np.testing.assert_array_equal(expansion(context[:, rows]), whole[:, rows])


def test_additive_columns_are_hermite_polynomials():
    context = np.random.default_rng(1).standard_normal((1, 20))
    line, bend, twist = additive(context)
    np.testing.assert_array_equal(line, context[0])
    np.testing.assert_allclose(bend, (context[0] ** 2 - 1.0) / np.sqrt(2.0))
    np.testing.assert_allclose(twist, (context[0] ** 3 - 3.0 * context[0]) / np.sqrt(6.0))


def test_quadratic_columns_are_additive_ones_and_products():
    context = np.random.default_rng(2).standard_normal((3, 20))
    expanded = quadratic(context)
    np.testing.assert_array_equal(expanded[:-3], additive(context))
    products = [context[i] * context[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_array_equal(expanded[-3:], products)

"""The quadratic rung: pairwise interactions of the context columns, beside a curve along each."""

from __future__ import annotations

import numpy as np

from pydine.types import FloatArray
from pydine.units.rungs.additive import additive
from pydine.units.rungs.linear import ExpandedRung

# answer: training rows for each product of two columns: with fewer, most of them would be noise.
ROWS_PER_PRODUCT = 3


def quadratic(context: FloatArray) -> FloatArray:
    """The additive columns and the products of every two context columns."""
    c, columns = len(context), additive(context)
    expanded, stop = np.empty((len(columns) + c * (c - 1) // 2, context.shape[1])), len(columns)
    expanded[:stop] = columns
    for i in range(c - 1):
        start, stop = stop, stop + c - 1 - i
        np.multiply(context[i], context[i + 1 :], out=expanded[start:stop])
    return expanded


QUADRATIC = ExpandedRung("quadratic", quadratic)


def is_learnable(c: int, n_train: int) -> bool:
    """Whether c columns have products, and n rows are enough for all of them."""
    return 0 < c * (c - 1) // 2 <= n_train // ROWS_PER_PRODUCT

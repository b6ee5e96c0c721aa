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
    first, second = np.triu_indices(len(context), 1)
    return np.vstack([additive(context), context[first] * context[second]])


QUADRATIC = ExpandedRung("quadratic", quadratic)


def is_learnable(c: int, n_train: int) -> bool:
    """Whether c columns have products, and n rows are enough for all of them."""
    return 0 < c * (c - 1) // 2 <= n_train // ROWS_PER_PRODUCT

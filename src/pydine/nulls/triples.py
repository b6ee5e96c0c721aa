"""Which pairs of columns may tell more about a target together than apart: a screen of all pairs by matrix products.

Two signs of it need no fit. Products of three features, one of each column and one of the target, have mean zero where
the three are independent; of an exclusive or, nothing else shows. And what normal columns tell together beyond the sum
of what they tell alone follows from their correlations, as of a column that takes the noise out of another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pydine.types import FloatArray

LARGEST = 1.0 - 1e-9  # guard: of a squared correlation, for its logarithm


def product_scores(features: Sequence[FloatArray], target: FloatArray) -> FloatArray:
    """How far products of three features are from what chance gives, in standard deviations, shape (p, p).

    Parameters
    ----------
    features : sequence of ndarray, shapes (k_i, n)
        Standardised functions of each column.
    target : ndarray, shape (k, n)
        The same of the target.
    """
    every, n = np.vstack(features), target.shape[1]
    ends = np.cumsum([0, *(len(block) for block in features)])[:-1]
    total = np.zeros((len(every), len(every)))
    for row in target:
        total += ((every * row) @ every.T) ** 2 / n
    sums = np.add.reduceat(np.add.reduceat(total, ends, axis=0), ends, axis=1)
    counts = np.array([float(len(block)) for block in features])
    cells = np.multiply.outer(counts, counts) * len(target)
    scores: FloatArray = (sums - cells) / np.sqrt(2.0 * cells)
    return scores


def normal_synergy(scores: FloatArray, target: FloatArray) -> FloatArray:
    """I(i,j;y) - I(i;y) - I(j;y) in nats, if columns (p, n) and the target (n,) were normal, shape (p, p)."""
    r: FloatArray = np.asarray(np.corrcoef(np.vstack([scores, target])))
    between, alone = r[:-1, :-1], r[:-1, -1]
    products = np.multiply.outer(alone, alone)
    squares = np.add.outer(alone**2, alone**2)
    share = (squares - 2.0 * products * between) / np.maximum(1.0 - between**2, 1.0 - LARGEST)
    told = -0.5 * np.log1p(-np.clip(alone**2, 0.0, LARGEST))
    found: FloatArray = -0.5 * np.log1p(-np.clip(share, 0.0, LARGEST)) - np.add.outer(told, told)
    return found

"""Samples as every baseline wants them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def columns(a: ArrayLike) -> NDArray[np.float64]:
    """Numbers of shape (n,) or (n, d) as an array of shape (n, d)."""
    values = np.asarray(a, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def standardised(a: ArrayLike) -> NDArray[np.float64]:
    """Columns with mean 0 and variance 1, shape (n, d)."""
    values = columns(a)
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))

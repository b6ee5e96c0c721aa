"""Nearest neighbours for columns of any kind.

Mesner and Shalizi (2020), "Conditional mutual information estimation for mixed, discrete and continuous data", written
from the paper's formulas.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma
from sklearn.neighbors import KDTree


def mixed_neighbours(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None, k: int = 7) -> float:
    """Estimate I(X;Y) or I(X;Y|Z) from distances to the k nearest neighbours in the maximum norm.

    Where the k-th neighbour is at distance 0, all rows at that distance count: that is what makes it hold for discrete
    columns and for point masses. The estimate is cut at zero, as the authors have it.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy). Labels are to be indicators.
    z
        Samples of the conditioning variable, shape (n,) or (n, dz).
    k
        Number of neighbours.

    Returns
    -------
    float
        Information in nats, at least 0.
    """
    columns = [_columns(a) for a in (x, y)]
    n = len(columns[0])
    given = np.empty((n, 0)) if z is None else _columns(z)
    joint = np.hstack([*columns, given])
    radius = np.asarray(cKDTree(joint).query(joint, k=[k + 1], p=np.inf)[0])[:, 0]
    # Without itself; ties at distance 0 are all neighbours.
    found = np.where(radius > 0.0, k, _within(joint, radius) - 1)
    terms = digamma(found) - sum(digamma(_within(np.hstack([side, given]), radius) - 1) for side in columns)
    terms = terms + (digamma(n - 1) if z is None else digamma(_within(given, radius) - 1))
    return max(float(terms.mean()), 0.0)


def _columns(a: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(a, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def _within(points: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many points lie no farther than the radius, itself included; points (n, d), radius (n,)."""
    counts = KDTree(points, metric="chebyshev").query_radius(points, radius, count_only=True)
    return np.asarray(counts, dtype=np.float64)

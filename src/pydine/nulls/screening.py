"""Which pairs of columns have a copula that is not Gaussian: a screen of all pairs by matrix products.

It is a smooth test (Neyman 1937) of every pair. With u and v the uniform ranks of two columns, the moments
E[phi_j(u) phi_k(v)] of the cosine basis phi_k(u) = sqrt(2) cos(pi k u) describe their copula; those of a Gaussian
copula are known functions of its correlation. A pair whose moments differ from them significantly is better described
by a richer base.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pydine.types import FloatArray

DEGREE = 4  # answer: highest frequency: shapes with up to this many turns are detected
LEVEL = 0.05  # convention: family-wise error rate: the probability of finding any pair if all are Gaussian
GRID = 65  # precision: correlations from 0 to 1 at which a Gaussian copula's moments are tabulated
NODES = 128  # precision: of the quadrature, evenly spaced ranks
SMALLEST_VARIANCE = 1e-3  # guard: of the terms of a moment; for a near-perfect correlation it vanishes


def not_gaussian(
    columns: FloatArray, correlations: FloatArray, dof: float, n_pairs: int | None = None
) -> NDArray[np.bool_]:
    """Screen all pairs of columns.

    Parameters
    ----------
    columns : ndarray, shape (p, n)
        Latents.
    correlations : ndarray, shape (p, p)
        Correlations of their normal scores.
    dof : float
        Degrees of freedom of the correlations.
    n_pairs : int, optional
        Number of pairs tested in all, if there are others than those of these columns: the level holds for all.

    Returns
    -------
    ndarray of bool, shape (p, p)
        Symmetric; False on the diagonal.
    """
    p, n = columns.shape
    basis = _basis(columns)
    threshold = -ndtri(0.5 * LEVEL / ((n_pairs or max(1, p * (p - 1) // 2)) * DEGREE**2))
    expected, spreads = _gaussian_moments()
    # Where in the tables a correlation lies; they are evenly spaced in its arc sine.
    place = (np.arcsin(correlations) / np.pi + 0.5) * (expected.shape[2] - 1)
    cell = np.minimum(place.astype(np.intp), expected.shape[2] - 2)
    part = place - cell
    found = np.zeros((p, p), dtype=np.bool_)
    for j in range(DEGREE):
        for k in range(j, DEGREE):  # the others are the transposes of these
            surprise = basis[j] @ basis[k].T / n
            surprise -= _between(expected[j, k], cell, part)
            found |= np.abs(surprise) > threshold / np.sqrt(dof) * _between(spreads[j, k], cell, part)
    found |= found.T
    np.fill_diagonal(found, val=False)
    return found


def _basis(columns: FloatArray) -> list[FloatArray]:
    """Cosines of the ranks of columns (p, n), one array (p, n) for each frequency."""
    ranks = (np.argsort(np.argsort(columns, axis=1), axis=1) + 0.5) / columns.shape[1]
    return [np.sqrt(2.0) * np.cos(np.pi * k * ranks) for k in range(1, DEGREE + 1)]


def _between(table: FloatArray, cell: NDArray[np.intp], part: FloatArray) -> FloatArray:
    values: FloatArray = table[cell] + part * np.diff(table)[cell]
    return values


@lru_cache(maxsize=1)
def _gaussian_moments() -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of phi_j(u) phi_k(v) under Gaussian copulas, shape (DEGREE, DEGREE, 2 GRID - 1).

    The last axis is over correlations from -1 to 1, whose arc sines are evenly spaced.
    """
    positive = np.sin(np.linspace(0.0, 0.5 * np.pi, GRID))
    uniform = (np.arange(NODES) + 0.5) / NODES
    nodes, k = ndtri(uniform), np.arange(1, 2 * DEGREE + 1)
    left = np.sqrt(2.0) * np.cos(np.pi * k[:, None] * uniform) / NODES
    means = np.empty((2 * DEGREE, 2 * DEGREE, 2 * GRID - 1))
    for i, r in enumerate(positive):
        given = ndtr(r * nodes[:, None] + np.sqrt(1.0 - r * r) * nodes)  # v at each u and each node of the noise
        right = np.array([(np.sqrt(2.0) * np.cos(np.pi * j * given)).mean(axis=1) for j in k])
        means[:, :, GRID - 1 + i] = left @ right.T
        means[:, :, GRID - 1 - i] = means[:, :, GRID - 1 + i] * (-1.0) ** k  # phi_k(1 - v) = (-1)^k phi_k(v)
    # phi_j^2 = 1 + phi_2j / sqrt(2), so that the squares' means are among the means.
    variances = 1.0 + 0.5 * means[1::2, 1::2] - means[:DEGREE, :DEGREE] ** 2
    return means[:DEGREE, :DEGREE], np.sqrt(np.maximum(variances, SMALLEST_VARIANCE))

"""The generalised covariance measure: Shah and Peters (2020)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_predict

from pydine.baselines.arrays import columns
from pydine.types import FloatArray

FOLDS = 5
BOOTSTRAPS = 9999
BLOCK = 500  # bootstraps at a time


def gcm(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None, random_state: int = 0) -> float:
    """Test whether the residuals of X and of Y, each regressed on Z by boosted trees, are uncorrelated.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        Samples of the conditioning variable, shape (n,) or (n, dz).
    random_state
        Seed of the folds, the trees and, with more than one pair of columns, the bootstrap.

    Returns
    -------
    float
        p-value. It can be small only if some pair of columns is correlated given Z.
    """
    rng = np.random.default_rng(random_state)
    x, y = (_residuals(columns(a), z, random_state) for a in (x, y))
    products = (x[:, :, None] * y[:, None, :]).reshape(len(x), -1)
    # Shah and Peters, equation 3: a studentised mean, standard normal where X and Y are independent given Z.
    centred = products - products.mean(axis=0)
    deviations = centred.std(axis=0)
    statistic = float((np.sqrt(len(x)) * np.abs(products.mean(axis=0)) / deviations).max())
    if products.shape[1] == 1:
        return float(max(2.0 * ndtr(-statistic), np.finfo(np.float64).tiny))
    return _largest_of_many(statistic, centred / deviations, rng)


def _largest_of_many(statistic: float, standard: FloatArray, rng: np.random.Generator) -> float:
    """p-value of the largest of several statistics by a Gaussian multiplier bootstrap; standard (n, pairs)."""
    n = len(standard)
    exceeding, left = 0, BOOTSTRAPS
    while left:
        size = min(BLOCK, left)
        largest = np.abs(rng.standard_normal((size, n)) @ standard).max(axis=1) / np.sqrt(n)
        exceeding += int((largest >= statistic).sum())
        left -= size
    return (1 + exceeding) / (1 + BOOTSTRAPS)


def _residuals(values: FloatArray, z: ArrayLike | None, random_state: int) -> FloatArray:
    """What Z does not predict of every column, on rows that the regression has not seen, shape (n, d)."""
    if z is None:
        return np.asarray(values - values.mean(axis=0))
    folds = KFold(FOLDS, shuffle=True, random_state=random_state)
    trees = HistGradientBoostingRegressor(early_stopping=True, random_state=random_state)
    predicted = [cross_val_predict(trees, columns(z), column, cv=folds) for column in values.T]
    return np.asarray(values - np.column_stack(predicted))

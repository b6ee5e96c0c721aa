"""Rank correlations of all pairs: to compare information with, and for its sign where one has a meaning."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from pydine.types import FloatArray

__all__ = ["partial_spearman", "signs_of", "spearman"]

MONOTONE = 0.5  # convention: ranks must see most of a pair's squared correlation, for their sign to be the pair's


def spearman(columns: FloatArray) -> FloatArray:
    """Rank correlations of columns (p, n) with missing values, each pair with the rows that it has, shape (p, p).

    A column's ranks are those among all rows that have it.
    """
    there = np.isfinite(columns)
    ranks = np.zeros(columns.shape)
    for i, finite in enumerate(there):
        ranks[i, finite] = rankdata(columns[i, finite]) / finite.sum() - 0.5
    mask = there.astype(np.float64)
    n, sums, squares = mask @ mask.T, ranks @ mask.T, ranks**2 @ mask.T
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = ranks @ ranks.T / n - sums * sums.T / n**2
        spread = squares / n - (sums / n) ** 2
        found: FloatArray = covariance / np.sqrt(spread * spread.T)
    return np.clip(found, -1.0, 1.0)


def partial_spearman(columns: FloatArray, given: FloatArray) -> FloatArray:
    """Rank correlations of what is left of columns (p, n) once given ones (k, n) are taken out of them, shape (p, p).

    Ranks are regressed on the ranks of what is given, in the rows that have both.
    """
    there = np.isfinite(given).all(axis=0)
    known = np.vstack([np.ones(int(there.sum())), *(rankdata(row[there]) for row in given)])
    left = np.full(columns.shape, np.nan)
    for i, column in enumerate(columns):
        rows = np.isfinite(column[there])
        ranks, context = rankdata(column[there][rows]), known[:, rows].T
        left[i, np.flatnonzero(there)[rows]] = ranks - context @ np.linalg.lstsq(context, ranks, rcond=None)[0]
    return spearman(left)


def signs_of(information: FloatArray, ranks: FloatArray) -> FloatArray:
    """The sign of each pair's dependence (p, p), -1 where it falls, and 1 where it rises or is not monotone.

    Parameters
    ----------
    information : ndarray, shape (p, p)
        Nats.
    ranks : ndarray, shape (p, p)
        Rank correlations; NaN where a sign means nothing.
    """
    normal = 2.0 * np.sin(np.pi / 6.0 * np.nan_to_num(ranks))  # the correlation of normal columns with such ranks
    squares = -np.expm1(-2.0 * np.maximum(information, 0.0))
    return np.where((ranks < 0.0) & (squares > 0.0) & (normal**2 >= MONOTONE * squares), -1.0, 1.0)

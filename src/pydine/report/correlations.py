"""Correlations of ranks: what people compare information with, and what the graph of many columns rests on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student_t

from pydine.bases.closed_form import pair_information
from pydine.latents.scores import ScoreMap
from pydine.results import PairwiseInformation
from pydine.types import FloatArray

__all__ = ["partial_correlations", "spearman"]


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


def partial_correlations(columns: Mapping[str, FloatArray]) -> PairwiseInformation:
    """The information of every pair given all other columns, as far as it shows as a line in normal scores.

    The graph of a Gaussian copula (Liu, Lafferty and Wasserman, 2009): one inverse in place of p (p - 1) flows.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
        Complete, with more rows than columns. Those that are a linear function of others share what is left.
    """
    names = tuple(columns)
    scores = np.array([ScoreMap.fit(np.ascontiguousarray(values))[1] for values in columns.values()])
    p, n = scores.shape
    dof = float(n - p)
    inverse = np.linalg.pinv(np.corrcoef(scores), rcond=1e-10, hermitian=True)
    scale = np.sqrt(np.diag(inverse))
    partial = np.clip(-inverse / np.outer(scale, scale), -1.0 + 1e-12, 1.0 - 1e-12)
    upper = np.triu_indices(p, 1)
    found = pair_information(partial[upper], dof + 1.0, n)
    statistic = np.abs(partial[upper]) * np.sqrt(dof / (1.0 - partial[upper] ** 2))
    pvalues = np.maximum(2.0 * student_t.sf(statistic, dof), np.finfo(np.float64).tiny)

    def square(entries: FloatArray) -> FloatArray:
        matrix = np.full((p, p), np.nan)
        matrix[upper] = matrix.T[upper] = entries
        return matrix

    bases = np.full((p, p), "gaussian", dtype="U8")
    np.fill_diagonal(bases, "")
    return PairwiseInformation(
        names=names,
        values=square(found[0]),
        standard_errors=square(found[1]),
        errors=(square(found[1]), square(found[1])),
        pvalues=square(pvalues),
        adjusted_pvalues=square(pvalues),
        bases=bases,
        given="rest",
        n_samples=n,
        n_dropped=0,
        n_units=0,
        n_general=0,
        is_shared=True,
        adjustment="bh",
    )

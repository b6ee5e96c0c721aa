"""Partial correlations of ranks, for the graph of many columns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from scipy.stats import chi2
from scipy.stats import t as student_t

from pydine.bases.closed_form import pair_information, wishart_bias
from pydine.inputs.checks import SPARE_ROWS
from pydine.inputs.kinds import MOST_LEVELS, Kind, pooled
from pydine.latents.scores import ScoreMap
from pydine.results import PairwiseInformation
from pydine.types import FloatArray

__all__ = ["partial_correlations"]


def partial_correlations(
    columns: Mapping[str, FloatArray], kinds: Mapping[str, Kind] | None = None
) -> PairwiseInformation | None:
    """The information of every pair given all other columns, as far as it is linear in normal scores.

    The graph of a Gaussian copula (Liu, Lafferty and Wasserman, 2009): one inverse in place of p (p - 1) flows. Labels
    become indicators, all but the last, and blocks of columns are compared by their canonical correlations.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
        Without missing values. Columns that are linear functions of others share what is left.
    kinds : mapping of str to Kind, optional
        Which of them are labels.

    Returns
    -------
    PairwiseInformation or None
        None if there are too few rows.
    """
    names = tuple(columns)
    blocks = [_block(values, (kinds or {}).get(name)) for name, values in columns.items()]
    scores = np.vstack(blocks)
    p, n = len(names), scores.shape[1]
    if n < len(scores) + SPARE_ROWS:
        return None
    ends = np.cumsum([0, *map(len, blocks)])
    parts = [slice(start, end) for start, end in itertools.pairwise(ends.tolist())]
    inverse = np.asarray(np.linalg.pinv(np.corrcoef(scores), rcond=1e-10, hermitian=True), dtype=np.float64)
    values, errors, pvalues = np.full((3, p, p), np.nan)
    for i in range(p):
        for j in range(i):
            found = _between(inverse, parts[i], parts[j], n)
            for matrix, entry in zip((values, errors, pvalues), found, strict=True):
                matrix[i, j] = matrix[j, i] = entry
    bases = np.full((p, p), "gaussian", dtype="U8")
    np.fill_diagonal(bases, "")
    return PairwiseInformation(
        names=names,
        values=values,
        standard_errors=errors,
        errors=(errors, errors),
        pvalues=pvalues,
        adjusted_pvalues=pvalues,
        bases=bases,
        given="rest",
        n_samples=n,
        n_dropped=0,
        n_units=0,
        n_general=0,
        is_shared=True,
        adjustment="bh",
        widths=tuple(map(len, blocks)),
    )


def _block(values: FloatArray, kind: Kind | None) -> FloatArray:
    """Normal scores of numbers, shape (1, n); indicators of labels, all but one, shape (labels - 1, n)."""
    if kind is not Kind.NOMINAL:
        return ScoreMap.fit(np.ascontiguousarray(values))[1][None]
    codes = np.minimum(pooled(values)[0], MOST_LEVELS)  # the rest are one: this is an overview
    return np.array([codes == code for code in np.unique(codes)[1:]], dtype=np.float64)


def _between(inverse: FloatArray, first: slice, second: slice, n: int) -> tuple[float, float, float]:
    """Two blocks given all others: information in nats less its bias, its standard error, and Bartlett's p-value."""
    a, b = (block.stop - block.start for block in (first, second))
    places = np.r_[first, second]
    left = np.linalg.pinv(inverse[np.ix_(places, places)], rcond=1e-10, hermitian=True)
    whitened = np.linalg.pinv(left[:a, :a]) @ left[:a, a:] @ np.linalg.pinv(left[a:, a:]) @ left[a:, :a]
    squares = np.clip(np.linalg.eigvals(whitened).real, 0.0, 1.0 - 1e-12)
    dof = float(n - len(inverse))
    if a == b == 1:
        correlation = np.sqrt(squares)
        value, error = (float(entries[0]) for entries in pair_information(correlation, dof + 1.0, n))
        statistic = float(correlation[0]) * np.sqrt(dof / (1.0 - float(squares[0])))
        pvalue = 2.0 * student_t.sf(statistic, dof)
    else:
        rest = dof - 1.0 + a + b
        plain = -0.5 * float(np.log1p(-squares).sum())
        value = plain - wishart_bias(a, b, rest)
        error = float(np.sqrt(squares.sum() / rest + a * b / (2.0 * rest**2)))
        pvalue = chi2.sf(2.0 * (rest - 0.5 * (a + b + 1.0)) * plain, a * b)
    return value, error, max(float(pvalue), float(np.finfo(np.float64).tiny))

"""Which sets are likely to separate two columns: an order in which to try them, and no test.

What a set leaves of the dependence of two columns is judged by partial correlations of a few functions of each column:
slow waves of numbers, marks of the most common labels. It takes one matrix of products of all functions of all columns,
and equations in a few unknowns for each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from pydine.inputs.kinds import Kind
from pydine.inputs.table import Table
from pydine.latents.scores import ScoreMap
from pydine.nulls.features import cosines
from pydine.nulls.screening import DEGREE
from pydine.questions.graphs.skeleton import Given, Pair
from pydine.types import FloatArray

RIDGE = 1e-3  # guard: of variances, so that copies of columns leave equations that can be solved


class Likely:
    """Orders sets by how much dependence of a pair they leave.

    Parameters
    ----------
    columns : ndarray, shape (p, n)
        NaN where a value is missing.
    kinds : sequence of Kind
    """

    def __init__(self, columns: FloatArray, kinds: Sequence[Kind]) -> None:
        self._columns, self._kinds = columns, kinds

    @classmethod
    def of(cls, table: Table) -> Likely:
        """Of the columns of a table."""
        return cls(table.columns, [table.kind(i) for i in range(len(table.columns))])

    @cached_property
    def _products(self) -> FloatArray:
        """Mean products of all functions of all columns, shape (p, p, K, K)."""
        p, n = self._columns.shape
        functions = np.zeros((p, DEGREE, n))
        for i, (column, kind) in enumerate(zip(self._columns, self._kinds, strict=True)):
            there = np.isfinite(column)
            if np.ptp(column[there]) > 0.0:
                functions[i][:, there] = _functions_of(column[there], kind)
        flat = functions.reshape(p * DEGREE, n)
        products: FloatArray = (flat @ flat.T / n).reshape(p, DEGREE, p, DEGREE).transpose(0, 2, 1, 3)
        return products + RIDGE * np.eye(p)[:, :, None, None] * np.eye(DEGREE)

    def __call__(self, pair: Pair, sets: Sequence[Given]) -> FloatArray:
        """The dependence of a pair that sets of one size leave: squared correlations less those of chance, (m,)."""
        if not sets:
            return np.empty(0)
        ends, given = list(pair), np.array(sets)
        of_ends = _joint(self._products[np.ix_(ends, ends)])
        within = _joint(self._products[given[:, :, None], given[:, None, :]])
        across = _joint(self._products[given[:, :, None], np.array(ends)[None, None, :]])
        left: FloatArray = of_ends - across.transpose(0, 2, 1) @ np.linalg.solve(within, across)
        scales = np.sqrt(np.maximum(np.einsum("mkk->mk", left), RIDGE))
        correlations = left[:, :DEGREE, DEGREE:] / scales[:, :DEGREE, None] / scales[:, None, DEGREE:]
        squares: FloatArray = (correlations**2).sum(axis=(1, 2))
        squares -= DEGREE**2 / self._columns.shape[1]
        return squares


def _joint(blocks: FloatArray) -> FloatArray:
    """Blocks (..., a, b, K, K) as matrices (..., a K, b K)."""
    *more, a, b, k, _ = blocks.shape
    matrices: FloatArray = np.moveaxis(blocks, -2, -3).reshape(*more, a * k, b * k)
    return matrices


def _functions_of(column: FloatArray, kind: Kind) -> FloatArray:
    """Functions of a column (n,) with mean 0 and about unit variance, shape (K, n); 0 where there are fewer."""
    if kind is not Kind.NOMINAL:
        waves: FloatArray = cosines(ndtr(ScoreMap.fit(column)[1])[None], DEGREE)[0]
        return waves
    found = np.zeros((DEGREE, len(column)))
    labels, counts = np.unique(column, return_counts=True)
    common = labels[np.argsort(-counts, kind="stable")][:-1][:DEGREE]
    for mark, label in zip(found, common, strict=False):
        mark[:] = column == label
    found -= found.mean(axis=1, keepdims=True)
    found /= np.maximum(found.std(axis=1, keepdims=True), RIDGE)
    return found

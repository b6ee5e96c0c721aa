"""A look at residuals given z, before models are fitted: whether there is anything that these could learn.

Gaussian densities of the residuals and of their squares take no training. Where they see nothing, richer models of the
same are not fitted: most of a table's columns tell nothing beyond the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from pydine.bases.base import mixed
from pydine.bases.elliptical import elliptical_density
from pydine.bases.kinds.tables import Codes
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import evidence
from pydine.units.rows import DIGITS

LEAST_SPREAD = 1e-6  # guard: variance of a column within parts, and of combinations of columns


def apart(latents: Latents, part: Codes, count: int) -> float:
    """How far residuals given z show that parts of the rows (n,) differ, from 0 to 1.

    Either in how the sides depend on each other, or in what z still does to them: by the evidence of rows that are held
    out in `count` folds, whose densities have the moments of their part or those of all rows.
    """
    (columns, dx), parts = _with_squares(latents), int(part.max()) + 1
    asked = [(columns, [slice(0, dx), slice(dx, None)])]
    spread = np.array([max(row[part == k].var() for k in range(parts)) for row in latents.z])
    if (spread > LEAST_SPREAD).any():
        asked.append((np.vstack([columns, latents.z[spread > LEAST_SPREAD]]), [slice(len(columns), None)]))
    nothing, found = np.zeros(len(part), dtype=np.intp), []
    for rows, less in asked:
        by_part, by_all = (_held_out(latents, rows, less, each, count) for each in (part, nothing))
        found.append(evidence(by_part - by_all, rows=latents.rows))
    return max(found)


def dependent(latents: Latents, known: FloatArray, count: int) -> float:
    """How far residuals given z, or models whose log-ratios are known, show that the sides depend, from 0 to 1.

    Parameters
    ----------
    latents : Latents
    known : ndarray, shape (models, n)
        Held-out log-ratios, in nats; the first is independence.
    count : int
        Of folds.
    """
    dx, nothing = latents.dimensions[0], np.zeros(latents.n_rows, dtype=np.intp)
    seen = [known]
    for x, y in itertools.product(*(_either(latents, side) for side in (range(dx), range(dx, len(latents.both))))):
        # Together, a residual and its square would not be normal, and their log-ratios too large.
        seen.append(
            _held_out(latents, np.vstack([x, y]), [slice(0, len(x)), slice(len(x), None)], nothing, count)[None]
        )
    folds = latents.rows.folds(latents.outwards, count)
    return evidence(mixed(np.vstack(seen), folds)[0], rows=latents.rows)


def _with_squares(latents: Latents) -> tuple[FloatArray, int]:
    """Residuals and, but for labels, normal scores of their squares, shape (d, n); and how many of them are of x."""
    dx = latents.dimensions[0]
    x, y = (np.vstack(_either(latents, side)) for side in (range(dx), range(dx, len(latents.both))))
    return np.vstack([x, y]), len(x)


def _either(latents: Latents, side: Sequence[int]) -> list[FloatArray]:
    """The residuals of a side, and, but for labels, normal scores of their squares, shapes (d, n)."""
    squares = []
    for i in side:
        if not latents.two_valued[i]:
            known = latents.seconds is not None and latents.has_second[i]
            found = latents.seconds[i] if known else latents.both[i] ** 2  # type: ignore[index]
            squares.append(ScoreMap.fit(np.round(found, DIGITS))[1])
    return [latents.both[list(side)], *([np.array(squares)] if squares else [])]


def _held_out(latents: Latents, columns: FloatArray, less: list[slice], part: Codes, count: int) -> FloatArray:
    """Log-densities of held-out rows of columns (d, n) over those of the blocks `less`, in nats, shape (n,).

    Their moments are those of a part, shrunk to those of all rows as by one more row than there are columns.
    """
    found = np.empty(columns.shape[1])
    for held, mean, covariance in _moments(latents, columns, part, count):
        left = columns[:, held] - mean
        found[held] = elliptical_density(left, covariance, np.inf)
        for block in less:
            found[held] -= elliptical_density(left[block], covariance[block, block], np.inf)
    return found


def _moments(
    latents: Latents, columns: FloatArray, part: Codes, count: int
) -> Iterator[tuple[RowArray, FloatArray, FloatArray]]:
    """Rows of each part that a fold holds out, with mean and covariance of the part's other rows."""
    d, every = len(columns), np.arange(columns.shape[1])
    for rows, away in latents.rows.folds(latents.outwards, count):
        learned = np.delete(every, away)
        mean = columns[:, learned].mean(axis=1, keepdims=True)
        covariance = np.cov(columns[:, learned], bias=True) + LEAST_SPREAD * np.eye(d)
        for k in range(int(part.max()) + 1):
            own, held = columns[:, learned[part[learned] == k]], rows[part[rows] == k]
            centre = (own.sum(axis=1, keepdims=True) + mean) / (own.shape[1] + 1.0)
            left = own - centre
            yield held, centre, (left @ left.T + (d + 1.0) * covariance) / (own.shape[1] + d + 1.0)

"""Rows of a table that a report draws, packed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pydine.inputs.files import Frame
from pydine.latents.scores import ScoreMap
from pydine.report.description import Column, places_of
from pydine.types import FloatArray

__all__ = ["Points", "points_of"]

MOST_POINTS = 500  # rows that scatter plots show
MOST_VALUES = 100_000  # of all columns together, which bounds the size of a page
LEAST_POINTS = 200


@dataclass(frozen=True, eq=False)
class Points:
    """Rows to draw: their values and latents (normal scores), both of shape (p, m); NaN where a value is missing.

    In columns that have levels (see `Column`), a value is the place of its level.
    """

    values: FloatArray
    latents: FloatArray


def points_of(frame: Frame, columns: tuple[Column, ...], seed: int) -> Points:
    """Some rows of every column, and their normal scores among all rows that have it."""
    most = max(LEAST_POINTS, min(MOST_POINTS, MOST_VALUES // len(frame)))
    rows = np.sort(np.random.default_rng(seed).permutation(frame.n_samples)[:most])
    values, latents = np.full((2, len(frame), len(rows)), np.nan)
    for i, column in enumerate(columns):
        whole = frame[column.name]
        finite = np.isfinite(whole)
        if column.levels:
            places = places_of(frame, column.name) if column.is_labels else np.full(len(whole), np.nan)
            if not column.is_labels:
                places[finite] = np.unique(whole[finite], return_inverse=True)[1]
            values[i] = places[rows]
            continue
        scores = np.full(len(whole), np.nan)
        scores[finite] = ScoreMap.fit(np.ascontiguousarray(whole[finite]))[1]
        values[i], latents[i] = np.where(finite, whole, np.nan)[rows], scores[rows]
    return Points(values, latents)

"""Models of their own for parts of the rows: for each label in z, and on either side of a cut through a column of z.

I(X;Y|Z) is the mean of what it is in parts that z alone tells apart. A z that changes everything at one place is
learned best this way, and one that changes things little by little is learned best by models of all rows: held-out rows
say what each counts. Without a z, numbers beside labels are parted into bins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pydine.bases.tables import ROWS_PER_CELL, Codes, codes_of
from pydine.kernels.mixing import smooth_step
from pydine.kernels.normal import normal_quantile
from pydine.latents.kinds import Column, NominalColumn
from pydine.latents.mixed import MixedColumns
from pydine.types import FloatArray, RowArray
from pydine.units.rows import row_marks, signs

PART_ROWS = 40.0, 80.0  # answer: of the smallest part, for models of its own to begin, and to count
CUTS = 16  # answer: places where a column of z may be cut, one less, with as many rows between them
MOST_CUT = 4  # answer: columns of z among which a cut is looked for: among many, one is found by chance
COARSE = 4  # answer: groups of values of a side that a cut is looked for by
# answer: by how many standard errors both sides must differ across a cut, as chi-square, for parts of their own to
# begin to count, and to count in full: the best of many cuts is two or three by chance.
APART = 4.0, 8.0
MOST_CODES = 24  # answer: values of a discrete column in such tables, as many as there are labels by themselves
BINS = 8, 16, 32  # answer: of a number beside a label: held-out rows say which counts
DIGITS = 9  # guard: of gains that are compared: what differs by rounding alone is equal, and the middle is taken


class Parts(NamedTuple):
    """Log-ratios of rows (n,), in nats, by models of their own for every part, and how far these count."""

    in_sample: FloatArray
    held_out: FloatArray
    trust: float


LogRatios = Callable[[MixedColumns], tuple[FloatArray, FloatArray]]  # of rows that were seen, and were not


def codes_of_columns(columns: Sequence[Column]) -> Codes:
    """Which of the different rows of discrete columns each row is."""
    return codes_of(np.array([column.values for column in columns]))


def label_by_label(columns: MixedColumns, fitted: LogRatios) -> Parts | None:
    """What models of the rows of each combination of the labels in z say, given the rest of z.

    None if there are no labels, or too few rows of some.
    """
    labels = [column for column in columns.z if isinstance(column, NominalColumn)]
    rest = tuple(column for column in columns.z if not isinstance(column, NominalColumn))
    if not labels:
        return None
    return _by_parts(replace(columns, z=rest), codes_of_columns(labels), 1.0, fitted)


def on_either_side(columns: MixedColumns, fitted: LogRatios) -> Parts | None:
    """What models of the rows on either side of the best cut say; None if z has no number, or cuts tell nothing."""
    numbers = [column for column in columns.z if not isinstance(column, NominalColumn)]
    if not numbers or len(columns.z) > MOST_CUT:
        return None
    gain, side = best_cut(columns, numbers)
    trust = smooth_step(gain, *APART)
    return None if trust == 0.0 else _by_parts(columns, side, trust, fitted)


def _by_parts(columns: MixedColumns, part: Codes, trust: float, fitted: LogRatios) -> Parts | None:
    trust *= smooth_step(float(np.bincount(part).min()), *PART_ROWS)
    if trust == 0.0:
        return None
    in_sample, held_out = np.zeros((2, columns.n_rows))
    for k in range(int(part.max()) + 1):
        rows = np.flatnonzero(part == k)
        some = columns.only(rows)
        if some.x and some.y:
            in_sample[rows], held_out[rows] = fitted(some)
    return Parts(in_sample, held_out, trust)


def best_cut(columns: MixedColumns, numbers: Sequence[Column]) -> tuple[float, Codes]:
    """By how many standard errors the sides differ across the best cut through a column, and which side rows are on."""
    n, oriented = columns.n_rows, _oriented(columns)
    joint = _coarse(columns, oriented)
    best, found = 0.0, np.zeros(n, dtype=np.intp)
    for column in numbers:
        scores = oriented[id(column)]
        order = np.argsort(scores, kind="stable")
        places = np.unique(np.searchsorted(scores[order], scores[order][n * np.arange(1, CUTS) // CUTS]))
        places = places[(places >= PART_ROWS[0]) & (places <= n - PART_ROWS[0])]
        for place in sorted(places, key=lambda place: (abs(2 * place - n), place)):
            left = np.bincount(joint[order[:place]], minlength=int(joint.max()) + 1).astype(np.float64)
            gain = round(_difference(left, np.bincount(joint) - left), DIGITS)
            if gain > best:
                best, found = gain, np.zeros(n, dtype=np.intp)
                found[order[place:]] = 1
    return best, found


def _difference(left: FloatArray, right: FloatArray) -> float:
    """By how many standard errors two sets of counts (codes,) differ, by chi-square."""
    both, n = left + right, left.sum() + right.sum()
    square = sum(((part - both * part.sum() / n) ** 2 / (both * part.sum() / n)).sum() for part in (left, right))
    freedom = len(both) - 1.0
    return float((square - freedom) / np.sqrt(2.0 * freedom)) if freedom > 0.0 else 0.0


def _coarse(columns: MixedColumns, oriented: dict[int, FloatArray]) -> Codes:
    """Both sides together as few codes, shape (n,): each column in groups of about as many rows."""
    parts = []
    for column in (*columns.x, *columns.y):
        if isinstance(column, NominalColumn):
            parts.append(np.minimum(column.values, COARSE - 1.0))  # the most frequent, and the rest
        else:
            scores = oriented[id(column)]
            ranks = np.searchsorted(np.sort(scores), scores)
            parts.append(np.floor(COARSE * ranks / len(ranks)))
    return codes_of(np.array(parts))


def _oriented(columns: MixedColumns) -> dict[int, FloatArray]:
    """Scores (n,) of the columns by their ids, with signs of their own: the same for the negative of a column."""
    every = (*columns.x, *columns.y, *columns.z)
    keys = np.vstack([column.order_keys for column in every])
    keys = keys * signs(keys, row_marks(keys))[:, None]
    firsts = np.cumsum([0, *(len(column.order_keys) for column in every)])
    return {id(column): keys[first] for column, first in zip(every, firsts, strict=False)}


# --- bins -------------------------------------------------------------------------------------------------------------


def binned(columns: MixedColumns, folds: Sequence[RowArray]) -> dict[str, Parts]:
    """What tables of a number in bins and a discrete column say, by name.

    They follow any shape, clusters and edges too, if there are rows enough for so many cells. Without a z only.
    """
    if columns.z or len(columns.x) != 1 or len(columns.y) != 1 or columns.x[0].is_discrete == columns.y[0].is_discrete:
        return {}
    number, other = sorted((columns.x[0], columns.y[0]), key=lambda column: column.is_discrete)
    scores, codes = columns.context([number]).values[0], codes_of_columns([other])
    if codes.max() >= MOST_CODES:
        return {}
    found = {}
    for count in BINS:
        trust = smooth_step(len(codes) / (count * (codes.max() + 1.0)), *ROWS_PER_CELL)
        if trust == 0.0:
            continue
        bins = np.searchsorted(normal_quantile(np.arange(1.0, count) / count), scores)
        held_out: FloatArray = np.empty(len(codes))
        for rows in folds:
            others = np.delete(np.arange(len(codes)), rows)
            held_out[rows] = _table_ratios(bins[others], codes[others], count, int(codes.max()) + 1)[
                bins[rows], codes[rows]
            ]
        ratios = _table_ratios(bins, codes, count, int(codes.max()) + 1)
        found[f"{count} bins"] = Parts(ratios[bins, codes], held_out, trust)
    return found


def _table_ratios(bins: Codes, codes: Codes, n_bins: int, n_codes: int) -> FloatArray:
    """ln p(code | bin) - ln p(code), with one row more in every bin that is as all others are, shape (bins, codes)."""
    counts = np.zeros((n_bins, n_codes))
    np.add.at(counts, (bins, codes), 1.0)
    overall = (counts.sum(axis=0) + 0.5) / (len(bins) + 0.5 * n_codes)
    in_bin = counts.sum(axis=1, keepdims=True)
    shares = (counts + overall) / (in_bin + 1.0)
    average = (in_bin * shares).sum(axis=0) / len(bins)
    ratios: FloatArray = np.log(shares / average)
    return ratios

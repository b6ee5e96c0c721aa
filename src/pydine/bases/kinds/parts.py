"""Separate models for parts of the rows: for each label in z, and on either side of a cut through a column of z.

If z determines which part a row is in, I(X;Y|Z) is the mean over rows of its value in each part. An effect of z that
changes at one place is learned best this way, a gradual one by models of all rows: held-out rows decide the weights.
Models of parts are fitted only as far as a look at residuals given z shows that parts differ (`looks`): where z has
labels at all, they would otherwise take most of the time, to be found needless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from pydine.bases.kinds.looks import apart
from pydine.bases.kinds.tables import Codes, codes_of
from pydine.inputs.kinds import OWN_ROWS
from pydine.kernels.mixing import smooth_step
from pydine.latents.kinds.canonical import canonical
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.types import FloatArray, RowArray
from pydine.units.rows import signs

CUTS = 16  # answer: groups of equal size between which a column of z may be cut
FINE_CUTS = 128  # precision: places on either side of the best cut among which it is refined: all for 2000 rows
MOST_CUT = 4  # answer: most columns of z for a cut to be sought: among many, one would be found by chance
COARSE = 4  # answer: groups into which the values of each column are binned to seek a cut
DIGITS = 9  # guard: decimals of gains that are compared: those that differ by rounding are equal, the middle one wins


CELLS, SIDES, POOLED = "label by label", "part by part", "realigned"


class Learned(Protocol):
    """Log-ratios of rows by models that were fitted to them; only those of models that count are found in sample."""

    @property
    def held_out(self) -> FloatArray:
        """By models that have not seen the rows, in nats, shape (n,)."""
        ...

    @property
    def in_sample(self) -> FloatArray:
        """By models that have seen the rows, in nats, shape (n,)."""
        ...

    @property
    def blur(self) -> float:
        """What z may still hide from these models, in nats."""
        ...


class Parts(NamedTuple):
    """Log-ratios by separate models for every part.

    Parameters
    ----------
    in_sample : callable
        Returns log-ratios in nats by models that have seen the rows, shape (n,).
    held_out : ndarray, shape (n,)
        Likewise, by models that have not.
    trust : float
        How far they may count, from 0 to 1.
    blur : callable, optional
        Returns what z may still hide from these models, in nats; None if it is as much as from models of all rows.
    """

    in_sample: Callable[[], FloatArray]
    held_out: FloatArray
    trust: float
    blur: Callable[[], float] | None = None


Fitting = Callable[[MixedColumns], Learned]


def codes_of_columns(columns: Sequence[Column]) -> Codes:
    """Code of each row's combination of values of discrete columns, shape (n,)."""
    return codes_of(np.array([column.values for column in columns]))


def is_few(column: Column) -> bool:
    """Whether a column has labels, and each may have models of its own."""
    return column.is_label and not column.has_many_labels


def label_by_label(columns: MixedColumns, maker: MixedMaker, fitted: Fitting, pooled: Fitting) -> dict[str, Parts]:
    """Separate models for each combination of labels in z, given the rest of z, and models of all rows, realigned.

    Empty if z has no labels, too few rows of some combination, or if nothing shows that parts differ.
    """
    labels = [column for column in columns.z if is_few(column)]
    rest = tuple(column for column in columns.z if not is_few(column))
    if not labels:
        return {}
    part = codes_of_columns(labels)
    trust = _trusted(columns, maker, part)
    found = {CELLS: _by_parts(replace(columns, z=rest), part, trust, fitted)}
    if maker.has("realigned"):
        found[f"{CELLS}, {POOLED}"] = _pooled(columns, part, trust, pooled)
    return {name: parts for name, parts in found.items() if parts is not None}


def on_either_side(
    columns: MixedColumns, raw: MixedColumns, maker: MixedMaker, fitted: Fitting, pooled: Fitting
) -> dict[str, Parts]:
    """Separate models for the rows on either side of the best cut, and models of all rows, realigned.

    Empty if z has no ordered column, or too many columns, or if nothing shows that the sides differ across a cut.
    """
    numbers = [column for column in columns.z if not column.is_label]
    if not numbers or len(columns.z) > MOST_CUT:
        return {}
    side = best_cut(columns, numbers)[1]
    trust = _trusted(raw, maker, side)
    found = {SIDES: _by_parts(columns, side, trust, fitted)}
    if maker.has("realigned"):
        found[f"{SIDES}, {POOLED}"] = _pooled(raw, side, trust, pooled)
    return {name: parts for name, parts in found.items() if parts is not None}


def _trusted(columns: MixedColumns, maker: MixedMaker, part: Codes) -> float:
    """How far separate models of parts (n,) count: as far as these have rows, and are `apart`."""
    trust = smooth_step(float(np.bincount(part).min()), OWN_ROWS, 2.0 * OWN_ROWS)
    if trust == 0.0 or part.max() == 0:
        return 0.0
    latents = maker.latents(columns)
    return 0.0 if latents is None else trust * apart(latents, part, maker.ladder.folds)


def _by_parts(columns: MixedColumns, part: Codes, trust: float, fitted: Fitting) -> Parts | None:
    if trust == 0.0:
        return None
    held_out: FloatArray = np.zeros(columns.n_rows)
    found: list[tuple[RowArray, Learned]] = []
    for k in range(int(part.max()) + 1):
        rows = np.flatnonzero(part == k)
        some = columns.only(rows)
        if some.x and some.y:
            found.append((rows, fitted(some)))
            held_out[rows] = found[-1][1].held_out

    def in_sample() -> FloatArray:
        seen: FloatArray = np.zeros(columns.n_rows)
        for rows, learned in found:
            seen[rows] = learned.in_sample
        return seen

    def blur() -> float:
        return sum(len(rows) / columns.n_rows * learned.blur for rows, learned in found)

    return Parts(in_sample, held_out, trust, blur)


def _pooled(columns: MixedColumns, part: Codes, trust: float, fitted: Fitting) -> Parts | None:
    """Models of all rows after `realigned` has recoded every part; None if that changes nothing."""
    is_many = any(column.has_many_labels for column in (*columns.x, *columns.y))
    aligned = realigned(columns, part) if trust > 0.0 and not is_many else None
    if aligned is None:
        return None
    learned = fitted(aligned)
    return Parts(lambda: learned.in_sample, learned.held_out, trust, lambda: learned.blur)


def realigned(columns: MixedColumns, part: Codes) -> MixedColumns | None:
    """Both sides with labels renumbered by frequency, and steps by order, within each part; None if nothing changes.

    Given z, this is one-to-one, so the information is the same. What is associated with the most frequent label of a
    part, or with its lowest step, need then not be learned in each part separately.
    """
    sides, oriented = (*columns.x, *columns.y), _oriented(columns)
    before = [codes_of(oriented[id(column)][None]) if column.has_steps else column.values for column in sides]
    after = [np.zeros(columns.n_rows) if column.is_discrete else column.values for column in sides]
    for k in range(int(part.max()) + 1):
        rows = np.flatnonzero(part == k)
        vary = [i for i, column in enumerate(sides) if np.ptp(column.values[rows]) > 0.0]
        found = canonical([sides[i].values[rows] for i in vary], [sides[i].KIND for i in vary])
        for i, column in zip(vary, found, strict=True):
            if column.is_label:
                after[i][rows] = column.values
            elif column.is_discrete:
                after[i][rows] = codes_of(oriented[id(sides[i])][None, rows])
    is_same = all((old == new).all() for old, new in zip(before, after, strict=True))
    if is_same or any(np.ptp(new) == 0.0 for new in after):
        return None
    found = canonical(after, [column.KIND for column in sides])
    for old, new in zip(sides, found, strict=True):
        new.follow(old)
    kept = tuple(new if old.is_discrete else old for old, new in zip(sides, found, strict=True))
    return replace(columns, x=kept[: len(columns.x)], y=kept[len(columns.x) :])


def best_cut(columns: MixedColumns, numbers: Sequence[Column]) -> tuple[float, Codes]:
    """The best cut through a column: the sides' difference across it in standard errors, and the rows' part, (n,)."""
    n, oriented = columns.n_rows, _oriented(columns)
    joint = _coarse(columns, oriented)
    best, found = 0.0, np.zeros(n, dtype=np.intp)
    for column in numbers:
        scores = oriented[id(column)]
        order = np.argsort(scores, kind="stable")
        places = np.unique(np.searchsorted(scores[order], scores[order][n * np.arange(1, CUTS) // CUTS]))
        places = places[(places >= OWN_ROWS) & (places <= n - OWN_ROWS)]
        for place in sorted(places, key=lambda place: (abs(2 * place - n), place)):
            left = np.bincount(joint[order[:place]], minlength=int(joint.max()) + 1).astype(np.float64)
            gain = round(_difference(left, np.bincount(joint) - left), DIGITS)
            if gain > best:
                best, found = gain, np.zeros(n, dtype=np.intp)
                found[order[refined(scores[order], joint[order], int(place)) :]] = 1
    return best, found


def refined(scores: FloatArray, joint: Codes, place: int) -> int:
    """The best place of a cut, around `place`, by how codes (n,) differ across it; equal scores (n,) stay together."""
    n, width = len(scores), len(scores) // CUTS
    offsets = max(width // FINE_CUTS, 1) * np.arange(-FINE_CUTS, FINE_CUTS + 1)
    places = place + offsets[np.argsort(np.abs(offsets), kind="stable")]
    places = places[(np.abs(places - place) <= width) & (places >= OWN_ROWS) & (places <= n - OWN_ROWS)]
    places = places[scores[places - 1] < scores[places]]
    if not len(places):
        return place
    whole = np.bincount(joint).astype(np.float64)
    left = [np.bincount(joint[:each], minlength=len(whole)).astype(np.float64) for each in places]
    return int(places[int(np.argmax([round(_difference(part, whole - part), DIGITS) for part in left]))])


def _difference(left: FloatArray, right: FloatArray) -> float:
    """Chi-square statistic of the difference between two sets of counts (codes,), in standard errors from its mean."""
    both, n = left + right, left.sum() + right.sum()
    square = sum(((part - both * part.sum() / n) ** 2 / (both * part.sum() / n)).sum() for part in (left, right))
    freedom = len(both) - 1.0
    return float((square - freedom) / np.sqrt(2.0 * freedom)) if freedom > 0.0 else 0.0


def _coarse(columns: MixedColumns, oriented: dict[int, FloatArray]) -> Codes:
    """Both sides together as few codes, shape (n,): each column is binned into groups of about equal size."""
    parts = []
    for column in (*columns.x, *columns.y):
        if column.is_label:
            parts.append(np.minimum(column.values, COARSE - 1.0))  # the most frequent, and the rest
        else:
            scores = oriented[id(column)]
            ranks = np.searchsorted(np.sort(scores), scores)
            parts.append(np.floor(COARSE * ranks / len(ranks)))
    return codes_of(np.array(parts))


def _oriented(columns: MixedColumns) -> dict[int, FloatArray]:
    """Scores (n,) of the columns by their ids, with canonical signs: the same for a negated column."""
    every = (*columns.x, *columns.y, *columns.z)
    keys = np.vstack([column.order_keys for column in every])
    keys = keys * signs(keys)[:, None]
    firsts = np.cumsum([0, *(len(column.order_keys) for column in every)])
    return {id(column): keys[first] for column, first in zip(every, firsts, strict=False)}

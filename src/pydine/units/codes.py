"""What the rung of codes sees: levels of context columns with few values, and waves of their sums modulo small numbers.

A function of several codes is a sum of waves exp(2 pi i h s / m), where s is a sum of codes with signs. One that is
neither additive nor smooth, such as a parity or a sum modulo m, has few of them, but no part of it is seen in fewer
codes than all that it depends on: no other rung would find it in small steps. So all sums are tried, and those that the
target clearly follows are columns of the expansion, beside the levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pydine.types import FloatArray, IntArray, must_fit
from pydine.units.evidence import PRIOR, ROWS_PER_VALUE

DIGITS = 12  # guard: of cosines, whose last digits differ between processors
# answer: most values of a code, and most codes that are summed, as 3^9 signs are tried.
MOST_VALUES, MOST_CODES = 6, 9
# Moduli that values can tell apart, and multiples that are not of a smaller one.
MODULI = tuple((m, h) for m in range(2, MOST_VALUES) for h in range(1, m // 2 + 1) if math.gcd(m, h) == 1)
MOST_SUMS = 4  # guard: most sums for one target; what follows so many of them is noise to any test
ROWS_AT_ONCE = 1 << 12  # memory: rows of which sums are tried at a time
SMALLEST_VARIANCE = 1e-12  # guard: of what is left of the target

Signs = tuple[int, ...]


@dataclass(frozen=True)
class Sums:
    """An expansion of a context: it, levels of its codes, and waves of sums of codes.

    Parameters
    ----------
    columns : tuple of int
        Which columns of the context are codes.
    values : tuple of tuple of float
        The values of each of them, in order.
    sums : tuple of (int, tuple of int)
        Modulus, and signs of the codes, 0 for those that are left out.
    """

    columns: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    sums: tuple[tuple[int, Signs], ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other, and more of them than are ever made: files name them as well."""
        fits = len(self.columns) == len(self.values) and all(0 < len(v) <= MOST_VALUES for v in self.values)
        must_fit(self, fits and min(self.columns, default=0) >= 0 and len(self.sums) <= MOST_SUMS)
        moduli = {m for m, _ in MODULI}
        must_fit(
            self, all(m in moduli and len(each) == len(self.columns) and {*each} <= {-1, 0, 1} for m, each in self.sums)
        )

    @classmethod
    def of(cls, context: FloatArray) -> Sums:
        """The codes of a context (c, n), without sums; its columns have their canonical signs already."""
        found = [(i, *np.unique(column, return_counts=True)) for i, column in enumerate(context) if _is_coarse(column)]
        codes = [(i, v) for i, v, counts in found if 2 <= len(v) <= MOST_VALUES and counts.min() >= ROWS_PER_VALUE]
        return cls(tuple(i for i, _ in codes), tuple(tuple(v.tolist()) for _, v in codes))

    def __call__(self, context: FloatArray) -> FloatArray:
        """See `unit.Expansion`."""
        if max(self.columns, default=-1) >= len(context):
            raise ValueError(
                f"these codes are of {max(self.columns) + 1} columns of context or more, not of {len(context)}"
            )
        places = self.places(context)
        levels = [places[i] == k for i, values in enumerate(self.values) for k in range(1, len(values) - 1)]
        return np.vstack([context, *(np.asarray(level, dtype=np.float64) for level in levels), *self.waves(places)])

    def places(self, context: FloatArray) -> IntArray:
        """Places of each code's values, from 0 on, shape (codes, n); a value that has no place goes to the nearest."""
        known = zip(self.columns, self.values, strict=True)
        found = [np.abs(context[i] - np.array(values)[:, None]).argmin(axis=0) for i, values in known]
        return np.array(found, dtype=np.int64).reshape(len(self.columns), context.shape[1])

    @property
    def n_added(self) -> int:
        """Columns that the expansion adds to the context."""
        return sum(len(values) - 2 for values in self.values) + sum(m - 1 for m, _ in self.sums)

    def waves(self, places: IntArray) -> Iterator[FloatArray]:
        """Waves of the sums, of which every function of a sum modulo m consists."""
        for m, each in self.sums:
            total = np.array(each) @ places
            for h in range(1, m // 2 + 1):
                angles = (2.0 * np.pi * h / m) * np.arange(m)
                yield np.sqrt(2.0) * np.round(np.cos(angles), DIGITS)[total % m]
                if 2 * h < m:
                    yield np.sqrt(2.0) * np.round(np.sin(angles), DIGITS)[total % m]


def sums_of(target: FloatArray, context: FloatArray) -> Sums | None:
    """The sums of codes in a context (c, n) that a target (n,) clearly follows; None if there are none."""
    found = Sums.of(context)
    if not 2 <= len(found.columns) <= MOST_CODES:
        return None
    places = found.places(context)
    for _ in range(MOST_SUMS):
        best = _clearest(_left(target, found(context)), places)
        if best is None:
            break
        found = replace(found, sums=(*found.sums, best))
    return found if found.sums else None


def _is_coarse(column: FloatArray) -> bool:
    """Whether a column (n,) may have few values: its first rows repeat themselves."""
    few = column[: 2 * MOST_VALUES]
    return len(np.unique(few)) <= MOST_VALUES


def _left(target: FloatArray, columns: FloatArray) -> FloatArray:
    """What a regression on columns (c, n) leaves of a target (n,), with mean square 1; 0 if nothing."""
    design = np.vstack([np.ones(len(target)), columns]).T
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    size = float((left * left).mean())
    unit: FloatArray = left / np.sqrt(size) if size > SMALLEST_VARIANCE else np.zeros(len(left))
    return unit


def _clearest(left: FloatArray, places: IntArray) -> tuple[int, Signs] | None:
    """Modulus and signs of the sum of codes (k, n) that a target (n,) of mean square 1 clearly follows, and most.

    The squared sum of products with a wave, over its expectation, is exponential if the target does not follow it. It
    is also what the wave gains in nats: as any richer model, it has to gain `PRIOR`, beyond the largest by chance.
    """
    (k, n), half, best, most, tried = places.shape, len(places) // 2, None, 0.0, 0
    for m, h in MODULI:
        roots = np.exp((2j * np.pi * h / m) * np.arange(m)).astype(np.complex64)
        total: NDArray[np.complex64] | None = None
        for start in range(0, n, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            first, second = (_products(roots[part[:, rows] % m], m == 2) for part in (places[:half], places[half:]))
            products = (first * left[rows].astype(np.float32)) @ second.T
            total = products if total is None else total + products
        sizes = np.abs(np.asarray(total)).astype(np.float64).ravel() ** 2 / (2.0 * n if m == 2 else n)
        tried, place = tried + len(sizes), int(np.argmax(sizes))
        if sizes[place] > most:
            choices = 2 if m == 2 else 3
            one, other = divmod(place, choices ** (k - half))
            most, best = float(sizes[place]), (m, _signs_at(one, half, choices) + _signs_at(other, k - half, choices))
    return best if most > np.log(tried) + PRIOR else None


def _products(roots: NDArray[np.complex64], is_real: bool) -> NDArray[np.complex64]:
    """Products of roots (k, n), each of them left out, taken, or its conjugate if it is not real, (2^k or 3^k, n)."""
    found = np.ones((1, roots.shape[1]), dtype=np.complex64)
    for root in roots:
        found = np.concatenate([found, found * root] if is_real else [found, found * root, found * root.conj()])
    return found


def _signs_at(place: int, k: int, choices: int) -> Signs:
    """The signs of k codes in the product at a place among `_products`."""
    return tuple((0, 1, -1)[place // choices**j % choices] for j in range(k))

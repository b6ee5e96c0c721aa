"""The columns of a file one by one: what they hold, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pydine.inputs.checks import TIED_SHARE, tied_share
from pydine.inputs.files import Frame
from pydine.inputs.table import signature_of
from pydine.types import FloatArray

BINS = 16  # of a small histogram
FEW_VALUES = 10  # a column with no more different values is a category or a scale rather than a measurement
FAR = 20.0  # interquartile ranges from the median, from which on a value may be a code such as 9999


@dataclass(frozen=True)
class Column:
    """One column that is used.

    Parameters
    ----------
    name : str
    low, median, high : float
        The smallest, the middle and the largest value.
    n_distinct : int
        Different values.
    tied : float
        The share of the rows that have their value in common with another row.
    n_missing : int
        Values that are missing or infinite.
    histogram : tuple of int
        How many values are in each of equal steps from the smallest to the largest.
    levels : tuple of str
        Its different values as text, in order, if they are few; otherwise empty.
    copy_of : str or None
        An earlier column, or the target, of which this one is a strictly monotone function.
    concerns : tuple of str
        What is wrong with it, in a few words each; without names, which may be hostile.
    """

    name: str
    low: float
    median: float
    high: float
    n_distinct: int
    tied: float
    n_missing: int
    histogram: tuple[int, ...]
    levels: tuple[str, ...]
    copy_of: str | None
    concerns: tuple[str, ...]


def describe(frame: Frame, target: str) -> tuple[Column, ...]:
    """Describe every column that is used.

    Parameters
    ----------
    frame : Frame
    target : str
        The column that others are a copy of, if they are the same.
    """
    signatures = {name: _signature(values) for name, values in frame.items()}
    first = {signatures[target]: target}
    for name, signature in signatures.items():
        first.setdefault(signature, name)
    return tuple(_described(name, values, first[signatures[name]]) for name, values in frame.items())


def _signature(values: FloatArray) -> bytes:
    """The same for columns that are strictly monotone functions of each other and lack the same rows."""
    finite = np.isfinite(values)
    return np.packbits(finite).tobytes() + signature_of(values[finite])


def _described(name: str, values: FloatArray, original: str) -> Column:
    there = values[np.isfinite(values)]
    n_missing = len(values) - len(there)
    tied = tied_share(there)
    concerns = [f"{n_missing:,} missing ({n_missing / len(values):.1%} of the rows)"] if n_missing else []
    concerns += _of_values(there, tied)
    low, median, high = np.quantile(there, (0.0, 0.5, 1.0)).tolist()
    different = np.unique(there)
    half = 0.5 * high - 0.5 * low  # the difference of two finite numbers may be infinite
    steps = np.clip((0.5 * there - 0.5 * low) / half * BINS, 0, BINS - 1).astype(np.intp)
    return Column(
        name,
        low,
        median,
        high,
        len(different),
        tied,
        n_missing,
        tuple(np.bincount(steps, minlength=BINS).tolist()),
        tuple(f"{value:.6g}" for value in different.tolist()) if len(different) <= FEW_VALUES else (),
        None if original == name else original,
        tuple(concerns),
    )


def _of_values(values: FloatArray, tied: float) -> list[str]:
    concerns = []
    n_distinct = len(np.unique(values))
    if n_distinct <= FEW_VALUES:
        concerns.append(f"{n_distinct} different values")
    elif tied > TIED_SHARE:
        concerns.append(f"{tied:.0%} of the rows repeat a value")
    lower, middle, upper = np.quantile(values, (0.25, 0.5, 0.75))
    farthest = values[np.argmax(np.abs(values - middle))]
    if upper > lower and abs(farthest - middle) > FAR * (upper - lower):
        concerns.append(f"{farthest:.6g} lies far from the rest: an error, or a code for a missing value?")
    return concerns

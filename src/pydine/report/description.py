"""The columns of a file one by one: what they hold, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pydine.inputs.checks import TIED_SHARE, tied_share
from pydine.inputs.files import Frame
from pydine.inputs.table import signature_of
from pydine.types import FloatArray

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
        Values that were missing in the file.
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
    copy_of: str | None
    concerns: tuple[str, ...]


def describe(frame: Frame, target: str, missing: Mapping[str, int]) -> tuple[Column, ...]:
    """Describe every column that is used.

    Parameters
    ----------
    frame : Frame
        Without missing values.
    target : str
        The column that others are a copy of, if they are the same.
    missing : mapping of str to int
        Missing values of the file by column; those that have none may be left out.
    """
    tied = {name: tied_share(values) for name, values in frame.items()}
    signatures = {name: signature_of(values) for name, values in frame.items()}
    first = {signatures[target]: target}
    for name, signature in signatures.items():
        first.setdefault(signature, name)
    described = []
    for name, values in frame.items():
        original = first[signatures[name]]
        n_missing = missing.get(name, 0)
        concerns = [_of_missing(n_missing, frame)] if n_missing else []
        concerns += _of_values(values, tied[name])
        low, median, high = np.quantile(values, (0.0, 0.5, 1.0)).tolist()
        described.append(
            Column(
                name,
                low,
                median,
                high,
                len(np.unique(values)),
                tied[name],
                n_missing,
                None if original == name else original,
                tuple(concerns),
            )
        )
    return tuple(described)


def _of_missing(count: int, frame: Frame) -> str:
    share = count / (frame.n_samples + frame.n_dropped)
    return f"{count:,} missing value{'s' if count > 1 else ''} ({share:.1%} of the rows), which are left out"


def _of_values(values: FloatArray, tied: float) -> list[str]:
    concerns = []
    n_distinct = len(np.unique(values))
    if n_distinct <= FEW_VALUES:
        concerns.append(f"only {n_distinct} different values: a category or a scale, read as a smoothed measurement")
    elif tied > TIED_SHARE:
        concerns.append(f"{tied:.0%} of the rows repeat a value: read as a smoothed measurement")
    lower, middle, upper = np.quantile(values, (0.25, 0.5, 0.75))
    farthest = values[np.argmax(np.abs(values - middle))]
    if upper > lower and abs(farthest - middle) > FAR * (upper - lower):
        concerns.append(f"{farthest:.6g} lies far from the rest: an error, or a code for a missing value?")
    return concerns

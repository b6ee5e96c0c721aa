"""The columns of a file one by one: what they hold, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.angles import angle_kind, opened
from pydine.inputs.files import Frame
from pydine.inputs.files.dates import DAYS, SECONDS
from pydine.inputs.hints import code_hint, far_value
from pydine.inputs.kinds import FEW_ROWS, Kind, is_thin, kind_of, periods_of, pooled
from pydine.inputs.table import copy_signature
from pydine.types import FloatArray

__all__ = ["Column", "Lack", "describe", "kinds_in", "lacks", "moment", "places_of"]

BINS = 16  # of a small histogram
FEW_VALUES = 10  # different values that are drawn one by one
OTHERS = "others"  # labels beyond the most frequent


@dataclass(frozen=True)
class Column:
    """One column that is used.

    Parameters
    ----------
    name : str
    kind : Kind
        What its values are: continuous, ordinal or nominal.
    is_labels : bool
        Whether its values are labels, be they text or codes: it has no smallest and no largest value then.
    low, median, high : float
        The smallest, the middle and the largest value; NaN of labels.
    quartiles : tuple of float
        What a quarter and three quarters of the values lie below; NaN of labels.
    n_distinct : int
        Different values.
    n_missing : int
        Values that are missing or infinite.
    histogram : tuple of int
        How many values are in each of equal steps from the smallest to the largest, or how many rows each level has.
    levels : tuple of str
        Its different values as text, if they are few or labels: numbers in order, labels by how frequent they are, the
        rare ones together. Otherwise empty.
    clock : str
        What its numbers count since 1970: days ("D"), seconds ("s"), or nothing of the kind ("").
    copy_of : str or None
        An earlier column, or the target, of which this one is a strictly monotone function.
    concerns : tuple of str
        What is wrong with it, in a few words each; without names, which may be hostile.
    """

    name: str
    kind: Kind
    is_labels: bool
    low: float
    median: float
    high: float
    quartiles: tuple[float, float]
    n_distinct: int
    n_missing: int
    histogram: tuple[int, ...]
    levels: tuple[str, ...]
    clock: str
    copy_of: str | None
    concerns: tuple[str, ...]


@dataclass(frozen=True)
class Lack:
    """Columns that lack a value in the same rows and nowhere else in them, and how many rows these are."""

    names: tuple[str, ...]
    n_rows: int


def lacks(frame: Frame) -> tuple[Lack, ...]:
    """Which columns lack values together, the most rows first; empty where one column at most lacks any."""
    missing = {name: ~np.isfinite(values) for name, values in frame.items()}
    names = [name for name, rows in missing.items() if rows.any()]
    if len(names) < 2:
        return ()
    table = np.column_stack([missing[name] for name in names])
    patterns, counts = np.unique(table[table.any(axis=1)], axis=0, return_counts=True)
    found = [
        Lack(tuple(name for name, is_in in zip(names, pattern, strict=True) if is_in), count)
        for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda lack: -lack.n_rows))


def describe(frame: Frame, target: str) -> tuple[Column, ...]:
    """Describe every column that is used.

    Parameters
    ----------
    frame : Frame
    target : str
        The column that others are a copy of, if they are the same.
    """
    kinds = kinds_in(frame)
    signatures = {name: _signature(values, kinds[name]) for name, values in frame.items()}
    first = {signatures[target]: target}
    for name, signature in signatures.items():
        first.setdefault(signature, name)
    described = []
    for name, values in frame.items():
        original = first[signatures[name]]
        copy_of = None if original == name else original
        if name in frame.levels or kinds[name] is Kind.NOMINAL:
            described.append(_labels(name, values, kinds[name], frame, copy_of))
        else:
            described.append(_numbers(name, values, kinds[name], _clock(frame, name), copy_of))
    return tuple(described)


def kinds_in(frame: Frame) -> dict[str, Kind]:
    """What the columns of a frame are: as is known of them, or as their values say."""
    known, periods = frame.kinds, periods_of(frame.said)
    return {
        name: angle_kind(opened(values[np.isfinite(values)], periods[name])[0])
        if name in periods
        else Kind(known[name])
        if name in known
        else kind_of(values)
        for name, values in frame.items()
    }


def places_of(frame: Frame, name: str) -> FloatArray:
    """Position of each row's label among the levels of its column, shape (n,); NaN if missing."""
    values = frame[name]
    there = np.isfinite(values)
    _, codes, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    rank = np.empty(len(counts))
    rank[_order(counts)] = np.arange(len(counts))
    places = np.full(len(values), np.nan)
    places[there] = np.minimum(rank[codes], FEW_VALUES - 1 if len(counts) > FEW_VALUES else FEW_VALUES)
    return places


def _order(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Labels, the most frequent first; two stay in their order, so that the sign of a correlation can be read."""
    return np.argsort(-counts, kind="stable") if len(counts) > 2 else np.arange(len(counts))


def _signature(values: FloatArray, kind: Kind) -> bytes:
    """The same for columns that are functions of each other (`copy_signature`) and lack the same rows."""
    finite = np.isfinite(values)
    return np.packbits(finite).tobytes() + copy_signature(values[finite], kind)


def _labels(name: str, values: FloatArray, kind: Kind, frame: Frame, copy_of: str | None) -> Column:
    there = np.isfinite(values)
    places = places_of(frame, name)[there].astype(np.intp)
    different, counts = np.unique(values[there], return_counts=True)
    text, clock = frame.levels.get(name), _clock(frame, name)
    named = [text[int(code)] if text else _written(code, clock, 15) for code in different[_order(counts)].tolist()]
    if len(named) > FEW_VALUES:
        named = [*named[: FEW_VALUES - 1], f"{len(named) - FEW_VALUES + 1} {OTHERS}"]
    return Column(
        name,
        kind,
        is_labels=True,
        low=np.nan,
        median=np.nan,
        high=np.nan,
        quartiles=(np.nan, np.nan),
        n_distinct=len(different),
        n_missing=len(values) - len(places),
        histogram=tuple(np.bincount(places, minlength=len(named)).tolist()),
        levels=tuple(named),
        clock=clock,
        copy_of=copy_of,
        concerns=tuple(_taken_together(values[there], counts)),
    )


def _taken_together(codes: FloatArray, counts: NDArray[np.intp]) -> list[str]:
    """What becomes of labels with few rows, from the codes (n,) and the number of rows of each label."""
    if is_thin(codes):
        return [f"labels have {counts.mean():.1f} rows each, and their estimates are shrunk towards each other"]
    places = list(pooled(codes)[1].values())
    n_rare = places.count(max(places))
    return [f"{n_rare} labels with fewer than {FEW_ROWS} rows are pooled"] if n_rare > 1 else []


def moment(value: float, clock: str) -> str:
    """A number that counts days or seconds since 1970, as a date, with the time in minutes."""
    whole = round(value)
    then = np.datetime64(whole, "D") if clock == "D" else np.datetime64(whole, "s")
    return str(then)[:16].replace("T", " ")


def _written(value: float, clock: str, digits: int = 6) -> str:
    return moment(value, clock) if clock else f"{value:.{digits}g}"


def _clock(frame: Frame, name: str) -> str:
    conversion = frame.conversions.get(name, "")
    return "D" if DAYS in conversion else "s" if SECONDS in conversion else ""


def _concerns(name: str, values: FloatArray, clock: str) -> list[str]:
    """What a column of numbers (n,), or of moments, may be instead."""
    far = far_value(values)
    if far is not None:
        return [f"{_written(far, clock)} lies far from the rest: an error, or a code for a missing value?"]
    hint = "" if clock else code_hint(name, values)
    return [hint] if hint else []


def _numbers(name: str, values: FloatArray, kind: Kind, clock: str, copy_of: str | None) -> Column:
    there = values[np.isfinite(values)]
    low, lower, median, upper, high = np.quantile(there, (0.0, 0.25, 0.5, 0.75, 1.0)).tolist()
    different, counts = np.unique(there, return_counts=True)
    half = 0.5 * high - 0.5 * low  # the difference of two finite numbers may be infinite
    steps = np.clip((0.5 * there - 0.5 * low) / half * BINS, 0, BINS - 1).astype(np.intp)
    is_few = len(different) <= FEW_VALUES
    return Column(
        name,
        kind,
        is_labels=False,
        low=low,
        median=median,
        high=high,
        quartiles=(lower, upper),
        n_distinct=len(different),
        n_missing=len(values) - len(there),
        histogram=tuple((counts if is_few else np.bincount(steps, minlength=BINS)).tolist()),
        levels=tuple(_written(value, clock) for value in different.tolist()) if is_few else (),
        clock=clock,
        copy_of=copy_of,
        concerns=tuple(_concerns(name, there, clock)),
    )

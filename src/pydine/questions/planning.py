"""The questions "how many rows do I need?", and "what would these rows have found?"."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from pydine.answers.settings import is_integer
from pydine.nulls.power import least_information, least_rows, power_of
from pydine.results import InformationEstimate
from pydine.results.power import Power

__all__ = ["detectable_information", "rows_needed"]

STATISTICS = ("auto", "gaussian")
POINTS = 60  # memory: of the curve that is drawn


def rows_needed(
    information: float | InformationEstimate,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    dx: int | None = None,
    dy: int | None = None,
    dz: int | None = None,
    statistic: str = "auto",
    level: float = 0.8,
) -> Power:
    """How many rows the test of independence needs to find so much information.

    By the noncentral distribution of the test's own statistic. Information is taken to show as correlation between the
    latents; other shapes need more rows.

    Parameters
    ----------
    information : float, or InformationEstimate
        Nats; a correlation r between normal columns is -0.5 ln(1 - r^2). Or the estimate of a pilot study, which also
        says how many columns there are, and how uncertain the answer is.
    power : float, default=0.8
        The probability to find it.
    alpha : float, default=0.05
        The level of the test.
    dx, dy, dz : int, optional
        Columns of x, of y and of z; those of the estimate, or 1, 1 and 0.
    statistic : {"auto", "gaussian"}, default="auto"
        As in `independence_test`.
    level : float, default=0.8
        The confidence level of a pilot's interval, whose ends are answered too.

    Returns
    -------
    Power
        ``rows``, ``interval`` of rows for a pilot, ``plot()``; ``int()`` gives the rows.

    Examples
    --------
    >>> import pydine
    >>> pydine.rows_needed(0.05).rows, pydine.rows_needed(0.05, dz=4).rows
    (103, 120)
    """
    pilot = information if isinstance(information, InformationEstimate) else None
    nats = information if pilot is None else pilot.value
    dimensions = _dimensions(pilot, dx, dy, dz)
    _check(power, alpha, statistic)
    if not _is_number(nats) or not 0.0 < float(nats) < math.inf:
        what = "estimate's information" if pilot else "information"
        raise ValueError(f"{what} must be a number of nats above 0, but is {nats!r}; pass the smallest that matters.")
    asked = power, dimensions, alpha, statistic
    ends = math.nan, math.nan
    if pilot is not None:
        low, high = pilot.confidence_interval(level)
        ends = float(least_rows(high, *asked)), float(least_rows(low, *asked)) if low > 0.0 else math.inf
    return _solved(least_rows(float(nats), *asked), float(nats), *asked, "rows", ends)


def detectable_information(
    rows: int,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    dx: int = 1,
    dy: int = 1,
    dz: int = 0,
    statistic: str = "auto",
) -> Power:
    """The least information that the test of independence would have found in so many rows.

    It says what "not detected" means: anything below may well be there.

    Parameters
    ----------
    rows : int
    power, alpha, dx, dy, dz, statistic
        As in `rows_needed`.

    Returns
    -------
    Power
        ``information`` in nats, which ``float()`` gives too.

    Examples
    --------
    >>> import pydine
    >>> pydine.detectable_information(442).correlation < 0.2
    True
    """
    _check(power, alpha, statistic)
    dimensions = _dimensions(None, dx, dy, dz)
    if not is_integer(rows) or rows < sum(dimensions) + 10:
        least = sum(dimensions) + 10
        raise ValueError(f"rows must be an integer of at least {least}, 10 more than the columns, but got {rows!r}.")
    asked = power, dimensions, alpha, statistic
    return _solved(int(rows), least_information(rows, *asked), *asked, "information", (math.nan, math.nan))


def _solved(
    rows: int,
    nats: float,
    power: float,
    dimensions: tuple[int, int, int],
    alpha: float,
    statistic: str,
    solved: str,
    interval: tuple[float, float],
) -> Power:
    curve = np.geomspace(max(rows / 10.0, sum(dimensions) + 10.0), rows * 10.0, POINTS)
    powers = np.array([power_of(nats, n, dimensions, alpha, statistic) for n in curve])
    return Power(rows, nats, power, alpha, dimensions, statistic, solved, interval, curve, powers)


def _dimensions(
    pilot: InformationEstimate | None, dx: int | None, dy: int | None, dz: int | None
) -> tuple[int, int, int]:
    known = (1, 1, 0) if pilot is None else pilot.dimensions
    found = []
    for name, said, default, least in zip(("dx", "dy", "dz"), (dx, dy, dz), known, (1, 1, 0), strict=True):
        value = default if said is None else said
        if not is_integer(value) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, but got {said!r}.")
        found.append(int(value))
    return found[0], found[1], found[2]


def _check(power: float, alpha: float, statistic: str) -> None:
    for name, value in (("power", power), ("alpha", alpha)):
        if not _is_number(value) or not 0.0 < value < 1.0:
            raise ValueError(f"{name} must be a number strictly between 0 and 1, but got {value!r}.")
    if alpha >= power:
        raise ValueError(f"power must be above alpha, which needs no rows, but got {power!r} and {alpha!r}.")
    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be {' or '.join(map(repr, STATISTICS))}, but got {statistic!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)

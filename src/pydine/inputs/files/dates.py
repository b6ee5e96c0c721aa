"""Dates and times in cells of text, as days or seconds since a fixed moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DAYS", "OF_DAY", "SECONDS", "SPANS", "dates_of", "times_of"]

DAYS, SECONDS = "days since 1970-01-01", "seconds since 1970-01-01"
OF_DAY, SPANS = "seconds since midnight", "seconds"
# Formats that settle which number is the day, and pairs of those that do not: the day first, then the month first.
SETTLED = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d-%B-%Y", "%d %B %Y", "%d. %B %Y", "%d/%B/%Y", "%d-%B-%y", "%B %d, %Y", "%B %d %Y", "%a, %d %B %Y"),
)
EITHER = (("%d/%m/%Y", "%m/%d/%Y"), ("%d/%m/%y", "%m/%d/%y"), ("%d-%m-%Y", "%m-%d-%Y"))
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", ", %H:%M", ", %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
ISO_CLOCKS = (
    "T%H:%M",
    "T%H:%M:%S",
    "T%H:%M:%S%.f",
    "T%H:%M:%S%#z",
    "T%H:%M:%S%.f%#z",
    " %H:%M:%S%#z",
    " %H:%M:%S%.f%#z",
)
TRIED = 50  # cells that a format is tried on before it is tried on all
SECONDS_A_DAY = 86_400.0
MICRO = 1e-6
SHORT_YEAR = r"^\d{1,2}\D\w{1,9}\D\d{2}(?:\D|$)"
TIME = r"^(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$"

Found = tuple["pl.Series", str]


def times_of(text: pl.Series, present: pl.Series) -> Iterator[Found]:
    """Times of a day or longer, such as 9:05 or 26:10:00, as seconds."""
    import polars as pl

    if not present.head(TRIED).str.contains(TIME).all():
        return
    parts = text.str.extract_groups(TIME).struct
    hours, minutes, seconds = (parts.field(str(i)).cast(pl.Float64, strict=False) for i in (1, 2, 3))
    of_day = hours.max() is None or float(str(hours.max())) < 24.0
    yield hours * 3600.0 + minutes * 60.0 + seconds.fill_null(0.0), OF_DAY if of_day else SPANS


def dates_of(text: pl.Series, present: pl.Series, decimal_comma: Callable[[], bool | None]) -> Iterator[Found]:
    """Dates, as days since 1970-01-01, and dates with times, as seconds.

    Parameters
    ----------
    text, present : Series of str
        All cells and those that are not missing, in lower case.
    decimal_comma : callable
        Whether the file writes numbers as most of Europe does, which has the day before the month.
    """
    few = present.head(TRIED).str.to_uppercase()
    # A date has digits and something between them, and is short.
    if not len(few) or not few.str.contains(r"^(?:\D{0,14}\d){3}").all() or few.str.len_chars().max() > 40:  # type: ignore[operator]
        return
    whole = text.str.to_uppercase()
    for format_ in SETTLED:
        yield from _read_as(format_, whole, few)
    for day_first, month_first in EITHER:
        by_day, by_month = (list(_read_as(format_, whole, few)) for format_ in (day_first, month_first))
        if not (by_day and by_month):
            yield from by_day + by_month
            continue
        day, month = by_day[0], by_month[0]
        if day[0].null_count() != month[0].null_count():
            yield min(by_day + by_month, key=lambda found: found[0].null_count())
        elif decimal_comma() or "-" in day_first:
            yield day[0], f"{day[1]}, taking the first number as the day"
        else:
            yield month[0], f"{month[1]}, taking the first number as the month"


def _read_as(format_: str, text: pl.Series, few: pl.Series) -> Iterator[Found]:
    """Cells as dates of one format, with any of the ways to write a time after it, if most of the first agree."""
    import polars as pl

    if "%y" in format_ and not few.str.contains(SHORT_YEAR).all():  # 1.2.3 is a version
        return
    clocks = CLOCKS + (ISO_CLOCKS if format_ == "%Y-%m-%d" else ())
    failed, clock = min((_moments(few, format_, clock).null_count(), clock) for clock in clocks)
    if 2 * failed > len(few):
        return
    moments = _moments(text, format_, clock)
    seconds = moments.dt.epoch("us").cast(pl.Float64) * MICRO
    is_day = not clock or not (seconds % SECONDS_A_DAY > 0.0).any()
    yield (seconds / SECONDS_A_DAY, DAYS) if is_day else (seconds, SECONDS)


def _moments(text: pl.Series, date: str, clock: str) -> pl.Series:
    """Date and time of cells, null where they are not of the format or of the first millennium."""
    import polars as pl

    if not clock:  # polars wants an hour beside a minute, and dates have neither
        days = text.str.to_date(date, strict=False, exact=True)
        moments = days.cast(pl.Datetime("us"))
    else:
        moments = text.str.to_datetime(date + clock, strict=False, exact=True, time_unit="us")
        moments = moments.dt.replace_time_zone(None)
    is_early = moments.dt.year() < 1000  # %Y takes 24 for a year
    return pl.select(pl.when(~is_early).then(moments)).to_series()

"""Cells of text, read as a person would: numbers with their marks and units, truth words, dates and times; or labels.

A reading is decided for a whole column: one that every cell agrees with, or none. If most cells are no numbers by any,
they are labels. Every other conversion is reported, with the example of a cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pydine.inputs.files.dates import dates_of, times_of
from pydine.inputs.files.frame import TOO_CLOSE, NotNumbers, ReadColumn
from pydine.types import FloatArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MISSING", "Habits", "numbers_of", "uses_decimal_commas"]

# What people write for "no value", in lower case.
MISSING = [
    *(
        "",
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "nan",
        "null",
        "nil",
        "none",
        "missing",
        "?",
        "*",
        ".",
        "-",
        "--",
        "---",
        "–",
        "—",
    ),
    *("k.a.", "k. a.", "#div/0!", "#value!", "#wert!", "#ref!", "#bezug!", "#num!", "#zahl!", "#null!", "#name?"),
]
# Words for 1 and for 0; a column uses one of these pairs.
TRUTH = (
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("+", "-")),
    *(("ja", "nein"), ("j", "n"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("sí", "no"), ("si", "no")),
    *(("sim", "não"), ("verdadero", "falso"), ("vero", "falso"), ("ja", "nee"), ("ja", "nej"), ("tak", "nie")),
)
LONGEST_SHOWN = 30
LARGEST_WHOLE = 2.0**53  # fact: beyond, float64 skips whole numbers
WHOLE = re.compile(r"[+\-]?\d{1,400}")
LABELS = "text is read as labels"
EXAMPLE = "example"  # says enough of how cells were read
CURRENCY = r"us\$|[€$£¥₹₽₩₺₴₪฿]|eur|euro|usd|gbp|chf|jpy|cny|sek|nok|dkk|pln|czk|huf|aud|cad|inr|brl|r\$|kr\.?|zł|fr\."
# A sign, a currency, digits with their marks, an exponent, and a unit, all but the digits optional; (5) is -5.
QUANTITY = (
    rf"^(?P<open>\()?(?P<sign>[+\-−])?\s*(?P<before>{CURRENCY})?\s*(?P<inner>[+\-−])?"
    r"(?P<digits>\d[\d.,'’\s]*|[.,]\d+)(?P<power>e[+\-]?\d+)?\s*(?P<unit>[^\d.,+\-()'’\s][^\d,+\-()'’]{0,11})?"
    r"(?P<after>[\-−])?(?P<close>\))?$"
)
# Digits with a decimal point or comma: in groups of three (or, as in India, of two and three), or in one piece.
POINT = r"^(?:[1-9]\d{0,2}(?:(?:,\d{2,3})*,\d{3}|(?:['’]\d{3})+|(?:\s\d{3})+)(?:\.\d*)?|\d*(?:\.\d*)?)$"
COMMA = r"^(?:[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:['’]\d{3})+|(?:\s\d{3})+)(?:,\d*)?|\d*(?:,\d*)?)$"
THOUSANDS_BY_POINT = r"^[+\-]?[1-9]\d{0,2}(?:\.\d{3})+$"


@dataclass(frozen=True)
class Habits:
    """How a file writes numbers, for cells that leave it open.

    Parameters
    ----------
    has_commas_between : bool
        Whether cells are separated by commas.
    decimal_comma : callable
        Whether other columns have decimal commas (True), points (False) or do not tell (None).
    """

    has_commas_between: bool
    decimal_comma: Callable[[], bool | None]

    @property
    def is_comma_decimal(self) -> bool:
        """Whether 1,234 is a little more than one. Without any sign, a comma separates cells or else decimals."""
        known = self.decimal_comma()
        return not self.has_commas_between if known is None else known


class _Reading(NamedTuple):
    """Cells as numbers, null where they do not agree with the reading, and how they were read."""

    values: pl.Series
    how: str
    levels: tuple[str, ...] = ()


def numbers_of(cells: pl.Series, habits: Habits, where: Callable[[int], str]) -> ReadColumn:
    """Turn a column of text into numbers, or into codes of labels.

    Parameters
    ----------
    cells : Series of str
    habits : Habits
    where : callable
        From the position of a cell to the words that say where it is.

    Returns
    -------
    ReadColumn
        NaN where a value is missing, and what was converted.

    Raises
    ------
    NotNumbers
        If most cells are numbers, with the first that does not agree with the best reading there is.
    """
    import polars as pl

    text = cells.str.strip_chars().str.to_lowercase()
    missing = text.is_null() | text.is_in(MISSING)
    if (text == "+").any() and (missing | (text == "+")).all():
        missing &= (text != "-").fill_null(True)  # beside nothing but plus signs, a dash is a minus sign
    best: pl.Series | None = None
    for reading in _readings(text, missing, habits):
        bad = reading.values.is_null() & ~missing
        if not bad.any():
            values = _where(~missing, reading.values).cast(pl.Float64).fill_null(np.nan)
            numbers = np.asarray(values.to_numpy(), dtype=np.float64)
            if not reading.how and _are_too_close(text.filter(~missing), numbers):
                raise NotNumbers(TOO_CLOSE)
            said = [_said(reading, cells, numbers), _of_missing(cells, text, missing)]
            return ReadColumn(numbers, "; ".join(filter(None, said)), reading.levels)
        if best is None or bad.sum() < best.sum():
            best = bad
    if best is None:
        raise NotNumbers("it is empty")
    labels = _labels(cells, text, missing)
    # With a reading that most cells agree with, what is wrong is a cell; otherwise the column is text.
    if int(best.sum()) * 2 > int((~missing).sum()):
        return labels
    first = int(best.arg_max() or 0)
    raise NotNumbers(f"{where(first)} holds {_shortened(str(cells[first]))!r}", labels)


def _are_too_close(text: pl.Series, numbers: FloatArray) -> bool:
    """Whether cells of different whole numbers are one and the same float64."""
    known = numbers[np.isfinite(numbers)]
    if not len(known) or known.min() < known.max() or abs(known[0]) < LARGEST_WHOLE:
        return False
    different = text.unique().to_list()
    return all(WHOLE.fullmatch(word) for word in different) and len(set(map(int, different))) > 1


def _labels(cells: pl.Series, text: pl.Series, missing: pl.Series) -> ReadColumn:
    """Cells as codes of labels, in the order of their names; NaN where a value is missing."""
    import polars as pl

    stripped = _where(~missing, cells.str.strip_chars())
    levels = stripped.drop_nulls().unique().sort().to_list()
    codes = stripped.replace_strict(levels, range(len(levels)), default=None, return_dtype=pl.Float64)
    values = np.asarray(codes.fill_null(np.nan).to_numpy(), dtype=np.float64)
    said = filter(None, [LABELS, _of_missing(cells, text, missing)])
    return ReadColumn(values, "; ".join(said), tuple(levels))


def uses_decimal_commas(columns: Iterator[pl.Series]) -> bool | None:
    """Whether columns that settle it have decimal commas, or points; None if none does, or some each."""
    found = set()
    for cells in columns:
        text = cells.str.strip_chars().str.to_lowercase()
        text = text.filter(text.is_not_null() & ~text.is_in(MISSING))
        if not len(text):
            continue
        digits = _parts(text).struct.field("digits")
        if digits.is_null().any():
            continue
        by_point, by_comma = (digits.str.contains(style).all() for style in (POINT, COMMA))
        if by_point != by_comma:
            found.add(by_comma)
    return found.pop() if len(found) == 1 else None


def _readings(text: pl.Series, missing: pl.Series, habits: Habits) -> Iterator[_Reading]:
    """Ways to read cells as numbers, the plainest first."""
    import polars as pl

    plain = text.cast(pl.Float64, strict=False)
    present = text.filter(~missing)
    pointed = present.filter(present.str.contains(".", literal=True))
    is_open = len(pointed) > 0 and bool(pointed.str.contains(THOUSANDS_BY_POINT).all())
    if not (is_open and habits.decimal_comma()):
        yield _Reading(plain, "")
    yield from _truth(text, present)
    yield from _quantities(text, missing, habits)
    for found in (*times_of(text, present), *dates_of(text, present, habits.decimal_comma)):
        yield _Reading(*found)


def _truth(text: pl.Series, present: pl.Series) -> Iterator[_Reading]:
    """Cells that are all one of two words for true and false."""
    import polars as pl

    words = set(present.unique().to_list()) if present.n_unique() <= 2 else set()
    for yes, no in TRUTH:
        if words and words <= {yes, no}:
            values = text.replace_strict({yes: 1.0, no: 0.0}, default=None, return_dtype=pl.Float64)
            yield _Reading(values, f"{yes!r} is read as 1, {no!r} as 0", (no, yes))


def _parts(text: pl.Series) -> pl.Series:
    return text.str.extract_groups(QUANTITY)


def _quantities(text: pl.Series, missing: pl.Series, habits: Habits) -> Iterator[_Reading]:
    """Cells that are digits with marks of thousands and decimals, signs, and one unit."""
    import polars as pl

    parts = _parts(text).struct
    digits = parts.field("digits").str.strip_chars()
    present = digits.filter(~missing).drop_nulls()
    if not len(present):
        return
    enclosed = parts.field("open").is_null() == parts.field("close").is_null()
    fits = enclosed & _has_the_unit(parts.field("before").fill_null(parts.field("unit")).str.strip_chars(), digits)
    negative = parts.field("open").is_not_null()
    for mark in ("sign", "inner", "after"):
        negative = negative | parts.field(mark).is_in(["-", "−"]).fill_null(False)
    by_point, by_comma = (present.str.contains(style) for style in (POINT, COMMA))
    is_open = bool(by_point.all() and by_comma.all())
    comma_first = habits.is_comma_decimal if is_open else int(by_comma.sum()) > int(by_point.sum())
    for style, others in ((COMMA, r"[^\d,]"), (POINT, r"[^\d.]"))[:: 1 if comma_first else -1]:
        number = digits.str.replace_all(others, "").str.replace(",", ".", literal=True)
        values = (number + parts.field("power").fill_null("")).cast(pl.Float64, strict=False)
        good = fits & digits.str.contains(style).fill_null(False)
        yield _Reading(_where(good, _where(negative, -values, values)), EXAMPLE)


def _has_the_unit(unit: pl.Series, digits: pl.Series) -> pl.Series:
    """Whether each cell has the unit that most have; nought may lack it, and any amount that of a currency."""
    units = Counter(unit.drop_nulls().sort().to_list()).most_common(1)
    if not units:
        return unit.is_null()
    usual = str(units[0][0])
    may_lack = bool(re.fullmatch(CURRENCY, usual))
    return (unit == usual).fill_null(False) | (unit.is_null() & (may_lack | (digits == "0").fill_null(False)))


def _where(condition: pl.Series, values: pl.Series, otherwise: pl.Series | None = None) -> pl.Series:
    import polars as pl

    return pl.select(pl.when(condition).then(values).otherwise(otherwise)).to_series()


def _said(reading: _Reading, cells: pl.Series, values: FloatArray) -> str:
    """How a column was read, by the example of its first cell that has a value."""
    import polars as pl

    if not reading.how or "is read" in reading.how:
        return reading.how
    plain = cells.str.strip_chars().cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    i = int(np.argmax(np.isfinite(values) * (1 + (plain != values))))  # a cell that shows what was done
    since = "" if reading.how == EXAMPLE else f", {reading.how}"
    return f"{_shortened(str(cells[i]))!r} is read as {values[i]:.15g}{since}"


def _of_missing(cells: pl.Series, text: pl.Series, missing: pl.Series) -> str:
    """Which words were taken for missing values; an empty cell speaks for itself, and so does NaN."""
    spoken = cells.filter(missing & text.is_not_null() & ~text.is_in(["", "nan"]))
    words = spoken.str.strip_chars().unique().sort().to_list()
    if not words:
        return ""
    listed = ", ".join(map(repr, words[:3])) + (f" and {len(words) - 3} more words" if len(words) > 3 else "")
    return f"{listed} {'is' if len(words) == 1 else 'are'} read as missing"


def _shortened(cell: str) -> str:
    cell = " ".join(cell.split())
    return cell if len(cell) <= LONGEST_SHOWN else cell[:LONGEST_SHOWN] + "…"

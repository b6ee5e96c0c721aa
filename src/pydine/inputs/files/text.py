"""Tables of text: CSV, TSV and their relatives. Cells are read as text, so that a bad one can be shown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from pydine.inputs.files.cells import Habits, numbers_of, uses_decimal_commas
from pydine.inputs.files.content import HEAD, Content
from pydine.inputs.files.frame import ReadColumn, TableFile, place
from pydine.inputs.files.panics import read_by_polars
from pydine.types import RowArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["open_text"]

SEPARATORS = ",\t;|"
LINE_END = re.compile("\r\n|\n|\r|\\Z")
EXCEL_SEPARATOR = re.compile('"?sep=(.)"?')  # a line before the header, by which Excel says what is between cells
MOST_TITLES = 20  # lines between a title and the header
TOTAL = re.compile(r"(?:grand |sub)?totals?|sum|(?:gesamt)?summe|gesamt|insgesamt|total général|totaux|totale|suma")
LOOKED_AT = 1000  # rows of a column that say how a file writes numbers


def open_text(content: Content, head: bytes, separator: str | None, header: bool | None) -> TableFile:
    """Open a table of text.

    Parameters
    ----------
    content : Content
        The file.
    head : bytes
        How it begins: the header and some lines more.
    separator : str or None
        Between the cells; None to find out.
    header : bool or None
        Whether the first line names the columns; None for yes, unless it is made of numbers, which is refused.
    """
    source = content.source
    before, first, said = _first_line(source, head, separator)
    separator = separator or said or _separator(first)
    cells = _cells(source, first, separator)
    if header is None and all(_is_number(cell) for cell in cells):
        raise ValueError(
            f"{source} seems to have no header: its first line is numbers ({cells[0]!r} ...); pass --no-header to call "
            "the columns 1, 2, 3 ..., or --header if these are names."
        )
    has_header = header is not False
    names = tuple(cells) if has_header else tuple(str(i + 1) for i in range(len(cells)))
    table = _read(content, separator, before, len(cells))
    table = table[int(has_header) : len(table) - _blank_lines_at_the_end(content)]
    first_line = before + 1 + int(has_header)
    notes = [*content.notes, *_of_titles(head, before)]
    if total := _total(table):
        table = table[:-1]
        notes.append(f"the last row, {total!r}, is taken as a total of the others and left out")

    @cache
    def decimal_comma() -> bool | None:
        return uses_decimal_commas(table.to_series(i).head(LOOKED_AT) for i in range(table.width))

    habits = Habits(separator == ",", decimal_comma)

    def column(position: int, rows: RowArray | None) -> ReadColumn:
        cells = table.to_series(position)

        def where(i: int) -> str:
            return place(i if rows is None else int(rows[i]), first_line)

        return numbers_of(cells if rows is None else cells.gather(rows), habits, where)

    return TableFile(source, names, len(table), column, first_line, tuple(notes))


def _lines(head: bytes) -> Iterator[tuple[str, bool]]:
    """Lines of a text, and whether each ends within it."""
    text = head.decode("utf-8-sig", errors="replace")
    start = 0
    for end in LINE_END.finditer(text):  # a name may hold what Unicode calls a line end
        yield text[start : end.start()], bool(end.group())
        start = end.end()


def _first_line(source: str, head: bytes, given: str | None) -> tuple[int, str, str | None]:
    """Find the header: how many lines come before it, the line, and what the lines before say is between cells."""
    separator, title = given, None
    for before, (line, is_whole) in enumerate(_lines(head)):
        if not is_whole and len(head) == HEAD:
            raise ValueError(f"{source} has a first line of more than {HEAD >> 20} MiB, which cannot be a header.")
        if said := EXCEL_SEPARATOR.fullmatch(line):
            separator = said.group(1)
            continue
        filled = [cell for cell in _cells(source, line, separator or _separator(line)) if cell] if line.strip() else []
        if title is None and len(filled) > 1:
            return before, line, separator
        # One cell is a title, if names follow it: several, none of them a number.
        if title is not None and (before - title[0] > MOST_TITLES or len(filled) > 1):
            is_header = len(filled) > 1 and not any(_is_number(cell) for cell in filled)
            return (before, line, separator) if is_header else (*title, separator)
        if filled and title is None:
            title = before, line
    if title is None:
        raise ValueError(f"{source} is empty.")
    return *title, separator


def _separator(line: str) -> str:
    """What is between the cells of a line, by how often it comes up."""
    return max(SEPARATORS, key=lambda mark: (line.count(mark), -SEPARATORS.index(mark)))


def _of_titles(head: bytes, before: int) -> list[str]:
    """The note about lines before the header that hold something."""
    titles = [line.strip(' \t,;|"') for line, _ in islice(_lines(head), before) if not EXCEL_SEPARATOR.fullmatch(line)]
    titles = [title for title in titles if title]
    return [f"the header is line {before + 1}; the text before it, {titles[0]!r}, is a title"] if titles else []


def _total(table: pl.DataFrame) -> str | None:
    """What the last row is called, if that says that it sums up the others, and no other row is called so."""
    if len(table) < 2:
        return None
    place, cell = next(((i, cell.strip()) for i, cell in enumerate(table.row(-1)) if cell and cell.strip()), (0, ""))
    if not TOTAL.fullmatch(cell.lower().rstrip(" :")):
        return None
    column = table.to_series(place).str.strip_chars()
    return cell if int((column == cell).sum()) == 1 else None


def _cells(source: str, line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=separator))]
    except csv.Error as error:
        raise ValueError(f"{source} has a first line that does not name columns ({error}).") from None


def _read(content: Content, separator: str, blank: int, width: int) -> pl.DataFrame:
    """Read every cell as text. The header is read too: its width is what other lines are held against."""
    import polars as pl

    try:
        with read_by_polars(f"{content.source} cannot be read as a text table"):
            return pl.read_csv(
                content.rewound(),
                has_header=False,
                skip_rows=blank,
                separator=separator,
                schema={str(i): pl.String for i in range(width)},
                encoding="utf8-lossy",
            )
    except ValueError:
        odd = _odd_line(content, separator, width)
        if odd is None:
            raise
        raise ValueError(
            f"{content.source}: line {odd[0]} has {odd[1]} fields, but the first line has {width}; correct that line."
        ) from None


def _odd_line(content: Content, separator: str, width: int) -> tuple[int, int] | None:
    """Look for the first line with more fields than the header: its number and how many fields it has."""
    lines = io.TextIOWrapper(content.rewound(), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(lines, delimiter=separator)
    try:
        return next(((reader.line_num, len(record)) for record in reader if len(record) > width), None)
    except csv.Error:
        return None
    finally:
        lines.detach()  # or the file would be closed with its lines


def _blank_lines_at_the_end(content: Content) -> int:
    """Count the empty lines after the last row: polars makes rows of them."""
    tail = content.tail(4096)
    return max(0, tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

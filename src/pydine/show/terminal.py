"""What people read in a terminal, of any width and any encoding: whole names and numbers, and nothing that it obeys."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, TextIO

from pydine.show.text import encodable, escaped

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

__all__ = ["Fitting", "Harmless", "width_of"]

NARROWEST = 20  # characters of a line
WIDEST = 10_000
FOLDED = 24  # characters of a name in one line of a table, before it is folded


def width_of(stream: TextIO) -> int | None:
    """How wide lines of a stream may be: what rich finds, but at least a few words, and 80 where nothing is known."""
    from rich.console import Console

    found = Console(file=stream).width
    return None if found >= NARROWEST else NARROWEST if found > 0 else 80


@dataclass
class Harmless:
    """What is shown, without control sequences other than colours: names come from files."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for segment in console.render(self.content, options):
            text = encodable(escaped(segment.text, keep="\n"), console.encoding)
            yield segment if segment.control else Segment(text, segment.style)


@dataclass
class Fitting:
    """A table where it fits into the width that there is; otherwise its rows one below the other, wrapped, not cut."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        table = self.table
        left = len(list(takewhile(lambda column: column.justify == "left", table.columns)))
        names = [max((len(str(cell)) for cell in column.cells), default=0) for column in table.columns[:left]]
        spare = sum(max(0, longest - FOLDED) for longest in names)
        needed = console.measure(table, options=options.update(max_width=WIDEST)).maximum
        if needed - spare <= options.max_width:
            yield table
            return
        if table.title:
            yield Text(str(table.title), style=table.title_style or "")
        for row, *cells in zip(table.rows, *(column.cells for column in table.columns), strict=True):
            style = row.style or ""
            yield Text(" ".join(str(cell) for cell in cells[:left] if str(cell)), style=style, overflow="fold")
            for column, cell in zip(table.columns[left:], cells[left:], strict=True):
                if str(cell):
                    heading = " ".join(str(column.header).split())
                    yield Text(f"  {heading} {cell}".replace("   ", "  "), style=style, overflow="fold")
        yield Text()

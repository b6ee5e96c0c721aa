"""How far long work is: a bar on a terminal and in a notebook, and for commands on a pipe a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydine.show.extras import is_here
from pydine.show.notebook import in_notebook, notebook_bar

LINE_EVERY = 5.0  # seconds between two lines


class Lines:
    """A line every few seconds, as from a thread of its own, so that a long step is not silent.

    Parameters
    ----------
    label : str
    total : int, default=0
    """

    asked = False  # whether lines are written where nobody has said; commands do

    def __init__(self, label: str, total: int = 0) -> None:
        self.label, self.total, self.done = label, total, 0
        self._began, self._ended = time.monotonic(), threading.Event()

    def expect(self, count: int) -> None:
        """So many more steps."""
        self.total += count

    def advance(self) -> None:
        """One of them is done."""
        self.done += 1

    def text(self, seconds: float) -> str:
        """The line that is written after so many seconds."""
        done, total = min(self.done, self.total), self.total
        left = f", about {seconds / done * (total - done):.0f} s left" if 0 < done < total else ""
        return f"{self.label}: {done:,} of {total:,} after {seconds:.0f} s{left}\n"

    def _write(self) -> None:
        while not self._ended.wait(LINE_EVERY):
            sys.stderr.write(self.text(time.monotonic() - self._began))
            sys.stderr.flush()

    @contextmanager
    def written(self) -> Iterator[Lines]:
        """Write lines during a block."""
        writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        try:
            yield self
        finally:
            self._ended.set()
            writer.join()


@contextmanager
def progress_bar(description: str, total: int, show: bool | None = None) -> Iterator[Callable[[], None]]:
    """Show how far work is on standard error, with the time left, and give the function that moves it on by one.

    Parameters
    ----------
    description : str
        What is done, and how often, as shown before the work begins.
    total : int
    show : bool or None
        None: a bar if standard error is a terminal, or in a notebook, there once two seconds have passed; elsewhere, of
        commands only, a line every few seconds.
    """
    if total and show is not False and in_notebook():
        with notebook_bar(description, total) as step:
            yield step
        return
    is_terminal = sys.stderr.isatty()
    if total == 0 or not (is_terminal or Lines.asked if show is None else show):
        yield lambda: None
        return
    if not is_terminal:
        if show:
            sys.stderr.write(f"{description}...\n")
        with Lines(description, total).written() as lines:
            yield lines.advance
        return
    if not is_here("rich"):
        with _counted(description, total) as step:
            yield step
        return
    # rich is imported only where something is shown.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda: progress.advance(task)


@contextmanager
def _counted(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Count in a line of text, where there is no rich to draw a bar."""
    done = 0
    with counter(True) as tell:

        def step() -> None:
            nonlocal done
            done += 1
            tell(f"{description}: {done} of {total}")

        tell(f"{description}: 0 of {total}")
        yield step


@contextmanager
def counter(show: bool | None = None) -> Iterator[Callable[[str], None]]:
    """Show how far work of unknown length has come, in a line on standard error, and give the function that sets it.

    Parameters
    ----------
    show : bool or None
        None: if standard error is a terminal. Where it is none but `show` is true, there is a line for every beginning
        of the text that is new, up to its first colon.
    """
    is_terminal, seen = sys.stderr.isatty(), set[str]()
    if not (is_terminal if show is None else show):
        yield lambda _: None
        return

    def tell(text: str) -> None:
        if is_terminal:
            sys.stderr.write(f"\r{text}\x1b[K")
        elif text.partition(":")[0] not in seen:
            seen.add(text.partition(":")[0])
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    try:
        yield tell
    finally:
        if is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

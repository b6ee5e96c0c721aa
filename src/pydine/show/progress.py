"""A progress bar for long work: on a terminal and in a notebook only, unless asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydine.show.extras import is_here
from pydine.show.notebook import in_notebook, notebook_bar


@contextmanager
def progress_bar(description: str, total: int, show: bool | None = None) -> Iterator[Callable[[], None]]:
    """Show a bar with the time left on standard error, and give the function that moves it on by one.

    Parameters
    ----------
    description : str
        What is done, and how often, as shown before the work begins.
    total : int
    show : bool or None
        None: if standard error is a terminal, or in a notebook, there once two seconds have passed.
    """
    if total and show is not False and in_notebook():
        with notebook_bar(description, total) as step:
            yield step
        return
    if total == 0 or not (sys.stderr.isatty() if show is None else show):
        yield lambda: None
        return
    if not is_here("rich"):
        with _counted(description, total) as step:
            yield step
        return
    # rich is imported only where something is shown.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(f"{description}...", highlight=False)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
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

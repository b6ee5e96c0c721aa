"""The standard error, beside an answer: notes, warnings, and a progress bar."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydine.show.progress import Lines
from pydine.show.terminal import Harmless, width_of
from pydine.show.text import escaped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0  # seconds without a word
INTERRUPTED = 130  # the exit code after Ctrl-C
ARGUMENT = re.compile(r"\b(clusters|time|weights)=(True|'[^']*')?")  # as sentences for Python name it


def note(text: str) -> None:
    """Say something beside the answer, on the standard error."""
    from rich.console import Console
    from rich.text import Text

    stream = Console(stderr=True, highlight=False, width=width_of(sys.stderr))
    stream.print(Harmless(Text(text, style="dim")), crop=False)


def tell(sentences: Sequence[str] = ()) -> None:
    """Say what was warned of, beside the answer."""
    for sentence in sentences:
        note(sentence)


@contextmanager
def listening(source: str) -> Iterator[list[str]]:
    """Collect the warnings of a block as sentences, those of tied values as one; the list is filled when it ends.

    Refusals of the block, which know of columns but not of files, get the name of the file.
    """
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield sentences
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from error
    from pydine.inputs.checks import TiesWarning

    ties: dict[str, float] = {}
    for warning in caught:
        if isinstance(warning.message, TiesWarning):
            ties.update(warning.message.shares)
        elif issubclass(warning.category, UserWarning | RuntimeWarning):
            sentence = with_options(str(warning.message))
            sentences += [sentence] * (sentence not in sentences)
    if ties:
        sentences.append(_of_ties(ties))


def with_options(sentence: str) -> str:
    """A sentence for Python in which arguments that say how rows depend are the command line's options."""

    def option(found: re.Match[str]) -> str:
        value = {None: "COLUMN", "True": "rows"}.get(found[2], found[2])
        return f"--{found[1]} {value}"

    return ARGUMENT.sub(option, sentence)


def _of_ties(shares: Mapping[str, float]) -> str:
    worst = sorted(shares, key=lambda name: -shares[name])
    named = ", ".join(f"{name!r} ({shares[name]:.0%} of the rows)" for name in worst[:3])
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    return f"Tied values in {named}{more}, which --kind says are continuous: estimates are those of smoothed variables."


@contextmanager
def waiting(label: str) -> Iterator[_Bar | Lines]:
    """Show progress on a terminal, with a bar and the time left, once two seconds have passed; else line by line.

    The bar counts the flows that are fitted. Its total grows: how many a base needs is known only when those before it
    are done.
    """
    if not sys.stderr.isatty():
        with Lines(label).written() as lines:
            yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    times = TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn()
    columns = TextColumn("{task.description}", markup=False), BarColumn(), *times
    # A separate descriptor for the terminal: file descriptor 2 is muted while polars reads.
    terminal = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
    console = Console(file=terminal)
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield _Bar(bar, bar.add_task(escaped(label), total=None))
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
        terminal.close()


@contextmanager
def watching(source: str, label: str) -> Iterator[list[str]]:
    """Collect warnings as `listening` does, while `waiting` shows how many flows are fitted."""
    with listening(source) as said, waiting(label) as bar:
        from pydine.work.execution import watched_by

        with watched_by(bar):
            yield said


@contextmanager
def keeping_what_is_known() -> Iterator[None]:
    """Have the first Ctrl-C end the work of a block, not the command, so that what is known by then can be shown."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def once(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt from None

    signal.signal(signal.SIGINT, once)
    try:
        yield
    except KeyboardInterrupt:  # nothing is known yet
        before(signal.SIGINT, None)
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class _Bar:
    """A bar that learns of its total as it goes."""

    bar: Progress
    task: TaskID
    total: int = 0

    def expect(self, count: int) -> None:
        """So many more steps."""
        self.total += count
        self.bar.update(self.task, total=self.total)

    def advance(self) -> None:
        """One of them is done."""
        self.bar.advance(self.task)

"""A bar in a notebook, once work takes longer than two seconds; IPython is looked at only where it runs already."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["NotebookBar", "in_notebook", "notebook_bar"]

PATIENCE = 2.0  # seconds
EVERY = 0.2  # seconds between two drawings


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class NotebookBar:
    """A bar that learns of its total as it goes; it appears after a while and is gone at the end.

    Parameters
    ----------
    label : str
    total : int, default=0
    """

    def __init__(self, label: str, total: int = 0) -> None:
        self.label, self.total, self.done = label, total, 0
        self._began = self._drawn = time.monotonic()
        self._handle: Any = None

    def expect(self, count: int) -> None:
        """So many more steps."""
        self.total += count

    def advance(self) -> None:
        """One of them is done."""
        self.done += 1
        now = time.monotonic()
        if now - self._began < PATIENCE or now - self._drawn < EVERY:
            return
        self._drawn = now
        self._draw(self._page(now))

    def close(self) -> None:
        """Take the bar away."""
        if self._handle is not None:
            self._draw("")

    def _page(self, now: float) -> str:
        left = (now - self._began) / self.done * max(self.total - self.done, 0)
        text = f"{self.label}: {self.done:,} of {self.total:,}, about {left:.0f} s left"
        return f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress> {html.escape(text)}'

    def _draw(self, page: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        if self._handle is None:
            self._handle = display(HTML(page), display_id=True)
        else:
            self._handle.update(HTML(page))


@contextmanager
def notebook_bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar for work of so many steps, and give the function that moves it on by one."""
    bar = NotebookBar(label, total)
    try:
        yield bar.advance
    finally:
        bar.close()

"""A progress bar in notebooks, counted in flows, for questions that take longer than two seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pydine.show.notebook import NotebookBar, in_notebook
from pydine.work.execution import is_watched, watched_by

P = ParamSpec("P")
Result = TypeVar("Result")


def shown_in_notebooks(label: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Let an entry point show its progress in a notebook, unless it is shown already."""

    def decorate(door: Callable[P, Result]) -> Callable[P, Result]:
        @wraps(door)
        def watched(*arguments: P.args, **options: P.kwargs) -> Result:
            if is_watched() or not in_notebook():
                return door(*arguments, **options)
            bar = NotebookBar(label)
            try:
                with watched_by(bar):
                    return door(*arguments, **options)
            finally:
                bar.close()

        return watched

    return decorate

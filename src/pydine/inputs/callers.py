"""Whose line a warning points at: that of whoever called the package."""

from __future__ import annotations

import contextlib
import inspect
import os
from pathlib import Path

__all__ = ["level_of_caller"]

PACKAGE_FOLDER = str(Path(__file__).parents[1]) + os.sep
DECORATORS = contextlib.__file__  # of functions that run under a context manager: a frame between two of ours


def level_of_caller() -> int:
    """Count how far up the stack, as seen from the calling function, the package ends: what a `stacklevel` is."""
    level = 0
    frame = inspect.currentframe()
    while frame is not None and _is_passed_over(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    return level


def _is_passed_over(filename: str) -> bool:
    return filename.startswith(PACKAGE_FOLDER) or filename == DECORATORS

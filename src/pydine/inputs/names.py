"""Column names that differ: pandas and pyarrow have frames in which some are there twice."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from pydine.inputs.callers import level_of_caller

__all__ = ["with_different_names"]


def with_different_names(label: str, value: Any) -> Any:
    """A frame whose columns have different names: itself, or a copy in which repetitions are called a.1, a.2 and so on.

    That is what pandas calls them when it reads a file. Anything but a frame comes back as it is.

    Parameters
    ----------
    label : str
        The argument, for messages.
    value : object

    Warns
    -----
    UserWarning
        If a column has another name now.
    """
    library = type(value).__module__.partition(".")[0]
    module = sys.modules.get(library) if library in ("pandas", "pyarrow") else None
    if module is None or not isinstance(value, module.DataFrame if library == "pandas" else module.Table):
        return value
    names = list(value.columns) if library == "pandas" else value.column_names
    renamed = _renamed(names)
    if renamed == names:
        return value
    changes = [f"{new!r}" for old, new in zip(names, renamed, strict=True) if old is not new]
    shown = ", ".join(changes[:5]) + (f" and {len(changes) - 5} more" if len(changes) > 5 else "")
    warnings.warn(
        f"{label} has repeated column names; later ones are renamed {shown}.",
        UserWarning,
        stacklevel=level_of_caller(),
    )
    return value.set_axis(renamed, axis=1) if library == "pandas" else value.rename_columns(renamed)


def _renamed(names: Sequence[Hashable]) -> list[Hashable]:
    taken, met, renamed = set(names), Counter[Hashable](), list[Hashable]()
    for name in names:
        new, count = name, met[name]
        while count and new in taken:
            new = (*name[:-1], f"{name[-1]}.{count}") if isinstance(name, tuple) and name else f"{name}.{count}"
            count += 1
        met[name] = max(count, 1)
        taken.add(new)
        renamed.append(new)
    return renamed

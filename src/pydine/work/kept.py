"""Numbers that were computed before, by their keys: in memory and in a file to which lines are only added.

A unit is a file of its own; p-values are too small and too many for that. A process that is killed leaves at most one
line unfinished, which counts as missing, and several processes may add to one file.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path

Numbers = tuple[float, ...]


class KeptNumbers:
    """Tuples of numbers by their keys.

    Parameters
    ----------
    path : Path, optional
        The file; without one, they are kept in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._numbers: dict[str, Numbers] = {}
        self._lock = threading.Lock()
        if path is not None and path.is_file():
            for line in path.read_text(encoding="ascii", errors="replace").splitlines():
                if (entry := _read(line)) is not None:
                    self._numbers[entry[0]] = entry[1]

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, key: str) -> Numbers | None:
        """The numbers of a key, if they are known."""
        return self._numbers.get(key)

    def keep(self, entries: Mapping[str, Numbers]) -> None:
        """Remember numbers; an OSError says that they are kept in memory only."""
        new = {key: numbers for key, numbers in entries.items() if key not in self._numbers}
        if not new:
            return
        with self._lock:
            self._numbers.update(new)
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # The first line end closes what a killed process may have left unfinished; one call writes all.
                lines = "".join(f"{_line(key, numbers)}\n" for key, numbers in new.items())
                with self.path.open("ab", buffering=0) as file:
                    file.write(f"\n{lines}".encode("ascii"))


def _line(key: str, numbers: Numbers) -> str:
    content = f"{key} {','.join(float(number).hex() for number in numbers)}"
    return f"{content} {_check(content)}"


def _check(content: str) -> str:
    return hashlib.blake2b(content.encode("ascii", "replace"), digest_size=4).hexdigest()


def _read(line: str) -> tuple[str, Numbers] | None:
    """A key and its numbers, unless the line is damaged."""
    content, _, check = line.rpartition(" ")
    key, _, numbers = content.partition(" ")
    if not content or check != _check(content):
        return None
    try:
        return key, tuple(float.fromhex(number) for number in numbers.split(","))
    except (ValueError, OverflowError):
        return None

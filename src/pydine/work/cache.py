"""A cache of fitted units: in memory up to a bound, and in a folder if one is given, so that interrupted work resumes.

A unit depends on its target, its context and the settings alone (see `UnitTask`), so its key is a hash of their bytes
and of the sources that fit it. Files hold arrays and a line of JSON: reading one never runs code from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from pydine.archive import Schema
from pydine.disk import sweep, write_whole
from pydine.kernels.compilation import PACKAGE, SOURCES, sources_digest
from pydine.units.codes import Sums
from pydine.units.network import Network
from pydine.units.rows import Arrangement
from pydine.units.rungs.registry import EXPANSIONS
from pydine.units.unit import MARGINAL, FittedUnit, Model
from pydine.work.execution import arrivals
from pydine.work.kept import KeptNumbers, Numbers
from pydine.work.tasks import NOTHING, Fitted, UnitTask, fit_task

# What a fitted unit depends on beside its data and settings: all that fits it.
UNIT_SOURCES = (*SOURCES, "marks.py", "sampling.py", "serial.py", "types.py", "units/**/*.py", "work/tasks.py")
UNITS_DIGEST = sources_digest(PACKAGE, UNIT_SOURCES)
UNIT = Schema(
    "pydine.unit", 1, (Fitted, FittedUnit, Model, Network, Arrangement, Sums), EXPANSIONS
)  # what a file holds

MEMORY_BYTES = 256 << 20  # memory: default bound of a cache
ENTRY_BYTES = 2048  # memory: what Python's own objects of an entry take, approximately
NUMBERS = "numbers"  # the folder, in that of a cache, for what was computed from units
UNFINISHED = "unfinished"  # the folder, in that of a cache, for files that are being written


class CacheInfo(NamedTuple):
    """Statistics of a cache, like those of `functools.lru_cache`.

    Parameters
    ----------
    hits, misses : int
        Units that were found, and units that had to be fitted.
    entries, nbytes : int
        Units that are held in memory now, and their size.
    unwritten : int, default=0
        Units that are not in the folder because it could not be written.
    """

    hits: int
    misses: int
    entries: int
    nbytes: int
    unwritten: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of the requested units that were found; 0 if none was requested."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


def _nbytes(entry: Fitted) -> int:
    return ENTRY_BYTES + int(entry.log_density.nbytes) + sum(int(m.theta.nbytes) for m in entry.unit.models)


class UnitCache:
    """A cache of fitted units, by a hash of everything that they depend on.

    Parameters
    ----------
    folder : str or path, optional
        Where units are also kept as files; created if it does not exist. Several processes may share it. A damaged file
        counts as missing, and if files cannot be written (on a full disk, say), a single warning is given.
    max_bytes : int, default=256 MiB
        What may be held in memory; the least recently used units are dropped first.

    Notes
    -----
    A copy is the cache itself, so that clones of an estimator (by scikit-learn, say) share it. What is in memory is not
    pickled: in another process the cache opens the same folder or, without one, begins empty.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(200)
    >>> x, y = z + rng.standard_normal((2, 200))
    >>> cache = pydine.UnitCache()
    >>> first = pydine.independence_test(x, y, z, cache=cache)
    >>> again = pydine.independence_test(x, y, z, cache=cache)
    >>> cache.info().hits, cache.info().misses, first.pvalue == again.pvalue
    (2, 2, True)
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, max_bytes: int = MEMORY_BYTES) -> None:
        self.folder = None if folder is None else Path(folder)
        self.max_bytes = _checked_bound(max_bytes)
        self._entries: OrderedDict[str, Fitted] = OrderedDict()
        self._hits = self._misses = self._bytes = self._unwritten = 0
        self._lock = threading.Lock()
        self._numbers: dict[str, KeptNumbers] = {}
        self._numbers_in: Path | None = None
        if self.folder is not None:
            _make(self.folder)
            sweep(self.folder / UNFINISHED)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.folder, self.max_bytes)

    @classmethod
    def of(cls, cache: UnitCache | str | os.PathLike[str] | None) -> UnitCache | None:
        """Read the argument `cache` of a function: a cache, a folder, or None."""
        if cache is None or isinstance(cache, UnitCache):
            return cache
        if isinstance(cache, str | os.PathLike):
            return cls(cache)
        raise ValueError(f"cache must be None, a folder or a pydine.UnitCache, but got {cache!r}.")

    @classmethod
    def for_numbers(cls, folder: str | os.PathLike[str]) -> UnitCache:
        """A cache whose numbers are in a folder, and whose units are in memory only."""
        found = cls()
        found._numbers_in = Path(folder)
        return found

    def info(self) -> CacheInfo:
        """Hits, misses, and what is held in memory."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._entries), self._bytes, self._unwritten)

    def find(self, task: UnitTask) -> Fitted | None:
        """The unit of a task, if it is known."""
        if len(task.context) == 0 and not task.is_crossed:
            return Fitted(MARGINAL, NOTHING)
        return self._find(key_of(task), task)

    def keep(self, task: UnitTask, entry: Fitted) -> None:
        """Remember the unit of a task."""
        self.keep_as(key_of(task), entry)

    def has(self, task: UnitTask) -> bool:
        """Whether `find` would find the unit; it does not count as a hit."""
        key = key_of(task)
        return len(task.context) == 0 or key in self._entries or (self.folder is not None and self._path(key).is_file())

    def _find(self, key: str, task: UnitTask) -> Fitted | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is None and self.folder is not None:
            entry = _read(self._path(key), task)
            if entry is not None:
                self._hold(key, entry)
        with self._lock:
            self._hits += entry is not None
            self._misses += entry is None
        return entry

    def keep_as(self, key: str, entry: Fitted) -> None:
        """Remember a unit under its key."""
        self._hold(key, entry)
        if self.folder is None:
            return
        try:
            _write(self._path(key), self.folder / UNFINISHED, entry)
        except TypeError:  # its expansion is not in `EXPANSIONS`, so no file could name it
            return
        except OSError as error:  # the unit was fitted all the same
            self._tell(error)

    def numbers(self, name: str) -> KeptNumbers:
        """Numbers that were computed from units, such as p-values, under the name of what they depend on."""
        with self._lock:
            if name not in self._numbers:
                folder = self._numbers_in or self.folder
                self._numbers[name] = KeptNumbers(None if folder is None else folder / NUMBERS / f"{name}.txt")
            return self._numbers[name]

    def keep_numbers(self, name: str, entries: Mapping[str, Numbers]) -> None:
        """Remember such numbers by their keys."""
        try:
            self.numbers(name).keep(entries)
        except OSError as error:
            self._tell(error)

    def _tell(self, error: OSError) -> None:
        """Warn once that units cannot be written; where warnings are errors, the warning is dropped."""
        with self._lock:
            self._unwritten += 1
            first = self._unwritten == 1
        if first:
            with contextlib.suppress(UserWarning):
                warnings.warn(
                    f"cache: units cannot be written to {str(self.folder)!r} ({error.strerror or error}); they are "
                    "kept in memory only, and results are the same.",
                    UserWarning,
                    stacklevel=2,
                )

    def _hold(self, key: str, entry: Fitted) -> None:
        with self._lock:
            former = self._entries.pop(key, None)
            self._bytes += _nbytes(entry) - (0 if former is None else _nbytes(former))
            self._entries[key] = entry
            while self._bytes > self.max_bytes and len(self._entries) > 1:
                self._bytes -= _nbytes(self._entries.popitem(last=False)[1])

    def _path(self, key: str) -> Path:
        if self.folder is None:
            raise ValueError("this cache has no folder")
        return self.folder / key[:2] / f"{key[2:]}.npz"

    def __repr__(self) -> str:
        hits, misses, entries, nbytes, _ = self.info()
        where = "memory" if self.folder is None else str(self.folder)
        return f"UnitCache({where}: {hits} hits, {misses} misses, {entries} units and {nbytes >> 10} KiB in memory)"


def key_of(task: UnitTask) -> str:
    """The key of a unit; shapes are part of it, so that arrays of other shapes with the same bytes have other keys."""
    digest = hashlib.blake2b(digest_size=24)
    head = [UNITS_DIGEST, task.is_crossed, asdict(task.settings), task.target.shape, task.context.shape]
    digest.update(json.dumps(head, sort_keys=True).encode())
    for array in (task.target, task.context):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).data)
    digest.update(task.rows.key)
    return digest.hexdigest()


def fit_units(
    tasks: Sequence[UnitTask],
    cache: UnitCache | None = None,
    n_jobs: int | None = None,
    step: Callable[[], None] | None = None,
) -> list[Fitted]:
    """Units of tasks, in their order: from the cache where it has them; the others are fitted and added to it.

    `step` is called after every unit that had to be fitted.
    """
    found = [None if cache is None else cache.find(task) for task in tasks]
    missing = [i for i, entry in enumerate(found) if entry is None]
    # Kept as they arrive, not in their order: if this process is killed, all that has arrived is in the folder.
    for k, entry in arrivals(fit_task, [tasks[i] for i in missing], n_jobs, step):
        found[missing[k]] = entry
        if cache is not None:
            cache.keep(tasks[missing[k]], entry)
    return [entry for entry in found if entry is not None]


# --- files ------------------------------------------------------------------------------------------------------------


def _checked_bound(max_bytes: object) -> int:
    if isinstance(max_bytes, int | np.integer) and not isinstance(max_bytes, bool) and max_bytes >= 0:
        return int(max_bytes)
    raise ValueError(f"max_bytes must be a whole number of bytes, 0 or more, but got {max_bytes!r}.")


def _reopened(folder: Path | None, max_bytes: int) -> UnitCache:
    """An unpickled cache; its folder is created only when a unit is written, and if that fails there is a warning."""
    cache = UnitCache(max_bytes=max_bytes)
    cache.folder = folder
    return cache


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cache must be a folder that can be made, but {str(folder)!r} cannot ({error}).") from error


def _write(path: Path, unfinished: Path, entry: Fitted) -> None:
    """Write a unit atomically: readers see a whole file or none, also after a crash."""
    content = UNIT.to_bytes(entry)
    for folder in (path.parent, unfinished):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, content, beside=unfinished)


def _read(path: Path, task: UnitTask) -> Fitted | None:
    """Read a unit; None if there is no file or not a valid one, in whose place the unit is then written again."""
    try:
        entry, _ = UNIT.from_bytes(path.read_bytes())
        return entry if isinstance(entry, Fitted) and _suits(entry, task) else None
    except (OSError, ArithmeticError, LookupError, TypeError, ValueError):
        return None


def _suits(entry: Fitted, task: UnitTask) -> bool:
    """Whether a unit could be that of a task: somebody may have put one there that is of other columns."""
    rows = (task.context.shape[1],) if task.is_crossed else (0,)
    if entry.log_density.shape != rows or len(entry.unit.models) % task.settings.folds:
        return False
    density = entry.unit.log_density(task.target[..., :1], task.context[:, :1])
    finite = [density, *entry.unit.features(task.context[:, :1])]
    return all(np.isfinite(part).all() for part in finite)

"""Machine code on disk: Numba's cache, with files that are verified before use, and a folder that can be written.

Numba runs whatever its files hold, and fails where none can be written. Here every file begins with a digest of its
content and of all that the code depends on: if it does not match, the code is compiled again. Where neither the
installation nor the user's folders can be written, a private temporary folder is used, and where there is none, nothing
is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numba as nb

from pydine.disk import sweep, write_whole
from pydine.kernels.shipped import BROUGHT, brought, has_brought

__all__ = ["KEPT", "KeptCode", "is_at_hand", "is_trusted", "is_whole", "keep", "name_of", "place", "temporary_folder"]

caching: Any = import_module("numba.core.caching")  # nothing there has types
serialize: Any = import_module("numba.core.serialize")
runtime: Any = import_module("numba.core.runtime").rtsys

DIGEST_BYTES = 32  # fact: of BLAKE2b
SUFFIX = ".code"


def _digest(*parts: bytes) -> bytes:
    """Hash parts, each with its length, so that different lists of parts cannot have the same bytes."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def is_whole(path: Path) -> bool:
    """Whether a file of machine code is as it was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return content[:DIGEST_BYTES] == _digest(content[DIGEST_BYTES:])


def is_trusted(path: Path) -> bool:
    """Whether nobody but this user, the superuser, and a group that was let in, can have put something there."""
    found = path.stat()
    return not hasattr(os, "getuid") or (found.st_uid in (0, os.getuid()) and not found.st_mode & stat.S_IWOTH)


class KeptCode:
    """The files of one function, one for each signature and processor; in place of Numba's own class of cache files.

    A file holds a digest of the rest, a digest of what the code was compiled from, and Numba's own data.

    Parameters
    ----------
    folder : Path
        Folder of the files.
    function : str
        Prefix of their names.
    sources : str
        A digest of all sources that the code depends on.
    """

    def __init__(self, folder: Path, function: str, sources: str) -> None:
        self.folder, self.function, self.sources = folder, function, sources

    def files(self) -> list[Path]:
        """The files that exist."""
        return sorted(self.folder.glob(f"{self.function}.*{SUFFIX}"))

    def load(self, key: tuple[Any, ...]) -> Any:
        """The data kept under one of Numba's keys, or None; a file that is damaged or outdated is deleted."""
        content = self.content(key)
        return None if content is None else pickle.loads(content)

    def content(self, key: tuple[Any, ...]) -> bytes | None:
        """The same as bytes."""
        path = self._path(key)
        try:
            if not is_trusted(path):
                return None
            content = path.read_bytes()
        except OSError:
            return None
        rest = content[DIGEST_BYTES:]
        if content[:DIGEST_BYTES] != _digest(rest) or rest[:DIGEST_BYTES] != self._origin(key):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return rest[DIGEST_BYTES:]

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Keep data under one of Numba's keys."""
        rest = self._origin(key) + serialize.dumps(data)
        write_whole(self._path(key), _digest(rest) + rest)

    def flush(self) -> None:
        """Delete the files; Numba calls this when a function is to be compiled again."""
        for path in self.files():
            with contextlib.suppress(OSError):
                path.unlink()

    def _path(self, key: tuple[Any, ...]) -> Path:
        """The file for a signature and a processor; that of a new version of the function replaces the old one."""
        signature, processor, _ = key
        return self.folder / f"{self.function}.{_digest(repr((signature, processor)).encode()).hex()[:16]}{SUFFIX}"

    def _origin(self, key: tuple[Any, ...]) -> bytes:
        return _digest(self.sources.encode(), nb.__version__.encode(), repr(key).encode())


class _TemporaryLocator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """The last place where Numba looks for a folder: a private one among the temporary folders."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """Folder of the files; Numba understands an OSError as there being none."""
        return str(temporary_folder() / self.get_suitable_cache_subpath(self._py_file))


def temporary_folder() -> Path:
    """A temporary folder that nobody else can write to, since code from it will be run.

    Raises
    ------
    OSError
        If there is none, or one of that name belongs to somebody else.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0  # elsewhere temporary folders are private already
    folder = Path(tempfile.gettempdir()) / f"pydine-{user}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    private = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o077)
    if not (stat.S_ISDIR(found.st_mode) and private):
        raise PermissionError(f"{folder} is not a folder of this user alone")
    return folder


def _guarded(locator: Any) -> Any:
    """A place where Numba looks for a folder, unless others can write to the folder: code from it will be run."""

    class Guarded(locator):
        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            found = super().from_function(function, file)
            return found if found is not None and is_trusted(Path(found.get_cache_path())) else None

    return Guarded


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = (*map(_guarded, caching.CompileResultCacheImpl._locator_classes), _TemporaryLocator)


class _Cache(caching.FunctionCache):
    _impl_class = _Implementation
    sources = ""  # a digest of all sources that the code depends on

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load code that was kept, which needs no more than Numba's allocator.

        Numba itself would first import and register everything that it may compile, which takes a third of the time of
        a short process. If code has to be compiled after all, that happens then.
        """
        runtime.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(signature, target_context)
        return _brought(self._py_func, self.sources, signature, target_context) if found is None else found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code; if it cannot be written, on a full disk say, it is compiled again next time.

        Code that calls what a wheel brought is not kept: a later process may not have loaded that.
        """
        called = {f.name for f in result.library._final_module.functions if f.is_declaration}
        if called & BROUGHT:
            return
        with contextlib.suppress(OSError):
            super().save_overload(signature, result)

    def is_kept(self, signature: Any, codegen: Any) -> bool:
        """Whether code of a signature is there."""
        return self._cache_file.content(self._index_key(signature, codegen)) is not None


class _NoFolder(caching.NullCache):
    """Where no folder can be written."""

    def __init__(self, function: Any, sources: str) -> None:
        self._function, self.sources = function, sources

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        runtime.initialize(target_context)
        return _brought(self._function, self.sources, signature, target_context)


def _brought(function: Any, sources: str, signature: Any, target_context: Any) -> Any:
    """Code that the wheel has brought, if it has."""
    data = brought(sources, name_of(function), signature, target_context.codegen())
    return None if data is None else _Implementation.rebuild(None, target_context, data)


def is_at_hand(dispatcher: Any, signature: Any) -> bool:
    """Whether nothing has to be compiled for a signature of a function that is kept."""
    cache, codegen = dispatcher._cache, dispatcher.targetctx.codegen()
    if isinstance(cache, _Cache) and cache.is_kept(signature, codegen):
        return True
    return has_brought(dispatcher._cache.sources, name_of(dispatcher.py_func), signature)


def name_of(function: Any) -> str:
    """The name of a function among all of the package."""
    return f"{function.__module__}.{function.__qualname__}"


KEPT: list[KeptCode] = []  # the files of every function that is kept; for `pydine doctor`


def keep(dispatcher: Any, sources: str) -> None:
    """Keep the machine code of a function on disk, if there is a place for it.

    Parameters
    ----------
    dispatcher : numba dispatcher
        The function.
    sources : str
        A digest of all sources that it depends on.
    """
    try:
        cache = _Cache(dispatcher.py_func)
    except RuntimeError:  # no place can be written
        dispatcher._cache = _NoFolder(dispatcher.py_func, sources)
        return
    folder = Path(cache.cache_path)
    if not any(kept.folder == folder for kept in KEPT):
        sweep(folder)
    # Without the line where the function begins, which is in the name that Numba gives: lines of words may move it.
    name = cache._impl.filename_base.replace(f"-{dispatcher.py_func.__code__.co_firstlineno}.", ".")
    kept = KeptCode(folder, name, sources)
    KEPT.append(kept)
    cache._cache_file, cache.sources = kept, sources
    dispatcher._cache = cache


def place() -> str:
    """Say where compiled code is kept, and what to do if it is not kept for long."""
    if not KEPT:
        return "it is not kept, because no folder for it is writable; set NUMBA_CACHE_DIR to one that is"
    folder = KEPT[0].folder
    with contextlib.suppress(OSError):
        if folder.is_relative_to(temporary_folder()):
            return f"it is kept temporarily, in {folder}; set NUMBA_CACHE_DIR to a permanent, writable folder"
    return f"it is kept in {folder}"

"""Compilation: Numba, the sources that compiled code depends on, and a message while it takes long."""

# Numba declares only some of what its dispatchers have.
# mypy: disable-error-code="misc,no-untyped-call,attr-defined"

from __future__ import annotations

import hashlib
import pkgutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from pydine.disk import only_one
from pydine.kernels.direct import direct
from pydine.kernels.machine_code import KEPT, KeptCode, keep, place

PATIENCE = 1.5  # memory: seconds of silence before a first call explains itself


PACKAGE = Path(__file__).parents[1]
SOURCES = ("kernels/**/*.py",)  # what machine code depends on, relative to the package


def sources(package: Path, patterns: Sequence[str]) -> list[Path]:
    """List the files of a package that patterns name, relative to its folder, in an order that is always the same."""
    found = {path.relative_to(package) for pattern in patterns for path in package.glob(pattern)}
    return sorted(found, key=Path.as_posix)


def sources_digest(package: Path, patterns: Sequence[str]) -> str:
    """Hash the files that patterns name: their paths, since the same text elsewhere is other code, and their code."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sources(package, patterns):
        for part in (path.as_posix(), code_of((package / path).read_text(encoding="utf-8"))):
            content = part.encode()
            digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def code_of(source: str) -> str:
    """Leave out docstrings, comments and empty lines, which change nothing.

    Line by line, as it has to be quick: a docstring begins a line, as the formatter has it. A comment behind code that
    holds quotes stays.
    """
    kept, is_docstring = [], False
    for line in source.splitlines():
        text = line.strip()
        if is_docstring or text.startswith('"""'):
            is_docstring = not text.endswith('"""') or (not is_docstring and len(text) < 6)
        elif not text.startswith("#"):
            code = line if '"' in line or "'" in line else line.partition("#")[0]
            kept.append(code.rstrip())
    return "\n".join(filter(None, kept))


SOURCES_DIGEST = sources_digest(PACKAGE, SOURCES)


class _OtherError(Exception):
    """Arguments of a kernel as those of a signature that it is compiled for."""


class Kernel(CPUDispatcher):
    """A compiled function, compiled for few types of arguments, by one process of a machine while the others wait.

    Ctrl-C interrupts it as it interrupts any other. Numba runs Python when it hands over what a function returns. A
    signal that came meanwhile is handled there, and its KeyboardInterrupt would become the cause of a SystemError.
    """

    declared: tuple[tuple[Any, ...], ...] = ()

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns."""
        try:
            return super().__call__(*arguments)
        except _OtherError as other:
            return super().__call__(*other.args)
        except SystemError as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, KeyboardInterrupt):
                cause = cause.__cause__ or cause.__context__
            raise (error if cause is None else KeyboardInterrupt) from None

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        """What Numba calls for types without code: arrays that cannot be written, but are right, are copied instead."""
        own = tuple(a.copy() if isinstance(a, np.ndarray) and not a.flags.writeable else a for a in arguments)
        if any(a is not b for a, b in zip(own, arguments, strict=True)):
            raise _OtherError(*own)
        return super()._compile_for_args(*arguments, **named)

    def compile(self, signature: Any) -> Any:
        """Compile for types of arguments, or load what was compiled before, which is not worth a word."""
        with global_compiler_lock:
            arguments, _ = normalize_signature(signature)
            if arguments in self.overloads or self.is_kept(arguments):
                return super().compile(signature)
            with explained(), only_one(KEPT[0].folder / "compiled.lock") if KEPT else nullcontext():
                return super().compile(signature)

    def is_kept(self, arguments: tuple[Any, ...]) -> bool:
        """Whether there is a file with the machine code for types of arguments."""
        files = getattr(self._cache, "_cache_file", None)
        if not isinstance(files, KeptCode):
            return False
        return files.is_there(self._cache._index_key(arguments, self.targetctx.codegen()))


KERNELS: list[Kernel] = []  # all that are compiled by themselves, and called from Python


def compiled(*signatures: str, inlined: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that releases the GIL, and keep the machine code on disk where that is possible.

    Numba's own cache is valid as long as the function's file has not changed, although the machine code includes
    functions from other files. Here it is valid as long as no code of `SOURCES` has changed.

    A kernel has the `signatures` of all that it is called with, as Numba writes them; for other types it is compiled
    when they come. One that has none is a part of others, which have its instructions once, or each time if `inlined`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        # These are not called from C, and the wrapper for that takes as long to compile as many of the functions.
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        source = function if inlined or nb.config.BOUNDSCHECK else direct(function)
        dispatcher = nb.njit(**options, inline="always" if inlined else "never")(source)
        if signatures:
            dispatcher.__class__ = Kernel
            dispatcher.declared = tuple(normalize_signature(f"({one},)")[0] for one in signatures)
            keep(dispatcher, SOURCES_DIGEST)
            KERNELS.append(dispatcher)
        return dispatcher

    return decorate


def all_kernels() -> list[tuple[Kernel, tuple[Any, ...]]]:
    """Every kernel with each of its signatures."""
    from pydine import kernels

    for module in pkgutil.iter_modules(kernels.__path__):
        import_module(f"pydine.kernels.{module.name}")
    return [(kernel, signature) for kernel in KERNELS for signature in kernel.declared]


def compile_all() -> None:
    """Compile all that is not yet, so that nothing has to later."""
    for kernel, signature in all_kernels():
        kernel.compile(signature)


_spent = 0.0  # seconds of compiling, of which nothing was said
_silent = threading.Event()


@contextmanager
def explained() -> Iterator[None]:
    """Print a message, once a process, if the blocks take long together: they compile."""
    global _spent
    if _silent.is_set():
        yield
        return
    timer, begun = threading.Timer(max(PATIENCE - _spent, 0.0), _explain), time.monotonic()
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _spent += time.monotonic() - begun


def _explain() -> None:
    _silent.set()
    sys.stderr.write(f"pydine: compiling its kernels for this machine, which takes some seconds; {place()}.\n")
    sys.stderr.flush()

"""Compilation: Numba, the sources that compiled code depends on, and a message while it takes long."""

from __future__ import annotations

import contextlib
import hashlib
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as ll
import numba as nb
from numba.core import event as events
from numba.core.registry import CPUDispatcher

from pydine.disk import only_one, write_whole
from pydine.kernels.machine_code import KEPT, is_at_hand, keep, name_of, place

sigutils: Any = import_module("numba.core.sigutils")  # nothing there has types

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


_DECLARED: list[tuple[Any, tuple[str, ...]]] = []  # every kernel, and its signatures


class _Kernel(CPUDispatcher):
    """A compiled function that Ctrl-C interrupts as it interrupts any other.

    Numba runs Python when it hands over what a function returns. A signal that came meanwhile is handled there, and its
    KeyboardInterrupt would become the cause of a SystemError.
    """

    def __call__(self, *arguments: Any) -> Any:
        try:
            return super().__call__(*arguments)
        except SystemError as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, KeyboardInterrupt):
                cause = cause.__cause__ or cause.__context__
            raise (error if cause is None else KeyboardInterrupt) from None


def compiled(*signatures: str, inlined: bool = False, allocates: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that releases the GIL, and keep the machine code on disk where that is possible.

    Numba's own cache is valid as long as the function's file has not changed, although the machine code includes
    functions from other files. Here it is valid as long as no code of `SOURCES` has changed.

    `signatures` are those of all calls from Python, as Numba spells them: `compile_all` compiles these, and a wheel
    brings them. Any other is compiled when it is called. A function without signatures is called by kernels only.

    A function that is `inlined` becomes part of its callers before they are compiled, and is not compiled by itself.
    One that makes no arrays, but parts of those that it is given (not `allocates`), does not count references to them.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        # These are not called from C, and the wrapper for that takes as long to compile as many of the functions. Numba
        # does not document `_nrt`; `make test-versions` tries it with the lowest and the newest version.
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": allocates}
        dispatcher = nb.njit(**options, inline="always" if inlined else "never")(function)
        if not inlined:
            dispatcher.__class__ = _Kernel
            keep(dispatcher, SOURCES_DIGEST)
            _DECLARED.append((dispatcher, signatures))
        return dispatcher

    return decorate


def compile_all() -> None:
    """Compile what is declared and neither kept nor shipped: after that no question has to wait."""
    for dispatcher, signature in declared():
        dispatcher.compile(signature)


def missing() -> list[str]:
    """Names of functions that have to be compiled before they can be called, once for each signature."""
    return [name_of(kernel.py_func) for kernel, signature in declared() if not is_at_hand(kernel, signature)]


def declared() -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every kernel, with each of the signatures that it says that it is called with."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    for dispatcher, signatures in _DECLARED:
        for signature in signatures:
            yield dispatcher, sigutils.normalize_signature(signature)[0]


@contextmanager
def compiled_once() -> Iterator[None]:
    """Let one process of a machine compile in the block; the others wait, and then load the code.

    A marker file beside the code says that it is complete, after which no process waits. Where files cannot be locked
    or written, every process compiles for itself.
    """
    if not KEPT:
        yield
        return
    mark = KEPT[0].folder / "compiled"
    code = f"{SOURCES_DIGEST} {nb.__version__} {ll.get_host_cpu_name()}"
    if _says(mark, code):
        yield
        return
    with only_one(mark.with_suffix(".lock")):
        yield
        with contextlib.suppress(OSError):
            write_whole(mark, code.encode())


def _says(mark: Path, code: str) -> bool:
    try:
        return mark.read_bytes() == code.encode()
    except OSError:
        return False


@contextmanager
def explained() -> Iterator[None]:
    """Print a message if the block compiles for long; code that is loaded from disk causes none."""
    timer = threading.Timer(PATIENCE, _explain)
    timer.daemon = True
    begun = threading.Event()

    class Listener(events.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002 - Numba's contract
            if not begun.is_set():
                begun.set()
                timer.start()

        def on_end(self, event: Any) -> None:
            pass

    try:
        with events.install_listener("numba:compile", Listener()):
            yield
    finally:
        timer.cancel()


def _explain() -> None:
    sys.stderr.write(f"pydine: compiling its kernels for this machine, which takes about half a minute; {place()}.\n")
    sys.stderr.flush()

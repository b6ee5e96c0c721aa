"""The command ``pydine``: its commands, and how it ends when something goes wrong."""

from __future__ import annotations

import errno
import gc
import inspect
import io
import os
import signal
import sys
import threading
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from pydine._version import __version__
from pydine.cli.groups import spelled_out
from pydine.cli.options import FLAG
from pydine.cli.output.notes import INTERRUPTED
from pydine.show.progress import Lines
from pydine.show.text import encodable, escaped

BAD_DATA = 1
SHORT = 3.0  # seconds
LONGEST = 600  # characters of a sentence
KEPT_OPEN: list[Any] = []  # in the place of closed streams, until the end

USAGE: Any = typer.BadParameter.__base__  # click's UsageError, which some versions of typer hold a copy of
QUESTIONS, MORE = "Questions about your data", "More"
# A command, the function in its module of that name, and where help lists it.
COMMANDS = {
    "mi": ("mi", QUESTIONS),
    "test": ("independence", QUESTIONS),
    "rank": ("rank", QUESTIONS),
    "why": ("why", QUESTIONS),
    "matrix": ("matrix", QUESTIONS),
    "graph": ("graph", QUESTIONS),
    "lags": ("lags", QUESTIONS),
    "transfer": ("transfer", QUESTIONS),
    "compare": ("compare", QUESTIONS),
    "interaction": ("interaction", QUESTIONS),
    "synergies": ("synergies", QUESTIONS),
    "corr": ("corr", QUESTIONS),
    "rows": ("rows", QUESTIONS),
    "report": ("report", QUESTIONS),
    "demo": ("demo", MORE),
    "bench": ("bench", MORE),
    "doctor": ("doctor", MORE),
}


class _Group(TyperGroup):
    """Commands whose usage errors escape what they quote: what was typed, or what a shell expanded a pattern to."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except USAGE as error:
            error.message = escaped(error.message)
            raise


def command_line(*names: str) -> typer.Typer:
    """Make the command line with the commands named, or with all: a single command need not wait for the others."""
    app = typer.Typer(
        name="pydine",
        cls=_Group,
        help="How much does X tell about Y, once Z is known, and how sure is that?\n\n"
        "Data come from a file of columns (CSV, TSV, Parquet, Feather, Arrow, .npy or .npz) or from a pipe "
        "([bold]-[/bold]). Every command has its own help page: [cyan]pydine mi --help[/cyan].",
        epilog="[bold]Exit codes[/bold]  0 success; 1 the file or its data cannot be used, or a package is missing; "
        "2 wrong usage; 3 independence is rejected (test --exit-code); 130 interrupted.\n\n"
        "[bold]Start here[/bold]  [cyan]pydine demo[/cyan], then [cyan]pydine rank your.csv --target COLUMN[/cyan]",
        rich_markup_mode="rich",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in names or COMMANDS:
        _add(app, name)
    return app


def _add(app: typer.Typer, name: str) -> None:
    """Make a command of its function; its help is the docstring, with paragraphs wrapped to the terminal."""
    function, panel = COMMANDS[name]
    module = import_module(f"pydine.cli.commands.{name}")
    answer = getattr(module, function)
    paragraphs = inspect.cleandoc(answer.__doc__ or "").split("\n\n")
    page = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, help=page, epilog=getattr(module, "EXAMPLES", None), rich_help_panel=panel)(spelled_out(answer))


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"pydine {__version__}")
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", metavar=FLAG, help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every failure is one sentence and a code."""
    signal.signal(signal.SIGINT, _interrupted)
    _open_streams()
    Lines.asked = True
    _postpone_collection()
    _spare_imports()
    try:
        command_line(*(name for name in sys.argv[1:2] if name in COMMANDS))(prog_name="pydine")
    except FileNotFoundError as error:
        _fail(f"there is no file {error.filename!s}.")
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except MemoryError:
        _fail("there is not enough memory for this; try --sample.")
    except (ValueError, ImportError) as error:
        _fail(str(error))
    except Exception as error:  # a page of code is of no use to somebody who does not write it
        if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # compiled code turns Ctrl-C into another error
            sys.exit(INTERRUPTED)
        if os.environ.get("PYDINE_TRACEBACK"):
            raise
        _fail(f"this is a bug in pydine ({type(error).__name__}: {error}); PYDINE_TRACEBACK=1 shows where.")
    finally:
        gc.freeze()  # or the interpreter would collect garbage in all modules at exit, for a third of a second


class _Closed(io.TextIOBase):
    """The standard output that a shell has closed: an answer that nobody can read is an error."""

    def write(self, _: str) -> int:
        """Refuse."""
        raise OSError(errno.EBADF, "it is closed", "the standard output")


def _open_streams() -> None:
    """Have standard streams where a shell has closed them, and none that stops at a character that it cannot write."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - no other file may get its number
            if nowhere.fileno() != number:
                os.dup2(nowhere.fileno(), number)
            setattr(sys, name, _Closed() if name == "stdout" else nowhere)
            KEPT_OPEN.append(nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _postpone_collection() -> None:
    """Collect garbage only in long work: imports leave none, and a short command is mostly imports."""
    gc.disable()
    timer = threading.Timer(SHORT, gc.enable)
    timer.daemon = True
    timer.start()


def _spare_imports() -> None:
    """Keep SciPy, which imports everything that NumPy lists, from importing packages that are not used here.

    That saves a tenth of a second; an explicit import still finds them.
    """
    import numpy as np

    unused = {"f2py", "testing", "ctypeslib"}
    np.__all__ = [name for name in np.__all__ if name not in unused]
    getattr(np, "__numpy_submodules__", set()).difference_update(unused)


def _fail(sentence: str) -> NoReturn:
    text = escaped(" ".join(sentence.split()))
    half = LONGEST // 2  # a name may be very long: the beginning and the end of the sentence are kept
    text = text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
    sys.stderr.write(f"pydine: {encodable(text, sys.stderr.encoding or 'utf-8')}\n")
    sys.exit(BAD_DATA)


def _interrupted(*_: Any) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads
    sys.stderr.write("\npydine: interrupted.\n")
    sys.exit(INTERRUPTED)

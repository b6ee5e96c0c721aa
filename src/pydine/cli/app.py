"""The command ``pydine``: its commands, and how it ends when something goes wrong."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from pydine._version import __version__
from pydine.cli import bench, demo, doctor, graph, matrix, mi, rank, report, test
from pydine.cli.options import FLAG

BAD_DATA = 1
INTERRUPTED = 130
SHORT = 3.0  # seconds

app = typer.Typer(
    name="pydine",
    help="How much does X tell about Y, once Z is known, and how sure is that?\n\n"
    "Answers come from a file of columns: CSV, TSV, Parquet, Feather, Arrow, .npy or .npz, or a pipe ([bold]-[/bold]). "
    "Every command has a page of its own: [cyan]pydine mi --help[/cyan].",
    epilog="[bold]Exit codes[/bold]  0 answered; 1 a file or its data cannot be used, in one sentence; 2 wrong usage; "
    "3 independence is rejected (test --exit-code); 130 interrupted.\n\n"
    "[bold]Start here[/bold]  [cyan]pydine demo[/cyan], then [cyan]pydine rank your.csv --target COLUMN[/cyan]",
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add(name: str, function: Callable[..., None], panel: str, examples: str | None = None) -> None:
    """Make a command of a function; its page of help is the docstring, with every paragraph filled by the terminal."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    page = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, help=page, epilog=examples, rich_help_panel=panel)(function)


QUESTIONS, MORE = "Questions about your data", "More"
_add("mi", mi.mi, QUESTIONS, mi.EXAMPLES)
_add("test", test.independence, QUESTIONS, test.EXAMPLES)
_add("rank", rank.rank, QUESTIONS, rank.EXAMPLES)
_add("matrix", matrix.matrix, QUESTIONS, matrix.EXAMPLES)
_add("graph", graph.graph, QUESTIONS, graph.EXAMPLES)
_add("report", report.report, QUESTIONS, report.EXAMPLES)
_add("demo", demo.demo, MORE)
_add("bench", bench.bench, MORE, bench.EXAMPLES)
_add("doctor", doctor.doctor, MORE)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"pydine {__version__}")
        raise typer.Exit


@app.callback()
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
    _postpone_collection()
    try:
        app(prog_name="pydine")
    except FileNotFoundError as error:
        _fail(f"there is no file {error.filename!s}.")
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except MemoryError:
        _fail("there is not enough memory for this; try --sample.")
    except (ValueError, ImportError) as error:
        _fail(str(error))
    except Exception as error:  # a page of code is of no use to somebody who does not write it
        if os.environ.get("PYDINE_TRACEBACK"):
            raise
        _fail(f"this is a defect of pydine ({type(error).__name__}: {error}); PYDINE_TRACEBACK=1 shows where.")
    finally:
        gc.freeze()  # the interpreter would look through all modules for garbage, a third of a second, before it ends


def _postpone_collection() -> None:
    """Look for garbage only in work that takes long: imports leave none, and a short command is mostly imports."""
    gc.disable()
    timer = threading.Timer(SHORT, gc.enable)
    timer.daemon = True
    timer.start()


def _fail(sentence: str) -> NoReturn:
    sys.stderr.write(f"pydine: {' '.join(sentence.split())}\n")
    sys.exit(BAD_DATA)


def _interrupted(*_: Any) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever asks a second time does not want to wait for threads
    sys.stderr.write("\npydine: interrupted.\n")
    sys.exit(INTERRUPTED)

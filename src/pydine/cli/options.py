"""Arguments and options that several commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DATA = "The data"
METHOD = "The method"
OUTPUT = "The output"
FLAG = " "  # a flag takes no value: newer versions of typer would write <bool>


class Missing(StrEnum):
    """What to do about missing values."""

    omit = "omit"
    fail = "fail"


class Base(StrEnum):
    """Base distributions of `pydine.mutual_information`."""

    auto = "auto"
    gaussian = "gaussian"
    student = "student"
    mixture = "mixture"
    flow = "flow"


class Interval(StrEnum):
    """How what flows have not learned is found."""

    fast = "fast"
    calibrated = "calibrated"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV or TSV (also gzipped), Parquet, Feather, Arrow, .npy or .npz; [bold]-[/bold] reads from a pipe. "
        "Columns without names are called 1, 2, 3 ...",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        "--column",
        metavar="COLUMN",
        help="Use these columns only; give it as often as needed.",
        rich_help_panel=DATA,
    ),
]
Target = Annotated[str, typer.Option("-t", "--target", metavar="COLUMN", help="What the others tell about.")]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="COLUMN", help="Leave this column out.", rich_help_panel=DATA),
]
Nan = Annotated[
    Missing,
    typer.Option(
        "--nan",
        help="Missing values (empty, NA, ?, -, null, infinite): every figure uses the rows that have what it needs, or "
        "stop.",
        rich_help_panel=DATA,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="What a column is, where it is not what its values say: [bold]continuous[/bold], [bold]ordinal[/bold] or "
        "[bold]nominal[/bold]; as often as needed.",
        rich_help_panel=DATA,
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="N",
        min=1,
        help="Use N rows drawn at random: a first look at a large file.",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar=FLAG,
        help="Text files: whether the first line names the columns. By default it does.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="Text files: what is between the cells. By default a comma, tab, semicolon or bar, whichever the first "
        "line has most of.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        "--max-bytes",
        metavar="N",
        min=1,
        help="Refuse what is compressed, or comes through a pipe, and unpacks to more. By default 4 GiB.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
BaseOption = Annotated[
    Base,
    typer.Option(
        "--base", help="How the dependence is modelled; auto lets held-out rows decide.", rich_help_panel=METHOD
    ),
]
IntervalOption = Annotated[
    Interval,
    typer.Option(
        "--interval",
        help="How it is found what was not learned of Z: at no cost, or by estimating generated data again.",
        rich_help_panel=METHOD,
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        "--alpha", metavar="NUMBER", min=0.0, max=1.0, help="The level of the decision.", rich_help_panel=METHOD
    ),
]
Level = Annotated[
    float,
    typer.Option(
        "--level", metavar="NUMBER", min=0.0, max=1.0, help="Confidence level of the interval.", rich_help_panel=METHOD
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Which rows --sample takes; no estimate depends on it.",
        rich_help_panel=METHOD,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Threads, or workers of --backend; the numbers do not depend on it. By default every core where the data "
        "are large.",
        show_default=False,
        rich_help_panel=METHOD,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Keep fitted flows there: work that was stopped goes on where it was, also on another machine.",
        show_default=False,
        rich_help_panel=METHOD,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar=FLAG, help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT)
]
Csv = Annotated[bool, typer.Option("--csv", metavar=FLAG, help="Print CSV and nothing else.", rich_help_panel=OUTPUT)]


def example(*lines: str) -> str:
    """Write the examples that close a command's page of help."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]" for line in lines)])

"""Options that several commands share, so that they have the same meaning and help everywhere.

Those that go together are a dataclass, which a command takes as one parameter (`groups`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pydine.inputs.files import Frame, TableFile

FLAG = " "  # a flag takes no value: newer versions of typer would write <bool>
ROWS_WORTH_THREADS = 2000

# Options by the panel in which help lists them.
of_data = partial(typer.Option, rich_help_panel="The data")
of_method = partial(typer.Option, rich_help_panel="The method")
of_output = partial(typer.Option, rich_help_panel="The output")


# --- one by one -------------------------------------------------------------------------------------------------------


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV or TSV (plain, gzip or zstd), Parquet, Feather, Arrow, .npy or .npz; [bold]-[/bold] reads "
        "from a pipe. Columns without names are called 1, 2, 3 ...",
    ),
]
Target = Annotated[str, typer.Option("-t", "--target", metavar="COLUMN", help="The column that the others tell about.")]


class Base(StrEnum):
    """Base distributions of `pydine.mutual_information`."""

    auto = "auto"
    gaussian = "gaussian"
    student = "student"
    mixture = "mixture"
    flow = "flow"


BaseOption = Annotated[
    Base, of_method("--base", help="How the dependence is modelled; auto lets held-out rows decide.")
]
Alpha = Annotated[float, of_method("--alpha", metavar="NUMBER", min=0.0, max=1.0, help="The significance level.")]
Cache = Annotated[
    Path | None,
    of_method(
        "--cache",
        metavar="FOLDER",
        help="Keep fitted flows in this folder: interrupted work resumes, even on another machine.",
        show_default=False,
    ),
]
Overwrite = Annotated[
    bool,
    of_output("--overwrite", metavar=FLAG, help="Replace an existing file of any kind, but never the input."),
]
Json = Annotated[bool, of_output("--json", metavar=FLAG, help="Print one JSON object and nothing else.")]


# --- together ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sides:
    """The columns of a question."""

    x: Annotated[
        list[str],
        typer.Option("-x", metavar="COLUMN", help="A column of X; repeat for a variable of several columns."),
    ]
    y: Annotated[list[str], typer.Option("-y", metavar="COLUMN", help="A column of Y.")]
    z: Annotated[
        list[str] | None,
        typer.Option("-z", metavar="COLUMN", help="A column of Z, to condition on; repeat as needed."),
    ] = None


@dataclass(frozen=True)
class Series:
    """The columns of a question about two series."""

    x: Annotated[str, typer.Option("-x", metavar="COLUMN", help="The column that comes first.")]
    y: Annotated[str, typer.Option("-y", metavar="COLUMN", help="The column that may follow it.")]
    z: Annotated[
        list[str] | None,
        typer.Option("-z", metavar="COLUMN", help="A column to condition on; repeat as needed."),
    ] = None


@dataclass(frozen=True)
class Chosen:
    """Which columns are compared with each other."""

    column: Annotated[
        list[str] | None,
        of_data("-c", "--column", metavar="COLUMN", help="Use only this column; repeat as needed."),
    ] = None
    without: Annotated[list[str] | None, of_data("--without", metavar="COLUMN", help="Leave this column out.")] = None


class Missing(StrEnum):
    """What to do about missing values."""

    omit = "omit"
    fail = "fail"


@dataclass(frozen=True)
class Reading:
    """How the file is read."""

    nan: Annotated[
        Missing,
        of_data(
            "--nan",
            help="Missing values (empty, NA, ?, -, null, infinite): each figure uses the rows that have what it "
            "needs (omit), or stop (fail).",
        ),
    ] = Missing.omit
    kind: Annotated[
        list[str] | None,
        of_data(
            "--kind",
            metavar="COLUMN=KIND",
            help="The kind of a column, where its values suggest the wrong one: [bold]continuous[/bold], "
            "[bold]ordinal[/bold], [bold]nominal[/bold], or for directions and times of day [bold]angle:[/bold] and "
            "the period, as in wind=angle:360; separate columns by commas, repeat as needed.",
        ),
    ] = None
    sample: Annotated[
        int | None,
        of_data("--sample", metavar="N", min=1, help="Use N rows drawn at random: a first look at a large file."),
    ] = None
    header: Annotated[
        bool | None,
        of_data(
            "--header/--no-header",
            metavar=FLAG,
            help="Text files: whether the first line names the columns. By default it does.",
            show_default=False,
        ),
    ] = None
    separator: Annotated[
        str | None,
        of_data(
            "--separator",
            metavar="CHARACTER",
            help="Text files: what separates the cells. By default a comma, tab, semicolon or bar, whichever the "
            "first line has most of.",
            show_default=False,
        ),
    ] = None
    max_bytes: Annotated[
        int | None,
        of_data(
            "--max-bytes",
            metavar="N",
            min=1,
            help="Refuse a compressed file, or a pipe, that unpacks to more bytes than this. By default 4 GiB.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class Depending:
    """How rows were sampled."""

    clusters: Annotated[
        str | None,
        of_data(
            "--clusters",
            metavar="COLUMN",
            help="Rows with the same value here (a subject, a site) belong together, and may depend on each other.",
            show_default=False,
        ),
    ] = None
    time: Annotated[
        str | None,
        of_data(
            "--time",
            metavar="COLUMN",
            help="What orders the rows in time, where each may depend on those before it; [bold]rows[/bold] if they "
            "are in order. With --clusters, a panel.",
            show_default=False,
        ),
    ] = None

    weights: Annotated[
        str | None,
        of_data(
            "--weights",
            metavar="COLUMN",
            help="How many observations each row stands for: frequencies, if all are whole numbers, or survey weights.",
            show_default=False,
        ),
    ] = None

    def found(self, table: TableFile) -> dict[str, Any]:
        """The arguments of a question about a file."""
        said: dict[str, Any] = {}
        for option, name in (("clusters", self.clusters), ("time", self.time), ("weights", self.weights)):
            if name is not None:
                is_order = option == "time" and name == "rows" and "rows" not in table.names
                said[option] = True if is_order else table.find(f"--{option}", [name])[0]
        return said

    def labels(self, table: TableFile) -> list[str]:
        """The column of clusters, whose values are names, whatever they look like."""
        return [name for option, name in self.found(table).items() if option == "clusters"]

    def columns(self, table: TableFile) -> list[str]:
        """The columns of a file that say it."""
        return [name for name in self.found(table).values() if name is not True]


@dataclass(frozen=True)
class Work:
    """How the work is done."""

    seed: Annotated[
        int, of_method("--seed", metavar="N", min=0, help="Which rows --sample draws; estimates do not depend on it.")
    ] = 0
    jobs: Annotated[
        int | None,
        of_method(
            "--jobs",
            metavar="N",
            help="Threads, or workers of --backend; results do not depend on it. By default all cores, if the data are "
            "large.",
            show_default=False,
        ),
    ] = None

    def n_jobs(self, frame: Frame) -> int | None:
        """The number of threads; by default one on few rows, where more cost more than they gain."""
        if self.jobs == 0:
            raise typer.BadParameter("must be an integer other than 0", param_hint="--jobs")
        return (os.cpu_count() if frame.n_samples >= ROWS_WORTH_THREADS else 1) if self.jobs is None else self.jobs

    def settings(self, frame: Frame, depends: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings of every question about a file, with those that say how rows depend on each other."""
        apart = {name for name in (depends or {}).values() if name is not True}
        return {
            "random_state": self.seed,
            "n_jobs": self.n_jobs(frame),
            "nan_policy": "omit",
            "kinds": {name: kind for name, kind in frame.kinds.items() if name not in apart},
            **(depends or {}),
        }


class Format(Enum):
    """Who reads the answer."""

    people = auto()
    json = auto()
    csv = auto()


@dataclass(frozen=True)
class Printed:
    """In which form the answer is printed."""

    as_json: Json = False
    as_csv: Annotated[bool, of_output("--csv", metavar=FLAG, help="Print CSV and nothing else.")] = False

    @property
    def form(self) -> Format:
        """One of them, or neither."""
        if self.as_json and self.as_csv:
            raise typer.BadParameter("pass only one of them", param_hint="--json, --csv")
        return Format.json if self.as_json else Format.csv if self.as_csv else Format.people


def example(*lines: str) -> str:
    """Write the examples that close a command's page of help."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]" for line in lines)])

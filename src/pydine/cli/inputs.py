"""From a file and options to the columns that a command works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from pydine.cli.options import Chosen, Depending, Missing, Reading, Series, Sides, Work
from pydine.cli.output.notes import note, waiting

if TYPE_CHECKING:
    from pydine.inputs.files import Frame, TableFile

# As in `pydine.inputs.kinds`, whose import the help would wait for; the last two are said by once around.
KINDS = ("continuous", "ordinal", "nominal", "angle", "cycle")
MOST_COLUMNS = 1000  # that are compared with each other: half a million pairs


@dataclass(frozen=True)
class Request:
    """What a command was asked to read."""

    file: str
    options: Reading
    seed: int = 0

    def open(self, *, streamed: bool = False) -> TableFile:
        """Open the file; if it may be `streamed`, a folder or a file of very many rows is not read into memory."""
        separator = self.options.separator
        if separator is not None and len(separator.encode()) != 1 and separator != "\\t":
            raise typer.BadParameter("must be one character, such as ';' or '\\t'", param_hint="--separator")
        from pydine.inputs.files import open_file

        if streamed:
            from pydine.inputs.files.streamed import open_stream

            with waiting(f"Reading {self.file}"):
                is_sampled = self.options.sample is not None
                table = open_stream(self.file, is_sampled=is_sampled, max_bytes=self.options.max_bytes)
            if table is not None:
                return table
        separator = "\t" if separator == "\\t" else separator
        with waiting(f"Reading {self.file}"):
            return open_file(
                self.file, header=self.options.header, separator=separator, max_bytes=self.options.max_bytes
            )

    def read(
        self, table: TableFile, needed: Sequence[str], others: Sequence[str] = (), named: Sequence[str] = ()
    ) -> Frame:
        """Read columns, those of the second list if they hold numbers that vary, or labels that repeat.

        Those `named` hold names, whatever they look like.
        """
        asked = kinds_of(self.options.kind)
        said = {column: kind for name, kind in asked.items() for column in table.find("--kind", [name])}
        labels = [*(name for name, kind in said.items() if kind == "nominal"), *named]
        with waiting(f"Reading {table.source}"):
            frame = table.read(needed, others, sample=self.options.sample, seed=self.seed, labels=labels)
        for name, levels in frame.levels.items():
            if said.get(name, "nominal") != "nominal" and len(levels) > 2:
                raise ValueError(
                    f"{table.source}: column {name!r} holds text, which has no order or size, so it cannot be "
                    f"{said[name]}; leave out --kind {name}={said[name]}."
                )
        frame = replace(frame, said=said)
        empty = frame.without_values()
        for name in (name for name in empty if name in needed):
            raise ValueError(f"{table.source}: column {name!r} has no values; name another column.")
        frame = frame.without(dict.fromkeys(empty, "it has no values"))
        if self.options.nan is Missing.fail:
            frame.refuse_missing()
        constant = frame.constant()
        if frame.n_samples > 1:
            _refuse_constant(frame, [name for name in constant if name in needed])
        idle = dict.fromkeys((name for name in constant if name not in needed), "it is constant")
        return _without_identifiers(frame.without(idle), needed)

    def read_sides(
        self, sides: Sides, depending: Depending, *, streamed: bool = False
    ) -> tuple[list[list[str] | None], dict[str, Any], Frame]:
        """Open the file and read the columns of x, y and z; with the names of each side, None if there are none.

        Also returns how rows depend on each other, as arguments of a question.
        """
        return self.read_blocks({"-x": sides.x, "-y": sides.y, "-z": sides.z}, depending, streamed=streamed)

    def read_blocks(
        self, chosen: Mapping[str, Sequence[str] | None], depending: Depending, *, streamed: bool = False
    ) -> tuple[list[list[str] | None], dict[str, Any], Frame]:
        """The same for the columns of any options."""
        table = self.open(streamed=streamed and depending == Depending())
        names = [table.find(option, columns or ()) for option, columns in chosen.items()]
        asked = [name for block in names for name in block]
        every = list(dict.fromkeys([*asked, *depending.columns(table)]))
        frame = self.read(table, every, named=depending.labels(table))
        if depending.weights is None:
            _hint_at_frequencies(table, every)
            _refuse_identifiers(frame, asked)
        if not hasattr(frame, "as_stream"):
            whole = frame.complete()
            _refuse_constant(whole, whole.constant() if whole.n_samples > 1 else (), " that has all columns")
        return [block or None for block in names], depending.found(table), frame

    def read_series(
        self, series: Series, depending: Depending, work: Work
    ) -> tuple[Frame, tuple[str, str, list[str] | None], dict[str, Any]]:
        """Open the file and read two series; with their names, those that are given, and settings of the question."""
        if depending.weights is not None:
            raise typer.BadParameter("is not available for series; leave it out", param_hint="--weights")
        table = self.open()
        (x,), (y,) = table.find("-x", [series.x]), table.find("-y", [series.y])
        given, depends = table.find("-z", series.z or ()), {"time": True, **depending.found(table)}
        every = list(dict.fromkeys([x, y, *given, *depending.columns(table)]))
        frame = self.read(table, every, named=depending.labels(table))
        _refuse_identifiers(frame, [x, y, *given])
        settings = work.settings(frame, depends)
        return frame, (x, y, given or None), {k: v for k, v in settings.items() if k not in ("random_state", "kinds")}

    def read_many(
        self,
        table: TableFile,
        columns: Chosen,
        needed: Sequence[str] = (),
        *,
        named: Sequence[str] = (),
        most: int | None = MOST_COLUMNS,
        hint: str = "ask pydine.wide_information in Python",
    ) -> Frame:
        """Read the columns to compare with each other: those named, or every one that holds numbers; not too many."""
        dropped = table.find("--without", columns.without or ())
        chosen = table.find("--column", columns.column or ())
        some = chosen or [name for name in table.names if name]
        others = [name for name in some if name not in dropped and name not in needed]
        if most is not None and len(others) > most:
            raise ValueError(
                f"{table.source} has {len(others):,} columns to compare, but {most:,} is the most; "
                f"name some with --column, or {hint}."
            )
        frame = self.read(table, [*needed, *(others if chosen else ())], () if chosen else others, named)
        _refuse_identifiers(frame, [name for name in needed if name not in named])
        nameless = [f"column {i + 1}" for i, name in enumerate(table.names) if not name and not chosen]
        return _without_identifiers(frame.without(dict.fromkeys(nameless, "it has no name")), needed)


def _hint_at_frequencies(table: TableFile, asked: Sequence[str]) -> None:
    """Say it if a column that is not asked about is called as frequencies are."""
    from pydine.inputs.hints import FREQUENCIES, last_word

    for name in table.names:
        if name not in asked and last_word(name) in FREQUENCIES:
            note(f"{name}: if each row stands for that many observations, pass --weights {name}.")


def _without_identifiers(frame: Frame, needed: Sequence[str]) -> Frame:
    """Leave out identifiers: columns of labels of which hardly any repeats."""
    found = _identifiers(frame, [name for name in frame if name not in needed])
    return frame.without({name: f"it {why}" for name, why in found.items()})


def _refuse_identifiers(frame: Frame, needed: Iterable[str]) -> None:
    """Refuse identifiers among the columns of a question."""
    for name, why in _identifiers(frame, needed).items():
        mend = "name another column" if name in frame.levels else f"leave out --kind {name}=nominal"
        raise ValueError(f"{frame.source}: column {name!r} {why}; {mend}.")


def _identifiers(frame: Frame, names: Iterable[str]) -> dict[str, str]:
    """The identifiers among the columns named, with the number of their labels."""
    import numpy as np

    from pydine.inputs.kinds import identifier, is_identifier

    labels = [name for name in names if frame.kinds.get(name) == "nominal"]
    there = {name: frame[name][np.isfinite(frame[name])] for name in labels}
    return {name: identifier(values) for name, values in there.items() if is_identifier(values)}


def _refuse_constant(frame: Frame, names: Iterable[str], which: str = "") -> None:
    """Refuse constant columns in a question, by what they hold in every row, or every row `which` is as it says."""
    import numpy as np

    for name in names:
        value = np.nanmax(np.where(np.isfinite(frame[name]), frame[name], np.nan))
        shown = repr(frame.levels[name][int(value)]) if name in frame.levels else f"{value:.6g}"
        raise ValueError(
            f"{frame.source}: column {name!r} must vary, but is constant ({shown} in every row{which}); name another "
            "column."
        )


def kinds_of(options: Sequence[str] | None) -> dict[str, str]:
    """Read the options --kind COLUMN=KIND; the column may have an equals sign in its name, the kind has none."""
    from pydine.inputs.kinds import ANGLES, SAID, period_of

    kinds = {}
    for option in options or ():
        name, equals, kind = option.rpartition("=")
        if not (equals and name):
            raise typer.BadParameter(f"must be COLUMN=KIND, such as code=nominal, not {option!r}", param_hint="--kind")
        kinds[name] = kind.strip()
        if period_of(kinds[name]) is None and kinds[name] not in SAID:
            choices = f"{', '.join(SAID)}, or be {ANGLES}"
            raise typer.BadParameter(f"must name one of {choices}, not {kinds[name]!r}", param_hint=f"--kind {name}=")
    return kinds

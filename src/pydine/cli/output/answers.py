"""What a command prints on the standard output: for people, as JSON or as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydine.cli.options import Format
from pydine.cli.output.notes import note
from pydine.show.terminal import Fitting, Harmless, width_of
from pydine.show.text import escaped, replaced

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from pydine.inputs.files import Frame
    from pydine.results import InformationEstimate

SHOWN_NOTES = 8
FORMULA = ("=", "+", "-", "@", "\t", "\n")  # how cells begin that spreadsheets compute


def console() -> Console:
    """The standard output, for people."""
    from rich.console import Console

    _end_with_the_pipe()
    # Names of columns may have brackets and colons.
    return Console(highlight=False, markup=False, emoji=False, width=width_of(sys.stdout))


def answer(
    form: Format,
    record: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    shown: Callable[[], RenderableType],
    header: Sequence[str] = (),
    frame: Frame | None = None,
) -> None:
    """Print an answer in the requested format, after what was done to the data.

    Parameters
    ----------
    form : Format
    record : mapping
        The JSON object.
    rows : sequence of mapping
        The lines of the CSV, with the same keys each.
    shown : callable
        Makes what people read.
    header : sequence of str
        The first line of the CSV where there may be no rows to tell it.
    frame : Frame, optional
        The data. What was converted, left out and missing is reported first: for people on the standard output, for
        machines on the standard error (and in the JSON object, see `facts`).
    """
    _end_with_the_pipe()
    done = [] if frame is None else done_to(frame)
    if form is not Format.people:
        _in_utf8(sys.stdout)
        for line in done:
            note(line)
    if form is Format.json:
        text = json.dumps(plain(record), ensure_ascii=False, indent=2, allow_nan=False)
        sys.stdout.write(replaced(text, lambda character: f"\\u{ord(character):04x}", keep="\n") + "\n")
    elif form is Format.csv:
        write_csv(sys.stdout, rows, header)
    else:
        from rich.console import Group
        from rich.text import Text

        before = [Text(line, style="dim") for line in done]
        whole = Group(*before, *([Text()] if before else []), shown())
        console().print(Harmless(whole), crop=False)  # what is written in another way is longer
    sys.stdout.flush()


def _in_utf8(stream: Any) -> None:
    """What programs read is UTF-8, whatever a terminal would show."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")


def write_csv(stream: Any, rows: Sequence[Mapping[str, Any]], header: Sequence[str] = ()) -> None:
    """Write rows with a header; unknown values are empty, control characters escaped, and formulas no formulas."""
    writer = csv.writer(stream, lineterminator="\n")
    for row in (header or rows[0], *(row.values() for row in rows)):
        cells = ("" if (value := plain(item)) is None else value for item in row)
        writer.writerow(_unformulated(escaped(cell, keep="\n\t")) if isinstance(cell, str) else cell for cell in cells)


def _unformulated(cell: str) -> str:
    """A name that a spreadsheet would compute, behind an apostrophe, which makes it text; numbers stay as they are."""
    if not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def lines_of(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows."""
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


def plain(value: Any) -> Any:
    """Turn arrays, NumPy's numbers and tuples into what JSON knows: NaN is null, and infinity a word."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def facts(frame: Frame) -> dict[str, Any]:
    """What every JSON object says of the data."""
    return {
        "file": frame.source,
        "n_rows": frame.n_rows,
        "n_samples": frame.n_samples,
        "n_dropped": 0,
        "missing": frame.missing,
        "left_out": dict(frame.left_out),
        "conversions": dict(frame.conversions),
        "notes": list(frame.notes),
    }


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as one line of a table: names in one cell, with spaces between, and nothing nested."""
    line = {key: _in_one_cell(value) if isinstance(value, tuple) else value for key, value in record.items()}
    return {key: value for key, value in line.items() if not isinstance(value, Mapping)}


def _in_one_cell(words: tuple[Any, ...]) -> str:
    inner = (_in_one_cell(word) if isinstance(word, tuple) else word for word in words)
    return " ".join(word for word in inner if word)


def plain_table(*headings: str, left: int = 1) -> Table:
    """Make a table without frills: the first columns to the left, numbers to the right; `Fitting` shows it."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i < left else "right", overflow="fold", no_wrap=i >= left)
    return table


def page(title: str, table: Table, *lines: str, how: str) -> RenderableType:
    """Put a title over a table, and below it what it says and how it was found."""
    from rich.console import Group
    from rich.text import Text

    said = [Text(line) for line in lines if line]
    return Group(Text(title, style="bold cyan"), Fitting(table), *said, Text(how, style="dim"))


def value(estimate: InformationEstimate) -> str:
    """Write an estimate in nats with its standard error, if that is known."""
    return f"{estimate.value:z.3f} {error_of(estimate.standard_error)}".rstrip()


def error_of(size: float) -> str:
    """Write a standard error after its sign, or nothing where it is not known."""
    return "" if math.isnan(size) else f"± {size:.3f}"


def pvalue(p: float) -> str:
    """Write a p-value as people read it."""
    return "<0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.01 else f"{p:.3f}"


def done_to(frame: Frame) -> list[str]:
    """What is to be known of the data before the answer: what was converted, what was left out, what is missing."""
    lines = [f"Read: {sentence}." for sentence in frame.notes]
    if frame.n_samples < frame.n_rows:
        lines.append(f"A first look: {frame.n_samples:,} of {frame.n_rows:,} rows, drawn at random.")
    alike: dict[str, list[str]] = {}
    for name, how in frame.conversions.items():
        alike.setdefault(how, []).append(name)
    lines += [f"Read: {some(names)}: {how}." for how, names in alike.items()]
    if frame.left_out:
        lines.append(f"Left out: {_count(len(frame.left_out), 'column')}: {_reasons(frame)}.")
    if missing := frame.missing:
        most = sorted(missing, key=lambda name: -missing[name])
        listed = [f"{name} {_share(missing[name] / frame.n_samples)}" for name in most[:SHOWN_NOTES]]
        more = [f"{len(most) - SHOWN_NOTES} more"] if len(most) > SHOWN_NOTES else []
        lines.append(f"Missing values: {', '.join(listed + more)}; each figure uses the rows that have what it needs.")
    return lines


def why_few(frame: Frame) -> str:
    """Why there are not enough columns, or else what to do."""
    return f"left out: {_reasons(frame)}" if frame.left_out else "name more with --column, or leave that option out"


def _reasons(frame: Frame) -> str:
    return ", ".join(f"{name!r} ({reason})" for name, reason in frame.left_out.items())


def _share(part: float) -> str:
    return "<1%" if part < 0.01 else f"{part:.0%}"


def some(names: Sequence[str], most: int = SHOWN_NOTES) -> str:
    """Write names with commas, those beyond a few as a count."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("s" if number != 1 else "")


def _end_with_the_pipe() -> None:
    """From now on, end silently when the reader of the output goes away, as other tools do.

    Not before the answer: while something is computed, a broken pipe may be that of a worker.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

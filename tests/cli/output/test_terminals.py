"""Answers are whole on any terminal: narrow or wide, of another encoding, without colours, or none at all."""

import io
import re
import subprocess
import sys

import pytest

from command_line import make_frame
from pydine.cli import app
from pydine.cli.output.answers import console, page, plain_table
from pydine.show.terminal import NARROWEST, Harmless

NAMES = ("cause", "a_rather_long_name_of_a_column_that_somebody_chose", "Größe [m²] → ±", "名前" * 9)
NUMBERS = ("-12.345 ± 0.067", "<0.0001", "123,456")
TOKENS = {token for number in NUMBERS for token in number.split()}


def shown(monkeypatch, width, encoding="utf-8"):
    """The lines of a table with its sentences, as they reach the terminal."""
    table = plain_table("column", "alone", "p", "n")
    for name in NAMES:
        table.add_row(name, *NUMBERS)
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", str(width))
    console().print(
        Harmless(page("Information", table, "One of two columns tells.", how="150 rows; ± is an error")), crop=False
    )
    stream.flush()
    return stream.buffer.getvalue().decode(encoding).splitlines()


@pytest.mark.parametrize("width", [0, 1, *range(20, 201, 9), 200])
def test_names_and_numbers_are_whole_at_any_width(monkeypatch, width):
    lines = shown(monkeypatch, width)
    assert max(map(len, lines)) <= (80 if width == 0 else max(width, NARROWEST))
    assert "…" not in "".join(lines)
    assert sum(line.split().count("-12.345") for line in lines) == len(NAMES)
    assert all(sum(line.split().count(token) for line in lines) >= len(NAMES) for token in TOKENS)
    rest = re.sub(
        r"\s", "", "".join(re.sub(r"-12\.345.*", "", line) for line in lines)
    )  # folded in a table, or wrapped
    assert all(re.sub(r"\s", "", name) in rest for name in NAMES)


@pytest.mark.parametrize("width", [20, 80])
def test_what_ascii_lacks_is_written_in_another_way(monkeypatch, width):
    said = "".join("".join(shown(monkeypatch, width, "ascii")).split())
    assert "-12.345~0.067" in said
    assert r"Gr\xf6\xdfe[m\xb2]>~" in said
    assert "\\u2500" not in said  # lines of tables have signs of their own


@pytest.mark.parametrize("form", ["--csv", "--json", "--people"])
def test_commands_in_ascii_end_as_elsewhere(form, run, folder, monkeypatch):
    make_frame().rename({"cause": "größe", "outcome": "出力"}).write_csv(folder / "größe.csv")
    question = ["mi", "größe.csv", "-x", "größe", "-y", "出力", *([] if form == "--people" else [form])]
    plain = run(*question)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    for name, stream in (("argv", ["pydine", *question]), ("stdout", out), ("stderr", err)):
        monkeypatch.setattr(sys, name, stream)
    with pytest.raises(SystemExit) as end:
        app.main()
    assert (plain.returncode, end.value.code or 0) == (0, 0)
    out.flush()
    if form == "--people":
        assert r"I(gr\xf6\xdfe; \u51fa\u529b)" in out.buffer.getvalue().decode("ascii")
    else:  # for programs: UTF-8, whatever a terminal would show
        assert out.buffer.getvalue().decode() == plain.stdout


@pytest.mark.parametrize(
    ("settings", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"TERM": "unknown"}, False)],
)
def test_colours_are_for_terminals_that_want_them(settings, is_coloured, monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "80", **settings}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    console().print(Harmless(page("Information", plain_table("column"), how="150 rows")))
    assert bool(re.search(r"\x1b\[[\d;]*3\d", sys.stdout.getvalue())) is is_coloured


@pytest.mark.parametrize(
    ("closed", "question", "sentence"),
    [
        (">&-", "mi data.csv -x cause -y outcome", "the standard output: it is closed"),
        (">&-", "mi data.csv -x cause -y outcome --csv", "the standard output: it is closed"),
        ("<&-", "mi - -x cause -y outcome", "is empty"),
        ("2>&-", "mi nothing.csv -x cause -y outcome", ""),
    ],
)
def test_streams_that_a_shell_has_closed(closed, question, sentence, folder):
    command = f"{sys.executable} -m pydine {question} {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "bug in pydine" not in done.stderr


def test_a_loop_of_links(run, folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    done = run("mi", "loop.csv", "-x", "cause", "-y", "outcome")
    assert done.returncode == 1
    assert "bug in pydine" not in done.stderr
    assert "loop.csv" in done.stderr

"""Every block of code in the documents runs, one after another, as a reader would, and prints what the document shows.

What is shown is an unlabelled block right after the code, or, for commands, what follows them in a block of `console`.
"""

import contextlib
import io
import itertools
import re
import shlex
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import pytest

from pydine.cli import app
from systems import kept_handlers

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
GUIDES = (
    *("start", "numbers", "kinds", "intervals", "gallery", "why", "how-it-works", "bases", "shapes", "pointwise"),
    *("independence-test", "all-pairs", "feature-selection", "causal-graphs", "scale", "cli", "comparing", "weights"),
)
DOCUMENTS = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]

BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# The last digits differ between machines: the arithmetic is vectorised as each of them can.
CLOSE = {"rel": 0.05, "abs": 0.02}
WITH_ERROR = re.compile(rf"({NUMBER.pattern})\s*±\s*({NUMBER.pattern})")
SHARE_OF_ERROR = 0.05  # of the standard error beside a number: how far it may be away


class Block(NamedTuple):
    """Code of a document, the line that it begins in, and what the document says that it prints."""

    language: str
    code: str
    line: int
    shown: str | None


def blocks_of(document):
    text = document.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    for match, after in itertools.zip_longest(found, found[1:]):
        language, code = match.groups()
        follows = after is not None and not after[1] and not text[match.end() : after.start()].strip()
        line = text.count("\n", 0, match.start(2))
        if language == "python":
            yield Block(language, code, line, after[2] if follows else None)
        elif language == "console":
            for session in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
                command, _, shown = session.partition("\n")
                yield Block(language, command, line, shown)


def run_python(block, document, names):
    source = "\n" * block.line + block.code  # a traceback names the document's own lines
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("default")  # a reader's session warns; it does not stop
        exec(compile(source, document.name, "exec"), names)
    return printed.getvalue()


def run_command(block, monkeypatch):
    monkeypatch.setattr(sys, "argv", shlex.split(block.code))
    with kept_handlers(), contextlib.redirect_stdout(io.StringIO()) as printed, pytest.raises(SystemExit) as end:
        app.main()
    assert not end.value.code
    return printed.getvalue()


def tolerances(shown):
    """How far the numbers of a text that have a standard error beside them may be away, by where they begin."""
    return {
        match.start(1): max(SHARE_OF_ERROR * float(match[2]), 0.5 * last_digit(match[1]))
        for match in WITH_ERROR.finditer(shown)
    }


def last_digit(number):
    """One unit of the last digit of a number as it is written: 0.01 of "1.50", 100 of "1.5e3"."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def assert_prints(printed, shown):
    """The same words, the same integers, and other numbers that are close; blanks do not count.

    What is close, the standard error says where there is one.
    """
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    by_error = tolerances(shown)
    for got, match in zip(NUMBER.findall(printed), NUMBER.finditer(shown), strict=True):
        expected = match[0]
        if match.start() in by_error:
            rounding = 1e-9 * last_digit(expected)
            assert abs(float(got) - float(expected)) <= by_error[match.start()] + rounding, shown
        elif expected.lstrip("+-").isdigit():
            assert got == expected, shown
        else:
            assert float(got) == pytest.approx(float(expected), **CLOSE), shown


WITH_CODE = [document for document in DOCUMENTS if document.exists() and any(blocks_of(document))]


@pytest.mark.skipif(not (CHECKOUT / "docs").exists(), reason="a distribution has no documents")
@pytest.mark.parametrize("guide", GUIDES)
def test_every_guide_has_a_picture(guide):
    shown = re.findall(r"!\[[^\]]+\]\((images/[^)]+)\)", (DOCS / f"{guide}.md").read_text(encoding="utf-8"))
    assert shown
    assert all((DOCS / path).stat().st_size < 250_000 for path in shown)


def test_there_are_documents_with_code():
    assert {"README.md", "bases.md", "all-pairs.md", "start.md", "cli.md"} <= {path.name for path in WITH_CODE}


@pytest.mark.slow
@pytest.mark.parametrize("document", WITH_CODE, ids=lambda document: document.name)
def test_the_code_runs_and_prints_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(CHECKOUT / "docs")  # as in a clone
    monkeypatch.setenv("COLUMNS", "80")
    names = {"__name__": "document"}
    for block in blocks_of(document):
        is_python = block.language == "python"
        printed = run_python(block, document, names) if is_python else run_command(block, monkeypatch)
        if block.shown is not None:
            assert_prints(printed, block.shown)
    plt.close("all")


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a is 0.51 nats\n", "a  is 0.50 nats"),
        ("n = 442, p = 1e-31", "n = 442, p = 2.8e-30"),
        ("0.154 ± 0.021 nats", "0.153  ± 0.021 nats"),
        ("1.54 ± 0.21 and 0.20 ± 0.01", "1.53 ± 0.21 and 0.20 ± 0.01"),
        ("12 ± 21", "11 ± 21"),
        ("-0.0001 ± 0.0021", "0.0000 ± 0.0021"),
    ],
)
def test_what_counts_as_the_same(printed, shown):
    assert_prints(printed, shown)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a is 0.60 nats", "a is 0.50 nats"),
        ("n = 441", "n = 442"),
        ("b is 0.50 nats", "a is 0.50 nats"),
        ("", "0.50"),
        ("0.155 ± 0.021 nats", "0.153 ± 0.021 nats"),
        ("0.16 ± 0.02 nats", "0.15 ± 0.02 nats"),
        ("0.15 ± 0.06 nats", "0.15 ± 0.02 nats"),
        ("13 ± 21", "11 ± 21"),
        ("0.50 and 0.211 ± 0.010", "0.50 and 0.200 ± 0.010"),
        ("n = 12, 0.20 ± 9.0", "n = 11, 0.20 ± 9.0"),
    ],
)
def test_what_does_not(printed, shown):
    with pytest.raises(AssertionError):
        assert_prints(printed, shown)

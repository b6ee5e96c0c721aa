"""The page of numbers that were chosen: every constant says what it is, and the page is that of the sources."""

import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = CHECKOUT / "scripts"

pytestmark = pytest.mark.skipif(not (SCRIPTS / "choices.py").exists(), reason="a wheel has no scripts")


@pytest.fixture(scope="module")
def choices():
    sys.path.append(str(SCRIPTS))
    try:
        import choices
    finally:
        sys.path.remove(str(SCRIPTS))
    return choices


@pytest.fixture(scope="module")
def found(choices):
    return choices.choices()


def test_every_number_says_what_it_is_and_why(found):
    assert len(found) > 50
    silent = [f"{c.file}: {c.names}" for c in found if not c.kind or (c.kind != "fact" and not c.reason)]
    assert silent == [], "begin the comment with answer:, convention:, precision:, guard:, memory: or fact:"


def test_the_page_is_that_of_the_sources(choices, found):
    assert choices.PAGE.read_text(encoding="utf-8") == choices.page(found), "run scripts/choices.py"


SOURCE = """
import numpy as np

# answer: both sides of it are tried,
# one after the other.
LOW, HIGH = 0.5, (1.0, -2)
ROWS = 1 << 4  # memory: a few
ROOT = 2.0**0.5  # fact
BARE = 3
NAMES = ("a", "b")
LIST = [1, 2]
ON = True
COPY = ROWS
lower = 1.0


class PaperSettings:
    steps: int = 3  # answer: enough
    name: str = "x"


class Settings:
    steps: int = PaperSettings.steps
    seed: int = 0


def f():
    INSIDE = 1
"""


def test_what_counts_as_a_number(choices):
    found = list(choices.of_file("units/a.py", SOURCE))
    assert [c[1:] for c in found] == [
        ("LOW, HIGH", "0.5, (1.0, -2)", "answer", "both sides of it are tried, one after the other."),
        ("ROWS", "1 << 4", "memory", "a few"),
        ("ROOT", "2.0**0.5", "fact", ""),
        ("BARE", "3", "", ""),
        ("steps", "3", "answer", "enough"),
    ]


def test_kinds_are_apart_on_the_page(choices):
    page = choices.page(list(choices.of_file("units/a.py", SOURCE)))
    answers, _, rest = page.partition("## What keeps arithmetic in range")
    assert "`LOW, HIGH`" in answers
    assert "`ROWS`" in rest
    assert "ROOT" not in page

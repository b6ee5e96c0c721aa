"""Text from files cannot command a terminal."""

import pytest

from pydine.show.text import escaped, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age (years) é 年 😀", "age (years) é 年 😀"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\nc\td\x7f\x00", r"a\rb\nc\td\x7f\x00"),
        ("left\u202eright", r"left\u202eright"),
        ("name\udcff", r"name\udcff"),
        ("two\u2028lines", r"two\u2028lines"),
    ],
)
def test_escapes_are_written_out(text, shown):
    assert escaped(text) == shown


def test_what_is_kept():
    assert escaped("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_for_readers():
    assert printable("a\x1bb") == "a\N{REPLACEMENT CHARACTER}b"
    assert printable(" ") == "\N{OPEN BOX}"

"""Text that comes from files and names, made harmless for terminals, pages and other programs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

__all__ = ["encodable", "escaped", "printable", "replaced"]

# What would reverse or hide text beside it, apart from what no file of text can hold.
DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")
INVISIBLE = frozenset(("Cc", "Cs", "Zl", "Zp"))
ASCII = str.maketrans("±…–—→↔−×≥≤’“”", '~.--><-x><\'""')  # as wide each, so that tables stay in line
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def replaced(text: str, write: Callable[[str], str], keep: str = "") -> str:
    """Write control characters (terminals obey them), lone surrogates and marks of direction in another way.

    Parameters
    ----------
    text : str
        Anything.
    write : callable
        From such a character to what stands for it.
    keep : str, default=""
        Characters that stay, though they are of that kind.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        write(character)
        if character not in keep and (character in DIRECTIONS or unicodedata.category(character) in INVISIBLE)
        else character
        for character in text
    )


def escaped(text: str, keep: str = "") -> str:
    r"""Write such characters as Python does, ``\x1b`` say, so that names that differ still do."""
    return replaced(text, lambda character: character.encode("unicode_escape").decode("ascii"), keep)


def printable(text: str) -> str:
    """Replace such characters for readers; a blank name becomes visible."""
    cleaned = replaced(text, lambda _: REPLACEMENT)
    return cleaned if cleaned.strip() else "\N{OPEN BOX}"


def encodable(text: str, encoding: str) -> str:
    """Write what an encoding lacks in another way: marks of ours by the nearest sign, anything else escaped."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text

"""Text made safe for HTML, and numbers as people read them.

Whatever comes from a file (names, values, paths) passes through `shown` or `name` on its way to the page.
"""

from __future__ import annotations

import html
import json
import math
from typing import Any

from pydine.show.text import printable

LONGEST_NAME = 48


def shown(text: str) -> str:
    """Text as HTML."""
    return html.escape(printable(text), quote=True)


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """A printable name, cut in the middle if it is long: beginnings and ends are what differs."""
    text = printable(text)
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def name(text: str, longest: int = LONGEST_NAME) -> str:
    """The name of a column as HTML; a long one is cut, and whole in its title."""
    short = shortened(text, longest)
    title = f' title="{shown(text)}"' if short != printable(text) else ""
    return f'<bdi class="name"{title}>{html.escape(short, quote=True)}</bdi>'


def json_for_script(data: Any) -> str:
    """JSON that can stand inside a script element, whatever strings it holds: only ASCII, without <, > and &."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def nats(value: float) -> str:
    """An information with three decimals."""
    return "∞" if math.isinf(value) else f"{value:z.3f}".replace("-", "\N{MINUS SIGN}")


def signed(value: float) -> str:
    """A difference, with its sign."""
    return f"{value:+z.3f}".replace("-", "\N{MINUS SIGN}")


def pvalue(p: float) -> str:
    """A p-value; never zero."""
    if math.isnan(p):
        return "–"
    return "&lt;&#8239;0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.01 else f"{p:.3f}"


def quantity(value: float) -> str:
    """A value of a column, with four digits, or all of those before the point if they are not many."""
    many = 1e4 <= abs(value) < 1e9
    return (f"{value:,.0f}" if many else f"{value:.4g}").replace("-", "\N{MINUS SIGN}")


def percent(part: float) -> str:
    """A part of a whole in percent; a part that is not empty is never shown as 0."""
    text = f"{part:.0%}"
    return "&lt;1%" if part > 0.0 and text == "0%" else text

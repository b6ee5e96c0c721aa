"""Results in a notebook: small pieces of HTML, which names from files cannot leave."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from pydine.show.text import printable

__all__ = ["card", "figure", "pvalue_text", "strip", "strip_end", "table"]

CARD = "border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:.5em .9em;display:inline-block;max-width:46em"
MUTED = "color:rgba(128,128,128,1);font-size:.9em"
CELL = "padding:.15em .8em .15em 0;white-space:nowrap"
COLOURS = {"alone": "#9dc3da", "rest": "#0b5c8c"}


def card(title: str, figure: str, lines: Sequence[str]) -> str:
    """A title, what was found, and lines below it; all are text."""
    below = "".join(f'<div style="{MUTED}">{_safe(line)}</div>' for line in lines if line)
    return (
        f'<div style="{CARD}"><div style="{MUTED}">{_safe(title)}</div>'
        f'<div style="font-size:1.25em;font-weight:600">{_safe(figure)}</div>{below}</div>'
    )


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "", strips: int = -1) -> str:
    """A table with a title and a note; cells are text, but those of the column `strips`, which are drawings."""

    def line(cells: Sequence[str], tag: str) -> str:
        written = (
            f'<{tag} style="{CELL};text-align:{"left" if i == 0 or i == strips else "right"}">'
            f"{cell if i == strips and tag == 'td' else _safe(cell)}</{tag}>"
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(written)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f'<div><div style="font-weight:600">{_safe(title)}</div><table style="font-variant-numeric:tabular-nums">'
        f"<thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"
        f'<div style="{MUTED}">{_safe(note)}</div></div>'
    )


def strip(intervals: Sequence[tuple[str, float, float, float]], limit: float) -> str:
    """Intervals from 0 to a limit as bars with a dot: each by its kind, value and ends."""
    parts = []
    for k, (kind, value, low, high) in enumerate(intervals):
        if not all(map(math.isfinite, (value, low, high))):
            continue
        left, right, at = (100.0 * min(max(v, 0.0) / limit, 1.0) for v in (low, high, value))
        top, colour = 3 + 9 * k, COLOURS[kind]
        parts.append(
            f'<i style="position:absolute;top:{top}px;height:3px;left:{left:.1f}%;width:{right - left:.1f}%;'
            f'background:{colour}"></i><b style="position:absolute;top:{top - 3}px;width:9px;height:9px;'
            f'margin-left:-4px;border-radius:50%;left:{at:.1f}%;background:{colour}"></b>'
        )
    return (
        '<span style="position:relative;display:inline-block;width:12em;height:20px;'
        f'border-left:1px solid gray">{"".join(parts)}</span>'
    )


def strip_end(figures: Sequence[tuple[float, float, float]]) -> float:
    """Where strips of a table end: at the highest end of a figure that is known.

    One whose error is larger than itself would press all others into a corner; its interval runs out of the strip.

    Parameters
    ----------
    figures : sequence of (float, float, float)
        Values, standard errors and upper ends.
    """
    finite = [(value, error, high) for value, error, high in figures if math.isfinite(high) and math.isfinite(value)]
    highest = max((value for value, error, _ in finite if error <= value), default=0.0)
    known = [high for value, error, high in finite if error <= value or high <= 2.0 * highest]
    return max(known, default=0.0) or max((high for _, _, high in finite), default=0.0) or 1.0


def figure(value: float, error: float, unit: str = "") -> str:
    """A value with its standard error, if that is known."""
    known = "" if math.isnan(error) else f" ± {error:.3f}"
    return f"{'∞' if math.isinf(value) else f'{value:z.3f}'}{known}{f' {unit}' if unit else ''}"


def pvalue_text(p: float) -> str:
    """A p-value as people read it; never zero."""
    return "–" if math.isnan(p) else "< 0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.01 else f"{p:.3f}"


def _safe(text: str) -> str:
    return html.escape(printable(text) if text else "")

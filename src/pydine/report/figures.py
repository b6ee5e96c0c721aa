"""Figures that need no script: the graph and the histograms as SVG, intervals as marks on a strip."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pydine.report.content import Answer
from pydine.report.markup import nats, pvalue, shortened, shown
from pydine.results import PairwiseInformation

LONGEST_LABEL, LONGEST_MIDDLE = 15, 32  # beside the circle; above and below it, where there is room on both sides
MOST_UPRIGHT = 16  # names around a circle that do not meet
ROOM_ALONG = 125.0  # for names that are written outwards


def graph(
    matrix: PairwiseInformation, order: Sequence[int], positions: Sequence[int], target: str, alpha: float
) -> str:
    """Draw the pairs that depend on each other as curves between names on a circle.

    Parameters
    ----------
    matrix : PairwiseInformation
        Given the rest.
    order : sequence of int
        Its variables around the circle.
    positions : sequence of int
        Position of each variable among all columns of the report, by which the page's script refers to it.
    target : str
        The variable to highlight.
    alpha : float
        Pairs are drawn if their adjusted p-value is at most this.
    """
    radius = 150.0
    step = 2.0 * math.pi * radius / len(order)
    is_crowded = len(order) > MOST_UPRIGHT
    across, down = (ROOM_ALONG, ROOM_ALONG) if is_crowded else (160.0, 34.0)
    angles = {v: 2.0 * math.pi * k / len(order) - 0.5 * math.pi for k, v in enumerate(order)}
    place = {v: (radius * math.cos(a), radius * math.sin(a)) for v, a in angles.items()}
    parts = []
    for i, j in reversed(list(zip(*matrix.pairs, strict=True))):  # the strongest last, on top
        if matrix.adjusted_pvalues[i, j] <= alpha:
            parts.append(_edge(matrix, int(i), int(j), place, positions, target))
    for v, (x, y) in place.items():
        node = _node_along if is_crowded else _node
        parts.append(node(matrix.names[v], x, y, angles[v], matrix.names[v] == target))
    box = f"{-radius - across:.0f} {-radius - down:.0f} {2 * (radius + across):.0f} {2 * (radius + down):.0f}"
    label = "Pairs of columns that depend on each other given all the other columns"
    kind = f'"graph crowded" style="--step:{0.9 * step:.1f}px"' if is_crowded else '"graph"'
    return f'<svg class={kind} viewBox="{box}" role="group" aria-label="{label}">{"".join(parts)}</svg>'


def _edge(
    matrix: PairwiseInformation,
    i: int,
    j: int,
    place: dict[int, tuple[float, float]],
    positions: Sequence[int],
    target: str,
) -> str:
    (x1, y1), (x2, y2) = place[i], place[j]
    # Half-way to the centre: neighbours bend a little, and nothing runs through a name.
    middle = 0.5 * (x1 + x2) * 0.45, 0.5 * (y1 + y2) * 0.45
    value = float(matrix.values[i, j])
    width = 1.0 + 7.0 * correlation(value)
    names = f"{shown(shortened(matrix.names[i]))} — {shown(shortened(matrix.names[j]))}"
    label = f"{names}: {nats(value)} nats given the rest, adjusted p {pvalue(float(matrix.adjusted_pvalues[i, j]))}"
    stressed = " stressed" if target in (matrix.names[i], matrix.names[j]) else ""
    path = f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"
    return (
        f'<g class="edge{stressed}" tabindex="0" role="button" data-pair="{positions[i]},{positions[j]}" '
        f'data-given="rest" aria-label="{label}"><path d="{path}" class="hit"/>'
        f'<path d="{path}" class="line" stroke-width="{width:.1f}"/></g>'
    )


def _node(name: str, x: float, y: float, angle: float, is_target: bool) -> str:
    across, down = math.cos(angle), math.sin(angle)
    anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
    shift = 12.0 + 8.0 * abs(down)  # text is wider than high
    label = html.escape(shortened(name, LONGEST_MIDDLE if anchor == "middle" else LONGEST_LABEL))
    kind, size = ("node target", 7) if is_target else ("node", 5)
    return (
        f'<g class="{kind}"><circle cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
        f'<text x="{x + shift * across:.1f}" y="{y + shift * down + 4:.1f}" text-anchor="{anchor}">{label}'
        f"<title>{shown(name)}</title></text></g>"
    )


def _node_along(name: str, x: float, y: float, angle: float, is_target: bool) -> str:
    """A node whose name is written outwards, so that names do not meet however many there are."""
    label = html.escape(shortened(name, LONGEST_LABEL))
    kind, size = ("node target", 6) if is_target else ("node", 4)
    is_left = math.cos(angle) < -1e-9
    turn = math.degrees(angle) + (180.0 if is_left else 0.0)
    place = f'transform="translate({x:.1f} {y:.1f}) rotate({turn:.1f})" x="{-11 if is_left else 11}" dy=".35em"'
    return (
        f'<g class="{kind}"><circle cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
        f'<text {place} text-anchor="{"end" if is_left else "start"}">{label}<title>{shown(name)}</title></text></g>'
    )


def correlation(information: float) -> float:
    """The correlation of a Gaussian pair with this information, from 0 to 1."""
    return math.sqrt(-math.expm1(-2.0 * max(information, 0.0)))


def histogram(counts: NDArray[np.intp], label: str, *, small: bool = False) -> str:
    """Draw a histogram of probability integral transforms, with a band for uniform ones.

    The band holds each bar with probability 0.95.
    """
    from scipy.stats import binom

    n, bins = int(counts.sum()), len(counts)
    low, high = binom.ppf([0.025, 0.975], n, 1.0 / bins)
    width, height, base = (90, 30, 30) if small else (200, 104, 88)
    top = max(float(counts.max()), float(high)) * 1.08
    step = width / bins

    def y(count: float) -> float:
        return base * (1.0 - count / top)

    bars = "".join(
        f'<rect class="bar" x="{k * step + 0.5:.1f}" y="{y(c):.1f}" width="{step - 1:.1f}" height="{base - y(c):.1f}"/>'
        for k, c in enumerate(counts.tolist())
    )
    band = f'<rect class="band" x="0" y="{y(high):.1f}" width="{width}" height="{y(low) - y(high):.1f}"/>'
    expected = f'<line class="expected" x1="0" x2="{width}" y1="{y(n / bins):.1f}" y2="{y(n / bins):.1f}"/>'
    axis = f'<line class="axis" x1="0" x2="{width}" y1="{base}" y2="{base}"/>'
    ticks = (
        ""
        if small
        else "".join(
            f'<text x="{at * width:.0f}" y="{base + 13}" text-anchor="{anchor}">{text}</text>'
            for at, text, anchor in ((0.0, "0", "start"), (0.5, "½", "middle"), (1.0, "1", "end"))
        )
    )
    outside = int(((counts < low) | (counts > high)).sum())
    told = f"{label}: {outside} of {bins} bars outside the band that covers each with probability 0.95"
    kind = "pit small" if small else "pit"
    return (
        f'<svg class="{kind}" viewBox="0 -1 {width} {height}" role="img" aria-label="{told}">'
        f"<title>{told}</title>{bars}{band}{expected}{axis}{ticks}</svg>"
    )


def strip(answers: Sequence[tuple[str, Answer | None]], limit: float) -> str:
    """Draw intervals on a strip from 0 to a limit; each answer has a class of its own."""
    marks = []
    for kind, answer in answers:
        if answer is None or not math.isfinite(answer.value):
            continue
        low, high = (min(end / limit, 1.0) * 100.0 for end in answer.interval)
        at = min(max(answer.value, 0.0) / limit, 1.0) * 100.0
        marks.append(f'<i class="{kind}" style="left:{low:.2f}%;width:{max(high - low, 0.0):.2f}%"></i>')
        marks.append(f'<b class="{kind}" style="left:{at:.2f}%"></b>')
    return f'<span class="strip" aria-hidden="true">{"".join(marks)}</span>'


def bars(counts: Sequence[int], label: str) -> str:
    """Draw a small histogram of a column."""
    width, height = 72.0, 22.0
    top, step = max(*counts, 1), width / len(counts)
    drawn = "".join(
        f'<rect class="bar" x="{k * step + 0.3:.1f}" y="{height * (1 - c / top):.1f}" width="{step - 0.6:.1f}" '
        f'height="{height * c / top:.1f}"/>'
        for k, c in enumerate(counts)
        if c
    )
    return f'<svg class="bars" viewBox="0 0 72 22" role="img" aria-label="{label}">{drawn}</svg>'


def axis(limit: float) -> str:
    """Marks below a strip from 0 to a limit, in nats."""
    raw = limit / 4.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw)
    marks = [k * step for k in range(int(limit / step + 1e-9) + 1)]
    return (
        '<span class="strip axis">'
        + "".join(f'<s style="left:{100.0 * mark / limit:.2f}%">{mark:.3g}</s>' for mark in marks)
        + "</span>"
    )

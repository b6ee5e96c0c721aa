"""Which columns may cause which, as `pydine.causal_graph` finds it, drawn in layers as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydine.questions.causal_graph import causal_graph
from pydine.report.markup import shortened, shown
from pydine.results import CausalGraph
from pydine.show.layers import layered
from pydine.types import FloatArray

LETTER, LINE, BETWEEN, MARGIN = 7.2, 30.0, 70.0, 14.0  # of the figure's units: a letter, a line, between layers, around
LONGEST = 18
CHOSEN = ("n_jobs", "nan_policy", "cache", "progress", "kinds", "clusters", "time")  # settings that a search has
MOST_COLUMNS = 12  # as many as are asked about given the rest; pydine graph takes more
ENDS = {"directed": 'marker-end="url(#head)"', "undirected": ""}
ENDS["conflicting"] = 'marker-start="url(#head)" marker-end="url(#head)"'
HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>'
)


def found_causes(columns: Mapping[str, FloatArray], settings: Mapping[str, Any]) -> CausalGraph | None:
    """Which columns may cause which; None where columns are few or many, or rows too few."""
    if not 3 <= len(columns) <= MOST_COLUMNS:
        return None
    chosen = {name: settings[name] for name in CHOSEN}
    try:
        return causal_graph(columns, strengths=False, **chosen)
    except ValueError:
        return None


def causes(graph: CausalGraph, target: str) -> str:
    """A sentence and a figure of a causal graph; edges of the target are stressed."""
    if not graph.edges:
        return "<p>No edges were found: no two columns stay dependent once small sets of others are known.</p>"
    directed = sum(edge.kind == "directed" for edge in graph.edges)
    lead = (
        f"<p>{len(graph.edges):,} pairs stay joined whatever small sets of others are given (the PC algorithm at "
        f"level {graph.alpha:g}); {directed:,} of them have a direction. {shown(graph.legend)}</p>"
    )
    return lead + _drawn(graph, target)


def _drawn(graph: CausalGraph, target: str) -> str:
    joined = [name for name in graph.names if name not in set(graph.alone)]
    place = {name: i for i, name in enumerate(joined)}
    arrows = [(place[edge.source], place[edge.target]) for edge in graph.edges]
    found = layered(len(joined), arrows, [edge.kind != "directed" for edge in graph.edges])
    names = [shortened(name, LONGEST) for name in joined]
    widths = [0.0] * (max(found.layers) + 1)
    for name, layer in zip(names, found.layers, strict=True):
        widths[layer] = max(widths[layer], LETTER * len(name) + 8.0)
    lefts = [MARGIN + sum(widths[:k]) + BETWEEN * k for k in range(len(widths))]
    top = min(height for way in found.ways for _, height in way)
    depth = max(height for way in found.ways for _, height in way) - top
    parts = []
    for edge, way in zip(graph.edges, found.ways, strict=True):
        own = [LETTER * len(names[place[end]]) + 8.0 for end in (edge.source, edge.target)]
        stressed = " stressed" if target in (edge.source, edge.target) else ""
        path = _path(way, lefts, widths, own, top)
        label = f"{shown(shortened(edge.source))} {edge.kind} {shown(shortened(edge.target))}"
        parts.append(f'<g class="cause{stressed}"><title>{label}</title><path d="{path}" {ENDS[edge.kind]}/></g>')
    for name, layer, height in zip(names, found.layers, found.heights, strict=True):
        x, y = lefts[layer] + 0.5 * widths[layer], _y(height, top)
        parts.append(f'<text x="{x:.1f}" y="{y + 4.0:.1f}" text-anchor="middle">{shown(name)}</text>')
    width, height = lefts[-1] + widths[-1] + MARGIN, LINE * depth + 2.0 * MARGIN + 10.0
    box = f'viewBox="0 0 {math.ceil(width)} {math.ceil(height)}" style="max-width:{math.ceil(width)}px"'
    label = 'role="img" aria-label="Columns that may cause others"'
    return f'<svg class="graph causes" {box} {label}>{HEAD}{"".join(parts)}</svg>'


def _y(height: float, top: float) -> float:
    return MARGIN + 5.0 + LINE * (height - top)


def _path(
    way: tuple[tuple[int, float], ...], lefts: list[float], widths: list[float], own: list[float], top: float
) -> str:
    """A line from beside one name to beside another, level where it passes the names of a layer."""
    is_backwards, text = way[0][0] > way[-1][0], ""
    for i, (layer, height) in enumerate(way):
        is_end, y = i in (0, len(way) - 1), _y(height, top)
        width = own[0 if i == 0 else 1] if is_end else widths[layer]
        middle = lefts[layer] + 0.5 * widths[layer]
        sides = [middle - 0.5 * width, middle + 0.5 * width]
        first, last = sides[::-1] if is_backwards else sides
        if i == 0:
            text, x, before = f"M{last:.1f} {y:.1f}", last, y
            continue
        bend = 0.5 * (x + first)
        text += f"C{bend:.1f} {before:.1f} {bend:.1f} {y:.1f} {first:.1f} {y:.1f}"
        if not is_end:
            text += f"L{last:.1f} {y:.1f}"
        x, before = last, y
    return text

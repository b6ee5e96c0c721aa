"""Causal graphs as figures, in layers, with matplotlib."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from pydine.show.layers import layered
from pydine.show.plotting import label_of, new_axes

LETTER, LINE = 0.085, 0.34  # inches: the width of a letter, and the height of a line with its gap
BETWEEN = 0.9  # inches between layers, for lines to run in
LONGEST_NAME = 24
COLOURS = {"directed": "#0b5c8c", "undirected": "#5f6b76", "conflicting": "#c2571a"}
STYLES = {"directed": "-|>", "undirected": "-", "conflicting": "<|-|>"}


def draw_network(graph: Any, axes: Any = None) -> Any:
    """Draw a causal graph (see `CausalGraph.plot`)."""
    joined = [name for name in graph.names if name not in set(graph.alone)]
    place = {name: i for i, name in enumerate(joined)}
    arrows = [(place[edge.source], place[edge.target]) for edge in graph.edges]
    found = layered(len(joined), arrows, [edge.kind != "directed" for edge in graph.edges])
    names = [label_of(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…") for name in joined]
    widths = _widths(names, found.layers)
    lefts = [sum(widths[:layer]) + BETWEEN * layer for layer in range(len(widths))]
    heights = [height for way in found.ways for _, height in way] or [0.0]
    low, high = min(heights), max(heights)
    right = lefts[-1] + widths[-1] if widths else 2.0
    notes = _notes(graph, right)
    if axes is None:
        axes = new_axes(max(right + 0.4, 4.0), LINE * (high - low + 2.5) + 0.18 * len(notes) + 0.3)
    for edge, way in zip(graph.edges, found.ways, strict=True):
        own = [_width(names[place[name]]) for name in (edge.source, edge.target)]
        _draw_edge(axes, edge, _points(way, lefts, widths, own), _thickness(edge, graph))
    look = {"boxstyle": "round,pad=0.25", "fc": "#eef3f8", "ec": "#9fb3c8", "lw": 0.8}
    for name, layer, height in zip(names, found.layers, found.heights, strict=True):
        middle = lefts[layer] + 0.5 * widths[layer]
        axes.text(middle, -LINE * height, name, ha="center", va="center", size=8, bbox=look, zorder=3)
    axes.set_xlim(-0.2, max(right + 0.2, 3.8))
    axes.set_ylim(-LINE * (high + 1.2) - 0.18 * len(notes), -LINE * (low - 1.2))
    for i, line in enumerate(notes):
        axes.text(0.0, -LINE * (high + 1.0) - 0.18 * i, line, size=7, color="#5f6b76", va="top")
    axes.set_axis_off()
    return axes


def _widths(names: list[str], layers: tuple[int, ...]) -> list[float]:
    """The width of each layer, that of its longest name."""
    widths = [0.3] * (max(layers, default=-1) + 1)
    for name, layer in zip(names, layers, strict=True):
        widths[layer] = max(widths[layer], _width(name))
    return widths


def _width(name: str) -> float:
    return LETTER * len(name) + 0.15


def _points(
    way: tuple[tuple[int, float], ...], lefts: list[float], widths: list[float], own: list[float]
) -> list[tuple[float, float]]:
    """Where a line passes, from beside one name to beside another; it is level where it passes names of a layer."""
    is_backwards = way[0][0] > way[-1][0]
    points: list[tuple[float, float]] = []
    for i, (layer, height) in enumerate(way):
        is_end = i in (0, len(way) - 1)
        width = own[0 if i == 0 else 1] if is_end else widths[layer]
        middle = lefts[layer] + 0.5 * widths[layer]
        ends = [middle - 0.5 * width, middle + 0.5 * width]
        if is_backwards:
            ends.reverse()
        points += [(x, -LINE * height) for x in (ends[1:] if i == 0 else ends[:1] if is_end else ends)]
    return points


def _draw_edge(axes: Any, edge: Any, points: list[tuple[float, float]], thickness: float) -> None:
    """Draw a line through points, bent between them."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = 0.5 * (x0 + x1)
        vertices += [(middle, y0), (middle, y1), (x1, y1)]
        codes += [Path.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Path(vertices, codes),
            arrowstyle=STYLES[edge.kind],
            mutation_scale=9.0,
            lw=thickness,
            color=COLOURS[edge.kind],
            alpha=0.4 + 0.6 * (1.0 if math.isnan(edge.stability) else edge.stability),
            zorder=2,
        )
    )


def _thickness(edge: Any, graph: Any) -> float:
    """Points: as thick as the edge is strong, by the root of its information."""
    known = [other.information for other in graph.edges if math.isfinite(other.information)]
    most = max(known, default=0.0)
    if not math.isfinite(edge.information):
        return 2.4 if math.isinf(edge.information) else 1.0
    return 0.7 + 1.7 * math.sqrt(max(edge.information, 0.0) / most) if most > 0.0 else 1.0


def _notes(graph: Any, width: float) -> list[str]:
    """What stands below: columns joined with nothing, and what marks mean, wrapped to a width in inches."""
    from textwrap import wrap

    letters = max(50, int(width / 0.062))
    alone = f"Without an edge: {', '.join(map(label_of, graph.alone))}." if graph.alone else ""
    return [line for text in (alone, graph.legend) if text for line in wrap(text, letters)]

"""Graphs written to files: as figures, and for programs that read GraphML or DOT."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from pydine.cli.output.files import MARK, PICTURES, check_picture, save, save_figure
from pydine.show.text import escaped

DIRECTED, UNDIRECTED, CONFLICTING = "directed", "undirected", "conflicting"
MARKS = {DIRECTED: "→", UNDIRECTED: "—", CONFLICTING: "↔"}


class Edge(NamedTuple):
    """An edge between two columns; the order means something if it is directed."""

    source: str
    target: str
    kind: str


def check_suffix(path: Path) -> None:
    """Refuse a file name whose ending names no format."""
    if path.suffix.lower() in PICTURES:
        check_picture(path)
    elif path.suffix.lower() not in (".graphml", ".dot"):
        raise ValueError(f"{path}: a graph can be written as .png, .svg, .pdf, .graphml or .dot; end the name so.")


def write_graph(path: Path, names: list[str], edges: list[Edge]) -> None:
    """Write a graph in the format that the file's name says."""
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        save_figure(_drawn(names, edges), path)
        return
    save(path, _dot(names, edges).encode() if suffix == ".dot" else _graphml(names, edges))


def _dot(names: list[str], edges: list[Edge]) -> str:
    """The graph in the language of Graphviz, whose quoted names are escaped as JSON's are."""
    ends = {DIRECTED: "forward", UNDIRECTED: "none", CONFLICTING: "both"}
    quoted = {name: json.dumps(name, ensure_ascii=False) for name in names}
    lines = [f"  {quoted[name]};" for name in names]
    lines += [f"  {quoted[edge.source]} -> {quoted[edge.target]} [dir={ends[edge.kind]}];" for edge in edges]
    return "\n".join([f"// {MARK}", "digraph {", *lines, "}", ""])


def _graphml(names: list[str], edges: list[Edge]) -> bytes:
    import networkx as nx

    content = io.BytesIO()
    nx.write_graphml(_network(names, edges), content)
    return content.getvalue().replace(b"?>", f"?><!-- {MARK} -->".encode(), 1)


def _network(names: list[str], edges: list[Edge]) -> Any:
    import networkx as nx

    shown = {name: escaped(name) for name in names}  # no XML may hold control characters
    names, edges = list(shown.values()), [edge._replace(source=shown[edge[0]], target=shown[edge[1]]) for edge in edges]
    network = nx.DiGraph()
    network.add_nodes_from(names)
    network.add_edges_from((edge.source, edge.target, {"kind": edge.kind}) for edge in edges)
    return network


def _drawn(names: list[str], edges: list[Edge]) -> Any:
    """Draw the graph, columns that are joined near each other."""
    import networkx as nx

    from pydine.show.plotting import label_of, new_axes

    side = 4.0 + 0.25 * min(len(names), 40)
    axes = new_axes(1.3 * side, side)
    network = _network(names, edges)
    places = nx.circular_layout(network) if len(names) <= 12 else nx.spring_layout(network, seed=0)
    look = {"node_size": 1400, "node_color": "#e8eef7", "edgecolors": "#30507a"}
    nx.draw_networkx_nodes(network, places, ax=axes, **look)
    nx.draw_networkx_labels(network, places, {name: label_of(name) for name in network}, ax=axes, font_size=9)
    for kind, style in ((DIRECTED, "-|>"), (UNDIRECTED, "-"), (CONFLICTING, "<|-|>")):
        chosen = [edge[:2] for edge in network.edges(data="kind") if edge[2] == kind]
        nx.draw_networkx_edges(
            network, places, chosen, ax=axes, arrows=True, arrowstyle=style, arrowsize=16, node_size=1400, width=1.4
        )
    axes.set_axis_off()
    axes.margins(0.12)
    return axes.figure

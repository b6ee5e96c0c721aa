"""Graphs written to files: as figures, and for programs that read GraphML, DOT or JSON."""

from __future__ import annotations

from pathlib import Path

from pydine.cli.output.files import MARK, PICTURES, check_picture, save, save_figure
from pydine.results import CausalGraph


def check_suffix(path: Path) -> None:
    """Refuse a file name whose ending names no format."""
    if path.suffix.lower() in PICTURES:
        check_picture(path)
    elif path.suffix.lower() not in (".graphml", ".dot", ".json"):
        raise ValueError(
            f"{path}: a graph can be written as .png, .svg, .pdf, .graphml, .dot or .json; end the name in one of them."
        )


def write_graph(path: Path, graph: CausalGraph) -> None:
    """Write a graph in the format that the file's name says."""
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        save_figure(graph.plot().figure, path)
    elif suffix == ".dot":
        save(path, f"// {MARK}\n{graph.to_dot()}".encode())
    elif suffix == ".json":
        save(path, graph.to_json().encode())
    else:
        save(path, graph.to_graphml().replace("?>", f"?><!-- {MARK} -->", 1).encode())

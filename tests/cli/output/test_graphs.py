"""Graphs in files, as other programs read them."""

import networkx as nx

from pydine.cli.output.graphs import DIRECTED, UNDIRECTED, Edge, write_graph


def test_graphs_are_written_for_others(tmp_path):
    edges = [Edge('a "b"', "c", DIRECTED), Edge("c", "d", UNDIRECTED)]
    names = ['a "b"', "c", "d", "alone"]
    for suffix in ("graphml", "dot", "svg"):
        write_graph(tmp_path / f"graph.{suffix}", names, edges)
    network = nx.read_graphml(tmp_path / "graph.graphml")
    assert set(network) == set(names)
    assert nx.get_edge_attributes(network, "kind") == {('a "b"', "c"): "directed", ("c", "d"): "undirected"}
    assert r'"a \"b\"" -> "c" [dir=forward];' in (tmp_path / "graph.dot").read_text()
    assert "alone" in (tmp_path / "graph.svg").read_text() or "<svg" in (tmp_path / "graph.svg").read_text()

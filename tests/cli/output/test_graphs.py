"""Graphs in files, as other programs read them."""

import math

import networkx as nx

from pydine.cli.output.files import MARK
from pydine.cli.output.graphs import write_graph
from pydine.results import CausalGraph, GraphEdge

FIGURES = (0.1, 0.01, 0.08, 0.12, 1e-5, (), 1)


def test_graphs_are_written_for_others(tmp_path):
    edges = (GraphEdge('a "b"', "c", "directed", *FIGURES), GraphEdge("c", "d", "conflicting", *FIGURES))
    names = ('a "b"', "c", "d", "alone")
    graph = CausalGraph(names, edges, (), 0.01, 100, 0, 7)
    for suffix in ("graphml", "dot", "svg"):
        write_graph(tmp_path / f"graph.{suffix}", graph)
        assert MARK in (tmp_path / f"graph.{suffix}").read_text()
    network = nx.read_graphml(tmp_path / "graph.graphml")
    labels = nx.get_node_attributes(network, "label")
    assert set(labels.values()) == set(names)
    kinds = nx.get_edge_attributes(network, "kind")
    assert {(labels[a], labels[b]): kind for (a, b), kind in kinds.items()} == {
        ('a "b"', "c"): "directed",
        ("c", "d"): "conflicting",
    }
    assert r'"a \"b\"" -> "c" [dir=forward, label="0.10"];' in (tmp_path / "graph.dot").read_text()
    assert math.isnan(edges[0].stability)

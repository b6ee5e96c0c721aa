"""Graphs in layers: causes to the left, and no name covers another."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.results import CausalGraph, GraphEdge
from pydine.show.layers import layered


@st.composite
def arrows(draw):
    count = draw(st.integers(1, 12))
    nodes = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(nodes, nodes), max_size=20))
    return count, list({frozenset(pair): pair for pair in pairs if pair[0] != pair[1]}.values())


@settings(max_examples=100, deadline=None)
@given(arrows())
def test_nodes_of_a_layer_are_apart_and_ways_lead_from_end_to_end(drawn):
    count, some = drawn
    found = layered(count, some)
    for layer in set(found.layers):
        heights = sorted(h for k, h in zip(found.layers, found.heights, strict=True) if k == layer)
        assert (np.diff(heights) >= 1.0 - 1e-9).all()
    for (a, b), way in zip(some, found.ways, strict=True):
        ends = [(found.layers[k], found.heights[k]) for k in (a, b)]
        assert [way[0], way[-1]] == ends
        assert set(np.abs(np.diff([layer for layer, _ in way]))) == {1}


def test_causes_are_to_the_left():
    found = layered(4, [(2, 0), (0, 1), (2, 1), (3, 1)])
    assert found.layers[2] < found.layers[0] < found.layers[1]
    assert found.layers[3] == found.layers[1] - 1
    either = layered(3, [(2, 0), (0, 1), (1, 2)], [False, False, True])  # the last has no direction
    assert either.layers[2] < either.layers[0] < either.layers[1]


def graph_of(p, seed):
    """A random graph with long and short names."""
    rng = np.random.default_rng(seed)
    names = tuple(f"column {'with a long name ' * int(rng.integers(2))}{i}" for i in range(p))
    pairs = {(min(i, j), max(i, j)) for i, j in rng.integers(0, p, (int(1.5 * p), 2)).tolist() if i != j}
    kinds = rng.choice(["directed", "undirected", "conflicting"], len(pairs), p=[0.6, 0.3, 0.1])
    edges = tuple(
        GraphEdge(names[i], names[j], str(kind), *rng.random(4).tolist(), 1e-4, (), 3)
        for (i, j), kind in zip(sorted(pairs), kinds, strict=True)
    )
    return CausalGraph(names, edges, (), 0.01, 100, 0, 10)


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 16, 46])
def test_names_do_not_overlap(p):
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for seed in range(2):
        axes = graph_of(p, seed).plot()
        axes.figure.canvas.draw()
        renderer = axes.figure.canvas.get_renderer()
        boxes = [text.get_bbox_patch().get_window_extent(renderer) for text in axes.texts if text.get_bbox_patch()]
        assert boxes or p == 2
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        plt.close(axes.figure)


def test_a_graph_without_edges_is_drawn():
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    graph = CausalGraph(("a", "b"), (), (), 0.01, 100, 0, 1)
    axes = graph.plot()
    assert "Without an edge: a, b." in [text.get_text() for text in axes.texts]
    plt.close(axes.figure)

"""With tests that are never wrong, the search returns the graph that independences allow, whatever the order."""

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pydine.questions.graphs.directions import COLLIDERS, directions
from pydine.questions.graphs.knowledge import Knowledge
from pydine.questions.graphs.skeleton import Search


@st.composite
def graphs(draw, most=6, edges=10):
    """Parents of up to six columns, in a random order, as arrows."""
    p = draw(st.integers(2, most))
    order = draw(st.permutations(range(p)))
    every = [(order[i], order[j]) for i, j in combinations(range(p), 2)]
    chosen = draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    arrows = [arrow for arrow, is_there in zip(every, chosen, strict=True) if is_there]
    assume(len(arrows) <= edges)
    return p, arrows


def network(p, arrows):
    graph = nx.DiGraph(arrows)
    graph.add_nodes_from(range(p))
    return graph


def searched(p, arrows, colliders="checked", known=None, seed=0, **options):
    """What the search finds with d-separation in the place of tests; likely sets are in a random order."""
    graph, rng = network(p, arrows), np.random.default_rng(seed)
    asked = []

    def ask(questions):
        asked.extend(questions)
        return [float(nx.is_d_separator(graph, {i}, {j}, set(given))) for i, j, given in questions]

    known = known or Knowledge.nothing(p)
    options = {"depth": None, "sets": None} | options
    found = Search(ask, lambda pair, sets: rng.random(len(sets)), 0.5, knowledge=known, **options).run()
    return found, directions(found, ask, 0.5, colliders, options["depth"], known), asked


def colliders_of(arrows):
    graph = nx.DiGraph(arrows)
    return {
        (frozenset((i, j)), k)
        for k in graph
        for i, j in combinations(sorted(graph.predecessors(k)), 2)
        if not (graph.has_edge(i, j) or graph.has_edge(j, i))
    }


def members(arrows):
    """All graphs without circles that have the same skeleton and colliders: the equivalence class, by brute force."""
    colliders, found = colliders_of(arrows), []
    for turned in product([False, True], repeat=len(arrows)):
        other = [(b, a) if turn else (a, b) for turn, (a, b) in zip(turned, arrows, strict=True)]
        if nx.is_directed_acyclic_graph(nx.DiGraph(other)) and colliders_of(other) == colliders:
            found.append(set(other))
    return found


def shared(p, class_of):
    """Entry (i, j): all members have the arrow from i to j."""
    heads = np.zeros((p, p), dtype=bool)
    for i, j in set.intersection(*class_of) if class_of else ():
        heads[i, j] = True
    return heads


@pytest.mark.parametrize("colliders", COLLIDERS)
@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 9))
def test_the_equivalence_class_is_found(colliders, drawn, seed):
    p, arrows = drawn
    found, directed, _ = searched(p, arrows, colliders, seed=seed)
    assert set(found.edges) == {(min(arrow), max(arrow)) for arrow in arrows}
    assert (directed.heads == shared(p, members(arrows))).all()
    assert not directed.ambiguous


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_what_is_known_narrows_the_class(drawn, data):
    p, arrows = drawn
    assume(arrows)
    required = data.draw(st.lists(st.sampled_from(arrows), max_size=2, unique=True))
    known = Knowledge.read([str(i) for i in range(p)], None, (), [(str(i), str(j)) for i, j in required])
    found, directed, _ = searched(p, arrows, known=known)
    possible = [member for member in members(arrows) if set(required) <= member]
    assert set(found.edges) == {(min(arrow), max(arrow)) for arrow in arrows}
    assert (directed.heads == shared(p, possible)).all()


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_times_narrow_the_class_and_the_sets_that_are_tried(drawn, data):
    p, arrows = drawn
    order = list(nx.topological_sort(network(p, arrows)))
    cut = data.draw(st.integers(0, p))
    tiers = {str(i): int(place >= cut) for place, i in enumerate(order)}
    known = Knowledge.read([str(i) for i in range(p)], tiers, (), ())
    found, directed, asked = searched(p, arrows, known=known)
    possible = [m for m in members(arrows) if all(tiers[str(i)] <= tiers[str(j)] for i, j in m)]
    assert set(found.edges) == {(min(arrow), max(arrow)) for arrow in arrows}
    assert (directed.heads == shared(p, possible)).all()
    in_search = asked[: found.n_tests]
    assert all(tiers[str(k)] <= max(tiers[str(i)], tiers[str(j)]) for i, j, given in in_search for k in given)


def test_no_set_is_tried_twice_and_none_after_the_first_that_separates():
    _, _, asked = searched(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert len(set(asked)) == len(asked)
    by_pair = {}
    for i, j, some in asked:
        by_pair.setdefault((i, j), []).append(some)
    graph = network(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    for (i, j), sets in by_pair.items():
        separated = [nx.is_d_separator(graph, {i}, {j}, set(some)) for some in sets]
        assert True not in separated[:-1] or separated.index(True) == len(separated) - 1


def test_depth_and_sets_bound_the_search():
    arrows = [(0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 4)]
    shallow, _, asked = searched(5, arrows, depth=1)
    assert max(len(some) for _, _, some in asked[: shallow.n_tests]) == 1
    few, _, _ = searched(5, arrows, sets=1)
    every, _, _ = searched(5, arrows)
    assert few.n_tests < every.n_tests

"""`causal_graph` on tables whose graph is known: the same graph in whatever order, with workers, or begun again."""

import json
import signal
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.answers.settings import Settings
from pydine.questions.graphs import asking
from pydine.questions.graphs.sheet import Sheet
from pydine.work.kept import KeptNumbers

ARROWS = {("rain", "plants"), ("sun", "plants"), ("plants", "insects")}


def garden(n=400, seed=0):
    """Rain and sun act on plants without correlation, and these on the mean and the spread of insects; wind alone."""
    rng = np.random.default_rng(seed)
    rain, sun, wind, noise, more = rng.standard_normal((5, n))
    plants = rain**2 + np.abs(2.0 * sun) + 0.5 * noise
    insects = np.tanh(plants - 2.0) + 0.2 * more * (1.0 + np.abs(plants - 2.0))
    return pd.DataFrame({"insects": insects, "rain": rain, "plants": plants, "wind": wind, "sun": sun})


GARDEN = garden()
CACHE = pydine.UnitCache()


@pytest.fixture(scope="module")
def graph():
    return pydine.causal_graph(GARDEN, cache=CACHE)


def figures(graph):
    """Everything but the order of columns."""
    edges = {
        (
            *(frozenset((e.source, e.target)), e.kind, e.target if e.kind == "directed" else ""),
            *(e.information, e.low, e.high, e.pvalue, frozenset(e.given), e.tried),
        )
        for e in graph.edges
    }
    return edges, {(frozenset((a.source, a.target)), a.pvalue, frozenset(a.given), a.tried) for a in graph.absent}


def test_the_graph_is_found_with_strengths(graph):
    assert {(edge.source, edge.target) for edge in graph.edges} == ARROWS
    assert {edge.kind for edge in graph.edges} == {"directed"}
    assert graph.alone == ("wind",)
    for edge in graph.edges:
        assert 0.0 < edge.low < edge.information < edge.high
        assert edge.pvalue <= 0.01
        asked = pydine.mutual_information(edge.source, edge.target, list(edge.given) or None, data=GARDEN)
        assert asked.value == pytest.approx(edge.information, abs=0.3 * asked.standard_error)
    assert len(graph.edges) + len(graph.absent) == 10
    assert all(pair.pvalue > 0.01 for pair in graph.absent)
    separated = {frozenset((pair.source, pair.target)): pair.given for pair in graph.absent}
    assert separated[frozenset(("rain", "insects"))] == ("plants",)


def test_pvalues_are_those_of_the_test(graph):
    for edge in (*graph.edges, *graph.absent):
        test = pydine.independence_test(
            edge.source, edge.target, list(edge.given) or None, data=GARDEN, method="analytic", cache=CACHE
        )
        assert test.pvalue == pytest.approx(edge.pvalue, rel=1e-6)


def test_the_order_of_columns_makes_no_difference(graph):
    for seed in range(2):
        columns = np.random.default_rng(seed).permutation(list(GARDEN))
        assert figures(pydine.causal_graph(GARDEN[columns])) == figures(graph)


@pytest.mark.slow
def test_workers_change_no_bit(graph, monkeypatch):
    import joblib

    monkeypatch.setattr(asking, "WORTH_WORKERS", 0.0)
    assert pydine.causal_graph(GARDEN, n_jobs=2).to_json() == graph.to_json()  # NaN is not itself
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert pydine.causal_graph(GARDEN).to_json() == graph.to_json()


def test_what_is_worth_workers_grows_with_the_rows_and_with_what_is_asked():
    def group(n, each, given=()):
        return Sheet.read(garden(n), "raise", None).tests(Settings(cache=CACHE))._group(given, ((0, 1),), each)

    few, many = (group(n, asking.A_TEST).seconds for n in (200, 2000))
    assert many == pytest.approx(10.0 * few)
    assert group(200, asking.A_TEST, (2,)).seconds == pytest.approx(2.0 * few)
    assert group(200, asking.AN_ESTIMATE).seconds > few


def test_what_was_tested_is_not_tested_again(graph, tmp_path, monkeypatch):
    assert pydine.causal_graph(GARDEN, cache=tmp_path).to_json() == graph.to_json()
    monkeypatch.setattr(asking, "ask_all", None)  # nothing is asked
    assert pydine.causal_graph(GARDEN, cache=tmp_path).to_json() == graph.to_json()
    assert pydine.causal_graph(GARDEN[["sun", "wind", "plants", "rain", "insects"]], cache=tmp_path).n_tests > 0


@pytest.mark.slow
def test_a_search_survives_being_killed(tmp_path):
    code = (
        "import pydine, pandas as pd, sys; "
        f"print(pydine.causal_graph(pd.read_csv({str(tmp_path / 'data.csv')!r}), cache={str(tmp_path / 'kept')!r})"
        ".to_json())"
    )
    garden(600).assign(**{f"w{i}": np.random.default_rng(i).random(600) for i in range(3)}).to_csv(
        tmp_path / "data.csv", index=False
    )
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
        kept = tmp_path / "kept" / "numbers"
        until = time.monotonic() + 60.0
        while process.poll() is None and not (kept.is_dir() and any(kept.iterdir())) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    anew = pydine.causal_graph(pd.read_csv(tmp_path / "data.csv"))
    assert done.stdout.strip() == anew.to_json()


def test_an_unfinished_line_counts_as_missing(tmp_path):
    numbers = KeptNumbers(tmp_path / "some" / "file.txt")
    numbers.keep({"a": (0.5,), "b": (np.nan, np.inf)})
    with numbers.path.open("ab") as file:
        file.write(b"c 0x1.0p-1,0x1")
    again = KeptNumbers(numbers.path)
    assert (again.find("a"), again.find("c")) == ((0.5,), None)
    assert np.isnan(again.find("b")[0])
    again.keep({"c": (0.25,)})
    assert KeptNumbers(numbers.path).find("c") == (0.25,)


# --- what else is asked ---


def test_what_is_known_is_heeded(graph):
    early = pydine.causal_graph(GARDEN, tiers=[["rain", "sun", "wind"], ["plants"], ["insects"]], cache=CACHE)
    assert {(edge.source, edge.target) for edge in early.edges} == ARROWS
    apart = pydine.causal_graph(GARDEN, forbidden=[("rain", "plants"), ("plants", "rain")], cache=CACHE)
    assert ("rain", "plants") not in {(edge.source, edge.target) for edge in apart.edges}
    (never,) = [pair for pair in apart.absent if {pair.source, pair.target} == {"rain", "plants"}]
    assert (np.isnan(never.pvalue), never.tried) == (True, 0)
    joined = pydine.causal_graph(GARDEN, required=[("wind", "rain")], cache=CACHE)
    (known,) = [edge for edge in joined.edges if edge.source == "wind"]
    assert (known.target, known.kind, known.pvalue > 0.01) == ("rain", "directed", True)


def test_a_false_discovery_rate_drops_the_weakest_edges():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((300, 12)), columns=[f"c{i}" for i in range(12)])
    loose = pydine.causal_graph(frame, alpha=0.2, depth=0)
    strict = pydine.causal_graph(frame, alpha=0.2, depth=0, fdr=0.05)
    assert len(loose.edges) > 3
    assert len(strict.edges) < len(loose.edges)
    dropped = [pair for pair in strict.absent if pair.pvalue <= 0.2]
    assert len(strict.edges) + len(dropped) == len(loose.edges)


def test_every_test_uses_the_rows_that_it_has(graph):
    gaps = GARDEN.copy()
    gaps.loc[:49, "wind"] = np.nan
    with pytest.raises(ValueError, match="data must hold finite numbers"):
        pydine.causal_graph(gaps)
    found = pydine.causal_graph(gaps, nan_policy="omit")
    assert {(edge.source, edge.target) for edge in found.edges} == ARROWS
    same = {frozenset((e.source, e.target)): e.pvalue for e in graph.edges}  # of these no row is missing
    assert {frozenset((e.source, e.target)): e.pvalue for e in found.edges} == pytest.approx(same, rel=1e-9)
    assert (found.n_samples, found.n_dropped) == (400, 0)


@pytest.mark.slow
def test_stability_is_a_share_of_resampled_tables():
    found = pydine.causal_graph(GARDEN, bootstrap=4)
    shares = {edge.stability for edge in (*found.edges, *found.absent)}
    assert shares <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert all(edge.stability >= 0.5 for edge in found.edges)
    shuffled = GARDEN.sample(frac=1.0, random_state=0)
    again = pydine.causal_graph(shuffled, bootstrap=4)
    assert [edge.stability for edge in again.edges] == [edge.stability for edge in found.edges]


def test_independence_can_be_shown(graph):
    found = pydine.causal_graph(GARDEN, min_information=0.05, cache=CACHE)
    assert len(found.independent) + len(found.undecided) == len(found.absent)
    assert all(pair.high < 0.05 for pair in found.independent)
    assert found.independent
    line = f"{len(found.independent)} of the {len(found.absent)} pairs without an edge share less than 0.05 nats"
    assert line in repr(found)
    assert line in found._repr_html_()
    with pytest.raises(ValueError, match="pass min_information= to causal_graph"):
        _ = graph.independent


@pytest.mark.slow
def test_labels_and_numbers_in_one_graph():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 500)
    size = 0.8 * kind + rng.standard_normal(500)
    price = size + 0.5 * rng.standard_normal(500)
    frame = pd.DataFrame({"kind": np.array(["a", "b", "c"])[kind], "size": size, "price": price})
    found = pydine.causal_graph(frame)
    assert {frozenset((edge.source, edge.target)) for edge in found.edges} == {
        frozenset(("kind", "size")),
        frozenset(("size", "price")),
    }


def test_a_copy_separates_nothing():
    found = pydine.causal_graph(GARDEN[["rain", "plants"]].assign(copy=np.exp(GARDEN.rain)))
    assert {frozenset((edge.source, edge.target)) for edge in found.edges} == {
        frozenset(("rain", "plants")),
        frozenset(("copy", "plants")),
        frozenset(("rain", "copy")),
    }


# --- what comes back ---


def test_it_is_written_for_others(graph):
    frame = graph.to_frame()
    assert list(frame.columns[:4]) == ["source", "target", "kind", "information"]
    assert len(frame) == 3
    network = graph.to_networkx()
    assert set(network) == set(GARDEN)
    assert set(network.edges) == ARROWS
    read = nx.parse_graphml(graph.to_graphml())
    labels = nx.get_node_attributes(read, "label")
    assert {(labels[a], labels[b]) for a, b in read.edges} == ARROWS
    assert '"rain" -> "plants" [dir=forward' in graph.to_dot()
    assert pydine.CausalGraph.from_json(graph.to_json()).to_json() == graph.to_json()
    assert json.loads(graph.to_json())["pydine"] == "CausalGraph"


def test_edges_without_a_direction_are_undirected_for_others():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(300)
    found = pydine.causal_graph({"a <&>": a, "b": a + rng.standard_normal(300)})
    assert [edge.kind for edge in found.edges] == ["undirected"]
    assert '<edge directed="false" source="n0" target="n1">' in found.to_graphml()
    assert "a &lt;&amp;&gt;" in found.to_graphml()
    assert set(found.to_networkx().edges) == {("a <&>", "b"), ("b", "a <&>")}
    assert "[dir=none" in found.to_dot()
    assert "may cause" not in repr(found)


def test_it_prints_a_table(graph):
    shown = repr(graph)
    assert shown.startswith("3 edges among 5 columns, n = 400, alpha = 0.01, ")
    assert "rain → plants" in shown
    assert "Without an edge: wind." in shown
    assert "assume that no common cause" in shown
    assert "rain → plants" in graph._repr_html_()


def test_tests_and_edges_are_counted_as_it_goes(graph, capsys):
    pydine.causal_graph(GARDEN, cache=CACHE, progress=True)
    told = capsys.readouterr().err
    assert "sets of 0: 10 tests, " in told
    assert "edges left" in told
    assert "strengths of edges" in told
    pydine.causal_graph(GARDEN, cache=CACHE)
    assert not capsys.readouterr().err  # no terminal, and nobody asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.0}, "alpha must be a number strictly between 0 and 1, but got 1.0"),
        ({"depth": -1}, "depth must be None or an integer of at least 0, but got -1"),
        ({"sets": 0}, "sets must be None or an integer of at least 1, but got 0"),
        ({"fdr": 2}, "fdr must be a number strictly between 0 and 1, but got 2"),
        ({"bootstrap": -1}, "bootstrap must be an integer of at least 0, but got -1"),
        ({"colliders": "some"}, "colliders must be 'checked' or 'majority' or 'conservative', but got 'some'"),
        ({"min_information": 0}, "min_information must be a number of nats above 0, but got 0"),
        ({"tiers": [["rain"]]}, "tiers must place every column, but '.*' is missing"),
        ({"tiers": {"snow": 1}}, "tiers names the column 'snow', which the search does not have"),
        ({"forbidden": ["rain"]}, "forbidden must hold pairs of names, a cause and its effect, but got 'rain'"),
        ({"forbidden": [("rain", "rain")]}, "forbidden must hold pairs of two columns"),
        (
            {"required": [("sun", "rain")], "forbidden": [("sun", "rain")]},
            "required has the arrow 'sun' to 'rain', but tiers or forbidden rule it out",
        ),
        ({"required": [("a", "b")]}, "required names the column 'a'"),
        (
            {"required": [("rain", "sun"), ("sun", "wind"), ("wind", "rain")]},
            "required must not have cycles",
        ),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        pydine.causal_graph(GARDEN, **options)

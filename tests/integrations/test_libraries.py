"""The libraries themselves run with the test, on graphs whose answer is known; and a search survives being killed."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from causallearn.search.ConstraintBased.FCI import fci
from causallearn.search.ConstraintBased.PC import pc as causal_learn_pc
from causallearn.utils.cit import CIT
from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge
from tigramite.data_processing import DataFrame
from tigramite.pcmci import PCMCI

import pydine
from pydine.integrations import causal_learn, dowhy, pgmpy, tigramite

# Rain and sun both act on the plants, without correlation, and these on the mean and the spread of the insects.
EDGES = {("rain", "plants"), ("sun", "plants"), ("plants", "insects")}


def garden(n=400, seed=0):
    rng = np.random.default_rng(seed)
    rain, sun, noise, more = rng.standard_normal((4, n))
    plants = rain**2 + np.abs(2.0 * sun) + 0.5 * noise
    insects = np.tanh(plants - 2.0) + 0.2 * more * (1.0 + np.abs(plants - 2.0))
    return pd.DataFrame({"insects": insects, "rain": rain, "plants": plants, "sun": sun})


GARDEN = garden()


def arrows(graph):
    """The directed edges of causal-learn's graph; an edge without direction is an error."""
    edges = [str(edge).split() for edge in graph.get_graph_edges()]
    assert {mark for _, mark, _ in edges} <= {"-->"}
    return {(start, end) for start, _, end in edges}


# --- causal-learn ---


@pytest.mark.slow
def test_pc_finds_the_graph():
    found = causal_learn.pc(GARDEN)
    assert arrows(found.G) == EDGES
    info = found.test.cache.info()
    assert info.hits > 0
    assert info.hit_rate == info.hits / (info.hits + info.misses) > 0.2


def test_linear_correlation_does_not():
    found = causal_learn_pc(GARDEN.to_numpy(), 0.05, "fisherz", show_progress=False, node_names=list(GARDEN))
    assert ("rain", "plants") not in {(str(e).split()[0], str(e).split()[2]) for e in found.G.get_graph_edges()}


@pytest.mark.slow
def test_pc_of_causal_learn_takes_the_name_and_the_options(tmp_path):
    helper = causal_learn.pc(GARDEN, cache=tmp_path)
    found = causal_learn_pc(GARDEN.to_numpy(), 0.05, "dine", show_progress=False, cache=tmp_path)
    assert (found.G.graph == helper.G.graph).all()
    assert found.test.pvalue_cache == helper.test.pvalue_cache
    assert found.test.cache.info().misses == 0  # all were in the folder
    assert all(0.0 < p <= 1.0 for key, p in found.test.pvalue_cache.items() if ";" in key)


@pytest.mark.slow
def test_arrays_polars_and_dictionaries_give_the_same_graph():
    polars = pytest.importorskip("polars")
    cache = pydine.UnitCache()
    first, *others = (
        causal_learn.pc(data, cache=cache)
        for data in (GARDEN, GARDEN.to_numpy(), polars.DataFrame(GARDEN.to_dict("list")), GARDEN.to_dict("list"))
    )
    for other in others:
        assert (other.G.graph == first.G.graph).all()
    assert others[0].G.get_node_names() == ["X1", "X2", "X3", "X4"]
    assert others[1].G.get_node_names() == list(GARDEN)


@pytest.mark.slow
def test_depth_and_what_is_known_beforehand():
    unconditional = causal_learn.pc(GARDEN, depth=0)
    assert not any("|" in key for key in unconditional.test.pvalue_cache)
    nodes = unconditional.G.get_nodes()
    known = BackgroundKnowledge().add_forbidden_by_node(nodes[1], nodes[2]).add_forbidden_by_node(nodes[2], nodes[1])
    found = causal_learn.pc(GARDEN, background_knowledge=known)
    assert ("rain", "plants") not in {(str(e).split()[0], str(e).split()[2]) for e in found.G.get_graph_edges()}


@pytest.mark.slow
def test_fci_runs_too():
    graph, _ = fci(GARDEN.to_numpy(), "dine", 0.05, show_progress=False, verbose=False, node_names=list(GARDEN))
    neighbours = {frozenset((a.get_name(), b.get_name())) for a in graph.nodes for b in graph.get_adjacent_nodes(a)}
    assert neighbours == {frozenset(edge) for edge in EDGES}


def test_a_function_of_another_column_does_not_stop_the_search():
    with pytest.warns(UserWarning, match="so the information is 0"):
        found = causal_learn.pc(GARDEN.assign(copy=np.exp(GARDEN.rain)))
    assert found.G.is_adjacent_to(found.G.get_node("rain"), found.G.get_node("copy"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.0}, "alpha must be a number strictly between 0 and 1, but got 1.0"),
        ({"alpha": "0.05"}, "alpha must be a number strictly between 0 and 1, but got '0.05'"),
        ({"depth": -1}, "depth must be None or an integer of at least 0, but got -1"),
        ({"depth": True}, "depth must be None or an integer of at least 0, but got True"),
        ({"mvpc": True}, "mvpc=True would use Fisher's z whatever the test"),
        ({"statistic": "best"}, "statistic must be 'auto' or 'gaussian' or 'general'"),
    ],
)
def test_bad_options_of_pc(options, message):
    with pytest.raises(ValueError, match=message):
        causal_learn.pc(GARDEN, **options)


def test_one_column_is_no_graph():
    with pytest.raises(ValueError, match="data must have at least two variables"):
        causal_learn.pc(GARDEN[["rain"]])


@pytest.mark.slow
def test_the_order_of_columns_does_not_matter():
    order = ["sun", "insects", "plants", "rain"]
    assert arrows(causal_learn.pc(GARDEN[order]).G) == EDGES
    one, other = CIT(GARDEN.to_numpy(), "dine"), CIT(GARDEN[order].to_numpy(), "dine")
    assert one(0, 1, (2, 3)) == one(1, 0, (3, 2)) == other(1, 3, (2, 0))


# --- killed, and started again ---

SEARCH = """
import sys
import numpy as np
from pydine.integrations.causal_learn import pc

pc(np.load(sys.argv[1]), cache=sys.argv[2])
"""


def chain(n=200, p=7):
    rng = np.random.default_rng(0)
    columns = [*rng.standard_normal((2, n))]
    for _ in range(2, p):
        columns.append(np.tanh(columns[-1]) + np.abs(columns[-2]) + 0.4 * rng.standard_normal(n))
    return np.column_stack(columns)


def search_in(folder):
    """The graph, the p-values, and how many units were found and fitted."""
    found = causal_learn.pc(chain(), cache=folder)
    info = found.test.cache.info()
    return found.G.graph.tolist(), found.test.pvalue_cache, info.hits, info.misses


def units_in(folder):
    return len([path for path in folder.glob("*/*.npz") if not path.name.startswith(".")])


def kill_in_the_middle(data, folder, n_units):
    """Whether a search was still running when it had fitted some units and was killed."""
    process = subprocess.Popen([sys.executable, "-c", SEARCH, str(data), str(folder)])
    while process.poll() is None and units_in(folder) < n_units:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_a_killed_search_resumes_and_fits_only_what_is_missing(tmp_path):
    graph, pvalues, hits, fitted = search_in(tmp_path / "whole")
    assert hits > 0
    assert units_in(tmp_path / "whole") == fitted > 20
    data = tmp_path / "chain.npy"
    np.save(data, chain())
    # A busy machine may let a search end before it is killed; another one is started then.
    folder = next(f for f in (tmp_path / str(i) for i in range(5)) if kill_in_the_middle(data, f, 5))
    kept = units_in(folder)
    assert 5 <= kept < fitted
    assert search_in(folder) == (graph, pvalues, hits + kept, fitted - kept)
    assert search_in(folder) == (graph, pvalues, hits + fitted, 0)


# --- tigramite ---

LINKS = {(0, 0, 1), (1, 1, 1), (0, 1, 1), (1, 2, 0)}  # (cause, effect, lag)


def series(n=400, seed=0):
    """One drives another by its square a step later, which drives a third at the same time by its absolute value."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n + 50, 3))
    for t in range(1, n + 50):
        noise = 0.7 * rng.standard_normal(3)
        values[t, 0] = 0.5 * values[t - 1, 0] + noise[0]
        values[t, 1] = 0.4 * values[t - 1, 1] + 0.9 * values[t - 1, 0] ** 2 + noise[1]
        values[t, 2] = 1.5 * np.abs(values[t, 1] - 1.0) + noise[2]
    return values[50:]


@pytest.mark.slow
def test_pcmci_finds_the_links():
    test = tigramite.DineTest()
    results = PCMCI(DataFrame(series()), cond_ind_test=test).run_pcmciplus(tau_max=1, pc_alpha=0.01)
    found = np.argwhere(results["graph"] != "")
    assert {(i, j, lag) for i, j, lag in found.tolist() if lag or i < j} == LINKS
    assert results["p_matrix"].min() > 0.0
    assert results["val_matrix"][0, 1, 1] == pytest.approx(-np.log(results["p_matrix"][0, 1, 1]))
    assert test.cache.info().hits > 0


def test_tigramite_may_name_columns_in_any_order():
    test, x = tigramite.DineTest(verbosity=0), series(200)
    value, pvalue = test.run_test_raw(x[:-1, [0]], x[1:, [1]], z=x[:-1, 1:])
    assert test.run_test_raw(x[1:, [1]], x[:-1, [0]], z=x[:-1, [2, 1]]) == (value, pvalue)
    assert pvalue == pytest.approx(np.exp(-value))
    assert test.cache.info().misses == 2
    assert test.measure == "dine"


def test_tigramite_s_discrete_values_are_labels():
    rng = np.random.default_rng(0)
    code, marks = rng.integers(0, 3, 300), np.ones((300, 1), dtype=int)
    y = rng.standard_normal(300) + (code == 1)  # in no order of the codes
    _, pvalue = tigramite.DineTest(time=False).run_test_raw(code[:, None] * 1.0, y[:, None], x_type=marks)
    assert pvalue == pytest.approx(dowhy.DineTest()(code.astype(str), y), rel=1e-9)


# --- pgmpy and dowhy, where they are installed ---


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("variant", ["stable", "parallel"])
def test_pgmpy_finds_the_graph(variant):
    discovery = pytest.importorskip("pgmpy.causal_discovery", reason="pgmpy is not installed")
    test = pgmpy.DineTest(GARDEN)
    search = discovery.PC(variant, ci_test=test, significance_level=0.05, show_progress=False, n_jobs=2)
    assert set(search.fit(GARDEN).causal_graph_.directed_edges) == EDGES
    assert not search.causal_graph_.undirected_edges
    assert test.cache.info().hit_rate > 0.2


@pytest.mark.filterwarnings("ignore")
def test_pgmpy_s_older_interface_in_processes(tmp_path):
    estimators = pytest.importorskip("pgmpy.estimators", reason="pgmpy is not installed")
    test = pgmpy.DineTest(GARDEN, cache=tmp_path)
    found = estimators.PC(GARDEN).estimate(
        variant="parallel", ci_test=test, significance_level=0.05, n_jobs=2, show_progress=False
    )
    assert set(found.directed_edges) == EDGES


@pytest.mark.filterwarnings("ignore")
def test_dowhy_falsifies_a_wrong_graph_and_not_the_right_one(tmp_path):
    gcm = pytest.importorskip("dowhy.gcm.validation", reason="dowhy is not installed")
    networkx = pytest.importorskip("networkx")
    test = dowhy.DineTest(cache=tmp_path)
    wrong = {("rain", "plants"), ("sun", "insects"), ("plants", "insects")}
    outcomes = [
        gcm.refute_causal_structure(
            networkx.DiGraph(sorted(edges)), GARDEN, independence_test=test, conditional_independence_test=test
        )[0].name
        for edges in (EDGES, wrong)
    ]
    assert outcomes == ["NOT_REJECTED", "REJECTED"]


@pytest.mark.filterwarnings("ignore")
def test_dowhy_in_processes(tmp_path):
    falsify = pytest.importorskip("dowhy.gcm.falsify", reason="dowhy is not installed")
    networkx = pytest.importorskip("networkx")
    test = dowhy.DineTest(cache=tmp_path)
    summary = falsify.validate_lmc(
        networkx.DiGraph(sorted(EDGES)), GARDEN, independence_test=test, conditional_independence_test=test, n_jobs=2
    )
    assert summary[falsify.FalsifyConst.N_VIOLATIONS] == 0
    assert any(tmp_path.iterdir())  # the processes have kept their flows in the folder

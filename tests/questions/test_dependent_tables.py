"""Rows that depend on each other, at the doors that ask about whole tables: selection, wide tables, graphs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

import pydine
from pydine.sampling import Clusters, Series


def panel(seed=0, count=30, size=10):
    """Columns a and y are linked; b and w belong to subjects, as a and y do, and have nothing to do with them."""
    rng, who = np.random.default_rng(seed), np.repeat(np.arange(count), size)
    own, shared = rng.normal(size=(4, count * size)), rng.normal(size=(4, count))[:, who]
    a, b, w, e = 0.8 * shared + 0.6 * own
    return pd.DataFrame({"a": a, "b": b, "w": w, "y": a + e, "who": who})


def test_a_selector_counts_clusters():
    false, found = [], []
    for seed in range(12):
        data = panel(seed)
        X, y = data[["b", "w"]], data["y"]
        false.append([len(pydine.ConditionalSelector().fit(X, y, **k).selected_) for k in ({}, {"clusters": data.who})])
        told = pydine.ConditionalSelector().fit(data[["a", "b"]], y, clusters=data.who)
        found.append(list(told.get_support()))
    assert np.mean(false, axis=0)[0] > 3 * np.mean(false, axis=0)[1]
    assert [True, True] not in found
    assert found.count([True, False]) > 9


def test_a_selector_answers_as_the_test_does():
    data = panel(1)
    told = pydine.ConditionalSelector(base="gaussian").fit(data[["b"]], data["y"], clusters=data.who)
    test = pydine.independence_test(data.b, data.y, clusters=data.who, method="analytic")
    assert told.pvalues_[0] == pytest.approx(test.pvalue, rel=1e-6)


def test_a_column_of_subjects_is_never_selected():
    data = panel(2)
    data["y"] += 0.08 * data["who"]  # it tells something
    for who in (data["who"], "s" + data["who"].astype(str)):
        X = data[["a", "b"]].assign(who=who)
        told = pydine.ConditionalSelector().fit(X, data["y"], clusters="who")
        assert list(told.get_support()) == [True, False, False]
        assert told.pvalues_[2] == 1.0
    assert pydine.ConditionalSelector().fit(data[["a", "b", "who"]], data["y"]).get_support()[2]


def test_scikit_learn_passes_clusters_on():
    data = panel(3)
    X, y = data[["a", "b"]].to_numpy(), data["y"].to_numpy()
    piped = make_pipeline(pydine.ConditionalSelector(), LinearRegression())
    piped.fit(X, y, conditionalselector__clusters=data["who"].to_numpy())
    assert list(piped[0].get_support()) == [True, False]
    with sklearn.config_context(enable_metadata_routing=True):
        selector = pydine.ConditionalSelector().set_fit_request(clusters=True, time=True)
        scores = cross_validate(
            make_pipeline(selector, LinearRegression()),
            X,
            y,
            cv=GroupKFold(3),
            params={"clusters": data["who"].to_numpy(), "groups": data["who"].to_numpy()},
            return_estimator=True,
        )
    for fitted in scores["estimator"]:
        assert list(fitted[0].get_support()) == [True, False]


@pytest.mark.filterwarnings("ignore:There are only 3 clusters")
def test_lists_are_names_only_if_all_are():
    data = panel(4).assign(site=lambda frame: frame.who % 3)
    both = pydine.pairwise_information(data[["a", "b", "who", "site"]], clusters=["who", "site"])
    assert both.names == ("a", "b")
    values = data[["a", "b", "y"]].to_numpy()
    told = pydine.pairwise_information(values, clusters=[int(who) // 10 for who in data.who], base="gaussian")
    assert told.names == ("column 0", "column 1", "column 2")


@pytest.mark.parametrize("said", [{"clusters": "who"}, {"time": True}])
def test_wide_tables_have_the_figures_of_single_questions(said):
    data = panel(5)
    found = pydine.wide_information(data if "clusters" in said else data.drop(columns="who"), alpha=1.0, **said)
    assert found.names == ("a", "b", "w", "y")
    assert len(found) == 6
    for i, j, value, error, p in zip(
        found.first, found.second, found.values, found.standard_errors, found.pvalues, strict=True
    ):
        pair = found.names[i], found.names[j]
        test = pydine.independence_test(*pair, data=data, method="analytic", **said)
        alone = pydine.mutual_information(*pair, data=data, base="gaussian", **said)
        assert p == pytest.approx(test.pvalue, rel=1e-3)
        assert value == pytest.approx(alone.value, abs=1e-4)
        assert error == pytest.approx(alone.standard_error, rel=1e-3)


def test_wide_matrices_too(tmp_path):
    data = panel(6)
    found = pydine.wide_information(data, alpha=1.0, clusters="who", out=tmp_path)
    matrix = np.load(tmp_path / "information.npy")
    assert matrix[found.first, found.second] == pytest.approx(found.values)


def test_streams_refuse(tmp_path):
    panel(0).to_parquet(tmp_path / "panel.parquet")
    refusal = "clusters=, time=, within= and weights= are not available for streamed tables"
    with pytest.raises(ValueError, match=refusal):
        pydine.wide_information(tmp_path / "panel.parquet", clusters="who")


def test_a_graph_counts_clusters(tmp_path):
    told, untold = [], []
    for seed in range(6):
        data = panel(seed, count=40)
        shown = [
            {edge.source + edge.target for edge in graph.edges}
            for graph in (
                pydine.causal_graph(data, 0.05, clusters="who", strengths=False, cache=tmp_path),
                pydine.causal_graph(data.drop(columns="who"), 0.05, strengths=False, cache=tmp_path),
            )
        ]
        assert shown[0] & {"ay", "ya"}
        told.append(len(shown[0]) - 1)
        untold.append(len(shown[1]) - 1)
    assert np.mean(told) < 1.0 < np.mean(untold)


def test_a_graph_has_the_strengths_of_single_questions():
    data = panel(7)
    (edge,) = (e for e in pydine.causal_graph(data, clusters="who").edges if {e.source, e.target} == {"a", "y"})
    alone = pydine.mutual_information("a", "y", list(edge.given) or None, data=data, clusters="who")
    assert edge.information == pytest.approx(alone.value, rel=1e-6)
    assert (edge.low, edge.high) == pytest.approx(alone.confidence_interval())


@pytest.mark.filterwarnings("ignore:There are only 5 clusters")
def test_resampled_graphs_have_whole_clusters():
    data = panel(8, count=12)
    graph = pydine.causal_graph(data, clusters="who", bootstrap=3, strengths=False)
    assert all(0.0 <= edge.stability <= 1.0 for edge in graph.edges)
    with pytest.raises(ValueError, match="clusters must number at least 10 to resample, but there are 5"):
        pydine.causal_graph(data[data.who < 5], clusters="who", bootstrap=1)


def test_resampled_rows():
    rng = np.random.default_rng
    codes, order = np.repeat(np.arange(20), 7), rng(1).permutation(140)
    drawn = Clusters(codes).resampled(order, rng(0))
    assert set(np.bincount(codes[drawn], minlength=20)) == {0, 7}
    renamed = Clusters((codes * 7 + 3) % 20).resampled(order, rng(0))
    assert np.array_equal(drawn, renamed)
    in_time = Series(np.arange(400)).resampled(np.arange(400), rng(0))
    assert 150 < len(in_time) < 350
    assert np.count_nonzero(np.diff(in_time) > 1) < 30

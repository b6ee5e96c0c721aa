"""Rows that depend on each other, at the doors: laws, levels, and refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import pydine
from pydine.inputs.dependence import DependentRowsWarning, FewClustersWarning
from pydine.questions.search import TableTest


def series(seed, n=300, phi=0.9, nats=0.0):
    rng = np.random.default_rng(seed)
    e, rho = rng.normal(size=(2, n + 100)), np.sqrt(-np.expm1(-2.0 * nats))
    e[1] = rho * e[0] + np.sqrt(1.0 - rho**2) * e[1]
    return lfilter([1.0], [1.0, -phi], e, axis=1)[:, 100:]


def groups(seed, count=40, size=5, within=0.5):
    rng, codes = np.random.default_rng(seed), np.repeat(np.arange(count), size)
    a, e = rng.normal(size=(2, count)), rng.normal(size=(2, count * size))
    return *(np.sqrt(within) * a[:, codes] + np.sqrt(1.0 - within) * e), codes


def same(one, other, rel=1e-6):
    assert one.value == pytest.approx(other.value, rel=rel, abs=1e-6)
    assert one.confidence_interval() == pytest.approx(other.confidence_interval(), rel=rel, abs=1e-6)


def width(estimate):
    low, high = estimate.confidence_interval()
    return high - low


def test_clusters_of_one_row_are_independent_rows():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    x, y = z + rng.normal(size=(2, 300))
    for data in ((x, y), (x, y, z)):
        plain, told = pydine.mutual_information(*data), pydine.mutual_information(*data, clusters=np.arange(300))
        assert told.value == pytest.approx(plain.value, rel=1e-6)
        assert width(told) == pytest.approx(width(plain), rel=0.02)
        tests = [pydine.independence_test(*data, method="analytic", **k) for k in ({}, {"clusters": np.arange(300)})]
        assert tests[0].pvalue == pytest.approx(tests[1].pvalue, rel=0.2, abs=1e-6)


@pytest.mark.slow
def test_time_of_white_noise_costs_little():
    widths = []
    for seed in range(12):
        x, y = series(seed, 800, phi=0.0, nats=0.2)
        widths.append([width(pydine.mutual_information(x, y, **said)) for said in ({"time": True}, {})])
    ratio = np.mean(widths, axis=0)
    assert 0.9 < ratio[0] / ratio[1] < 1.1


def test_names_of_clusters_and_the_order_of_rows_do_not_matter():
    x, y, codes = groups(0)
    order = np.random.default_rng(1).permutation(len(codes))
    first = pydine.mutual_information(x, y, clusters=codes)
    same(first, pydine.mutual_information(x[order], y[order], clusters=[f"s{c}" for c in codes[order]]))
    assert first.sampling == "40 clusters"
    assert first.degrees_of_freedom == pytest.approx(39.0)


def test_time_may_run_either_way():
    x, y = series(0, nats=0.1)
    same(pydine.mutual_information(x, y, time=True), pydine.mutual_information(x[::-1], y[::-1], time=True))
    shuffled, times = np.random.default_rng(2).permutation(300), np.arange(300) * 3.0
    same(
        pydine.mutual_information(x, y, time=True),
        pydine.mutual_information(x[shuffled], y[shuffled], time=times[shuffled]),
    )


def test_dates_order_rows():
    x, y = series(3)
    frame = pd.DataFrame({"x": x, "y": y, "day": pd.date_range("2024-01-01", periods=300)})[::-1]
    same(pydine.mutual_information("x", "y", data=frame, time="day"), pydine.mutual_information(x, y, time=True))


def test_rows_that_stand_three_times_count_once():
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 200))
    y = 0.5 * x + e
    once = pydine.mutual_information(x, y)
    thrice = pydine.mutual_information(np.repeat(x, 3), np.repeat(y, 3), clusters=np.repeat(np.arange(200), 3))
    assert thrice.value == pytest.approx(once.value, abs=0.01)
    assert width(thrice) == pytest.approx(width(once), rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["analytic", "permutation"])
def test_the_level(method):
    told, untold = [], []
    for seed in range(40):
        x, y = series(seed)
        told.append(pydine.independence_test(x, y, time=True, method=method, n_permutations=199).rejected)
        u, v, codes = groups(seed)
        told.append(pydine.independence_test(u, v, clusters=codes, method=method, n_permutations=199).rejected)
        with pytest.warns(DependentRowsWarning):
            untold.append(pydine.independence_test(x, y, method=method, n_permutations=199).rejected)
    assert np.mean(told) < 0.15
    assert np.mean(untold) > 0.5


def test_dependence_is_found():
    x, y = series(0, n=500, phi=0.8, nats=0.2)
    for method in ("analytic", "permutation"):
        assert pydine.independence_test(x, y, time=True, method=method).pvalue < 0.01
    assert pydine.mutual_information(x, y, time=True).confidence_interval().low > 0.0


def test_within_clusters_means_are_given():
    rng, codes = np.random.default_rng(0), np.repeat(np.arange(60), 6)
    a = rng.normal(size=60)[codes]
    x, y = 2.0 * a + rng.normal(size=(2, 360))
    assert pydine.independence_test(x, y, clusters=codes, method="analytic").rejected
    found = pydine.mutual_information(x, y, clusters=codes, within="clusters")
    assert found.names[2] == ("mean of x", "mean of y")
    assert found.confidence_interval().low == 0.0
    y = a + x - 2.0 * a + 0.5 * rng.normal(size=360)
    assert pydine.mutual_information(x, y, clusters=codes, within="clusters").confidence_interval().low > 0.3


def test_labels_in_clusters():
    x, y, codes = groups(1, count=60)
    label = np.where(x > 0.0, "high", "low")
    for other in (y, np.where(y > 0.0, "a", "b")):
        told = pydine.mutual_information(label, other, clusters=codes)
        assert told.sampling == "60 clusters"
        assert told.confidence_interval().low == 0.0
        assert not pydine.independence_test(label, other, clusters=codes, method="analytic").rejected


def test_every_door_says_the_same():
    x, y, codes = groups(2)
    w = x + np.random.default_rng(3).normal(size=len(x))
    frame = pd.DataFrame({"x": x, "y": y, "w": w, "who": codes})
    alone = pydine.mutual_information("x", "w", data=frame, clusters="who")
    pairs = pydine.pairwise_information(frame, clusters="who")
    assert pairs.names == ("x", "y", "w")
    assert pairs.values[0, 2] == pytest.approx(alone.value)
    line = pairs.to_frame().set_index(["x", "y"]).loc[("x", "w")]
    assert (line["low"], line["high"]) == pytest.approx(alone.confidence_interval())
    ranked = {column.name: column.alone for column in pydine.rank(frame, "x", clusters="who")}
    assert set(ranked) == {"y", "w"}
    same(ranked["w"], alone)
    same(pydine.DINE().fit(x, w, clusters=codes).information_, alone)
    test = TableTest(frame, clusters="who")
    expected = pydine.independence_test("x", "w", data=frame, clusters="who", method="analytic").pvalue
    assert test.ask_columns(0, 2).pvalue == pytest.approx(expected)


def test_a_word_unasked():
    x, y = series(0)
    with pytest.warns(DependentRowsWarning, match="pass time=True; if they belong to subjects or groups, clusters="):
        pydine.mutual_information(x, y)
    order = np.argsort(x)
    pydine.mutual_information(x[order], np.random.default_rng(0).permutation(y))  # sorted rows say nothing


def test_few_clusters():
    x, y, codes = groups(0, count=5, size=30)
    with pytest.warns(FewClustersWarning, match="There are only 5 clusters"):
        pydine.mutual_information(x, y, clusters=codes)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"clusters": np.repeat([0, 1], 100)}, "clusters must number at least 3, but there are 2"),
        ({"clusters": np.arange(50)}, "clusters must have one entry per row, 200, but has 50"),
        ({"time": np.repeat(np.arange(20.0), 10)}, "some times more than once, as in a panel; pass clusters="),
        ({"time": np.append(np.arange(199.0), np.nan)}, "time must be True, or 200 times with none missing"),
        ({"within": "clusters"}, "within='clusters' needs clusters="),
        ({"within": "time"}, "within must be None or 'clusters', but got 'time'"),
    ],
)
def test_refusals(said, message):
    x, y, _ = groups(0)
    with pytest.raises(ValueError, match=message):
        pydine.mutual_information(x, y, **said)


def test_the_papers_algorithm_refuses():
    x, y, codes = groups(0)
    with pytest.raises(ValueError, match="not available for the paper's algorithm"):
        pydine.DINE.paper().fit(x, y, clusters=codes)


CONTRASTS = {
    "compare": lambda *sides, **said: pydine.compare(*sides, **said),
    "compare, given": lambda a, b, y, **said: pydine.compare(a, b, y, np.exp(a - b), **said),
    "interaction": lambda *sides, **said: pydine.interaction(*sides, **said),
    "compare_groups": lambda a, b, y, **said: pydine.compare_groups(
        "a", "y", data={"a": a, "y": y, "by": np.where(b > 0.0, "high", "low")}, by="by", **said
    ),
}


@pytest.mark.parametrize("name", CONTRASTS)
def test_contrasts_of_rows_that_stand_three_times(name):
    ask = CONTRASTS[name]
    # Clusters have other folds than rows, so these are not data of which it is in doubt whether they have a shape.
    y, e, f = np.random.default_rng(4).normal(size=(3, 240))
    sides = [y + e, y + f, y]
    once = ask(*sides)
    thrice = ask(*(np.repeat(side, 3) for side in sides), clusters=np.repeat(np.arange(240), 3))
    assert thrice.value == pytest.approx(once.value, abs=0.6 * once.standard_error)
    assert width(thrice) == pytest.approx(width(once), rel=0.2)


def test_what_groups_have_in_common_cancels():
    """Each subject has a row in either group, with the same values but for a little noise."""
    rng, who = np.random.default_rng(0), np.tile(np.arange(200), 2)
    x, e = rng.normal(size=(2, 200))[:, who]
    data = {"x": x, "y": x + e + 0.1 * rng.normal(size=400), "by": np.repeat(["before", "after"], 200), "who": who}
    apart = pydine.compare_groups("x", "y", data={k: v for k, v in data.items() if k != "who"}, by="by")
    told = pydine.compare_groups("x", "y", data=data, by="by", clusters="who")
    assert apart.correlation == 0.0
    assert told.correlation > 0.7
    assert told.standard_error < 0.6 * apart.standard_error


def test_series_are_compared():
    x, y = series(1, n=400, phi=0.8, nats=0.2)
    noise = series(2, n=400, phi=0.8)[0]
    found = pydine.compare(x, noise, y, time=True)
    assert found.verdict() == "a tells more"
    assert found.first.sampling == "in time"
    assert width(found) > 1.1 * width(pydine.compare(x, noise, y, clusters=np.arange(400)))


def test_columns_that_say_how_rows_were_sampled_are_not_asked_about():
    x, y, codes = groups(3)
    w = x + y + np.random.default_rng(4).normal(size=len(x))
    frame = pd.DataFrame({"x": x, "y": y, "w": w, "who": codes})
    assert pydine.corr(frame, clusters="who").columns.tolist() == ["x", "y", "w"]
    assert pydine.synergies(frame, "w", clusters="who").names == ("x", "y")
    steps = pydine.why(frame, "x", "w", clusters="who").steps
    assert steps[-1].left.names[2] == ("y",)
    assert steps[0].left.sampling == "40 clusters"

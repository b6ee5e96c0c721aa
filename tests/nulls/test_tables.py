"""Tables of labels: Fisher's exact test, permutations, and orders of labels that do not matter."""

import pickle

import numpy as np
import pytest
from scipy.stats import chi2, fisher_exact
from scipy.stats.contingency import expected_freq

import pydine
from pydine.nulls.tables import CodeTable
from pydine.questions import independence
from pydine.questions.search import TableTest


def codes_of(*tables):
    """Codes x, y and z of rows that have these tables, one for each value of z."""
    found = [(i, j, k) for k, table in enumerate(tables) for (i, j), c in np.ndenumerate(table) for _ in range(c)]
    return tuple(np.array(found).T)


@pytest.mark.parametrize("table", [[[0, 5], [906, 89]], [[3, 1], [1, 3]], [[8, 2], [1, 5]]])
def test_two_by_two_is_fisher_s_exact_test(table):
    exact = fisher_exact(table)[1]
    assert CodeTable(*codes_of(np.array(table))).pvalue == pytest.approx(exact, rel=1e-9)
    x, y, _ = codes_of(np.array(table))
    if len(x) > 20:
        labels = np.array(["no", "yes"])
        assert pydine.independence_test(labels[x], labels[y], method="analytic").pvalue == pytest.approx(
            exact, rel=1e-9
        )


def test_full_tables_have_the_chi_squared_distribution():
    table = np.array([[120, 90, 100], [100, 110, 105]])
    g = 2.0 * float((table * np.log(table / expected_freq(table))).sum())
    assert CodeTable(*codes_of(table)).pvalue == pytest.approx(chi2.sf(g, 2), rel=0.02)


@pytest.mark.parametrize("tables", [([[6, 1, 2], [1, 4, 1]],), ([[4, 1], [1, 3]], [[2, 3], [0, 6]])])
def test_sparse_tables_have_the_distribution_of_permutations(tables):
    x, y, z = codes_of(*map(np.array, tables))
    rng = np.random.default_rng(0)

    def g(y):
        counts = np.zeros((z.max() + 1, x.max() + 1, y.max() + 1))
        np.add.at(counts, (z, x, y), 1.0)
        return float((counts * np.log(np.maximum(counts, 1.0))).sum())

    drawn = []
    for _ in range(3000):
        permuted = y.copy()
        for k in np.unique(z):
            permuted[z == k] = rng.permutation(y[z == k])
        drawn.append(g(permuted))
    expected = np.mean(np.array(drawn) >= g(y) - 1e-9)
    assert CodeTable(x, y, z).pvalue == pytest.approx(expected, rel=0.25)


def test_the_order_of_labels_does_not_matter():
    rng = np.random.default_rng(1)
    for _ in range(40):
        x, y, z = rng.integers(0, 4, 60), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
        renamed = CodeTable(rng.permutation(4)[x], rng.permutation(3)[y], 1 - z).pvalue
        assert CodeTable(y, x, z).pvalue == pytest.approx(CodeTable(x, y, z).pvalue, rel=1e-6)
        assert renamed == pytest.approx(CodeTable(x, y, z).pvalue, rel=1e-6)


def test_permuted_tables_are_always_the_same_and_uniform():
    rng = np.random.default_rng(2)
    x, y, z = rng.integers(0, 3, 200), rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    first, again = (CodeTable(x, y, z).permuted(400, np.random.default_rng(5))[1] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert abs(np.mean(first <= 0.1) - 0.1) < 0.02


def test_tables_with_more_cells_than_rows_are_too_sparse():
    rows = np.arange(40)
    assert CodeTable(rows % 20, rows // 2, np.zeros(40, dtype=int)).is_sparse
    assert not CodeTable(rows % 2, rows // 20, np.zeros(40, dtype=int)).is_sparse


def labels(seed, n=400):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    x, y = (np.where(rng.random(n) < 0.6, z, rng.integers(0, 3, n)) for _ in range(2))
    return {name: np.char.add(name, column.astype(str)) for name, column in {"x": x, "y": y, "z": z}.items()}


def test_labels_are_tested_without_any_fit_and_the_estimate_is_made_when_asked_for(monkeypatch):
    data, calls, fit = labels(3), [], independence.fit

    def counted(*arguments, **named):
        calls.append(arguments)
        return fit(*arguments, **named)

    monkeypatch.setattr(independence, "fit", counted)
    result = pydine.independence_test("x", "y", "z", data=data, method="analytic")
    assert 0.0 < result.pvalue <= 1.0
    assert not calls
    expected = pydine.mutual_information("x", "y", "z", data=data, base="gaussian")
    assert result.estimate.value == expected.value
    assert len(calls) == 1
    untouched = pydine.independence_test("x", "y", "z", data=data, method="analytic")
    assert pickle.loads(pickle.dumps(untouched)).estimate.value == result.estimate.value


def test_labels_have_the_same_p_value_at_every_door():
    data = labels(4)
    pvalue = pydine.independence_test("x", "y", "z", data=data, method="analytic").pvalue
    assert TableTest(data).ask_columns(0, 1, [2]).pvalue == pvalue
    pairs = pydine.pairwise_information(data, "z", test=True)
    assert pairs.pvalues[0, 1] == pvalue
    renamed = {name: np.array([f"{v[::-1]}!" for v in column])[::-1] for name, column in data.items()}
    assert pydine.independence_test("x", "y", "z", data=renamed, method="analytic").pvalue == pytest.approx(pvalue)

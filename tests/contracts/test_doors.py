"""One question, one answer: whichever door it is asked through, however it is put."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.integrations import causal_learn, dowhy, pgmpy, tigramite
from pydine.questions.ranking import rank
from pydine.questions.search import SearchTest, TableTest

CLOSE = {"rel": 1e-9, "abs": 1e-9}
N = 200


def ordinary(rng, dz):
    z = rng.standard_normal((N, dz))
    x, y = rng.standard_normal((2, N)) + 0.8 * z.sum(axis=1)
    return x, y + 0.5 * x, z


def curved(rng, dz):
    z = rng.standard_normal((N, dz))
    x = np.sin(2.0 * z[:, 0]) + rng.standard_normal(N)
    return x, z[:, -1] ** 2 + 0.7 * x**2 + rng.standard_normal(N), z


def tied(rng, dz):
    x, y, z = ordinary(rng, dz)
    return np.round(x), np.round(2.0 * y), np.round(z, 1)


def clustered(rng, dz):
    z, which = rng.standard_normal((N, dz)), rng.integers(0, 3, N)
    x, y = np.array([[0.0, 2.0, 4.0], [0.0, 3.0, -1.0]])[:, which] + 0.5 * rng.standard_normal((2, N))
    return x, y, z


def labels(rng, dz):
    x, y, z = ordinary(rng, dz)
    return (x > 0.0) * 1.0, y, z


def counted(rng, dz):
    x, y, z = ordinary(rng, dz)
    return rng.poisson(np.exp(0.4 * x)) * 1.0, np.where(rng.random(N) < 0.3, 0.0, np.exp(y)), z


def determined(rng, dz):
    _, y, z = ordinary(rng, dz)
    return np.exp(z[:, 0]), y, z


def grouped(rng, dz):
    _, y, z = ordinary(rng, dz)
    return (z[:, 0] > 0.0) * 1.0, y, z


def combined(rng, dz):
    _, y, z = ordinary(rng, dz)
    return z @ np.arange(1.0, dz + 1.0), y, z


def equal(rng, dz):
    x, _, z = ordinary(rng, dz)
    return x, -(x**3), z


QUESTIONS = {
    **{f"ordinary, dz = {dz}": (ordinary, dz) for dz in range(6)},
    **{f"curved, dz = {dz}": (curved, dz) for dz in (1, 3)},
    **{f"tied, dz = {dz}": (tied, dz) for dz in (0, 1, 3)},
    **{f"clustered, dz = {dz}": (clustered, dz) for dz in (0, 2)},
    **{f"labels, dz = {dz}": (labels, dz) for dz in (0, 2)},
    **{f"counts and point masses, dz = {dz}": (counted, dz) for dz in (0, 1)},
    **{f"z determines x, dz = {dz}": (determined, dz) for dz in (1, 3)},
    "z determines a label, dz = 2": (grouped, 2),
    "a sum of z is x, dz = 2": (combined, 2),
    **{f"x equals y, dz = {dz}": (equal, dz) for dz in (0, 2)},
}


# One of each kind, with as few columns in z as show it, is enough in between; the others are of the whole suite.
QUICK = {
    "ordinary, dz = 0",
    "ordinary, dz = 2",
    "curved, dz = 1",
    "tied, dz = 1",
    "clustered, dz = 0",
    "labels, dz = 0",
    "z determines x, dz = 1",
    "a sum of z is x, dz = 2",
    "x equals y, dz = 0",
}
assert set(QUESTIONS) > QUICK


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in QUESTIONS], scope="module"
)
def asked(request):
    make, dz = QUESTIONS[request.param]
    x, y, z = make(np.random.default_rng([7, dz]), dz)
    return x, y, z if dz else None


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pydine.TiesWarning)
        warnings.simplefilter("ignore", pydine.DeterminedWarning)
        yield


@pytest.fixture(scope="module")
def told(asked):
    """What the functions say: the value by default, that of the Gaussian base, and the p-value."""
    x, y, z = asked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            pydine.mutual_information(x, y, z).value,
            pydine.mutual_information(x, y, z, base="gaussian").value,
            pydine.independence_test(x, y, z, method="analytic").pvalue,
        )


def frame_of(asked):
    x, y, z = asked
    given = {} if z is None else {f"z{i}": column for i, column in enumerate(z.T)}
    return pd.DataFrame({"x": x, "y": y, **given}), list(given)


def test_the_estimator(asked, told):
    assert pydine.DINE().fit(*asked).information_.value == pytest.approx(told[0], **CLOSE)


def test_the_test_s_own_estimate(asked, told):
    result = pydine.independence_test(*asked, method="analytic")
    assert (result.estimate.value, result.pvalue) == pytest.approx(told[1:], **CLOSE)


def test_all_pairs_of_these_columns(asked, told):
    frame, given = frame_of(asked)
    found = pydine.pairwise_information(frame, given=given or None)
    assert (found.values[0, 1], found.pvalues[0, 1]) == pytest.approx((told[0], told[2]), **CLOSE)


@pytest.mark.slow
def test_a_ranking(asked, told):
    frame, given = frame_of(asked)
    (column,) = [column for column in rank(frame, "y", ["x", *given]) if column.name == "x"]
    assert (column.given_rest.value, column.pvalue_given_rest) == pytest.approx((told[0], told[2]), **CLOSE)


def test_feature_selection(asked, told):
    x, y, z = asked
    scores, pvalues = pydine.mutual_information_score(x[:, None], y, target="numbers")
    alone = pydine.mutual_information(x, y), pydine.independence_test(x, y, method="analytic")
    assert (scores[0], pvalues[0]) == pytest.approx((alone[0].value, alone[1].pvalue), **CLOSE)
    if z is None:
        assert (scores[0], pvalues[0]) == pytest.approx((told[0], told[2]), **CLOSE)


@pytest.mark.slow
def test_the_selector_s_own_figures():
    """What it says of a feature that it did not select is the answer given those that it did."""
    x, y, z = curved(np.random.default_rng(0), 2)
    X = np.column_stack([x, z, np.random.default_rng(1).standard_normal(N)])
    selector = pydine.ConditionalSelector().fit(X, y)
    for feature in range(X.shape[1]):
        given = X[:, [i for i in selector.selected_ if i != feature]]
        value = pydine.mutual_information(X[:, feature], y, given).value
        pvalue = pydine.independence_test(X[:, feature], y, given, method="analytic").pvalue
        assert (selector.information_[feature], selector.pvalues_[feature]) == pytest.approx((value, pvalue), **CLOSE)


def test_searches(asked, told):
    x, y, z = asked
    frame, given = frame_of(asked)
    places = range(2, 2 + len(given))
    for answer in (SearchTest().ask(x, y, z), TableTest(frame).ask_columns(0, 1, places)):
        assert (answer.information, answer.pvalue) == pytest.approx(told[1:], **CLOSE)


@pytest.mark.slow
def test_the_adapters(asked, told):
    x, y, z = asked
    frame, given = frame_of(asked)
    columns = frame.to_numpy()
    assert causal_learn.DineTest(columns)(0, 1, tuple(range(2, columns.shape[1]))) == pytest.approx(told[2], **CLOSE)
    assert dowhy.DineTest()(x, y, z) == pytest.approx(told[2], **CLOSE)
    by_name = pgmpy.DineTest(frame)
    by_name("x", "y", given)
    assert (by_name.effect_size_, by_name.p_value_) == pytest.approx(told[1:], **CLOSE)
    side = np.array([0, 1] + [2] * len(given))
    test = tigramite.DineTest()
    assert test.get_analytic_significance(test.get_dependence_measure(columns.T, side)) == pytest.approx(
        told[2], **CLOSE
    )


def test_ways_to_put_it(asked, told):
    """Sides swapped, columns of z in another order, rows in another order, a column negated."""
    x, y, z = asked
    rows = np.random.default_rng(5).permutation(N)
    shuffled = x[rows], y[rows], None if z is None else z[rows]
    for way in ((y, x, z), (x, y, None if z is None else z[:, ::-1]), shuffled, (-x, y, z)):
        value = pydine.mutual_information(*way).value
        pvalue = pydine.independence_test(*way, method="analytic").pvalue
        assert (value, pvalue) == pytest.approx((told[0], told[2]), rel=1e-6, abs=1e-8)

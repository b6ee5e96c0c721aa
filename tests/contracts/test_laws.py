"""Whatever is the same information gives the same answer; `make laws` asks about a thousand datasets."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pydine
from laws import checks
from laws.samples import drawn

# One of each: numbers alone given several, labels by the dozen, point masses, codes, halves, several columns a side.
SEEDS = [0, 1, 2, 3, 5, 9, 11, 71, 99]
ROWS = 250


@pytest.fixture(params=SEEDS, scope="module")
def sample(request):
    return drawn(request.param, ROWS)


@pytest.fixture(scope="module")
def answer(sample):
    return checks.ask(sample)


@pytest.mark.slow
@pytest.mark.parametrize("law", checks.EXACT)
def test_the_same_information(sample, answer, law):
    again = checks.ask(checks.EXACT[law](sample, np.random.default_rng(1)))
    assert checks.moved(answer, again) < checks.ROUNDING, sample.name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1061, 1129, 1209, 1273, 20171, 21128, 22043])
def test_what_the_long_run_found(seed):
    """Ties of steps and labels that followed the order of rows, signs or rounding, and directions of rounding."""
    sample = drawn(seed, 400)
    for change in (checks.permuted, checks.negated, checks.at_once):
        other = change(sample, seed if change is checks.at_once else np.random.default_rng(seed))
        again = checks.ask(other, is_tested=False)
        assert checks.moved(checks.ask(sample, is_tested=False), again) < checks.ROUNDING, (change, sample.name)


def test_signs_of_z():
    """Three labels and a number given a bent function of z."""
    rng = np.random.default_rng([0, 3])
    z = rng.normal(size=(150, 2))
    x = np.sin(2 * z[:, 0]) + rng.normal(size=150)
    u = np.sin(2 * z[:, 0]) + 0.2 * x + rng.normal(size=150)
    for y in (u, np.array(list("abc"))[np.digitize(u, [-0.5, 0.7])]):
        told, again = (pydine.independence_test(x, y, given, method="analytic").pvalue for given in (z, -z[:, ::-1]))
        assert again == pytest.approx(told, rel=checks.ROUNDING)


def test_order_of_a_side():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 150))
    y = a * b + a + rng.normal(size=150)
    told, again = (pydine.mutual_information(x, y).value for x in (np.c_[a, b], np.c_[-b, a]))
    assert again == pytest.approx(told, abs=checks.ROUNDING)


@pytest.mark.slow
def test_tables():
    """All pairs and a ranking, of columns in another order, negated, rows permuted."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(150, 3))
    frame = pd.DataFrame(z + rng.normal(size=(150, 1)), columns=list("abc"))
    frame["d"] = np.where(frame["c"] > 0.3, "yes", np.where(frame["a"] > 0, "no", "maybe"))
    other = frame.assign(a=-frame["a"], c=-frame["c"]).iloc[rng.permutation(150), ::-1].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (None, "rest"):
            first, again = (pydine.pairwise_information(each, given=given) for each in (frame, other))
            for name in ("values", "standard_errors", "pvalues"):
                back = getattr(again, name)[::-1, ::-1]
                np.testing.assert_allclose(back, getattr(first, name), rtol=1e-6, atol=1e-6, err_msg=name)
        ranked = [{c.name: (c.alone.value, c.pvalue_given_rest) for c in pydine.rank(f, "b")} for f in (frame, other)]
    for name, told in ranked[0].items():
        assert ranked[1][name] == pytest.approx(told, rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_many_numbers_and_many_labels():
    """Neither side is easy to predict: one of them is."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(300, 4)), rng.integers(0, 30, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = pydine.mutual_information(x, np.array([f"w{i}" for i in labels]), rng.normal(size=300))
    assert estimate.confidence_interval(0.95)[0] == 0.0

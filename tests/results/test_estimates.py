import copy
import dataclasses
import doctest
import math
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ncx2, norm

import pydine
from pydine.results import InformationEstimate, default_names, estimates
from pydine.results.intervals import interval_ends

NAMES = (("bmi",), ("target",), ("age", "sex"))


def estimate(**changes):
    given = {"value": 0.1532, "standard_error": 0.0213, "base": "gaussian", "n_samples": 442}
    return InformationEstimate(**{**given, "dimensions": (1, 1, 2), "names": NAMES, **changes})


def test_examples_in_the_docstrings():
    outcome = doctest.testmod(estimates)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_repr_reads_as_a_sentence():
    expected = (
        "I(bmi; target | age, sex) = 0.1532 ± 0.0213 nats (0.2210 bits), "
        "95% interval [0.115, 0.199], gaussian base, n = 442"
    )
    assert repr(estimate()) == str(estimate()) == expected


def test_repr_leaves_out_what_there_is_not():
    text = repr(estimate(standard_error=math.nan, dimensions=(1, 1, 0), names=(("bmi",), ("target",), ())))
    assert text == "I(bmi; target) = 0.1532 nats (0.2210 bits), gaussian base, n = 442"


def test_repr_counts_dropped_rows():
    assert repr(estimate(n_dropped=12)).endswith("n = 442 (12 rows dropped)")


def test_repr_shortens_long_lists_of_columns():
    text = repr(estimate(dimensions=(20, 4, 5), names=((), (), ())))
    assert text.startswith("I(x0, x1, …, x19; y0, y1, y2, y3 | z0, z1, …, z4) = ")


def test_default_names():
    assert default_names("x", 1) == ("x",)
    assert default_names("z", 3) == ("z0", "z1", "z2")
    assert default_names("z", 0) == ()


def test_units():
    one_bit = estimate(value=math.log(2), standard_error=2 * math.log(2))
    assert one_bit.bits == 1.0
    assert one_bit.bits_standard_error == 2.0
    assert float(one_bit) == one_bit.value == math.log(2)


def test_value_is_not_clipped():
    assert float(estimate(value=-0.01)) == -0.01
    assert estimate(value=-0.01).bits < 0


@settings(deadline=None)
@given(value=st.floats(-2, 10), error=st.floats(0, 5), level=st.floats(0.01, 0.98))
def test_interval_holds_what_it_is_of(value, error, level):
    found = estimate(value=value, standard_error=error)
    (low, high), (lower, higher) = (found.confidence_interval(p) for p in (level, level + 0.01))
    assert 0.0 <= lower <= low <= high <= higher
    if value >= error and level > 0.4:
        assert low <= value * (1.0 + 1e-9)
        assert value <= high * (1.0 + 1e-9)


@settings(deadline=None)
@given(value=st.floats(0.1, 10), share=st.floats(0, 0.01), level=st.floats(0.01, 0.99))
def test_interval_of_a_clear_value_is_the_normal_one(value, share, level):
    interval = estimate(value=value, standard_error=share * value).confidence_interval(level)
    normal = norm.interval(level, loc=value, scale=share * value) if share * value > 0 else (value, value)
    np.testing.assert_allclose(interval, normal, atol=4.0 * share * share * value, rtol=1e-9)


@pytest.mark.parametrize("root", [0.0, 0.5, 1.0, 1.7, 2.5, 4.0, 10.0])
def test_intervals_hold_for_weak_dependence_as_for_strong(root):
    """Correlations of 1000 rows, at so many standard errors: their information, less its bias, and its error."""
    n = 1000.0
    found = np.random.default_rng(0).normal(root, 1.0, 20_000) ** 2 / (2.0 * n)
    values = found - 0.5 / n
    errors = np.sqrt(2.0 * np.maximum(values, 0.0) / n + 0.5 / n**2)
    low, high = interval_ends(values, errors, errors)
    truth = root**2 / (2.0 * n)
    assert 0.945 < np.mean((low <= truth) & (truth <= high)) < 0.99
    plain = np.abs(values - truth) <= 1.96 * errors
    assert root != 1.7 or plain.mean() < 0.85  # what the normal approximation would give


@pytest.mark.parametrize("terms", [2, 4, 9, 100, 400])
@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0, 10.0, 100.0])
def test_intervals_hold_for_several_columns(terms, strength):
    """Sums of squared correlations of 1000 rows, whose noncentrality is so many times the noise of independence."""
    n, noncentral = 1000.0, strength * np.sqrt(2.0 * terms)
    found = ncx2.rvs(terms, noncentral + 1e-9, size=20_000, random_state=0) / (2.0 * n)
    values = found - 0.5 * terms / n
    errors = np.sqrt(2.0 * np.maximum(values, 0.0) / n + 0.5 * terms / n**2)
    low, high = interval_ends(values, errors, errors, terms=terms)
    truth = noncentral / (2.0 * n)
    assert 0.92 < np.mean((low <= truth) & (truth <= high)) < 0.995


def test_upper_ends_at_independence_are_near_the_least_that_hold_weak_dependence() -> None:
    n, mass = 1000.0, (np.arange(500) + 0.5) / 500
    root = norm.ppf(0.5 + 0.5 * mass)  # sizes of a standard normal statistic
    values = (root**2 - 1.0) / (2.0 * n)
    errors = np.sqrt(2.0 * np.maximum(values, 0.0) / n + 0.5 / n**2)
    high = interval_ends(values, errors, errors)[1]

    def least(miss: float) -> float:  # the most powerful tests against no dependence at all, inverted
        shifts = np.linspace(0.0, 6.0, 301)
        rejected = norm.cdf(root[:, None] - shifts) - norm.cdf(-root[:, None] - shifts) >= miss
        return float((np.where(rejected, shifts, 0.0).max(axis=1) ** 2).mean() / 2.0)

    assert least(0.05) == pytest.approx(2.93, abs=0.03)
    assert least(0.025) == pytest.approx(3.75, abs=0.04)
    assert least(0.025) < n * high.mean() < 1.1 * least(0.025)


def test_interval_of_a_clearly_negative_estimate_begins_at_zero():
    assert estimate(value=-0.5).confidence_interval().low == 0.0


def test_interval_is_unknown_without_a_standard_error():
    assert np.isnan(estimate(standard_error=np.nan).confidence_interval()).all()


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, math.nan, "0.95", None, 0.5j])
def test_level_must_be_a_probability(level):
    with pytest.raises(ValueError, match="level must be a number strictly between 0 and 1"):
        estimate().confidence_interval(level)


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        estimate().value = 1.0


def test_details_are_a_read_only_copy():
    details = {"n_units": 2}
    result = estimate(details=details)
    details["n_units"] = 3
    assert result.details["n_units"] == 2
    assert dict(result.details) == {"n_units": 2}
    with pytest.raises(TypeError):
        result.details["n_units"] = 4


def test_equality_ignores_details():
    assert estimate(details={"seconds": 1.0}) == estimate(details={"seconds": 2.0})
    assert hash(estimate(details={"seconds": 1.0})) == hash(estimate())
    assert estimate() != estimate(value=0.2)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_survives_copies_and_pickles(clone):
    result = estimate(details={"history": [1.0, 2.0]})
    copied = clone(result)
    assert copied == result
    assert dict(copied.details) == dict(result.details)


def test_turns_into_a_dictionary():
    row = dataclasses.asdict(estimate(details={"n_units": 2}))
    assert row["value"] == 0.1532
    assert dict(row["details"]) == {"n_units": 2}


def test_numpy_scalars_become_plain_numbers():
    result = estimate(value=np.float32(0.5), standard_error=np.float64(0.1), n_samples=np.int64(9))
    assert [type(item) for item in (result.value, result.standard_error, result.n_samples)] == [
        float,
        float,
        int,
    ]


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    return x, x + rng.standard_normal(200)


class TestPictures:
    @pytest.mark.parametrize("base", ["auto", "gaussian", "student", "flow"])
    def test_an_estimate(self, pair, base):
        estimate = pydine.mutual_information(*pair, base=base)
        axes = estimate.plot()
        assert len(axes.collections[0].get_offsets()) == 200
        plt.close(axes.figure)
        again = pickle.loads(pickle.dumps(estimate))
        assert again == estimate
        _, mine = plt.subplots()
        assert again.plot(mine) is mine
        plt.close(mine.figure)

    def test_an_estimate_without_rows(self):
        with pytest.raises(ValueError, match="holds no rows to plot"):
            InformationEstimate(0.1, 0.1, "gaussian", 50, (1, 1, 0)).plot()

    def test_a_test(self, pair):
        result = pydine.independence_test(*pair, n_permutations=99)
        axes = result.plot()
        assert "rejected at 0.05" in axes.get_title()
        assert sum(bar.get_height() for bar in axes.patches) == 99
        plt.close(axes.figure)

    def test_a_test_without_permutations(self, pair):
        with pytest.raises(ValueError, match="pass method='permutation'"):
            pydine.independence_test(*pair, method="analytic").plot()


@pytest.mark.parametrize(
    ("base", "kinds", "entropies", "terms"),
    [
        ("gaussian", ((), (), ()), (math.inf, math.inf), 1),
        ("table", (("nominal",), ("nominal",), ()), (math.log(6.0), math.log(4.0)), 15),
        ("table", (("ordinal",), ("nominal",), ()), (math.log(6.0), math.log(4.0)), 15),
        ("mixed", (("ordinal",), ("nominal",), ()), (math.log(6.0), math.log(4.0)), 3),
        ("mixed", (("continuous",), ("nominal",), ()), (math.inf, math.log(5.0)), 4),
        ("mixed", (("continuous",), ("nominal",), ()), (math.inf, 0.1), 1),
    ],
)
def test_labels_have_a_term_a_level_in_intervals(base, kinds, entropies, terms):
    assert (
        estimate(dimensions=(1, 1, 0), names=((), (), ()), base=base, kinds=kinds, entropies=entropies).terms == terms
    )


@pytest.mark.slow
def test_intervals_of_independent_labels_hold_nothing():
    """Of 100 tables of independent labels, few may have a lower end above 0; with one term it is one in six."""
    above = 0
    for seed in range(100):
        x, y = np.random.default_rng(seed).integers(6, size=(2, 400)).astype(str)
        above += pydine.mutual_information(x, y).confidence_interval().low > 0.0
    assert above <= 6

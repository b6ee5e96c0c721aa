"""The test of (conditional) independence as a user meets it."""

import numpy as np
import pandas as pd
import pytest

import pydine
from pydine.latents.flows import Latents
from pydine.latents.functions import FunctionsOfZ
from pydine.latents.projection import Projection
from pydine.nulls.moments import Moments
from pydine.units.rows import outwards


def confounded(n=400, strength=0.0, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 2))
    e, f = rng.standard_normal((2, n))
    x = np.tanh(2 * z[:, 0]) + e
    y = np.exp(0.4 * z[:, 1]) * f + z[:, 0] ** 2 + np.tanh(z[:, 0]) + strength * e
    return x, y, z


def test_conditioning_decides():
    x, y, z = confounded()
    marginal, conditional = pydine.independence_test(x, y), pydine.independence_test(x, y, z)
    assert marginal.rejected
    assert marginal.pvalue == 1 / 1000
    assert not conditional.rejected
    assert pydine.independence_test(*confounded(strength=0.5)).rejected


def test_dependence_without_correlation():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(600)
    e, f = rng.standard_normal((2, 600))
    x, y = z + e, np.sin(z) + e * e + f
    assert pydine.independence_test(x, y, z, statistic="general").rejected
    found = pydine.independence_test(x, y, z)
    assert found.rejected
    assert found.block_pvalues["bent in x"] < 1e-6 < 1e-3 < found.block_pvalues["bent in y"]


def test_level_under_independence():
    rejections = 0
    for seed in range(60):
        x, y = np.random.default_rng(seed).standard_normal((2, 150))
        rejections += pydine.independence_test(x, y, method="analytic").rejected
    assert rejections <= 9  # 0.05 of 60 is 3; more than 9 has probability 0.001


@pytest.mark.slow
def test_permutation_and_analytic_pvalues_agree():
    for strength in (0.0, 0.12):
        x, y, z = confounded(strength=strength, seed=3)
        for statistic in ("gaussian", "general", "auto"):
            exact, drawn = (
                pydine.independence_test(x, y, z, statistic=statistic, method=method, n_permutations=1999).pvalue
                for method in ("analytic", "permutation")
            )
            assert abs(exact - drawn) < 0.06


def test_the_same_seed_gives_the_same_answer_for_any_n_jobs():
    x, y, z = confounded(n=200)
    first, second = (pydine.independence_test(x, y, z, random_state=7, n_jobs=jobs) for jobs in (1, 2))
    assert first == second
    assert np.array_equal(first.null_distribution, second.null_distribution)
    assert first.null_distribution.shape == (999,)


def test_a_generator_is_drawn_from_once():
    x, y, z = confounded(n=200)
    first, second = (
        pydine.independence_test(x, y, z, random_state=np.random.default_rng(5), n_permutations=99) for _ in range(2)
    )
    assert first == second


def test_paper_s_algorithm_2():
    x, y, z = confounded(n=300, strength=1.0)
    settings = {"statistic": "gaussian", "algorithm": "paper", "n_permutations": 100}
    result = pydine.independence_test(x, y, z, pvalue_formula="paper", **settings)
    assert result.pvalue == np.mean(result.null_distribution >= result.statistic)
    assert result.statistic == pytest.approx(result.estimate.value)  # step 1: I, by Algorithm 1
    model = pydine.DINE.paper().fit(x, y, z)
    a, b = (latents[:, 0] for latents in model.transform(x, y, z))
    rows = outwards(np.array([a, b]))
    a, b, rng = a[rows], b[rows], np.random.default_rng(100)
    a_order, b_order, steps = rng.permutation(300), rng.permutation(300), rng.choice(300, 100, replace=False)
    squares = [np.dot(a[a_order], np.roll(b[b_order], -step)) ** 2 / (a @ a * (b @ b)) for step in steps]
    assert result.null_distribution == pytest.approx(-0.5 * np.log1p(-np.array(squares)))  # step 2
    assert result.pvalue == 0.0  # r / B may be 0: that is why it is not the default
    assert pydine.independence_test(x, y, z, **settings).pvalue == 1 / 101


def test_vectors_on_every_side():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((300, 2))
    x, y = z @ rng.standard_normal((2, 3)) + rng.standard_normal((300, 3)), rng.standard_normal((300, 2)) + z
    assert pydine.independence_test(x, y).rejected
    assert not pydine.independence_test(x, y, z).rejected
    assert pydine.independence_test(x, y + x[:, :2], z).rejected


def test_result_reads_well():
    x, y, z = confounded(n=200)
    frame = pd.DataFrame({"dose": x, "effect": y, "age": z[:, 0], "sex": z[:, 1]})
    result = pydine.independence_test("dose", "effect", ["age", "sex"], data=frame, method="analytic")
    assert repr(result).startswith("dose independent of effect given age, sex: not rejected at 0.05 (p = 0.")
    assert result.null_distribution is None
    assert result.estimate == pydine.mutual_information(x, y, z) or result.estimate.value == pytest.approx(
        pydine.mutual_information(x, y, z).value
    )


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"statistic": "best"}, "statistic must be 'auto' or 'gaussian' or 'general', but got 'best'"),
        ({"method": "exact"}, "method must be 'permutation' or 'analytic', but got 'exact'"),
        ({"n_permutations": 0}, "n_permutations must be an integer of at least 1, but got 0"),
        ({"alpha": 1.5}, "alpha must be a number strictly between 0 and 1, but got 1.5"),
        ({"algorithm": "other"}, "algorithm must be 'ladder' or 'paper', but got 'other'"),
        ({"pvalue_formula": "none"}, "pvalue_formula must be"),
    ],
)
def test_bad_parameters_are_named(bad, message):
    x, y, z = confounded(n=50)
    with pytest.raises(ValueError, match=message):
        pydine.independence_test(x, y, z, **bad)


@pytest.mark.parametrize("method", ["analytic", "permutation"])
def test_two_values_as_frequent_as_each_other(method):
    """Their squares are constant: there is nothing in them to test, and that is no error."""
    rng = np.random.default_rng(0)
    half = np.arange(200) % 2.0
    follows, other = half + rng.standard_normal(200), rng.standard_normal(200)
    assert pydine.independence_test(half, follows, method=method).rejected
    assert not pydine.independence_test(half, other, method=method).rejected
    assert 0.0 < pydine.pairwise_information({"half": half, "other": other}, base="gaussian").pvalues[0, 1] <= 1.0
    smooth = {"x": "continuous"}
    with pytest.warns(pydine.TiesWarning):
        assert pydine.independence_test(half, follows, method=method, kinds=smooth).rejected
    with pytest.warns(pydine.TiesWarning):
        assert not pydine.independence_test(half, other, method=method, kinds=smooth).rejected
    with pytest.warns(pydine.TiesWarning):
        table = pydine.pairwise_information({"x": half, "other": other}, base="gaussian", kinds=smooth)
    assert 0.0 < table.pvalues[0, 1] <= 1.0


@pytest.mark.slow
def test_squares_of_noise_vary_as_noise_does_after_a_projection():
    """It leaves little of some rows, on both sides at once; squares of both must not follow that."""
    n, dz, rng = 300, 3, np.random.default_rng(0)
    z = rng.standard_normal((dz, n))
    functions = FunctionsOfZ.choose(z, ())
    squared = []
    for _ in range(300):
        latents = rng.standard_normal((2, n))
        projection = Projection.fit(latents, z, functions, dx=1)
        free = Latents((1, 1, dz), latents, z, projection.cross_product, projection.dof, projection)
        nats = Moments.of(free).statistics()
        squared.append(-np.expm1(-2.0 * nats[1:]) * free.dof)  # blocks that have squares in them
    assert np.sqrt(np.mean(squared)) == pytest.approx(1.0, abs=0.035)

"""Block statistics and their p-values, against simulation and textbook cases."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import chi2

from pydine.bases.closed_form import gaussian_information
from pydine.nulls.moments import Moments, combined, wave_degrees
from pydine.nulls.pvalues import Cells, cauchy, wilks_pvalue
from pydine.nulls.tiles import Tiles


def moments_of(x, y, studentised=True):
    centred = [a - a.mean(axis=1, keepdims=True) for a in (x, x * x, y, y * y)]
    leverages = np.full(x.shape[1], 1.0 / x.shape[1]) if studentised else None
    return Moments.whitened((centred[0], centred[1]), (centred[2], centred[3]), x.shape[1] - 1, leverages)


def pair_pvalues(columns, squares, dof, leverages, squared):
    tiles, every = Tiles.scaled(columns.copy(), squares.copy(), squared, dof, leverages), slice(None)
    pairs = np.triu_indices(len(columns), 1)
    return tiles.pvalues(every, every, tiles.correlations(every, every), pairs)


@pytest.mark.parametrize("r", [0.0, 0.1, -0.4, 0.9])
def test_wilks_in_one_dimension_is_the_t_test_of_a_correlation(r):
    n = 40
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    information = -0.5 * np.log1p(-r * r)
    assert wilks_pvalue(information, 1, 1, n - 1) == pytest.approx(2 * stats.t.sf(t, n - 2), rel=1e-9)


@pytest.mark.parametrize(("dx", "dy"), [(1, 3), (2, 2), (3, 4)])
def test_wilks_pvalues_are_uniform_for_independent_gaussians(dx, dy):
    rng = np.random.default_rng(dx * 10 + dy)
    pvalues = []
    for _ in range(600):
        rows = rng.standard_normal((30, dx + dy))
        pvalues.append(wilks_pvalue(gaussian_information(np.cov(rows.T), dx), dx, dy, 29))
    assert stats.kstest(pvalues, "uniform").pvalue > 1e-3


def test_tiny_pvalues_are_positive_and_ordered():
    pvalues = wilks_pvalue(np.array([0.05, 0.2, 0.5, 500.0]), 1, 1, 1000)
    assert np.all(np.diff(pvalues) < 0)
    assert 0 < pvalues[-1] < 1e-300
    t = np.sqrt(np.expm1(0.1) * 999)  # r^2 / (1 - r^2) = exp(2 I) - 1
    assert pvalues[0] == pytest.approx(2 * stats.t.sf(t, 999), rel=1e-9)


def test_first_block_is_the_closed_form_when_not_studentised():
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((2, 300)), rng.standard_normal((3, 300))
    y = noise + 0.5 * x[[0, 1, 0]]
    statistics = moments_of(x, y, studentised=False).statistics()
    assert statistics[0] == pytest.approx(gaussian_information(np.cov(np.vstack([x, y])), 2), rel=1e-9)


def test_blocks_see_what_they_are_named_after():
    rng = np.random.default_rng(1)
    u, e = rng.standard_normal((2, 1, 800))
    square = moments_of(u, u * u + e)
    p = square.pvalues()
    assert p[1] < 1e-8  # squares of x against y
    assert p[0] > 1e-4
    shared = np.where(rng.random((1, 3000)) < 0.5, 0.5, 1.5)
    scale = moments_of(*(shared * rng.standard_normal((2, 1, 3000))))
    p = scale.pvalues()
    assert p[3] < 1e-4  # squares of both
    assert p[:3].min() > 1e-4


def test_studentised_statistic_keeps_its_level_where_spread_is_shared():
    rng = np.random.default_rng(2)
    rejected = {True: 0, False: 0}
    for _ in range(300):
        spread = np.exp(0.6 * rng.standard_normal((1, 400)))
        x, y = spread * rng.standard_normal((1, 400)), spread * rng.standard_normal((1, 400))
        for studentised in rejected:
            moments = moments_of(x, y, studentised)
            rejected[studentised] += moments.pvalues()[0] < 0.05
    assert rejected[True] < 0.08 * 300  # 0.05 + 2.4 standard errors
    assert rejected[False] > 0.15 * 300


def test_permutations_match_a_loop_and_the_analytic_distribution():
    rng = np.random.default_rng(3)
    moments = moments_of(rng.standard_normal((2, 60)), rng.standard_normal((1, 60)))
    fast = moments.permuted(50)[0]
    again = np.random.default_rng(50)  # drawn once and for all, for each number of permutations
    x_order, y_order, steps = again.permutation(60), again.permutation(60), again.choice(60, 50, replace=False)
    factor = np.sqrt(60 / 59)
    for row, step in zip(fast, steps, strict=True):
        y = np.empty_like(moments.y[0])
        y[:, x_order] = np.roll(moments.y[0][:, y_order], -step, axis=1)
        correlations = moments.x[0] @ y.T / 59
        variance = np.sum(np.mean(moments.x[0] ** 2, axis=0) * np.mean(y**2, axis=0)) * 60 / 59**2
        singular = np.linalg.svd(correlations * factor / np.sqrt(variance), compute_uv=False)
        assert row[0] == pytest.approx(-0.5 * np.log1p(-(singular**2)).sum(), rel=1e-9)
    many = moments.permuted(2000)[1][:, :4]
    assert np.all(np.abs(np.mean(many < 0.05, axis=0) - 0.05) < 0.025)


def test_permutations_are_always_the_same():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 2, 50))
    first = moments_of(x, y).permuted(120)[0]  # more than there are rows: several rounds
    assert first.shape == (120, 4)
    rng.standard_normal(7)
    np.testing.assert_array_equal(moments_of(x, y).permuted(120)[0], first)
    assert len(np.unique(first[:, 0])) == 120


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tests"), [(30, 3000), (120, 3000)])
def test_permutations_have_the_level_they_name(n, tests):
    """Shifts of few rows are drawn in many rounds, those of many rows in one; skewed latents, so Wilks is no help."""
    rng = np.random.default_rng(1)
    reached = np.empty(tests)
    for i in range(tests):
        moments = moments_of(*rng.standard_exponential((2, 1, n)), studentised=False)
        null, value = moments.permuted(99)[0][:, 0], moments.statistics()[0]
        reached[i] = np.count_nonzero(null >= value)
    for level in (0.01, 0.05, 0.2):
        noise = np.sqrt(level * (1.0 - level) / tests)
        assert abs(np.mean((reached + 1.0) / 100.0 <= level) - level) < 3.0 * noise


@pytest.mark.slow
def test_leverage_does_not_pass_for_a_spread_that_the_sides_share():
    """Functions that take up most of a few rows: residuals there are small on both sides, and that is no dependence."""
    rng = np.random.default_rng(0)
    n, repetitions = 200, 800
    functions = rng.standard_normal((n, 60)) * np.where(np.arange(n) < 60, 12.0, 1.0)[:, None]
    basis = np.linalg.qr(functions)[0]
    leverages, scores = (basis * basis).sum(axis=1), {True: [], False: []}
    for _ in range(repetitions):
        columns = rng.standard_normal((4, n))
        x, x_square, y, y_square = (columns - columns @ basis @ basis.T)[:, None]
        for corrected, share in ((True, leverages), (False, np.full(n, 60 / n))):
            statistic = Moments.whitened((x, x_square), (y, y_square), n - 60, share).statistics()[0]
            scores[corrected].append(2.0 * (n - 60) * statistic)  # of about one degree of freedom
    assert np.mean(scores[True]) == pytest.approx(1.0, abs=0.15)
    assert np.mean(scores[False]) < 0.9


def test_cauchy_by_hand():
    halves, thirds = np.full(2, 1 / 2), np.array([0.5, 0.25, 0.25])
    assert cauchy(np.array([0.03, 0.03]), halves) == pytest.approx(0.03)
    assert cauchy(np.array([0.02, 0.5]), halves) == pytest.approx(np.arctan(2.0 * np.tan(0.02 * np.pi)) / np.pi)
    assert cauchy(np.array([0.3, 0.2, 1.0]), np.array([1.0, 0.0, 0.0])) == 0.3  # one alone is what it was
    in_steps = cauchy(np.array([0.01, cauchy(np.array([0.2, 0.04]), halves)]), halves)
    assert cauchy(np.array([0.01, 0.2, 0.04]), thirds) == pytest.approx(in_steps, rel=1e-9)


def test_cauchy_is_never_0_and_hardly_larger_for_what_sees_nothing():
    assert cauchy(np.array([1e-300, 1.0, 0.7]), np.array([0.5, 0.25, 0.25])) == pytest.approx(2e-300)
    assert 0.0 < cauchy(np.array([0.0, np.finfo(float).tiny]), np.full(2, 0.5)) < 1e-300
    assert cauchy(np.array([0.004, 1.0]), np.full(2, 0.5)) < 0.02


@pytest.mark.parametrize("n", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_pvalues_of_squares_hold_in_both_tails(n):
    """Products of squares are skewed: studentised alone, their lower tail is three times what it should be."""
    rng = np.random.default_rng(6)
    scores = stats.norm.ppf(np.arange(1, n + 1) / (n + 1))
    columns = np.array([rng.permutation(scores) for _ in range(700)])
    columns /= columns.std(axis=1, keepdims=True)
    squares = columns**2 - 1.0
    leverages, pair = np.full(n, 1.0 / n), np.triu_indices(len(columns), 1)
    shares = {}
    for squared in (True, False):
        mask = np.full(len(columns), squared)
        pvalues = pair_pvalues(columns, squares, n - 1.0, leverages, mask)[:, 3]
        found = pvalues < 0.01
        is_low = (squares @ squares.T)[pair] < 0.0
        shares[squared] = (found & is_low).mean() / 0.005, (found & ~is_low).mean() / 0.005
    assert max(shares[True]) < 1.2
    assert shares[True][1] > 0.9  # the upper tail is where dependence shows
    assert shares[False][0] > 2.0
    assert shares[False][1] < 0.5


def test_one_pair_is_a_pair_among_many():
    rng = np.random.default_rng(7)
    columns = rng.standard_normal((3, 90))
    columns -= columns.mean(axis=1, keepdims=True)
    squares = columns**2 - (columns**2).mean(axis=1, keepdims=True)
    leverages, squared = np.full(90, 1.0 / 90), np.array([True, True, False])
    many = pair_pvalues(columns, squares, 89.0, leverages, squared)
    for k, (i, j) in enumerate(zip(*np.triu_indices(3, 1), strict=True)):
        one = [(columns[[c]], squares[[c]]) for c in (i, j)]
        moments = Moments.whitened(one[0], one[1], 89.0, leverages, bool(squared[i] and squared[j]))
        np.testing.assert_allclose(moments.pvalues(), many[k], rtol=1e-9)


@pytest.mark.parametrize(("degree", "count"), [(1.0, 1), (1.0, 2), (3.0, 5), (2.0, 60), (1.0, 400)])
def test_sums_of_equal_cells_are_chi_squared_in_both_tails(degree, count):
    values = np.concatenate(
        [chi2.isf(np.geomspace(1e-12, 0.5, 60), count), chi2.ppf(np.geomspace(0.01, 0.5, 60), count)]
    )
    found = Cells([degree] * count).of_sums(values / degree)
    np.testing.assert_allclose(found, chi2.sf(values, count), rtol=0.005)


def test_far_tails_of_sums_have_the_right_order_of_magnitude():
    """The slowest wave alone is a bound from below, and what the others add to it is known to first order."""
    degrees = wave_degrees(np.array([12]), np.array([12]))
    counted = degrees[degrees > 0.0]
    assert len(counted) == 35
    others = counted[counted > 1.0]
    expected = chi2.logsf(400.0, 1) - 0.5 * np.log1p(-1.0 / others).sum()
    assert np.log(Cells(counted.tolist()).of_sums(np.array([400.0]))[0]) == pytest.approx(expected, abs=0.05)


def test_sums_over_waves_are_as_in_simulations():
    degrees = wave_degrees(np.array([12, 3]), np.array([5]))
    counted, rng = degrees[degrees > 0.0], np.random.default_rng(8)
    cells = Cells.of(counted)
    found = cells.of_sums(rng.standard_normal((40000, len(counted))) ** 2 @ (1.0 / counted))
    for level in (0.5, 0.1, 0.05, 0.01):
        assert (found <= level).mean() == pytest.approx(level, abs=4.0 * np.sqrt(level * (1.0 - level) / 40000))
    levels = np.array([0.9, 0.1, 1e-3])
    np.testing.assert_allclose(cells.of_sums(cells.quantiles(levels)), levels, rtol=0.01)


def test_blocks_support_each_other_and_one_alone_is_enough():
    found = combined("auto", np.array([[0.04, 0.5, 0.5, 0.5, 0.01, 1.0], [0.5, 0.5, 0.5, 1e-6, 0.5, 1.0]]), has_z=False)
    assert found[0] < 0.02
    assert found[1] < 1e-4
    assert combined("gaussian", np.array([0.04, 0.9, 0.1, 0.2, 0.3, 0.4]), has_z=True) == 0.04

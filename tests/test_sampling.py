"""How rows depend: folds that do not leak, and variances of sums against known ones."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import stdtrit

from pydine.sampling import INDEPENDENT, Clusters, Effects, Series, dealt


def covered(folds, n):
    return sorted(row for fold in folds for row in fold.rows.tolist()) == list(range(n))


def test_independent_rows_are_dealt_out_one_by_one():
    order = np.random.default_rng(0).permutation(100)
    for fold, rows in zip(INDEPENDENT.folds(order, 3), dealt(order, 3), strict=True):
        np.testing.assert_array_equal(fold.rows, rows)
        assert fold.away is fold.rows


def test_clusters_of_one_row_are_independent_rows():
    order = np.random.default_rng(0).permutation(100)
    for fold, rows in zip(Clusters(np.arange(100)).folds(order, 3), dealt(order, 3), strict=True):
        np.testing.assert_array_equal(np.sort(fold.rows), np.sort(rows))
    values = np.random.default_rng(1).exponential(size=100)
    ratio, degrees = Clusters(np.arange(100)).effect(values)
    assert ratio == pytest.approx(1.0)
    assert degrees == pytest.approx(99.0)


def test_folds_hold_out_whole_clusters_of_about_as_many_rows():
    codes = np.repeat(np.arange(30), np.arange(1, 31))
    folds = Clusters(codes).folds(np.random.default_rng(0).permutation(len(codes)), 3)
    assert covered(folds, len(codes))
    seen = [set(codes[fold.rows].tolist()) for fold in folds]
    assert not seen[0] & seen[1] | seen[0] & seen[2] | seen[1] & seen[2]
    assert max(len(fold.rows) for fold in folds) < 1.2 * min(len(fold.rows) for fold in folds)


def test_folds_of_time_keep_their_distance():
    order = np.random.default_rng(0).permutation(300)
    folds = Series(np.arange(300)).folds(order, 3)
    assert covered(folds, 300)
    for fold in folds:
        learned = np.setdiff1d(np.arange(300), fold.away)
        assert np.abs(learned[:, None] - fold.rows).min() > 3
        assert len(learned) > 100


def test_time_may_run_either_way():
    n = 250
    order, values = (
        np.random.default_rng(0).permutation(n),
        lfilter([1.0], [1.0, -0.7], np.random.default_rng(1).normal(size=n)),
    )
    there, back = Series(np.arange(n)), Series(np.arange(n)[::-1].copy())
    for fold, mirrored in zip(there.folds(order, 3), back.folds(order, 3), strict=True):
        np.testing.assert_array_equal(fold.rows, mirrored.rows)
        np.testing.assert_array_equal(fold.away, mirrored.away)
    np.testing.assert_allclose(there.effect(values), back.effect(values), rtol=1e-9)


def auto_regressive(phi, size, seed):
    return lfilter([1.0], [1.0, -phi], np.random.default_rng(seed).normal(size=(*size[:-1], size[-1] + 200)))[..., 200:]


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8, 0.9])
def test_the_variance_of_a_sum_of_a_series(phi):
    n, values = 500, auto_regressive(phi, (1000, 500), 0)
    truth = (1.0 + phi) / (1.0 - phi)  # of AR(1), relative to independent rows
    ratios, degrees = Series(np.arange(n)).effects_of(values)
    assert np.median(ratios) == pytest.approx(truth, rel=0.1)
    studentised = np.sqrt(n) * values.mean(axis=1) / (values.std(axis=1) * np.sqrt(ratios))
    assert 0.03 < np.mean(np.abs(studentised) > stdtrit(degrees, 0.975)) < 0.065


def test_white_noise_costs_hardly_any_width():
    ratios, degrees = Series(np.arange(500)).effects_of(np.random.default_rng(0).normal(size=(400, 500)))
    assert np.median(stdtrit(degrees, 0.975) * np.sqrt(ratios)) < 1.05 * 1.96


def test_a_slow_series_beneath_noise():
    slow = 0.3 * auto_regressive(0.95, (600, 500), 0) + np.random.default_rng(1).normal(size=(600, 500))
    ratios, degrees = Series(np.arange(500)).effects_of(slow)
    studentised = np.sqrt(500) * slow.mean(axis=1) / (slow.std(axis=1) * np.sqrt(ratios))
    plain = np.sqrt(500) * slow.mean(axis=1) / slow.std(axis=1)
    assert np.mean(np.abs(studentised) > stdtrit(degrees, 0.975)) < 0.2 < 0.5 < np.mean(np.abs(plain) > 1.96)
    assert np.mean(ratios) > 5.0


@pytest.mark.parametrize(("season", "phi"), [(7, 0.8), (24, 0.7)])
def test_products_of_seasonal_series(season, phi):
    """Twelve seasons are enough, though none of their products shows its season for certain."""
    n, count, rejected = 300, 300, 0
    innovations = np.random.default_rng(2).normal(size=(count, 2, n + 600))
    series = lfilter([1.0], [1.0, *np.zeros(season - 1), -phi], innovations)[..., 600:]
    for pair in series:
        x, y = pair - pair.mean(axis=1, keepdims=True)
        sum_ = x @ y / np.sqrt((x @ x) * (y @ y) / n)
        found = Series(np.arange(n)).effects(x[None], y[None])
        rejected += abs(sum_) > stdtrit(found.degrees[0, 0], 0.975) * np.sqrt(found.ratios[0, 0])
    assert rejected / count < 0.12


def test_sums_of_residuals_vary_more_than_their_cosines_show():
    n, count = 300, 200
    series = auto_regressive(0.9, (count, 6, n), 3)
    rejected, order = np.zeros(2), np.random.default_rng(0).permutation(n)
    for each in series:
        z = np.vstack([np.ones(n), each[2:], each[2:] ** 2, each[2:] ** 3])
        taken = np.linalg.qr(z.T)[0].T
        x, y = left = each[:2] - (each[:2] @ taken.T) @ taken
        sum_ = x @ y / np.sqrt((x @ x) * (y @ y) / n)
        rows = Series(np.arange(n))
        told = rows.of_residuals(lambda columns, taken=taken: columns - (columns @ taken.T) @ taken)
        found = [one.effects(left[:1], left[1:]) for one in (rows, told)]
        rejected += [abs(sum_) > stdtrit(f.degrees[0, 0], 0.975) * np.sqrt(f.ratios[0, 0]) for f in found]
        again = told.only(order).effects(left[:1, order], left[1:, order])
        np.testing.assert_allclose(again, found[1], rtol=1e-9)
        assert told.depleted(left[:1], left[1:]) > 1.0 == rows.depleted(left[:1], left[1:])
    assert rejected[0] / count > 0.08 > rejected[1] / count


def test_the_variance_of_a_sum_over_clusters():
    rng, codes = np.random.default_rng(0), np.repeat(np.arange(60), 5)
    found = [Clusters(codes).effect(rng.normal(size=60)[codes] + rng.normal(size=300))[0] for _ in range(200)]
    assert np.mean(found) == pytest.approx(1.0 + 0.5 * 4.0, rel=0.06)  # Kish: 1 + ICC (m - 1)


def test_names_of_clusters_and_the_order_of_rows_do_not_matter():
    rng, codes = np.random.default_rng(0), np.repeat(np.arange(20), 5)
    values, renamed, order = rng.normal(size=100), rng.permutation(20)[codes], rng.permutation(100)
    one = Clusters(codes)
    np.testing.assert_allclose(one.effect(values), Clusters(renamed).effect(values))
    np.testing.assert_allclose(one.effect(values), one.only(order).effect(values[order]))
    for fold, other in zip(one.folds(order, 3), Clusters(renamed).folds(order, 3), strict=True):
        np.testing.assert_array_equal(fold.rows, other.rows)
    assert one.key == Clusters(codes + 0).key != Clusters(np.repeat(np.arange(50), 2)).key


def test_repeated_rows_count_once():
    values = np.random.default_rng(0).normal(size=80)
    ratio, degrees = Clusters(np.repeat(np.arange(80), 3)).effect(np.repeat(values, 3))
    assert ratio == pytest.approx(3.0, rel=0.01)
    assert degrees == pytest.approx(79.0)


def test_unequal_clusters_have_fewer_degrees_of_freedom():
    rng, sizes = np.random.default_rng(0), np.array([50, *[2] * 25])
    codes = np.repeat(np.arange(26), sizes)
    _, degrees = Clusters(codes).effect(rng.normal(size=26)[codes] + 0.1 * rng.normal(size=100))
    assert degrees < 10.0


def test_too_few_clusters_for_the_folds():
    with pytest.raises(ValueError, match="at least as many as folds, 3, but there are 2"):
        Clusters(np.repeat([0, 1], 20)).folds(np.arange(40), 3)


def test_studentised_sums_become_normal():
    from scipy.stats import norm, t

    effects = Effects(np.array([4.0]), np.array([7.0]))
    normal = effects.normal(np.array([-5.0]))
    assert norm.cdf(normal[0]) == pytest.approx(t.cdf(-2.5, 7.0))
    r = effects.correlations(np.array([0.3]), 100.0)[0]
    assert 2.0 * t.sf(r * np.sqrt(99.0 / (1.0 - r * r)), 99.0) == pytest.approx(2.0 * t.sf(0.3 * 10.0 / 2.0, 7.0))
    np.testing.assert_allclose(effects.squares(np.array([25.0])), normal**2)


def test_signs_are_those_of_clusters_and_stretches():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(10), 7)
    signs = Clusters(codes).flips(70, 50, rng)
    assert all(len(np.unique(signs[:, codes == g], axis=1).T) == 1 for g in range(10))
    assert (np.diff(Series(np.arange(500)).flips(500, 20, rng), axis=1) != 0).sum(axis=1).max() < 30

"""Contingency tables: truths, bounds, and the bias."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chi2_contingency, hypergeom

from pydine.bases.kinds.tables import codes_of, counted, entropy, excess_given_margins, fit_table, rows_per_cell


def independent(n, seed, kx=4, ky=9):
    rng = np.random.default_rng(seed)
    return rng.binomial(kx - 1, 0.2, n), rng.poisson(2.0, n).clip(0, ky - 1)


def test_plug_in_information_of_rows():
    x, y = independent(400, 0)
    found = fit_table(x, y, np.zeros(400, dtype=int))
    statistic = chi2_contingency(np.histogram2d(x, y, bins=(4, 9))[0], correction=False, lambda_="log-likelihood")[0]
    assert found.ratios.mean() == pytest.approx(statistic / 800, rel=1e-9)  # G = 2 n I


def test_the_bias_is_taken_off():
    values = [fit_table(*independent(500, seed), np.zeros(500, dtype=int)).value for seed in range(60)]
    plug_in = [fit_table(*independent(500, seed), np.zeros(500, dtype=int)).ratios.mean() for seed in range(60)]
    assert np.mean(plug_in) > 0.015
    assert abs(np.mean(values)) < 0.003


def test_nothing_is_left_of_the_bias_of_sparse_independent_tables():
    values = []
    for seed in range(300):
        z = np.random.default_rng(seed).binomial(3, 0.5, 250)
        values.append(fit_table(*independent(250, seed), z).value)
    assert np.mean(values) == pytest.approx(0.0, abs=3.0 * np.std(values) / np.sqrt(300))


@pytest.mark.parametrize(("n", "r", "c"), [(40, 7, 30), (1000, 300, 199), (1000, 300, 201), (900, 450, 600)])
def test_counts_given_the_margins(n, r, c):
    """Sums over the hypergeometric distribution; above 60 a series stands for them."""
    k = np.arange(1.0, min(r, c) + 1.0)
    truth = (hypergeom.pmf(k, n, r, c) * k * np.log(k)).sum() - r * c / n * np.log(r * c / n)
    found = excess_given_margins(np.array([float(r), n - r]), np.array([float(c), n - c]), float(n))
    assert found[0, 0] == pytest.approx(truth, abs=1e-4)


@pytest.mark.parametrize(("shape", "scale"), [(1.5, 2.0), (3.0, 1.0)])
def test_the_bias_of_counts_with_many_rare_cells_is_taken_off(shape, scale):
    rng, n, found = np.random.default_rng(0), 2000, []
    for _ in range(20):
        rate = rng.gamma(shape, scale, n)
        x, y = (np.unique(rng.poisson(rate), return_inverse=True)[1] for _ in range(2))
        found.append(fit_table(x, y, np.zeros(n, dtype=np.intp)).value)
    levels = np.arange(60)
    of_y, of_x = np.meshgrid(levels, levels)
    joint = np.exp(
        gammaln(shape + of_x + of_y) - gammaln(shape) - gammaln(of_x + 1) - gammaln(of_y + 1)
        - shape * np.log(scale) - (shape + of_x + of_y) * np.log(2.0 + 1.0 / scale)
    )  # fmt: skip
    truth = float((joint * np.log(joint / (joint.sum(axis=1)[:, None] * joint.sum(axis=0)))).sum())
    assert abs(np.mean(found) - truth) < 0.015  # 0.02 if rare cells are taken for what was seen in them


def test_equal_columns_have_their_entropy():
    x = np.random.default_rng(0).integers(0, 5, 300)
    found = fit_table(x, (x + 2) % 5, np.zeros(300, dtype=int))
    assert found.value == pytest.approx(entropy(x), rel=1e-12)


def test_a_table_is_never_above_its_bound():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, z = rng.integers(0, 2, 40), rng.integers(0, 4, 40)
        y = np.where(rng.random(40) < 0.05, 1 - x, x)
        assert fit_table(x, y, z).value <= entropy(x)


def test_given_z_strata_add_up():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 3000)
    x = rng.integers(0, 2, 3000)
    y = np.where(z == 0, x, rng.integers(0, 2, 3000))  # equal in one stratum of three
    assert fit_table(x, y, z).value == pytest.approx(np.log(2.0) / 3.0, abs=0.02)


def test_strata_in_which_one_side_is_constant_tell_nothing():
    x, y, z = (np.repeat(codes, 5) for codes in ([0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]))
    assert fit_table(x, y, z).value == pytest.approx(0.0, abs=1e-12)


def test_cells_of_z_with_a_constant_side_change_neither_bias_nor_error():
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(0, 3, (3, 400))
    alone = fit_table(x, y, z)
    more = [np.concatenate([codes, np.full(400, k)]) for codes, k in ((x, 1), (y, 2))]
    beside = fit_table(*more, np.concatenate([z, np.arange(3, 403)]))
    assert 2.0 * beside.value == pytest.approx(alone.value, rel=0.1)
    assert np.all(counted(*more, np.concatenate([z, np.arange(3, 403)])).telling == [0, 1, 2])


def test_trust_follows_the_rows_of_a_cell():
    x, y = independent(60, 0)
    assert rows_per_cell(np.arange(4), np.arange(4), np.zeros(4, dtype=int)) == 0.25
    assert fit_table(x, y, np.zeros(60, dtype=int)).trust < 1.0
    assert fit_table(*independent(2000, 0), np.zeros(2000, dtype=int)).trust == 1.0


def test_codes_of_several_columns():
    columns = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    assert len(np.unique(codes_of(columns))) == 4
    np.testing.assert_array_equal(codes_of(np.empty((0, 3))), [0, 0, 0])

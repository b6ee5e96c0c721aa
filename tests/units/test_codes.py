"""Sums of codes modulo small numbers, which the rung of codes sees."""

import numpy as np
import pytest

import pydine
from pydine.units.codes import Sums, sums_of
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.work.cache import UNIT

N = 1000


def codes(seed, k):
    rng = np.random.default_rng(seed)
    return np.array([rng.integers(0, m, N) for m in rng.integers(2, 6, k)]), rng


@pytest.mark.parametrize(("k", "m"), [(2, 3), (5, 2), (5, 5), (9, 4)])
def test_a_sum_that_the_target_follows_is_found(k, m):
    z, rng = codes(k, k)
    found = sums_of((z.sum(axis=0) % m == 0) + 0.5 * rng.normal(size=N), z.astype(float))
    assert found is not None
    modulus, signs = found.sums[0]
    assert modulus == m
    assert all(signs)
    total = np.array(signs) @ found.places(z.astype(float))
    same = np.array([len(np.unique(z.sum(axis=0)[total % m == r] % m)) for r in range(m)])
    np.testing.assert_array_equal(same, 1)  # it is the sum, whatever order the values were put in


@pytest.mark.parametrize("seed", range(5))
def test_order_and_levels_are_no_sums(seed):
    z, rng = codes(seed, 5)
    effects = rng.normal(size=(5, 5))
    assert sums_of(rng.normal(size=N), z.astype(float)) is None
    assert sums_of(z.sum(axis=0) + rng.normal(size=N), z.astype(float)) is None
    assert sums_of(effects[np.arange(5)[:, None], z].sum(axis=0) + rng.normal(size=N), z.astype(float)) is None


def test_numbers_are_no_codes():
    rng = np.random.default_rng(0)
    context = np.array([rng.normal(size=N), rng.integers(0, 3, N), rng.poisson(9.0, N)])
    assert Sums.of(context).columns == (1,)


def test_negated_codes_have_the_same_waves_up_to_signs():
    z, rng = codes(3, 3)
    target = np.array([0.0, 2.0, 1.0])[z.sum(axis=0) % 3] + rng.normal(size=N)
    first, second = (sums_of(target, sign * z.astype(float)) for sign in (1.0, -1.0))
    assert first is not None
    assert second is not None
    one, other = (list(s.waves(s.places(sign * z))) for s, sign in ((first, 1.0), (second, -1.0)))
    np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-12)


def test_a_unit_with_sums_is_kept_in_files():
    z, rng = codes(1, 4)
    context = z.astype(float)
    unit = fit_ladder((z.sum(axis=0) % 2) + 0.5 * rng.normal(size=N) - 0.5, context, LadderSettings())
    assert unit.rung_weights["codes"] > 0.5
    again, _ = UNIT.from_bytes(UNIT.to_bytes(unit))
    np.testing.assert_array_equal(again.features(context)[0], unit.features(context)[0])
    assert sum(part.shape[1] for part in unit.features(context)) == unit.n_features


@pytest.mark.parametrize("sides", ["numbers", "codes"])
def test_sides_that_follow_the_same_sum_are_independent_given_the_codes(sides):
    rejected = 0
    for seed in range(6):
        z, rng = codes(100 + seed, 5)
        residue = z.sum(axis=0) % 3
        if sides == "numbers":
            x, y = (residue == 0) * 2.0 + rng.normal(size=(2, N))
        else:
            x, y = (np.where(rng.random(N) < 0.6, residue, rng.integers(0, 3, N)) for _ in range(2))
        rejected += pydine.independence_test(x, y, z.T, method="analytic").pvalue < 0.01
    assert rejected <= 1


@pytest.mark.parametrize(
    "parts",
    [
        {"sums": ((10**9, (1, 1)),)},  # as many waves
        {"sums": ((2, (1, 7)),)},
        {"sums": ((2, (1,)),)},
        {"sums": 9 * ((2, (1, 1)),)},
        {"values": ((0.0, 1.0), ())},
        {"values": ((0.0, 1.0),)},
        {"columns": (0, -1)},
    ],
)
def test_parts_that_a_file_may_name_but_no_fit_makes_are_refused(parts):
    whole = {"columns": (0, 1), "values": ((0.0, 1.0), (0.0, 1.0)), "sums": ((2, (1, 1)),)}
    Sums(**whole)
    with pytest.raises(ValueError, match="Sums"):
        Sums(**whole | parts)


def test_a_context_with_too_few_columns_is_refused():
    with pytest.raises(ValueError, match="of 5 columns of context or more, not of 2"):
        Sums((0, 4), ((0.0, 1.0), (0.0, 1.0)))(np.zeros((2, 10)))

"""Folds: which rows each one holds out."""

from dataclasses import replace

import numpy as np
import pytest

from pydine.units.folds import n_partitions, partitions
from pydine.units.ladder import fit_ladder
from unit_data import SETTINGS, product_data, sine_data


@pytest.mark.parametrize(("n", "expected"), [(20, 4), (300, 4), (400, 3), (401, 2), (600, 2), (601, 1), (10**5, 1)])
def test_more_of_them_where_rows_are_few(n, expected):
    assert n_partitions(n) == expected


@pytest.mark.parametrize("n", [250, 500, 900])
def test_each_holds_out_every_row_once(n):
    target, context = product_data(n)
    held = partitions(target, context, SETTINGS)
    assert len(held) == 3 * n_partitions(n)
    for i in range(n_partitions(n)):
        assert sorted(np.concatenate(held[3 * i : 3 * i + 3])) == list(range(n))


def test_models_of_every_fold():
    """As many of each rung as there are folds in all partitions."""
    unit = fit_ladder(*sine_data(300), SETTINGS)
    assert len(unit.models) % (3 * n_partitions(300)) == 0
    assert len(unit.models) > 0


def test_the_most_rows_are_what_counts():
    target, context = sine_data(900)
    held = partitions(target, context, replace(SETTINGS, max_rows=300))
    assert len(held) == 12
    assert len(set(np.concatenate(held).tolist())) == 300


def test_equal_rows_go_by_all_of_their_context():
    """Sums of sizes are equal where two rows have the same ranks in other columns."""
    target = np.zeros(4)
    context = np.array([[1.0, -2.0, 2.0, -1.0], [2.0, 1.0, 1.0, -2.0]])
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(4)
        plain = partitions(target, context, SETTINGS)
        moved = partitions(target, context[:, rows], SETTINGS)
        for one, other in zip(plain, moved, strict=True):
            np.testing.assert_array_equal(context[:, one], context[:, rows[other]])

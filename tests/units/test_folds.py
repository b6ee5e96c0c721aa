"""Folds: which rows each one holds out."""

from dataclasses import replace

import numpy as np
import pytest

from pydine.units.folds import held_out_rows
from pydine.units.ladder import fit_ladder
from unit_data import SETTINGS, product_data, sine_data


@pytest.mark.parametrize("n", [250, 500, 900])
def test_every_row_is_held_out_once(n):
    target, context = product_data(n)
    held = held_out_rows(target, context, SETTINGS)
    assert len(held) == 3
    assert sorted(np.concatenate([fold.rows for fold in held])) == list(range(n))


def test_models_of_every_fold():
    """As many of each rung as there are folds."""
    unit = fit_ladder(*sine_data(300), SETTINGS)
    assert len(unit.models) % 3 == 0
    assert len(unit.models) > 0


def test_the_most_rows_are_what_counts():
    target, context = sine_data(900)
    held = held_out_rows(target, context, replace(SETTINGS, max_rows=300))
    assert len(set(np.concatenate([fold.rows for fold in held]).tolist())) == 300


def test_equal_rows_go_by_all_of_their_context():
    """Sums of sizes are equal where two rows have the same ranks in other columns."""
    target = np.zeros(4)
    context = np.array([[1.0, -2.0, 2.0, -1.0], [2.0, 1.0, 1.0, -2.0]])
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(4)
        plain = held_out_rows(target, context, SETTINGS)
        moved = held_out_rows(target, context[:, rows], SETTINGS)
        for one, other in zip(plain, moved, strict=True):
            np.testing.assert_array_equal(context[:, one.rows], context[:, rows[other.rows]])

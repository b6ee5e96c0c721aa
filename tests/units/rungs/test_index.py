"""Index networks: one direction of the context, learned from few rows."""

from dataclasses import replace

import numpy as np
import pytest

from pydine.units.ladder import fit_ladder
from unit_data import SETTINGS, linear_data, scores


def index_data(n=500, seed=0, *, bump=False):
    """Eight columns that act through one combination of them, which rises or only bends."""
    rng = np.random.default_rng([seed, 8])
    context = rng.standard_normal((8, n))
    index = np.full(8, np.sqrt(1 / 8)) @ context
    location = np.exp(-2.0 * index**2) if bump else np.tanh(2.0 * index) + np.exp(-2.0 * (index - 0.5) ** 2)
    return scores(3.0 * location + rng.standard_normal(n)), context


@pytest.mark.parametrize("bump", [False, True])
def test_few_rows_are_enough_for_one_direction(bump):
    """New rows are followed better than with none of them, and nearly all of the way along the true direction."""
    target, context = index_data(bump=bump)
    unit = fit_ladder(target, context, SETTINGS)
    assert unit.rung_weights.get("index", 0.0) + unit.rung_weights.get("curved index", 0.0) > 0.3
    new_target, new_context = index_data(3000, seed=1, bump=bump)
    plain = fit_ladder(target, context, replace(SETTINGS, networks=0))
    gain = unit.log_density(new_target, new_context) - plain.log_density(new_target, new_context)
    assert gain.mean() > 0.05


def test_a_target_that_only_bends_may_need_the_second_start():
    weights = [fit_ladder(*index_data(seed=s, bump=True), SETTINGS).rung_weights for s in range(3)]
    assert max(w.get("curved index", 0.0) for w in weights) > 0.3


def test_where_a_line_is_enough_they_are_refused():
    names = ("index", "curved index")
    shares = [
        sum(fit_ladder(*linear_data(seed=seed), SETTINGS).rung_weights.get(name, 0.0) for name in names)
        for seed in range(6)
    ]
    assert np.median(shares) == 0.0
    assert np.mean(shares) < 0.1

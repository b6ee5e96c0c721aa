"""Wide networks: shapes that two Gaussians cannot follow, and nothing where a line is enough."""

import numpy as np

from pydine.latents.scores import ScoreMap
from pydine.units.ladder import LadderSettings, fit_ladder
from unit_data import linear_data


def ring_data(n=1000, seed=0):
    """One of two places that are equally likely, or nearly: no two Gaussians follow both ends of a ring."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(1.0, 0.1, n)
    return radius * np.cos(angle), radius * np.sin(angle)


def test_they_follow_what_others_cannot():
    """New rows of rings, mapped by the scores of those that were fitted; one ring may be followed without them."""
    gains, weights = [], []
    for seed in range(5):
        (x, y), (new_x, new_y) = ring_data(seed=seed), ring_data(3000, seed=seed + 50)
        (x_map, x_scores), (y_map, y_scores) = ScoreMap.fit(x), ScoreMap.fit(y)
        units = [fit_ladder(y_scores, x_scores[None], LadderSettings(wide_networks=wide)) for wide in (0, 2)]
        plain, wide = (unit.log_density(y_map(new_y), x_map(new_x)[None]).mean() for unit in units)
        gains.append(wide - plain)
        weights.append(units[1].rung_weights.get("wide", 0.0))
        assert "wide" not in units[0].rung_weights
        widths = {(model.network.hidden, model.network.components) for model in units[1].models}
        assert (((8,), 8) in widths) == (weights[-1] > 0.0)
    assert np.mean(gains) > 0.01
    assert min(gains) > -0.005
    assert np.median(weights) > 0.2


def test_where_a_line_is_enough_they_are_refused():
    shares = [
        fit_ladder(*linear_data(seed=seed), LadderSettings(wide_networks=2)).rung_weights.get("wide", 0.0)
        for seed in range(4)
    ]
    assert max(shares) < 0.1

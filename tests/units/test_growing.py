"""Growing samples: how many rows are learned from, one part after the other."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pydine.units import growing
from pydine.units.growing import FEWEST, ROWS_PER_PARAMETER, part_of, sizes, suffices
from pydine.units.ladder import fit_ladder
from pydine.units.rungs.linear import SCALE
from pydine.units.rungs.networks import NetworkRung
from pydine.units.rungs.rung import Lesson
from unit_data import SETTINGS, sine_data


@pytest.mark.parametrize("n", [0, 100, 2 * FEWEST - 1])
def test_few_rows_are_one_part(n):
    assert sizes(n) == [n]


@pytest.mark.parametrize("n", [2 * FEWEST, 50_001, 10**6])
def test_each_part_is_half_of_the_next(n):
    found = sizes(n)
    assert found[-1] == n
    assert FEWEST <= found[0] < 2 * FEWEST
    assert all(small == large // 2 for small, large in pairwise(found))


def test_many_parameters_need_larger_parts():
    assert sizes(10**6, 10_000)[0] >= ROWS_PER_PARAMETER * 10_000
    assert sizes(ROWS_PER_PARAMETER * 10_000, 10_000) == [ROWS_PER_PARAMETER * 10_000]


def test_parts_are_spread_over_the_order():
    places = np.arange(1000)[part_of(1000, 100)]
    np.testing.assert_array_equal(places // 10, np.arange(100))
    np.testing.assert_array_equal(np.arange(5)[part_of(5, 5)], np.arange(5))


def test_rows_suffice_once_a_doubling_gains_little_beside_the_sampling_error():
    """A deviation of 1 over 10,000 rows is a standard error of 0.01, of which a tenth does not matter."""
    after = np.random.default_rng(0).standard_normal(10_000)
    after /= after.std()
    assert suffices(after - 0.0009, after, 10_000)
    assert not suffices(after - 0.0011, after, 10_000)
    assert not suffices(after - 0.0009, after, 100_000)


def test_growing_samples_lead_at_least_as_far_as_all_rows_at_once(monkeypatch):
    """Six hidden units and 60 steps do not reach the end of a sine without knowing how the likelihood is curved."""
    (target, context), fresh = sine_data(2400), sine_data(4000, seed=1)
    plain = fit_ladder(target, context, SETTINGS).log_density(*fresh).mean()
    monkeypatch.setattr(growing, "FEWEST", 400)
    monkeypatch.setattr(growing, "ROWS_PER_PARAMETER", 4)
    assert len(sizes(1600)) == 3
    assert fit_ladder(target, context, SETTINGS).log_density(*fresh).mean() > plain - 0.005


@pytest.mark.parametrize(("has_sine", "stops"), [(False, True), (True, False)])
def test_learning_stops_where_another_doubling_gains_nothing(monkeypatch, has_sine, stops):
    """A line of one column is known after a few thousand rows; a network of a sine still gains from all of them."""
    monkeypatch.setattr(growing, "FEWEST", 500)
    rng = np.random.default_rng(2)
    context, noise = rng.standard_normal((1, 20_000)), rng.standard_normal(20_000)
    target = (np.sin(3.0 * context[0]) if has_sine else 0.5 * context[0]) + 0.5 * noise
    held = target[16_000:], context[:, 16_000:]
    lesson = Lesson(target[:16_000], context[:, :16_000], SETTINGS, lambda: SCALE.fit(alone)[0], held, 20_000)
    alone = replace(lesson, held=None)
    rung = NetworkRung("network", iterations=60) if has_sine else SCALE
    parts = rung.fit(lesson)[1].parts
    assert 1 < parts < len(sizes(16_000)) if stops else parts == 0

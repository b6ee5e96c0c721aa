"""Which rungs there are, and what every one of them promises."""

from dataclasses import replace

import numpy as np
import pytest

from pydine.units.rungs.linear import LINEAR
from pydine.units.rungs.networks import WideRung
from pydine.units.rungs.registry import EXPANSIONS, rungs_for
from pydine.units.rungs.rung import Lesson
from pydine.units.settings import LadderSettings
from unit_data import product_data

SETTINGS = LadderSettings(networks=2, wide_networks=1, hidden_units=3)
RUNGS = rungs_for(2, 300, SETTINGS)
LARGER = [f"{units}-unit network" for units in (6, 12, 24, 48, 96)]
IDS = [f"{rung.name} {getattr(rung, 'start', '')}" for rung in RUNGS]


def lesson(settings=SETTINGS, held=None):
    target, context = product_data(300)
    return Lesson(target, context, settings, lambda: LINEAR.fit(lesson())[0], held)


@pytest.mark.parametrize(
    ("c", "n", "changes", "expected"),
    [
        (1, 300, {}, ["linear", "scale", "additive", "network", "network", "waves", "wide"]),
        (2, 300, {}, ["linear", "scale", "additive", "index", "curved index", *2 * ["network"], "waves", "wide"]),
        (2, 2, {"wide_networks": 0}, ["linear", "scale", "additive", "index", "curved index", "network", "network"]),
        (2, 300, {"networks": 0, "wide_networks": 0}, ["linear", "scale", "additive"]),
        (1, 300, {"networks": 0, "wide_networks": 2}, ["linear", "scale", "additive", "wide", "wide"]),
        (1, 3000, {"wide_networks": 0}, ["linear", "scale", "additive", *2 * ["network"], "waves", *LARGER[:2]]),
        (1, 30_000, {"wide_networks": 0}, ["linear", "scale", "additive", *2 * ["network"], "waves", *LARGER]),
        (1, 30_000, {"networks": 0, "wide_networks": 0}, ["linear", "scale", "additive"]),
    ],
)
def test_from_plain_to_rich(c, n, changes, expected):
    assert [rung.name for rung in rungs_for(c, n, replace(SETTINGS, **changes))] == expected


def test_steps_of_networks_are_those_of_the_settings():
    rungs = rungs_for(2, 300, replace(SETTINGS, iterations=7))
    assert {rung.name: rung.iterations for rung in rungs if rung.is_tuned} == {
        "waves": 7,
        "index": 7,
        "curved index": 7,
        "network": 7,
        "wide": 7,
    }


@pytest.mark.parametrize("name", EXPANSIONS)
def test_columns_of_the_context_come_first(name):
    context = np.random.default_rng(0).standard_normal((3, 20))
    np.testing.assert_array_equal(EXPANSIONS[name](context)[:3], context)


@pytest.mark.parametrize("rung", RUNGS, ids=IDS)
class TestEveryRung:
    def test_kept_units_find_its_expansion(self, rung):
        assert EXPANSIONS[rung.expansion.__name__] is rung.expansion

    def test_it_depends_on_the_lesson_alone(self, rung):
        rung = replace(rung, iterations=10)
        (first, steps), (again, as_many) = (rung.fit(lesson()) for _ in range(2))
        assert steps == as_many
        assert steps.iterations <= 10
        np.testing.assert_array_equal(first.theta, again.theta)
        assert first.expansion is rung.expansion

    def test_training_follows_rows_better(self, rung):
        rows = lesson()
        before, after = (replace(rung, iterations=steps).fit(rows)[0] for steps in (0, 30))
        gain = (after.log_density(rows.t, rows.x) - before.log_density(rows.t, rows.x)).mean()
        assert gain > 0.003

    def test_what_is_not_tuned_is_the_same_for_other_networks(self, rung):
        other = lesson(replace(SETTINGS, hidden_units=5, weight_decay=2.0))
        rung = replace(rung, iterations=5)
        theta, changed = rung.fit(lesson())[0].theta, rung.fit(other)[0].theta
        assert np.array_equal(theta, changed) != rung.is_tuned


NETWORKS = [rung for rung in RUNGS if rung.is_tuned and rung.name != "waves"]  # which start from a regression


@pytest.mark.parametrize("rung", NETWORKS, ids=[f"{rung.name} {rung.start}" for rung in NETWORKS])
def test_networks_start_as_the_linear_rung(rung):
    """To the last digits of single precision; a wide one only has its slopes, and spreads its components."""
    rows, c = lesson(), 2
    start, linear = replace(rung, iterations=0).fit(rows)[0], rows.linear()
    np.testing.assert_array_equal(start.theta[:c], linear.theta[:c])
    if not isinstance(rung, WideRung):
        densities = (model.log_density(rows.t, rows.x) for model in (start, linear))
        np.testing.assert_allclose(*densities, rtol=1e-5, atol=1e-5)


def test_a_larger_network_is_tried_after_the_next_smaller_one():
    larger = [rung for rung in rungs_for(1, 30_000, SETTINGS) if rung.after]
    assert {rung.name: rung.after for rung in larger} == dict(zip(LARGER, ["network", *LARGER], strict=False))
    sizes = [rung.network(1, SETTINGS).hidden[0] for rung in larger]
    assert sizes == [6, 12, 24, 48, 96]

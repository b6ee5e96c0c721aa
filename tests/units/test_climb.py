"""The climb: what the first fold decides for all folds."""

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from pydine.kernels.mixing import best_mixture
from pydine.sampling import INDEPENDENT
from pydine.units.folds import Fold
from pydine.units.ladder import climb, fit_ladder, needed_of
from pydine.units.rungs import training
from pydine.units.rungs.registry import rungs_for
from unit_data import SETTINGS, sine_data


def test_rungs_that_others_have_taken_over_are_left_out():
    """The second of three rungs is right on all rows, or two of them each on one half."""
    rng = np.random.default_rng(0)
    target = rng.standard_normal((2, 500))
    sharp = norm.logpdf(target[0], scale=1.0) + norm.logpdf(target[1], scale=1.0)
    blunt = [norm.logpdf(target[0], scale=s) + norm.logpdf(target[1], scale=s) for s in (5.0, 3.0, 2.0)]
    densities = [blunt[0], blunt[1], sharp, blunt[2]]
    assert needed_of(densities, best_mixture(np.array(densities)).sum()) == [0, 1]  # the plainest stays
    halves = [np.where(np.arange(500) < 250, sharp, -9.0), np.where(np.arange(500) < 250, -9.0, sharp)]
    densities = [blunt[0], halves[0], halves[1], blunt[2]]
    assert set(needed_of(densities, best_mixture(np.array(densities)).sum())) >= {0, 1}


def test_networks_train_no_longer_than_held_out_rows_ask_for(monkeypatch):
    asked, search = [], training.maximise

    def spy(*arguments):
        found = search(*arguments)
        network, watched, most = len(arguments[2]) > 2, len(arguments[8]) > 0, arguments[10]
        if network:
            asked.append((watched, most, found[2]))
        return found

    monkeypatch.setattr(training, "maximise", spy)
    fit_ladder(*sine_data(), replace(SETTINGS, iterations=150))
    first, later = ([row for row in asked if row[0] == watched] for watched in (True, False))
    allowed = {steps for _, _, steps in first}
    assert {most for _, most, _ in first} == {150}
    assert {most for _, most, _ in later} <= allowed
    assert len(later) >= 2
    assert min(allowed) < 150


def test_a_rung_that_adds_little_counts_in_part():
    """As a target bends more and more, in the same folds: no step of what the additive rung counts is a jump."""
    rng = np.random.default_rng(3)
    context, noise = rng.standard_normal((2, 600))
    held, trusted = INDEPENDENT.folds(np.arange(600), 3), []
    for size in np.linspace(0.0, 0.3, 61):
        target = (context + size * (context**2 - 1.0) + noise) / np.sqrt(2.0 + 2.0 * size**2)
        fold = Fold.of(0, target, context[None], held, SETTINGS, {})
        climbed = climb(fold, rungs_for(1, 400, replace(SETTINGS, networks=0)))
        names = [rung.name for rung in climbed.rungs]
        assert climbed.trust[0] == 1.0  # the marginal rung's
        assert len(climbed.trust) == len(names) + 1 == len(climbed.densities)
        assert (climbed.trust > 0.0).all()
        trusted.append(climbed.trust[1 + names.index("additive")] if "additive" in names else 0.0)
    assert trusted[0] < 0.05  # chance
    assert trusted[-1] == 1.0
    assert sum(0.0 < trust < 1.0 for trust in trusted) >= 5
    assert np.abs(np.diff(trusted)).max() < 0.3


def test_a_larger_network_is_tried_only_where_the_smaller_one_counts():
    """Of a target that follows its context along a line, and of one that follows a product of two columns' waves."""
    rng = np.random.default_rng(5)
    context, noise = rng.uniform(-1.7, 1.7, (2, 9000)), rng.standard_normal(9000)
    held, tried = INDEPENDENT.folds(np.arange(9000), 3), []
    for signal in (context[0], 2.0 * np.sin(2.0 * context[0]) * np.sin(2.0 * context[1])):
        fold = Fold.of(0, (signal + 0.3 * noise) / np.std(signal), context, held, SETTINGS, {})
        tried.append([rung.name for rung in climb(fold, rungs_for(2, 6000, SETTINGS)).rungs])
    assert not any("unit" in name for name in tried[0])
    assert any("unit" in name for name in tried[1])

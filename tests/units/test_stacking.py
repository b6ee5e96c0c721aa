"""Stacking: weights of rungs and densities of held-out rows, by hand."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from pydine.kernels.mixing import mixture_weights
from pydine.units.ladder import cross_fit_ladder, fit_folds
from pydine.units.rows import Arrangement, dealt
from pydine.units.stacking import RungStack, still_to_learn
from unit_data import SETTINGS, sine_data

AS_IT_IS = Arrangement((0,), np.ones(1))


def test_what_counts_in_part_has_that_part_of_its_weight():
    rng = np.random.default_rng(0)
    densities = [-np.abs(rng.standard_normal((3, 50))) for _ in range(3)]
    rows = dealt(np.arange(150), 3)
    names = ["marginal", "linear", "additive"]

    def weights(trust, without=None):
        stack = RungStack(rows, 1.0, AS_IT_IS, names, np.array(trust), [], densities)
        return stack.weights(without)

    whole, part, none = weights([1.0, 1.0, 1.0]), weights([1.0, 1.0, 0.3]), weights([1.0, 1.0, 0.0])
    np.testing.assert_allclose(whole, mixture_weights(np.hstack(densities)), rtol=1e-12)
    np.testing.assert_allclose(part, whole * [1.0, 1.0, 0.3] / (whole @ [1.0, 1.0, 0.3]), rtol=1e-12)
    assert none[2] == 0.0
    assert none.sum() == pytest.approx(1.0, abs=1e-12)
    without = weights([1.0, 1.0, 1.0], without=1)
    np.testing.assert_allclose(without, mixture_weights(np.hstack([densities[0], densities[2]])), rtol=1e-12)


def test_the_density_of_a_held_out_row_by_hand():
    """Of its fold's models, mixed by what the other folds say."""
    target, context = sine_data(300)
    stack = fit_folds(target, context, SETTINGS)
    held_out = cross_fit_ladder(target, context, SETTINGS)[1]
    for row in (0, 17, 299):
        parts = []
        for i, rows in enumerate(stack.rows):
            if row in rows:
                place = stack.sign * target[[row]], stack.seen(context[:, [row]])
                terms = [norm.logpdf(place[0])[0], *(float(m.log_density(*place)[0]) for m in stack.models[i])]
                parts.append(logsumexp(terms, b=stack.weights(without=i)))
        assert len(parts) == 1
        assert held_out[row] == pytest.approx(parts[0], abs=1e-5)


def test_models_of_little_weight_leave_little_unlearned():
    """Optimism counts as far as there are models beside the marginal rung: here some rows do not follow the context."""
    target, context = sine_data(600)
    target[:200] = target[:200][::-1]
    stack = fit_folds(target, context, SETTINGS)
    unit, held = stack.taught(target, context)
    assert 0.05 < unit.marginal_weight < 0.9
    optimism = float(np.mean(unit.log_density(target, context) - held))
    rate = 4.0 / (4.0 + len(context))
    assert unit.unlearned > 0.0
    assert unit.unlearned == pytest.approx((1.0 - unit.marginal_weight) * optimism / (2.0**rate - 1.0), rel=5e-3)


def test_what_is_linear_in_many_columns_is_not_unlearned():
    """It is projected out exactly: however much a rung of many columns overfits, nothing is to be added back."""
    rng = np.random.default_rng(0)
    context = rng.standard_normal((60, 500))
    slopes = rng.standard_normal(60) / np.sqrt(60.0)
    target = (slopes @ context + rng.standard_normal(500)) / np.sqrt(2.0)
    unit, held = fit_folds(target, context, SETTINGS).taught(target, context)
    assert unit.rung_weights["linear"] > 0.3
    assert np.mean(unit.log_density(target, context) - held) > 0.05  # the optimism of the linear rung
    assert unit.unlearned < 0.02


def test_of_a_thousand_columns_no_more_is_unlearned_than_rows_could_ever_teach():
    """The sum over all doublings of the rows is 361 times the optimism there, and of few columns nearly what it is."""
    for c in (1, 5, 10):
        assert still_to_learn(c) == pytest.approx(1.0 / (2.0 ** (4.0 / (4.0 + c)) - 1.0), rel=5e-3)
    assert still_to_learn(1000) == pytest.approx(sum(2.0 ** (-k * 4.0 / 1004.0) for k in range(1, 34)), rel=1e-9)
    assert still_to_learn(1000) < 35.0

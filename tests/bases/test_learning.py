"""What flows have not learned of z: put back, and part of the interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pydine
from pydine.bases.learning import (
    LEFT,
    between,
    relearned,
    weighted,
    with_hidden,
    with_unlearned,
)
from pydine.units.ladder import LadderSettings, fit_ladder

nats = st.floats(0.0, 3.0)
amounts = st.floats(0.0, 1.0)


def information(square: float) -> float:
    return -0.5 * np.log1p(-square)


@given(st.floats(-0.1, 3.0), st.integers(1, 5))
def test_where_nothing_is_unlearned_nothing_changes(value: float, d: int) -> None:
    learned = with_unlearned(value, 0.0, d)
    assert learned.value == value
    assert learned.errors(0.1) == (0.1, 0.1, pytest.approx(0.1))


@given(amounts, st.integers(1, 5))
def test_where_there_is_no_dependence_there_is_nothing_to_put_back(unlearned: float, d: int) -> None:
    learned = with_unlearned(-0.01, unlearned, d)
    assert (learned.value, learned.below, learned.above) == (-0.01, 0.0, 0.0)


@pytest.mark.parametrize("square", [0.1, 0.5, 0.81])
def test_noise_that_dilutes_the_latents_is_taken_off_to_first_order(square: float) -> None:
    noise = 1e-4  # of relative variance, on each side
    diluted = information(square / (1.0 + noise) ** 2)
    restored = with_unlearned(diluted, 2.0 * noise / LEFT).value
    assert abs(restored - information(square)) < 0.01 * (information(square) - diluted)


@given(nats, amounts, amounts)
def test_more_that_is_unlearned_means_more_put_back_and_wider_intervals(value: float, one: float, two: float) -> None:
    less, more = (with_unlearned(value, unlearned) for unlearned in sorted((one, two)))
    assert less.value <= more.value
    assert all(a <= b for a, b in zip(less.errors(0.1), more.errors(0.1), strict=True))


sensitivities = st.lists(st.floats(0.0, 50.0), min_size=2, max_size=2).map(np.array)


@given(nats, sensitivities, st.lists(amounts, min_size=2, max_size=2).map(np.array), amounts)
def test_of_shapes_no_more_is_hidden_than_the_joint_density_has_to_learn(
    value: float, squares: np.ndarray, unlearned: np.ndarray, classes: float
) -> None:
    found = with_hidden(value, squares, unlearned, classes, 500)
    assert 0.0 <= found.added <= 0.5 * unlearned.sum()
    assert found.value == pytest.approx(value + found.added)
    assert found.added <= with_hidden(value, 2.0 * squares, unlearned, classes, 500).added + 1e-12
    less = with_hidden(value, squares, unlearned, 1.0, 500)
    assert less.added <= found.added + 1e-12
    assert less.above == found.above  # how far it may be too small is not known any better
    assert less.below <= found.below


def test_what_evidence_refuses_may_hide_more_the_fewer_the_rows() -> None:
    few, many = (with_hidden(0.5, np.array([3.0, 1.0]), np.zeros(2), 0.0, n) for n in (200, 20_000))
    assert few.value == many.value == 0.5
    assert few.above == pytest.approx(100.0 * many.above)


def test_corrections_are_averaged_by_weight() -> None:
    plain, shape = with_unlearned(0.5, 0.4), with_hidden(0.5, np.array([3.0, 1.0]), np.array([0.2, 0.2]), 0.0, 500)
    assert weighted([1.0], [plain]) == plain
    both = weighted([0.25, 0.75], [plain, shape])
    for mean, one, other in zip(both, plain, shape, strict=True):
        assert mean == pytest.approx(0.25 * one + 0.75 * other)


@given(amounts, amounts)
def test_shapes_add_to_the_errors(optimism: float, edge: float) -> None:
    """Upwards alone: models miss some of a shape, and edges hide some of it."""
    plain = with_unlearned(0.5, 0.3)
    assert plain.beside(0.0, 0.0) == plain
    more = plain.beside(optimism, edge)
    assert (more.value, more.added, more.below) == (plain.value, plain.added, plain.below)
    assert more.above >= plain.beside(optimism, 0.0).above >= plain.above


def test_many_pairs_are_each_as_one_alone() -> None:
    values, unlearned = np.array([-0.01, 0.2, 1.0]), np.array([0.1, 0.0, 0.5])
    together = with_unlearned(values, unlearned)
    for i in range(3):
        alone = with_unlearned(float(values[i]), float(unlearned[i]))
        np.testing.assert_allclose([part[i] for part in together], alone, rtol=1e-15)


def test_sides_count_by_the_mean_of_their_columns() -> None:
    assert between((0.1, 0.3, 0.4), dx=2) == pytest.approx(0.6)
    assert between((), dx=1) == 0.0


def test_units_have_less_left_to_learn_the_more_rows_they_see() -> None:
    rng = np.random.default_rng(0)
    context = rng.standard_normal((3, 2000))
    target = np.sin(2.0 * context[0]) + 0.5 * rng.standard_normal(2000)
    few, many = (fit_ladder(target[:n], context[:, :n], LadderSettings()).unlearned for n in (200, 2000))
    assert few > 2.0 * many > 0.0


def confounded(n: int, dz: int, rho: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    z, (x, y) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    y = rho * x + np.sqrt(1.0 - rho * rho) * y
    index = z.sum(axis=1) / np.sqrt(dz)
    return x + 1.5 * np.sin(2.0 * index), y + 1.5 * np.cos(2.0 * index), z


def test_an_estimate_says_what_it_put_back_and_leans_upwards() -> None:
    estimate = pydine.mutual_information(*confounded(300, 5, 0.9))
    low, high = estimate.confidence_interval()
    assert estimate.details["unlearned"] > 0.0
    assert high - estimate.value > estimate.value - low > 0.0
    assert estimate.errors is not None
    assert estimate.standard_error == pytest.approx(np.sqrt(np.mean(np.square(estimate.errors))))
    assert "fewer columns in z" in estimate.advice


def test_without_z_there_is_nothing_to_learn_of_it() -> None:
    x, y, _ = confounded(300, 1, 0.9)
    estimate = pydine.mutual_information(x, y, base="gaussian")
    assert estimate.details["unlearned"] == 0.0
    assert estimate.errors == pytest.approx([estimate.standard_error] * 2)
    assert estimate.advice == ""


def test_a_matrix_has_the_same_interval() -> None:
    x, y, z = confounded(400, 2, 0.8)
    alone = pydine.mutual_information(x, y, z, base="gaussian")
    table = pydine.pairwise_information({"x": x, "y": y, "a": z[:, 0], "b": z[:, 1]}, ["a", "b"], base="gaussian")
    (low,), (high,) = (table.columns()[name] for name in ("low", "high"))
    assert (low, high) == pytest.approx(tuple(alone.confidence_interval()), abs=1e-9)


def test_generated_data_say_how_much_is_lost() -> None:
    learned = with_unlearned(0.6, 0.5)
    lost = relearned(learned, np.array([0.1, 0.12, 0.08]))
    assert lost.value - 0.6 == pytest.approx(lost.added) == pytest.approx(0.5 * learned.added + 0.5 * 0.1)
    more = relearned(learned, np.array([0.3, 0.32, 0.28]))
    assert more.value > lost.value
    assert more.above > lost.above  # what is hard to learn anew may hide more
    assert more.above > more.below


@pytest.mark.slow
def test_calibrated_intervals_estimate_generated_data_again() -> None:
    x, y, z = confounded(300, 2, 0.9)
    fast, calibrated = (pydine.mutual_information(x, y, z, interval=how) for how in ("fast", "calibrated"))
    plain = fast.value - fast.details["unlearned"]
    assert calibrated.value - calibrated.details["unlearned"] == pytest.approx(plain, abs=1e-12)
    assert calibrated.value != fast.value
    order = np.random.default_rng(0).permutation(300)
    again = pydine.mutual_information(y[order], x[order], z[order][:, ::-1], interval="calibrated", n_jobs=2)
    assert abs(again.value - calibrated.value) < 0.05 * calibrated.standard_error


def test_units_map_latents_back() -> None:
    rng = np.random.default_rng(1)
    context = rng.standard_normal((2, 300))
    target = context[0] ** 2 + 0.5 * rng.standard_normal(300)
    unit = fit_ladder(target, context, LadderSettings())
    np.testing.assert_allclose(unit.target(unit.latent(target, context), context), target, atol=1e-6)


@pytest.mark.parametrize("columns", [20, 30])
def test_many_columns_that_act_linearly_are_projected_out(columns: int) -> None:
    """What is linear in z leaves nothing to put back but what is uncertain of the scale."""
    rng = np.random.default_rng(columns)
    z = rng.standard_normal((500, columns))
    (a, b), (x, y) = rng.standard_normal((2, columns)) / np.sqrt(columns), rng.standard_normal((2, 500))
    estimate = pydine.mutual_information(z @ a + x, z @ b + 0.5 * x + np.sqrt(0.75) * y, z)
    assert 0.0 <= estimate.details["unlearned"] < 0.06
    low, high = estimate.confidence_interval(0.95)
    assert low < information(0.25) < high


def test_columns_of_one_side_hide_nothing_of_the_other() -> None:
    """Without z there is nothing that a flow could have missed of it, however many columns a side has."""
    rng = np.random.default_rng(3)
    common = rng.standard_normal((400, 1))
    x, y = common + rng.standard_normal((2, 400, 8))
    assert pydine.mutual_information(x, y).details["unlearned"] == 0.0

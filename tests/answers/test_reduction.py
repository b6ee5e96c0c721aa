"""Sides of many columns: leading directions, what is left of them, and what every door says of both."""

import math

import numpy as np
import pytest

import pydine
from pydine.bases.closed_form import canonical_squares, spikes
from pydine.latents.directions import principal, standing_out


def factors(n, d, k, seed=0, size=1.5):
    """Sides that share k factors, and their information."""
    rng = np.random.default_rng([n, d, k, seed])
    u, (a, b) = rng.standard_normal((n, k)), size * rng.standard_normal((2, k, d)) / math.sqrt(d)
    x, y = u @ a + rng.standard_normal((n, d)), u @ b + rng.standard_normal((n, d))
    whole = np.block([[a.T @ a + np.eye(d), a.T @ b], [b.T @ a, b.T @ b + np.eye(d)]])
    blocks = whole[:d, :d], whole[d:, d:], whole
    one, other, both = (np.linalg.slogdet(block)[1] for block in blocks)
    return x, y, 0.5 * (one + other - both)


@pytest.mark.parametrize(("n", "d"), [(1000, 60), (500, 100), (600, 400)])
def test_few_factors_of_many_columns(n, d):
    """400 columns a side are more than rows."""
    x, y, truth = factors(n, d, 2, size=2.5)
    found = pydine.mutual_information(x, y)
    low, high = found.confidence_interval(0.95)
    assert low < truth < high
    assert found.value == pytest.approx(truth, abs=0.15 if n > 2 * d else 0.3)
    assert found.details["directions"] == (2, 2)
    parts = found.details["in_directions"] + found.details["in_the_rest"]
    assert found.value == pytest.approx(parts, abs=1e-12)


def test_a_factor_that_bends_is_seen():
    """The second side follows the square of what the first one follows, and no line sees it."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((1000, 1))
    a, b = (np.linalg.qr(rng.standard_normal((40, 1)))[0].T * 4.0 for _ in range(2))
    x = u @ a + rng.standard_normal((1000, 40))
    y = (u * u - 1.0) / math.sqrt(2.0) @ b + rng.standard_normal((1000, 40))
    assert pydine.mutual_information(x, y).value == pytest.approx(0.64, abs=0.1)


def test_what_is_spread_thinly_is_found_by_value_and_by_test():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1000, 40))
    rho = math.sqrt(1.0 - math.exp(-0.05))
    y = rho * x + math.sqrt(1.0 - rho * rho) * rng.standard_normal((1000, 40))
    found = pydine.mutual_information(x, y)
    assert found.value == pytest.approx(1.0, abs=3.0 * found.standard_error)
    assert found.details["in_the_rest"] > 0.5
    assert pydine.independence_test(x, y, method="analytic").pvalue < 1e-6


def test_independent_sides_have_next_to_nothing():
    rng = np.random.default_rng(1)
    values, pvalues = [], []
    for _ in range(6):
        u, v = rng.standard_normal((2, 400, 2))
        x, y = (f @ rng.standard_normal((2, 50)) + rng.standard_normal((400, 50)) for f in (u, v))
        values.append(pydine.mutual_information(x, y).value)
        pvalues.append(pydine.independence_test(x, y, method="analytic").pvalue)
    assert np.mean(values) < 0.02
    assert min(pvalues) > 0.01


def test_copies_and_combinations_of_columns_change_nothing():
    x, y, _ = factors(600, 30, 2)
    plain = pydine.mutual_information(x, y)
    more = pydine.mutual_information(np.hstack([x, x]), np.hstack([y, y[:, ::-1]]))
    assert more.value == pytest.approx(plain.value, abs=0.3 * plain.standard_error)


def test_a_column_in_common_is_infinite():
    x, y, _ = factors(400, 30, 1)
    assert pydine.mutual_information(x, np.hstack([y, x[:, :1]])).value == math.inf


def test_sharp_combinations_are_told_apart_from_chance():
    """Three combinations of forty columns: the rest, not the leading directions, carries them."""
    x = factors(600, 40, 2)[0]
    y = x @ np.random.default_rng(0).standard_normal((40, 3))
    assert pydine.mutual_information(x, y + 0.01 * np.random.default_rng(1).standard_normal(y.shape)).value > 6.0


def test_given_z():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((800, 2))
    x, y = (np.sin(2.0 * z) @ rng.standard_normal((2, 30)) + rng.standard_normal((800, 30)) for _ in range(2))
    found, alone = pydine.mutual_information(x, y, z), pydine.mutual_information(x, y)
    assert alone.value > 1.0
    assert found.confidence_interval(0.95)[0] < 0.05


def test_transform_gives_the_directions_of_new_rows_and_files_keep_them(tmp_path):
    x, y, _ = factors(600, 30, 2, size=3.0)
    model = pydine.DINE().fit(x[:500], y[:500])
    along, across = model.transform(x[500:], y[500:])
    assert along.shape == across.shape == (100, 2)
    squares = np.linalg.svd(np.corrcoef(along.T, across.T)[:2, 2:], compute_uv=False) ** 2
    assert squares.min() > 0.5  # what carries the information
    assert np.isfinite(model.score(x[500:], y[500:]))
    assert np.mean(model.pointwise(x[500:], y[500:])) == pytest.approx(model.information_.value, abs=0.4)
    model.save(tmp_path / "model.npz")
    again = pydine.DINE.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(x, y)[1], model.transform(x, y)[1])


def test_the_order_of_rows_and_the_sides_do_not_count():
    x, y, _ = factors(400, 30, 2)
    rows = np.random.default_rng(0).permutation(400)
    plain = pydine.mutual_information(x, y)
    for other in (pydine.mutual_information(x[rows], y[rows]), pydine.mutual_information(y, x)):
        assert other.value == pytest.approx(plain.value, abs=1e-6)


def test_too_few_rows_for_directions_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="more dimensions than rows"):
        pydine.mutual_information(rng.standard_normal((30, 100)), rng.standard_normal((30, 100)))


class TestDirections:
    def test_as_many_as_stand_out(self):
        rng = np.random.default_rng(0)
        noise = rng.standard_normal((80, 500)) * np.linspace(0.5, 2.0, 80)[:, None]
        for k in (1, 3, 6):
            columns = noise + 2.0 * rng.standard_normal((80, k)) @ rng.standard_normal((k, 500))
            columns = columns / columns.std(axis=1, keepdims=True)
            assert len(standing_out(columns, 499.0)) == k

    def test_more_columns_than_rows_have_the_same_directions(self):
        """By the rows' products in place of the columns'."""
        columns = np.random.default_rng(0).standard_normal((30, 40))
        wide, variances = principal(np.repeat(columns, 2, axis=0) / math.sqrt(2.0), 60)
        loadings, expected = principal(columns, 30)
        np.testing.assert_allclose(variances, expected, rtol=1e-8)
        np.testing.assert_allclose(wide[:, ::2] * math.sqrt(2.0), loadings, atol=1e-8)


class TestSpikes:
    @pytest.mark.parametrize(("n", "dx", "dy"), [(500, 60, 60), (1000, 20, 150), (400, 120, 120)])
    def test_none_of_chance_and_the_size_of_one(self, n, dx, dy):
        rng, found, sizes = np.random.default_rng(0), 0, []
        for _ in range(20):
            both = rng.standard_normal((dx + dy, n))
            found += len(spikes(canonical_squares(both @ both.T, dx), dx, dy, n))
            both[dx] = math.sqrt(0.7) * both[0] + math.sqrt(0.3) * both[dx]
            (size,) = spikes(canonical_squares(both @ both.T, dx), dx, dy, n)
            sizes.append(size)
        assert found == 0
        assert np.mean(sizes) == pytest.approx(0.7, abs=0.03)


def test_what_many_columns_say_is_a_direction_whether_exactly_or_nearly():
    """Two shared dimensions with 20 copies each, among 60 columns of noise: too weak for lines of all columns."""
    rng = np.random.default_rng(0)
    shared, noise = rng.standard_normal((2, 500, 2)), rng.standard_normal((2, 500, 60))
    shared[1] = 0.5 * shared[0] + math.sqrt(0.75) * shared[1]
    x, y = (np.hstack([np.repeat(a, 20, axis=1), b]) for a, b in zip(shared, noise, strict=True))
    near = [a + 1e-3 * rng.standard_normal(a.shape) for a in (x, y)]
    for found in (pydine.mutual_information(x, y), pydine.mutual_information(*near)):
        assert found.details["directions"] == (2, 2)
        assert found.value == pytest.approx(-math.log(0.75), abs=0.1)


def test_thin_dependence_of_columns_by_the_hundred_is_found_by_their_squares():
    """Closed forms have lost nearly all of it: 120 columns a side and 300 rows."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 300, 120))
    rho = math.sqrt(-math.expm1(-2.0 * 2.0 / 120.0))
    y = rho * x + math.sqrt(1.0 - rho * rho) * y
    found = pydine.mutual_information(x, y)
    low, high = found.confidence_interval(0.95)
    assert low < 2.0 < high
    assert found.value > 1.0
    assert found.details["linear_log_pvalue"] < math.log(1e-5)


def test_combinations_of_columns_do_not_stand_for_what_was_left_out():
    x, y = np.random.default_rng(0).standard_normal((2, 400, 30))
    y = 0.3 * x + math.sqrt(0.91) * y
    turn = np.random.default_rng(1).standard_normal((30, 60)) / math.sqrt(30.0)
    plain, more = pydine.mutual_information(x, y), pydine.mutual_information(x @ turn, y @ turn)
    assert plain.value == pytest.approx(-15.0 * math.log(0.91), abs=0.3)
    assert more.value == pytest.approx(plain.value, abs=0.3)

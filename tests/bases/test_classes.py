"""Latent classes: sharp edges that Gaussians blur, and where they have no say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine import mutual_information
from pydine.bases import mixture as module
from pydine.bases.mixture import Classes, Gaussians, MixtureBase
from pydine.sampling import HeldOut
from shapes import gaussian, given_z, latents_of, parabola


def blocks(n, seed=0):
    """Uniform on the four dark squares of a board of two rows and four columns."""
    rng = np.random.default_rng(seed)
    column = rng.integers(4, size=n)
    return (column + rng.random(n))[:, None], (column % 2 + rng.random(n))[:, None]


BLOCKS = np.log(2.0)  # y is high or low, and x says which


def fitted(latents):
    return MixtureBase().fit(latents)


def without_classes(latents):
    return MixtureBase(classes=False).fit(latents)


class TestEdges:
    @pytest.mark.parametrize("n", [300, 1000])
    def test_they_predict_held_out_rows_better(self, n):
        latents = latents_of(*blocks(n))
        with_them, without = fitted(latents), without_classes(latents)
        assert with_them.held_out.mean() > without.held_out.mean() + 0.03
        assert abs(with_them.value - BLOCKS) < abs(without.value - BLOCKS)
        assert with_them.classes > 0.8
        assert 0.0 < with_them.edge < 0.1
        assert without.classes == without.edge == 0.0

    def test_given_z(self):
        estimate = mutual_information(*given_z(*blocks(1000)))
        assert estimate.value == pytest.approx(BLOCKS, abs=0.15)
        low, high = estimate.confidence_interval()
        assert low < BLOCKS < high

    @pytest.mark.parametrize("n", [500, 2000])
    def test_intervals_allow_for_edges_between_knots(self, n):
        """Log-ratios of tiles are all the same, so sampling alone would make for no error at all."""
        rng = np.random.default_rng(0)
        column = rng.integers(4, size=n)
        row = 2 * rng.integers(2, size=n) + column % 2
        low, high = mutual_information(column + rng.random(n), row + rng.random(n)).confidence_interval()
        assert low < np.log(2.0) < high

    def test_a_curve_is_left_to_gaussians(self):
        assert fitted(latents_of(*parabola(1000))).classes < 0.3


class TestWhereTheyHaveNoSay:
    @pytest.mark.parametrize("d", [2, 3])
    def test_several_columns(self, d):
        names = fitted(latents_of(*gaussian(400, d=d))).details["mixture"]
        assert not any("classes" in name for name in names)

    def test_gaussian_data(self):
        plain, found = (mutual_information(*gaussian(500), base=base) for base in ("gaussian", "auto"))
        assert found.value == pytest.approx(plain.value, abs=1e-3)

    def test_independent_data(self):
        values = [
            mutual_information(*np.random.default_rng(seed).standard_normal((2, 300)), base="mixture").value
            for seed in range(8)
        ]
        assert abs(np.mean(values)) < 0.01
        assert max(values) < 0.05


class TestContract:
    def test_few_rows(self):
        rows = np.random.default_rng(0).standard_normal((2, 5))
        start = Gaussians.one(rows)
        found = Classes.of(start.weights, start.means, start.covariances, rows)
        assert found.profiles.shape == (2, 4, 1)

    def test_the_start_is_not_changed(self):
        rows = np.random.default_rng(0).standard_normal((2, 100))
        start = Gaussians.one(rows).doubled(rows, np.eye(2))
        before = start.weights.copy()
        Classes.of(start.weights, start.means, start.covariances, rows)
        np.testing.assert_array_equal(start.weights, before)

    @settings(max_examples=5, deadline=None)
    @given(st.integers(0, 10**6), st.booleans(), st.sampled_from([-1.0, 1.0]), st.sampled_from([-1.0, 1.0]))
    def test_sides_signs_and_the_order_of_rows(self, seed, is_swapped, x_sign, y_sign):
        x, y = blocks(150, seed)
        order = np.random.default_rng(seed).permutation(len(x))
        moved = x_sign * np.exp(x[order]), y_sign * y[order]
        expected = mutual_information(x, y, base="mixture").value
        found = mutual_information(*(moved[::-1] if is_swapped else moved), base="mixture").value
        assert found == pytest.approx(expected, abs=1e-9)

    def test_rows_are_held_out(self):
        """Other values of the rows of a fold give the models that predict them no other parameters."""
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((2, 300))
        changed = rows.copy()
        changed[:, :100] = rng.standard_normal((2, 100))
        held = np.arange(100)
        pairs = [list(module._Fold.of(data, HeldOut(held, held), True).steps()) for data in (rows, changed)]
        for (_, one), (_, other) in zip(*([step for step in steps if len(step) == 2] for steps in pairs), strict=True):
            np.testing.assert_array_equal(one.weights, other.weights)
            np.testing.assert_array_equal(one.profiles, other.profiles)

"""The Gaussian base: the paper's closed form, what it predicts, and how far its flows move it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from pydine.bases.gaussian import GaussianBase
from pydine.units.rows import dealt
from shapes import as_latents, gaussian, gaussian_truth


class TestGaussian:
    @pytest.mark.parametrize("d", [1, 3])
    def test_the_closed_form(self, d):
        """0.5 ln(det S_x det S_y / det S_xy), by NumPy; with corrections, less what the details say."""
        both = np.hstack(gaussian(300, d)).T
        both -= both.mean(axis=1, keepdims=True)
        s = np.cov(both)
        expected = 0.5 * np.log(np.linalg.det(s[:d, :d]) * np.linalg.det(s[d:, d:]) / np.linalg.det(s))
        assert GaussianBase(corrected=False).fit(as_latents(both, d)).value == pytest.approx(expected, abs=1e-12)
        corrected = GaussianBase().fit(as_latents(both, d))
        biases = corrected.details["wishart_bias"] + corrected.details["rank_bias"]
        assert corrected.value + biases == pytest.approx(expected, abs=1e-12)
        assert corrected.details["wishart_bias"] == pytest.approx(d * d / 600, rel=0.05)

    def test_log_ratio_against_scipy(self):
        both = np.hstack(gaussian(300, 2)).T
        latents = as_latents(both, 2)
        s = latents.cross_product / latents.dof
        new = np.hstack(gaussian(50, 2, seed=1)).T
        expected = multivariate_normal(cov=s).logpdf(new.T)
        for side in (slice(0, 2), slice(2, 4)):
            expected = expected - multivariate_normal(cov=s[side, side]).logpdf(new[side].T)
        ratio = GaussianBase().fit(latents).log_ratio
        np.testing.assert_allclose(ratio(new, np.empty((0, 50))), expected, atol=1e-10)

    @pytest.mark.parametrize("kind", ["near-copy", "spike"])
    def test_columns_that_are_regular_only_with_the_rows_held_out(self, kind):
        """Without the rows of one fold a column is a copy of another, or constant: they are predicted all the same."""
        both = np.hstack(gaussian(60, 2)).T
        both[1] = both[0] if kind == "near-copy" else 0.0
        rows = dealt(as_latents(both, 2).outwards, 3)[0][10:12]
        both[1, rows] += [1e-3, -1e-3]
        held_out = GaussianBase().fit(as_latents(both, 2)).held_out
        assert np.isfinite(held_out).all()
        without = GaussianBase().fit(as_latents(both[[0, 2, 3]], 1)).held_out
        assert abs(held_out.mean() - without.mean()) < 0.1

    def test_held_out_rows(self):
        """In many rows their mean log-ratio is the information; with few and none of it, next to nothing."""
        latents = as_latents(np.hstack(gaussian(5000, 2)).T, 2)
        held_out = GaussianBase().fit(latents).held_out
        assert held_out.mean() == pytest.approx(gaussian_truth(2, 0.6), abs=3.5 * held_out.std() / np.sqrt(5000))
        noise = as_latents(np.hstack(gaussian(60, 4, 0.0)).T, 4)
        assert abs(GaussianBase().fit(noise).held_out.mean()) < 0.02

    def test_a_fraction_of_a_degree_of_freedom(self):
        """Degrees of freedom that are no integer move the value smoothly."""
        latents = as_latents(np.hstack(gaussian(200)).T, 1)
        values = [GaussianBase().fit(replace(latents, dof=dof)).value for dof in np.linspace(149.0, 151.0, 21)]
        steps = np.diff(values)
        assert (steps > 0.0).all()  # the bias falls
        assert steps.max() < 1.1 * steps.min()

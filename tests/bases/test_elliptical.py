"""Log-ratios of Gaussian and Student vectors, and the scores of a copula, against SciPy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t, norm, t

from pydine.bases.elliptical import (
    FARTHEST_SCORE,
    EllipticalRatio,
    _prime,
    elliptical_density,
    new_scores,
    places,
    score_maps,
    scores_of,
    student_scores,
)
from shapes import gaussian, latents_of

SCALE = np.array([[1.0, 0.4, 0.2], [0.4, 1.0, -0.3], [0.2, -0.3, 1.0]])


@pytest.mark.parametrize("degrees", [1.5, 7.0, np.inf])
class TestDensities:
    def density(self, columns, scale, degrees):
        if np.isinf(degrees):
            return multivariate_normal(cov=scale).logpdf(columns.T)
        return multivariate_t(shape=scale, df=degrees).logpdf(columns.T)

    def test_against_scipy(self, degrees):
        """But for a constant in proportion to the number of columns."""
        columns = np.random.default_rng(0).standard_normal((3, 40))
        found = elliptical_density(columns, SCALE, degrees)
        constant = 1.5 * np.log(2.0 * np.pi)
        np.testing.assert_allclose(found - constant, self.density(columns, SCALE, degrees), atol=1e-10)

    def test_ratios(self, degrees):
        columns = np.random.default_rng(1).standard_normal((3, 40))
        expected = self.density(columns, SCALE, degrees)
        for side in (slice(0, 1), slice(1, 3)):
            expected = expected - self.density(columns[side], SCALE[side, side], degrees)
        ratio = EllipticalRatio(SCALE, degrees, 1)
        np.testing.assert_allclose(ratio.of(columns), expected, atol=1e-10)
        np.testing.assert_array_equal(ratio(columns, np.empty((0, 40))), ratio.of(columns))


@pytest.mark.parametrize("degrees", [0.5, 2.0, 60.0])
def test_student_scores(degrees):
    sizes = np.linspace(0.0, 6.0, 121)
    scores = np.concatenate([-sizes[:0:-1], sizes])[None]
    found = student_scores(scores, degrees)
    np.testing.assert_allclose(found, t.ppf(norm.cdf(scores), degrees), rtol=2e-3, atol=1e-4)
    np.testing.assert_array_equal(found, -found[:, ::-1])


class TestScoreMaps:
    def test_places_within_ranks(self):
        """Each row in the part of the unit interval that its rank has, at a place that is another in each column."""
        columns = np.random.default_rng(0).standard_normal((3, 500))
        _, scores = score_maps(columns)
        ranks = np.argsort(np.argsort(columns, axis=1), axis=1)
        within = norm.cdf(scores) * 500 - ranks
        assert within.min() > -1e-9
        assert within.max() < 1.0 + 1e-9
        for column in within:
            assert np.abs(np.sort(column) - (np.arange(500) + 0.5) / 500).max() < 0.02
        assert np.abs(np.corrcoef(within) - np.eye(3)).max() < 0.12

    def test_mirrored_with_their_columns(self):
        columns = np.random.default_rng(0).standard_normal((2, 301))
        flipped = columns * [[-1.0], [1.0]]
        np.testing.assert_allclose(score_maps(flipped)[1], score_maps(columns)[1] * [[-1.0], [1.0]], atol=1e-9)

    def test_the_order_of_rows_does_not_count(self):
        columns = np.random.default_rng(0).standard_normal((2, 300))
        rows = np.random.default_rng(1).permutation(300)
        np.testing.assert_array_equal(score_maps(columns[:, rows])[1], score_maps(columns)[1][:, rows])

    def test_tied_rows_go_by_the_other_columns(self):
        columns = np.random.default_rng(0).integers(0, 40, (3, 300)).astype(float)
        columns[0, ::2] += np.random.default_rng(1).uniform(0.1, 0.9, 150)
        found = np.floor(places(columns))
        for column, ranks in zip(columns, found, strict=True):
            np.testing.assert_array_equal(np.argsort(ranks), np.lexsort((*columns, column)))

    def test_made_once_for_latents(self):
        latents = latents_of(*gaussian(100))
        maps, scores = scores_of(latents)
        assert scores_of(latents)[1] is scores
        np.testing.assert_array_equal(scores, score_maps(latents.both)[1])
        assert len(maps) == len(latents.both)

    def test_new_rows_are_within_what_can_be_told_apart(self):
        columns = np.random.default_rng(0).standard_normal((2, 50))
        maps, _ = score_maps(columns)
        far = new_scores(maps, np.array([[-1e9, 0.0, 1e9], [1e300, -1e300, 0.0]]))
        assert np.abs(far).max() == FARTHEST_SCORE
        assert (np.diff(far[0]) > 0.0).all()

    def test_primes(self):
        assert [_prime(i) for i in range(10)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]

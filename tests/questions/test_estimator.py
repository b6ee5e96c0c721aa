"""`DINE` as scikit-learn's estimators are: parameters, transforms, scores, pickles."""

import copy
import pickle

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimator_data import ESTIMATORS, curved, gaussian
from pydine import DINE, InformationEstimate, mutual_information


class TestScikitLearn:
    def test_parameters(self):
        model = DINE(n_folds=4, random_state=3)
        assert model.get_params()["n_folds"] == 4
        assert model.set_params(hidden_units=5) is model
        assert model.get_params()["hidden_units"] == 5
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(hidden=5)
        assert DINE.paper().get_params().keys() == DINE().get_params().keys()

    def test_parameters_are_kept_as_given_and_checked_in_fit(self):
        """What scikit-learn needs to clone: nothing is converted or refused before `fit`."""
        strange = object()
        assert DINE(base=strange).base is strange

    def test_clone(self, fitted, small):
        twin = clone(fitted)
        assert twin.get_params() == fitted.get_params()
        assert not hasattr(twin, "information_")
        assert twin.fit(*small).information_ == fitted.information_

    def test_repr(self):
        assert repr(DINE()) == "DINE()"
        assert repr(DINE(n_folds=5)) == "DINE(n_folds=5)"
        assert "algorithm='paper'" in repr(DINE.paper())

    @pytest.mark.parametrize("method", ["transform", "score", "pointwise"])
    def test_before_fit(self, method, small):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(DINE(), method)(*small)

    def test_fit_returns_itself(self, small):
        model = DINE()
        assert model.fit(*small) is model
        assert model.n_features_in_ == 2

    def test_fitting_again_forgets(self, small):
        x, y, z = small
        again = DINE().fit(x, y, z).fit(x, y)
        assert again.information_ == DINE().fit(x, y).information_
        assert again.information_.dimensions == (2, 1, 0)

    def test_information(self, fitted):
        estimate = fitted.information_
        assert isinstance(estimate, InformationEstimate)
        assert np.isfinite(estimate.value)
        assert estimate.standard_error > 0
        assert estimate.base == "gaussian"
        assert (estimate.n_samples, estimate.dimensions, estimate.n_dropped) == (150, (2, 1, 2), 0)
        low, high = estimate.confidence_interval()
        assert low <= max(0.0, estimate.value) <= high

    @pytest.mark.slow
    def test_the_function_is_the_estimator(self, small):
        assert mutual_information(*small) == DINE().fit(*small).information_
        assert mutual_information(*small, random_state=5) == DINE(random_state=5).fit(*small).information_

    def test_inputs_are_left_alone(self, small):
        before = [block.copy() for block in small]
        for make in ESTIMATORS.values():
            model = make().fit(*small)
            model.transform(*small)
            model.score(*small)
            model.pointwise(*small)
        for now, then in zip(small, before, strict=True):
            np.testing.assert_array_equal(now, then)


class TestTransform:
    def test_shapes(self, fitted, small):
        x, y = fitted.transform(*small)
        assert x.shape == (150, 2)
        assert y.shape == (150, 1)
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()

    def test_x_alone(self, fitted, small):
        """Latents of x are those of x given z, whatever y is."""
        x, _, z = small
        np.testing.assert_array_equal(fitted.transform(x, z=z), fitted.transform(*small)[0])
        with pytest.raises(ValueError, match=r"z must have 2 column\(s\), as in fit, but has 0"):
            fitted.transform(x)

    def test_y_is_needed_to_fit(self, small):
        with pytest.raises(ValueError, match="DINE requires y to be passed, but the target y is None"):
            DINE().fit(small[0], None)

    def test_latents_of_the_sample_give_the_cross_product(self, fitted, small):
        sides = zip(fitted.transform(*small), fitted._columns, strict=False)
        latents = np.hstack([side[:, columns] for side, columns in sides])  # in the flow's own order
        found, kept = latents.T @ latents, fitted.flow_.cross_product
        scale = np.trace(found) / np.trace(kept)  # a softened projection keeps the size that it has on the average
        assert scale == pytest.approx(1.0, abs=1e-4)
        np.testing.assert_allclose(found, scale * kept, rtol=1e-5, atol=1e-5 * 150)

    def test_latents_of_the_sample_are_exactly_normal(self):
        """Recalibrated: without z, every column of them is the normal scores of 1 to n in some order."""
        x, y = gaussian(200, 3, 0.5)
        x[:, 1] += x[:, 0] ** 2
        expected = ndtri(np.arange(1, 201) / 201)
        for column in np.hstack(DINE().fit(x, y).transform(x, y)).T:
            np.testing.assert_allclose(np.sort(column), expected, atol=1e-9)

    def test_rows_are_mapped_one_by_one(self, fitted, small):
        whole = np.hstack(fitted.transform(*small))
        some = np.hstack(fitted.transform(*(block[40:43] for block in small)))
        np.testing.assert_allclose(some, whole[40:43], atol=1e-5)

    def test_latents_are_free_of_z(self, small):
        x, y, z = small
        latents = np.hstack(DINE().fit(x, y, z).transform(x, y, z))
        for column in latents.T:
            assert np.abs(np.corrcoef(column, rankdata(z[:, 0]))[0, 1]) < 0.05
            assert np.abs(np.corrcoef(column, z[:, 1])[0, 1]) < 0.05

    def test_nothing_smooth_of_z_is_left(self):
        """Where z acts along curves, functions of z that no one named are projected out of both sides."""
        x, y, z = curved(600, 0.8)
        model = DINE().fit(x, y, z)
        latents = np.hstack(model.transform(x, y, z))
        functions = np.column_stack([np.ones(600), np.sin(2 * z), np.cos(2 * z), np.cos(3 * z), np.sin(4 * z)])
        explained = functions @ np.linalg.lstsq(functions, latents)[0]
        assert (explained.var(axis=0) < 1e-3 * latents.var(axis=0)).all()
        assert model.flow_.dof < 595

    def test_order_within_a_column_is_kept(self, fitted, small):
        """As z and the other columns stand still: strictly increasing, 30, 300 and a million deviations out too."""
        far = np.array([-1e6, -300, -30, -3, -1, 0, 1, 3, 30, 300, 1e6])
        for side in (0, 1):
            blocks = [np.repeat(block[:1], len(far), axis=0) for block in small]
            blocks[side][:, 0] = far
            latents = fitted.transform(*blocks)[side][:, 0]
            assert np.isfinite(latents).all()
            assert (np.diff(latents) > 0).all()

    @pytest.mark.parametrize("distance", [30.0, 1e6, 1e20, 1e100, 1e160, 1e300])
    def test_rows_far_out_have_finite_latents(self, fitted, small, distance):
        for i in range(3):
            blocks = [block[:4].copy() for block in small]
            blocks[i][:2] = [[distance], [-distance]]
            for latents in fitted.transform(*blocks):
                assert np.isfinite(latents).all()

    def test_new_rows(self):
        """The dependence of rows that were not fitted is that of those that were."""
        x, y, z = curved(2000, 0.8)
        model = DINE().fit(x[:1000], y[:1000], z[:1000])
        a, b = model.transform(x[1000:], y[1000:], z[1000:])
        assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] == pytest.approx(0.8, abs=0.06)

    def test_no_row_and_one_row(self, fitted, small):
        x, y, z = small
        assert [a.shape for a in fitted.transform(x[:0], y[:0], z[:0])] == [(0, 2), (0, 1)]
        assert [a.shape for a in fitted.transform(x[:1], y[:1], z[:1])] == [(1, 2), (1, 1)]

    def test_score(self, fitted, small):
        """A mean over rows."""
        x, y, z = small
        halves = [fitted.score(*(block[half] for block in small)) for half in (slice(75), slice(75, 150))]
        assert fitted.score(x, y, z) == pytest.approx(np.mean(halves), rel=1e-5, abs=1e-5)

    @pytest.mark.parametrize("distance", [30.0, 1e6])
    def test_score_of_rows_far_out(self, fitted, small, distance):
        for i in range(2):
            blocks = [block[:2].copy() for block in small]
            blocks[i][0] = distance
            assert -np.inf < fitted.score(*blocks) < -10.0

    @pytest.mark.slow
    def test_score_prefers_the_flow_that_sees_z(self):
        """On new rows, and by what z tells of both sides."""
        x, y, z = curved(1500, 0.0)
        new = curved(1500, 0.0, seed=7)
        blind = np.random.default_rng(5).standard_normal(1500)
        seeing = DINE().fit(x, y, z).score(*new)
        not_seeing = DINE().fit(x, y, blind).score(new[0], new[1], blind)
        assert seeing > not_seeing + 0.5

    def test_score_of_normal_scores_without_context(self):
        """One column each and no z: two standard normal columns."""
        x, y = gaussian(400, 1, 0.0)
        expected = -np.log(2.0 * np.pi) - 1.0
        assert DINE().fit(x, y).score(x, y) == pytest.approx(expected, abs=0.03)

    def test_other_numbers_of_columns(self, fitted, small):
        x, y, z = small
        with pytest.raises(ValueError, match=r"^x must have 2 column.* has 1"):
            fitted.transform(x[:, :1], y, z)
        with pytest.raises(ValueError, match=r"^z must have 2 column.* has 0"):
            fitted.score(x, y)

    def test_missing_values_in_new_rows(self, fitted, small):
        x, y, z = (block.copy() for block in small)
        y[3] = np.nan
        with pytest.raises(ValueError, match="y must hold finite numbers"):
            fitted.transform(x, y, z)


class TestPickling:
    @pytest.mark.parametrize("make", [pickle.dumps, copy.deepcopy], ids=["pickle", "deepcopy"])
    def test_a_fitted_model(self, fitted, small, make):
        again = make(fitted)
        again = pickle.loads(again) if isinstance(again, bytes) else again
        assert again.information_ == fitted.information_
        for ours, theirs in zip(again.transform(*small), fitted.transform(*small), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert again.score(*small) == fitted.score(*small)

    @pytest.mark.parametrize("given_z", [False, True])
    def test_where_nothing_is_curved(self, given_z):
        x, y = gaussian(100, 1, 0.5)
        z = (np.random.default_rng(7).standard_normal(100),) if given_z else ()
        model = DINE().fit(x, y, *z)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(x, y, *z)[0], model.transform(x, y, *z)[0])

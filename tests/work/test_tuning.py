"""Tuning: the best point of a grid by held-out likelihood, in the estimator and in scikit-learn's searches."""

from dataclasses import asdict, replace
from itertools import product

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from pydine import DINE
from pydine.latents.scores import ScoreMap
from pydine.units.ladder import LadderSettings, held_out_likelihood
from pydine.units.rungs.linear import ExpandedRung
from pydine.work.tasks import Unit
from pydine.work.tuning import Grid, Trial, tune

SETTINGS = LadderSettings(networks=1, iterations=60)
GRID = Grid(components=(1, 2), hidden_units=(1, 8), weight_decay=(0.67, 300.0))
UNITS = [Unit(0, (1,)), Unit(1, (0, 2))]


def waves(n, seed=0, noise=0.4):
    """y follows x along a sine of almost two periods."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, n)
    return x[:, None], (np.sin(6.0 * x) + noise * rng.standard_normal(n))[:, None]


def confounded(n, seed=0):
    """z moves both sides along the same curve."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(-2.0, 2.0, (n, 1))
    x, y = np.sin(3.0 * z) + 0.3 * rng.standard_normal((2, n, 1))
    return x, y, z


@pytest.fixture(scope="module")
def columns():
    """Normal scores, shape (3, n), with bends between them."""
    x, y = waves(300)
    z = x**2 + 0.3 * np.random.default_rng(1).standard_normal((300, 1))
    return np.array([ScoreMap.fit(np.ascontiguousarray(c))[1] for c in np.hstack([y, x, z]).T])


@pytest.fixture(scope="module")
def trials(columns):
    return tune(columns, UNITS, SETTINGS, GRID)


class TestGrid:
    def test_points(self):
        assert GRID.points() == [
            (1, 1, 0.67),
            (1, 1, 300.0),
            (1, 8, 0.67),
            (1, 8, 300.0),
            (2, 1, 0.67),
            (2, 1, 300.0),
            (2, 8, 0.67),
            (2, 8, 300.0),
        ]

    def test_the_default_holds_the_defaults(self):
        """Tuning can always end where it would have begun."""
        points = Grid().points()
        assert len(points) == len(set(points)) == 27
        assert (LadderSettings.components, LadderSettings.hidden_units, LadderSettings.weight_decay) in points


class TestTune:
    def test_every_point_has_the_likelihood_of_its_settings(self, columns, trials):
        """Worked out for each point by itself, with nothing shared, and summed over the units."""
        assert {(trial.components, trial.hidden_units, trial.weight_decay) for trial in trials} == set(GRID.points())
        for trial in trials:
            changes = asdict(trial)
            likelihood = changes.pop("log_likelihood")
            settings = replace(SETTINGS, **changes)
            alone = [held_out_likelihood(columns[u.target], columns[list(u.context)], settings, {}) for u in UNITS]
            assert likelihood == pytest.approx(sum(alone), abs=1e-12)

    def test_from_the_best_to_the_worst(self, trials):
        likelihoods = [trial.log_likelihood for trial in trials]
        assert likelihoods == sorted(likelihoods, reverse=True)
        assert likelihoods[0] > likelihoods[-1] + 0.05

    def test_a_wave_needs_hidden_units_and_freedom(self, trials):
        assert (trials[0].hidden_units, trials[0].weight_decay) == (8, 0.67)

    def test_of_equals_the_first(self, columns):
        """A unit without context has nothing to learn: every point is as good."""
        found = tune(columns, [Unit(0, ()), Unit(1, ())], SETTINGS, GRID)
        assert found == [Trial(*point, 0.0) for point in GRID.points()]

    @pytest.mark.parametrize("n_jobs", [2, -1])
    def test_threads(self, columns, trials, n_jobs):
        assert tune(columns, UNITS, SETTINGS, GRID, n_jobs) == trials

    def test_what_points_share_is_fitted_once(self, columns, monkeypatch):
        """Rungs without a network depend on the components alone: however many points there are, none is fitted twice.

        Which of them are fitted in all folds may depend on the networks.
        """
        fits = []
        original = ExpandedRung.fit

        def counted(rung, lesson):
            fits.append((lesson.t.tobytes(), rung.name, lesson.settings.components))
            return original(rung, lesson)

        monkeypatch.setattr(ExpandedRung, "fit", counted)
        for grid in (Grid((2,), (4, 8), (0.67, 2.0)), Grid((1, 2), (8,), (0.67, 2.0))):
            fits.clear()
            tune(columns, UNITS, SETTINGS, grid)
            assert len(fits) == len(set(fits)) >= 2 * SETTINGS.folds
            assert {components for *_, components in fits} == set(grid.components)


@pytest.fixture(scope="module")
def data():
    return waves(400)


@pytest.fixture(scope="module")
def tuned(data):
    """What it starts from is no point of the grid."""
    return DINE(tune=True, n_components=1, hidden_units=1, weight_decay=50.0).fit(*data)


@pytest.mark.slow
class TestEstimator:
    def test_what_was_tried(self, tuned):
        assert len(tuned.tuning_) == 27
        assert set(tuned.tuning_[0]) == {"components", "hidden_units", "weight_decay", "log_likelihood"}
        points = {(t["components"], t["hidden_units"], t["weight_decay"]) for t in tuned.tuning_}
        assert points == set(product((2, 3, 5), (4, 8, 16), (0.2, 0.67, 2.0)))
        likelihoods = [t["log_likelihood"] for t in tuned.tuning_]
        assert likelihoods == sorted(likelihoods, reverse=True)
        assert likelihoods[0] > likelihoods[-1]

    def test_the_best_is_used(self, tuned, data):
        """The same as an estimator with those settings, and the parameters stay what they were."""
        best = dict(tuned.tuning_[0])
        del best["log_likelihood"]
        named = DINE(n_components=best.pop("components"), **best).fit(*data)
        assert tuned.information_ == named.information_
        assert tuned.score(*data) == named.score(*data)
        assert (tuned.n_components, tuned.hidden_units, tuned.weight_decay) == (1, 1, 50.0)

    def test_new_rows_are_predicted_no_worse(self, tuned, data):
        """By more than chance; a base of one component shows that there is something to lose."""
        new = waves(4000, seed=1)
        assert tuned.score(*new) > DINE().fit(*data).score(*new) - 0.03
        assert tuned.score(*new) > DINE(base="gaussian").fit(*data).score(*new) + 0.03

    def test_without(self, data):
        assert DINE().fit(*data).tuning_ == []
        assert DINE(tune=True, n_networks=0).fit(*data).set_params(tune=False).fit(*data).tuning_ == []

    def test_only_what_the_base_needs(self):
        """Without z a Gaussian base has no flow to tune on one column each: the first point is taken, at once."""
        x, y = waves(200)
        model = DINE(tune=True, base="gaussian").fit(x, y)
        assert [t["log_likelihood"] for t in model.tuning_] == [0.0] * 27
        assert model.information_.value == DINE(base="gaussian").fit(x, y).information_.value

    def test_given_z(self):
        """Flows of x and of y given z are tuned for every base."""
        data = confounded(200)
        model = DINE(tune=True, base="gaussian", n_networks=1).fit(*data)
        assert model.tuning_[0]["log_likelihood"] > model.tuning_[-1]["log_likelihood"]
        assert abs(model.information_.value) < 0.05

    def test_threads(self):
        data = waves(150)
        alone, together = (DINE(tune=True, n_networks=1, n_jobs=n).fit(*data) for n in (None, 2))
        assert alone.tuning_ == together.tuning_
        assert alone.information_ == together.information_

    def test_more_rows_than_are_learned_from(self):
        model = DINE(tune=True, n_networks=1, max_rows=150).fit(*waves(400))
        assert model.information_.n_samples == 400
        assert len(model.tuning_) == 27

    def test_the_paper_has_no_grid_of_ours(self):
        with pytest.raises(ValueError, match=r"^tune=True needs algorithm='ladder'.*GridSearchCV\.$"):
            DINE.paper(tune=True).fit(*waves(100))


class TestScikitLearn:
    """Searches by `score`, the likelihood of held-out rows."""

    def test_grid_search(self):
        data, new = waves(300), waves(3000, seed=1)
        search = GridSearchCV(DINE(n_networks=1), {"hidden_units": [1, 8], "n_components": [1]}, cv=3).fit(*data)
        scores = dict(zip((1, 8), search.cv_results_["mean_test_score"], strict=True))
        assert scores[search.best_params_["hidden_units"]] == max(scores.values())
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.best_estimator_.information_.value > 0.3
        assert search.score(*new) == search.best_estimator_.score(*new)

    @pytest.mark.slow
    def test_a_base_is_chosen_like_anything_else(self):
        search = GridSearchCV(DINE(n_networks=1), {"base": ["gaussian", "student", "flow"]}, cv=3).fit(*waves(300))
        assert search.best_params_ == {"base": "flow"}
        scores = dict(zip(("gaussian", "student", "flow"), search.cv_results_["mean_test_score"], strict=True))
        assert scores["flow"] > scores["gaussian"] + 0.2

    @pytest.mark.slow
    def test_random_search(self):
        space = {"weight_decay": [0.2, 0.67, 2.0], "hidden_units": range(4, 9)}
        search = RandomizedSearchCV(DINE(base="flow", n_networks=1), space, n_iter=3, cv=2, random_state=0)
        search.fit(*waves(200))
        assert len(search.cv_results_["params"]) == 3
        assert search.best_estimator_.get_params()["hidden_units"] == search.best_params_["hidden_units"]

    def test_the_papers_settings(self):
        search = GridSearchCV(DINE.paper(max_iter=60), {"n_components": [2, 16], "hidden_units": [4]}, cv=2)
        assert np.isfinite(search.fit(*waves(150)).cv_results_["mean_test_score"]).all()

    @pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
    def test_given_z(self, kind):
        """Routed to `fit` and to `score`, fold by fold: what z says of its own rows, no other order of it does."""
        x, y, z = confounded(240)
        shuffled = np.random.default_rng(0).permutation(z)
        grid, extra = {"n_networks": [0, 1]}, {"n_iter": 2, "random_state": 0} if kind is RandomizedSearchCV else {}
        with sklearn.config_context(enable_metadata_routing=True):
            model = DINE(base="gaussian").set_fit_request(z=True).set_score_request(z=True)
            seeing, blind = (kind(model, grid, cv=2, **extra).fit(x, y, z=given) for given in (z, shuffled))
        assert seeing.best_estimator_.information_.dimensions == (1, 1, 1)
        assert seeing.best_score_ > blind.best_score_ + 0.1
        assert abs(seeing.best_estimator_.information_.value) < 0.05 < blind.best_estimator_.information_.value

    def test_z_has_to_be_asked_for(self):
        x, y, z = confounded(60)
        with (
            sklearn.config_context(enable_metadata_routing=True),
            pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="z"),
        ):
            GridSearchCV(DINE(), {"n_folds": [3]}).fit(x, y, z=z)

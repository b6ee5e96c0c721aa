"""Feature selection: scikit-learn's contract, the Markov blanket, classes, and what is degenerate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pydine import independence_test, mutual_information
from pydine.questions.selection import ConditionalSelector, Step, mutual_information_score, read_target


@pytest.mark.slow
@parametrize_with_checks([ConditionalSelector()])
@pytest.mark.filterwarnings("ignore:No features were selected", "ignore:nothing is selected")
def test_scikit_learn(estimator, check):
    check(estimator)


def quick(**changes):
    """A selector that spends no time on estimates, which change nothing of the choice."""
    return ConditionalSelector(base="gaussian", **changes)


def blanket(n=500, seed=0):
    """a + b repeated with noise, a, b, a pair whose product counts, and two columns that tell nothing."""
    rng = np.random.default_rng(seed)
    a, b, c, d, e, f = rng.standard_normal((6, n))
    y = a + b + 1.5 * c * d + 0.5 * rng.standard_normal(n)
    return np.column_stack([a + b + 0.4 * rng.standard_normal(n), a, b, c, d, e, f]), y


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(*blanket())


class TestBlanket:
    def test_is_found(self, fitted):
        assert fitted.get_support(indices=True).tolist() == [1, 2, 3, 4]
        assert sorted(fitted.selected_) == [1, 2, 3, 4]
        np.testing.assert_array_equal(fitted.support_, fitted.get_support())

    def test_what_the_others_say_is_taken_out(self, fitted):
        """Their sum tells most about y and is added first; once both are in it tells nothing."""
        assert fitted.steps_[0][:2] == ("add", 0)
        assert [step.feature for step in fitted.steps_ if step.action == "remove"] == [0]
        assert fitted.pvalues_[0] > 0.05

    def test_steps_lead_to_the_choice(self, fitted):
        kept = []
        for step in fitted.steps_:
            assert isinstance(step, Step)
            kept = [*kept, step.feature] if step.action == "add" else [f for f in kept if f != step.feature]
        assert kept == fitted.selected_.tolist()

    @pytest.mark.slow
    def test_without_the_way_back(self):
        assert quick(backward=False).fit(*blanket()).get_support(indices=True).tolist() == [0, 1, 2, 3, 4]

    def test_pvalues_are_those_of_the_test(self, fitted):
        X, y = blanket()
        for feature in (0, 1, 5):
            others = [other for other in fitted.selected_ if other != feature]
            result = independence_test(X[:, feature], y, X[:, others], method="analytic")
            assert fitted.pvalues_[feature] == pytest.approx(result.pvalue, rel=1e-6)

    def test_the_first_step_is_corrected_for_the_candidates(self):
        X, y = blanket()
        X = X[:100, 5:]
        uncorrected = mutual_information_score(X, y[:100])[1].min()
        assert quick(alpha=min(1.999 * uncorrected, 0.99)).fit(X, y[:100]).steps_ == ()
        assert len(quick(alpha=min(2.001 * uncorrected, 0.99)).fit(X, y[:100]).steps_) > 0

    @pytest.mark.slow
    def test_information_is_that_of_the_estimator(self):
        fitted = ConditionalSelector().fit(*blanket())
        X, y = blanket()
        others = [other for other in fitted.selected_ if other != 1]
        assert fitted.information_[1] == pytest.approx(float(mutual_information(X[:, 1], y, X[:, others])), abs=1e-6)
        assert fitted.information_[1] > 0.3
        assert np.abs(fitted.information_[[0, 5, 6]]).max() < 0.02

    def test_most_features(self):
        selector = quick(max_features=2).fit(*blanket())
        assert len(selector.selected_) == 2
        assert selector.transform(blanket()[0]).shape == (500, 2)

    @pytest.mark.slow
    def test_alike_whatever_the_threads_and_the_cache(self, tmp_path):
        X, y = blanket(200)
        plain, threads, kept = (quick(**changes).fit(X, y) for changes in ({}, {"n_jobs": 2}, {"cache": tmp_path}))
        again = quick(cache=str(tmp_path)).fit(X, y)
        assert list(tmp_path.rglob("*.npz"))
        for other in (threads, kept, again):
            assert other.steps_ == plain.steps_
            np.testing.assert_array_equal(other.pvalues_, plain.pvalues_)
            np.testing.assert_array_equal(other.information_, plain.information_)

    @pytest.mark.slow
    def test_nothing_is_rarely_something(self):
        """40 datasets in which nothing tells anything, at the level 0.05: more than 6 would be one chance in 300."""
        rng = np.random.default_rng(0)
        draws = [(rng.standard_normal((60, 4)), rng.standard_normal(60)) for _ in range(40)]
        assert sum(len(quick().fit(X, y).selected_) > 0 for X, y in draws) <= 6

    @pytest.mark.slow
    @settings(max_examples=5, deadline=None)
    @given(st.lists(st.sampled_from([np.exp, np.cbrt, np.sinh, np.arctan]), min_size=5, max_size=5))
    def test_increasing_maps_change_nothing(self, maps):
        X, y = blanket(120)
        X = X[:, 1:5]
        mapped = np.column_stack([f(column) for f, column in zip(maps, X.T, strict=False)])
        before, after = quick().fit(X, y), quick().fit(mapped, maps[4](y))
        np.testing.assert_array_equal(after.pvalues_, before.pvalues_)
        assert after.steps_ == before.steps_


class TestInScikitLearn:
    @pytest.mark.slow
    def test_pipeline_keeps_names(self):
        X, y = blanket()
        frame = pd.DataFrame(X, columns=list("rabcdef"))
        pipeline = make_pipeline(StandardScaler(), quick(), LinearRegression()).set_output(transform="pandas")
        pipeline.fit(frame, y)
        assert list(pipeline[:-1].transform(frame).columns) == ["a", "b", "c", "d"]
        assert pipeline[1].get_feature_names_out().tolist() == ["a", "b", "c", "d"]
        assert pipeline[1].feature_names_in_.tolist() == list("rabcdef")
        assert pipeline.score(frame, y) > 0.3

    @pytest.mark.slow
    def test_grid_search(self):
        X, y = blanket(150)
        pipeline = make_pipeline(quick(), LinearRegression())
        search = GridSearchCV(pipeline, {"conditionalselector__max_features": [1, 2]}, cv=2).fit(X, y)
        assert search.best_params_["conditionalselector__max_features"] in (1, 2)

    def test_clone(self):
        selector = ConditionalSelector(alpha=0.01, cache="folder", target="classes")
        assert clone(selector).get_params() == selector.get_params()

    def test_y_is_needed(self):
        with pytest.raises(ValueError, match="requires y"):
            ConditionalSelector().fit(np.zeros((20, 2)), None)


class TestScore:
    def test_known_truth(self):
        rng = np.random.default_rng(0)
        y, e, unrelated = rng.standard_normal((3, 2000))
        scores, pvalues = mutual_information_score(np.column_stack([0.6 * y + 0.8 * e, unrelated]), y)
        assert scores[0] == pytest.approx(-0.5 * np.log(1 - 0.36), abs=0.04)
        assert abs(scores[1]) < 0.005
        assert pvalues[0] < 1e-50
        assert pvalues[1] > 0.01

    def test_is_the_estimate_and_the_test(self):
        X, y = blanket(200)
        scores, pvalues = mutual_information_score(X, y, n_jobs=2)
        for i in (0, 3, 5):
            assert scores[i] == pytest.approx(float(mutual_information(X[:, i], y)), abs=1e-9)
            assert pvalues[i] == pytest.approx(independence_test(X[:, i], y, method="analytic").pvalue, rel=1e-9)

    def test_selects_k_best(self):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((400, 5))
        y = X[:, 1] ** 2 + X[:, 3] + 0.5 * rng.standard_normal(400)
        best = SelectKBest(mutual_information_score, k=2).fit(X, y)
        assert best.get_support(indices=True).tolist() == [1, 3]
        assert (best.pvalues_[[1, 3]] < 1e-6).all()

    def test_constants_and_copies(self):
        y = np.random.default_rng(0).standard_normal(50)
        scores, pvalues = mutual_information_score(np.column_stack([np.ones(50), np.exp(y)]), y)
        assert scores.tolist() == [0.0, np.inf]
        assert pvalues[0] == 1.0
        assert 0.0 < pvalues[1] < 1e-4

    def test_too_few_rows(self):
        with pytest.raises(ValueError, match="X and y must have at least 12 rows to be scored, but have 11"):
            mutual_information_score(np.random.default_rng(0).standard_normal((11, 1)), np.arange(11.0))

    def test_classes(self):
        """Two normals two standard deviations apart: the mean of ln p(x | class) - ln p(x), by quadrature."""
        rng = np.random.default_rng(0)
        labels = rng.permutation(np.repeat(["no", "yes"], 1000))
        X = np.column_stack([rng.standard_normal(2000) + 2.0 * (labels == "yes"), rng.standard_normal(2000)])
        x = np.linspace(-8, 10, 20001)
        one, two = (np.exp(-0.5 * (x - m) ** 2) / np.sqrt(2 * np.pi) for m in (0.0, 2.0))
        mean = 0.5 * (one + two)
        truth = sum(0.5 * (p * np.log(p / mean)).sum() * (x[1] - x[0]) for p in (one, two))
        scores, pvalues = mutual_information_score(X, labels)
        assert scores[0] == pytest.approx(truth, abs=0.06)
        assert abs(scores[1]) < 0.01
        assert pvalues[0] < 1e-100 < 0.01 < pvalues[1]


class TestClasses:
    @pytest.mark.slow
    def test_names_of_two_classes_do_not_matter(self):
        X, y = blanket(200)
        positive = y > 0
        results = [
            quick().fit(X, labels)
            for labels in (positive, positive.astype(int), 5.0 * positive, np.where(positive, "yes", "no"))
        ]
        for other in results[1:]:
            np.testing.assert_array_equal(other.pvalues_, results[0].pvalues_)

    def test_classes_have_no_order(self):
        """The class in the middle of the alphabet stands apart, which numbers in order would hide."""
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 3, 300)
        X = np.column_stack([rng.standard_normal(300) + 1.5 * (codes == 1), rng.standard_normal(300)])
        as_classes = quick().fit(X, np.array(["a", "b", "c"])[codes])
        assert as_classes.selected_.tolist() == [0]
        assert as_classes.pvalues_[0] < 1e-20

    def test_classes_that_differ_in_spread(self):
        rng = np.random.default_rng(0)
        labels = np.repeat([0, 1], 150)
        X = rng.standard_normal((300, 2)) * np.column_stack([1.0 + labels, np.ones(300)])
        assert quick().fit(X, labels).selected_.tolist() == [0]

    def test_two_values_as_frequent_as_each_other(self):
        """The squares of their scores are constant, on either side."""
        rng = np.random.default_rng(0)
        for n in (52, 64, 100):
            y = np.arange(n) % 2
            X = np.column_stack([np.arange(n) // 2 % 2, y + rng.standard_normal(n)])  # each half of y has it evenly
            assert quick().fit(X, y).selected_.tolist() == [1]
            assert 0 in quick().fit(X[:, ::-1], X[:, 0] + 0.3 * X[:, 1]).selected_

    @pytest.mark.slow
    def test_iris(self):
        X, y = load_iris(return_X_y=True)
        selector = ConditionalSelector().fit(X, y)
        assert 3 in selector.selected_
        assert np.isfinite(selector.information_).all()
        np.testing.assert_array_equal(selector.support_, quick(target="classes").fit(X, y.astype(str)).support_)

    @pytest.mark.parametrize(
        ("y", "target", "kind"),
        [
            ([0.5, 1.5, 2.5, 3.5], "auto", "continuous"),
            ([0, 1, 2, 0, 1, 2], "auto", "nominal"),
            ([0, 1, 2, 0, 1, 2], "numbers", "ordinal"),
            ([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], "auto", "ordinal"),
            ([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], "classes", "nominal"),
            (list(range(11)) * 3, "auto", "ordinal"),
            ([0.0, 7.0, 0.0, 7.0], "auto", "nominal"),
            ([True, False, True, False], "auto", "nominal"),
            (["b", "a", "c", "a", "b", "c"], "auto", "nominal"),
        ],
    )
    def test_reading_a_target(self, y, target, kind):
        column, found = read_target(np.array(y), target)
        assert column.shape == (len(y),)
        assert found == kind
        objects, as_objects = read_target(np.array(y, dtype=object), "classes" if kind == "nominal" else "numbers")
        np.testing.assert_array_equal(objects, column)
        assert as_objects == kind

    @pytest.mark.parametrize(
        ("y", "target", "message"),
        [
            (["a", "b", "a", "b"], "numbers", "y must hold numbers for target='numbers', but holds labels"),
            (["a", "b", "c", "a"], "auto", "y must repeat its classes, but has 3 different labels in 4 rows"),
            ([2, 2, 2], "auto", "y must vary, but is 2.0 in all 3 rows"),
            ([], "auto", "y must have rows, but has none"),
            ([1.0, 2.0, np.nan], "auto", "y must have a value in every row, but 1 of its 3 rows .* the first in row 2"),
            ([1.0, -np.inf, 2.0], "numbers", "y must have a value in every row, but 1 of its 3 rows .* in row 1"),
            (np.array(["a", None], dtype=object), "auto", "y must have a value in every row, but 1 of its 2 rows"),
            (np.array(["a", True], dtype=object), "auto", "y must hold numbers, or labels of one type"),
            ([1, 2, 3], "labels", "target must be 'auto' or 'numbers' or 'classes', but got 'labels'"),
        ],
    )
    def test_targets_that_cannot_be_read(self, y, target, message):
        with pytest.raises(ValueError, match=message):
            read_target(np.array(y), target)

    def test_a_missing_value_beside_features_that_are_labels(self):
        """Scikit-learn, which refuses it, is not asked about features that are no numbers."""
        y = np.random.default_rng(0).standard_normal(60)
        y[7] = np.nan
        X = pd.DataFrame({"a": ["u", "v"] * 30, "b": np.random.default_rng(1).standard_normal(60)})
        for ask in (ConditionalSelector().fit, mutual_information_score):
            with pytest.raises(ValueError, match="y must have a value in every row, but 1 of its 60 rows"):
                ask(X, y)


class TestDegenerate:
    def test_copies(self):
        """Of a feature and its strictly monotone functions one is selected, and the others add nothing to it."""
        rng = np.random.default_rng(0)
        a = rng.standard_normal(100)
        selector = quick().fit(np.column_stack([a, np.exp(a), -a, np.full(100, 3.0)]), a + rng.standard_normal(100))
        assert selector.selected_.tolist() == [0]
        assert selector.pvalues_[1:].tolist() == [1.0, 1.0, 1.0]
        assert selector.information_[1:].tolist() == [0.0, 0.0, 0.0]

    def test_indicators_that_sum_to_one(self):
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 3, 300)
        selector = quick().fit(np.eye(3)[groups], 2.0 * groups + rng.standard_normal(300))
        assert len(selector.selected_) == 2
        assert selector.pvalues_[~selector.support_].tolist() == [1.0]

    def test_levels_and_an_indicator_of_one(self):
        """Three levels determine every function of theirs."""
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 3, 300)
        X = np.column_stack([groups, groups == 1])
        selector = quick().fit(X, 2.0 * groups + rng.standard_normal(300))
        assert selector.selected_.tolist() == [0]
        assert selector.pvalues_[1] == 1.0

    def test_a_feature_that_is_the_target(self):
        rng = np.random.default_rng(0)
        y = rng.standard_normal(80)
        selector = ConditionalSelector().fit(np.column_stack([y + rng.standard_normal(80), y**3]), y)
        assert selector.selected_.tolist() == [1]
        assert selector.information_.tolist() == [0.0, np.inf]
        assert 0.0 < selector.pvalues_[1] < 1e-6

    @pytest.mark.slow
    def test_a_class_that_a_feature_tells(self):
        """Given the first feature, only the other two classes are left to tell apart, which the second does."""
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 3, 300)
        X = np.column_stack([codes == 0, rng.standard_normal(300) + codes, rng.standard_normal(300)])
        selector = ConditionalSelector().fit(X, np.array(["a", "b", "c"])[codes])
        assert sorted(selector.selected_) == [0, 1]
        assert 0.0 < selector.information_[0] < np.log(2)  # no more than there is to know of two values
        levels = quick().fit(np.column_stack([codes == 0, 2 - codes]), codes)
        assert levels.selected_.tolist() == [1]

    def test_huge_and_tiny_values(self):
        X, y = blanket(100)
        X = X[:, 1:3]
        plain, scaled = quick().fit(X, y), quick().fit(X * [1e250, 1e-250], y * 1e200)
        np.testing.assert_array_equal(plain.pvalues_, scaled.pvalues_)

    def test_too_few_rows(self):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((12, 2)), np.arange(12.0)
        with pytest.warns(UserWarning, match="nothing is selected, because 12 rows are too few .* at least 13"):
            selector = quick().fit(X, y)
        assert not selector.support_.any()
        assert selector.pvalues_.tolist() == [1.0, 1.0]

    @pytest.mark.slow
    def test_more_features_than_rows(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((30, 60))
        selector = quick().fit(X, X[:, 7] + 0.1 * rng.standard_normal(30))
        assert selector.selected_[0] == 7
        assert len(selector.selected_) <= 18

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"alpha": 0.0}, "alpha must be a number strictly between 0 and 1, but got 0.0"),
            ({"max_features": 0}, "max_features must be None or an integer of at least 1, but got 0"),
            ({"backward": "no"}, "backward must be True or False, but got 'no'"),
            ({"base": "copula"}, "base must be 'auto' or"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
            ({"cache": 3}, "cache must be None, a folder"),
        ],
    )
    def test_parameters_that_cannot_be_meant(self, changes, message):
        with pytest.raises(ValueError, match=message):
            ConditionalSelector(**changes).fit(*blanket(30))

"""scikit-learn's own checks of estimators: which hold, and why the others do not."""

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from pydine import DINE, ConditionalSelector, UnitCache

ONE_SENTENCE = "what is wrong is said in pydine's own sentence, the same at every door, and not in scikit-learn's words"
# What does not hold for `DINE`, and why. All other checks do.
NOT_HELD = {
    "check_n_features_in_after_fitting": ONE_SENTENCE,
    "check_complex_data": ONE_SENTENCE,
    "check_estimators_empty_data_messages": ONE_SENTENCE,
    "check_fit2d_1sample": ONE_SENTENCE,
    "check_fit2d_1feature": ONE_SENTENCE,
    "check_estimators_nan_inf": "its ten rows are too few for three columns and y, which is what is said",
    "check_dtype_object": "an array of Python objects is refused: what is in it is somebody's choice",
    "check_fit1d": "one column may come as a one-dimensional array",
    "check_fit2d_predict1d": "one column may come as a one-dimensional array",
    "check_transformer_data_not_an_array": "there is no fit_transform: latents are those of two sides",
    "check_transformer_general": "there is no fit_transform: latents are those of two sides",
    "check_transformer_n_iter": "max_iter bounds many trainings, and no one number says how long they took",
}


def failures(estimator, expected):
    """Names of the checks that do not hold."""
    found = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert len(found) > 40
    return {check["check_name"] for check in found if check["status"] in ("failed", "xfail")}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of ties and of few rows, which the checks are full of
def test_what_holds_for_dine():
    assert failures(DINE(base="gaussian", max_iter=5, n_networks=1), NOT_HELD) == set(NOT_HELD)


@pytest.mark.filterwarnings("ignore:Estimator")
def test_what_dine_says_of_itself():
    tags = DINE().__sklearn_tags__()
    assert tags.target_tags.required
    assert tags.estimator_type is None
    assert not any((tags.classifier_tags, tags.regressor_tags, tags.input_tags.sparse, tags.input_tags.allow_nan))


def test_a_selector_with_a_cache_can_be_cloned(tmp_path):
    """All of scikit-learn's checks hold for the selector: `test_selection.py` runs them."""
    for cache in (UnitCache(), UnitCache(tmp_path)):
        twin = clone(ConditionalSelector(cache=cache))
        assert twin.cache is cache
        assert clone(make_pipeline(StandardScaler(), twin))[-1].cache is cache
        assert repr(twin).startswith("ConditionalSelector(cache=UnitCache(")

"""Explanations: which columns take over what one tells, in order."""

import numpy as np
import pytest

import pydine


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    n = 300
    cause, other, noise = rng.standard_normal((3, n))
    return {
        "noise": noise,
        "other": other,
        "cause": cause,
        "proxy": cause**2 + 0.3 * other + 0.3 * rng.standard_normal(n),
        "label": np.array(list("abc"))[np.digitize(other + rng.standard_normal(n), [-0.5, 0.5])],
        "y": cause**2 + 0.4 * rng.standard_normal(n),
    }


@pytest.fixture(scope="module")
def found(data):
    return pydine.why(data, "proxy", "y")


def test_the_cause_takes_over_first_and_steps_are_single_questions(data, found):
    assert [step.added for step in found.steps[:2]] == [(), ("cause",)]
    alone = pydine.mutual_information("proxy", "y", data=data)
    given = pydine.mutual_information("proxy", "y", ["cause"], data=data)
    every = pydine.mutual_information("proxy", "y", ["noise", "other", "cause", "label"], data=data)
    assert found.steps[0].left.value == alone.value
    assert found.steps[1].left.value == given.value
    assert found.steps[-1].left.value == every.value
    assert sorted(name for step in found.steps for name in step.added) == ["cause", "label", "noise", "other"]
    assert (
        found.steps[-1].pvalue
        == pydine.independence_test(
            "proxy", "y", ["noise", "other", "cause", "label"], data=data, method="analytic"
        ).pvalue
    )


def test_the_line_beside_it_is_that_of_a_regression(data, found):
    z = np.column_stack(
        [np.ones(300), data["noise"], data["other"], data["cause"], data["label"] == "b", data["label"] == "c"]
    ).astype(float)
    x, y = (side - z @ np.linalg.lstsq(z, side, rcond=None)[0] for side in (data["proxy"], data["y"]))
    assert found.correlation == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found.correlation_pvalue < 1e-6 < 0.05 < found.steps[-1].pvalue
    assert "either linear regression on the others leaves curvature in both sides" in repr(found)
    assert abs(np.corrcoef(found.residuals)[0, 1]) < 0.5 * abs(found.correlation)


def test_a_ranking_explains_itself(data, found):
    ranking = pydine.rank(data, "y")
    assert ranking.why("proxy").to_json() == found.to_json()
    with pytest.raises(ValueError, match="'nobody' is not among the columns of the ranking"):
        ranking.why("nobody")
    read = type(ranking).from_json(ranking.to_json())
    with pytest.raises(ValueError, match="needs the data"):
        read.why("proxy")


def test_it_is_shown_written_and_drawn(found):
    assert "nothing more is detected given all of them: at most" in found.summary
    assert list(found.to_frame()["given"])[:2] == ["", "cause"]
    assert "<table" in found._repr_html_()
    assert found.plot().get_xlabel() == "proxy, residual given the others"
    assert repr(pydine.Explanation.from_json(found.to_json())) == repr(found)


def test_labels_have_no_partial_plot_and_one_column_no_others(data):
    found = pydine.why(data, "label", "y", ["cause"])
    assert np.isnan(found.correlation)
    with pytest.raises(ValueError, match="no partial plot"):
        found.plot()
    alone = pydine.why({"x": data["cause"], "y": data["y"]}, "x", "y")
    assert len(alone.steps) == 1
    assert "no other column" in alone.summary

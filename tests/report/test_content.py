"""The numbers of a report are those of the library, and it says how well the flows fit."""

import base64
import html
import re

import numpy as np
import pytest
from scipy.stats import spearmanr

import pydine
from pydine.inputs.files import Frame
from pydine.nulls.pvalues import adjusted
from pydine.questions.pairs import asked
from pydine.questions.ranking import rank
from pydine.report import make_report, to_html
from pydine.report.calibration import check_flows
from pydine.report.explanations import _fold
from pydine.report.page import _packed
from pydine.units.ladder import LadderSettings
from report_data import ROWS, data_of, make_frame


def test_matrix_and_graph_are_those_of_the_library(report, page):
    frame = dict(make_frame())
    data = data_of(page)
    given_rest = pydine.pairwise_information(frame, "rest", base="gaussian")
    of_target = rank(frame, "outcome")
    for column in of_target:  # the target's row is that of the ranking
        i, t = given_rest.names.index(column.name), given_rest.names.index("outcome")
        for matrix, value in (
            (given_rest.values, column.given_rest.value),
            (given_rest.standard_errors, column.given_rest.standard_error),
        ):
            matrix[i, t] = matrix[t, i] = value
    for key, matrix in (("pairs", pydine.pairwise_information(frame)), ("rest", given_rest)):
        upper = np.triu_indices(4, 1)
        np.testing.assert_allclose(data[key]["value"], matrix.values[upper], rtol=1e-3)
        np.testing.assert_allclose(data[key]["error"], matrix.standard_errors[upper], rtol=1e-3)
        np.testing.assert_allclose(data[key]["p"], matrix.pvalues[upper], rtol=1e-3)
        assert set(data[key]["n"]) == {ROWS}
    assert data["names"][data["target"]] == "outcome"
    ranks = spearmanr(np.column_stack(list(frame.values()))).statistic[np.triu_indices(4, 1)]
    np.testing.assert_allclose(data["spearman"], ranks, atol=1e-5)


def test_the_ranking_is_that_of_rank_and_p_values_are_adjusted_where_they_stand(report):
    matrix, graph = report.matrix, report.graph
    assert [row.name for row in report.ranking] == ["cause", "proxy", "noise"]
    told = {column.name: column for column in rank(dict(make_frame()), "outcome")}
    for row in report.ranking:
        i, t = matrix.names.index(row.name), matrix.names.index("outcome")
        assert row.alone.value == matrix.values[i, t]
        assert row.given_rest.value == graph.values[i, t] == told[row.name].given_rest.value
        assert row.given_rest.adjusted == told[row.name].adjusted_given_rest
        assert row.alone.adjusted == told[row.name].adjusted_alone
        assert row.alone.value == told[row.name].alone.value
    upper = np.triu_indices(4, 1)
    for table in (matrix, graph):
        np.testing.assert_allclose(table.adjusted_pvalues[upper], adjusted(table.pvalues[upper], "bh"))


def test_the_target_has_the_ranking_s_figures_where_pairs_are_screened(monkeypatch):
    monkeypatch.setattr(asked, "MOST_OWN", 0)  # as in a larger table
    rng = np.random.default_rng(5)
    size, noise, other = rng.normal(size=(3, 150))
    frame = {"a": size * rng.choice([-1.0, 1.0], 150), "b": np.exp(size) + 0.5 * noise, "c": size + other}
    told = rank(frame, "b")
    screened = pydine.pairwise_information(frame)
    own = make_report(Frame("data.csv", frame, {}, 150), "b")
    differ = 0
    for column in told:
        i, t = own.matrix.names.index(column.name), own.matrix.names.index("b")
        assert own.matrix.values[i, t] == own.matrix.values[t, i] == column.alone.value
        assert own.matrix.bases[i, t] == column.alone.base
        differ += screened.values[i, t] != column.alone.value
    assert differ  # otherwise this test shows nothing


def test_what_is_not_detected_is_explained_in_a_fold(report, page):
    (proxy,) = [row for row in report.ranking if row.why is not None]
    assert proxy.name == "proxy"
    assert proxy.why.steps[1].added == ("cause",)
    fold = page[page.index("Why is ") :]
    assert "not detected given the others?</summary>" in fold
    assert "nothing more is detected given all of them: at most" in fold
    assert "both are residuals given the others" in fold
    assert "Adjusted" not in fold
    assert "Adjusted for all columns of the ranking, p = 0.070: not detected." in _fold(proxy.why, 0.07, alpha=1.0)


def test_the_summary_says_what_was_found(page):
    text = html.unescape(re.sub(r"<[^>]+>", "", page[: page.index('id="matrix"')]))
    assert "On their own, cause (" in text
    assert "Given all the others, cause still adds something; nothing was detected for the other 2." in text
    assert "Left outcolour: it holds text" in text
    assert "one: it is constant" in text
    assert "p-values are adjusted for all columns of the ranking" in text
    assert text.count("adjusted") == 1


def test_points_are_the_rows(report, page):
    frame = make_frame()
    rows = report.points.values[0]
    assert sorted(rows) == sorted(frame["cause"])
    packed = _packed(report.points.values)
    steps = np.frombuffer(base64.b64decode(packed["steps"]), "<u2").reshape(4, ROWS)
    low, high = np.array(packed["ends"]).T[:, :, None]
    np.testing.assert_allclose(low + (high - low) * steps / 65534, report.points.values, atol=1e-3)
    np.testing.assert_allclose(np.sort(report.points.latents[0]), np.sort(report.points.latents[3]))


def test_packing_survives_extreme_and_equal_values():
    packed = _packed(np.array([[-1e140, 1e140], [3.0, 3.0]]))
    assert packed["ends"] == [[-1e140, 1e140], [3.0, 3.0]]


@pytest.mark.slow
def test_the_page_does_not_depend_on_threads(page, report):
    again = make_report(make_frame(), "outcome", n_jobs=2, provenance=report.provenance)
    assert to_html(again) == page


def test_held_out_likelihood_of_a_linear_dependence():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(600)
    y = 0.8 * x + 0.6 * rng.standard_normal(600)
    (fit,) = check_flows({"x": x, "y": y}, [("y", ("x",))], LadderSettings())
    truth = -0.5 * np.log(1.0 - 0.8**2)
    assert abs(fit.linear_gain.value - truth) < 3.0 * fit.linear_gain.standard_error
    assert abs(fit.flow_gain.value - truth) < 3.0 * fit.flow_gain.standard_error
    assert fit.flow - fit.marginal == pytest.approx(fit.flow_gain.value)
    assert fit.histogram.sum() == 600
    np.testing.assert_array_equal(fit.by_third.sum(axis=0), fit.histogram)
    # Given what is expected a row may still fall anywhere: no third of the rows crowds one end.
    assert fit.by_third.max() < 40


def test_a_bend_is_seen_by_the_flow_only():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400)
    y = x**2 + 0.3 * rng.standard_normal(400)
    (fit,) = check_flows({"x": x, "y": y}, [("y", ("x",))], LadderSettings())
    assert abs(fit.linear_gain.value) < 0.05
    assert fit.beyond_linear.value > 0.3


def test_tied_values_have_no_infinite_likelihood():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    y = (x + rng.standard_normal(300) > 0).astype(float)
    (fit,) = check_flows({"x": x, "y": y}, [("y", ("x",))], LadderSettings())
    assert 0.0 < fit.flow_gain.value < np.log(2.0)
    assert fit.histogram.min() > 0

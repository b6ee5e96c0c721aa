"""What a report says of columns and of what is wrong with the data."""

from dataclasses import replace

import numpy as np
import pytest

import pydine
from pydine.inputs.checks import TiesWarning
from pydine.inputs.files import Frame
from pydine.inputs.kinds import Kind
from pydine.questions.ranking import rank
from pydine.report import calibration, make_report, making, to_html
from pydine.report.correlations import partial_correlations
from pydine.report.description import _concerns, describe, lacks
from pydine.report.page import _apart, _column, _spread
from pydine.report.prose import missing_together
from report_data import ROWS, make_frame


@pytest.mark.slow
def test_columns_and_what_to_know_about_them():
    rng = np.random.default_rng(2)
    frame = make_frame(
        rounded=np.round(rng.standard_normal(ROWS), 1),
        grade=rng.integers(1, 4, ROWS).astype(float),
        coded=np.where(np.arange(ROWS) == 7, 9999.0, rng.standard_normal(ROWS)),
    )
    noise = np.where(np.arange(ROWS) < 40, np.nan, frame["noise"])
    frame = replace(frame, columns={**frame.columns, "noise": noise, "double": 2.0 * frame["outcome"]})
    report = make_report(frame, "outcome", base="gaussian")
    columns = {column.name: column for column in report.columns}
    assert columns["cause"].concerns == ()
    assert [columns[text].kind for text in ("cause", "grade")] == ["continuous", "ordinal"]
    assert columns["grade"].levels == ("1", "2", "3")
    assert sum(columns["noise"].histogram) == ROWS - 40
    assert columns["coded"].concerns == ("9999 lies far from the rest: an error, or a code for a missing value?",)
    assert columns["noise"].n_missing == 40
    assert (report.n_samples, report.n_complete) == (ROWS, ROWS - 40)
    assert {row.name: row.alone.n for row in report.ranking}["noise"] == ROWS - 40
    assert {row.name: row.alone.n for row in report.ranking}["cause"] == ROWS
    assert (columns["double"].copy_of, columns["outcome"].copy_of) == ("outcome", None)
    # A copy of the target is shown, but nothing else would be left if it were given.
    assert report.ranking[0].name == "double"
    assert report.ranking[0].alone.value == np.inf
    assert report.ranking[0].given_rest is None
    assert "double" not in report.graph.names
    page = to_html(report)
    assert "a strictly monotone function of" in page
    assert '"Infinity"' in page
    assert "left out: it is constant" in page


def with_labels():
    """The frame with a column of text that the outcome decides, one of many labels, and one of yes and no."""
    rng = np.random.default_rng(3)
    frame = make_frame()
    colour = np.digitize(frame["outcome"] + 0.3 * rng.standard_normal(ROWS), [-0.7, 0.7]).astype(float)
    town = rng.integers(0, 14, ROWS).astype(float)
    said = (frame["cause"] + 0.5 * rng.standard_normal(ROWS) > 0).astype(float)
    levels = {"colour": ("blue", "<i>red</i>", "white"), "said": ("no", "yes")}
    levels |= {"town": tuple(f"town {i}" for i in range(14)), "same": levels["colour"]}
    columns = {**frame.columns, "colour": colour, "town": town, "said": said, "same": 2.0 - colour}
    return replace(frame, columns=columns, levels=levels)


@pytest.fixture(scope="module")
def labelled():
    return make_report(with_labels(), "outcome", base="gaussian")


@pytest.mark.slow
def test_labels_have_levels_and_no_order(labelled):
    columns = {column.name: column for column in labelled.columns}
    colour, town = columns["colour"], columns["town"]
    assert (colour.kind, colour.is_labels, colour.n_distinct) == ("nominal", True, 3)
    assert list(colour.histogram) == sorted(colour.histogram, reverse=True)
    assert sum(colour.histogram) == ROWS
    assert len(town.levels) == 10
    assert town.levels[-1] == "5 others"
    assert columns["said"].levels == ("no", "yes")
    assert columns["same"].copy_of == "colour"
    assert np.isnan(labelled.spearman[labelled.matrix.names.index("colour"), 0])
    assert labelled.spearman[labelled.matrix.names.index("said"), 0] > 0.5
    page = to_html(labelled)
    assert "one-to-one with" in page
    assert "&lt;i&gt;red&lt;/i&gt;&nbsp;<small>" in page
    assert "<i>red" not in page
    places = labelled.points.values[labelled.matrix.names.index("town")]
    assert set(places.tolist()) == set(map(float, range(10)))


CODED = {"1234568": "56%", "7": "25%", "1234567": "19%"}


def test_codes_that_are_labels_are_shown_as_labels(report):
    codes = np.repeat([1_234_567.0, 1_234_568.0, 7.0], [30, 90, ROWS - 120])
    many = np.minimum(np.arange(ROWS) % 20, 13.0)
    frame = replace(
        make_frame(code=codes, many=many, flag=np.arange(ROWS) % 2.0, grade=np.arange(ROWS) % 3.0),
        said={"code": "nominal", "many": "nominal"},
    )
    columns = {column.name: column for column in describe(frame, "outcome")}
    assert [columns[text].is_labels for text in ("code", "many", "flag", "grade")] == [True, True, True, False]
    assert columns["code"].levels == ("1234568", "7", "1234567")
    assert columns["code"].histogram == (90, 40, 30)
    assert np.isnan(columns["code"].median)
    assert columns["many"].levels[::9] == ("13", "5 others")
    assert columns["many"].concerns == ("13 labels with fewer than 10 rows are pooled",)
    assert columns["flag"].levels == ("0", "1")
    shown = [f"<span>{code}&nbsp;<small>{share}</small></span>" for code, share in CODED.items()]
    assert " · ".join(shown) in _column(columns["code"], report)
    assert "<span>0</span> · <span>1</span> · <span>2</span>" in _column(columns["grade"], report)
    places = making.points_of(frame, tuple(columns.values()), 0).values[list(columns).index("code")]
    assert places.tolist() == np.repeat([2.0, 0.0, 1.0], [30, 90, ROWS - 120]).tolist()
    assert np.isnan(making._ordered(frame, columns["code"])).all()  # a rank correlation would depend on the codes


def test_dates_are_shown_as_dates():
    days, seconds = 19_000.0 + np.arange(ROWS), 1.7e9 + 60.0 * np.arange(ROWS)
    said = {"day": "'1.2.2022' is read as 19000, days since 1970-01-01; 'NA' is read as missing"}
    said |= {"time": "'x' is read as 1, seconds since 1970-01-01"}
    said |= {"clock": "'9:05' is read as 1, seconds since midnight", "year": said["day"]}
    frame = replace(make_frame(day=days, time=seconds, clock=seconds, year=365.0 * (days % 2)), conversions=said)
    columns = {column.name: column for column in describe(frame, "outcome")}
    assert _spread(columns["day"]) == ["2022-01-08", "2022-03-29", "2022-06-16"]
    assert _spread(columns["time"]) == ["2023-11-14 22:13", "2023-11-14 23:32", "2023-11-15 00:52"]
    assert _spread(columns["clock"])[0] == "1.7e+09"
    assert columns["year"].levels == ("1970-01-01", "1971-01-01")
    assert _concerns("day", np.append(days, 2_932_896), "D")[0].startswith("9999-12-31 lies far")


def test_quartiles_stand_between_the_ends():
    frame = make_frame(value=np.arange(ROWS) * 2.0)
    column = {column.name: column for column in describe(frame, "outcome")}["value"]
    assert (column.low, column.quartiles, column.high) == (0.0, (79.5, 238.5), 318.0)
    assert _spread(column) == ["0", "79.5", "159", "238.5", "318"]
    assert '<span class="wide">79.5 · </span><span>159</span>' in _apart(_spread(column))


def test_columns_that_lack_values_together_are_named(report):
    values = np.arange(ROWS) / 7.0
    first, second = np.where(values < 1.0, np.nan, values), np.where(values > 22.0, np.nan, values)
    frame = make_frame(a=first, b=np.where(np.isnan(second), np.nan, first), c=second)
    found = lacks(frame)
    assert [(lack.names, lack.n_rows) for lack in found] == [(("a", "b"), 7), (("b", "c"), 5)]
    said = missing_together(replace(report, lacks=found))
    assert said.count("together (7 rows); in ") == 1
    assert lacks(make_frame(a=first)) == ()
    assert missing_together(report) == ""


def test_labels_with_few_rows_are_named():
    frame = make_frame(code=np.arange(ROWS) % 8.0)
    many = Frame("many.csv", {"a": np.arange(600) % 30.0, "b": np.arange(600.0)}, {}, 600, said={"a": "nominal"})
    assert describe(many, "b")[0].concerns == ()
    thin = replace(many, columns={"a": np.arange(600) % 120.0, "b": np.arange(600.0)})
    assert describe(thin, "b")[0].concerns == (
        "labels have 5.0 rows each, and their estimates are shrunk towards each other",
    )
    assert describe(replace(frame, said={"code": "nominal"}), "outcome")[-1].concerns == ()


@pytest.mark.slow
def test_a_target_of_labels_has_no_flow_to_check():
    report = make_report(with_labels(), "colour", base="gaussian")
    assert report.fits == ()
    assert report.ranking[0].name == "same"  # it says the same
    assert "The target is nominal, and a flow needs an order." in to_html(report)


def test_labels_in_a_graph_of_partial_correlations_are_blocks():
    rng = np.random.default_rng(0)
    n = 2000
    label = rng.integers(0, 3, n).astype(float)
    level = np.array([0.0, 2.0, -1.0])[label.astype(int)]  # in no order of the codes
    columns = {"label": label, "y": level + rng.standard_normal(n), "z": level + rng.standard_normal(n)}
    columns |= {"w": rng.standard_normal(n), "binary": rng.integers(0, 2, n).astype(float)}
    found = partial_correlations(columns, {"label": Kind.NOMINAL, "binary": Kind.NOMINAL})
    p = {(a, b): found.pvalues[i, j] for i, a in enumerate(found.names) for j, b in enumerate(found.names)}
    assert max(p["label", "y"], p["label", "z"]) < 1e-10
    assert min(p["y", "z"], p["label", "w"], p["label", "binary"], p["w", "binary"]) > 0.01
    other = partial_correlations({**columns, "label": 2.0 - label}, {"label": Kind.NOMINAL, "binary": Kind.NOMINAL})
    np.testing.assert_allclose(other.values, found.values, atol=1e-10)  # codes have no order
    plain = partial_correlations({name: columns[name] for name in ("y", "z", "w", "binary")})
    block = partial_correlations({name: columns[name] for name in ("y", "z", "w", "binary")}, {"binary": Kind.NOMINAL})
    np.testing.assert_allclose(plain.values[:3, :3], block.values[:3, :3], atol=1e-3)
    small = {name: values[:14] for name, values in columns.items()}
    assert partial_correlations(small, {"label": Kind.NOMINAL}) is None


@pytest.mark.slow
def test_steps_that_are_said_to_be_continuous_are_warned_of():
    frame = replace(make_frame(grade=np.arange(ROWS) % 3.0), said={"grade": "continuous"})
    with pytest.warns(TiesWarning, match="column 'grade' of"):
        make_report(frame, "outcome", base="gaussian")


def test_where_estimate_and_test_disagree_it_is_said(report):
    told = report.ranking[0].given_rest
    for changed, is_said in (
        (replace(told, value=0.1, errors=(0.01, 0.01), pvalue=0.9), True),
        (replace(told, value=-0.1, pvalue=1e-6), True),
        (replace(told, value=0.1, errors=(0.01, 0.01), pvalue=1e-6), False),
    ):
        ranking = (replace(report.ranking[0], given_rest=changed), *report.ranking[1:])
        assert ("Estimate and test disagree on what" in to_html(replace(report, ranking=ranking))) is is_said


def test_too_few_rows_leave_sentences(monkeypatch):
    monkeypatch.setattr(calibration, "LEAST_ROWS", 50)
    rng = np.random.default_rng(0)
    frame = Frame("few.csv", {f"c{i}": rng.standard_normal(44) for i in range(35)}, {}, 44)
    report = make_report(frame, "c0", base="gaussian")
    assert report.graph is None
    page = to_html(report)
    assert "It cannot be computed: only 44 rows have all 35 columns" in page
    assert "too few rows to hold some out" in page


@pytest.mark.slow
def test_many_columns_have_a_graph_of_partial_correlations(monkeypatch):
    monkeypatch.setattr(making, "MOST_ASKED_IN_GRAPH", 3)
    report = make_report(make_frame(), "outcome")
    assert report.is_linear_graph
    assert "by linear relations of normal scores and labels only" in to_html(report)
    exact = pydine.pairwise_information(dict(make_frame()), "rest", base="gaussian")
    upper = np.triu_indices(4, 1)
    np.testing.assert_allclose(report.graph.values[upper], exact.values[upper], atol=0.05)
    monkeypatch.setattr(making, "MOST_IN_GRAPH", 3)
    report = make_report(make_frame(), "outcome")
    assert report.graph is None
    assert "left out with more than 3 columns" in report.why_no_graph
    expected = {row.name: row for row in rank(dict(make_frame()), "outcome")}
    for row in report.ranking:
        assert row.given_rest.value == expected[row.name].given_rest.value


def test_conversions_are_in_the_page():
    frame = replace(make_frame(), conversions={"cause": "'1,5 <b>' is read as 1.5"}, notes=("a <i>note</i>",))
    page = to_html(make_report(frame, "outcome", base="gaussian"))
    assert "&#x27;1,5 &lt;b&gt;&#x27; is read as 1.5" in page
    assert "a &lt;i&gt;note&lt;/i&gt;" in page


def test_two_columns_are_enough():
    frame = make_frame()
    report = make_report(Frame("two.csv", {k: frame[k] for k in ("cause", "outcome")}, {}, ROWS), "outcome")
    assert "Dependence was detected in <strong>1</strong> pair of columns" in to_html(report)
    assert report.why_no_graph.startswith("It needs three columns")


def test_a_report_needs_two_columns():
    with pytest.raises(ValueError, match="a report needs 2 to 500 columns that vary, but there are 1"):
        make_report(Frame("one.csv", {"a": np.arange(50.0)}, {}, 50), "a")


@pytest.mark.slow
def test_a_flow_gets_no_more_columns_than_rows_allow(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_CONTEXT", 2)
    report = make_report(make_frame(), "outcome")
    assert [(fit.name, fit.context) for fit in report.fits] == [("outcome", ("cause", "proxy"))]
    assert "the 2 columns that tell most about it, except nominal ones" in to_html(report)


def test_values_that_are_all_as_far_from_the_middle_are_not_far():
    assert _concerns("a", np.array([0.0, 1.0] * 20), "") == []
    assert len(_concerns("a", np.append(np.linspace(0.0, 1.0, 40), 999.0), "")) == 1

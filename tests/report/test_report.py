"""The report: its numbers are those of the library, it says what is wrong, and a real browser shows it."""

import base64
import csv
import html
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import pydine
from pydine.inputs.checks import TiesWarning
from pydine.inputs.files import Frame
from pydine.inputs.kinds import Kind
from pydine.nulls.blocks import adjusted
from pydine.questions.ranking import rank
from pydine.report import Provenance, calibration, content, make_report, to_html
from pydine.report.calibration import check_flows
from pydine.report.correlations import partial_correlations
from pydine.report.description import _far
from pydine.report.markup import json_for_script, name, printable, pvalue
from pydine.report.page import _packed
from pydine.units.ladder import LadderSettings

ROWS = 160
HOSTILE = {
    "script": '<script>document.title="owned"</script>',
    "end": "</script><img src=x onerror=\"document.title='owned'\">",
    "attribute": '" onmouseover="document.title=1" x="',
    "template": "${target} $x %s {0}",
    "separators": "line\u2028separator\u2029and\u202edirection",
    "long": "a very long name " * 12,
}


def make_frame(**more):
    rng = np.random.default_rng(0)
    cause = rng.standard_normal(ROWS)
    columns = {
        "cause": cause,
        "proxy": cause + 0.5 * rng.standard_normal(ROWS),
        "noise": rng.standard_normal(ROWS),
        "outcome": cause + 0.6 * rng.standard_normal(ROWS),
        **more,
    }
    return Frame("folder/data.csv", columns, {"colour": "it holds text", "one": "it is constant"}, ROWS)


def hostile_frame():
    rng = np.random.default_rng(1)
    columns = {text: rng.standard_normal(ROWS) for text in HOSTILE.values()}
    columns["outcome"] = columns[HOSTILE["script"]] + 0.5 * rng.standard_normal(ROWS)
    return Frame("<b>data<b>.csv", columns, {"<u>left</u>": "it holds <em>text</em>"}, ROWS)


def data_of(page):
    """What the page gives to its script."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def report():
    provenance = Provenance(("pydine", "report", "my data.csv"), date(2026, 1, 5), "abc123", {"pydine": "9.9"})
    return make_report(make_frame(), "outcome", provenance=provenance)


@pytest.fixture(scope="module")
def page(report):
    return to_html(report)


@pytest.fixture(scope="module")
def hostile_page():
    return to_html(make_report(hostile_frame(), "outcome"))


# The numbers.


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


def test_the_ranking_is_the_targets_row_and_p_values_are_adjusted_once(report):
    matrix, graph = report.matrix, report.graph
    assert [row.name for row in report.ranking] == ["cause", "proxy", "noise"]
    told = {column.name: column for column in rank(dict(make_frame()), "outcome")}
    for row in report.ranking:
        i, t = matrix.names.index(row.name), matrix.names.index("outcome")
        assert row.alone.value == matrix.values[i, t]
        assert row.given_rest.value == graph.values[i, t] == told[row.name].given_rest.value
        assert row.given_rest.adjusted == pytest.approx(graph.adjusted_pvalues[i, t])
    upper = np.triu_indices(4, 1)
    rest = [row.given_rest.pvalue for row in report.ranking]
    together = adjusted(np.concatenate([matrix.pvalues[upper], graph.pvalues[upper], rest]), "bh")
    np.testing.assert_allclose(matrix.adjusted_pvalues[upper], together[:6])
    np.testing.assert_allclose(graph.adjusted_pvalues[upper], together[6:12])
    assert report.n_tests == 15


def test_the_summary_says_what_was_found(page):
    text = html.unescape(re.sub(r"<[^>]+>", "", page[: page.index('id="matrix"')]))
    assert "On their own, cause (" in text
    assert "Given all the others, cause still adds something; for the other 2 nothing was found." in text
    assert "Left outcolour: it holds text" in text
    assert "one: it is constant" in text
    assert "p-values are adjusted once, for all 15 tests of this page" in text
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


# How well the flows fit.


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


# What is wrong with the data.


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
    assert (colour.kind, colour.is_text, colour.n_distinct) == ("nominal", True, 3)
    assert list(colour.histogram) == sorted(colour.histogram, reverse=True)
    assert sum(colour.histogram) == ROWS
    assert len(town.levels) == 10
    assert town.levels[-1] == "5 others"
    assert columns["said"].levels == ("no", "yes")
    assert columns["same"].copy_of == "colour"
    assert np.isnan(labelled.spearman[labelled.matrix.names.index("colour"), 0])
    assert labelled.spearman[labelled.matrix.names.index("said"), 0] > 0.5
    page = to_html(labelled)
    assert "the same labels as" in page
    assert "&lt;i&gt;red&lt;/i&gt; " in page
    assert "<i>red" not in page
    places = labelled.points.values[labelled.matrix.names.index("town")]
    assert set(places.tolist()) == set(map(float, range(10)))


@pytest.mark.slow
def test_a_target_of_labels_has_no_flow_to_check():
    report = make_report(with_labels(), "colour", base="gaussian")
    assert report.fits == ()
    assert report.ranking[0].name == "same"  # it says the same
    assert "The target is made of labels, of which there is no flow." in to_html(report)


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
        assert ("estimate and test say different things" in to_html(replace(report, ranking=ranking))) is is_said


def test_too_few_rows_leave_sentences(monkeypatch):
    monkeypatch.setattr(calibration, "LEAST_ROWS", 50)
    rng = np.random.default_rng(0)
    frame = Frame("few.csv", {f"c{i}": rng.standard_normal(44) for i in range(35)}, {}, 44)
    report = make_report(frame, "c0", base="gaussian")
    assert report.graph is None
    page = to_html(report)
    assert "It cannot be computed: 44 rows have all 35 columns" in page
    assert "too few rows to hold some out" in page


@pytest.mark.slow
def test_many_columns_have_a_graph_of_partial_correlations(monkeypatch):
    monkeypatch.setattr(content, "MOST_ASKED_IN_GRAPH", 3)
    report = make_report(make_frame(), "outcome")
    assert report.is_linear_graph
    assert "as far as lines in normal scores and shares of labels tell" in to_html(report)
    exact = pydine.pairwise_information(dict(make_frame()), "rest", base="gaussian")
    upper = np.triu_indices(4, 1)
    np.testing.assert_allclose(report.graph.values[upper], exact.values[upper], atol=0.05)
    monkeypatch.setattr(content, "MOST_IN_GRAPH", 3)
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
    assert "1</strong> pair of columns depends on each other" in to_html(report)
    assert report.why_no_graph.startswith("It takes three different columns")


def test_a_report_needs_two_columns():
    with pytest.raises(ValueError, match="a report needs 2 to 500 columns that vary, but there are 1"):
        make_report(Frame("one.csv", {"a": np.arange(50.0)}, {}, 50), "a")


@pytest.mark.slow
def test_a_flow_gets_no_more_columns_than_rows_allow(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_CONTEXT", 2)
    report = make_report(make_frame(), "outcome")
    assert [(fit.name, fit.context) for fit in report.fits] == [("outcome", ("cause", "proxy"))]
    assert "the 2 columns of numbers that tell most about it" in to_html(report)


@pytest.fixture(scope="module")
def wide_page():
    rng = np.random.default_rng(0)
    frame = Frame("wide.csv", {f"column {i}": rng.standard_normal(520) for i in range(200)}, {}, 520)
    return to_html(make_report(frame, "column 7", base="gaussian"))


@pytest.mark.slow
def test_two_hundred_columns_stay_small(wide_page):
    assert len(data_of(wide_page)["pairs"]["value"]) == 200 * 199 // 2
    assert len(wide_page.encode()) < 10_000_000


# Hostile names.


class Tags(HTMLParser):
    """Collects elements and text."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text += data


@pytest.mark.slow
def test_names_stay_text(hostile_page):
    parsed = Tags()
    parsed.feed(hostile_page)
    assert parsed.tags.count("script") == 2
    assert not {"img", "u", "em"} & set(parsed.tags)
    assert not [key for key, _ in parsed.attributes if key.startswith("on")]
    assert "\u202e" not in hostile_page
    assert "\u2028" not in hostile_page
    assert data_of(hostile_page)["names"] == [printable(text) for text in hostile_frame()]


def test_the_page_loads_nothing(page):
    parsed = Tags()
    parsed.feed(page)
    assert [value for key, value in parsed.attributes if key == "src"] == []
    assert all(value.startswith(("#", "data:")) for key, value in parsed.attributes if key == "href")
    assert "default-src 'none'" in page


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_any_text_becomes_text(text):
    parsed = Tags()
    parsed.feed(name(text))
    parsed.close()
    assert parsed.tags == ["bdi"]
    shown = printable(text)
    assert parsed.text == shown or (len(shown) > 48 and dict(parsed.attributes)["title"] == shown)
    embedded = json_for_script({text: [text]})
    assert embedded.isascii()
    assert not set("<>&") & set(embedded)
    assert json.loads(embedded) == {text: [text]}


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0, "&lt;&#8239;0.0001"), (0.0012, "0.0012"), (0.0456, "0.046"), (float("nan"), "–")]
)
def test_pvalues_are_never_zero(p, shown):
    assert pvalue(p) == shown


# The command.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    frame = make_frame()
    names = [*frame, "<em>colour</em>"]
    with (path / "data.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for i in range(ROWS):
            cells = [repr(float(frame[key][i])) for key in frame]
            writer.writerow([*(("", *cells[1:]) if i % 40 == 3 else cells), "red"])
    return path


def run(folder, *arguments):
    command = [sys.executable, "-m", "pydine", "report", *arguments]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_writes_one_file(folder):
    done = run(folder, str(folder / "data.csv"), "--target", "outcome", "-o", str(folder / "out.html"))
    assert done.returncode == 0, done.stderr
    assert "Missing values: cause 2%" in done.stderr
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "2.5% missing" in page
    assert "pydine report data.csv --target outcome -o out.html" in page
    assert str(folder) not in page
    assert re.search(r'class="digest">[0-9a-f]{64}<', page)
    assert "&lt;em&gt;colour&lt;/em&gt;" in page
    assert "<em>colour" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--target", "outcome", "-o", "."), "pydine: . is a directory; name a file in it, such as report.html."),
        (("--target", "outcome", "-o", "no/where.html"), "pydine: there is no directory no to write where.html into"),
        (("--target", "outcome", "-o", "data.csv"), "pydine: data.csv is the file to be read; name another"),
        (("--target", "outcome", "--nan", "fail"), "pydine: data.csv: column 'cause' has 4 missing values"),
    ],
)
def test_refusals_are_one_sentence(folder, arguments, sentence):
    before = (folder / "data.csv").read_bytes()
    done = run(folder, "data.csv", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert (folder / "data.csv").read_bytes() == before


# In a real browser.


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("Chromium and its driver are not installed (Debian: chromium and chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    profile = f"--user-data-dir={tmp_path_factory.mktemp('browser')}"
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", *quiet, profile):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page on a screen of some size; at the end nothing may have been said on the console."""

    def opened(page, width=1180, height=1000, dark=False):
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(path.as_uri())
        return browser

    browser.get("about:blank")
    browser.get_log("browser")
    yield opened
    assert browser.get_log("browser") == []


def text_of(driver, identity):
    return driver.execute_script("return document.getElementById(arguments[0]).innerText", identity)


def over_cell(driver, row, column, click=False):
    """Point at a cell of the matrix, counted as it is shown."""
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = driver.find_element("id", "cells")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas)
    width, height = (driver.execute_script(f"return arguments[0].client{side}", canvas) for side in ("Width", "Height"))
    p = driver.execute_script("return JSON.parse(document.getElementById('data').textContent).names.length")
    cell = min(52, (width - 2) // p)
    left = width - 2 - p * cell
    x, y = left + (column + 0.5) * cell - width / 2, left + (row + 0.5) * cell - height / 2
    chain = ActionChains(driver).move_to_element_with_offset(canvas, round(x), round(y))
    (chain.click() if click else chain).perform()


@pytest.mark.slow
def test_two_hundred_columns_open_within_three_seconds(opened, wide_page):
    driver = opened(wide_page)
    done = "const [t] = performance.getEntriesByType('navigation'); return t.loadEventEnd - t.startTime"
    assert 0.0 < driver.execute_script(done) < 3000.0


@pytest.mark.slow
def test_hovering_tells_value_interval_and_pvalue(opened, report, page):
    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    over_cell(driver, 0, 3)
    columns = report.matrix.columns()
    k = next(k for k in range(6) if {columns["x"][k], columns["y"][k]} == {"cause", "outcome"})
    said = text_of(driver, "tip")
    assert said.startswith("cause and outcome\n")
    assert f"{columns['information'][k]:.3f} nats" in said
    assert f"95% interval {columns['low'][k]:.3f} to {columns['high'][k]:.3f}" in said
    assert "p < 0.0001, Spearman 0." in said
    over_cell(driver, 1, 1)  # the diagonal has nothing to tell
    assert driver.find_element("id", "tip").get_attribute("hidden") is not None


@pytest.mark.slow
def test_hovering_over_an_edge_tells_what_is_left_given_the_rest(opened, report, page):
    from selenium.webdriver.common.action_chains import ActionChains

    driver = opened(page)
    edge = driver.find_element("css selector", ".edge[data-pair='0,1']")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", edge)
    middle = "const p = arguments[0].querySelector('path'); const m = p.getPointAtLength(p.getTotalLength() / 2); "
    middle += "const s = m.matrixTransform(p.getScreenCTM()); return [Math.round(s.x), Math.round(s.y)]"
    chain = ActionChains(driver)
    chain.w3c_actions.pointer_action.move_to_location(*driver.execute_script(middle, edge))
    chain.perform()
    assert f"{report.graph.values[0, 1]:.3f} nats given the rest" in text_of(driver, "tip")


@pytest.mark.slow
def test_clicking_shows_the_rows_in_both_spaces(opened, page):
    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    pictures = "return ['raw', 'latent'].map((id) => document.getElementById(id).toDataURL())"
    before = driver.execute_script(pictures)
    over_cell(driver, 2, 1, click=True)
    assert text_of(driver, "pair-title") == "noise and proxy"
    assert "given the rest" in text_of(driver, "pair-facts")
    after = driver.execute_script(pictures)
    assert all(new != old for new, old in zip(after, before, strict=True))
    assert after[0] != after[1]
    assert driver.find_element("id", "raw").get_attribute("aria-label") == f"{ROWS} rows of noise against proxy"


@pytest.mark.slow
def test_the_keyboard_reaches_every_pair(opened, page):
    from selenium.webdriver.common.keys import Keys

    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    canvas = driver.find_element("id", "cells")
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert text_of(driver, "said").startswith("cause and noise: ")
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)  # over the diagonal
    assert text_of(driver, "pair-title") == "outcome and noise"


@pytest.mark.slow
def test_the_tip_leaves_its_cell_in_view(opened, page):
    driver = opened(page)
    for row, column in ((0, 1), (3, 0), (3, 2)):
        over_cell(driver, row, column)
        tip = driver.execute_script(
            "const b = document.getElementById('tip').getBoundingClientRect(); return [b.top, b.bottom]"
        )
        cell = driver.execute_script(
            "return document.getElementById('cells').getBoundingClientRect().bottom - 2 - 52 * (4 - arguments[0])", row
        )
        assert tip[1] <= cell or tip[0] >= cell + 52


def test_tables_are_taken_along(opened, page, report):
    driver = opened(page)
    take = """
        const made = [];
        const create = URL.createObjectURL;
        URL.createObjectURL = (blob) => { made.push(blob); return create(blob); };
        document.querySelectorAll('.take').forEach((button) => button.click());
        const done = arguments[0];
        Promise.all(made.map((blob) => blob.text())).then(done);
    """
    texts = driver.execute_async_script(take)
    assert len(texts) == 10  # ranking, pairs, rest, columns and fit, each as CSV and JSON
    ranking = list(csv.DictReader(texts[0].splitlines()))
    assert [row["column"] for row in ranking if not row["given"]] == ["cause", "proxy", "noise"]
    pairs = json.loads(texts[3])
    assert len(pairs) == 6
    assert pairs[0]["information"] == pytest.approx(report.matrix.values[0, 1], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "caption"), [(3, 4, "quartiles"), (4, 5, "shares"), (0, 1, "median")])
def test_pairs_are_drawn_by_what_they_hold(opened, first, second, caption):
    rng = np.random.default_rng(0)
    frame = make_frame(grade=rng.integers(1, 4, ROWS) * 1.0, flag=rng.integers(0, 2, ROWS) * 1.0)
    holed = replace(frame, columns={k: np.where(np.arange(ROWS) == 9, np.nan, v) for k, v in frame.columns.items()})
    page = to_html(make_report(holed, "outcome", base="gaussian"))
    driver = opened(page)
    driver.execute_script("document.getElementById('table').open = true")
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    driver.execute_script(f"document.querySelector('[data-pair=\"{first},{second}\"]').click()")
    assert caption in text_of(driver, "raw-caption")


def test_the_navigation_stays_and_phones_keep_the_numbers(opened, page):
    driver = opened(page, width=390)
    driver.execute_script("window.scrollTo({top: 2500, behavior: 'instant'})")
    assert driver.execute_script("return document.querySelector('nav').getBoundingClientRect().top") == 0
    cells = driver.find_elements("css selector", "#columns tbody td.ends")
    assert sum(cell.is_displayed() and "·" in cell.text for cell in cells) == 4


def test_ranking_graph_and_table_lead_to_pairs(opened, page):
    from selenium.webdriver.common.keys import Keys

    driver = opened(page)
    driver.execute_script("document.querySelector('.ranking [data-pair=\"2,3\"]').click()")
    assert text_of(driver, "pair-title") == "noise and outcome"
    driver.find_element("css selector", ".edge[data-pair='0,1']").send_keys(Keys.ENTER)
    assert text_of(driver, "pair-title") == "cause and proxy"
    driver.execute_script("document.getElementById('table').open = true")
    driver.find_element("id", "filter").send_keys("NOISE")
    rows = driver.find_elements("css selector", "#table-rows tr")
    assert len(rows) == 3
    assert all("noise" in row.text for row in rows)


@pytest.mark.slow
def test_hostile_names_run_nothing(opened, hostile_page):
    driver = opened(hostile_page)
    driver.execute_script("document.getElementById('table').open = true")
    driver.execute_script("document.querySelectorAll('.ranking [data-pair]').forEach((button) => button.click())")
    over_cell(driver, 0, 1)
    assert driver.title == "<b>data<b>.csv: a dependence report"
    assert driver.execute_script("return document.scripts.length") == 2
    assert driver.execute_script("return document.images.length") == 0
    assert '<script>document.title="owned"</script>' in driver.find_element("id", "ranking").text


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 390, 800])
def test_narrow_screens_scroll_inside_the_matrix_only(opened, page, hostile_page, width):
    for some in (page, hostile_page):
        driver = opened(some, width=width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_dark_pages_are_dark(opened, page):
    def lightness(driver):
        colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        corner = "const c = document.getElementById('cells'); const d = c.getContext('2d'); "
        corner += "return [...d.getImageData(c.width - 8, c.height - 4 * 52 + 4, 1, 1).data]"
        return np.mean([float(v) for v in re.findall(r"\d+", colour)]), driver.execute_script(corner)

    light, light_cell = lightness(opened(page))
    dark, dark_cell = lightness(opened(page, dark=True))
    assert light > 240
    assert dark < 40
    assert light_cell != dark_cell


@pytest.mark.slow
def test_values_that_are_all_as_far_from_the_middle_are_not_far():
    assert _far(np.array([0.0, 1.0] * 20)) == []
    assert len(_far(np.append(np.linspace(0.0, 1.0, 40), 999.0))) == 1

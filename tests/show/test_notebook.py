"""In a notebook results are cards and tables, and long work shows a bar."""

import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import pydine
from pydine.show import notebook
from pydine.show.cards import strip_end
from pydine.show.progress import progress_bar

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def parsed(result):
    tags = Tags()
    tags.feed(result._repr_html_())
    return tags


@pytest.fixture(scope="module")
def data():
    x, noise, other = np.random.default_rng(0).standard_normal((3, 150))
    return {HOSTILE: x, "y": x + noise, "other": other}


def test_every_result_has_a_card_that_names_cannot_leave(data):
    estimate = pydine.mutual_information(HOSTILE, "y", data=data, base="gaussian")
    test = pydine.independence_test(HOSTILE, "y", data=data, method="analytic")
    pairs = pydine.pairwise_information(data, base="gaussian")
    ranking = pydine.rank(data, "y", base="gaussian")
    pointwise = pydine.pointwise_information(HOSTILE, "y", data=data, base="gaussian")
    wide = pydine.wide_information(data)
    for result in (estimate, test, pairs, ranking, ranking.columns[0], pointwise, wide):
        page = parsed(result)
        assert "script" not in page.tags
        assert HOSTILE in page.text
    assert f"{estimate.value:.3f} ± {estimate.standard_error:.3f} nats" in parsed(estimate).text
    assert "rejected at 0.05, p < 0.0001" in parsed(test).text
    assert parsed(pairs).text.count("150") >= 3
    assert "given the rest" in parsed(ranking).text


def test_a_ranking_is_printed_and_drawn(data):
    ranking = pydine.rank(data, "y", base="gaussian")
    assert repr(ranking).startswith("2 columns by their information about y, in nats, 150 rows:")
    assert "not detected: at most 0.0" in repr(ranking).splitlines()[-1]
    axes = ranking.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["other", HOSTILE]


class Screen:
    """What a notebook would show."""

    def __init__(self, monkeypatch):
        self.shown = []
        screen = self

        class Handle:
            def update(self, page):
                screen.shown.append(page)

        def display(page, display_id):
            assert display_id
            screen.shown.append(page)
            return Handle()

        ipython = types.ModuleType("IPython")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        tools = types.ModuleType("IPython.display")
        tools.HTML, tools.display = str, display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", tools)


def test_long_work_has_a_bar_in_a_notebook_and_short_work_none(monkeypatch):
    screen = Screen(monkeypatch)
    with progress_bar("3 <columns>", 3) as step:
        step()
    assert screen.shown == []
    monkeypatch.setattr(notebook, "PATIENCE", 0.0)
    monkeypatch.setattr(notebook, "EVERY", 0.0)
    with progress_bar("3 <columns>", 3) as step:
        step()
        step()
    assert ['value="1"' in screen.shown[0], 'value="2"' in screen.shown[1], screen.shown[-1]] == [True, True, ""]
    assert "3 &lt;columns&gt;: 2 of 3" in screen.shown[1]


def test_single_questions_have_one_too(monkeypatch, data):
    screen = Screen(monkeypatch)
    monkeypatch.setattr(notebook, "PATIENCE", 0.0)
    monkeypatch.setattr(notebook, "EVERY", 0.0)
    pydine.mutual_information(HOSTILE, "y", "other", data=data, base="gaussian")
    assert "Estimating: " in screen.shown[0]
    assert screen.shown[-1] == ""


def test_elsewhere_there_is_none(capfd):
    assert not notebook.in_notebook()
    with progress_bar("3 columns", 3) as step:
        step()
    assert capfd.readouterr().err == ""


def test_a_figure_that_is_not_known_does_not_stretch_the_strips():
    assert strip_end([(0.1, 0.02, 0.14), (0.03, 0.02, 0.08), (0.4, 0.9, 4.4), (0.0, 0.1, 0.19)]) == 0.19
    assert strip_end([(0.008, 0.012, 0.04), (-0.02, 0.01, 0.0)]) == 0.04  # nothing is known: as far as any reaches
    assert strip_end([(0.0, 0.1, 0.3), (0.1, 0.2, 0.6)]) == 0.6  # none is known
    assert strip_end([(float("inf"), float("nan"), float("inf"))]) == 1.0

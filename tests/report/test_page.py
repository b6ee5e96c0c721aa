"""The page: names stay text, nothing is loaded, and it stays small."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.report.markup import json_for_script, name, printable, pvalue
from report_data import data_of, hostile_frame


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


def test_the_page_says_where_dependence_shows(page):
    assert '<small class="shows">correlation</small></td>' in page


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


@pytest.mark.slow
def test_two_hundred_columns_stay_small(wide_page):
    assert len(data_of(wide_page)["pairs"]["value"]) == 200 * 199 // 2
    assert len(wide_page.encode()) < 10_000_000

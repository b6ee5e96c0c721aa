"""How the page writes numbers."""

import pytest

from pydine.report.markup import percent, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.12345, "0.1235"), (-28.0, "−28"), (100000.0, "100,000"), (-54321.7, "−54,322"), (3e12, "3e+12")],
)
def test_large_values_are_written_out(value, text):
    assert quantity(value) == text


@pytest.mark.parametrize(("part", "text"), [(0.0, "0%"), (0.003, "&lt;1%"), (0.31, "31%"), (1.0, "100%")])
def test_something_is_never_nothing_in_percent(part, text):
    assert percent(part) == text

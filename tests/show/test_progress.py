"""Progress where there is no terminal: lines now and then, if anybody wants them."""

import threading

import pytest

from pydine.show import progress
from pydine.show.progress import Lines, progress_bar


def test_a_line_says_how_far_it_is_and_what_is_left():
    lines = Lines("8 columns", 8)
    assert lines.text(5.0) == "8 columns: 0 of 8 after 5 s\n"
    lines.advance()
    lines.advance()
    assert lines.text(10.0) == "8 columns: 2 of 8 after 10 s, about 30 s left\n"
    lines.expect(2)
    assert lines.text(10.0) == "8 columns: 2 of 10 after 10 s, about 40 s left\n"


@pytest.mark.parametrize("asked", [True, False])
def test_lines_are_for_commands(asked, monkeypatch, capsys):
    monkeypatch.setattr(Lines, "asked", asked)
    monkeypatch.setattr(progress, "LINE_EVERY", 1e-3)
    written, write = threading.Event(), Lines.text
    monkeypatch.setattr(Lines, "text", lambda *of: (written.set(), write(*of))[1])
    with progress_bar("3 columns", 3) as step:
        step()
        assert not asked or written.wait(60.0)  # a guard: what hangs is to fail
    said = capsys.readouterr().err
    assert ("3 columns: " in said) == asked


def test_short_work_is_silent(monkeypatch, capsys):
    monkeypatch.setattr(Lines, "asked", True)
    with progress_bar("3 columns", 3) as step:
        step()
    assert capsys.readouterr().err == ""

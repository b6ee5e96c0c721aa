"""Which sentences a version says that another does not."""

from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

MODULE = '''"""A module of four words."""

TWO = "no sentence"
NAME = "pydine.a.b"


def f(x, many):
    """Refuse what is wrong.

    At length.
    """
    "a string that does nothing"
    if x:
        raise ValueError(f"x must be 1, "
                         f"but got {x!r:>{many}}; {'pass another x' if many else 'or none'}.")
    print("A sentence"   " of <b>four</b> words.", f"{x} of {many}", f"{x}: {many} {x}")
'''


@pytest.fixture
def script(monkeypatch):
    """The script, imported."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return __import__("sentences")


def test_what_is_a_sentence(script):
    assert list(script.sentences(MODULE)) == [
        "x must be 1, but got {...}; {...}.",
        "pass another x",
        "A sentence of <b>four</b> words.",
        "{...} of {...}",
    ]


def test_what_only_one_version_says(script):
    old = {"a.py": ["as it was", "it moved away", "as it was"], "b.py": ["as it is"]}
    new = {"a.py": ["as it is now"], "c.py": ["it moved away"], "b.py": ["as it is"]}
    assert list(script.less(old, new)) == [("a.py", ["as it was"])]
    assert list(script.less(new, old)) == [("a.py", ["as it is now"])]


def test_the_working_tree_is_read(script, monkeypatch, tmp_path, capsys):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text('SAID = "It is said now"\n')
    listed = {"ls-tree": "src/a.py\nsrc/a.txt", "show": 'SAID = "It was said before"\n'}
    monkeypatch.setattr(script, "CHECKOUT", tmp_path)
    monkeypatch.setattr(script, "git", lambda *words: listed[words[0]])
    script.main("v0.1.0")
    assert capsys.readouterr().out == "gone: src/a.py\n    It was said before\nnew: src/a.py\n    It is said now\n"

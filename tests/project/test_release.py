"""What `make release-check` would say, in parts: it runs as a whole when there is something to release."""

import re
import shlex
import tarfile
import zipfile
from pathlib import Path

import pytest

from pydine._version import __version__

SCRIPTS = Path(__file__).parents[2] / "scripts"
README = (SCRIPTS.parent / "README.md").read_text(encoding="utf-8")

CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2030-01-01

### Removed

- `pydine.old`

## [0.1.0]

- First.
"""


@pytest.fixture
def script(monkeypatch):
    """A function that imports a script."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return __import__


def test_the_version_is_the_same_everywhere(script, monkeypatch):
    check = script("release_check")
    assert check.version() == __version__
    monkeypatch.setattr(check, "WHERE", {"CITATION.cff": r"^cff-version: (\S+)$"})
    with pytest.raises(SystemExit, match=rf"^the version is {re.escape(__version__)}, but CITATION.cff names 1.2.0$"):
        check.version()


@pytest.mark.parametrize(
    ("heading", "said"),
    [("Unreleased", ""), ("0.2.0", "### Removed\n\n- `pydine.old`"), ("0.1.0", "- First."), ("0.3.0", ""), ("0", "")],
)
def test_what_a_changelog_says_of_a_version(script, heading, said):
    assert script("release_check").notes(CHANGELOG, heading) == said


def test_what_is_left_to_do(script, monkeypatch):
    check = script("release_check")
    monkeypatch.setattr(check, "read", lambda path: CHANGELOG)
    monkeypatch.setattr(check, "project", lambda: {"urls": {"Source": "https://example.org"}})
    assert check.left_to_do("0.2.0") == ["[project.urls] in pyproject.toml lacks Issues, Documentation, Changelog"]
    assert "CHANGELOG.md has no section [0.3.0]" in check.left_to_do("0.3.0")


def test_what_has_gone_is_found(script):
    before = {"f": {"x": None, "alpha": "0.05", "old": "1"}, "g": {}, "C.plot": {}}
    now = {"f": {"x": None, "alpha": "0.01", "new": "2", "needed": None}, "C.plot": {"axes": "None"}, "h": {"y": None}}
    assert script("interface").gone(before, now) == [
        "`f(alpha=0.05)` is now alpha=0.01",
        "`f(old=)` is gone",
        "`f(needed=)` is new and has no default",
        "`g` is gone",
    ]


def test_what_has_gone_must_be_announced(script, monkeypatch):
    check = script("release_check")
    monkeypatch.setattr(check, "git", lambda *words: b"v0.2.0\nv0.1.0\n" if words[0] == "tag" else empty_archive())
    monkeypatch.setattr(check, "of_source", lambda path: {})
    monkeypatch.setattr(check, "gone", lambda before, now: ["`pydine.old` is gone", "`other(x=)` is gone"])
    monkeypatch.setattr(check, "read", lambda path: CHANGELOG)
    assert check.unannounced("0.2.0") == ["`other(x=)` is gone"]
    monkeypatch.setattr(check, "git", lambda *words: b"v0.2.0\n")
    assert check.unannounced("0.2.0") == []


def empty_archive():
    return b"\0" * 1024


def test_the_interface_is_that_of_the_package(script):
    interface = script("interface").interface()
    assert interface["mutual_information"]["x"] is None
    assert interface["mutual_information"]["base"] == "'auto'"
    assert {"DINE.fit", "InformationEstimate.confidence_interval"} <= set(interface)
    assert not any("._" in name or name.startswith("_") for name in interface)


def test_what_the_readme_says_to_do(script):
    check = script("release_check")
    found = [shlex.join(words) for words in check.commands(README)]
    assert found[0] == "pydine doctor --compile"
    assert "pydine rank diabetes.csv --target target" in found
    compile(check.python(README), "README.md", "exec")


@pytest.mark.parametrize("spare", [0, -1])
def test_a_wheel_that_is_too_large_is_refused(script, monkeypatch, tmp_path, spare):
    distribution = script("distribution")
    monkeypatch.setattr(distribution.subprocess, "run", lambda *_, **__: None)
    wheel, sdist = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in distribution.NEEDED:
            archive.writestr(name, "")
    tarfile.open(sdist, "w:gz").close()
    assert distribution.MOST_BYTES[".whl"] == 1_000_000
    monkeypatch.setitem(distribution.MOST_BYTES, ".whl", wheel.stat().st_size + spare)
    if spare < 0:
        with pytest.raises(SystemExit, match=r"^a\.whl has .* bytes, more than "):
            distribution.check(wheel, sdist)
    else:
        distribution.check(wheel, sdist)

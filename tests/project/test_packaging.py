"""What is installed, and what the documents say of it."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

from pydine._version import __version__

CHECKOUT = Path(__file__).parents[2]


def test_version_is_the_same_everywhere():
    assert metadata.version("pydine") == __version__
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE).group(1) == __version__
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[(\d\S*)\]", changelog, re.MULTILINE).group(1) == __version__


def test_typed():
    assert resources.files("pydine").joinpath("py.typed").is_file()


def test_no_test_dependency_is_needed_to_import():
    code = "import sys, pydine; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unwanted = {"causallearn", "hypothesis", "jax", "matplotlib", "pandas", "polars", "pyarrow", "pytest"}
    assert not unwanted & set(loaded.stdout.split())


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_in_the_documents_exists(document):
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (CHECKOUT / document).read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= targets
    assert named
    assert named <= targets


@pytest.fixture
def versions(monkeypatch):
    """The script behind `make test-versions`, as a module."""
    monkeypatch.syspath_prepend(CHECKOUT / "scripts")
    spec = importlib.util.spec_from_file_location("test_versions", CHECKOUT / "scripts" / "test_versions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "err", "outcome"),
    [
        (0, "", "go together"),
        (1, "ERROR: Cannot install a and b\nERROR: ResolutionImpossible: for help visit", "FAILED"),
        (1, "WARNING: x\nERROR: No matching distribution found for a==1", "not tried (No matching distribution found"),
        (None, "", "not tried, no package index answered"),
    ],
)
def test_what_the_index_says_of_the_lowest_versions(versions, monkeypatch, code, err, outcome):
    """A conflict is a failure; an index that is not there, or lacks a version, tells nothing."""

    def answer(command, **options):
        assert "scikit-learn==1.6" in command
        if code is None:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.CompletedProcess(command, code, "", err)

    monkeypatch.setattr(versions.subprocess, "run", answer)
    assert versions.resolve().startswith(outcome)


def test_every_lowest_version_can_be_tried(versions):
    """`make test-versions` installs what is declared: each dependency says which version is its lowest."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["cli"]]
    pinned = versions.lowest(declared)
    assert all(re.fullmatch(r"[\w-]+==\d+(\.\d+)*", requirement) for requirement in pinned), pinned
    assert "scikit-learn==1.6" in pinned
    classifiers = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert list(versions.PYTHONS) == classifiers

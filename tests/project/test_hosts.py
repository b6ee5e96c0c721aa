"""Files that hosts of code, documentation and packages read: they are valid, and say what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from pydine._version import __version__

CHECKOUT = Path(__file__).parents[2]
GITHUB = CHECKOUT / ".github"
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))

pytestmark = pytest.mark.skipif(not GITHUB.exists(), reason="a distribution has no files for hosts")


def read(path):
    return yaml.safe_load((CHECKOUT / path).read_text(encoding="utf-8"))


def trigger(workflow):
    return workflow[True]  # YAML 1.1, which the parser follows, reads the key `on` as true


def matrix():
    return read(".github/workflows/test.yml")["jobs"]["unit"]["strategy"]["matrix"]


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_what_they_need(path):
    workflow = read(path)
    assert workflow["name"] == path.stem
    assert trigger(workflow)
    assert workflow["permissions"] == {"contents": "read"}  # more only where a job says so
    for job in workflow["jobs"].values():
        assert ("uses" in job) != ("steps" in job)
        if "steps" in job:
            assert job["runs-on"]
            assert job["timeout-minutes"] <= 240
            assert set(job.get("needs", [])) <= set(workflow["jobs"])
    for step in steps_of(workflow):
        assert ("uses" in step) != ("run" in step)
        assert "@" in step.get("uses", "@")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_of_make_that_there_are(path):
    targets = re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [step["run"] for step in steps_of(read(path)) if step.get("run", "").startswith("make ")]
    assert commands
    for command in commands:
        assert {word for word in command.split()[1:] if "=" not in word} <= set(targets)


def test_every_system_and_version_is_tested():
    systems = {name.rpartition("-")[2] if "arm" in name else name.partition("-")[0] for name in matrix()["os"]}
    assert systems == {"ubuntu", "arm", "macos", "windows"}
    tested, oldest = matrix()["python"], PROJECT["requires-python"].removeprefix(">=")
    assert tested[0] == oldest
    assert tested == [f"3.{minor}" for minor in range(int(oldest.partition(".")[2]), 15)]


def test_classifiers_claim_no_more_than_is_tested():
    claimed = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert claimed
    assert claimed == matrix()["python"][: len(claimed)]
    assert not any("OS Independent" in c or "License" in c for c in PROJECT["classifiers"])


def test_a_tag_is_published_without_a_password_after_it_was_tested_and_checked():
    release = read(".github/workflows/release.yml")
    assert trigger(release) == {"push": {"tags": ["v*"]}}
    publish = release["jobs"]["publish"]
    assert set(publish["needs"]) == {"test", "build"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "release"
    assert any("make release-check" in step.get("run", "") for step in release["jobs"]["build"]["steps"])
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_coverage_has_a_threshold():
    assert PYPROJECT["tool"]["coverage"]["report"]["fail_under"] >= 80
    commands = [step.get("run") for step in steps_of(read(".github/workflows/test.yml"))]
    assert "make coverage PYTHON=python" in commands


def test_the_documentation_host_builds_as_make_does():
    config = read(".readthedocs.yaml")
    assert config["version"] == 2
    assert config["build"]["tools"]["python"] in matrix()["python"]
    assert config["sphinx"] == {"configuration": "docs/conf.py", "fail_on_warning": True}
    assert "python scripts/environments.py docs" in config["build"]["jobs"]["install"]


def requirements(declared):
    """Names and versions of requirements, as conda writes them."""
    found = (
        re.fullmatch(r"([\w-]+)(?:\[\w+\])?(.*)", requirement.replace(" ", "")).groups() for requirement in declared
    )
    return {CONDA_NAMES.get(name, name): version for name, version in found}


def test_the_recipe_says_what_pyproject_says():
    recipe, extras = read("conda/recipe.yaml"), PROJECT["optional-dependencies"]
    assert recipe["context"] == {"version": __version__, "python_min": PROJECT["requires-python"].removeprefix(">=")}
    needed = recipe["requirements"]
    assert needed["run"][0] == "python >=${{ python_min }}"
    assert requirements(needed["run"][1:]) == requirements([*PROJECT["dependencies"], *extras["cli"]])
    optional = requirements([*extras["plot"], *extras["graph"], *extras["excel"]])
    optional.pop("pydine")
    assert requirements(needed["run_constraints"]) == optional
    assert requirements(PYPROJECT["build-system"]["requires"]).items() <= requirements(needed["host"][1:]).items()
    (name, entry), *others = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {entry}"]
    assert not others
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]


def test_the_citation_file_is_complete():
    citation = read("CITATION.cff")
    assert {"cff-version", "message", "type", "title", "abstract", "version", "license", "authors", "keywords"} <= set(
        citation
    )
    assert citation["keywords"][: len(PROJECT["keywords"])] == PROJECT["keywords"]
    assert "real-valued" not in citation["abstract"]
    assert {"authors", "title", "doi", "year", "volume", "start", "end"} <= set(citation["preferred-citation"])


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name)
def test_issue_forms_ask_something(path):
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    for field in form["body"]:
        assert field["type"] in ("textarea", "input", "dropdown", "checkboxes", "markdown")
        assert field["attributes"]["label"]
    assert len({field["id"] for field in form["body"]}) == len(form["body"])


@pytest.mark.parametrize("name", ["CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md", "LICENSE"])
def test_what_a_host_shows_beside_the_code_is_there(name):
    assert (CHECKOUT / name).stat().st_size > 500


def test_addresses_stand_in_one_place():
    """Until they are filled in there are none, and then those of the recipe and the citation are the same."""
    urls = set(PROJECT["urls"].values())
    assert set(PROJECT["urls"]) <= {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    about, citation = read("conda/recipe.yaml")["about"], read("CITATION.cff")
    elsewhere = {about.get("homepage"), about.get("repository"), citation.get("url"), citation.get("repository-code")}
    assert elsewhere - {None} <= urls


def test_groups_are_installed_with_those_that_they_include(monkeypatch):
    monkeypatch.syspath_prepend(CHECKOUT / "scripts")
    import environments

    groups = PYPROJECT["dependency-groups"]
    assert set(environments.group("dev")) >= {*groups["docs"], "pytest>=8"}
    assert all(isinstance(requirement, str) for name in groups for requirement in environments.group(name))
    with pytest.raises(SystemExit, match="has no group 'nothing'"):
        environments.group("nothing")
    used = set(re.findall(r"\.installed-([a-z]+)", (CHECKOUT / "Makefile").read_text(encoding="utf-8")))
    assert used <= set(groups)

"""What names compiled code and kept units: every source that they depend on, and no other."""

import ast
import shutil
from pathlib import Path

import pytest

import pydine
from pydine.kernels.compilation import SOURCES_DIGEST, sources, sources_digest

ROOT = Path(pydine.__file__).parent
COVERED = {path.as_posix() for path in sources(ROOT)}


def files_of(name):
    """The files of the package that importing a dotted name reads: modules, and the packages that they are in."""
    parts = name.split(".")[1:]
    for length in range(1, len(parts) + 1):
        place = Path(*parts[:length])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if (ROOT / path).is_file():
                yield path.as_posix()


def imported_by(file):
    """The files of the package that one of them imports, the front door aside: it only shows what others hold."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: absolute imports only, or they are not seen here"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == "pydine":
                yield from files_of(name)


def reached(start):
    """All files that these import, directly or not, themselves included."""
    known, waiting = set(), list(start)
    while waiting:
        file = waiting.pop()
        if file not in known:
            known.add(file)
            waiting.extend(imported_by(file))
    return known


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(ROOT, tmp_path / "pydine", ignore=shutil.ignore_patterns("__pycache__")))


def test_all_that_compiled_code_and_fitted_units_import_is_covered():
    roots = [
        path.relative_to(ROOT).as_posix()
        for room in ("kernels", "units", "work")
        for path in (ROOT / room).rglob("*.py")
    ]
    assert {"kernels/likelihood.py", "kernels/optimiser.py", "units/unit.py", "units/rungs/linear.py"} <= set(roots)
    assert reached(roots) == COVERED


@pytest.mark.slow
def test_functions_are_compiled_where_it_is_seen():
    """Whatever uses the decorator is covered, wherever it stands."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "kernels/compilation.py" in set(imported_by(path.relative_to(ROOT).as_posix()))
    }
    kernels = {f"kernels/{name}.py" for name in ("likelihood", "mixing", "normal", "optimiser", "regression")}
    assert kernels <= users <= COVERED


@pytest.mark.slow
def test_imports_are_followed():
    assert "results/pairs.py" in reached(["questions/pairwise.py"])
    assert "kernels/arithmetic.py" in reached(["questions/pairwise.py"])
    assert "cli/app.py" in reached(["__main__.py"])


def test_what_only_uses_units_is_not_covered():
    assert {file.partition("/")[0] for file in COVERED} == {
        "archive.py",
        "disk.py",
        "kernels",
        "types.py",
        "units",
        "work",
    }


def test_the_digest_is_that_of_the_sources_wherever_they_are(package):
    assert sources_digest(package) == SOURCES_DIGEST


@pytest.mark.parametrize("file", sorted(COVERED))
def test_a_change_of_what_is_covered_changes_it(file, package):
    with (package / file).open("a", encoding="utf-8") as source:
        source.write("# another\n")
    assert sources_digest(package) != SOURCES_DIGEST


@pytest.mark.parametrize("file", ["cli/app.py", "answers/fitting.py", "latents/scores.py", "__init__.py"])
def test_a_change_of_anything_else_does_not(file, package):
    with (package / file).open("a", encoding="utf-8") as source:
        source.write("# another\n")
    assert sources_digest(package) == SOURCES_DIGEST


def test_moving_a_file_changes_it(package):
    (package / "work" / "plan.py").rename(package / "work" / "plans.py")
    assert sources_digest(package) != SOURCES_DIGEST

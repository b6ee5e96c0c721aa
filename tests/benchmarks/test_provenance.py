"""The digest of the code behind a figure: what ages a result, and what does not."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import pydine
from golden import data
from golden.questions import sides
from harness.imports import Package
from harness.provenance import (
    ESTIMATES,
    MIXED_ESTIMATES,
    MIXED_TESTS,
    PACKAGE,
    SCOPES,
    TESTS,
    code_version,
    commit,
    date_of,
)

CODE = '"""What it does."""\n\n\ndef f(x):\n    """Words."""\n    return x + 1  # why\n'
FILES = {
    "__init__.py": '_HOMES = {"mutual_information": "pydine.doors.one", "independence_test": "pydine.doors.two"}\n',
    "doors/one.py": "from pydine.inner import f\nfrom pydine.show.text import shown\n\nmutual_information = f\n",
    "doors/two.py": "def independence_test(x):\n    from pydine import lazy\n\n    return lazy.g(x)\n",
    "inner/__init__.py": "from pydine.inner.core import f\n",
    "inner/core.py": CODE,
    "inner/other.py": CODE.replace("x + 1", "x + 2"),
    "inner/copy.py": CODE,
    "lazy.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pydine.beside import T\n\ng = abs\n",
    "beside.py": "T = int\n",
    "show/text.py": "shown = repr\n",
}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "pydine"
    for name, text in FILES.items():
        write(folder, name, text)
    return folder


def write(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def digest(folder):
    found = Package(folder)
    return found.digest(found.public, ["pydine.show"])


def test_imports_are_followed_to_where_names_are_defined(package):
    found = Package(package)
    assert found.public == ("mutual_information", "independence_test")
    assert found.home("pydine.inner", "f") == ("pydine.inner.core", "f")
    assert found.reached(["mutual_information"], ["pydine.show"]) == {"pydine.doors.one", "pydine.inner.core"}
    assert found.reached(["mutual_information"]) == {"pydine.doors.one", "pydine.inner.core", "pydine.show.text"}
    assert found.reached(["independence_test"]) == {"pydine.doors.two", "pydine.lazy"}


@pytest.mark.parametrize(
    "text",
    [
        CODE.replace("What it does", "What it really does"),
        CODE.replace("Words", "Other words").replace("# why", "# the reason"),
        CODE.replace("x + 1", "x   +   1"),
        CODE.replace('    """Words."""\n', ""),
    ],
)
def test_words_and_layout_do_not_age_a_result(package, text):
    before = digest(package)
    write(package, "inner/core.py", text)
    assert digest(package) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("inner/core.py", CODE.replace("x + 1", "x + 3")),
        ("inner/core.py", f"import math\n\n{CODE}"),
        ("lazy.py", "g = round\n"),
        ("inner/__init__.py", "from pydine.inner.other import f\n"),
        ("doors/one.py", FILES["doors/one.py"].replace("inner import", "inner.other import")),
        ("doors/one.py", FILES["doors/one.py"].replace("import f\n", "import other as f\n")),
        ("__init__.py", FILES["__init__.py"].replace("doors.one", "inner.other")),
    ],
)
def test_code_and_names_that_mean_something_else_do(package, name, text):
    before = digest(package)
    write(package, name, text)
    assert digest(package) != before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("inner/other.py", "CHANGED = True\n"),
        ("show/text.py", "shown = str\n"),
        ("beside.py", "T = float\n"),
        ("new.py", CODE),
        ("inner/__init__.py", "from pydine.inner.copy import f\n"),
        ("doors/one.py", FILES["doors/one.py"].replace("pydine.inner import", "pydine.inner.core import")),
    ],
)
def test_code_beside_it_and_the_same_code_elsewhere_do_not(package, name, text):
    before = digest(package)
    write(package, name, text)
    assert digest(package) == before


def test_moves_do_not(package):
    before = digest(package)
    (package / "rooms").mkdir()
    (package / "inner" / "core.py").rename(package / "rooms" / "room.py")
    write(package, "inner/__init__.py", "")
    write(package, "doors/one.py", FILES["doors/one.py"].replace("pydine.inner ", "pydine.rooms.room "))
    assert digest(package) == before


def test_two_modules_that_import_each_other(package):
    write(package, "lazy.py", "from pydine.doors import two\n\ng = abs\n")
    before = digest(package)
    write(package, "lazy.py", "from pydine.doors import one\n\ng = abs\n")
    assert digest(package) != before


def test_names_that_change_places_age_a_result(package):
    write(package, "lazy.py", "from pydine.inner.core import f as a\nfrom pydine.inner.other import f as b\n\ng = a\n")
    before = digest(package)
    write(package, "lazy.py", "from pydine.inner.other import f as a\nfrom pydine.inner.core import f as b\n\ng = a\n")
    assert digest(package) != before


def test_what_lies_beside_a_scope_is_there_and_would_be_reached():
    found = Package(PACKAGE)
    named = {name for _, beside in SCOPES.values() for name in beside}
    reached = {
        name
        for names, beside in SCOPES.values()
        for name in beside
        if any(f"{module}.".startswith(f"{name}.") for module in found.reached(names or found.public))
    }
    assert reached == named
    assert len({code_version(scope=scope) for scope in SCOPES}) == len(SCOPES)


def called(ask):
    """The modules of the package whose functions are called, in any thread."""
    seen = set()

    def note(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("pydine."):
            seen.add(name)

    ask()  # imports and compilation
    before = sys.getprofile()
    try:
        sys.setprofile(note)
        threading.setprofile(note)
        ask()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return seen


def tables(scope):
    rng = np.random.default_rng(0)
    if scope in (ESTIMATES, TESTS):
        return [data.curved(rng, 150, 2), data.parabola(rng, 150), data.blocks(rng, 150, 2, 2, 1)]
    return [
        data.of_kinds(rng, 150, "labels", "numbers", ("numbers",)),
        data.of_kinds(rng, 150, "steps", "masses", ("labels",)),
        data.of_kinds(rng, 150, "labels", "counts"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scope", [ESTIMATES, TESTS, MIXED_ESTIMATES, MIXED_TESTS])
def test_what_runs_is_what_the_digest_covers(scope):
    """Modules that a figure is said not to depend on are not called, those that work is kept by and shown by aside."""

    def ask():
        rng = np.random.default_rng(0)
        for table in tables(scope):
            if scope in (ESTIMATES, MIXED_ESTIMATES):
                for interval in ("fast", "calibrated"):
                    pydine.mutual_information(**sides(table), interval=interval)
            else:
                for method in ("analytic", "permutation"):
                    pydine.independence_test(**sides(table), method=method, n_permutations=20)
        x, y, z = rng.standard_normal((3, 50))
        if scope == ESTIMATES:
            pydine.DINE.paper(max_iter=3).fit(x, y, z)
        elif scope == TESTS:
            pydine.independence_test(x, y, z, algorithm="paper", n_permutations=5)

    names, beside = SCOPES[scope]
    anyhow = set(SCOPES[MIXED_ESTIMATES].beside) & set(SCOPES[MIXED_TESTS].beside)  # where work is done and kept
    covered = Package(PACKAGE).reached(names, beside)
    others = {name for name in called(ask) - covered if not any(f"{name}.".startswith(f"{o}.") for o in anyhow)}
    assert others == set()


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_commit_is_that_of_the_package_with_a_sign_of_changes(package):
    assert commit(package) == ""  # no repository
    git(package, "init", "-q")
    assert commit(package) == ""  # as in an environment inside somebody else's repository
    git(package, "add", ".")
    git(package, "commit", "-qm", "first", "--date", "2020-02-03T12:00:00")
    first = git(package, "rev-parse", "--short", "HEAD").strip()
    assert commit(package) == first
    (package / "lazy.py").write_text("")
    assert commit(package) == f"{first}+"
    assert len(date_of(f"{first}+", package)) == len("2020-02-03")
    assert date_of("", package) == date_of("0123456", package) == ""

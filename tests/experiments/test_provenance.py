"""The digest of the numerical core: what ages a result, and what does not."""

import subprocess

import pytest

from pydine.experiments.provenance import BEYOND, CORE, ESTIMATES, PACKAGE, code_version, commit, date_of

SOURCE = '"""What it does."""\n\n\ndef f(x):\n    """Words."""\n    return x + 1  # why\n'


@pytest.fixture
def package(tmp_path):
    for name in ("engine", "questions", "inputs/files", "cli"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "module.py").write_text(SOURCE)
    (tmp_path / "types.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.slow
def test_the_package_has_a_core():
    assert any((PACKAGE / name).exists() for name in CORE)
    assert len(code_version()) == 8


@pytest.mark.parametrize(
    "text",
    [
        SOURCE.replace("What it does", "What it really does"),
        SOURCE.replace("Words", "Other words").replace("# why", "# the reason"),
        SOURCE.replace("x + 1", "x   +   1"),
        SOURCE.replace('    """Words."""\n', ""),
    ],
)
def test_words_and_layout_do_not_age_a_result(package, text):
    before = code_version(package)
    (package / "engine" / "module.py").write_text(text)
    assert code_version(package) == before


@pytest.mark.parametrize("name", ["engine/module.py", "questions/module.py", "types.py", "questions/new.py"])
def test_code_of_the_core_does(package, name):
    before = code_version(package)
    (package / name).write_text(SOURCE.replace("x + 1", "x + 2"))
    assert code_version(package) != before


def test_moves_do_not(package):
    before = code_version(package)
    (package / "questions" / "deep").mkdir()
    (package / "questions" / "module.py").rename(package / "questions" / "deep" / "other.py")
    (package / "engine" / "module.py").write_text(f"from pydine.questions.deep.other import f\n\n{SOURCE}")
    assert code_version(package) == before


@pytest.mark.parametrize("name", ["cli/module.py", "inputs/files/module.py", "report.py"])
def test_code_beside_it_does_not(package, name):
    before = code_version(package)
    (package / name).write_text("CHANGED = True")
    assert code_version(package) == before


@pytest.mark.parametrize(
    ("name", "ages"),
    [
        ("nulls/analytic.py", False),
        ("questions/ranking.py", False),
        ("bases/kinds/densities.py", False),
        ("bases/average.py", True),
    ],
)
def test_estimates_are_aged_by_what_they_go_through(package, name, ages):
    (package / name).parent.mkdir(parents=True, exist_ok=True)
    before = code_version(package, ESTIMATES)
    whole = code_version(package)
    (package / name).write_text(SOURCE)
    assert (code_version(package, ESTIMATES) != before) == ages
    assert code_version(package) != whole


def test_all_that_is_said_to_lie_beyond_is_there():
    for patterns in BEYOND.values():
        assert all(any(PACKAGE.glob(pattern)) for pattern in patterns)


def test_a_function_of_nothing_but_words_is_code_still(package):
    (package / "engine" / "module.py").write_text('class A:\n    """Nothing else."""\n')
    assert len(code_version(package)) == 8


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
    (package / "types.py").write_text("")
    assert commit(package) == f"{first}+"
    assert len(date_of(f"{first}+", package)) == len("2020-02-03")
    assert date_of("", package) == date_of("0123456", package) == ""

"""Which code a result comes from: a digest of the sources that it depends on, and their commit."""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pydine

# Files and folders of the package whose code affects answers; those that a version does not have are passed over.
CORE = (
    "types.py",
    "settings.py",
    "inputs",
    "kernels",
    "units",
    "work",
    "latents",
    "bases",
    "nulls",
    "answers",
    "questions",
    "results/intervals.py",
    "engine",
    "data.py",
    "information.py",
    "bases.py",
    "dependence.py",
    "screening.py",
    "estimation.py",
    "independence.py",
    "pairwise.py",
    "selection.py",
    "ranking.py",
)
NOT_CORE = ("inputs/files",)  # which format a table is kept in changes no number
ALL, ESTIMATES, TESTS = "all", "estimates", "tests"
MIXED_ESTIMATES, MIXED_TESTS = "estimates of any kind", "tests of any kind"
_OF_KINDS = ("latents/kinds/*", "kernels/segments*", "bases/kinds/*", "answers/mixed*")
_BESIDE_ESTIMATES = ("nulls/*", "questions/[!m]*")
_BESIDE_TESTS = (
    "kernels/segments*",
    "bases/[!c]*",
    "bases/classes*",
    "kernels/classes*",
    "kernels/gaussians*",
    "kernels/neighbours*",
    "results/intervals*",
    "answers/relearning*",
    "questions/[!i]*",
)
# For each kind of figure, the files that it does not depend on, as patterns. Continuous columns use no model of labels
# or steps, estimates use no test, and p-values use no base except for the closed form. Other tests check that all doors
# give the same numbers, so that one door stands for all.
BEYOND = {
    ALL: (),
    ESTIMATES: (*_OF_KINDS, *_BESIDE_ESTIMATES),
    TESTS: (*_OF_KINDS, *_BESIDE_TESTS),
    MIXED_ESTIMATES: _BESIDE_ESTIMATES,
    MIXED_TESTS: _BESIDE_TESTS,
}
PACKAGE = Path(pydine.__file__).parent


def code_version(package: Path = PACKAGE, scope: str = ALL) -> str:
    """Return eight hexadecimal digits that change when the code behind an answer does.

    Parameters
    ----------
    package
        Folder of the package, by default the one that is running.
    scope
        What the answer is: a key of ``BEYOND``.

    Returns
    -------
    str
        Digest of the files in ``CORE`` that it may depend on, without comments, docstrings, layout and imports, and
        wherever they lie: rewording and moving code does not make a result out of date.
    """
    files = (_code(path.read_text(encoding="utf-8")) for path in _core_files(package, BEYOND[scope]))
    digests = sorted(hashlib.sha256(code.encode()).digest() for code in files)
    return hashlib.sha256(b"".join(digests)).hexdigest()[:8]


def commit(package: Path = PACKAGE) -> str:
    """Return the commit that last changed the package, ``+`` behind it if files differ from it.

    Parameters
    ----------
    package
        Folder of the package.

    Returns
    -------
    str
        Shortened; empty where the package is not kept in a repository, as when it is installed.
    """
    found = git(package, "log", "-1", "--format=%h", "--", ".")
    return found + "+" * bool(found and git(package, "status", "--porcelain", "--", "."))


def date_of(commit: str, folder: Path = PACKAGE) -> str:
    """Day of a commit, as ISO 8601; empty if the repository around the folder does not know it."""
    return git(folder, "log", "-1", "--format=%as", commit.rstrip("+"), "--") if commit else ""


def git(folder: Path, *arguments: str) -> str:
    """Return what git says, asked from a folder; empty where there is no git, no repository, or an error."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _core_files(package: Path, beyond: Sequence[str]) -> Iterator[Path]:
    left_out = [package / name for name in NOT_CORE]
    for name in sorted(CORE):
        entry = package / name
        for path in [entry] if entry.is_file() else sorted(entry.rglob("*.py")):
            inside = path.relative_to(package).as_posix()
            if not any(path.is_relative_to(folder) for folder in left_out) and not any(
                fnmatch(inside, pattern) for pattern in beyond
            ):
                yield path


def _code(source: str) -> str:
    """Source without comments, docstrings, layout and imports."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.If):
            node.body = [part for part in node.body if not _is_words(part) and not _is_import(part)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_import(statement: ast.stmt) -> bool:
    """Whether it says where a name is from: `import a`, `from a import b`."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_words(statement: ast.stmt) -> bool:
    """Whether it is a string that stands by itself: a docstring, or a remark."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )

"""Which code a result comes from: a digest of the sources that it depends on, and their commit."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pydine
from harness.imports import Package

PACKAGE = Path(pydine.__file__).parent
ALL, ESTIMATES, TESTS = "all", "estimates", "tests"
MIXED_ESTIMATES, MIXED_TESTS = "estimates of any kind", "tests of any kind"
GRAPHS = "causal graphs"


class Scope(NamedTuple):
    """A kind of figure: the public names that give it, all of them if none, and modules that it does not depend on."""

    names: tuple[str, ...]
    beside: tuple[str, ...]


# How an answer is shown changes neither numbers nor times of estimates.
_SHOWN = ("pydine.show",)
# Where work is done, and how machine code and units are kept, changes times but no numbers: tests of threads, engines,
# caches and other CPUs check it.
_KEPT = (
    "pydine.archive",
    "pydine.disk",
    "pydine.kernels.compilation",
    "pydine.kernels.machine_code",
    "pydine.kernels.shipped",
    "pydine.questions.saved",
    "pydine.work.cache",
    "pydine.work.engines",
    "pydine.work.execution",
    "pydine.work.parcels",
    "pydine.work.threads",
)
# Continuous columns go through no model of labels or steps.
_OF_KINDS = ("pydine.answers.mixed", "pydine.bases.kinds", "pydine.latents.kinds")
# P-values go through no base except for the closed form.
_BESIDE_TESTS = (
    "pydine.answers.relearning",
    "pydine.bases.flow",
    "pydine.bases.mixture",
    "pydine.bases.neighbours",
    "pydine.bases.sharpening",
    "pydine.bases.stack",
    "pydine.bases.student",
)
# Other tests check that all entry points give the same numbers, so that one stands for all.
SCOPES = {
    ALL: Scope((), _SHOWN),
    ESTIMATES: Scope(("mutual_information", "DINE"), (*_SHOWN, *_KEPT, *_OF_KINDS, "pydine.nulls")),
    TESTS: Scope(("independence_test",), (*_SHOWN, *_KEPT, *_OF_KINDS, *_BESIDE_TESTS)),
    MIXED_ESTIMATES: Scope(("mutual_information", "DINE"), (*_SHOWN, *_KEPT, "pydine.nulls")),
    GRAPHS: Scope(("causal_graph",), (*_SHOWN, *_KEPT)),
    MIXED_TESTS: Scope(("independence_test",), (*_SHOWN, *_KEPT, *_BESIDE_TESTS)),
}


def code_version(folder: Path = PACKAGE, scope: str = ALL) -> str:
    """Return eight hexadecimal digits that change when the code behind an answer does.

    Parameters
    ----------
    folder
        Folder of the package, by default the one that is running.
    scope
        What the answer is: a key of ``SCOPES``.

    Returns
    -------
    str
        Digest of all modules that its entry points import, directly or not: see `Package.digest`. Rewording, renaming
        and moving modules does not make a result out of date; importing a name from other code does.
    """
    package, (names, beside) = Package(folder), SCOPES[scope]
    return package.digest(names or package.public, beside)


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

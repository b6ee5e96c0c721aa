"""All that can be checked of a release before it is tagged, and again by the workflow that a tag starts.

What would make a wrong release fails at once. What is left to do, such as moving the changelog's lines under the
version, is listed, and fails where this commit has the tag of the version.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from distribution import build, check, try_out
from environments import CHECKOUT, environment, project, run
from interface import gone, of_source

ADDRESSES = ("Source", "Issues", "Documentation", "Changelog")
WHERE = {  # what else names the version, and how
    "CITATION.cff": r"^version: (\S+)$",
    "conda/recipe.yaml": r'^  version: "(\S+)"$',
}


def read(path: str) -> str:
    """A file of the checkout."""
    return (CHECKOUT / path).read_text(encoding="utf-8")


def version() -> str:
    """The version, from the one place where it is set; whatever else names it must agree."""
    (found,) = re.findall(r'^__version__ = "(.+)"$', read("src/pydine/_version.py"), re.MULTILINE)
    for path, pattern in WHERE.items():
        if (named := re.findall(pattern, read(path), re.MULTILINE)) != [found]:
            sys.exit(f"the version is {found}, but {path} names {', '.join(named) or 'none'}")
    return found


def notes(changelog: str, heading: str) -> str:
    """What a changelog says under the heading of a version, without blank lines at the ends; empty if there is none."""
    found = re.search(rf"^## \[{re.escape(heading)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def left_to_do(number: str) -> list[str]:
    """What whoever owns the repository does before the tag."""
    changelog, urls = read("CHANGELOG.md"), project()["urls"]
    todo = []
    if not notes(changelog, number):
        todo.append(f"CHANGELOG.md has no section [{number}]")
    if notes(changelog, "Unreleased"):
        todo.append(f"CHANGELOG.md has lines under [Unreleased]: move them under [{number}], with the date")
    if missing := [name for name in ADDRESSES if name not in urls]:
        todo.append(f"[project.urls] in pyproject.toml lacks {', '.join(missing)}")
    return todo


def git(*words: str) -> bytes:
    """What git says of the checkout; nothing where it knows no answer."""
    return subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, check=False).stdout


def unannounced(number: str) -> list[str]:
    """What the last release had and this one has not, and the changelog does not say (docs/compatibility.md)."""
    tags = git("tag", "--list", "v*", "--sort=-v:refname").decode().split()
    last = next((tag for tag in tags if tag != f"v{number}"), None)
    if last is None:
        sys.stdout.write("Interface: no earlier tag to compare with.\n")
        return []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(git("archive", last, "src"))) as archive:
            archive.extractall(folder, filter="data")
        changes = gone(of_source(Path(folder) / "src"), of_source(CHECKOUT / "src"))
    said = notes(read("CHANGELOG.md"), number) + notes(read("CHANGELOG.md"), "Unreleased")
    sys.stdout.write(f"Interface: {len(changes)} changes since {last} that callers may notice.\n")
    return [change for change in changes if change.split("`")[1].split("(")[0] not in said]


def commands(readme: str) -> list[list[str]]:
    """The commands of pydine in a document, in order: lines of an indented block."""
    lines = (line.strip() for line in readme.splitlines() if line.startswith("    pydine "))
    return [shlex.split(line, comments=True) for line in lines]


def python(readme: str) -> str:
    """The blocks of Python in a document, one after another."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL))


def follow_readme(inside: Path) -> None:
    """Do what the README says, in order, as somebody who has installed the wheel."""
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as folder:
        for _, *words in commands(read("README.md")):
            if not run([inside, "-m", "pydine", *words], folder):
                sys.exit(f"README.md: pydine {shlex.join(words)} does not work where the wheel is installed")
        if not run([inside, "-W", "error", "-c", python(read("README.md"))], folder):
            sys.exit("README.md: its Python does not run where the wheel is installed")


def main() -> None:
    """Check everything; a sentence for what is wrong."""
    number = version()
    is_tagged = f"v{number}" in git("tag", "--points-at", "HEAD").decode().split()
    todo = left_to_do(number)
    sys.stdout.writelines(f"Left to do before the tag: {what}.\n" for what in todo)
    if is_tagged and todo:
        sys.exit(f"this commit is tagged v{number}, but that is left to do")
    if changes := unannounced(number):
        sys.exit("CHANGELOG.md does not say, under Removed or Changed: " + "; ".join(changes))
    wheel, sdist = build()
    check(wheel, sdist)
    with environment(sys.executable) as inside:
        try_out(inside, wheel)
        follow_readme(inside)
    sys.stdout.write(
        f"Release {number}: wheel {wheel.stat().st_size:,} bytes, sdist {sdist.stat().st_size:,} bytes; the wheel "
        "works without extras and with them, and so does what README.md says.\n"
    )


if __name__ == "__main__":
    main()

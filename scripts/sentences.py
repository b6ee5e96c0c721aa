"""Which sentences that users see changed between two versions: `python scripts/sentences.py OLD [NEW]`.

OLD and NEW are revisions of git; NEW is the working tree by default. A sentence is a string in the Python of src/ of at
least three words that is not a docstring, with the fields of f-strings as {...}. Those that only moved are left out.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

from environments import CHECKOUT

LEAST_WORDS = 3
FIELD = "{...}"


def sentences(source: str) -> Iterator[str]:
    """The sentences of a module, in the order of its lines; those within the fields of an f-string stand alone."""
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)]
    for node in sorted(strings, key=lambda node: (node.lineno, node.col_offset, isinstance(node, ast.Constant))):
        if id(node) in passed:
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        passed |= {id(part) for part in parts}
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else FIELD for part in parts)
        words = [word for word in text.split() if FIELD in word or any(map(str.isalpha, word))]
        if len(words) >= LEAST_WORDS and any(map(str.isalpha, text)):
            yield " ".join(text.split())


def git(*words: str) -> str:
    """What git says of the checkout; where it cannot, its message is the end."""
    done = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else sys.exit(done.stderr.decode().strip())


def of_version(revision: str | None) -> dict[str, list[str]]:
    """The sentences of a revision, or of the working tree, by file."""
    if revision is None:
        files = {path.relative_to(CHECKOUT).as_posix(): path for path in sorted((CHECKOUT / "src").rglob("*.py"))}
        return {name: list(sentences(path.read_text(encoding="utf-8"))) for name, path in files.items()}
    names = git("ls-tree", "-r", "--name-only", revision, "src/").splitlines()
    return {name: list(sentences(git("show", f"{revision}:{name}"))) for name in names if name.endswith(".py")}


def less(version: dict[str, list[str]], other: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """What one version says and the other says nowhere, by file."""
    known = {sentence for found in other.values() for sentence in found}
    for name, found in version.items():
        if only := [sentence for sentence in dict.fromkeys(found) if sentence not in known]:
            yield name, only


def main(before: str, after: str | None = None) -> None:
    """Print what is gone and what is new."""
    old, new = of_version(before), of_version(after)
    for heading, changed in (("gone", less(old, new)), ("new", less(new, old))):
        for name, only in changed:
            sys.stdout.writelines([f"{heading}: {name}\n", *(f"    {sentence}\n" for sentence in only)])


if __name__ == "__main__":
    main(*sys.argv[1:])

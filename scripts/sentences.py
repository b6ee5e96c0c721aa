"""Which sentences that users see changed between two versions: `python scripts/sentences.py OLD [NEW]`.

OLD and NEW are revisions of git; NEW is the working tree by default. A sentence is a string in the Python of src/ of at
least three words that is not a docstring, with the fields of f-strings as {...}. Those that only moved are left out.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator

from environments import CHECKOUT

LEAST_WORDS = 3


def sentences(source: str) -> Iterator[str]:
    """The sentences of a module, in the order of its lines; those within the fields of an f-string stand alone."""
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr))
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset, isinstance(node, ast.Constant))):
        if id(node) in passed:
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        passed |= {id(part) for part in parts}
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{...}" for part in parts)
        strings = [part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if strings and len(re.findall(r"[^\W\d_]+", text.replace("{...}", "x"))) >= LEAST_WORDS:
            yield " ".join(text.split())


def git(*words: str) -> str:
    """What git answers about the checkout; its own message where it cannot."""
    done = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else sys.exit(done.stderr.decode().strip())


def of_version(revision: str | None) -> dict[str, list[str]]:
    """The sentences of a revision, or of the working tree, by file."""
    if revision is None:
        paths = sorted(path for path in (CHECKOUT / "src").rglob("*.py"))
        return {p.relative_to(CHECKOUT).as_posix(): list(sentences(p.read_text(encoding="utf-8"))) for p in paths}
    paths = [path for path in git("ls-tree", "-r", "--name-only", revision, "src/").split("\n") if path.endswith(".py")]
    return {path: list(sentences(git("show", f"{revision}:{path}"))) for path in paths}


def less(versions: dict[str, list[str]], others: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """What one version says and the other nowhere does, by file."""
    known = {sentence for found in others.values() for sentence in found}
    for path, found in versions.items():
        if only := [sentence for sentence in dict.fromkeys(found) if sentence not in known]:
            yield path, only


def main() -> None:
    """Print what went and what came."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("old", help="a revision")
    options.add_argument("new", nargs="?", help="another; the working tree by default")
    chosen = options.parse_args()
    old, new = of_version(chosen.old), of_version(chosen.new)
    for heading, changed in (("gone", less(old, new)), ("new", less(new, old))):
        for path, only in changed:
            sys.stdout.write(f"{heading}: {path}\n" + "".join(f"    {sentence}\n" for sentence in only))


if __name__ == "__main__":
    main()

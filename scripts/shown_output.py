"""Write what the documents show: run their blocks, one after another, and put what they print below them.

    python scripts/shown_output.py [docs/gallery.md ...]

Without names, all documents. `tests/project/test_documents.py` compares the same blocks with the same runs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
DOCUMENTS = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$(\n\n```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def run_python(code: str, names: dict[str, Any]) -> str:
    """What a block of Python prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "a document", "exec"), names)
    return printed.getvalue()


def run_command(line: str) -> str:
    """What a command prints."""
    from pydine.cli import app

    sys.argv = shlex.split(line)
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        app.main()
    return "\n".join(text.rstrip() for text in printed.getvalue().strip("\n").splitlines())


def rewritten(text: str) -> str:
    """A document with what its blocks print now."""
    names: dict[str, Any] = {"__name__": "document"}

    def block(match: re.Match[str]) -> str:
        language, code, follows, _ = match.groups()
        if language == "python":
            printed = run_python(code, names)
            return f"```python\n{code}```" + (f"\n\n```\n{printed}```" if follows else "")
        sessions = [part.partition("\n")[0] for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]]
        shown = (f"$ {line}\n{printed}\n" if (printed := run_command(line)) else f"$ {line}\n" for line in sessions)
        return f"```console\n{''.join(shown)}```"

    return BLOCK.sub(block, text)


def main(names: list[str]) -> None:
    """Rewrite the documents named, or all of them, from a folder like the one that tests use."""
    documents = [Path(name).resolve() for name in names] or DOCUMENTS
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("docs").symlink_to(CHECKOUT / "docs")
        for document in documents:
            text = document.read_text(encoding="utf-8")
            if BLOCK.search(text) and (new := rewritten(text)) != text:
                document.write_text(new, encoding="utf-8")
                sys.stderr.write(f"{document.relative_to(CHECKOUT)}\n")


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("Agg")
    main(sys.argv[1:])

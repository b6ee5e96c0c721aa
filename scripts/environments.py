"""Environments that are made, used once and thrown away: what `make dist` and `make test-versions` share.

As a command, it installs groups of pyproject.toml beside the Python that runs it: `python scripts/environments.py dev`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
SMOKE = CHECKOUT / "scripts" / "smoke.py"


def declared() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def project() -> dict[str, Any]:
    """What it says of the project."""
    return declared()["project"]


def group(name: str) -> list[str]:
    """The requirements of a group for development, with those of the groups that it includes (PEP 735)."""
    groups = declared()["dependency-groups"]
    if name not in groups:
        raise SystemExit(f"pyproject.toml has no group {name!r}, only {', '.join(groups)}.")
    found: dict[str, None] = {}
    for entry in groups[name]:
        found |= dict.fromkeys([entry] if isinstance(entry, str) else group(entry["include-group"]))
    return list(found)


def interpreter(version: str) -> str | None:
    """Find the command of a version of Python, such as 3.12, if it is on this machine."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = shutil.which(f"python{version}")
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if works else None


@contextmanager
def environment(python: str) -> Iterator[Path]:
    """Make an environment; the path of its Python."""
    with tempfile.TemporaryDirectory(prefix="pydine-environment-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        yield Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *what: str) -> None:
    """Install packages."""
    subprocess.run([python, "-m", "pip", "install", "--quiet", *what], check=True)


def run(command: Sequence[str | Path], folder: str | Path | None = None) -> bool:
    """Run a command that is not to see this checkout; whether it succeeded."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    limits = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return (
        subprocess.run(command, cwd=folder or tempfile.gettempdir(), env=variables | limits, check=False).returncode
        == 0
    )


if __name__ == "__main__":
    install(Path(sys.executable), *(requirement for name in sys.argv[1:] for requirement in group(name)))

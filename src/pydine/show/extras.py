"""Packages that only some features need: whether one is here, and the sentence that says which extra brings it."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["is_here", "missing", "require"]

# Which extra of pyproject.toml brings a package.
EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "polars": "cli",
    "matplotlib": "plot",
    "fastexcel": "excel",
    "networkx": "graph",
}


def is_here(package: str) -> bool:
    """Whether a package is installed; nothing is imported to find out."""
    return find_spec(package) is not None


def missing(package: str, what: str) -> ImportError:
    """Make the error that says what needs a package, and how to install it."""
    return ImportError(f'{what} needs {package}: pip install "pydine[{EXTRAS[package]}]"', name=package)


def require(package: str, what: str) -> None:
    """Refuse what needs a package that is not installed, in one sentence.

    Raises
    ------
    ImportError
        If it is not there.
    """
    if not is_here(package):
        raise missing(package, what)

"""``pydine`` and ``python -m pydine``: the command line, or what to install for it."""

from __future__ import annotations

import sys

from pydine.show.extras import require

__all__ = ["main"]

NEEDED = ("typer", "rich")
NOT_INSTALLED = 1  # as where a file cannot be used


def main() -> None:
    """Run the command line; without the packages that it is made of, say which extra brings them."""
    try:
        for package in NEEDED:
            require(package, "the command line")
    except ImportError as error:
        sys.stderr.write(f"pydine: {error}\n")
        sys.exit(NOT_INSTALLED)
    from pydine.cli.app import main as run

    run()


if __name__ == "__main__":
    main()

"""Whether the versions that pyproject.toml declares work: the lowest, and the newest, on every Python that is here.

Each combination is installed into an environment of its own and goes through scripts/smoke.py. The lowest versions are
those of the oldest Python: for newer ones they have no wheels. `--only 3.11-lowest` runs a part, as continuous
integration does.
"""

from __future__ import annotations

import argparse
import re
import sys

from environments import CHECKOUT, SMOKE, environment, install, interpreter, project, run

PYTHONS = ("3.11", "3.12", "3.13")
LOWEST, NEWEST = "lowest", "newest"
COMBINATIONS = [f"{PYTHONS[0]}-{LOWEST}", *(f"{python}-{NEWEST}" for python in PYTHONS)]


def lowest(requirements: list[str]) -> list[str]:
    """Turn ``name>=1.2,<3`` into ``name==1.2``."""
    return [re.sub(r"^([\w-]+)>=([\d.]+).*$", r"\1==\2", requirement) for requirement in requirements]


def test(combination: str) -> str:
    """Install one combination and try it."""
    version, which = combination.split("-")
    python = interpreter(version)
    if python is None:
        return f"not tried, there is no Python {version} here"
    declared = [*project()["dependencies"], *project()["optional-dependencies"]["cli"]]
    with environment(python) as inside:
        install(inside, *(lowest(declared) if which == LOWEST else ["--upgrade", *declared]))
        install(inside, "--no-deps", str(CHECKOUT))
        return "works" if run([inside, SMOKE]) else "FAILED"


def main() -> None:
    """Try what was asked for, say how it went, and fail if something did."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=COMBINATIONS, action="append")
    outcomes = {}
    for combination in options.parse_args().only or COMBINATIONS:
        outcomes[combination] = test(combination)
        sys.stdout.write(f"{combination}: {outcomes[combination]}\n")
        sys.stdout.flush()
    sys.exit("FAILED" in outcomes.values())


if __name__ == "__main__":
    main()

"""Whether the versions that pyproject.toml declares work: the lowest, and the newest, on every Python that is here.

Each combination is installed into an environment of its own and goes through scripts/smoke.py. The lowest versions are
those of the oldest Python: for newer ones they have no wheels. `--only 3.11-lowest` runs a part. `--resolve` installs
nothing and asks the index alone whether the lowest versions exist and go together: seconds, for continuous integration.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

from environments import CHECKOUT, SMOKE, environment, install, interpreter, project, run

PYTHONS = ("3.11", "3.12", "3.13")
LOWEST, NEWEST = "lowest", "newest"
MOST_SECONDS = 120  # for the index to answer
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


def resolve() -> str:
    """Whether the lowest versions go together, without installing them.

    An index that cannot be reached, or that does not have one of them, as a mirror may not, tells nothing.
    """
    declared = [*project()["dependencies"], *project()["optional-dependencies"]["cli"]]
    options = ["--quiet", "--dry-run", "--ignore-installed", "--retries", "1", "--timeout", "10"]
    version = ["--python-version", PYTHONS[0], "--only-binary", ":all:", "--target", "unused"]
    command = [sys.executable, "-m", "pip", "install", *options, *version, *lowest(declared)]
    try:
        done = subprocess.run(command, check=False, timeout=MOST_SECONDS, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return f"not tried, no package index answered within {MOST_SECONDS} seconds"
    if done.returncode == 0:
        return "go together"
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    if any("ResolutionImpossible" in line for line in said):
        sys.stderr.write(done.stderr)
        return "FAILED"
    return f"not tried ({said[-1].removeprefix('ERROR: ') if said else 'pip says nothing'})"


def main() -> None:
    """Try what was asked for, say how it went, and fail if something did."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=COMBINATIONS, action="append")
    options.add_argument("--resolve", action="store_true", help="only whether the lowest versions go together")
    chosen = options.parse_args()
    if chosen.resolve:
        outcome = resolve()
        sys.stdout.write(f"the lowest versions: {outcome}\n")
        sys.exit(outcome == "FAILED")
    outcomes = {}
    for combination in chosen.only or COMBINATIONS:
        outcomes[combination] = test(combination)
        sys.stdout.write(f"{combination}: {outcomes[combination]}\n")
        sys.stdout.flush()
    sys.exit("FAILED" in outcomes.values())


if __name__ == "__main__":
    main()

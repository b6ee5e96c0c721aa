"""Whether an installation works: every question once, in Python and as a command, on data whose answer is known.

Run by `make dist` and `make test-versions` in environments that hold nothing but pydine; it imports what a user would.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pydine

ROWS = 120
RNG = np.random.default_rng(0)
CAUSE = RNG.standard_normal(ROWS)
COLUMNS = {
    "cause": CAUSE,
    "noise": RNG.standard_normal(ROWS),
    "outcome": CAUSE + 0.5 * RNG.standard_normal(ROWS),
}
QUICK = ("--base", "gaussian")
COMMANDS = {
    "mi": ("-x", "cause", "-y", "outcome", "-z", "noise", *QUICK, "--json"),
    "test": ("-x", "cause", "-y", "outcome", "--method", "analytic", "--json"),
    "rank": ("--target", "outcome", *QUICK, "--json"),
    "matrix": (*QUICK, "--json"),
    "report": ("--target", "outcome", *QUICK, "--out", "report.html"),
}


def check(holds: bool, what: str) -> None:
    """Stop with a sentence if something does not hold."""
    if not holds:
        sys.exit(f"smoke test: {what}.")


def python() -> None:
    """Ask in Python."""
    x, noise, y = COLUMNS.values()
    told = pydine.mutual_information(x, y, noise)
    check(0.4 < told.value < 1.4, f"I(cause; outcome | noise) is about 0.8 nats, but the estimate is {told.value}")
    found, nothing = (pydine.independence_test(column, y, n_permutations=99).pvalue for column in (x, noise))
    check(found <= 0.05 < nothing, f"p-values of a cause and of noise are {found} and {nothing}")
    pairs = pydine.pairwise_information(COLUMNS, base="gaussian")
    check(pairs.values[0, 2] == np.nanmax(pairs.values), "the strongest of all pairs is not cause and outcome")
    selector = pydine.ConditionalSelector().fit(np.column_stack([x, noise]), y)
    check(selector.get_support().tolist() == [True, False], "selection does not choose the cause alone")
    latents = pydine.DINE(base="gaussian").fit(x, y).transform(x, y)
    check(len(latents) >= 2, "DINE.transform gives no latents")


def command(folder: Path, *words: str) -> str:
    """Run `pydine` beside this interpreter; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pydine", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    check(done.returncode == 0, f"pydine {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def no_commands(folder: Path) -> None:
    """Without the extra, the command line says what to install, and ends with 1."""
    command = [sys.executable, "-m", "pydine"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    told = done.stderr.startswith("pydine: the command line needs ") and 'pip install "pydine[cli]"' in done.stderr
    check(done.returncode == 1 and told, f"without the extra cli, pydine ends with {done.returncode}: {done.stderr}")


def commands(folder: Path) -> None:
    """Ask on the command line, of every kind of file."""
    import polars as pl

    np.savez(folder / "data.npz", **COLUMNS)
    frame = pl.DataFrame(COLUMNS)
    frame.write_csv(folder / "data.csv")
    frame.write_parquet(folder / "data.parquet")
    frame.write_ipc(folder / "data.arrow")
    files = ["data.npz", "data.csv", "data.parquet", "data.arrow"]
    answers = {json.loads(command(folder, "mi", file, *COMMANDS["mi"]))["information"] for file in files}
    check(len(answers) == 1, f"the same data in {', '.join(files)} give {answers}")
    for name, words in COMMANDS.items():
        command(folder, name, files[-1], *words)
        command(folder, name, "--help")
    check(json.loads(command(folder, "doctor", "--json"))["pydine"] == pydine.__version__, "doctor names no version")
    command(folder, "doctor")


if __name__ == "__main__":
    python()
    with tempfile.TemporaryDirectory() as place:
        (commands if find_spec("typer") else no_commands)(Path(place))
    sys.stdout.write(f"pydine {pydine.__version__} works: Python {sys.version.split()[0]}, NumPy {np.__version__}\n")

"""A file to ask the command line about, and the command as a process of its own."""

import subprocess
import sys

import numpy as np
import polars as pl

ROWS = 150


def make_frame():
    rng = np.random.default_rng(0)
    cause = rng.standard_normal(ROWS)
    return pl.DataFrame(
        {
            "cause": cause,
            "proxy": cause + 0.6 * rng.standard_normal(ROWS),
            "noise": rng.standard_normal(ROWS),
            "outcome": cause + 0.7 * rng.standard_normal(ROWS),
            "name": [f"no. {i}" for i in range(ROWS)],
            "one": [1] * ROWS,
        }
    )


def process(folder, *arguments, code=0, **options):
    """Run the real command in a process of its own."""
    command = [sys.executable, "-m", "pydine", *arguments]
    options = {"capture_output": True, "text": True, "cwd": folder, **options}
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in str(done.stderr)
    return done

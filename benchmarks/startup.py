"""How long the command `pydine mi` takes on a small file once the kernels are compiled: from the prompt to the answer.

python benchmarks/startup.py    writes results/startup.md
"""

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from common import RESULTS, Bar, bar_table, provenance, report
from harness.measure import in_turn

OPTIONS = ("-x", "bmi", "-y", "target", "-z", "age", "-z", "sex")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--output", type=Path, default=RESULTS)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "diabetes.csv"
        load_diabetes(as_frame=True, scaled=False).frame.to_csv(path, index=False)
        command = [sys.executable, "-m", "pydine", "mi", str(path), *OPTIONS]
        # The first run, which is not timed, compiles, or warms up the disk.
        run = partial(subprocess.run, command, capture_output=True, check=True)
        seconds = in_turn({"pydine mi": lambda _: run}, chosen.runs)["pydine mi"]
    low, middle, high = np.quantile(seconds, [0.0, 0.5, 1.0])
    report(
        chosen.output / "startup.md",
        "# The start of a command",
        f"`pydine mi diabetes.csv {' '.join(OPTIONS)}` (442 rows), {chosen.runs} runs: {low:.2f} to {high:.2f} s.",
        bar_table([Bar("median seconds", float(middle), high=1.5)]),
        provenance(),
    )


if __name__ == "__main__":
    main()

"""How long people wait at first: for the first answer on a machine, which compiles, and for a command once it has.

python benchmarks/startup.py --before FOLDER    writes results/startup.md, beside a clone of another version
"""

import argparse
import os
import resource
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

QUESTION = "import numpy as np, pydine; r = np.random.default_rng(0); x, y, z = r.normal(size=(3, 1000)); "
FIRST = {
    "first mutual_information(x, y)": (["-c", QUESTION + "pydine.mutual_information(x, y + x)"], 6.0),
    "first mutual_information(x, y, z)": (["-c", QUESTION + "pydine.mutual_information(x, y + x, z)"], 8.0),
    "doctor --compile": (["-m", "pydine", "doctor", "--compile"], None),
    "demo, installed": (["-m", "pydine.demo"], None),
}


def first(arguments: list[str], source: Path) -> tuple[float, float]:
    """CPU seconds of a process that finds nothing compiled, and of the same again."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(source)}
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return taken[0], taken[1]


def first_times(before: Path | None) -> tuple[list[Bar], str]:
    """Bars of first calls, and a table beside another version if there is one."""
    versions = {"now": Path(__file__).parents[1] / "src"} | ({} if before is None else {"before": before / "src"})
    bars, lines = [], ["| CPU seconds | " + " | ".join(f"{v}: first, again" for v in versions) + " |"]
    lines.append("|---" * (1 + len(versions)) + "|")
    for name, (arguments, limit) in FIRST.items():
        found = {version: first(arguments, source) for version, source in versions.items()}
        if limit is not None:
            bars.append(Bar(f"{name}, CPU seconds", found["now"][0], high=limit))
        lines.append(f"| {name} | " + " | ".join(f"{a:.1f}, {b:.1f}" for a, b in found.values()) + " |")
    return bars, "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--before", type=Path, help="a clone of another version")
    options.add_argument("--output", type=Path, default=RESULTS)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "diabetes.csv"
        load_diabetes(as_frame=True, scaled=False).frame.to_csv(path, index=False)
        command = [sys.executable, "-m", "pydine", "mi", str(path), *OPTIONS]
        # The first run, which is not timed, compiles, or warms up the disk.
        run = partial(subprocess.run, command, capture_output=True, check=True)
        seconds = in_turn({"pydine mi": lambda _: run}, chosen.runs)["pydine mi"]
    bars, table = first_times(chosen.before)
    low, middle, high = np.quantile(seconds, [0.0, 0.5, 1.0])
    report(
        chosen.output / "startup.md",
        "# The start of a command",
        f"`pydine mi diabetes.csv {' '.join(OPTIONS)}` (442 rows), {chosen.runs} runs: {low:.2f} to {high:.2f} s.",
        bar_table([Bar("median seconds", float(middle), high=1.5), *bars]),
        table,
        provenance(),
    )


if __name__ == "__main__":
    main()

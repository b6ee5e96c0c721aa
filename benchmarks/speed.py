"""Speed and memory on one core.

python benchmarks/speed.py [--repeats 7] [--large-repeats 3] [--skip-million]

Contenders are run in turn on the same dataset, another one in every round, so that what else the machine does
hits all alike; figures are medians over the rounds. Every contender has run once before the clock starts.
"""

import common

# isort: split

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from pydine.experiments.conditional import sample
from pydine.experiments.datasets import Dataset, paper_cmi, paper_mi

KCI_RATIO, KCI_AIM = 10.0, 30.0
GROWTH, GROWTH_SIZES = 11.0, (10_000, 100_000)
KSG_RATIO = 60.0
IMPORT_SECONDS, IMPORT_RUNS = 0.8, 5
MILLION, MILLION_MIB = 1_000_000, 2048.0
WARM_SEED = 1000  # the dataset of the first call, which is not timed

NOTES = """
Warm; contenders in turn on the same data; medians over the rounds. `default`: `pydine.mutual_information`,
`paper`: `pydine.DINE.paper()`, both with n_jobs = 1. `kci`: causal-learn's test. `ksg`: nearest neighbours
on SciPy's and scikit-learn's trees.
""".strip()

Draw = Callable[[int], Dataset]
Contender = Callable[[Dataset], object]


def nonlinear(n: int, seed: int) -> Dataset:
    return sample("sine-index", n, 5, 0.5, seed)


def nearly_linear(n: int, seed: int) -> Dataset:
    return paper_cmi(n, 1, 0.5, seed, dz=5)


KINDS = {"non-linear z": nonlinear, "the paper's z": nearly_linear}


def kci(data: Dataset) -> None:
    """causal-learn's kernel test as its users call it; a new object each time, so that nothing is cached."""
    from causallearn.utils.cit import CIT

    columns = np.hstack([data.x, data.y, data.z])
    CIT(columns, "kci")(0, 1, list(range(2, columns.shape[1])))


CONTENDERS: dict[str, Contender] = {**common.METHODS, "kci": kci}


def race(draw: Draw, contenders: dict[str, Contender], repeats: int) -> dict[str, float]:
    """Median seconds of each contender on the datasets 0, 1, .., in turn."""
    for run in contenders.values():
        run(draw(WARM_SEED))
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for seed in range(repeats):
        data = draw(seed)
        for name, run in contenders.items():
            start = time.perf_counter()
            run(data)
            seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}


def growth(draw: Callable[[int, int], Dataset], repeats: int) -> tuple[float, float]:
    """Median seconds of the default at the two sizes, taken in turn."""
    seconds: dict[int, list[float]] = {n: [] for n in GROWTH_SIZES}
    CONTENDERS["default"](draw(GROWTH_SIZES[0], WARM_SEED))
    for seed in range(repeats):
        for n in GROWTH_SIZES:
            data = draw(n, seed)
            start = time.perf_counter()
            CONTENDERS["default"](data)
            seconds[n].append(time.perf_counter() - start)
    small, large = (median(seconds[n]) for n in GROWTH_SIZES)
    return small, large


def python(code: str, *arguments: str, **environment: str) -> list[float]:
    """Run code in a new interpreter and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


IMPORT = "import time; start = time.perf_counter(); import pydine; print(time.perf_counter() - start)"

FIRST_CALL = """
import sys, time, numpy as np, pydine
data = np.load(sys.argv[1])
start = time.perf_counter()
pydine.mutual_information(data["x"], data["y"], data["z"], random_state=0, n_jobs=1)
print(time.perf_counter() - start)
"""

# VmHWM and not getrusage: on Linux the latter's maximum also counts the parent that started the process.
PEAK = """
import re, sys, time, numpy as np, pydine
x, y, z = (np.load(f"{sys.argv[1]}/{name}.npy") for name in "xyz")
start = time.perf_counter()
pydine.mutual_information(x, y, z, random_state=0, n_jobs=1)
seconds = time.perf_counter() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024
print(seconds, peak, peak - (x.nbytes + y.nbytes + z.nbytes) / 2**20)
"""


def import_seconds() -> tuple[float, float]:
    """Best and median time of ``import pydine`` in a new interpreter, after one that may have compiled."""
    python(IMPORT)
    runs = [python(IMPORT)[0] for _ in range(IMPORT_RUNS)]
    return min(runs), median(runs)


def first_call_seconds() -> tuple[float, float]:
    """The first call of a process, with nothing compiled yet and with the machine code on disk."""
    data = nonlinear(1000, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data.npz")
        np.savez(path, x=data.x, y=data.y, z=data.z)
        compiling, cached = (python(FIRST_CALL, path, NUMBA_CACHE_DIR=folder)[0] for _ in range(2))
    return compiling, cached


def million() -> tuple[float, float, float]:
    """Seconds, peak MiB of the process, and peak MiB less the data, at a million rows with dz = 5."""
    data = nonlinear(MILLION, 0)
    with tempfile.TemporaryDirectory() as folder:
        for name in "xyz":
            np.save(Path(folder) / f"{name}.npy", getattr(data, name))
        seconds, peak, above = python(PEAK, folder)
    return seconds, peak, above


# --- the sections of the report: the bars that they decide, and a table ---

Section = tuple[list[common.Bar], str]


def small_samples(repeats: int) -> Section:
    bars, lines = [], []

    def compare(question: str, draw: Draw, names: list[str]) -> dict[str, float]:
        seconds = race(draw, {name: CONTENDERS[name] for name in names}, repeats)
        for name, value in seconds.items():
            times = value / seconds["default"]
            lines.append({"question": question, "method": name, "ms": f"{1e3 * value:.1f}", "/ default": times})
        return seconds

    for kind, draw in KINDS.items():
        question = f"I(X;Y given Z), d = 1, dz = 5, {kind}"
        seconds = compare(question, partial(draw, 1000), ["default", "paper", "ksg", "kci"])
        name = f"6. KCI / default, {kind} (aim: {KCI_AIM:g})"
        bars.append(common.Bar(name, seconds["kci"] / seconds["default"], low=KCI_RATIO))
    seconds = compare("I(X;Y), d = 20", partial(paper_mi, 1000, 20, 0.5), ["default", "paper", "ksg"])
    name = "6. I(X;Y), d = 20: default / KSG"
    bars.append(common.Bar(name, seconds["default"] / seconds["ksg"], high=KSG_RATIO))
    return bars, common.markdown(lines)


def large_samples(repeats: int) -> Section:
    bars, lines = [], []
    for kind, draw in KINDS.items():
        small, large = growth(draw, repeats)
        lines.append({"z": kind, "n = 10,000: s": small, "n = 100,000: s": large, "ratio": large / small})
        bars.append(common.Bar(f"6. t(100,000) / t(10,000), {kind}", large / small, high=GROWTH))
    return bars, common.markdown(lines)


def start() -> Section:
    best, typical = import_seconds()
    compiling, cached = first_call_seconds()
    lines = [
        {"what": f"import pydine, best of {IMPORT_RUNS}", "s": best},
        {"what": f"import pydine, median of {IMPORT_RUNS}", "s": typical},
        {"what": "first call on a machine (compiles)", "s": compiling},
        {"what": "first call of a process, machine code on disk", "s": cached},
    ]
    return [common.Bar("6. import pydine: s, median", typical, high=IMPORT_SECONDS)], common.markdown(lines)


def memory() -> Section:
    seconds, peak, above = million()
    text = f"{seconds:.1f} s; peak of the whole process {peak:.0f} MiB, that is {above:.0f} MiB above the data."
    return [common.Bar("n = 1,000,000: MiB above the data", above, high=MILLION_MIB)], text


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, help="rounds at n = 1000 (default: %(default)s)")
    parser.add_argument("--large-repeats", type=int, default=3, help="rounds at large n (default: %(default)s)")
    parser.add_argument("--skip-million", action="store_true", help="leave out a million rows")
    parser.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    sections = {
        "n = 1000": small_samples(options.repeats),
        "Growth, I(X;Y given Z), d = 1, dz = 5": large_samples(options.large_repeats),
        "Start": start(),
    }
    if not options.skip_million:
        sections["A million rows, d = 1, dz = 5, non-linear z"] = memory()
    common.report(
        options.output / "speed.md",
        "# Speed on one core",
        NOTES,
        "## Bars",
        common.bar_table([bar for bars, _ in sections.values() for bar in bars]),
        *(text for title, (_, table) in sections.items() for text in (f"## {title}", table)),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()

"""All pairs of a table: time and memory, beside scikit-learn's estimate and causal-learn's test on the same data.

python benchmarks/pairwise.py    writes results/pairwise.md
"""

import argparse
import os
from functools import partial
from itertools import combinations
from pathlib import Path

# The other benchmarks set one thread when `common` is imported; here NumPy has been loaded with two by then.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2"))

# isort: split

import numpy as np
import scipy.linalg  # noqa: F401 its BLAS takes the number of threads too
from sklearn.feature_selection import mutual_info_regression

# isort: split

import pydine
from common import RESULTS, Bar, bar_table, markdown, provenance, report
from pydine.experiments.measure import measured

KERNEL_PAIRS, REGRESSION_COLUMNS = 6, 5


def table(p: int, n: int, seed: int) -> np.ndarray:
    """Columns that share a few factors, bent by a monotone function each."""
    rng = np.random.default_rng(seed)
    columns = 0.3 * rng.standard_normal((n, 10)) @ rng.standard_normal((10, p)) + rng.standard_normal((n, p))
    return np.sinh(columns)


def confounded(p: int, n: int, dz: int, seed: int) -> tuple[dict[str, np.ndarray], list[str]]:
    """The same, and every column follows z by a function of its own; with the names of z's columns."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, dz))
    directions = rng.standard_normal((2, dz, p)) / np.sqrt(dz)
    columns = table(p, n, seed + 1) + 2.0 * np.sin(1.5 * z @ directions[0]) + z @ directions[1]
    named = {f"c{i}": columns[:, i] for i in range(p)} | {f"z{i}": z[:, i] for i in range(dz)}
    return named, [f"z{i}" for i in range(dz)]


def kernel_seconds(data: dict[str, np.ndarray], given: list[str]) -> float:
    """Seconds of causal-learn's KCI for a pair given z, over a few pairs."""
    from causallearn.utils.cit import CIT

    names = list(data)
    test = CIT(np.column_stack(list(data.values())), "kci")
    z = [names.index(name) for name in given]
    with measured() as cost:
        for i, j in list(combinations(range(len(names) - len(z)), 2))[:KERNEL_PAIRS]:
            test(i, j, z)
    return cost.seconds / KERNEL_PAIRS


def regression_seconds(columns: np.ndarray) -> float:
    """Seconds of scikit-learn's estimate for all pairs: each column as the target of those before it.

    It is run for a few targets in the middle, which have half of the columns before them, and scaled.
    """
    p = columns.shape[1]
    with measured() as cost:
        for target in range(p // 2, p // 2 + REGRESSION_COLUMNS):
            mutual_info_regression(columns[:, : p // 2], columns[:, target], random_state=0)
    return cost.seconds / (REGRESSION_COLUMNS * (p // 2)) * p * (p - 1) / 2


def timed(rows, name, data, given=None):
    """All pairs of a table, and what they cost, which is also added to the rows."""
    with measured() as cost:
        found = pydine.pairwise_information(data, given, n_jobs=2)
    rows.append(
        {
            "table": name,
            "pairs": f"{len(found.pairs[0]):,}",
            "units": found.n_units,
            "pairs fitted one by one": found.n_general,
            "seconds": cost.seconds,
            "peak MiB": round(cost.peak_mib),
        }
    )
    return cost, found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--output", type=Path, default=RESULTS)
    output = options.parse_args().output
    pydine.pairwise_information(table(20, 300, 9))  # compile and import what is needed
    pydine.pairwise_information(*confounded(3, 300, 1, 9))
    rows, bars = [], []
    run = partial(timed, rows)
    wide, _ = run("p = 1000, n = 1000", table(1000, 1000, 0))
    bars += [
        Bar("p = 1000, n = 1000: seconds", wide.seconds, high=5.0),
        Bar("p = 1000, n = 1000: peak memory, GiB", wide.peak_mib / 1024, high=1.0),
    ]
    given, found = run("p = 200 given 5, n = 1000", *confounded(200, 1000, 5, 1))
    bars += [
        Bar("p = 200 given 5: seconds", given.seconds, high=60.0),
        Bar("p = 200 given 5: units", found.n_units, 200, 200),
    ]
    columns = table(100, 1000, 2)
    small, _ = run("p = 100, n = 1000", columns)
    peer = regression_seconds(columns)
    bars.append(Bar("p = 100: mutual_info_regression / pydine, seconds of all pairs", peer / small.seconds, low=100.0))
    data, names = confounded(50, 1000, 5, 3)
    fifty, found = run("p = 50 given 5, n = 1000", data, names)
    kernel = kernel_seconds(data, names)
    ratio = kernel / (fifty.seconds / len(found.pairs[0]))
    bars.append(Bar("p = 50 given 5: KCI / pydine, seconds of a pair", ratio, low=100.0))
    peers = [
        {"peer": "mutual_info_regression, 4,950 pairs, seconds (scaled up)", "measured": peer},
        {"peer": "KCI given 5 columns, one pair, seconds", "measured": kernel},
    ]
    report(
        output / "pairwise.md",
        "# All pairs of a table",
        '`base="auto"`, tests included, two threads; `python benchmarks/pairwise.py`. Peers on the same data in the '
        "same run, with two threads for BLAS as well.",
        bar_table(bars),
        markdown(rows),
        markdown(peers),
        provenance().replace("one thread a process", "two threads"),
    )


if __name__ == "__main__":
    main()

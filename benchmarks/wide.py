"""All pairs of 10,000 columns with p-values: time and memory, beside scikit-learn extrapolated from 1000 pairs."""

import argparse
from pathlib import Path

from common import RESULTS, Bar, bar_table, markdown, provenance, report

# isort: split

import numpy as np

import pydine
from pydine.experiments.measure import measured

MINUTES, GIB, FALSE = 10, 2.0, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--given", type=int, default=0, help="how many columns to condition on")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    data = rng.standard_normal((options.rows, options.columns))
    data[:, 1::2] += 0.5 * data[:, ::2]  # every second column follows the one before it
    pydine.wide_information(data[:, :20])  # compiled
    given = list(range(options.given)) or None
    with measured() as cost:
        found = pydine.wide_information(data, given, n_jobs=options.jobs)
    used = cost.processor_seconds
    true = int(((found.second - found.first == 1) & (found.first % 2 == options.given % 2)).sum())
    from sklearn.feature_selection import mutual_info_regression

    with measured() as theirs:
        mutual_info_regression(data[:, 1:1001], data[:, 0])
    each = theirs.processor_seconds / 1000
    name = f"{options.columns:,} columns x {options.rows:,} rows"
    lines = [
        {"": "pydine", "CPU, h": used / 3600, "ms a pair": 1e3 * used / found.n_pairs, "p-values": "yes"},
        {"": "scikit-learn", "CPU, h": each * found.n_pairs / 3600, "ms a pair": 1e3 * each, "p-values": "no"},
    ]
    bars = [
        Bar(f"4. minutes of CPU / {options.jobs} cores", used / 60 / options.jobs, high=MINUTES),
        Bar("4. peak in GiB, the interpreter and the data included", cost.peak_mib / 1024, high=GIB),
        Bar("4. scikit-learn / pydine, CPU", each * found.n_pairs / used, low=1.0),
        Bar(f"4. share of false pairs among those found at {found.alpha:g}", 1.0 - true / found.n_found, high=FALSE),
        Bar("4. share of the true pairs that are found", true / (options.columns // 2), low=0.99),
    ]
    report(
        options.output / "wide.md",
        f"# All pairs of {name}\n\n{found.n_pairs:,} pairs in {cost.seconds / 60:.1f} minutes on the clock, with "
        f"p-values adjusted over all of them: {found.n_found:,} are found at {found.alpha:g}, {true:,} of them true, "
        f"of {options.columns // 2:,} that are.\n"
        "scikit-learn's `mutual_info_regression` is extrapolated from 1000 pairs.",
        "## Bars\n\n" + bar_table(bars),
        "## Time\n\n" + markdown(lines),
        provenance(),
    )


if __name__ == "__main__":
    main()

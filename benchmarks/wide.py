"""All pairs of 10,000 columns with p-values: time and memory, beside scikit-learn extrapolated from 1000 pairs."""

import argparse
import resource
import time

import numpy as np

import pydine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--given", type=int, default=0, help="how many columns to condition on")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    data = rng.standard_normal((options.rows, options.columns))
    data[:, 1::2] += 0.5 * data[:, ::2]  # every second column follows the one before it
    pydine.wide_information(data[:, :20])  # compiled
    start, cpu = time.perf_counter(), time.process_time()
    given = list(range(options.given)) or None
    found = pydine.wide_information(data, given, n_jobs=options.jobs)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"pydine: {found.n_pairs:,} pairs in {seconds:.0f} s ({used:.0f} s of CPU), peak {peak:.2f} GiB; ")
    print(f"        {found.n_found:,} found, {(found.second - found.first == 1).sum():,} of them true")
    from sklearn.feature_selection import mutual_info_regression

    start = time.process_time()
    mutual_info_regression(data[:, 1:1001], data[:, 0])
    each = (time.process_time() - start) / 1000
    print(f"scikit-learn: {1e3 * each:.2f} ms a pair, {each * found.n_pairs / 3600:.1f} h for all, without p-values")


if __name__ == "__main__":
    main()

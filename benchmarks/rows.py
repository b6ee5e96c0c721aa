"""A table beyond memory: I(x; y | z) and all pairs of 6 columns, streamed, with time and memory above the interpreter.

python benchmarks/rows.py --rows 1e8                  makes the file first, in parts of a million rows
python benchmarks/rows.py --rows 1e6 --sample 250000  also in memory, and how far apart the answers are
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pydine
from pydine.inputs import streams

PART = 1_000_000
GIVEN = ["z0", "z1", "z2"]


def part(i: int, rows: int) -> pa.Table:
    rng = np.random.default_rng([1, i])
    z, u = rng.standard_normal((3, rows)), rng.standard_normal(rows)
    x = np.sin(z[0]) + z[1] + rng.standard_normal(rows)
    y = 0.3 * x + 0.5 * z[2] ** 2 + rng.standard_normal(rows)
    return pa.table({"x": x, "y": y, **dict(zip(GIVEN, z, strict=True)), "u": u})


def make(path: Path, rows: int) -> None:
    with pq.ParquetWriter(path, part(0, 1).schema) as writer:
        for i, start in enumerate(range(0, rows, PART)):
            writer.write_table(part(i, min(PART, rows - start)))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--sample", type=int, default=streams.SAMPLE_ROWS, help="rows that flows are learned from")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    rows = int(options.rows)
    path = options.folder / f"pydine-rows-{rows}.parquet"
    if not path.exists():
        make(path, rows)
    pydine.mutual_information(*np.random.default_rng(0).standard_normal((3, 300)))  # compiled
    streams.SAMPLE_ROWS, before = options.sample, peak()
    start, wall = time.process_time(), time.perf_counter()
    found = pydine.mutual_information("x", "y", GIVEN, data=path)
    print(found, f"\n  {time.process_time() - start:.0f} s of CPU, {time.perf_counter() - wall:.0f} s", flush=True)
    start = time.process_time()
    pairs = pydine.pairwise_information(path, GIVEN)
    print(pairs, f"\n  {time.process_time() - start:.0f} s of CPU", flush=True)
    print(f"{rows:,} rows: {peak() - before:.2f} GiB above the interpreter")
    if rows <= 2 * PART:
        table = pq.read_table(path)
        here, every = pydine.mutual_information("x", "y", GIVEN, data=table), pydine.pairwise_information(table, GIVEN)
        far = np.nanmax(np.abs(pairs.values - every.values) / every.standard_errors)
        print(f"from memory: {(found.value - here.value) / here.standard_error:+.4f} standard errors; pairs {far:.4f}")


if __name__ == "__main__":
    main()

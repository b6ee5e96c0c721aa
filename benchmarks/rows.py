"""A table beyond memory: I(x; y | z) and all pairs of 6 columns, streamed, with time and memory above the interpreter.

python benchmarks/rows.py                             10,000,000 rows; the file is made first, in parts of a million
python benchmarks/rows.py --rows 1e8                  5 GB on disk, and about 6 microseconds of CPU a row and question
python benchmarks/rows.py --rows 1e6 --sample 250000  what another size of the sample would do

A file of a million rows is also read into memory, and both answers are compared. So few rows are all in the sample, so
these must agree; the sums of a second pass over the same rows are compared as well.
"""

import argparse
import math
import tempfile
from pathlib import Path

from common import RESULTS, Bar, bar_table, markdown, provenance, report

# isort: split

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pydine
from pydine.answers.fitting import fit
from pydine.answers.settings import Settings
from pydine.experiments.measure import measured, peak_memory
from pydine.inputs import streams
from pydine.inputs.reading import read_question
from pydine.questions.streamed.refining import refined, sample_of

PART = 1_000_000
GIVEN = ["z0", "z1", "z2"]
TRUTH = 0.5 * math.log(1.09)  # of x and y given z
MOST_GIB, MOST_ERRORS = 1.5, 0.01


class Counted:
    """A stream that counts its passes."""

    def __init__(self, path: Path) -> None:
        self.stream, self.passes = streams.stream_of(path), 0
        self.names, self.labels = self.stream.names, self.stream.labels

    def batches(self, columns):
        self.passes += 1
        return self.stream.batches(columns)


def part(i: int, rows: int) -> pa.Table:
    rng = np.random.default_rng([1, i])
    z, u = rng.standard_normal((3, rows)), rng.standard_normal(rows)
    x = np.sin(z[0]) + z[1] + rng.standard_normal(rows)
    y = 0.3 * x + 0.5 * z[2] ** 2 + rng.standard_normal(rows)
    return pa.table({"x": x, "y": y, **dict(zip(GIVEN, z, strict=True)), "u": u})


def make(path: Path, rows: int) -> None:
    """Write the file atomically."""
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, part(0, 1).schema) as writer:
        for i, start in enumerate(range(0, rows, PART)):
            writer.write_table(part(i, min(PART, rows - start)))
    unfinished.replace(path)


def asked(name: str, path: Path, jobs: int, before: float) -> dict[str, object]:
    """Ask a question of a file, and say what it cost, with the memory beyond what the process had before."""
    stream = Counted(path)
    data = streams.Selection(stream, stream.names)
    with measured() as cost:
        if name == "pairs":
            found = pydine.pairwise_information(data, GIVEN, n_jobs=jobs)
            value, error = found.values[0, 1], found.standard_errors[0, 1]
        else:
            found = pydine.mutual_information("x", "y", GIVEN, data=data, n_jobs=jobs)
            value, error = found.value, found.standard_error
    more = (cost.peak_mib - before) / 1024
    print(found, f"\n{cost.processor_seconds:.0f} s of CPU, {more:.2f} GiB more", flush=True)
    return {
        "question": "I(x; y given z)" if name != "pairs" else "all pairs given z: x and y",
        "nats": f"{value:.5f}",
        "standard error": f"{error:.5f}",
        "passes": stream.passes,
        "CPU, s": f"{cost.processor_seconds:.0f}",
        "s": f"{cost.seconds:.0f}",
        "GiB more": f"{more:.2f}",
    }


def apart(path: Path) -> dict[str, float]:
    """Differences between the answers from a file and from memory, in standard errors."""
    table = pq.read_table(path)
    pairs = [pydine.pairwise_information(data, GIVEN) for data in (path, table)]
    alone = [pydine.mutual_information("x", "y", GIVEN, data=data) for data in (path, table)]
    sample = sample_of(path, ("x", "y", *GIVEN), "raise")
    answer = fit(read_question("x", "y", GIVEN, data=sample.columns), Settings(base="gaussian").seeded())
    again = refined(answer, sample)[0].information
    return {
        "a second pass": abs(again.value - answer.information.value) / answer.information.standard_error,
        "I(x; y given z)": abs(alone[0].value - alone[1].value) / alone[1].standard_error,
        "all pairs": float(np.nanmax(np.abs(pairs[0].values - pairs[1].values) / pairs[1].standard_errors)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--sample", type=int, default=streams.SAMPLE_ROWS, help="rows that flows are learned from")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where files are made")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    options = parser.parse_args()
    rows, streams.SAMPLE_ROWS = int(options.rows), options.sample
    paths = [options.folder / f"pydine-rows-{count}.parquet" for count in (rows, PART)]
    for path, count in zip(paths, (rows, PART), strict=True):
        if not path.exists():
            make(path, count)
    pydine.mutual_information(*np.random.default_rng(0).standard_normal((3, 300)))  # compiled
    pydine.pairwise_information(np.random.default_rng(0).standard_normal((300, 3)))
    before = peak_memory()
    lines = [asked(name, paths[0], options.jobs, before) for name in ("one", "pairs")]
    above, passes = max(float(line["GiB more"]) for line in lines), max(int(line["passes"]) for line in lines)
    far = apart(paths[1])
    error = abs(float(lines[0]["nats"]) - TRUTH) / float(lines[0]["standard error"])
    bars = [
        Bar(f"3. {rows:,} rows: GiB above the interpreter", above, high=MOST_GIB),
        Bar("3. passes over the file, most of a question", passes, high=2),
        *(Bar(f"3. {PART:,} rows, {name}: standard errors from memory", far[name], high=MOST_ERRORS) for name in far),
    ]
    report(
        options.output / f"rows_{rows:.0e}.md".replace("+", ""),
        f"# {rows:,} rows x 6 columns in Parquet\n\n`benchmarks/rows.py --rows {rows:.0e}`, with a sample of at most "
        f"{options.sample:,} rows. The truth is {TRUTH:.5f} nats, {error:.1f} standard errors from the answer.",
        "## Bars\n\n" + bar_table(bars),
        "## Questions\n\n" + markdown(lines),
        provenance(),
    )
    if not options.keep:
        for path in paths:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()

"""A cost model: seconds and bytes of units, tiles of pairs and streamed rows, measured here and predicted elsewhere.

    python benchmarks/cost_model.py                                   measure, check, and predict the default
    python benchmarks/cost_model.py --columns 1e5 --rows 1e9 --workers 100

Times are CPU times, so that other work on the machine does not count.
"""

import argparse
import heapq
import pickle
from dataclasses import dataclass
from pathlib import Path

from common import RESULTS, Bar, bar_table, provenance, report

# isort: split

import joblib
import numpy as np

import pydine
from pydine.experiments.measure import measured
from pydine.inputs import streams
from pydine.inputs.streams import SAMPLE_ROWS
from pydine.latents.flows import Latents
from pydine.nulls.tiles import Tiles
from pydine.units.ladder import LadderSettings
from pydine.work.execution import _groups, ensure_compiled
from pydine.work.parcels import Job
from pydine.work.tasks import A_COLUMN, A_ROW, A_UNIT, UnitTask, fit_task
from pydine.work.threads import one_thread

SIZES = [(500, 1), (500, 5), (2000, 1), (2000, 3), (2000, 10), (10_000, 3), (30_000, 5)]
EACH = 6  # units of every size
WITHIN = 0.3  # largest relative error of a prediction
BANDWIDTH = 1e8  # bytes a second between driver and workers
TRIP = 5e-3  # seconds of latency of a group of tasks


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes; a unit's seconds are a + b rows (1 + c columns)."""

    unit: float
    row: float
    column: float
    result_bytes: float
    task_bytes: float
    pair_row: float
    pair: float
    wide_column: float
    streamed: float

    def of_pairs(self, p: float, n: float) -> float:
        return p * self.wide_column * n / 500 + p * (p - 1) / 2 * (self.pair + n * self.pair_row)

    def of_unit(self, n: float, dz: float) -> float:
        rows = min(n, LadderSettings.max_rows)
        return self.unit + self.row * rows * (1.0 + self.column * dz)


def task(n: int, dz: int, i: int) -> UnitTask:
    rng = np.random.default_rng([n, dz, i])
    z = rng.standard_normal((dz, n))
    target = np.sin((i % 3) * z[0]) + rng.standard_normal(n) * np.exp(0.3 * (i % 2) * z[-1])
    return UnitTask(target / target.std(), z, LadderSettings())


def timed(function, *arguments):
    with measured() as cost:
        result = function(*arguments)
    return cost.processor_seconds, result


SAID: list[str] = []


def say(text: str) -> None:
    """Print a line, and keep it for the report."""
    print(text, flush=True)
    SAID.append(text)


def measure() -> tuple[Costs, list[float]]:
    ensure_compiled()
    lines, seconds, sizes = [], {}, []
    for dz in {dz for _, dz in SIZES}:  # what is compiled, or read, the first time that it is used
        fit_task(task(1000, dz, EACH + 1))
    for n, dz in SIZES:
        found = [timed(fit_task, task(n, dz, i)) for i in range(EACH)]
        seconds[n, dz] = [t for t, _ in found]
        sizes += [len(pickle.dumps(fitted)) for _, fitted in found]
        lines.append((n, dz, np.mean(seconds[n, dz])))
    # a + b n (1 + c dz), by weighted least squares in relative error
    n, dz, t = np.array(lines).T
    design = np.column_stack([np.ones_like(n), n, n * dz]) / t[:, None]
    a, b, bc = np.linalg.lstsq(design, np.ones_like(t), rcond=None)[0]
    a, bc = max(a, 1e-4), max(bc, 0.0)
    say("seconds of a unit (CPU): rows, dz, measured, by the model")
    for (n_, dz_, t_), model in zip(lines, a + b * n + bc * n * dz, strict=True):
        say(f"  {n_:6d} {dz_:3d}  {t_:7.4f}  {model:7.4f}")
    some = [task(2000, 3, i) for i in range(40)]
    job = Job.of(fit_task, [some[i : i + 8] for i in range(0, 40, 8)])
    task_bytes = sum(len(group.content) for group in job.groups) / 40
    rng = np.random.default_rng(0)
    tile_seconds = []
    for rows in (500, 2000):
        columns = rng.standard_normal((1024, rows))
        tiles = Tiles.of(Latents((1, 1023, 0), columns, columns[:0], columns[:0], rows - 1.0))
        first, second = slice(0, 512), slice(512, 1024)
        with one_thread():
            tile_seconds.append(timed(tiles.test, first, second, tiles.correlations(first, second))[0] / 512**2)
    pair_row = max((tile_seconds[1] - tile_seconds[0]) / 1500, 1e-12)
    pair = tile_seconds[0] - 500 * pair_row
    pydine.wide_information(rng.standard_normal((500, 20)))
    whole = timed(lambda d: pydine.wide_information(d, n_jobs=1), rng.standard_normal((500, 600)))[0]
    column = max(whole - 600 * 599 / 2 * (pair + 500 * pair_row), 0.0) / 600
    costs = Costs(a, b, bc / b, float(np.mean(sizes)), task_bytes, pair_row, pair, column, streamed())
    spread = [t / np.mean(seconds[key]) for key in seconds for t in seconds[key]]
    return costs, spread


class Timed:
    """A stream that adds up the seconds of its passes, including what is done with the rows."""

    def __init__(self, path: Path) -> None:
        self.stream, self.seconds = streams.stream_of(path), 0.0
        self.names, self.labels = self.stream.names, self.stream.labels

    def batches(self, columns):
        with measured() as cost:
            yield from self.stream.batches(columns)
        self.seconds += cost.processor_seconds


def streamed(rows: int = 200_000, sample: int = 20_000) -> float:
    """Seconds of a row in both passes, for x and y given three columns."""
    import tempfile

    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    z = rng.standard_normal((3, rows))
    columns = {"x": np.sin(z[0]) + rng.standard_normal(rows), "y": z[1] + rng.standard_normal(rows)}
    names = [f"z{i}" for i in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({**columns, **dict(zip(names, z, strict=True))}), path)
        before, streams.SAMPLE_ROWS = streams.SAMPLE_ROWS, sample
        timed_stream = Timed(path)
        data = streams.Selection(timed_stream, timed_stream.names)
        pydine.mutual_information("x", "y", names, data=data, base="gaussian")
        streams.SAMPLE_ROWS = before
    return timed_stream.seconds / rows


def simulated(seconds: np.ndarray, workers: int, nbytes: float) -> float:
    """When the last worker finishes, if each of the executor's groups goes to the next free worker."""
    groups = _groups(seconds.tolist(), workers)
    free = [nbytes / BANDWIDTH] * workers  # columns first
    heapq.heapify(free)
    for group in groups:
        heapq.heappush(free, heapq.heappop(free) + TRIP + float(seconds[group].sum()))
    return max(free)


def by_formula(costs: Costs, units: int, n: float, dz: int, workers: int, nbytes: float) -> float:
    each = costs.of_unit(n, dz)
    share = _groups([each] * min(units, 100_000), workers)
    trips = len(share) / workers * TRIP
    return units * each / workers + trips + nbytes / BANDWIDTH


def check(costs: Costs, spread: list[float]) -> list[tuple[str, float]]:
    """Ratios of predicted to measured costs, for work that the model was not fitted to."""
    ratios = []
    say("\nunits of all pairs: CPU seconds measured, predicted, ratio")
    for p, n, dz in ((40, 1000, 2), (40, 4000, 4), (16, 10_000, 3)):
        tasks = [task(n, dz, i) for i in range(p)]
        used = timed(lambda every: [fit_task(one) for one in every], tasks)[0]
        told = p * costs.of_unit(n, dz)
        say(f"  {p} columns, {n} rows, dz = {dz}: {used:6.2f} {told:6.2f}  {told / used:.2f}")
        ratios.append((f"{p} units, n = {n}, dz = {dz}", told / used))
    rng = np.random.default_rng(1)
    data = rng.standard_normal((500, 1500))
    used = timed(lambda d: pydine.wide_information(d, n_jobs=1), data)[0]
    told = costs.of_pairs(1500, 500)
    say(f"  1500 columns, 500 rows, no z, tiles of pairs: {used:6.2f} {told:6.2f}  {told / used:.2f}")
    ratios.append(("pairs of 1500 columns, n = 500", told / used))
    rows = 600_000
    used, told = rows * streamed(rows), rows * costs.streamed
    say(f"  {rows} rows streamed, both passes: {used:6.2f} {told:6.2f}  {told / used:.2f}")
    ratios.append((f"{rows:,} rows streamed", told / used))
    say("\nthe schedule: seconds to the end, simulated with units as unequal as measured, by the formula, ratio")
    for units, n, dz, workers in ((1000, 2000, 3, 2), (10_000, 10_000, 3, 16), (100_000, 30_000, 5, 100)):
        each, nbytes = costs.of_unit(n, dz), (units / workers + dz) * 8.0 * min(n, LadderSettings.max_rows)
        seconds = each * np.random.default_rng(0).choice(spread, units)
        ends, told = simulated(seconds, workers, nbytes), by_formula(costs, units, n, dz, workers, nbytes)
        say(f"  {units} units of {n} rows, dz = {dz}, {workers} workers: {ends:9.1f} {told:9.1f}  {told / ends:.2f}")
        ratios.append((f"the schedule of {units:,} units on {workers} workers", told / ends))
    return ratios


def predict(costs: Costs, columns: int, rows: float, dz: int, workers: int) -> None:
    n = min(rows, SAMPLE_ROWS)
    kept = min(n, LadderSettings.max_rows)
    pairs = columns * (columns - 1) / 2
    nbytes = (columns / workers + dz) * 8.0 * kept
    units = by_formula(costs, columns, n, dz, workers, nbytes)
    tiles = costs.of_pairs(columns, n) / workers
    say(f"\n{columns:,} columns x {rows:,.0f} rows, dz = {dz}, on {workers} workers:")
    say(f"  units, from {kept:,.0f} rows each: {units / 3600:,.2f} h; {nbytes / 1e9:,.1f} GB to a worker,")
    out, back = columns * costs.task_bytes / 1e6, columns * costs.result_bytes / 1e6
    say(f"    {out:,.0f} MB of tasks out, {back:,.0f} MB back")
    say(f"  {pairs:,.0f} pairs, from a sample of {n:,.0f} rows: {tiles / 3600:,.2f} h")
    say(f"  one question streamed over all rows: {rows * costs.streamed / 3600:,.2f} h on one core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=float, default=1e5)
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--given", type=int, default=5)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    with joblib.parallel_config(backend="threading", n_jobs=1):
        costs, spread = measure()
        say(f"\n{costs}\nthe executor groups by {A_UNIT:g} + {A_ROW:g} rows (1 + {A_COLUMN:g} dz)")
        ratios = check(costs, spread)
    predict(costs, int(options.columns), options.rows, options.given, options.workers)
    bars = [Bar(f"5. predicted / measured: {name}", ratio, 1.0 - WITHIN, 1.0 + WITHIN) for name, ratio in ratios]
    report(
        options.output / "cost_model.md",
        "# What work costs\n\nMeasured CPU seconds, and what a model that is fitted to them predicts for other work.\n"
        "The schedule is simulated, with units as unequal as measured.",
        "## Bars\n\n" + bar_table(bars),
        "## Figures\n\n```\n" + "\n".join(SAID) + "\n```",
        provenance(),
    )


if __name__ == "__main__":
    main()

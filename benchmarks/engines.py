"""The same bits on every engine, what is sent to workers, and what a second worker gains: about two minutes.

All pairs of 60 columns given 3, n = 2000, and a search for a graph: on one core, in threads, in processes, on a Dask
cluster and on Ray with two workers each; with a worker of Dask killed halfway; with the driver killed and started
again; from 4 shards of which two overlap. Engines that are not installed are not run (make test-cluster installs them).

Times are CPU times: other work on the machine does not count.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from contextlib import contextmanager, suppress
from pathlib import Path

from common import RESULTS, Bar, bar_table, markdown, provenance, report

# isort: split

import joblib
import numpy as np

import pydine
from harness.measure import bytes_received
from pydine.experiments.measure import measured, processor_seconds
from pydine.questions.pairwise import fit_shard
from pydine.units.ladder import LadderSettings
from pydine.work import execution
from pydine.work.cache import UnitCache
from pydine.work.execution import run
from pydine.work.tasks import UnitTask, fit_task

P, N, GIVEN = 60, 2000, ["z0", "z1", "z2"]
SEARCHED = 6  # columns of the graph
LONG, LONG_ROWS = 24, 10_000  # units of more than 50 ms: how many, and of how many rows
OVERLAPPING = ("1/4", "2/4", "2/4", "1/2", "4/4")  # the third quarter is in 1/2, and so is the first


def columns(p: int = P, n: int = N) -> dict[str, np.ndarray]:
    """Columns that follow z, of which some pairs depend, two of them without correlation."""
    rng = np.random.default_rng(3)
    z, load = rng.normal(size=(3, n)), 0.7 * rng.normal(size=(p, 3))
    x = np.sin(load @ z) + rng.normal(size=(p, n))
    x[1] += 0.8 * x[0]
    x[3] = x[2] ** 2 + 0.5 * x[3]
    x[5] += np.abs(x[4])
    return {f"c{i:02}": v for i, v in enumerate(x)} | {f"z{i}": v for i, v in enumerate(z)}


def pairs(cache: UnitCache | str | None = None) -> str:
    """A hash of every number about all pairs."""
    found = pydine.pairwise_information(columns(), GIVEN, cache=cache)
    arrays = found.values, found.pvalues, found.standard_errors, *found.errors
    return hashlib.blake2b(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def search() -> str:
    """A hash of the graph that PC finds."""
    from pydine.integrations.causal_learn import pc

    before, execution.WORTH_A_TRIP = execution.WORTH_A_TRIP, 0.0  # so that these questions, which are short, are sent
    found = pc({name: column for name, column in columns(SEARCHED, N).items() if name[0] == "c"})
    execution.WORTH_A_TRIP = before
    return hashlib.blake2b(found.G.graph.tobytes()).hexdigest()


@contextmanager
def dask(n_workers: int = 2):
    from distributed import Client, LocalCluster

    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    cluster = LocalCluster(**options)
    client = Client(cluster)
    try:
        with joblib.parallel_config(backend="dask", client=client):
            yield client
    finally:
        for ending in (client, cluster):
            with suppress(TimeoutError, OSError):
                ending.close(timeout=60)


@contextmanager
def ray():
    import ray as engine
    from ray.util.joblib import register_ray

    register_ray()
    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        with joblib.parallel_config(backend="ray", n_jobs=2):
            yield
    finally:
        engine.shutdown()


def is_there(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


# --- bytes, and time --------------------------------------------------------------------------------------------------


def sent(client) -> tuple[float, str]:
    """Bytes sent to the worker that receives most, as a share of what is allowed; and the answer."""
    before = client.run(bytes_received)
    cache = UnitCache()
    found = pairs(cache)
    after = client.run(bytes_received)
    units = cache.info().entries
    allowed = 1.5 * (P + len(GIVEN)) * N * 8 + 2000 * units
    most = max(after[worker] - before[worker] for worker in after)
    print(f"{most:,} bytes to a worker; {allowed:,.0f} allowed, {units} units")
    return most / allowed, found


def long_tasks() -> list[UnitTask]:
    rng = np.random.default_rng(0)
    z = rng.standard_normal((3, LONG_ROWS))
    return [UnitTask(np.sin(z[i % 3]) + rng.standard_normal(LONG_ROWS), z, LadderSettings()) for i in range(LONG)]


def seconds(n_workers: int) -> tuple[float, float, float]:
    """For long units: CPU seconds of the busiest worker and of the driver, and seconds by the wall clock."""
    tasks = long_tasks()
    with dask(n_workers) as client:
        run(fit_task, tasks[: 2 * n_workers], None)  # compiled
        before = client.run(processor_seconds)
        with measured() as cost:
            run(fit_task, tasks, None)
        after = client.run(processor_seconds)
    return max(after[worker] - before[worker] for worker in after), cost.processor_seconds, cost.seconds


# --- loss -------------------------------------------------------------------------------------------------------------


class Killing:
    """A watcher of progress that kills a process after some units."""

    def __init__(self, process: int, after: int) -> None:
        self.process, self.left = process, after

    def expect(self, count: int) -> None:
        pass

    def advance(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(self.process, signal.SIGKILL)


def with_a_worker_killed(client) -> str:
    with execution.watched_by(Killing(next(iter(client.run(os.getpid).values())), P // 2)):
        return pairs()


def with_the_driver_killed(folder: Path) -> str:
    """Kill a process after half of the units, and ask again."""
    command = [sys.executable, __file__, "--killed", str(folder)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode != -signal.SIGKILL:
        raise RuntimeError(f"the driver was to be killed, but ended with {ended.returncode}: {ended.stderr[-500:]}")
    cache = UnitCache(folder)
    found = pairs(cache)
    print(f"after the driver was killed: {cache.info()}")
    return found


def killed(folder: str) -> None:
    with execution.watched_by(Killing(os.getpid(), P // 2)):
        pairs(folder)


def from_shards(folder: Path) -> str:
    for shard in OVERLAPPING:
        fit_shard(columns(), GIVEN, shard=shard, cache=folder)
    return pairs(str(folder))


# --- the table --------------------------------------------------------------------------------------------------------


def compared(folder: Path) -> tuple[list[dict[str, object]], list[Bar]]:
    lines: list[dict[str, object]] = []
    bars: list[Bar] = []
    here = {"pairs": pairs(), "search": search()}

    def line(engine: str, **found: str) -> None:
        same = {name: ("same bits" if value == here[name] else "DIFFERENT") for name, value in found.items()}
        lines.append({"engine": engine, "all pairs": same.get("pairs", ""), "search": same.get("search", "")})
        print(lines[-1], flush=True)

    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            line(f"{backend}, 2", pairs=pairs(), search=search())
    if is_there("distributed"):
        with dask() as client:
            share, found = sent(client)
            line("Dask, 2 processes", pairs=found, search=search())
            line("Dask, a worker killed halfway", pairs=with_a_worker_killed(client))
        bars.append(Bar("2. bytes to a worker, of 1.5 x the columns + 2 kB a unit", share, high=1.0))
        (one, driver_1, clock_1), (two, driver_2, clock_2) = seconds(1), seconds(2)
        print(f"{LONG} units of {1e3 * one / LONG:.0f} ms: {clock_1:.1f} s on one worker, {clock_2:.1f} s on two")
        bars.append(
            Bar("2. one worker / two, CPU of the busiest and the driver", (one + driver_1) / (two + driver_2), 1.6)
        )
    if is_there("ray"):
        with ray():
            line("Ray, 2 processes", pairs=pairs(), search=search())
    line("the driver killed, and started again", pairs=with_the_driver_killed(folder / "driver"))
    line("4 shards that overlap", pairs=from_shards(folder / "shards"))
    same = sum(entry == "DIFFERENT" for row in lines for entry in row.values())
    return lines, [Bar(f"1. answers of {len(lines)} ways that differ from one core's", same, high=0), *bars]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--killed", help="used by this script itself: be killed halfway, with a cache here")
    options = parser.parse_args()
    if options.killed:
        killed(options.killed)
        return
    with tempfile.TemporaryDirectory() as folder:
        lines, bars = compared(Path(folder))
    report(
        options.output / "engines.md",
        f"# Engines\n\nAll pairs of {P} columns given 3, n = {N}, and a PC search over {SEARCHED} columns, compared "
        f"with one core to the last bit. Bytes are those of the kernel's sockets; {LONG} units of {LONG_ROWS:,} rows.",
        "## Bars\n\n" + bar_table(bars),
        "## Answers\n\n" + markdown(lines),
        provenance(),
    )


if __name__ == "__main__":
    main()

"""A Dask cluster of two processes: the same bits, few bytes, and nothing lost when a worker or the driver is killed.

The tests that are marked `cluster` are those of `make test-cluster`, and `make test` runs the others.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import joblib
import numpy as np
import pytest

import pydine
from cluster_data import GIVEN, answer, columns
from harness.measure import bytes_received
from pydine.work import execution

distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the engine's own

P, N = 60, 2000


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    cluster = distributed.LocalCluster(**options)
    client = distributed.Client(cluster)
    yield client
    # A busy machine may need longer than Dask waits to end workers, of which some were killed: no matter of pydine's.
    for ending in (client, cluster):
        with suppress(TimeoutError, OSError):
            ending.close(timeout=60)


class Killing:
    """Watches, and kills processes after some steps."""

    def __init__(self, processes, after):
        self.processes, self.after, self.done = processes, after, 0

    def expect(self, count):
        pass

    def advance(self):
        self.done += 1
        if self.done == self.after:
            for process in self.processes:
                os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def alone():
    return answer(P, N)


def test_a_few_columns_with_a_worker_killed(cluster, monkeypatch):
    """The part of all this that is in `make test`."""
    monkeypatch.setattr(execution, "WORTH_A_TRIP", 0.0)
    here = answer(6, 300)
    killing = Killing(list(cluster.run(os.getpid).values())[:1], 3)
    with joblib.parallel_config(backend="dask"):
        assert answer(6, 300) == here
        with execution.watched_by(killing):
            assert answer(6, 300) == here
    assert killing.done > 3


@pytest.mark.cluster
def test_all_pairs_and_what_is_sent(cluster, alone):
    before = cluster.run(bytes_received)
    with joblib.parallel_config(backend="dask"):
        cache = pydine.UnitCache()
        assert answer(P, N, cache=cache) == alone
    after = cluster.run(bytes_received)
    n_units = len(cache._entries)
    size = (P + len(GIVEN)) * N * 8
    sent = [after[worker] - before[worker] for worker in after]
    assert max(sent) <= 1.5 * size + 2000 * n_units, f"{sent} bytes; {size} of columns, {n_units} units"


@pytest.mark.cluster
def test_a_search(cluster, monkeypatch):
    from pydine.integrations.causal_learn import pc

    data = {name: column for name, column in columns(6, 500).items() if name < "c05"}
    here = pc(data).G.graph
    monkeypatch.setattr(execution, "WORTH_A_TRIP", 0.0)
    with joblib.parallel_config(backend="dask"):
        np.testing.assert_array_equal(pc(data).G.graph, here)


def test_errors_of_the_work_reach_the_caller(cluster):
    def fail(i):
        raise ValueError(f"item {i}")

    with joblib.parallel_config(backend="dask"), pytest.raises(ValueError, match="item"):
        execution.run(fail, range(3), None)


@pytest.mark.cluster
@pytest.mark.parametrize("count", [1, 2])
def test_workers_that_are_killed_halfway(cluster, alone, count):
    """With the last one all columns are gone: they are sent again."""
    killing = Killing(list(cluster.run(os.getpid).values())[:count], 20)
    with joblib.parallel_config(backend="dask"), execution.watched_by(killing):
        assert answer(P, N) == alone
    assert killing.done > 20


DRIVER = """
import sys, joblib, pydine, os, signal
from cluster_data import answer
from distributed import Client, LocalCluster
from pydine.work.cache import UnitCache
if __name__ == "__main__":
    with Client(sys.argv[1]), joblib.parallel_config(backend="dask"):
        cache = UnitCache(sys.argv[2])
        if sys.argv[3] == "killed":
            keep, kept = UnitCache.keep_as, []
            def dying(self, key, entry):
                keep(self, key, entry)
                kept.append(key)
                if len(kept) == 25:
                    os.kill(os.getpid(), signal.SIGKILL)
            UnitCache.keep_as = dying
        print(answer(int(sys.argv[4]), int(sys.argv[5]), cache=cache), cache.info().misses)
"""


@pytest.mark.cluster
def test_a_driver_that_is_killed_and_started_again(cluster, alone, tmp_path):
    def start(how):
        arguments = [cluster.scheduler.address, str(tmp_path / "cache"), how, str(P), str(N)]
        folders = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
        return subprocess.run(
            [sys.executable, "-c", DRIVER, *arguments], capture_output=True, text=True, env=environment, check=False
        )

    assert start("killed").returncode == -signal.SIGKILL
    assert len(list((tmp_path / "cache").glob("*/*.npz"))) >= 25
    again = start("whole")
    assert again.returncode == 0, again.stderr
    found, misses = again.stdout.split()
    assert found == alone
    assert 0 < int(misses) <= P - 25 + 10  # and what pairs that are not Gaussian ask for

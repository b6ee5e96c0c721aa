"""Ray with two workers: the same bits, also when one of them is killed."""

import os
import signal
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

from cluster_data import answer, columns
from pydine.work import execution

ray = pytest.importorskip("ray", reason="ray is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the engine's own


@pytest.fixture(scope="module", autouse=True)
def cluster():
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def test_all_pairs():
    alone = answer(60, 2000)
    with joblib.parallel_config(backend="ray", n_jobs=2):
        assert answer(60, 2000) == alone


def test_a_search(monkeypatch):
    from pydine.integrations.causal_learn import pc

    data = {name: column for name, column in columns(6, 500).items() if name < "c05"}
    here = pc(data).G.graph
    monkeypatch.setattr(execution, "WORTH_A_TRIP", 0.0)
    with joblib.parallel_config(backend="ray", n_jobs=2):
        np.testing.assert_array_equal(pc(data).G.graph, here)


def test_a_worker_that_is_killed(tmp_path):
    def killing(folder, i):
        mark = Path(folder) / "killed"
        if i == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return i * i

    with joblib.parallel_config(backend="ray", n_jobs=2):
        assert execution.run(partial(killing, str(tmp_path)), range(40), None) == [i * i for i in range(40)]
    assert (tmp_path / "killed").exists()


def test_errors_of_the_work_reach_the_caller():
    def fail(i):
        raise ValueError(f"item {i}")

    with joblib.parallel_config(backend="ray", n_jobs=2), pytest.raises(ValueError, match="item"):
        execution.run(fail, range(3), None)

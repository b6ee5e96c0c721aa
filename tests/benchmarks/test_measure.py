"""The reader of time and memory, and contenders in turn."""

import socket
import sys
import time

import numpy as np
import pytest

from harness.measure import (
    WARM_UP,
    bytes_received,
    call_in_new_process,
    import_seconds,
    in_turn,
    medians,
    run_process,
    run_python,
)
from pydine.experiments.measure import measured, processor_seconds


def test_a_block_that_sleeps_costs_time_and_no_work():
    with measured() as cost:
        time.sleep(0.1)
    assert cost.seconds >= 0.1
    assert cost.processor_seconds < cost.seconds  # by the 0.1 s of sleep, however long the machine takes for the rest
    assert cost.peak_mib > 10.0


def test_a_block_that_fails_has_its_cost_too():
    with pytest.raises(TypeError), measured() as cost:
        time.sleep("long")
    assert cost.seconds >= 0.0


def test_contenders_take_turns_after_a_round_that_does_not_count():
    calls = []
    contenders = {name: lambda number, name=name: lambda: calls.append((name, number)) for name in "ab"}
    seconds = in_turn(contenders, 2)
    assert calls == [("a", WARM_UP), ("b", WARM_UP), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert {name: len(values) for name, values in seconds.items()} == {"a": 2, "b": 2}
    assert medians({"a": [3.0, 1.0, 2.0]}) == {"a": 2.0}


def test_numbers_come_back_from_a_new_interpreter():
    code = "import os, sys; print(os.environ['TOLD'], len(sys.argv))"
    assert run_python(code, "one", TOLD="7") == [7.0, 2.0]


def test_an_import_is_timed_in_a_new_interpreter(tmp_path):
    (tmp_path / "sleepy.py").write_text("import time; time.sleep(0.1)")
    assert import_seconds("sleepy", PYTHONPATH=str(tmp_path)) >= 0.1


def test_sleep_is_no_work_of_the_processor():
    start, before = time.perf_counter(), processor_seconds()
    time.sleep(0.1)
    assert 0.0 <= processor_seconds() - before < time.perf_counter() - start


def test_a_process_is_measured_from_its_start_to_its_end():
    large = np.ones(100 * 2**17)  # 100 MiB that the new process does not have
    code = "import os, sys, time; time.sleep(0.05); sys.exit(os.environ['TOLD'])"
    command = [sys.executable, "-S", "-c", code]
    cost = run_process([sys.executable, "-S", "-c", "import time; time.sleep(0.05)"])
    assert cost.seconds >= 0.05
    assert cost.processor_seconds > 0.0
    assert 1.0 < cost.peak_mib < large.nbytes / 2**20
    with pytest.raises(RuntimeError, match="ended with 1: too deep"):
        run_process(command, TOLD="too deep")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts them")
def test_bytes_that_arrive_are_counted():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        far, _ = server.accept()
        with far:
            before = bytes_received()
            far.sendall(bytes(1000))
            assert len(near.recv(1000, socket.MSG_WAITALL)) == 1000
            assert bytes_received() - before == 1000


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the peak may be the parent's")
def test_a_call_in_a_new_process_has_its_own_peak():
    x, y = np.random.default_rng(0).standard_normal((2, 200, 1))
    large = np.ones(400 * 2**17)  # 400 MiB that the new process does not have
    cost = call_in_new_process("mutual_information", (x, y))
    assert cost.seconds > 0.0
    assert cost.peak_mib < large.nbytes / 2**20 + 100.0

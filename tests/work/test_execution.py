"""The one place that runs units, and the word to whoever waits for the compiler."""

import io
import subprocess
import sys
import threading
import time
from contextlib import redirect_stdout

import numba as nb
import pytest

from pydine.kernels import compilation
from pydine.work.execution import in_order, run, watched_by


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4, -1])
def test_results_come_in_the_order_of_the_items(n_jobs):
    def late(i):
        time.sleep(0.01 * (i % 3 == 0))
        return i * i

    assert run(late, range(12), n_jobs) == [i * i for i in range(12)]


def test_threads_not_processes():
    """What is run may be a closure, and shares the memory of its caller."""
    seen = []
    run(lambda i: seen.append(threading.current_thread().name), range(8), 2)
    assert len(seen) == 8


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_errors_reach_the_caller(n_jobs):
    def fail(i):
        raise ValueError(f"unit {i}")

    with pytest.raises(ValueError, match="unit 0"):
        run(fail, [0], n_jobs)


def test_no_items():
    assert run(abs, [], 2) == []


def test_whoever_waits_for_compilation_is_told_why(monkeypatch, capfd):
    monkeypatch.setattr(compilation, "PATIENCE", 0.01)
    with compilation.explained():
        nb.njit(lambda x: x + 1.0)(1.0)
        time.sleep(0.2)
    assert capfd.readouterr().err.startswith("pydine: compiling")


def test_whoever_waits_for_anything_else_is_not(monkeypatch, capfd):
    monkeypatch.setattr(compilation, "PATIENCE", 0.01)
    with compilation.explained():
        time.sleep(0.2)
    assert capfd.readouterr().err == ""


def test_whoever_does_not_wait_hears_nothing(monkeypatch, capfd):
    monkeypatch.setattr(compilation, "PATIENCE", 0.2)
    with compilation.explained():
        pass
    time.sleep(0.3)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_later_process_gives_the_same_number_to_the_last_bit():
    """Machine code from disk does what freshly compiled code does; on a new machine this compares both."""
    code = (
        "import numpy as np, pydine\n"
        "rng = np.random.default_rng(0)\n"
        "z = rng.standard_normal(300)\n"
        "x, y = np.sin(2 * z) + rng.standard_normal((2, 300))\n"
        "print(float(pydine.mutual_information(x, y, z)).hex())\n"
    )
    here = io.StringIO()
    with redirect_stdout(here):
        exec(code, {})
    later = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert later.stdout == here.getvalue()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_watcher_hears_of_every_item(n_jobs):
    class Watcher:
        expected = done = 0

        def expect(self, count):
            self.expected += count

        def advance(self):
            self.done += 1

    watcher = Watcher()
    with watched_by(watcher):
        run(abs, iter(range(3)), n_jobs)
        run(abs, [1, 2], n_jobs)
    run(abs, [1], n_jobs)  # no longer watched
    assert (watcher.expected, watcher.done) == (5, 5)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_items_that_come_one_by_one(n_jobs):
    """They are taken when there is work for them, results keep their order, and what a reader raises is raised."""
    taken, count = [], 0

    def items(last):
        for i in range(40):
            if i == last:
                raise OSError("the file is gone")
            taken.append(i)
            yield i

    for i, square in enumerate(in_order(lambda item: item * item, items(40), n_jobs)):
        assert square == i * i
        count += 1
    assert count == len(taken) == 40
    with pytest.raises(OSError, match="the file is gone"):
        list(in_order(lambda item: item, items(9), n_jobs))

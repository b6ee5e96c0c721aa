"""What a call in a new process, a whole process, or contenders in turn cost."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from pydine.experiments.measure import UNITS_PER_MIB, Cost, measured

Name = TypeVar("Name")

WARM_UP = 1000  # the round that is run before the clock starts: no benchmark has so many

CALL = """
import sys, numpy as np, pydine
from pydine.experiments.measure import measured
with np.load(sys.argv[2]) as data:
    arrays = [data[name] for name in data.files]
with measured() as cost:
    getattr(pydine, sys.argv[1])(*arrays, n_jobs=1)
print(cost.seconds, cost.processor_seconds, cost.peak_mib)
"""

# Times an import. `measured` cannot: importing it would import pydine.
IMPORT = """
import importlib, sys, time
start = time.perf_counter()
importlib.import_module(sys.argv[1])
print(time.perf_counter() - start)
"""

# Starts a process and waits for it. The system counts the memory of the parent in the peak of a process that it forks,
# so this small launcher stands between a benchmark, which is large, and what is measured.
LAUNCH = """
import os, sys, time
start = time.perf_counter()
_, status, used = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:]), 0)
with open(sys.argv[1], "w") as told:
    print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss, file=told)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def in_turn(
    contenders: Mapping[Name, Callable[[int], Callable[[], object]]],
    rounds: int,
    *,
    warm: bool = True,
    of_processor: bool = False,
) -> dict[Name, list[float]]:
    """Time contenders in turn, so that other load on the machine affects all alike.

    Parameters
    ----------
    contenders
        By name, a function from the number of a round to the call that is timed: data are drawn outside of the clock.
    rounds
        How often each is timed.
    warm
        Whether each runs once before, on the round ``WARM_UP``, to import and compile what it needs.
    of_processor
        Whether to count processor seconds, and not those of the wall clock.

    Returns
    -------
    dict
        Seconds, a list with an entry for each round; see `medians`.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in contenders}
    if warm:
        for prepare in contenders.values():
            prepare(WARM_UP)()
    for number in range(rounds):
        for name, prepare in contenders.items():
            call = prepare(number)
            with measured() as cost:
                call()
            seconds[name].append(cost.processor_seconds if of_processor else cost.seconds)
    return seconds


def medians(seconds: Mapping[Name, Sequence[float]]) -> dict[Name, float]:
    """Median over the rounds, by contender."""
    return {name: median(values) for name, values in seconds.items()}


def call_in_new_process(function: str, arrays: Sequence[Any], **variables: str) -> Cost:
    """Measure the first call of one of pydine's public functions in a new process.

    Parameters
    ----------
    function
        Its name under ``pydine``.
    arrays
        Its arguments, of shape (n, d).
    **variables
        Environment variables to change.

    Returns
    -------
    Cost
        Of the call: imports and reading do not count, compilation does.
    """
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, *arrays)
        return Cost(*run_python(CALL, function, str(path), **variables))


def import_seconds(module: str, **variables: str) -> float:
    """Seconds by the wall clock that an import takes in a new interpreter, whose own start does not count.

    Parameters
    ----------
    module
        Its name.
    **variables
        Environment variables to change.
    """
    return run_python(IMPORT, module, **variables)[0]


def run_process(command: Sequence[str], **variables: str) -> Cost:
    """Measure a whole process, from its start to its end.

    Parameters
    ----------
    command
        The program and its arguments; what it prints is not kept.
    **variables
        Environment variables to change.

    Returns
    -------
    Cost
        With the peak memory of the whole process.

    Raises
    ------
    RuntimeError
        If it fails: with what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "cost"
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCH, str(told), *command]
        done = subprocess.run(
            launcher, env=os.environ | variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        seconds, processor_seconds, peak = map(float, told.read_text().split())
    return Cost(seconds, processor_seconds, peak / UNITS_PER_MIB)


def run_python(code: str, *arguments: str, **variables: str) -> list[float]:
    """Run code in a new interpreter and return the numbers that it prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def bytes_received() -> int:
    """Bytes that all TCP connections of this process have received, by the kernel's count; on Linux only."""
    total = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if not str(entry.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(entry.name))) as connection:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        except OSError:
            continue
        total += int.from_bytes(info[128:136], sys.byteorder)  # tcpi_bytes_received
    return total

"""Time and memory of a block.

Only the standard library is imported, so that a process can be measured from its start.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10  # in which the system counts peaks


@dataclass
class Cost:
    """Time and memory that something took.

    Attributes
    ----------
    seconds
        By the wall clock.
    processor_seconds
        Of all threads of this process: other work on the machine does not count.
    peak_mib
        Peak memory of the process in MiB while it ran; see `peak_memory`.
    """

    seconds: float = math.nan
    processor_seconds: float = math.nan
    peak_mib: float = math.nan


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure a block; the figures are filled in when it ends, even with an error."""
    cost = Cost()
    _reset_peak_memory()
    wall, processor = time.perf_counter(), processor_seconds()
    try:
        yield cost
    finally:
        cost.seconds = time.perf_counter() - wall
        cost.processor_seconds = processor_seconds() - processor
        cost.peak_mib = peak_memory()


def processor_seconds() -> float:
    """Processor seconds of all threads of this process so far; a cluster's workers are asked for it by name."""
    return time.process_time()


def peak_memory() -> float:
    """Peak memory of this process in MiB: on Linux since the last reset, elsewhere since it began; NaN if unknown."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return math.nan
    # On Linux this also counts the process that started this one: hence the way above.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / UNITS_PER_MIB


def _reset_peak_memory() -> None:
    with suppress(OSError):  # where this cannot be done the peak is that of the process so far
        Path("/proc/self/clear_refs").write_text("5")

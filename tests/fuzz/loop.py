"""Faults for some minutes: ``make faults``. The same numbers, nothing lost, no parts of files, whatever happens.

Kills of a process that fits with a cache, at any moment; flipped bits in every file that is written, units and compiled
code; a full disk; two processes on one folder.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from faults import files_of, flips

ASK = """
import resource, sys, warnings
warnings.simplefilter("ignore")
if len(sys.argv) > 2: resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
import numpy as np, pydine
rng = np.random.default_rng(0)
z = rng.standard_normal((150, 2))
x, y = np.sin(z[:, 0]) + rng.standard_normal((2, 150))
print(*(repr(pydine.mutual_information(x, y, z, cache=sys.argv[1], random_state=seed).value) for seed in range(3)))
"""


def process(folder, *limit, **environment):
    command = [sys.executable, "-c", ASK, str(folder), *map(str, limit)]
    variables = {**os.environ, **environment}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)


class Loop:
    """One fault after another, all compared with the numbers of an undisturbed process."""

    def __init__(self, folder):
        self.folder, self.counts, self.failures = folder, Counter(), []
        self.compiled = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
        self.expected = self.answer(process(folder / "units", **self.compiled))[0]

    def answer(self, started):
        out, err = started.communicate()
        return out, err, started.returncode

    def check(self, what, started, units):
        """Count a fault; whether the process gave the numbers, and left only whole files."""
        out, err, code = self.answer(started)
        self.counts[what] += 1
        sys.stderr.write(".")
        odd = [file.name for file in files_of(units) if file.suffix != ".npz"]
        if (out, code) != (self.expected, 0) or odd:
            self.failures.append(f"{what}: {code} {out!r} {err[-300:]!r} {odd}")

    def kills(self, count):
        """A process is killed at any moment; the next one goes on where it was."""
        for i in range(count):
            units = self.folder / f"killed{i % 4}"
            victim = process(units, **self.compiled)
            try:
                victim.wait(random.Random(i).uniform(0.3, 3.0))
            except subprocess.TimeoutExpired:
                victim.kill()
            victim.communicate()
            self.counts["kills"] += 1
        for i in range(min(count, 4)):
            units = self.folder / f"killed{i}"
            for file in files_of(units):  # what was being written is swept when it is old
                if file.name.startswith("."):
                    os.utime(file, (0, 0))
            self.check("after kills", process(units, **self.compiled), units)

    def flipped(self, where, count):
        """A bit flips in one file at a time, of units or of compiled code."""
        units = self.folder / "units"
        files = [file for file in files_of(self.folder / where) if file.suffix in (".npz", ".code")]
        for i in range(count):
            file = files[i % len(files)]
            file.write_bytes(next(iter(flips(file.read_bytes(), 1, seed=i))))
            self.check(f"flips in {where}", process(units, **self.compiled), units)

    def full(self, count):
        """No file can grow beyond some bytes."""
        for i in range(count):
            units = self.folder / f"full{i}"
            self.check("full disks", process(units, 10 ** (1 + i % 4), **self.compiled), units)

    def side_by_side(self, count):
        """Two processes fit the same units into the same folder."""
        for i in range(count):
            units = self.folder / f"both{i}"
            both = [process(units, **self.compiled) for _ in range(2)]
            for started in both:
                started.wait()
            for started in both:
                self.check("processes side by side", started, units)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=20, help="of every fault")
    times = options.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(Path(folder))
        loop.kills(times)
        loop.flipped("units", times)
        loop.full(max(1, times // 4))
        loop.side_by_side(max(1, times // 4))
        loop.flipped("compiled", max(1, times // 4))  # each of them compiles again
    lines = [f"{count:5d} {what}" for what, count in loop.counts.items()]
    sys.stdout.write("\n".join(["", *lines, f"{len(loop.failures):5d} failures", *loop.failures, ""]))
    sys.exit(bool(loop.failures))


if __name__ == "__main__":
    main()

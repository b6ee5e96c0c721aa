"""Faults for tests to put a program through: disks that are full, and folders that cannot be written, for root too."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import pydine
from pydine import archive


@contextmanager
def full_disk(most=1000):
    """No file can grow beyond some bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource", reason="the system has no limits of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def peak_memory():
    """A function that says by how many bytes the memory of this process grew at most; zero where nobody can tell."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def most():
        return next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith("VmHWM"))

    try:
        reset.write_text("5")
        before = most()
    except OSError:
        yield lambda: 0
    else:
        yield lambda: most() - before


def flips(content, count, seed=0):
    """Copies of some bytes with one bit flipped each; every bit, if there are not more."""
    bits = np.arange(8 * len(content))
    for bit in bits if len(bits) <= count else np.random.default_rng(seed).choice(bits, count, replace=False):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        yield bytes(flipped)


def retold(content, before, after):
    """A file of `pydine.archive` whose head says something else the first time, with a digest that agrees."""
    members = archive._members(content)
    head = members["head"].tobytes().decode()
    assert before in head
    members["head"] = np.frombuffer(head.replace(before, after, 1).encode(), dtype=np.uint8)
    return archive._sealed(members)


def files_of(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def unwritable_installation(folder):
    """A copy of the package, and the environment in which it is used, where no usual cache can be written.

    A file stands where each folder would be made: that stops everybody, whatever their permissions.
    """
    root = folder / "installed"
    shutil.copytree(Path(pydine.__file__).parent, root / "pydine", ignore=shutil.ignore_patterns("__pycache__"))
    for package in [root / "pydine", *(path for path in (root / "pydine").iterdir() if path.is_dir())]:
        (package / "__pycache__").write_text("")
    for name in ("home", "cache"):
        (folder / name).write_text("")
    (folder / "temporary").mkdir()
    return {
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "TMPDIR": str(folder / "temporary"),
    }

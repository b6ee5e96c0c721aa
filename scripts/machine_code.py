"""Machine code that a wheel brings, for a processor that is not this one: `scripts/distribution.py` has it made.

It is made for this system, with the Numba that is installed, for all versions of Python that are listed in
`pydine.kernels.shipped`. On a system that is not x86-64 there is nothing to make.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"


def is_made_here() -> bool:
    """Whether this system's processors have machine code made for them."""
    return platform.machine().lower() in {"x86_64", "amd64"}


@contextmanager
def made() -> Iterator[None]:
    """Let the block find the machine code among the sources, which are without it afterwards, as a checkout is.

    It is compiled in a process that plays the processor, into a folder that nobody else uses.
    """
    if not is_made_here():
        yield
        return
    sys.path.insert(0, str(SOURCES))
    from pydine.kernels.shipped import CPU, FILE

    try:
        with tempfile.TemporaryDirectory() as folder:
            FILE.unlink(missing_ok=True)
            playing = {"NUMBA_CPU_NAME": CPU, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
            environment = {**os.environ, **playing, "PYTHONPATH": str(SOURCES)}
            subprocess.run([sys.executable, "-c", COMPILE, str(FILE)], env=environment, check=True)
        yield
    finally:
        FILE.unlink(missing_ok=True)


COMPILE = """
import sys
from pathlib import Path
from pydine.kernels.compilation import SOURCES_DIGEST, declared
from pydine.kernels.machine_code import name_of
from pydine.kernels.shipped import pack
codes = {}
for kernel, signature in declared():
    kernel.compile(signature)
    codes[name_of(kernel.py_func), str(signature)] = kernel.overloads[signature]._reduce()
Path(sys.argv[1]).write_bytes(pack(SOURCES_DIGEST, codes))
"""

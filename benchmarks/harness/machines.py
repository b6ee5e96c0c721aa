"""Other CPUs played by this one: environments in which compiled code, BLAS and NumPy use only what those CPUs have.

A process that is started with such an environment computes as it would on that machine, to the last bit. Another CPU is
one more entry in ``CPUS``.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NATIVE = "native"
VARIABLES = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Cpu:
    """An x86-64 CPU.

    Attributes
    ----------
    llvm
        Its name for Numba.
    llvm_features
        Its vector instructions and the like, as Numba's compiler spells them.
    openblas
        Its name for OpenBLAS.
    numpy_features
        What NumPy may use on it, as NumPy spells it.
    """

    llvm: str
    llvm_features: tuple[str, ...]
    openblas: str
    numpy_features: frozenset[str]


_SSE = ("sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt")
_AVX = ("avx", "avx2", "fma", "bmi", "bmi2", "lzcnt", "f16c")
_NUMPY_SSE = frozenset({"SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "SSE42", "POPCNT", "X86_V2"})
_NUMPY_AVX = frozenset({"AVX", "F16C", "FMA3", "AVX2", "LAHF", "CX16", "MOVBE", "BMI", "BMI2", "LZCNT", "X86_V3"})

CPUS = {
    "haswell": Cpu("haswell", (*_SSE, *_AVX), "Haswell", _NUMPY_SSE | _NUMPY_AVX),
    "nehalem": Cpu("nehalem", _SSE, "Nehalem", _NUMPY_SSE),
}
_NEEDED = {"haswell": {"SSE42", "AVX2", "FMA3"}, "nehalem": {"SSE42", "POPCNT"}}  # of the CPU that plays


def playable() -> tuple[str, ...]:
    """Names of the CPUs that this machine can play: ``"native"``, and of ``CPUS`` those whose instructions it has."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return (NATIVE,)
    return (NATIVE, *(name for name in CPUS if _NEEDED[name] <= _features()))


def environment(name: str = NATIVE, *, threads: int = 1, cache: Path | None = None) -> dict[str, str]:
    """Return this process's environment, changed so that a process started with it plays a CPU.

    Parameters
    ----------
    name
        ``"native"`` or a key of ``CPUS``; see `playable`.
    threads
        Threads of BLAS.
    cache
        Folder for Numba's machine code, with a subfolder for the CPU. By default where Numba puts it.

    Returns
    -------
    dict
        For ``subprocess.run(..., env=...)``.
    """
    if name != NATIVE and name not in CPUS:
        raise ValueError(f"name must be {NATIVE!r} or one of {', '.join(CPUS)}, but got {name!r}.")
    found = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    found |= dict.fromkeys(THREADS, str(threads))
    if cache is not None:
        found["NUMBA_CACHE_DIR"] = str(cache / name)
    if name == NATIVE:
        return found
    cpu = CPUS[name]
    found["NUMBA_CPU_NAME"] = cpu.llvm
    found["NUMBA_CPU_FEATURES"] = ",".join(f"+{feature}" for feature in cpu.llvm_features)
    found["OPENBLAS_CORETYPE"] = cpu.openblas
    # NumPy warns of a feature that it could not use anyway, so only those are named that it would use here.
    if disabled := sorted((_dispatched() & _features()) - cpu.numpy_features):
        found["NPY_DISABLE_CPU_FEATURES"] = " ".join(disabled)
    return found


def _dispatched() -> frozenset[str]:
    """Features that this build of NumPy chooses code by while it runs: only these can be disabled."""
    return frozenset(_numpy_core().__cpu_dispatch__)


def _features() -> frozenset[str]:
    """Features of this machine that NumPy knows, with those that this process itself was told not to use."""
    used = {name for name, present in _numpy_core().__cpu_features__.items() if present}
    told = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    return frozenset(used | set(re.split(r"[\s,]+", told.strip())) - {""})


def _numpy_core() -> Any:
    """Find the module with NumPy's lists of features, which NumPy 2 moved."""
    try:
        return importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:
        return importlib.import_module("numpy.core._multiarray_umath")

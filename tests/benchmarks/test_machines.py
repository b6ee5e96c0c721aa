"""A machine that plays others: what its processes are told, and that NumPy and Numba take it without a warning."""

import json
import os
import subprocess
import sys

import pytest

from harness import machines
from harness.machines import CPUS, NATIVE, environment, playable

REPORT = """
import json
from harness.machines import _numpy_core
import numba
used = [name for name, present in _numpy_core().__cpu_features__.items() if present]
print(json.dumps([used, numba.config.CPU_NAME, numba.config.CPU_FEATURES]))
"""


@pytest.fixture
def elsewhere(monkeypatch):
    """A machine with AVX-512, whose NumPy knows three kinds of it."""

    class Core:
        __cpu_dispatch__ = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")
        __cpu_features__ = dict.fromkeys(("SSE42", "POPCNT", "AVX2", "FMA3", "X86_V3", "X86_V4", "AVX512_ICL"), True)

    Core.__cpu_features__["AVX512_SPR"] = False
    monkeypatch.setattr(machines, "_numpy_core", lambda: Core)
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)


@pytest.mark.usefixtures("elsewhere")
def test_numpy_is_told_of_what_it_would_use_and_no_more():
    assert playable() == (NATIVE, "haswell", "nehalem")
    assert "NPY_DISABLE_CPU_FEATURES" not in environment()
    assert environment("haswell")["NPY_DISABLE_CPU_FEATURES"] == "AVX512_ICL X86_V4"
    assert environment("nehalem")["NPY_DISABLE_CPU_FEATURES"] == "AVX512_ICL X86_V3 X86_V4"


@pytest.mark.usefixtures("elsewhere")
def test_a_process_that_plays_a_cpu_can_start_one_that_plays_another(monkeypatch):
    told = environment("nehalem")["NPY_DISABLE_CPU_FEATURES"]
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", told)
    core = machines._numpy_core()
    left = {name: present and name not in told.split() for name, present in core.__cpu_features__.items()}
    monkeypatch.setattr(core, "__cpu_features__", left)
    assert environment("haswell")["NPY_DISABLE_CPU_FEATURES"] == "AVX512_ICL X86_V4"
    assert "NPY_DISABLE_CPU_FEATURES" not in environment()


def test_a_machine_of_another_kind_plays_itself_alone(monkeypatch):
    monkeypatch.setattr(machines.platform, "machine", lambda: "arm64")
    assert playable() == (NATIVE,)


def test_threads_and_the_folder_of_machine_code(tmp_path):
    found = environment(threads=2, cache=tmp_path)
    assert (found["OPENBLAS_NUM_THREADS"], found["NUMBA_CACHE_DIR"]) == ("2", str(tmp_path / NATIVE))


def test_a_cpu_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="name must be 'native' or one of haswell, nehalem, but got 'pentium'"):
        environment("pentium")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in playable() if name != NATIVE])
def test_the_process_is_the_cpu_that_it_plays(name):
    command = [sys.executable, "-W", "error", "-c", REPORT]
    there = environment(name) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=there, capture_output=True, text=True, check=True)
    used, llvm, features = json.loads(done.stdout)
    assert done.stderr == ""
    assert set(used) & machines._dispatched() <= CPUS[name].numpy_features
    assert (llvm, features) == (name, environment(name)["NUMBA_CPU_FEATURES"])

"""Machine code that comes with a wheel: it is run where it fits; elsewhere, code is compiled as if there were none."""

import importlib.util
import sys

import numba as nb
import pytest

from faults import flips
from pydine.kernels import machine_code, shipped
from pydine.kernels.compilation import declared
from pydine.kernels.machine_code import is_at_hand, keep, name_of
from pydine.kernels.shipped import FILE, brought, has_brought, origin, pack

SOURCES = "the sources"
SIGNATURE = (nb.float64,)
CODE = """
import numba as nb

@nb.njit(inline="never", no_cfunc_wrapper=True)
def double(x):
    return 2.0 * x

@nb.njit(inline="never", no_cfunc_wrapper=True)
def fourfold(x):
    return double(double(x))
"""

pytestmark = pytest.mark.skipif(not shipped._fits(), reason="for processors that machine code is brought for")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "KEPT", [])
    monkeypatch.setattr(nb.config, "CACHE_DIR", "")
    monkeypatch.setattr(shipped, "FILE", tmp_path / FILE.name)
    shipped._codes.cache_clear()
    yield tmp_path
    shipped._codes.cache_clear()


def functions(folder, monkeypatch):
    """Two functions, one of which calls the other, of a module as a process would have it that starts now."""
    (folder / "twice.py").write_text(CODE)
    spec = importlib.util.spec_from_file_location("twice", folder / "twice.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "twice", module)
    spec.loader.exec_module(module)
    for function in (module.double, module.fourfold):
        keep(function, SOURCES)
    return module


def code_of(*functions):
    """A file with their code."""
    codes = {}
    for function in functions:
        function.compile(SIGNATURE)
        codes[name_of(function.py_func), str(SIGNATURE)] = function.overloads[SIGNATURE]._reduce()
    return pack(SOURCES, codes)


@pytest.fixture
def there(folder, monkeypatch):
    """A folder with machine code of `double`, and nothing that was kept."""
    shipped.FILE.write_bytes(code_of(functions(folder, monkeypatch).double))
    for kept in machine_code.KEPT:
        kept.flush()
    shipped._codes.cache_clear()
    return folder


def misses(function):
    return sum(function.stats.cache_misses.values())


@pytest.mark.slow
def test_what_was_brought_is_run(there, monkeypatch):
    double = functions(there, monkeypatch).double
    assert is_at_hand(double, SIGNATURE)
    assert (double(2.0), misses(double)) == (4.0, 0)
    assert (double(2), misses(double)) == (4.0, 1)  # a signature that it has not: compiled


@pytest.mark.slow
def test_code_that_calls_it_works_and_is_not_kept(there, monkeypatch):
    """A process that loads it would not have loaded what it calls."""
    first = functions(there, monkeypatch)
    assert (first.fourfold(2.0), misses(first.fourfold), misses(first.double)) == (8.0, 1, 0)
    again = functions(there, monkeypatch)
    assert not is_at_hand(again.fourfold, SIGNATURE)
    assert (again.fourfold(2.0), misses(again.fourfold)) == (8.0, 1)


@pytest.mark.slow
def test_damaged_files_are_not_run(there):
    whole = shipped.FILE.read_bytes()
    assert has_brought(SOURCES, "twice.double", SIGNATURE)
    for content in (*flips(whole, 200), b"", whole[:40], whole[:-1]):
        shipped.FILE.write_bytes(content)
        shipped._codes.cache_clear()
        assert not has_brought(SOURCES, "twice.double", SIGNATURE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (nb, "__version__", "0.1"),
        (nb.config, "CPU_NAME", "nehalem"),
        (nb.config, "BOUNDSCHECK", 1),
        (sys, "version_info", (3, 10)),
        (shipped, "NEEDED", ("an instruction of tomorrow",)),
        (shipped.ll, "llvm_version_info", (1, 0, 0)),
        (shipped.ll, "get_process_triple", lambda: "another system"),
    ],
)
def test_code_of_something_else_is_not_run(there, monkeypatch, of, name, value):
    assert has_brought(SOURCES, "twice.double", SIGNATURE)
    assert not has_brought("other sources", "twice.double", SIGNATURE)
    shipped._codes.cache_clear()
    monkeypatch.setattr(of, name, value)
    assert not has_brought(SOURCES, "twice.double", SIGNATURE)


def test_a_checkout_has_none(folder):
    assert not has_brought(SOURCES, "twice.double", SIGNATURE)
    assert brought(SOURCES, "twice.double", SIGNATURE, None) is None
    assert origin(SOURCES) != origin("others")


def test_kernels_say_what_they_are_called_with():
    """Each signature once, and what has none is called by other kernels only."""
    every = [(name_of(kernel.py_func), signature) for kernel, signature in declared()]
    assert len(set(every)) == len(every)
    assert {"pydine.kernels.optimiser.maximise", "pydine.kernels.tables.stratified"} <= {name for name, _ in every}
    assert [name for name, _ in every].count("pydine.kernels.likelihood.blocked_likelihood") == 2

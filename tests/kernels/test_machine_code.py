"""Compiled code on disk: only what was written is run, and where nothing can be written everything still works."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numba as nb
import pytest

from faults import files_of, flips, full_disk, unwritable_installation
from pydine.kernels import machine_code
from pydine.kernels.machine_code import KeptCode, is_whole, keep, temporary_folder
from systems import posix

KEY = ("(float64,)", ("x86", "a processor"), ("bytecode", "closure"))


@pytest.fixture
def kept(tmp_path):
    return KeptCode(tmp_path, "function-1.py311", "the sources")


def test_what_was_kept_is_found(kept):
    assert kept.load(KEY) is None
    kept.save(KEY, {"code": b"\x90"})
    assert kept.load(KEY) == {"code": b"\x90"}
    assert [is_whole(file) for file in kept.files()] == [True]


def test_every_flipped_bit_is_noticed(kept):
    kept.save(KEY, ("payload", b"code"))
    (file,) = kept.files()
    for content in flips(file.read_bytes(), 10_000):
        file.write_bytes(content)
        assert not is_whole(file)
        assert kept.load(KEY) is None
        assert not file.exists()  # thrown away


def test_every_cut_is_noticed(kept):
    kept.save(KEY, ("payload", b"code"))
    (file,) = kept.files()
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        assert kept.load(KEY) is None


@pytest.mark.parametrize(
    "change", [{"sources": "others"}, {"key": (*KEY[:2], ("other bytecode", "closure"))}, {"version": "0.1"}]
)
def test_code_of_something_else_is_not_run(kept, change, monkeypatch):
    kept.save(KEY, "code")
    monkeypatch.setattr(nb, "__version__", change.get("version", nb.__version__))
    other = KeptCode(kept.folder, kept.function, change.get("sources", kept.sources))
    assert other.load(change.get("key", KEY)) is None


@posix
def test_code_that_others_could_have_written_is_not_run(kept):
    kept.save(KEY, "code")
    (file,) = kept.files()
    file.chmod(0o666)
    assert kept.load(KEY) is None
    file.chmod(0o644)
    assert kept.load(KEY) == "code"
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
        assert kept.load(KEY) == ("code" if os.getuid() == 12345 else None)


@posix
@pytest.mark.parametrize("mode", [0o755, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, mode):
    """Wherever it is: here NUMBA_CACHE_DIR names it."""
    (tmp_path / "cache").mkdir()
    code = "from pydine.kernels.compilation import compiled\n@compiled()\ndef double(x):\n    return 2 * x\n"
    (tmp_path / "doubling.py").write_text(code + "print(double(3), double._cache.cache_path)")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    environment |= {"TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "own")}
    command = [sys.executable, "doubling.py"]
    first = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True).split()
    assert first[0] == "6"
    where = Path(first[1])
    assert where.is_relative_to(tmp_path / "cache")
    where.chmod(mode)
    again = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True).split()
    assert (again[0], again[1] == first[1]) == ("6", mode == 0o755)


def test_signatures_and_processors_have_files_of_their_own(kept):
    keys = [KEY, ("(int64,)", *KEY[1:]), (KEY[0], ("arm", "another"), KEY[2])]
    for key in keys:
        kept.save(key, key[0])
    assert [kept.load(key) for key in keys] == [key[0] for key in keys]
    kept.flush()
    assert kept.files() == []


def compiled(folder):
    """A function of a module of its own, as a process would have it that starts now."""
    file = folder / "tiny.py"
    file.write_text("def double(x):\n    return 2.0 * x\n")
    spec = importlib.util.spec_from_file_location("tiny", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    dispatcher = nb.njit(module.double)
    keep(dispatcher, "the sources")
    return dispatcher


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "KEPT", [])
    monkeypatch.setattr(nb.config, "CACHE_DIR", "")
    return tmp_path


def hits(dispatcher):
    return sum(dispatcher.stats.cache_hits.values())


@pytest.mark.slow
def test_damaged_code_is_compiled_again(folder):
    first = compiled(folder)
    assert (first(2.0), hits(first)) == (4.0, 0)
    again = compiled(folder)
    assert (again(2.0), hits(again)) == (4.0, 1)
    (file,) = machine_code.KEPT[0].files()
    whole = file.read_bytes()
    for content in (*flips(whole, 8), b"", whole[:100], whole[: len(whole) // 2]):
        file.write_bytes(content)
        mended = compiled(folder)
        assert (mended(2.0), hits(mended)) == (4.0, 0)
        assert is_whole(file)


def test_a_full_disk_leaves_no_part_of_a_file(folder):
    compiled(folder)  # its folders and sources are there
    before = files_of(folder)
    with full_disk():
        assert compiled(folder)(2.0) == 4.0
    assert files_of(folder) == before


def test_the_temporary_folder_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = temporary_folder()
    assert temporary_folder() == folder
    folder.chmod(0o770)
    with pytest.raises(PermissionError, match="is not a folder of this user alone"):
        temporary_folder()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(PermissionError):
        temporary_folder()


# Where nothing usual can be written.

COMPILE = (
    "import numpy as np; from pydine.kernels.normal import quantiles; p = np.array([0.5]); quantiles(p, p, np.empty(1))"
)


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, **unwritable_installation(tmp_path)}


def doctor(environment):
    command = [sys.executable, "-m", "pydine", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_temporary_folder_where_nothing_else_can_be_written(environment):
    record = doctor(environment)
    assert record["cache"].startswith(environment["TMPDIR"])
    assert "it is kept temporarily, in" in record["cache_place"]
    assert "set NUMBA_CACHE_DIR to a permanent, writable folder" in record["cache_place"]


@posix
@pytest.mark.slow
def test_no_cache_where_not_even_that_can_be(environment, tmp_path):
    (tmp_path / "temporary" / f"pydine-{os.getuid()}").write_text("")
    record = doctor(environment)
    assert (record["cache"], record["cache_files"]) == (None, 0)
    assert record["cache_place"].startswith("it is not kept, because no folder for it is writable")


@posix
@pytest.mark.slow
@pytest.mark.parametrize("obstacle", [False, True])
def test_functions_compile_there(environment, tmp_path, obstacle):
    """One of the kernels' own, in a process that finds no folder, or a temporary one, and in the next."""
    if obstacle:
        (tmp_path / "temporary" / f"pydine-{os.getuid()}").write_text("")
    code = (
        f"{COMPILE}; from pydine.kernels.compilation import _explain\n"
        "print(sum(quantiles.stats.cache_hits.values())); _explain()"
    )
    for run in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd="/"
        )
        assert done.stdout.split()[-1] == str(0 if obstacle else run)
        assert done.stderr.startswith("pydine: compiling its kernels for this machine")
        assert done.stderr.count("\n") == 1
        assert "set NUMBA_CACHE_DIR" in done.stderr


@pytest.mark.slow
def test_doctor_counts_damaged_files(environment):
    subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True, cwd="/")
    record = doctor(environment)
    assert (record["compiled"], record["cache_files"], record["cache_damaged"]) == (False, 1, 0)
    assert record["functions_to_compile"] == record["functions"] - 1
    (file,) = [file for file in files_of(environment["TMPDIR"]) if file.suffix == ".code"]
    file.write_bytes(file.read_bytes()[:-1])
    record = doctor(environment)
    assert (record["compiled"], record["cache_files"], record["cache_damaged"]) == (False, 1, 1)
    assert record["functions_to_compile"] == record["functions"]

"""What not every system has is asked for first, and there is something to do where it is missing."""

import ast
import math
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

import pydine
from pydine import disk
from pydine.cli.output import answers
from pydine.experiments import measure, table
from pydine.kernels import machine_code

ROOT = Path(pydine.__file__).parent
# What Windows lacks, by module; whoever adds a place below adds a test of what happens there without it.
LACKING = {
    "os": {
        "fork",
        "getuid",
        "geteuid",
        "getgid",
        "getloadavg",
        "killpg",
        "mkfifo",
        "nice",
        "sched_getaffinity",
        "setsid",
    },
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2", "alarm", "pause", "setitimer"},
    "time": {"tzset"},
}
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
GUARDED = {
    ("cli/output/answers.py", "signal.SIGPIPE"),
    ("disk.py", "fcntl"),
    ("experiments/measure.py", "resource"),
    ("experiments/table.py", "fcntl"),
    ("kernels/machine_code.py", "os.getuid"),
}


def lacking(source):
    """What a module uses that some systems do not have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in LACKING.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from MODULES & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names} & LACKING.get(node.module, set())
            yield from (MODULES & {node.module}) | {f"{node.module}.{name}" for name in names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from MODULES & {argument.value for argument in node.args if isinstance(argument, ast.Constant)}


def test_it_is_used_in_guarded_places_only():
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in ROOT.rglob("*.py")
        for name in lacking(path.read_text(encoding="utf-8"))
    }
    assert found == GUARDED


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os\nos.fork()", ["os.fork"]),
        ("from os import getuid", ["os.getuid"]),
        ("def f():\n    import fcntl", ["fcntl"]),
        ("from resource import getrusage", ["resource"]),
        ("import_module('fcntl')", ["fcntl"]),
        ("import signal\nsignal.SIGINT", []),
    ],
)
def test_it_is_found(source, found):
    assert list(lacking(source)) == found


def test_text_is_read_in_an_encoding_that_is_named():
    """Or it would be another on Windows; files of the kernel of Linux are not there."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_text"):
                named = node.func.attr not in ("read_text", "write_text") or node.keywords
                assert named or "/proc/" in ast.unparse(node.func), f"{path}:{node.lineno}"


def test_compiled_code_where_files_have_no_owners(tmp_path, monkeypatch):
    (tmp_path / "code").write_bytes(b"")
    (tmp_path / "code").chmod(0o666)
    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.setattr(machine_code.tempfile, "gettempdir", lambda: str(tmp_path))
    assert machine_code.is_trusted(tmp_path / "code")
    assert machine_code.temporary_folder() == tmp_path / "pydine-0"
    assert stat.S_ISDIR((tmp_path / "pydine-0").stat().st_mode)


def test_one_writer_at_a_time_where_there_are_no_locks(tmp_path, monkeypatch):
    """Everybody is let in: what is written is whole all the same."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with disk.only_one(tmp_path / "lock"), disk.only_one(tmp_path / "lock"):
        disk.write_whole(tmp_path / "file", b"whole")
    with table.only_run(tmp_path / "rows.csv"), table.only_run(tmp_path / "rows.csv"):
        assert (tmp_path / "file").read_bytes() == b"whole"


def test_memory_where_nothing_tells(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(measure.Path, "read_text", missing)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert math.isnan(measure.peak_memory())


def test_a_pipe_where_there_is_no_signal_of_it(monkeypatch):
    monkeypatch.delattr(signal, "SIGPIPE", raising=False)
    monkeypatch.setattr(signal, "signal", lambda *_: pytest.fail("there is no such signal"))
    answers._end_with_the_pipe()

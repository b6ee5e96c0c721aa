"""What commands write, and what may stand in the way: a row of the table in docs/cli.md each, and its columns."""

import os
import stat
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

from command_line import make_frame
from faults import files_of, full_disk
from pydine.cli.inputs import Request
from pydine.cli.output.files import MARK
from systems import posix

PAIR, THREE = ("data.csv", "-c", "cause,outcome"), ("data.csv", "-c", "cause,outcome,proxy")
OUTPUTS = {
    "matrix.csv": ("matrix", *PAIR, "--out"),
    "pairs.parquet": ("matrix", *PAIR, "--top", "3", "--out"),
    "matrix.svg": ("matrix", *PAIR, "--plot"),
    "matrix.png": ("matrix", *PAIR, "--plot"),
    "matrix.pdf": ("matrix", *PAIR, "--plot"),
    "graph.svg": ("graph", *THREE, "--out"),
    "graph.dot": ("graph", *THREE, "--out"),
    "graph.graphml": ("graph", *THREE, "--out"),
    "report.html": ("report", "data.csv", "-t", "outcome", "-c", "cause", "--out"),
    "diabetes.csv": ("demo", "--out"),
}
PRECIOUS = b"a,b\n1,2\n"


class Killed(BaseException):
    """The moment at which a process is gone."""


@pytest.fixture(params=OUTPUTS)
def output(request, run, folder, tmp_path, monkeypatch):
    """A file that a command would write, and the command."""
    (tmp_path / "data.csv").write_bytes((folder / "data.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path / request.param, lambda *more: run(*OUTPUTS[request.param], request.param, *more)


@pytest.fixture
def no_work(monkeypatch):
    """Whatever is refused is refused before the data are read."""

    def read(*_, **__):
        pytest.fail("the work has begun")

    monkeypatch.setattr(Request, "read_many", read)


def refused(done, sentence):
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in " ".join(done.stderr.split())


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["the same", "a link", "a hard link"])
def test_the_input_is_never_replaced(output, name):
    path, write = output
    if path.name == "diabetes.csv":
        pytest.skip("it reads nothing")
    data = path.with_name("data.csv")
    before = data.read_bytes()
    if name == "the same":
        data.rename(path)
        data.symlink_to(path)
    else:
        (path.symlink_to if name == "a link" else path.hardlink_to)(data)
    refused(write("--overwrite"), f"{path.name} is the input")
    assert data.read_bytes() == before


@pytest.mark.usefixtures("no_work")
def test_a_file_of_somebody_else_is_kept(output):
    path, write = output
    path.write_bytes(PRECIOUS)
    refused(write(), f"{path.name} exists and was not written by pydine; name another file, or pass --overwrite")
    assert path.read_bytes() == PRECIOUS


def test_what_is_asked_for_or_ours_is_replaced_with_its_permissions(output):
    path, write = output
    path.write_bytes(PRECIOUS)
    path.chmod(0o600)
    assert write("--overwrite").returncode == 0
    first = path.read_bytes()
    assert first != PRECIOUS
    done = write()  # it is one of ours now
    assert (done.returncode, stat.S_IMODE(path.stat().st_mode)) == (0, 0o600)
    assert path.suffix == ".csv" or MARK.encode() in path.read_bytes()
    path.unlink()
    assert write().returncode == 0
    umask = 0o666 & ~int(subprocess.check_output(["/bin/sh", "-c", "umask"]), 8)
    assert stat.S_IMODE(path.stat().st_mode) == umask


def test_what_a_link_points_to_is_written_and_the_link_stays(output):
    path, write = output
    (path.parent / "elsewhere").mkdir()
    path.symlink_to(path.parent / "elsewhere" / "target")  # not there yet
    assert write().returncode == 0
    assert path.is_symlink()
    assert [file.name for file in files_of(path.parent / "elsewhere")] == ["target"]
    path.unlink()
    path.symlink_to(path.name)
    assert "link" in write().stderr  # a loop


@pytest.mark.usefixtures("no_work")
def test_folders_and_what_is_read_only_are_refused(output):
    path, write = output
    path.mkdir()
    refused(write("--overwrite"), f"{path.name} is a directory; name a file in it")
    path.rmdir()
    path.write_bytes(PRECIOUS)
    path.chmod(0o444)
    refused(write("--overwrite"), f"{path.name} cannot be written: it is read-only")
    assert path.read_bytes() == PRECIOUS


def test_a_full_disk_is_a_sentence_and_leaves_what_was_there(output):
    path, write = output
    path.write_bytes(b"")
    before = {file.name for file in files_of(path.parent)}
    with full_disk(10):
        done = write()
    assert done.returncode == 1
    assert path.name in done.stderr
    assert "bug in pydine" not in done.stderr
    assert path.read_bytes() == b""
    assert {file.name for file in files_of(path.parent)} == before


def test_a_kill_leaves_what_was_there(output, monkeypatch):
    """At the last moment: all is written, and not renamed yet. `tests/test_disk.py` kills at any other."""
    path, write = output
    path.write_bytes(PRECIOUS)

    def replace(self, target):
        assert (self.stat().st_size > len(PRECIOUS), target) == (True, path)
        raise Killed

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(Killed):
        write("--overwrite")
    assert path.read_bytes() == PRECIOUS


@posix
def test_pipes_are_written_to(output):
    """And so is a device, which a test had better not try: whoever replaces it leaves a machine without it."""
    path, write = output
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    done = write()
    assert path.is_fifo()
    if path.suffix == ".parquet":  # its end says where in the file its parts are
        refused(done, "pairs.parquet")
    else:
        reader.join(60)  # a guard: what hangs is to fail
        assert (done.returncode, len(read[0]) > 10) == (0, True)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("matrix", *PAIR, "--plot", "x.bmp"), "can be written as .png, .svg or .pdf, but not as .bmp"),
        (("graph", *PAIR, "--out", "x.bmp"), "can be written as .png, .svg, .pdf, .graphml, .dot or .json"),
        (("report", "data.csv", "-t", "outcome", "--out", "x.bmp"), "end the name in .html"),
        (("matrix", *PAIR, "--out", "x.png", "--plot", "x.png"), "x.png is named for two results"),
        (("matrix", *PAIR, "--out", "no/x.csv"), "there is no folder no"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(run, folder, command, sentence):
    refused(run(*command), sentence)
    assert not (folder / "x.bmp").exists()


def test_a_pipe_that_was_closed_is_no_failure_of_ours(folder):
    """As of any other program: the signal ends it, and nothing is said."""
    command = [sys.executable, "-m", "pydine", "matrix", *PAIR, "--csv"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (-13, b"")


def test_control_characters_in_names_are_no_control_characters_in_files(run, tmp_path, monkeypatch):
    frame = make_frame().select("cause", "outcome", "proxy")
    frame.rename({"cause": "a\x0bb", "proxy": "=1+1", "outcome": "$\\frac"}).write_parquet(tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    for command, name in (("matrix", "x.svg"), ("graph", "y.svg"), ("graph", "y.graphml")):
        assert run(command, "data.parquet", "--plot" if command == "matrix" else "--out", name).returncode == 0
        ET.parse(tmp_path / name)
    assert run("matrix", "data.parquet", "--out", "x.csv").returncode == 0
    square = pl.read_csv(tmp_path / "x.csv", infer_schema=False)
    assert square.columns[1:] == square[:, 0].to_list() == ["a\\x0bb", "$\\frac", "'=1+1"]
    assert run("matrix", "data.parquet", "--out", "x.csv").returncode == 0  # still known to be ours

"""Files are whole or not there."""

import os
import subprocess
import sys

import pytest

from faults import full_disk
from pydine.disk import FORGOTTEN, UNFINISHED, replacing, sweep, write_whole
from systems import posix


def test_what_was_there_stays_if_the_disk_is_full(tmp_path):
    path = tmp_path / "data"
    write_whole(path, b"before")
    with full_disk(1000), pytest.raises(OSError, match=str(path)):
        write_whole(path, bytes(2000))
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("data", b"before")]


def test_a_folder_that_is_not_there_is_named_by_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        write_whole(tmp_path / "no" / "data", b"")
    assert missing.value.filename == str(tmp_path / "no" / "data")


@posix
def test_a_pipe_is_written_to_and_a_link_stays_a_link(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"x")
    with replacing(tmp_path / "pipe") as path:
        path.write_bytes(b"y")
    assert (os.read(reader, 9), (tmp_path / "pipe").is_fifo()) == (b"xy", True)
    os.close(reader)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"y"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "data"
    path.write_bytes(b"before")
    path.chmod(mode)
    write_whole(path, b"after")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"after", mode)


def test_what_was_forgotten_is_swept(tmp_path):
    for name in (f"{UNFINISHED}old", f"{UNFINISHED}new", "data"):
        (tmp_path / name).write_bytes(b"")
    for name in (f"{UNFINISHED}old", "data"):
        os.utime(tmp_path / name, (0, 0))
    sweep(tmp_path)
    sweep(tmp_path / "nothing")
    assert {file.name for file in tmp_path.iterdir()} == {f"{UNFINISHED}new", "data"}
    assert FORGOTTEN > 60


def test_a_writer_that_is_killed_leaves_whole_files(tmp_path):
    """Again and again, at any moment."""
    code = (
        "import itertools, sys; from pathlib import Path; from pydine.disk import write_whole\n"
        "for i in itertools.count(): write_whole(Path(sys.argv[1]), bytes([i % 256]) * 100_000)"
    )
    for wait in range(6):
        writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "data")])
        while not (tmp_path / "data").exists():
            pass
        for _ in range(50 * wait):
            (tmp_path / "data").stat()
        writer.kill()
        writer.wait()
        content = (tmp_path / "data").read_bytes()
        assert len(content) == 100_000
        assert len(set(content)) == 1

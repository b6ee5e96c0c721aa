"""Names of columns, files and folders cannot command the terminal that they are shown on."""

import contextlib
import csv
import io
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
X, Y = f"x{ESCAPE}", "y"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names") / f"folder{ESCAPE}"
    folder.mkdir()
    x, noise = np.random.default_rng(0).standard_normal((2, 60))
    content = io.StringIO()
    writer = csv.writer(content)
    writer.writerows([(X, Y, f"text{ESCAPE}"), *zip(x, x + noise, [f"cell{ESCAPE}"] * 60, strict=True)])
    for name in ("data.csv", f"data{ESCAPE}.csv"):
        (folder / name).write_text(content.getvalue(), encoding="utf-8")
    return folder


def run(folder, *words, **options):
    environment = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run([sys.executable, "-m", "pydine", *words], cwd=folder, env=environment, check=False, **options)


def harmless(output):
    return not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(output.decode())


QUICK = ("--base", "gaussian")
EVIL = f"data{ESCAPE}.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("mi", EVIL, "-x", X, "-y", Y, *QUICK),
        ("mi", EVIL, "-x", X, "-y", Y, *QUICK, "--csv"),
        ("mi", EVIL, "-x", X, "-y", Y, *QUICK, "--json"),
        ("matrix", EVIL, *QUICK),
        ("matrix", EVIL, *QUICK, "--csv"),
        ("mi", EVIL, "-x", f"z{ESCAPE}", "-y", Y),
        ("mi", f"nothing{ESCAPE}.csv", "-x", X, "-y", Y),
        ("mi", EVIL, "-x", f"text{ESCAPE}", "-y", Y),
        ("mi", EVIL, f"more{ESCAPE}", "-x", X, "-y", Y),
        ("mi", EVIL, "-x", X, "-y", Y, f"--{ESCAPE}"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_printed(words, folder):
    done = run(folder, *words, capture_output=True)
    assert done.stdout or done.stderr
    assert harmless(done.stdout)
    assert harmless(done.stderr)


@pytest.mark.slow
def test_names_are_whole_for_machines(folder):
    record = json.loads(run(folder, "mi", EVIL, "-x", X, "-y", Y, *QUICK, "--json", capture_output=True).stdout)
    assert (record["x"], record["file"]) == ([X], EVIL)
    (row,) = csv.DictReader(
        io.StringIO(run(folder, "mi", EVIL, "-x", X, "-y", Y, *QUICK, "--csv", capture_output=True, text=True).stdout)
    )
    assert row["x"] == r"x\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.mark.slow
def test_a_name_that_is_no_text(folder):
    name = os.fsdecode(b"data\xff.csv")
    (folder / name).write_bytes((folder / "data.csv").read_bytes())
    done = run(folder, "mi", name, "-x", X, "-y", Y, *QUICK, "--csv", capture_output=True)
    assert done.returncode == 0
    assert rb"data\udcff.csv" in done.stdout


def read_to_the_end(terminal):
    parts = []
    with contextlib.suppress(OSError):  # the other end is gone
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)


@pytest.mark.slow
def test_a_real_terminal(folder):
    """With colours, which are escapes too; those of the name are not among them."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pydine", "mi", EVIL, "-x", X, "-y", Y, *QUICK]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=theirs) as done:
        os.close(theirs)
        printed = read_to_the_end(ours).decode()
    assert done.returncode == 0
    assert "\x1b[1" in printed  # bold
    assert not [escape for escape in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\u202e") if escape in printed]


def test_a_name_as_long_as_its_file_is_cut(folder):
    (folder / "wide.csv").write_text(",".join(f"c{i}" for i in range(3000)) + "\n1\n")
    done = run(folder, "mi", "wide.csv", "-x", "x", "-y", "y", "--separator", ";", capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("pydine: wide.csv: -x asks for the column 'x', which it lacks")
    assert len(done.stderr) < 700

"""``pydine report``, as a process."""

import csv
import re
import subprocess
import sys

import pytest

from report_data import ROWS, make_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    frame = make_frame()
    names = [*frame, "<em>colour</em>"]
    with (path / "data.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for i in range(ROWS):
            cells = [repr(float(frame[key][i])) for key in frame]
            writer.writerow([*(("", *cells[1:]) if i % 40 == 3 else cells), "red"])
    return path


def run(folder, *arguments):
    command = [sys.executable, "-m", "pydine", "report", *arguments]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_writes_one_file(folder):
    done = run(folder, str(folder / "data.csv"), "--target", "outcome", "-o", str(folder / "out.html"))
    assert done.returncode == 0, done.stderr
    assert "Missing values: cause 2%" in done.stderr
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "2.5% missing" in page
    assert "pydine report data.csv --target outcome -o out.html" in page
    assert str(folder) not in page
    assert re.search(r'class="digest">[0-9a-f]{64}<', page)
    assert "&lt;em&gt;colour&lt;/em&gt;" in page
    assert "<em>colour" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--target", "outcome", "-o", "."), "pydine: . is a directory; name a file in it."),
        (
            ("--target", "outcome", "-o", "no/where.html"),
            "pydine: no/where.html cannot be written: there is no folder no.",
        ),
        (("--target", "outcome", "-o", "data.csv"), "pydine: data.csv: a report is an HTML page"),
        (("--target", "outcome", "--nan", "fail"), "pydine: data.csv: column 'cause' has 4 missing values"),
    ],
)
def test_refusals_are_one_sentence(folder, arguments, sentence):
    before = (folder / "data.csv").read_bytes()
    done = run(folder, "data.csv", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert (folder / "data.csv").read_bytes() == before

"""Pages of help, and what cannot be answered: a sentence, and the code that the command ends with."""

import json
import subprocess
import sys

import numpy as np
import pytest

import pydine
from pydine.cli.inputs import KINDS
from pydine.inputs.kinds import Kind

# Help and versions.


def test_every_command_has_a_page_with_an_example(run):
    page = run("--help").stdout
    for command in ("mi", "test", "rank", "matrix", "graph", "bench"):
        assert f" {command} " in page
        help_page = run(command, "--help")
        assert help_page.returncode == 0
        assert f"pydine {command} " in help_page.stdout.partition("Examples")[2]
    assert "130 interrupted" in page
    assert run("--version").stdout == f"pydine {pydine.__version__}\n"


def test_help_loads_nothing_heavy(folder):
    code = "import sys; from pydine.cli import app; print({name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "typer" in loaded
    for name in ("numpy", "scipy", "numba", "sklearn", "polars", "matplotlib"):
        assert f"'{name}'" not in loaded


@pytest.mark.slow
def test_an_estimate_loads_nothing_that_it_does_not_need(folder):
    code = (
        "import sys; sys.argv = ['pydine', 'mi', 'data.csv', '-x', 'cause', '-y', 'outcome', '--csv']\n"
        "from pydine.cli.app import main\n"
        "try: main()\n"
        "finally: print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert "polars" in done.stdout.split()
    assert not {"sklearn", "matplotlib", "pandas", "pyarrow", "networkx"} & set(done.stdout.split())


# Bad input: a sentence and a code.


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "bad.csv is empty."),
        (b"cause,outcome\n1,2\n", "bad.csv: x and y have 2 columns together but only 1 rows"),
        (bytes(range(256)) * 20, "bad.csv is neither text nor Parquet"),
        (b"1,2\n" * 50, "bad.csv seems to have no header"),
        (b"cause,cause\n" + b"1,2\n" * 50, "which it lacks; its columns are 'cause', 'cause.1'"),
        (b"cause,outcome\n" + b"1,2\n" * 50, "bad.csv: column 'cause' must vary"),
        (b"cause,outcom\n" + b"1,2\n" * 50, "the nearest name is 'outcom'"),
    ],
)
def test_a_bad_file_is_one_sentence(content, sentence, run, folder):
    (folder / "bad.csv").write_bytes(content)
    done = run("mi", "bad.csv", "-x", "cause", "-y", "outcome")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("pydine: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_a_directory_nothing_and_a_place_that_is_not_there(run):
    assert "is a directory" in run("mi", ".", "-x", "a", "-y", "b").stderr
    done = run("mi", "nothing.csv", "-x", "a", "-y", "b")
    assert (done.returncode, done.stderr) == (1, "pydine: there is no file nothing.csv.\n")
    done = run("matrix", "data.csv", "--out", "no/such/matrix.csv")
    assert done.returncode == 1
    assert "no/such/matrix.csv cannot be written: there is no folder no/such." in done.stderr


def test_ten_thousand_columns(run, folder):
    rng = np.random.default_rng(0)
    np.save(folder / "wide.npy", rng.standard_normal((40, 10_000)))
    names = ",".join(f"c{i}" for i in range(10_000))
    np.savetxt(folder / "wide.csv", rng.standard_normal((12, 10_000)), "%.3f", ",", header=names, comments="")
    for command in (("matrix", "wide.csv"), ("rank", "wide.csv", "-t", "c5"), ("graph", "wide.csv")):
        done = run(*command)
        assert done.returncode == 1
        assert "columns to compare, but 1,000 is the most; name some with --column" in done.stderr
    record = json.loads(run("mi", "wide.npy", "-x", "1", "-y", "10000", "--base", "gaussian", "--json").stdout)
    assert record["n_samples"] == 40


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("mi", "data.csv", "-x", "name", "-y", "noise"),
            "column 'name' has 150 different labels in 150 rows, too many to learn from; name another column.",
        ),
        (("rank", "data.csv", "-t", "name"), "column 'name' has 150 different labels in 150 rows"),
        (
            ("rank", "data.csv", "-t", "noise", "--kind", "noise=nominal"),
            "column 'noise' has 150 different labels in 150 rows, too many to learn from; leave out --kind noise=",
        ),
        (("rank", "data.csv", "-t", "one"), "column 'one' must vary, but is constant (1 in every row); name another"),
        (("rank", "flat.csv", "-t", "none"), "column 'none' has no values; name another column."),
        (("mi", "flat.csv", "-x", "town", "-y", "b"), "column 'town' must vary, but is constant ('Ulm' in every row)"),
        (
            ("rank", "data.csv", "-t", "cause,noise"),
            "--target must name one column, but 'cause,noise' names 2; name one at a time",
        ),
        (
            ("rank", "data.csv", "-t", "cause", "--kind", "Noise=nominal"),
            "--kind asks for the column 'Noise', which it",
        ),
        (("matrix", "data.csv", "-c", "name,noise"), "to compare; left out: 'name' (it has 150 different labels"),
        (
            ("rank", "data.csv", "-t", "cause", "-c", "name"),
            "no column to rank besides 'cause'; left out: 'name' (it has",
        ),
        (
            ("report", "data.csv", "-t", "cause", "-c", "name"),
            "no column to report on besides 'cause'; left out: 'name'",
        ),
        (("report", "data.csv", "-t", "cause", "-o", "report.pdf"), "report.pdf: a report is an HTML page; end the"),
        (
            ("mi", "typo.csv", "-x", "a", "-y", "b"),
            "column 'a' must hold numbers, but line 4 holds 'l5'; correct that cell",
        ),
        (("mi", "data.csv", "-x", "name", "-y", "one", "--kind", "name=ordinal"), "so it cannot be ordinal"),
        (("matrix", "data.csv", "-c", "cause"), "data.csv has fewer than two columns to compare; name more with --c"),
        (("graph", "data.csv", "-c", "cause"), "data.csv has fewer than two columns to compare"),
        (
            ("rank", "data.csv", "-t", "outcome", "--without", "cause,proxy,noise"),
            "no column to rank besides 'outcome'",
        ),
        (("rank", "data.csv", "-t", "Outcome"), "the nearest name is 'outcome'"),
        (("graph", "data.csv", "--out", "graph.txt"), "a graph can be written as .png"),
        (("bench", "mi", "--methods", "magic"), "but got 'magic'"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(arguments, sentence, run):
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("pydine: ")
    assert sentence in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("mi", "data.csv", "-x", "cause"),
        ("mi", "data.csv", "-x", "cause", "-y", "outcome", "--json", "--csv"),
        ("mi", "data.csv", "-x", "cause", "-y", "outcome", "--jobs", "0"),
        ("mi", "data.csv", "-x", "cause", "-y", "outcome", "--separator", "abc"),
        ("mi", "data.csv", "-x", "cause", "-y", "outcome", "--kind", "cause=category"),
        ("mi", "data.csv", "-x", "cause", "-y", "outcome", "--kind", "cause=angle"),
        ("test", "data.csv", "-x", "cause", "-y", "outcome", "--alpha", "2"),
        ("bench", "everything"),
        ("nonsense",),
    ],
)
def test_wrong_usage_is_code_two(arguments, run):
    assert run(*arguments).returncode == 2


def test_a_defect_is_a_sentence_too(run, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("flux")

    monkeypatch.setattr("pydine.inputs.files.open_file", broken)
    done = run("mi", "data.csv", "-x", "cause", "-y", "outcome")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "this is a bug in pydine (RuntimeError: flux); PYDINE_TRACEBACK=1 shows where" in done.stderr


def test_kinds_are_called_as_everywhere_else():
    assert tuple(Kind) == KINDS


def test_angles_are_said_by_once_around(run, tmp_path):
    rng = np.random.default_rng(0)
    wind = rng.uniform(0.0, 360.0, 200)
    rain = np.cos(np.radians(wind)) + 0.5 * rng.normal(size=200)
    np.savez(tmp_path / "winds.npz", wind=wind, rain=rain)
    question = ("mi", str(tmp_path / "winds.npz"), "-x", "wind", "-y", "rain", "--json", "--kind", "wind=angle:360")
    record = json.loads(run(*question).stdout)
    assert record["kinds"][:2] == [["angle"], ["continuous"]]
    assert record["information"] == pydine.mutual_information(wind, rain, kinds={"x": "angle:360"}).value

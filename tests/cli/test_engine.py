"""Where commands run their work: engines, shards, and one sentence where that cannot be."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("engine"), np.random.default_rng(0)
    z = rng.standard_normal(300)
    frame = {"z": z, **{f"c{i}": z + rng.standard_normal(300) for i in range(4)}}
    pl.DataFrame(frame).write_parquet(path / "data.parquet")
    return path


def command(folder, *arguments, code=0):
    line = [sys.executable, "-m", "pydine", *arguments]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.slow
def test_a_matrix_in_processes_and_from_shards(folder):
    asked = ("matrix", "data.parquet", "--given", "z", "--json")
    alone = json.loads(command(folder, *asked).stdout)
    assert json.loads(command(folder, *asked, "--backend", "loky", "--jobs", "2").stdout) == alone
    for shard in (
        "1/2",
        "2/2",
        "2/2",
    ):  # in a small table each pair has flows of its own, and none waits
        said = command(folder, *asked, "--cache", "flows", "--shard", shard).stdout
        assert said == f"shard {shard} is done; all flows are fitted.\n"
    assert json.loads(command(folder, *asked, "--cache", "flows").stdout) == alone


@pytest.mark.slow
def test_a_folder_of_files_is_gone_through(folder):
    """A folder says what one file does; a column of labels and one of dates beside numbers."""
    rng = np.random.default_rng(1)
    whole = pl.read_parquet(folder / "data.parquet").with_columns(
        word=pl.Series(["a", "b", "c"]).gather(rng.integers(0, 3, 300)), day=pl.date(2020, 1, 1)
    )
    whole.write_parquet(folder / "whole.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        whole.slice(100 * i, 100).write_parquet(folder / "parts" / f"{i}.parquet")
    for question in (
        ("mi", "-x", "c0", "-y", "word"),
        ("test", "-x", "c0", "-y", "c1", "--method", "analytic", "--nan", "fail"),
    ):
        here, there = (
            json.loads(command(folder, question[0], source, *question[1:], "--json").stdout)
            for source in ("whole.parquet", "parts")
        )
        assert {**there, "file": "", "conversions": {}} == {**here, "file": "", "conversions": {}}
    asked = ("--given", "z", "--json")
    there = json.loads(command(folder, "matrix", "parts", *asked).stdout)
    assert there["left_out"] == {"day": "it holds values of type date32[day]"}
    here = json.loads(command(folder, "matrix", "whole.parquet", "--without", "day", *asked).stdout)
    assert there["pairs"] == here["pairs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("mi", "folder", "-x", "a", "-y", "b"), "cannot be read as a folder of Parquet or Arrow files"),
        (("mi", "folder", "-x", "a", "-y", "b", "--sample", "10"), "leave out --sample"),
        (("test", "folder", "-x", "a", "-y", "b"), "folder is a directory; name a file in it"),
    ],
)
def test_folders_that_cannot_be(tmp_path, options, sentence):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.parquet").write_text("no")
    assert sentence in " ".join(command(tmp_path, *options, code=1).stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--shard", "1/2"], 1, "cache must be a folder that all shards share"),
        (["--shard", "3/2", "--cache", "flows"], 1, "shard must be like 3/16"),
        (["--scheduler", "tcp://nowhere:1"], 2, "--backend dask"),
    ],
)
def test_what_cannot_be(folder, options, code, sentence):
    said = command(folder, "matrix", "data.parquet", "--given", "z", *options, code=code).stderr
    assert sentence in " ".join(said.replace("│", " ").split())

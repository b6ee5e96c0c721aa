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
    for shard, said in (("1/2", "2 flows of other shards"), ("2/2", "all flows are there"), ("2/2", "all flows")):
        assert said in command(folder, *asked, "--cache", "flows", "--shard", shard).stdout
    assert json.loads(command(folder, *asked, "--cache", "flows").stdout) == alone


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

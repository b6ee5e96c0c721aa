"""``pydine matrix --top``: very many columns, and what --top does not go with."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.mark.slow
def test_the_strongest_pairs_of_many_columns(run, folder):
    rng = np.random.default_rng(0)
    table = {f"c{i}": column for i, column in enumerate(rng.standard_normal((1100, 200)))}
    table["c7"] = table["c3"] + 0.3 * rng.standard_normal(200)
    table["c9"] = table["c3"] + 0.7 * rng.standard_normal(200)
    table["word"] = np.array(list("abc"))[rng.integers(0, 3, 200)]
    pl.DataFrame(table).write_parquet(folder / "many.parquet")
    assert "or pass --top 1000 for the strongest pairs" in run("matrix", "many.parquet").stderr
    record = json.loads(run("matrix", "many.parquet", "--top", "2", "--out", "pairs.parquet", "--json").stdout)
    assert {tuple(sorted((pair["x"], pair["y"]))) for pair in record["pairs"]} == {("c3", "c7"), ("c3", "c9")}
    assert (record["n_columns"], record["n_pairs"]) == (1100, 604_450)
    assert record["left_out"] == {"word": "it is nominal; --top compares no such columns"}
    assert len(pl.read_parquet(folder / "pairs.parquet")) == record["n_found"] >= 2
    strong = run("matrix", "many.parquet", "--threshold", "0.6", "--csv").stdout.splitlines()
    assert [line.split(",")[:2] for line in strong] == [["x", "y"], ["c3", "c7"]]
    said = run("matrix", "many.parquet", "--top", "5").stdout
    assert f"Dependence is detected in {record['n_found']} of 604,450 pairs at 0.05" in said
    for words in (["--plot", "a.png"], ["--out", "a.csv"], ["--shard", "1/2"]):
        done = run("matrix", "many.parquet", "--top", "5", *words)
        assert done.returncode == 2
        assert words[0] in done.stderr

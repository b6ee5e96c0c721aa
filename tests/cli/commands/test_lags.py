"""``pydine lags`` and ``pydine transfer``, and how rows depend in other commands."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import process


@pytest.fixture
def panel(tmp_path):
    rng, rows = np.random.default_rng(0), []
    for unit in range(12):
        x, e = rng.normal(size=(2, 30))
        y = e + np.append(np.zeros(2), x[:-2])
        rows.append(pd.DataFrame({"x": x, "y": y, "unit": f"u{unit}", "day": np.arange(30)}))
    path = tmp_path / "panel.csv"
    pd.concat(rows).sample(frac=1.0, random_state=0).to_csv(path, index=False)
    return str(path)


def test_lags(tmp_path, panel):
    done = process(
        tmp_path, "lags", panel, "-x", "x", "-y", "y", "--clusters", "unit", "--time", "day", "--to", "3", "--json"
    )
    found = json.loads(done.stdout)
    assert found["best"] == 2
    assert [line["lag"] for line in found["lags"]] == [0, 1, 2, 3]
    assert found["n_samples"] == 12 * 27
    shown = process(
        tmp_path, "lags", panel, "-x", "x", "-y", "y", "--clusters", "unit", "--time", "day", "--to", "2"
    ).stdout
    assert "12 clusters" in shown
    assert "The estimate is largest at lag 2." in shown


def test_transfer(tmp_path, panel):
    done = process(
        tmp_path,
        "transfer",
        panel,
        "-x",
        "x",
        "-y",
        "y",
        "--clusters",
        "unit",
        "--time",
        "day",
        "--past",
        "2",
        "--json",
    )
    found = json.loads(done.stdout)
    there, back = found["directions"]
    assert there["pvalue"] < 0.001 < back["pvalue"]
    assert found["difference_low"] > 0.0


@pytest.mark.parametrize("command", [("mi", "-x", "x", "-y", "y"), ("test", "-x", "x", "-y", "y")])
def test_clusters(tmp_path, panel, command):
    done = process(tmp_path, command[0], panel, *command[1:], "--clusters", "unit", "--json")
    assert json.loads(done.stdout)["sampling"] == "12 clusters"


def test_columns_that_say_how_rows_depend_are_not_ranked(tmp_path, panel):
    done = process(tmp_path, "rank", panel, "--target", "y", "--clusters", "unit", "--time", "day", "--json")
    assert [line["column"] for line in json.loads(done.stdout)["columns"]] == ["x"]


def test_a_graph_of_clusters(tmp_path, panel):
    done = process(tmp_path, "graph", panel, "--clusters", "unit", "--json")
    assert json.loads(done.stdout)["names"] == ["x", "y", "day"]
    done = process(tmp_path, "graph", panel, "--clusters", "unit", "--time", "day", "--json")
    assert json.loads(done.stdout)["names"] == ["x", "y"]
    done = process(tmp_path, "graph", panel, "--clusters", "day", "--without", "x", "--without", "unit", code=1)
    assert "fewer than two columns to compare" in done.stderr


def test_the_strongest_pairs_of_clusters(tmp_path, panel):
    said = ("matrix", panel, "--top", "5", "--alpha", "1", "--clusters", "unit", "--json")
    (pair, *_) = json.loads(process(tmp_path, *said).stdout)["pairs"]
    assert {pair["x"], pair["y"]} <= {"x", "y", "day"}
    done = process(tmp_path, "matrix", panel, "--shard", "1/2", "--clusters", "unit", "--cache", "kept", code=1)
    assert "--clusters, --time and --weights are not available with --shard" in done.stderr


def test_a_report_of_clusters(tmp_path, panel):
    process(tmp_path, "report", panel, "--target", "y", "--clusters", "unit", "--time", "day", "-o", "told.html")
    page = (tmp_path / "told.html").read_text()
    assert "how rows were sampled: 12 clusters" in page
    assert "it says how rows were sampled" in page
    process(tmp_path, "report", panel, "--target", "y", "-o", "untold.html")
    assert "Rows are assumed to be independent" in (tmp_path / "untold.html").read_text()

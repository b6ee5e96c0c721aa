"""Every command, as a process."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import pydine
from command_line import ROWS, make_frame, process
from systems import posix


def test_mi(folder):
    done = process(folder, "mi", "data.csv", "-x", "cause", "-y", "outcome", "-z", "noise")
    frame = make_frame()
    estimate = pydine.mutual_information("cause", "outcome", "noise", data=frame)
    low, high = estimate.confidence_interval()
    assert "I(cause; outcome | noise)" in done.stdout
    assert f"{estimate.value:.3f} nats" in done.stdout
    assert f"{estimate.bits:.3f} bits" in done.stdout
    assert f"95% interval {low:.3f} to {high:.3f}" in done.stdout
    assert "Once noise is known, cause still tells as much about outcome as a correlation of" in done.stdout
    assert "150 rows, gaussian base" in done.stdout
    assert "Left out" not in done.stderr


@pytest.mark.slow
def test_mi_for_machines_through_a_pipe(folder):
    content = (folder / "data.parquet").read_bytes()
    command = ("mi", "-", "-x", "cause", "-x", "proxy", "-y", "outcome", "--json", "--base", "gaussian")
    record = json.loads(process(folder, *command, input=content, text=False).stdout)
    estimate = pydine.mutual_information(["cause", "proxy"], "outcome", data=make_frame(), base="gaussian")
    assert record["information"] == estimate.value
    assert record["bits"] == estimate.bits
    assert [record["low"], record["high"]] == list(estimate.confidence_interval())
    assert (record["x"], record["y"], record["z"]) == (["cause", "proxy"], ["outcome"], [])
    assert (record["file"], record["n_rows"], record["n_samples"]) == ("the standard input", ROWS, ROWS)


@pytest.mark.slow
def test_test(folder):
    question = ("test", "data.csv", "-x", "proxy", "-y", "outcome", "--method", "analytic")
    done = process(folder, *question, "--exit-code", code=3)
    assert "Is proxy independent of outcome?" in done.stdout
    assert "No: independence is rejected at 0.05 (p <0.0001, analytic)" in done.stdout


@pytest.mark.slow
def test_matrix(folder, tmp_path):
    out, plot = tmp_path / "matrix.csv", tmp_path / "matrix.png"
    done = process(
        folder, "matrix", "data.parquet", "--given", "noise", "--out", str(out), "--plot", str(plot), "--csv"
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    found = pydine.pairwise_information(make_frame().select("cause", "proxy", "noise", "outcome"), ["noise"])
    assert [(row["x"], row["y"]) for row in rows] == list(zip(*(found.columns()[side] for side in "xy"), strict=True))
    assert [float(row["information"]) for row in rows] == found.columns()["information"]
    with out.open() as stream:
        square = {row[""]: row for row in csv.DictReader(stream)}
    assert float(square["cause"]["outcome"]) == found.values[0, 2]
    assert square["cause"]["cause"] == ""
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "'one' (it is constant), 'name' (it has 150 different labels in 150 rows" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_rank(folder):
    done = process(folder, "rank", "data.csv", "--target", "outcome")
    lines = [line.split() for line in done.stdout.splitlines()]
    named = [line[0] for line in lines if line and line[0] in ("cause", "proxy", "noise")]
    assert named == ["cause", "proxy", "noise"]
    assert "For 2 of 3 columns nothing is detected beyond what the others tell." in done.stdout
    assert "≤ 0.0" in done.stdout
    said = "Left out: 2 columns: 'one' (it is constant), 'name' (it has 150 different labels in 150 rows, too many to"
    assert " ".join(done.stdout.split()).startswith(said)


@pytest.mark.slow
def test_why(folder):
    done = process(folder, "why", "data.csv", "-x", "proxy", "-y", "outcome", "--json")
    record = json.loads(done.stdout)
    assert [row["given"] for row in record["steps"]][:2] == ["", "cause"]
    assert record["steps"][-1]["pvalue"] > 0.05 > record["steps"][0]["pvalue"]
    said = process(folder, "why", "data.csv", "-x", "proxy", "-y", "outcome").stdout
    assert "given cause" in said
    assert "nothing more is detected given all of them: at most" in " ".join(said.split())


@pytest.mark.slow
def test_graph(folder, tmp_path):
    out = tmp_path / "graph.dot"
    columns = [word for name in ("cause", "proxy", "noise", "outcome") for word in ("-c", name)]
    done = process(folder, "graph", "data.csv", "--alpha", "0.01", *columns, "--out", str(out), "--json")
    record = json.loads(done.stdout)
    assert {frozenset((edge["source"], edge["target"])) for edge in record["edges"]} == {
        frozenset(("cause", "proxy")),
        frozenset(("cause", "outcome")),
    }
    assert {edge["kind"] for edge in record["edges"]} == {"undirected"}
    assert all(edge["low"] <= edge["information"] <= edge["high"] for edge in record["edges"])
    assert '"cause" -> "proxy" [dir=none, label=' in out.read_text()
    assert all(pair["pvalue"] > 0.01 and np.isnan(pair["high"] or np.nan) for pair in record["absent"])


@pytest.mark.slow
def test_graph_with_what_is_independent(folder, tmp_path):
    out = tmp_path / "graph.json"
    columns = [word for name in ("cause", "noise") for word in ("-c", name)]
    asked = ("graph", "data.csv", *columns, "--min-information", "0.2", "--out", str(out))
    shown = process(folder, *asked).stdout
    assert "1 of the 1 pairs without an edge share less than 0.2 nats" in " ".join(shown.split())
    (pair,) = pydine.CausalGraph.from_json(out.read_text()).independent
    assert {pair.source, pair.target} == {"cause", "noise"}
    process(folder, *asked)  # over a file of its own


@pytest.mark.slow
def test_graph_with_what_is_known(folder, tmp_path):
    columns = [word for name in ("cause", "proxy", "noise", "outcome") for word in ("-c", name)]
    known = ("--tiers", "cause", "--tiers", "proxy,noise,outcome", "--fdr", "0.05", "--bootstrap", "2")
    kept = ("--cache", str(tmp_path / "kept"))
    first, again = (process(folder, "graph", "data.csv", *columns, *known, *kept, "--json") for _ in range(2))
    edges = json.loads(first.stdout)["edges"]
    assert {(edge["source"], edge["target"], edge["kind"]) for edge in edges} == {
        ("cause", "proxy", "directed"),
        ("cause", "outcome", "directed"),
    }
    assert {edge["stability"] for edge in edges} <= {0.0, 0.5, 1.0}
    assert again.stdout == first.stdout
    wrong = process(folder, "graph", "data.csv", *columns, "--forbid", "cause:nothing", code=1)
    assert "--forbid must be two columns joined by a colon, as in cause:effect, but is 'cause:nothing'" in wrong.stderr


@pytest.mark.slow
def test_bench_needs_no_extras(tmp_path):
    """In a Python that has nothing but what the core asks for."""
    extras = "polars", "pandas", "pyarrow", "matplotlib", "causallearn", "networkx", "jax"
    code = f"import sys; sys.modules.update(dict.fromkeys({extras!r})); from pydine.cli.app import main; main()"
    command = ("bench", "mi", "--quick", "--trials", "1", "--methods", "copula", "--json", "--output", "results")
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert {line["method"] for line in record["summary"]} == {"copula"}
    assert (tmp_path / record["table"]).exists()


@pytest.mark.slow
def test_demo(folder):
    done = process(folder, "demo")
    assert "Information about 'target'" in done.stdout


@pytest.mark.slow
def test_doctor(folder):
    record = json.loads(process(folder, "doctor", "--compile", "--json").stdout)
    assert record["pydine"] == pydine.__version__
    assert record["core"]["numpy"] == np.__version__
    assert record["extras"]["cli"].keys() == {"polars", "rich", "typer"}
    assert record["extras"]["cli"]["polars"] == pl.__version__
    assert record["cores"] == os.cpu_count()
    assert (record["compiled"], record["functions_to_compile"]) == (True, 0)
    assert record["functions"] >= 27


@posix
@pytest.mark.slow
def test_a_closed_pipe_ends_it_quietly(folder):
    command = [sys.executable, "-m", "pydine", "mi", "data.csv", "-x", "cause", "-y", "proxy", "--csv"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        done.stdout.close()
        said = done.stderr.read().splitlines()
    # On a slow machine it tells what it is doing, and how far it is.
    assert [line for line in said if not line.startswith(("pydine: compiling its kernels", "Estimating: "))] == []
    assert done.returncode == -signal.SIGPIPE


@pytest.mark.slow
def test_an_interrupt_is_one_line(folder):
    command = [sys.executable, "-m", "pydine", "mi", "-", "-x", "a", "-y", "b"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdin.write(b"a,b\n" + b"1,2\n" * 100_000)  # more than a pipe holds: when it is gone, it is being read
        while done.poll() is None:  # again, should the signal fall just before the process blocks in a read
            done.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                done.wait(5)
        # On a slow machine lines before it say how far reading has come.
        assert done.stderr.read().splitlines()[-1] == b"pydine: interrupted."
    assert done.returncode == 130

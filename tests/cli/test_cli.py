"""The command line, as people and scripts meet it: what is printed where, and the code it ends with."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import pydine
from pydine.cli import app

ROWS = 150


def make_frame():
    rng = np.random.default_rng(0)
    cause = rng.standard_normal(ROWS)
    return pl.DataFrame(
        {
            "cause": cause,
            "proxy": cause + 0.6 * rng.standard_normal(ROWS),
            "noise": rng.standard_normal(ROWS),
            "outcome": cause + 0.7 * rng.standard_normal(ROWS),
            "name": [f"no. {i}" for i in range(ROWS)],
            "one": [1] * ROWS,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    make_frame().write_csv(path / "data.csv")
    make_frame().write_parquet(path / "data.parquet")
    (path / "typo.csv").write_text("a,b\n1,2\n3,4\nl5,6\n")
    return path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run the command in this process: quick, for what does not need one of its own."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE)}
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pydine", *arguments])
        with pytest.raises(SystemExit) as end:
            app.main()
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, end.value.code or 0, said.out, said.err)

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def process(folder, *arguments, code=0, **options):
    """Run the real command in a process of its own."""
    command = [sys.executable, "-m", "pydine", *arguments]
    options = {"capture_output": True, "text": True, "cwd": folder, **options}
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in str(done.stderr)
    return done


# Every command, as a process.


def test_mi(folder):
    done = process(folder, "mi", "data.csv", "-x", "cause", "-y", "outcome", "-z", "noise")
    frame = make_frame()
    estimate = pydine.mutual_information("cause", "outcome", "noise", data=frame)
    low, high = estimate.confidence_interval()
    assert "I(cause; outcome | noise)" in done.stdout
    assert f"{estimate.value:.3f} nats" in done.stdout
    assert f"{estimate.bits:.3f} bits" in done.stdout
    assert f"95% interval {low:.3f} to {high:.3f}" in done.stdout
    assert "Once noise is known, cause still tells about outcome as much as a correlation of" in done.stdout
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
    assert "2 of 3 columns add nothing that was found to what the others tell." in done.stdout
    said = "Left out: 2 columns: 'one' (it is constant), 'name' (it has 150 different labels in 150 rows, too many to"
    assert " ".join(done.stdout.split()).startswith(said)


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
    assert '"cause" -> "proxy" [dir=none];' in out.read_text()


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
    assert record["extras"]["cli"] == {"polars": pl.__version__}
    assert record["cores"] == os.cpu_count()


@pytest.mark.slow
def test_a_closed_pipe_ends_it_quietly(folder):
    command = [sys.executable, "-m", "pydine", "mi", "data.csv", "-x", "cause", "-y", "proxy", "--csv"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        done.stdout.close()
        said = [line for line in done.stderr if not line.startswith("pydine: compiling its kernels")]
    assert said == []
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
        assert done.stderr.read().split() == b"pydine: interrupted.".split()
    assert done.returncode == 130


# What else is printed.


def test_the_figures_of_a_test(run):
    done = run("test", "data.csv", "-x", "noise", "-y", "outcome", "--permutations", "99", "--json")
    result = pydine.independence_test("noise", "outcome", data=make_frame(), n_permutations=99)
    record = json.loads(done.stdout)
    assert (done.returncode, record["pvalue"], record["rejected"]) == (0, result.pvalue, False)
    assert record["block_pvalues"] == dict(result.block_pvalues)
    done = run("test", "data.csv", "-x", "noise", "-y", "outcome", "--permutations", "99", "--exit-code")
    assert done.returncode == 0
    assert "Nothing speaks against it: independence is not rejected at 0.05" in done.stdout


def test_what_is_known_without_an_estimate(run, folder):
    """Infinite information has no standard error, and nothing is said of one; what z determines is said to be so."""
    cause = make_frame()["cause"]
    make_frame().with_columns(copy=-cause).write_csv(folder / "copies.csv")
    done = run("mi", "copies.csv", "-x", "cause", "-y", "copy")
    assert "inf nats" in done.stdout
    assert "As far as the rows tell, cause and copy determine each other." in done.stdout
    assert "nan" not in done.stdout
    done = run("mi", "copies.csv", "-x", "cause", "-y", "copy", "--json")
    record = json.loads(done.stdout)
    assert (record["information"], record["standard_error"], record["low"]) == ("inf", None, "inf")
    done = run("mi", "copies.csv", "-x", "copy", "-y", "outcome", "-z", "cause")
    assert "0.000 nats   ± 0.000" in done.stdout
    assert "cause determines a side: nothing of it is left to tell." in done.stdout
    assert "What is given determines a side of copy and outcome" in done.stderr


def test_tests_that_are_known_without_an_estimate(run, folder):
    make_frame().with_columns(copy=-make_frame()["cause"]).write_csv(folder / "copies.csv")
    done = run("test", "copies.csv", "-x", "cause", "-y", "copy")
    assert "No: independence is rejected at 0.05 (p <0.0001" in done.stdout
    assert "infinite, as far as the rows tell." in done.stdout
    done = run("test", "copies.csv", "-x", "copy", "-y", "outcome", "-z", "cause")
    assert "independence is not rejected at 0.05 (p = 1.000" in done.stdout
    done = run("matrix", "copies.csv", "-c", "cause", "-c", "copy", "-c", "noise")
    (line,) = (line.split() for line in done.stdout.splitlines() if line.split()[:2] == ["cause", "copy"])
    assert line == ["cause", "copy", "inf", "<0.0001", "gaussian"]


def test_csv_is_a_header_and_a_line(run):
    done = run("mi", "data.csv", "-x", "cause", "-y", "outcome", "-z", "noise,proxy", "--csv")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert row["z"] == "noise proxy"
    assert float(row["low"]) < float(row["information"]) < float(row["high"])


@pytest.mark.slow
def test_rank_for_machines(run):
    from pydine.questions.ranking import rank

    record = json.loads(run("rank", "data.csv", "-t", "outcome", "--json").stdout)
    ranking = rank(make_frame().select("cause", "proxy", "noise", "outcome"), "outcome")
    assert [line["column"] for line in record["columns"]] == [column.name for column in ranking]
    assert record["columns"][0]["information_given_rest"] == ranking.columns[0].given_rest.value
    assert record["add_nothing"] == list(ranking.add_nothing) == ["proxy", "noise"]
    assert record["left_out"] == {
        "one": "it is constant",
        "name": "it has 150 different labels in 150 rows, too many to learn from any",
    }
    (row,) = csv.DictReader(io.StringIO(run("rank", "data.csv", "-t", "outcome", "-c", "cause", "--csv").stdout))
    assert row["information_alone"] == row["information_given_rest"]


def test_missing_values_are_said_and_cost_no_more_rows_than_they_must(run, folder):
    text = (folder / "data.csv").read_text().splitlines()
    text[3] = "," + text[3].partition(",")[2]
    (folder / "holes.csv").write_text("\n".join(text))
    question = ("mi", "holes.csv", "-x", "cause", "-y", "outcome")
    refused = run(*question, "--nan", "fail")
    assert refused.returncode == 1
    assert "column 'cause' has 1 missing value in line 4" in refused.stderr
    done = run(*question, "--json")
    record = json.loads(done.stdout)
    assert (record["n_samples"], record["n_dropped"], record["missing"]) == (ROWS - 1, 1, {"cause": 1})
    assert "Missing values: cause <1%; every figure uses the rows that have what it needs." in done.stderr
    pairs = json.loads(run("matrix", "holes.csv", "--json").stdout)["pairs"]
    assert {(pair["x"], pair["y"]): pair["n"] for pair in pairs} == {
        pair: ROWS - ("cause" in pair) for pair in combinations(("cause", "proxy", "noise", "outcome"), 2)
    }


def test_a_sample_is_said_to_be_one(run):
    done = run("mi", "data.csv", "-x", "cause", "-y", "outcome", "--sample", "60")
    assert "60 rows" in done.stdout
    assert done.stdout.startswith("A first look: 60 of 150 rows, drawn at random.")


@pytest.mark.slow
def test_tied_values_are_one_note(run, folder):
    make_frame().with_columns(pl.col("cause", "outcome").round(0)).write_csv(folder / "ties.csv")
    question = "rank", "ties.csv", "-t", "outcome", "--without", "noise"
    assert "Repeated values in" not in run(*question).stderr  # steps are handled
    done = run(*question, "--kind", "cause=continuous", "--kind", "outcome=continuous")
    assert done.stderr.count("Repeated values in") == 1


def test_kinds_are_said_on_the_command_line(run):
    question = "mi", "data.csv", "-x", "cause", "-y", "outcome"
    record = json.loads(run(*question, "--json", "--kind", "cause=continuous").stdout)
    assert record["kinds"] == [[], [], []]
    assert 0.0 < record["correlation"] < 1.0
    assert record["explained"] is None
    record = json.loads(run(*question, "-z", "noise", "--json", "--kind", "cause=ordinal").stdout)
    assert record["kinds"] == [["ordinal"], ["continuous"], ["continuous"]]
    assert 0.0 < record["explained"] < 1.0
    table = run(*question, "-z", "noise", "--csv", "--kind", "cause=ordinal").stdout
    assert next(csv.DictReader(table.splitlines()))["kinds"] == "ordinal continuous continuous"
    assert "must be COLUMN=KIND" in " ".join(run(*question, "--kind", "cause").stderr.split())


def test_nothing_is_cut_off_on_a_narrow_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "46")
    done = run("mi", "data.csv", "-x", "cause", "-y", "outcome")
    assert max(map(len, done.stdout.splitlines())) <= 46
    assert "…" not in done.stdout


def test_names_are_printed_as_they_are(run, folder):
    names = {"cause": "temp [C]", "outcome": ":smile:", "noise": "[red]"}
    make_frame().select(*names).rename(names).write_csv(folder / "names.csv")
    printed = run("matrix", "names.csv", "--given", "[red]").stdout
    assert "Information of pairs, given [red]" in printed
    assert "temp [C]" in printed
    assert ":smile:" in printed


def test_no_colour_where_nobody_looks(run):
    assert "\x1b" not in run("mi", "data.csv", "-x", "cause", "-y", "outcome").stdout


def test_graphs_are_written_for_others(tmp_path):
    import networkx as nx

    from pydine.cli.output.graphs import DIRECTED, UNDIRECTED, Edge, write_graph

    edges = [Edge('a "b"', "c", DIRECTED), Edge("c", "d", UNDIRECTED)]
    names = ['a "b"', "c", "d", "alone"]
    for suffix in ("graphml", "dot", "svg"):
        write_graph(tmp_path / f"graph.{suffix}", names, edges)
    network = nx.read_graphml(tmp_path / "graph.graphml")
    assert set(network) == set(names)
    assert nx.get_edge_attributes(network, "kind") == {('a "b"', "c"): "directed", ("c", "d"): "undirected"}
    assert r'"a \"b\"" -> "c" [dir=forward];' in (tmp_path / "graph.dot").read_text()
    assert "alone" in (tmp_path / "graph.svg").read_text() or "<svg" in (tmp_path / "graph.svg").read_text()


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
        (b"cause,outcome\n" + b"1,2\n" * 50, "bad.csv: column 'cause' of x must vary"),
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
    assert "no/such/matrix.csv cannot be written, there is no folder no/such." in done.stderr


def test_ten_thousand_columns(run, folder):
    rng = np.random.default_rng(0)
    np.save(folder / "wide.npy", rng.standard_normal((40, 10_000)))
    names = ",".join(f"c{i}" for i in range(10_000))
    np.savetxt(folder / "wide.csv", rng.standard_normal((12, 10_000)), "%.3f", ",", header=names, comments="")
    for command in (("matrix", "wide.csv"), ("rank", "wide.csv", "-t", "c5"), ("graph", "wide.csv")):
        done = run(*command)
        assert done.returncode == 1
        assert "columns to compare, and more than 1,000 are too many; name some with --column" in done.stderr
    record = json.loads(run("mi", "wide.npy", "-x", "1", "-y", "10000", "--base", "gaussian", "--json").stdout)
    assert record["n_samples"] == 40


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
    assert record["left_out"] == {"word": "it holds labels, which --top does not compare"}
    assert len(pl.read_parquet(folder / "pairs.parquet")) == record["n_found"] >= 2
    strong = run("matrix", "many.parquet", "--threshold", "0.6", "--csv").stdout.splitlines()
    assert [line.split(",")[:2] for line in strong] == [["x", "y"], ["c3", "c7"]]
    assert "pairs depend on each other at 0.05" in run("matrix", "many.parquet", "--top", "5").stdout
    for words in (["--plot", "a.png"], ["--out", "a.csv"], ["--shard", "1/2"]):
        done = run("matrix", "many.parquet", "--top", "5", *words)
        assert done.returncode == 2
        assert words[0] in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mi", "data.csv", "-x", "name", "-y", "noise"), "column 'name' of x has 150 different labels in 150 rows"),
        (("matrix", "data.csv", "-c", "name,noise"), "data.csv has fewer than two columns to compare"),
        (
            ("mi", "typo.csv", "-x", "a", "-y", "b"),
            "column 'a' must hold numbers, but line 4 holds 'l5'; mend that cell",
        ),
        (("mi", "data.csv", "-x", "name", "-y", "one", "--kind", "name=ordinal"), "so that it cannot be ordinal"),
        (("matrix", "data.csv", "-c", "cause"), "data.csv has fewer than two columns to compare"),
        (("graph", "data.csv", "-c", "cause"), "data.csv has fewer than two columns to compare"),
        (("rank", "data.csv", "-t", "outcome", "--without", "cause,proxy,noise"), "no column to rank beside 'outcome'"),
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
    assert "this is a defect of pydine (RuntimeError: flux); PYDINE_TRACEBACK=1 shows where" in done.stderr

"""What is printed: figures, what was done to the data, for people and for machines."""

import csv
import io
import json
from itertools import combinations

import polars as pl
import pytest

import pydine
from command_line import ROWS, make_frame


def test_the_figures_of_a_test(run):
    done = run("test", "data.csv", "-x", "noise", "-y", "outcome", "--permutations", "99", "--json")
    result = pydine.independence_test("noise", "outcome", data=make_frame(), n_permutations=99)
    record = json.loads(done.stdout)
    assert (done.returncode, record["pvalue"], record["rejected"]) == (0, result.pvalue, False)
    assert record["block_pvalues"] == dict(result.block_pvalues)
    done = run("test", "data.csv", "-x", "noise", "-y", "outcome", "--permutations", "99", "--exit-code")
    assert done.returncode == 0
    assert "No evidence against it: independence is not rejected at 0.05" in done.stdout


def test_what_is_known_without_an_estimate(run, folder):
    """Infinite information has no standard error, and nothing is said of one; what z determines is said to be so."""
    cause = make_frame()["cause"]
    make_frame().with_columns(copy=-cause).write_csv(folder / "copies.csv")
    done = run("mi", "copies.csv", "-x", "cause", "-y", "copy")
    assert "inf nats" in done.stdout
    assert "As far as these rows show, cause and copy determine each other." in done.stdout
    assert "nan" not in done.stdout
    done = run("mi", "copies.csv", "-x", "cause", "-y", "copy", "--json")
    record = json.loads(done.stdout)
    assert (record["information"], record["standard_error"], record["low"]) == ("inf", None, "inf")
    done = run("mi", "copies.csv", "-x", "copy", "-y", "outcome", "-z", "cause")
    assert "0.000 nats   ± 0.000" in done.stdout
    assert "cause determines copy, so the information is 0." in done.stdout
    assert "What is given determines copy (of copy and outcome)" in done.stderr


def test_tests_that_are_known_without_an_estimate(run, folder):
    make_frame().with_columns(copy=-make_frame()["cause"]).write_csv(folder / "copies.csv")
    done = run("test", "copies.csv", "-x", "cause", "-y", "copy")
    assert "No: independence is rejected at 0.05 (p <0.0001" in done.stdout
    assert "infinite, as far as these rows show." in done.stdout
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
    assert record["not_detected"] == list(ranking.not_detected) == ["proxy", "noise"]
    assert record["left_out"] == {
        "one": "it is constant",
        "name": "it has 150 different labels in 150 rows, too many to learn from",
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
    assert "Missing values: cause <1%; each figure uses the rows that have what it needs." in done.stderr
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
    assert "Tied values in" not in run(*question).stderr  # steps are handled
    done = run(*question, "--kind", "cause=continuous", "--kind", "outcome=continuous")
    assert done.stderr.count("Tied values in") == 1


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
    assert "Information between pairs, given [red]" in printed
    assert "temp [C]" in printed
    assert ":smile:" in printed


def test_no_colour_where_nobody_looks(run):
    assert "\x1b" not in run("mi", "data.csv", "-x", "cause", "-y", "outcome").stdout


def test_the_sentences_of_a_ranking(run, folder):
    frame = make_frame().drop("name", "one")
    frame.with_columns(Code=pl.int_range(ROWS) % 4, town=pl.lit("a")).write_csv(folder / "codes.csv")
    said = run("rank", "codes.csv", "-t", "Code", "-c", "noise,outcome").stdout
    assert "No information about Code is detected in any column." in said
    assert "Ordinal: Code; the others are continuous" in said
    said = run("rank", "codes.csv", "-t", "noise", "-c", "Code", "--kind", "Code=nominal").stdout
    assert "No information about noise is detected in Code." in said
    assert "Nominal: Code; the others are continuous\n150 rows; ± is one standard error; p is given the rest\n" in said
    said = run("rank", "codes.csv", "-t", "outcome", "-c", "cause").stdout
    assert "cause is informative about outcome." in said
    assert "continuous" not in said
    record = json.loads(run("rank", "codes.csv", "-t", "outcome", "-c", "cause,Code", "--json").stdout)
    assert {line["column"]: line["kind"] for line in record["columns"]} == {"cause": "continuous", "Code": "ordinal"}


def test_a_kind_is_said_of_several_columns_and_of_those_that_are_left_out(run, folder):
    frame = make_frame().with_columns(a=pl.int_range(ROWS) % 4, b=pl.int_range(ROWS) // 10 % 3)
    frame.write_csv(folder / "kinds.csv")
    question = ("rank", "kinds.csv", "-t", "noise", "--without", "cause,proxy,outcome", "--json")
    done = run(*question, "--kind", "a,b,one,cause=nominal")
    assert {line["column"]: line["kind"] for line in json.loads(done.stdout)["columns"]} == dict.fromkeys(
        "ab", "nominal"
    )

"""The commands compare, interaction, synergies, corr and rows, as processes."""

import csv
import io
import json

import numpy as np
import pytest

import pydine
from command_line import make_frame, process

SIDES = ("-x", "cause", "-y", "outcome")


def test_compare(folder):
    done = process(folder, "compare", "data.csv", *SIDES, "--than", "noise", "--json")
    found = pydine.compare("cause", "noise", "outcome", data=make_frame())
    record = json.loads(done.stdout)
    assert record["value"] == pytest.approx(found.value)
    assert [record["low"], record["high"]] == pytest.approx(list(found.confidence_interval()))
    assert record["pvalue"] == pytest.approx(found.pvalue)
    assert record["verdict"] == "cause tells more"


@pytest.mark.slow
def test_compare_groups_by_their_labels(folder, tmp_path):
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((2, 400))
    groups = np.repeat(["old", "new"], 200)
    y = np.where(groups == "new", 3.0, 0.3) * x + noise
    lines = [f"{a},{b},{g}" for a, b, g in zip(x, y, groups, strict=True)]
    file = tmp_path / "groups.csv"
    file.write_text("\n".join(["x,y,when", *lines]))
    done = process(folder, "compare", str(file), "-x", "x", "-y", "y", "--by", "when")
    assert "more information in new" in done.stdout
    assert "200 and 200 rows" in done.stdout
    wrong = process(folder, "compare", str(file), "-x", "x", "-y", "y", "--by", "when", "--group", "never", code=1)
    assert "column 'when' has no group 'never'; it has" in wrong.stderr


def test_a_table_of_frequencies(tmp_path):
    cells = [("a", "u", 40), ("a", "v", 20), ("b", "u", 15), ("b", "v", 50)]
    lines = [f"{x},{y},{z},{count + z}" for x, y, count in cells for z in range(4)]
    (tmp_path / "counts.csv").write_text("\n".join(["x,y,z,Freq", *lines]))
    long = [f"{x},{y},{z}" for x, y, count in cells for z in range(4) for _ in range(count + z)]
    (tmp_path / "long.csv").write_text("\n".join(["x,y,z", *long]))
    sides = ("-x", "x", "-y", "y", "--json")
    for command in (("mi", *sides), ("compare", *sides, "--than", "z"), ("interaction", *sides, "--with", "z")):
        told, plain = (
            json.loads(process(tmp_path, command[0], file, *command[1:], *said).stdout)
            for file, said in (("counts.csv", ("--weights", "Freq")), ("long.csv", ()))
        )
        for name in ("information", "value", "low", "high", "n_samples"):
            assert told.get(name) == plain.get(name)
    hint = process(tmp_path, "mi", "counts.csv", "-x", "x", "-y", "y").stderr
    assert "pass --weights Freq" in hint


def test_compare_with_one_thing(folder):
    done = process(folder, "compare", "data.csv", *SIDES, code=2)
    assert "pass exactly one of them" in done.stderr


@pytest.mark.slow
def test_interaction(folder):
    done = process(folder, "interaction", "data.csv", *SIDES, "--with", "proxy")
    found = pydine.interaction("cause", "proxy", "outcome", data=make_frame())
    assert "cause and proxy together" in done.stdout
    assert f"{found.value:+.3f} ± {found.standard_error:.3f}" in done.stdout
    record = json.loads(process(folder, "interaction", "data.csv", *SIDES, "--with", "proxy", "--json").stdout)
    assert record["information_first_beyond"] == pytest.approx(found.first_beyond.value)


@pytest.mark.slow
def test_corr(folder):
    done = process(folder, "corr", "data.csv", "-c", "cause", "-c", "proxy", "-c", "outcome", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    found = pydine.corr({name: make_frame()[name] for name in ("cause", "proxy", "outcome")})
    assert [row["column"] for row in rows] == list(found.columns)
    assert float(rows[0]["proxy"]) == pytest.approx(found.loc["cause", "proxy"])
    assert "1.00" in process(folder, "corr", "data.csv", "-c", "cause", "-c", "proxy").stdout
    few = process(folder, "corr", "data.csv", "-c", "cause", code=1)
    assert "data.csv has fewer than two columns to correlate" in few.stderr


def test_rows(folder):
    assert "103 rows detect 0.05 nats" in process(folder, "rows", "--nats", "0.05").stdout
    record = json.loads(process(folder, "rows", "--n", "442", "--json").stdout)
    assert record["information"] == pytest.approx(pydine.detectable_information(442).information)
    assert "pass exactly one of them" in process(folder, "rows", code=2).stderr
    assert "rows must be an integer of at least 12" in process(folder, "rows", "--n", "3", code=1).stderr


@pytest.mark.slow
def test_synergies(folder):
    asked = ("synergies", "data.csv", "--target", "outcome", "--most", "2")
    record = json.loads(process(folder, *asked, "--json").stdout)
    found = pydine.synergies(make_frame(), "outcome", ["cause", "proxy", "noise"], most=2)
    assert [row["value"] for row in record["pairs"]] == pytest.approx([pair.value for pair in found])
    assert "2 of 3 pairs, chosen by screening" in process(folder, *asked).stdout

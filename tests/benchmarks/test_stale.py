"""The command that finds stale tables, on a repository of temporary files."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.provenance import code_version

COMMAND = Path(__file__).parents[2] / "benchmarks" / "stale.py"

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the benchmarks are not part of a package")


@pytest.fixture
def root(tmp_path):
    for folder in ("src/pydine", "benchmarks/results", "docs/api"):
        (tmp_path / folder).mkdir(parents=True)
    homes = dict.fromkeys(("mutual_information", "DINE", "independence_test"), "pydine.kernel")
    (tmp_path / "src/pydine/__init__.py").write_text(f"_HOMES = {homes}\n")
    (tmp_path / "src/pydine/kernel.py").write_text("SCALE = 1.0  # chosen by hand\n")
    current = code_version(tmp_path / "src/pydine")
    results = tmp_path / "benchmarks/results"
    (results / "fresh.md").write_text(f"- dine: code {current}, commit 0123456 (10 rows).\n- ksg: 10 rows.\n")
    (results / "old.md").write_text(f"- dine: code {current} (5 rows); code deadbeef, commit 0123456 (5 rows).\n")
    (results / "peers.md").write_text("machine code on disk; versions of other packages\n")
    (results / "bare.csv").write_text(f"n,method,code,commit,error\n1,dine,{current},,\n1,ksg,,,\n")
    (tmp_path / "README.md").write_text("See `benchmarks/results/fresh.md` and `benchmarks/results/peers.md`.\n")
    return tmp_path


def stale(root):
    done = subprocess.run([sys.executable, COMMAND, "--root", root], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines() if ".md" in line or ".csv" in line]
    return done, {words[0]: words[1:] for words in lines if words[1] != "cites"}


def test_states_citations_and_confessions(root):
    done, listed = stale(root)
    assert done.returncode == 0
    assert {name: words[0] for name, words in listed.items()} == {
        "bare.csv": "fresh",
        "fresh.md": "fresh",
        "old.md": "STALE",
        "peers.md": "not",
    }
    assert listed["fresh.md"][-1] == "README.md"
    assert "deadbeef" in listed["old.md"][-2] + listed["old.md"][-3]

    page = root / "docs/api/page.md"
    page.write_text("Words.\n\nSee\n`benchmarks/results/old.md`. An earlier version was worse.\n")
    done, _ = stale(root)
    assert done.returncode == 1
    assert "docs/api/page.md cites old.md, which is stale, without saying so." in done.stdout

    page.write_text("See `benchmarks/results/old.md`, made with an\nearlier version.\n")
    done, listed = stale(root)
    assert done.returncode == 0
    assert listed["old.md"][-3:] == ["docs/api/page.md", "(says", "so)"]


def test_rows_that_were_confirmed_are_fresh(root):
    results = root / "benchmarks/results"
    rows = "n,method,code,commit,error\n1,dine,deadbeef,,\n1,other,deadbeef,,\n"
    (results / "bare.csv").write_text(rows)
    assert stale(root)[1]["bare.csv"][0] == "STALE"
    now = code_version(root / "src/pydine")
    listed = "method,code,now,again,rows\n" + f"dine,deadbeef,{now},5,10\n"
    (results / "confirmed").mkdir()
    (results / "confirmed" / "bare.csv").write_text(listed)
    assert stale(root)[1]["bare.csv"][0] == "STALE"  # the other method's rows are not confirmed
    (results / "confirmed" / "bare.csv").write_text(listed + f"other,deadbeef,{now},5,10\n")
    assert stale(root)[1]["bare.csv"][0] == "fresh"


def test_code_ages_a_table_and_words_do_not(root):
    kernel = root / "src/pydine/kernel.py"
    kernel.write_text('"""The kernel."""\n\nSCALE = 1.0\n')
    assert stale(root)[0].returncode == 0
    kernel.write_text("SCALE = 2.0\n")
    done, listed = stale(root)
    assert done.returncode == 1
    assert listed["fresh.md"][0] == "STALE"

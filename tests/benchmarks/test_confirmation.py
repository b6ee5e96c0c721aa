"""Rows that say which code they are of: renewed, or confirmed by a sample of them."""

import csv
import io
import sys
from contextlib import contextmanager
from functools import partial

import pytest
from rich.console import Console

from harness import runner
from harness.confirmation import read_confirmed
from harness.provenance import ESTIMATES, code_version
from harness.runner import run
from pydine.experiments.convergence import run_convergence
from pydine.experiments.datasets import paper_mi
from pydine.experiments.runner import Outcome, Task

ROWS = 150
SILENT = Console(file=io.StringIO())


class Draw:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self):
        return paper_mi(ROWS, 1, 0.5, self.seed)


def tasks(count, methods=("a",)):
    return [Task({"d": 1, "rho": 0.5, "seed": seed}, Draw(seed), tuple(methods)) for seed in range(count)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "table.csv"


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Answers:
    """A method whose answers differ from before for the given seeds."""

    def __init__(self, moved=()):
        self.seeds, self.moved = [], moved

    def __call__(self, data):
        if len(data.x) == ROWS:
            self.seeds.append(data.seed)
        return Outcome(data.seed + (1e-3 if data.seed in self.moved else 0.0))


@contextmanager
def older_code(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(runner, "code_version", lambda scope: f"older {scope}")
        yield


def run_with_older_code(path, monkeypatch, count):
    with older_code(monkeypatch):
        run(tasks(count), {"a": Answers()}, path, console=SILENT)


def test_rows_say_which_code_they_are_of(path):
    methods, theirs = {"a": Answers(), "theirs": Answers()}, frozenset({"theirs"})
    rows = run(tasks(2, methods), methods, path, foreign=theirs, console=SILENT)
    assert [(row["code"], row["confirmed"]) for row in rows] == [(code_version(), ""), ("", "")] * 2
    assert str(read_confirmed(path)) == str(rows)  # as text: NaN is not equal to itself


def test_renew_runs_again_what_older_code_of_this_library_did(path, monkeypatch):
    methods, theirs = {"a": Answers(), "theirs": Answers()}, frozenset({"theirs"})
    run(tasks(1, methods), methods, path, foreign=theirs, console=SILENT)
    with older_code(monkeypatch):
        run(tasks(2, methods), methods, path, foreign=theirs, console=SILENT)
    methods = {"a": Answers(), "theirs": Answers()}
    run(tasks(2, methods), methods, path, renew=True, foreign=theirs, console=SILENT)
    assert (methods["a"].seeds, methods["theirs"].seeds) == ([1], [])
    assert {row["code"] for row in lines(path)} == {code_version(), ""}


def test_fresh_runs_all_again(path):
    again = Answers()
    for _ in range(2):
        run(tasks(2), {"a": again}, path, fresh=True, console=SILENT)
    assert again.seeds == [0, 1, 0, 1]


def test_the_paper_s_experiments_with_this_runner(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # a figure takes longer than the rows
    run_some = partial(
        run_convergence,
        sizes=(100,),
        trials=2,
        methods=["dine-gaussian"],
        output=tmp_path,
        runner=partial(run, scope=ESTIMATES),
    )
    with older_code(monkeypatch):
        assert {row["code"] for row in run_some(console=SILENT).rows} == {f"older {ESTIMATES}"}
    first, second = io.StringIO(), io.StringIO()
    done = run_some(renew=True, console=Console(file=first))
    assert {row["code"] for row in done.rows} == {code_version(scope=ESTIMATES)}
    assert first.getvalue().startswith("2 rows to run")
    run_some(renew=True, console=Console(file=second))
    assert second.getvalue().startswith("0 rows to run")


def test_rows_of_older_code_are_confirmed_by_a_sample(path, monkeypatch):
    run_with_older_code(path, monkeypatch, 6)
    again, said = Answers(), io.StringIO()
    rows = run(tasks(6, ["a"]), {"a": again}, path, confirm=2, console=Console(file=said, width=200))
    assert len(again.seeds) == 2
    assert "a, code older all: 2 rows are the same, which confirms 4 others." in said.getvalue()
    assert sorted((row["code"], row["confirmed"]) for row in rows) == sorted(
        [(code_version(), "")] * 2 + [("older all", code_version())] * 4
    )
    (listed,) = lines(path.parent / "confirmed" / path.name)
    assert listed == {
        "method": "a", "code": "older all", "now": code_version(), "again": "2", "rows": "6"
    }  # fmt: skip
    renewed = Answers()
    run(tasks(6, ["a"]), {"a": renewed}, path, renew=True, console=SILENT)
    assert renewed.seeds == []


def test_one_row_that_differs_confirms_nothing(path, monkeypatch):
    run_with_older_code(path, monkeypatch, 4)
    said = io.StringIO()
    rows = run(tasks(4, ["a"]), {"a": Answers({0, 1, 2})}, path, confirm=2, console=Console(file=said, width=200))
    assert "of 2 rows differ; renew the 2 others." in said.getvalue()
    assert {row["confirmed"] for row in rows} == {""}
    assert not (path.parent / "confirmed").exists()
    renewed = Answers()
    run(tasks(4, ["a"]), {"a": renewed}, path, renew=True, console=SILENT)
    assert len(renewed.seeds) == 2

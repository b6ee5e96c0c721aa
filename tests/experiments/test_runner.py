import csv
import io
import math
import sys

import numpy as np
import pytest
from rich.console import Console
from threadpoolctl import threadpool_info, threadpool_limits

from faults import files_of, flips, full_disk
from pydine import __version__
from pydine.baselines.gaussian import gaussian_copula
from pydine.experiments import runner
from pydine.experiments.datasets import paper_mi
from pydine.experiments.runner import COSTS, FIGURES, Outcome, Task, run
from pydine.experiments.table import ORIGIN, read

ROWS = 150
SILENT = Console(file=io.StringIO())


class Draw:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self):
        return paper_mi(ROWS, 1, 0.5, self.seed)


def tasks(count=3, methods=("copula",)):
    return [Task({"d": 1, "rho": 0.5, "seed": seed}, Draw(seed), tuple(methods)) for seed in range(count)]


def copula(data):
    return Outcome(gaussian_copula(data.x, data.y))


class Recorder:
    """A method that notes the seeds of the whole datasets it was called with, and may do something at one of them."""

    def __init__(self, at=None, action=None):
        self.seeds, self.at, self.action = [], at, action

    def __call__(self, data):
        if len(data.x) == ROWS:
            self.seeds.append(data.seed)
            if data.seed == self.at:
                return self.action()
        return Outcome(float(data.seed))


@pytest.fixture(autouse=True)
def cold(monkeypatch):
    monkeypatch.setattr(runner, "_warm", set())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "table.csv"


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def failing():
    raise ZeroDivisionError("first line\nsecond line")


def interrupting():
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_row_has_the_key_the_truth_the_estimate_and_what_it_cost(path):
    rows = run(tasks(2), {"copula": copula}, path, console=SILENT)
    assert [list(row) for row in rows] == [["d", "rho", "seed", "method", *FIGURES, *COSTS, *ORIGIN]] * 2
    for seed, row in enumerate(rows):
        data = paper_mi(ROWS, 1, 0.5, seed)
        assert (row["d"], row["rho"], row["seed"], row["method"]) == (1, 0.5, seed, "copula")
        assert row["truth"] == pytest.approx(-0.5 * math.log(0.75), rel=1e-7)
        assert row["estimate"] == pytest.approx(gaussian_copula(data.x, data.y), rel=1e-7)
        assert row["seconds"] >= 0.0
        assert row["peak_mib"] > 10.0
        assert math.isnan(row["low"])
        assert row["code"] == __version__
        assert row["error"] == ""
    assert str(read(path)) == str(rows)  # as text: NaN is not equal to itself
    assert not list(path.parent.glob(".*"))


@pytest.mark.slow
def test_finished_rows_are_not_run_again_and_new_ones_are_added(path):
    first, second = Recorder(), Recorder()
    run(tasks(2, ["a"]), {"a": first}, path, console=SILENT)
    rows = run(tasks(3, ["a", "b"]), {"a": first, "b": second}, path, console=SILENT)
    assert first.seeds == [0, 1, 2]
    assert second.seeds == [0, 1, 2]
    assert [(row["seed"], row["method"]) for row in rows] == [(s, m) for s in range(3) for m in "ab"]
    run(tasks(1, ["b"]), {"b": second}, path, console=SILENT)
    assert len(lines(path)) == 6


@pytest.mark.slow
def test_parts_that_name_their_columns_in_another_order_are_not_run_again(path):
    first = tasks(1)
    other = [Task({"rho": 0.7, "seed": 1, "d": 1}, Draw(1), ("copula",))]
    method = Recorder()
    for _ in range(2):
        rows = run([*first, *other], {"copula": method}, path, console=SILENT)
        assert [row["estimate"] for row in rows] == [0.0, 1.0]
    assert method.seeds == [0, 1]
    assert len(read(path)) == 2


@pytest.mark.slow
def test_a_failure_stays_in_its_row_and_is_tried_again(path):
    broken, whole = Recorder(1, failing), Recorder()
    rows = run(tasks(3, ["broken", "whole"]), {"broken": broken, "whole": whole}, path, console=SILENT)
    assert [row["error"] for row in rows if row["method"] == "whole"] == [""] * 3
    assert [row["error"] for row in rows if row["method"] == "broken"] == [
        "",
        "ZeroDivisionError: first line second line",
        "",
    ]
    assert math.isnan(rows[2]["estimate"])

    mended = Recorder()
    run(tasks(1, ["whole"]), {"whole": whole}, path, console=SILENT)  # asks for other rows: the failed one is kept
    assert sum(bool(row["error"]) for row in lines(path)) == 1
    run(tasks(3, ["broken"]), {"broken": mended}, path, console=SILENT)
    assert mended.seeds == [1]
    assert [row["error"] for row in lines(path)] == [""] * 6


@pytest.mark.slow
def test_an_estimate_that_is_not_a_number_is_a_failure(path):
    (row,) = run(tasks(1, ["nan"]), {"nan": lambda _: Outcome(math.nan)}, path, console=SILENT)
    assert row["error"] == "the estimate is nan"


@pytest.mark.slow
def test_an_interrupted_run_loses_the_row_in_flight_alone(path):
    first = Recorder(2, interrupting)
    with pytest.raises(KeyboardInterrupt):
        run(tasks(5, ["a"]), {"a": first}, path, console=SILENT)
    assert [row["seed"] for row in lines(path)] == ["0", "1"]
    with path.open("a") as file:
        file.write("1,0.5,2,a,0.14")  # half a line, as a killed process may leave it
    second = Recorder()
    rows = run(tasks(5, ["a"]), {"a": second}, path, console=SILENT)
    assert second.seeds == [2, 3, 4]
    assert [row["estimate"] for row in rows] == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.slow
def test_flipped_bits_are_run_again_or_refused(path):
    """Never another number: the row is run again, or a sentence says that the table is another one."""
    expected = [row["estimate"] for row in run(tasks(3), {"copula": copula}, path, console=SILENT)]
    whole, again, refused = path.read_bytes(), 0, 0
    for damaged in flips(whole, 50):
        path.write_bytes(damaged)
        try:
            read(path)
        except ValueError:
            again += 1
        else:
            assert [row["estimate"] for row in read(path) if "estimate" in row] in (expected, [])
        path.write_bytes(damaged)
        try:
            rows = run(tasks(3), {"copula": copula}, path, console=SILENT)
        except ValueError as error:
            assert "must be a table of this experiment" in str(error)  # noqa: PT017
            refused += 1
        else:
            assert [row["estimate"] for row in rows] == expected
    assert again > 30
    assert 0 < refused < 30


@pytest.mark.slow
def test_a_damaged_row_is_named_when_a_table_is_read(path):
    run(tasks(3), {"copula": copula}, path, console=SILENT)
    path.write_text(path.read_text().replace("copula,0.14", "copula,0.24"))
    with pytest.raises(ValueError, match=r"table\.csv has 3 row\(s\) that were changed or damaged; run the exp"):
        read(path)


@pytest.mark.slow
def test_rows_of_older_tables_have_no_check(path):
    run(tasks(3), {"copula": copula}, path, console=SILENT)
    older = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join([*older, ""]))
    recorder = Recorder()
    rows = run(tasks(3), {"copula": recorder}, path, console=SILENT)
    assert recorder.seeds == []
    assert all(row["check"] for row in rows) or all(row["check"] for row in read(path))


@pytest.mark.slow
def test_a_full_disk_leaves_the_table_that_was_there(path):
    run(tasks(3), {"copula": copula}, path, console=SILENT)
    before = path.read_bytes()
    with full_disk(100), pytest.raises(OSError, match=r"table\.csv"):
        run(tasks(4), {"copula": copula}, path, console=SILENT)
    assert path.read_bytes() == before
    assert [file.name for file in files_of(path.parent)] == ["table.csv"]


@pytest.mark.slow
def test_fresh_runs_again_what_is_asked_and_keeps_the_rest(path):
    run(tasks(2, ["a", "b"]), {"a": Recorder(), "b": Recorder()}, path, console=SILENT)
    again = Recorder()
    run(tasks(1, ["a"]), {"a": again}, path, fresh=True, console=SILENT)
    assert again.seeds == [0]
    assert len(lines(path)) == 4


def test_renew_runs_again_what_another_version_of_this_library_did(path, monkeypatch):
    methods, theirs = {"a": Recorder(), "theirs": Recorder()}, frozenset({"theirs"})
    run(tasks(1, list(methods)), methods, path, foreign=theirs, console=SILENT)
    with monkeypatch.context() as patched:
        patched.setattr(runner, "__version__", "0.0.1")
        run(tasks(2, list(methods)), methods, path, foreign=theirs, console=SILENT)
    methods = {"a": Recorder(), "theirs": Recorder()}
    run(tasks(2, list(methods)), methods, path, renew=True, foreign=theirs, console=SILENT)
    assert (methods["a"].seeds, methods["theirs"].seeds) == ([1], [])
    assert {row["code"] for row in lines(path)} == {__version__, ""}


@pytest.mark.slow
def test_a_table_without_the_newer_columns_is_kept(path):
    path.parent.mkdir()
    path.write_text(
        "d,rho,seed,method,truth,estimate,low,high,seconds,code,error\n1,0.5,0,a,0.143841,0.150000,,,0.1,ffffffff,\n"
    )
    method = Recorder()
    old, new = run(tasks(2, ["a"]), {"a": method}, path, console=SILENT)
    assert method.seeds == [1]
    assert (old["estimate"], old["code"]) == (0.15, "ffffffff")
    assert math.isnan(old["peak_mib"])
    assert math.isnan(old["score"])
    assert new["peak_mib"] > 0.0


def test_a_table_of_another_experiment_is_refused_and_left_alone(path):
    path.parent.mkdir()
    text = "family,seed,method,estimate\nsteps,0,a,0.1\n"
    path.write_text(text)
    with pytest.raises(ValueError, match="it differs in d, family, rho; move it away"):
        run(tasks(1), {"copula": copula}, path, console=SILENT)
    assert path.read_text() == text


@pytest.mark.slow
def test_transient_rows_are_returned_and_not_kept(path):
    methods = {"a": Recorder(), "b": Recorder()}
    rows = run(tasks(2, ["a", "b"]), methods, path, transient={"b"}, console=SILENT)
    assert len(rows) == 4
    assert {row["method"] for row in lines(path)} == {"a"}
    run(tasks(2, ["a", "b"]), methods, path, transient={"b"}, console=SILENT)
    assert (methods["a"].seeds, methods["b"].seeds) == ([0, 1], [0, 1, 0, 1])


@pytest.mark.slow
def test_rows_of_other_people_s_methods_name_no_code(path):
    ours, theirs = run(tasks(1, ["a", "b"]), {"a": Recorder(), "b": Recorder()}, path, foreign={"b"}, console=SILENT)
    assert (ours["code"], theirs["code"], theirs["commit"]) == (__version__, "", "")


@pytest.mark.slow
def test_a_method_may_say_other_things_of_other_data(path):
    def method(words):
        return {"length": len(words), "last": words[-1]}

    task = Task({"text": "two words"}, lambda: ["two", "words"], ("count",))
    for _ in range(2):  # as it is run, and as it is read
        (row,) = run([task], {"count": method}, path, figures=("length", "last"), console=SILENT)
        assert list(row) == ["text", "method", "length", "last", *COSTS, *ORIGIN]
        assert (row["text"], row["length"], row["last"], row["error"]) == ("two words", 2.0, "words", "")


@pytest.mark.slow
def test_workers_give_the_rows_that_one_process_gives(tmp_path):
    alone = run(tasks(4), {"copula": copula}, tmp_path / "1.csv", console=SILENT)
    shared = run(tasks(4), {"copula": copula}, tmp_path / "2.csv", jobs=2, console=SILENT)
    assert [row["estimate"] for row in shared] == [row["estimate"] for row in alone]
    assert [row["seed"] for row in lines(tmp_path / "2.csv")] == ["0", "1", "2", "3"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no locks of this kind")
def test_a_second_run_is_kept_away_from_the_file(path):
    def meddle():
        run(tasks(1), {"copula": copula}, path, console=SILENT)

    (row,) = run(tasks(1, ["a"]), {"a": Recorder(0, meddle)}, path, console=SILENT)
    assert row["error"] == f"RuntimeError: another run is writing to {path}; wait for it, or write to another folder."


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the peak cannot be reset")
def test_the_peak_memory_is_that_of_the_row(path):
    def large():
        return Outcome(float(np.ones(100 * 2**17).mean()))  # 100 MiB

    before, during, after = run(tasks(3, ["a"]), {"a": Recorder(1, large)}, path, console=SILENT)
    assert during["peak_mib"] > before["peak_mib"] + 90.0
    assert after["peak_mib"] < during["peak_mib"] - 90.0


@pytest.mark.slow
def test_a_row_has_one_thread_and_leaves_the_callers_alone(path):
    def threads(_):
        return Outcome(float(max(library["num_threads"] for library in threadpool_info())))

    with threadpool_limits(2):
        (row,) = run(tasks(1, ["threads"]), {"threads": threads}, path, console=SILENT)
        assert max(library["num_threads"] for library in threadpool_info()) == 2
    assert row["estimate"] == 1.0


@pytest.mark.slow
def test_the_first_row_is_not_the_first_call(path):
    seen = []

    def method(data):
        seen.append(len(data.x))
        return Outcome(0.0)

    run(tasks(2, ["a"]), {"a": method}, path, console=SILENT)
    assert seen == [runner.WARM_UP_ROWS, ROWS, ROWS]


@pytest.mark.slow
def test_progress_is_a_line_now_and_then_without_a_terminal(path):
    out = io.StringIO()
    methods = {"a": Recorder(1, failing)}
    run(tasks(3, ["a"]), methods, path, console=Console(file=out, width=200))
    first, last = out.getvalue().splitlines()
    assert first == "3 rows to run"
    assert last.startswith("3 of 3 rows, 1 failed, ")


@pytest.mark.slow
def test_progress_is_a_bar_with_the_time_left_in_a_terminal(path):
    out = io.StringIO()
    run(tasks(3), {"copula": copula}, path, console=Console(file=out, force_terminal=True, width=100))
    assert "3/3" in out.getvalue()
    assert "left" in out.getvalue()


@pytest.mark.parametrize(("seconds", "shown"), [(5.4, "5 s"), (150, "2 min"), (7200, "2.0 h")])
def test_durations_are_rounded(seconds, shown):
    assert runner._duration(seconds) == shown

"""Ctrl-C in every phase of a command: one line, the exit code 130, and nothing half-written."""

import gc
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from faults import files_of
from pydine.cli import app
from pydine.disk import UNFINISHED

# The command, but for a function that says on the standard output when the phase has begun, and then takes its time.
SCRIPT = """
import importlib, json, os, sys, time
module, name, slow = json.loads(sys.argv.pop(1))
place = importlib.import_module(module)
*way, name = name.split(".")
for step in way:
    place = getattr(place, step)
before = getattr(place, name)
def begun(*arguments, **options):
    if slow == "half" and len(arguments[1]) > 300:
        before(arguments[0], arguments[1][:300])
    os.write(1, b"begun\\n")  # in one piece, whatever another thread writes
    if slow in ("half", "sleep"):
        time.sleep(60)
    return before(*arguments, **options)
setattr(place, name, begun)
if sys.argv[1] == "cache":
    import numpy as np, pydine
    from pydine.cli.app import _interrupted
    import signal; signal.signal(signal.SIGINT, _interrupted)
    x, y, z = np.random.default_rng(0).standard_normal((3, 100))
    model = pydine.DINE(base="gaussian").fit(x, y)
    model.save("model.npz") if len(sys.argv) > 2 else pydine.mutual_information(x + z, y + z, z, cache="units")
else:
    from pydine.cli.app import main
    main()
"""
RUN = ["mi", "data.csv", "-x", "x", "-y", "y", "-z", "z"]
PHASES = {
    "reading": (["pydine.inputs.files.frame", "TableFile.read", "sleep"], RUN),
    "compilation": (["pydine.work.execution", "fit_ladder", ""], RUN),
    "fitting": (["pydine.work.tasks", "fit_ladder", ""], RUN),
    "fitting in threads": (["pydine.work.tasks", "fit_ladder", ""], [*RUN, "--jobs", "2"]),
    "permutations": (
        ["pydine.nulls.moments", "_Shifts.__call__", "sleep"],
        ["test", "data.csv", "-x", "x", "-y", "y", "--permutations", "9999"],
    ),
    "a ranking of which nothing is known": (
        ["pydine.questions.ranking", "_Asker.__call__", "sleep"],
        ["rank", "data.csv", "--target", "y"],
    ),
    "a report": (
        ["pathlib", "Path.write_bytes", "half"],
        ["report", "data.csv", "--target", "y", "--out", "page.html"],
    ),
    "a matrix": (["pathlib", "Path.write_bytes", "half"], ["matrix", "data.csv", "--out", "matrix.csv"]),
    "a cache": (["pathlib", "Path.write_bytes", "half"], ["cache"]),
    "a model": (["pathlib", "Path.write_bytes", "half"], ["cache", "model"]),
    "rows of an experiment": (
        ["pydine.experiments.runner", "_run_row", "sleep"],
        ["bench", "mi", "--quick", "--output", "results"],
    ),
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    x, y, z = rng.standard_normal((3, 150))
    rows = np.column_stack([x + z, y + z, z]).tolist()
    (tmp_path / "data.csv").write_text("x,y,z\n" + "\n".join(",".join(map(repr, row)) for row in rows))
    return tmp_path


def test_ctrl_c_that_compiled_code_hands_on_as_an_error_of_its_own(monkeypatch, capsys):
    """The interpreter finds the interruption set beside a result, and says SystemError."""

    def command(**_):
        try:
            app._interrupted()
        except SystemExit as interruption:
            raise SystemError("returned a result with an exception set") from interruption

    monkeypatch.setattr(app, "command_line", lambda *_: command)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as end:
            app.main()
    finally:
        signal.signal(signal.SIGINT, before)
        gc.unfreeze()
        gc.enable()
    assert (end.value.code, capsys.readouterr().err.split()) == (130, ["pydine:", "interrupted."])


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c(phase, folder, tmp_path_factory):
    patched, command = PHASES[phase]
    environment = dict(os.environ)
    if phase == "compilation":  # with nothing compiled yet
        environment["NUMBA_CACHE_DIR"] = str(tmp_path_factory.mktemp("compiled"))
    start = [sys.executable, "-c", SCRIPT, json.dumps(patched), *command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(start, cwd=folder, env=environment, **pipes) as process:
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)  # a guard: what hangs is to fail
    assert said == "begun\n", err
    heard = [line for line in err.splitlines() if line and "compiling its kernels" not in line]
    heard = [line for line in heard if not line.endswith("rows to run") and " after " not in line]  # of progress
    assert (heard, process.returncode) == (["pydine: interrupted."], 130)
    assert set(out.split()) <= {"begun"}  # of another thread
    left = {file.name for file in files_of(folder)} - {"data.csv"}
    assert not [
        name for name in left if name.startswith(UNFINISHED) or name.endswith((".tmp", ".lock", ".html", ".npz"))
    ]
    if phase == "compilation":
        kept = files_of(environment["NUMBA_CACHE_DIR"])
        assert not [file.name for file in kept if file.name.startswith(UNFINISHED)]

"""After ``pydine doctor --compile`` nothing is compiled, whatever is asked; without it, only what a question needs."""

import json
import os
import subprocess
import sys

import pytest

COUNTED = """
import sys
from numba.core import event

compiled = []

class Listener(event.Listener):
    def on_start(self, found):
        compiled.append(found.data["dispatcher"].py_func.__name__)

    def on_end(self, found):
        pass

event.register("numba:compile", Listener())
import numpy as np
import pydine

rng = np.random.default_rng(0)
n = 150
z, w = rng.standard_normal((2, n))
x, y = z + rng.standard_normal((2, n))
table = {
    "x": x, "y": y, "z": z, "count": rng.poisson(np.exp(0.5 * x)),
    "label": np.array(list("abc"))[rng.integers(0, 3, n)],
    "yes": (y + w > 0).astype(int), "step": np.round(y), "many": rng.integers(0, 30, n).astype(str),
}
some = {name: table[name] for name in ("x", "count", "step", "z")}
questions = {
    "alone": lambda: pydine.mutual_information(x, y, random_state=0),
    "given": lambda: pydine.mutual_information(x, y, z, random_state=0),
    "sides": lambda: pydine.mutual_information(np.c_[x, w], y, np.c_[z, w > 0], random_state=0),
    "test": lambda: pydine.independence_test(x, y, z, random_state=0),
    "exact": lambda: pydine.independence_test("label", "yes", "many", data=table, random_state=0),
    "rank": lambda: pydine.rank(table, "y", ["x", "count", "label", "yes"]),
    "to a label": lambda: pydine.rank(table, "label", ["x", "count", "many"]),
    "all pairs": lambda: pydine.pairwise_information(some, given=["z"]),
    "lags": lambda: pydine.lagged_information(table, "x", "y", lags=range(2)),
    "graph": lambda: pydine.causal_graph({name: table[name] for name in ("x", "y", "z", "yes")}),
    "paper": lambda: pydine.DINE.paper(random_state=0).fit(x, y, z).transform(x, y, z),
}
for name in sys.argv[1:] or questions:
    questions[name]()
import json
print(json.dumps(compiled))
"""


def compiled_for(environment, *questions):
    """What a new process compiles for questions, and what it says."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNTED, *questions], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}


@pytest.mark.slow
def test_nothing_is_compiled_after_the_doctor(environment):
    command = [sys.executable, "-m", "pydine", "doctor", "--compile", "--json"]
    record = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert record["compiled"]
    assert record["cache_files"] >= 20
    assert compiled_for(environment) == ([], "")


@pytest.mark.slow
def test_a_question_compiles_what_it_needs(environment):
    """A question of numbers needs no tables of labels; and the next one in the same place needs nothing."""
    compiled, said = compiled_for(environment, "alone")
    assert len(compiled) == len(set(compiled))
    assert "search" in compiled
    assert not {"stratified", "segment_shares", "step_moments"} & set(compiled)
    assert said.startswith("pydine: compiling")
    assert compiled_for(environment, "alone") == ([], "")

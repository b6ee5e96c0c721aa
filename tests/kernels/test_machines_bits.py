"""The same answers on every CPU: a process that plays another one fits the same units, to the bit.

All that is compiled has the same bits everywhere. After it come BLAS and NumPy's own vector code, whose last digits
differ, so answers are compared with the digits that anyone reads.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

from harness.machines import NATIVE, environment, playable

# What each process does: units and latents as hexadecimal digits, answers as numbers.
QUESTIONS = """
import json, sys
import numpy as np
import pydine
from pydine.kernels.normal import rank_scores
from pydine.inputs.table import Question
from pydine.latents.workshop import Workshop
from pydine.latents.scores import ScoreMap
from pydine.units.ladder import LadderSettings, cross_fit_ladder

def bits(array):
    return np.ascontiguousarray(array, dtype=np.float64).tobytes().hex()

# Whole numbers, so that the data themselves do not hang on how a machine computes a sine.
rng = np.random.default_rng(0)
z = rng.integers(-500, 501, (240, 3)) / 250.0
bent = z[:, 0] * z[:, 0] - 0.5 * z[:, 1]
x, y = bent + rng.integers(-500, 501, (2, 240)) / 400.0
w = x * x + rng.integers(-500, 501, 240) / 500.0
cells = rng.integers(0, 3, 240) + (y > 0)

units = {}
for name, target, context in (
    ("one column", y, z[:, :1]),
    ("three columns", x, z),
    ("wide", w, x[:, None]),
    ("tied", cells, z[:, :2]),
):
    t, *c = (ScoreMap.fit(np.ascontiguousarray(a, dtype=float))[1] for a in (target, *context.T))
    settings = LadderSettings(networks=1, wide_networks=name == "wide", iterations=60)
    unit, held_out = cross_fit_ladder(t, np.array(c), settings)
    units[name] = [bits(unit.weights), bits(held_out), bits(unit.latent(t, np.array(c)))]
    units[name] += [bits(model.theta) for model in unit.models] + [sorted(unit.rung_weights.items())]
units["scores"] = [bits(rank_scores(1000))]
question = Question.of(x[:, None], y[:, None], z)
latents = Workshop(question.table, LadderSettings(networks=1, iterations=60)).flow(question)[1]
units["latents"] = [bits(latents.unprojected), bits(latents.z), latents.outwards.tolist()]

answers = {}
for name, sides in {"given z": (x, y, z), "bent": (x, w), "one z": (x, y, z[:, 0])}.items():
    estimate = pydine.mutual_information(*sides)
    answers[name] = [estimate.value, estimate.standard_error, estimate.base]
pvalues = {
    name: pydine.independence_test(*sides, method="analytic").pvalue
    for name, sides in {"given z": (x, y, z), "independent": (x, z[:, 2], z[:, :2]), "bent": (x, w)}.items()
}
json.dump({"units": units, "answers": answers, "pvalues": pvalues}, sys.stdout)
"""


def played(name, cache):
    """Answers of a process that plays a CPU, with machine code of its own."""
    found = environment(name, cache=cache)
    done = subprocess.run([sys.executable, "-c", QUESTIONS], env=found, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


# The oldest CPU that can be played differs most from what is here.
OTHERS = [name for name in playable() if name != NATIVE][-1:]


@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="this machine cannot play another CPU")
def test_another_cpu_gives_the_same_answers(tmp_path):
    """Of two machines, since only then is one of them not this one, with whatever machine code it has kept."""
    here, there = played(NATIVE, None), played(OTHERS[0], tmp_path)
    assert here["units"].keys() == there["units"].keys()
    for name, unit in here["units"].items():
        assert there["units"][name] == unit, f"{name} differs"
    for name, (value, error, base) in here["answers"].items():
        other_value, other_error, other_base = there["answers"][name]
        assert other_base == base, name
        assert other_value == pytest.approx(value, abs=0.01 * error), name
        assert other_error == pytest.approx(error, rel=0.01), name
    for name, pvalue in here["pvalues"].items():
        # Where p is near 1 its logarithm is near 0: there p itself is compared.
        room = max(0.02 * abs(np.log(pvalue)), 0.002)
        assert np.log(there["pvalues"][name]) == pytest.approx(np.log(pvalue), abs=room), name

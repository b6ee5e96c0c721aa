"""One function answers whatever was asked: estimates, tests and rows' values, verdicts included."""

import numpy as np
import pytest

import pydine
from pydine.answers.answer import Verdict
from pydine.answers.asking import Asker, ask
from pydine.answers.settings import Settings
from pydine.inputs.reading import read_question
from pydine.work.cache import UnitCache

N = 150
Z, A, B = np.random.default_rng(0).standard_normal((3, N))
X, Y = Z + A, Z + A + B
LABELS = np.digitize(X, [-0.5, 0.5]).astype(str)
SETTINGS = Settings(n_jobs=1, cache=UnitCache()).seeded()


@pytest.mark.parametrize("x", [X, LABELS])
def test_an_answer_is_that_of_the_doors(x):
    found = ask(read_question(x, Y, Z), SETTINGS, keeps_rows=True)
    assert found.verdict is None
    assert found.estimate.value == pydine.mutual_information(x, Y, Z).value
    assert found.pvalue == pydine.independence_test(x, Y, Z, method="analytic").pvalue
    np.testing.assert_array_equal(found.values, pydine.pointwise_information(x, Y, Z).values)
    np.testing.assert_array_equal(found.rows, np.arange(N))
    assert found.shows


@pytest.mark.parametrize(
    ("x", "y", "z", "verdict"), [(Z, Y, Z, Verdict.NOTHING_LEFT), (X, np.exp(X), Z, Verdict.INFINITE)]
)
def test_a_verdict_is_an_answer_as_well(x, y, z, verdict):
    found = ask(read_question(x, y, z), SETTINGS, is_tested=False, keeps_rows=True)
    assert (found.verdict, found.estimate.value, found.pvalue, found.shows) == (
        verdict,
        verdict.value,
        verdict.pvalue,
        "",
    )
    np.testing.assert_array_equal(found.values, np.zeros(N))


def test_what_nobody_wants_is_not_kept():
    found = ask(read_question(X, Y), SETTINGS, is_tested=False)
    assert np.isnan(found.pvalue)
    assert len(found.values) == len(found.rows) == 0


def test_an_asker_answers_by_places_and_knows_the_units():
    question = read_question(X, Y, Z)
    asker = Asker.of(question.table, SETTINGS, is_tested=False)
    cache = UnitCache()
    assert asker(question.blocks, cache).estimate.value == ask(question, SETTINGS).estimate.value
    needed = asker.tasks(question.blocks)
    assert len(needed) == 2
    assert all(cache.has(task) for task in needed)
    assert asker.tasks((question.x, question.y, (*question.given, *question.y))) == []  # nothing is left of y

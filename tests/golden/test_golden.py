"""Answers are those that are stored, as nearly as another CPU comes; `make golden` compares all to nine digits."""

import json
import math

import pytest

from golden import master
from golden.questions import questions, quick
from pydine.kernels.compilation import declared

STORED, QUICK = master.stored(), quick()


def undeclared():
    """Signatures with which this process has called kernels that do not say so."""
    said = {}
    for kernel, signature in declared():
        said.setdefault(kernel, set()).add(signature)
    return {
        (kernel, signature) for kernel, signatures in said.items() for signature in {*kernel.overloads} - signatures
    }


def test_every_question_is_stored():
    assert set(STORED) == set(questions())
    assert len(STORED) >= 200


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_answers_are_where_they_were(name):
    before = undeclared()
    ((_, now),) = master.asked({name: QUICK[name]})
    assert undeclared() == before  # compiled beforehand by `pydine doctor --compile`, and brought by a wheel
    found = list(master.moves(name, STORED[name], now, exact=False))
    assert not found, "\n" + master.table(found)


ESTIMATE = {"value": 0.3, "error": 0.02, "low": 0.2, "high": 0.4, "base": "flow", "n": 100}
ANSWER = {"estimate": ESTIMATE, "block p": {"a, b": 0.01}, "test": {"p": 1e-8}, "rows": {"mean": 0.1}}


@pytest.mark.parametrize(
    ("part", "name", "figure", "is_same", "is_near"),
    [
        ("estimate", "value", 0.3 + 1e-10, True, True),
        ("estimate", "value", 0.3 + 1e-8, False, True),
        ("estimate", "value", 0.3015, False, True),
        ("estimate", "value", 0.3025, False, False),
        ("estimate", "value", math.nan, False, False),
        ("estimate", "base", "gaussian", False, False),
        ("estimate", "n", 99, False, False),
        ("block p", "a, b", 0.0101, False, True),
        ("block p", "a, b", 0.02, False, False),
        ("test", "p", 1.2e-8, False, True),
        ("test", "p", 1e-7, False, False),
        ("rows", "mean", 0.15, False, True),
        ("rows", "mean", 0.3, False, False),
    ],
)
def test_what_counts_as_a_move(part, name, figure, is_same, is_near):
    now = json.loads(json.dumps(ANSWER))
    now[part][name] = figure
    for exact, is_still in ((True, is_same), (False, is_near)):
        found = list(master.moves("?", ANSWER, now, exact=exact))
        assert [move.figure for move in found] == ([] if is_still else [f"{part} {name}"])
    assert not list(master.moves("?", ANSWER, {**ANSWER, "more": {"value": 1.0}}, exact=True))


def test_a_figure_that_is_gone_has_moved():
    (move,) = master.moves("?", {"test": {"p": 0.1}}, {}, exact=False)
    assert (move.found, move.distance) == (None, math.inf)
    assert "None" in master.table([move])

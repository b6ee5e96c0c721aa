"""A bounded run of the fuzzer; `make fuzz` is the long one, and README's promises are what it holds results against."""

import gc
import warnings

import pytest

import pydine
from fuzz import calls, frames, hostile, loaders
from fuzz.outcomes import Tally, fault, run, sentence_fault

CALLS, FRAMES, FILES, LOADS = 150, 200, 120, 500
SEED = 1_000_000  # not those that `make fuzz` begins with


@pytest.fixture(autouse=True)
def _collect_garbage():
    """The command puts it off."""
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.slow
def test_calls_end_in_a_result_or_a_sentence():
    tally = Tally()
    for seed in range(SEED, SEED + CALLS):
        calls.ask(tally, seed)
    assert tally.outcomes["a result"] > 0.2 * CALLS
    assert tally.findings == []


@pytest.mark.slow
def test_columns_of_any_kind_end_in_a_result_or_a_sentence(tmp_path):
    tally = Tally()
    for seed in range(SEED, SEED + FRAMES):
        frames.ask(tally, seed, tmp_path)
    assert tally.outcomes["a result"] > 0.15 * FRAMES
    assert tally.findings == []


@pytest.mark.slow
def test_files_end_in_an_answer_or_a_sentence(tmp_path):
    tally = Tally()
    for seed in range(SEED, SEED + FILES):
        hostile.read(tally, seed, tmp_path)
    assert tally.outcomes["an answer"] > 0
    assert tally.findings == []


@pytest.mark.slow
def test_what_somebody_has_edited_gives_the_same_numbers_twice_or_a_sentence(tmp_path):
    tally = Tally()
    for seed in range(SEED, SEED + LOADS):
        loaders.load(tally, seed, tmp_path)
    assert all(tally.outcomes[f"{kind}: numbers"] > 0.01 * LOADS for kind in ("model", "unit", "result"))
    assert tally.findings == []


def warning():
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    return {"value": 1.0}


def failing(error):
    raise error


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda: {"value": 0.5, "pvalue": 1.0}, None),
        (lambda: {"value": float("inf")}, None),
        (lambda: {"value": float("nan")}, "value is NaN"),
        (lambda: {"pvalue": 0.0}, "a p-value of 0.0"),
        (lambda: {"low": float("-inf")}, "low is minus infinity"),
        (warning, "RuntimeWarning in test_fuzz.py (overflow)"),
        (lambda: pydine.mutual_information([], []), None),
        (lambda: failing(ValueError("x must vary.")), "ValueError in tests/fuzz/test_fuzz.py:failing: x must vary."),
        (lambda: failing(ValueError("x\ny")), "a refusal of several lines"),
        (lambda: failing(TypeError("")), "a refusal without a word"),
        (lambda: failing(KeyError("x")), "KeyError in tests/fuzz/test_fuzz.py:failing ('x')"),
        (lambda: failing(UnicodeDecodeError("utf-8", b"", 0, 1, "x")), "UnicodeDecodeError in tests/fuzz/test_fuzz.py"),
    ],
)
def test_what_counts_as_a_finding(call, found):
    tally = Tally()
    run(tally, "label", call)
    assert len(tally.findings) == (found is not None)
    assert all(finding.startswith(f"label: {found}") for finding in tally.findings)


def test_what_a_sentence_is():
    assert sentence_fault("One sentence.") is None
    assert sentence_fault("x" * 1000) == "a refusal of more than a few lines"
    assert fault({"values": [1.0, 2.0]}) is None


@pytest.mark.parametrize(
    ("code", "out", "err", "found"),
    [
        (0, '{"information": 0.5}', "", None),
        (0, '{"information": null}', "", "an information that is not a number"),
        (0, "\x1b[2J", "", "something that a terminal obeys, or a stack"),
        (1, "", "pydine: data.csv is empty.\n", None),
        (1, "", "pydine: this is a bug in pydine (KeyError)", "a defect, as it says itself"),
        (2, "", "Usage", "the exit code 2"),
        (-11, "", "", "the exit code -11"),
    ],
)
def test_what_counts_as_a_finding_of_a_command(code, out, err, found):
    assert hostile.faults_of(("mi", "--json"), code, out, err) == found

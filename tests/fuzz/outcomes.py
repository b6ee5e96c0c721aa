"""What a call may lead to: a finite result, a documented infinity, or one sentence. Anything else is a finding."""

import math
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import sklearn

import pydine

LONGEST_SENTENCE = 700
# Whose refusals are written for those who ask.
WORDED = tuple(Path(package.__file__).parent for package in (pydine, sklearn))
# scikit-learn's own validation, which its estimators are expected to use, words and warnings included.
SCIKIT_LEARN = (
    "Expected 2D array, got",
    "Input X contains NaN",
    "Input y contains NaN",
    "Complex data not supported",
    "invalid value encountered in reduce",
)
NEVER_NAN = ("value", "information", "pvalue", "low", "high")


@dataclass
class Tally:
    """How many outcomes there were of each kind, and what was found."""

    outcomes: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)

    def add(self, outcome, finding=None):
        self.outcomes[outcome] += 1
        if finding is not None:
            self.findings.append(finding)

    def report(self, title):
        lines = [f"{title}: {sum(self.outcomes.values())} tried"]
        lines += [f"  {count:6d} {outcome}" for outcome, count in self.outcomes.most_common()]
        kinds = Counter(finding.partition("\n")[0].partition(": ")[2] for finding in self.findings)
        lines += [f"  FOUND {count} times: {kind}" for kind, count in kinds.most_common()]
        return "\n".join(lines)


def sentence_fault(text):
    """What is wrong with a refusal, or None."""
    if not text.strip():
        return "a refusal without a word"
    if text.startswith(SCIKIT_LEARN):
        return None
    if "\n" in text.strip():
        return "a refusal of several lines"
    if len(text) > LONGEST_SENTENCE:
        return "a refusal of more than a few lines"
    return None


def number_fault(name, value):
    """What is wrong with a number of a result, or None."""
    if math.isnan(value) and name in NEVER_NAN:
        return f"{name} is NaN"
    if value == -math.inf:
        return f"{name} is minus infinity"
    if name == "pvalue" and not 0.0 < value <= 1.0:
        return f"a p-value of {value}"
    return None


def fault(numbers):
    """What is wrong with a result, given as named numbers and arrays; or None."""
    for name, value in numbers.items():
        for item in np.ravel(np.asarray(value, dtype=float)).tolist():
            found = number_fault(name, item)
            if found:
                return found
    return None


def place_of(error):
    """Which function raised it, with two folders: what libraries below say, they say to programmers."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{'/'.join(last.filename.split('/')[-3:])}:{last.name}"


def is_worded(error):
    """Whether a refusal was raised by pydine, or by scikit-learn's validation or whatever that asked."""
    paths = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    known = [path for path in paths if any(map(path.is_relative_to, WORDED))]
    is_last = bool(known) and (known[-1] == paths[-1] or not known[-1].is_relative_to(WORDED[0]))
    return is_last and type(error) in (ValueError, TypeError)


def run(tally, label, call):
    """Make one call and put it down; `call` gives named numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = fault(call())
            outcome = "a result"
        except (ValueError, TypeError) as error:
            found, outcome = sentence_fault(str(error)), f"one sentence ({type(error).__name__})"
            found = found or (None if is_worded(error) else f"{type(error).__name__} in {place_of(error)}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            text = " ".join(str(error).split())[:100]
            found, outcome = f"{type(error).__name__} in {place_of(error)} ({text})", "another exception"
    if found is None:
        doubtful = RuntimeWarning, DeprecationWarning, FutureWarning
        heard = [w for w in caught if issubclass(w.category, doubtful) and str(w.message) not in SCIKIT_LEARN]
        if heard:
            place = heard[0].filename.rpartition("/")[2]
            found = f"{heard[0].category.__name__} in {place} ({str(heard[0].message)[:80]})"
    tally.add(outcome, None if found is None else f"{label}: {found}")

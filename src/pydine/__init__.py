"""pydine: how much X tells about Y, alone or given Z, with normalizing flows (DINE).

`mutual_information` answers most questions; `DINE` is the estimator behind it. Values are in nats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydine._version import __version__

if TYPE_CHECKING:
    from pydine.answers.policy import DeterminedWarning
    from pydine.inputs.checks import TiesWarning
    from pydine.questions.estimator import DINE
    from pydine.questions.explanation import why
    from pydine.questions.independence import independence_test
    from pydine.questions.mutual_information import mutual_information, pointwise_information
    from pydine.questions.pairwise import pairwise_information
    from pydine.questions.selection import ConditionalSelector, mutual_information_score
    from pydine.questions.streamed.refining import SampledWarning
    from pydine.results import IndependenceTestResult, InformationEstimate, PairwiseInformation, PointwiseInformation
    from pydine.work.cache import UnitCache

__all__ = [
    "DINE",
    "ConditionalSelector",
    "DeterminedWarning",
    "Explanation",
    "IndependenceTestResult",
    "InformationEstimate",
    "PairwiseInformation",
    "PointwiseInformation",
    "Ranking",
    "SampledWarning",
    "TiesWarning",
    "UnitCache",
    "WideInformation",
    "__version__",
    "independence_test",
    "mutual_information",
    "mutual_information_score",
    "pairwise_information",
    "pointwise_information",
    "rank",
    "why",
    "wide_information",
]

# Names are imported when they are first used: Numba and scikit-learn take their time, and `import pydine` should not.
_HOMES = {
    "ConditionalSelector": "pydine.questions.selection",
    "DINE": "pydine.questions.estimator",
    "DeterminedWarning": "pydine.answers.policy",
    "Explanation": "pydine.results.explanation",
    "IndependenceTestResult": "pydine.results",
    "InformationEstimate": "pydine.results",
    "PairwiseInformation": "pydine.results",
    "PointwiseInformation": "pydine.results",
    "Ranking": "pydine.results.ranking",
    "SampledWarning": "pydine.questions.streamed.refining",
    "TiesWarning": "pydine.inputs.checks",
    "UnitCache": "pydine.work.cache",
    "WideInformation": "pydine.results",
    "independence_test": "pydine.questions.independence",
    "mutual_information": "pydine.questions.mutual_information",
    "mutual_information_score": "pydine.questions.selection",
    "pairwise_information": "pydine.questions.pairwise",
    "pointwise_information": "pydine.questions.mutual_information",
    "rank": "pydine.questions.ranking",
    "why": "pydine.questions.explanation",
    "wide_information": "pydine.questions.wide",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pydine' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

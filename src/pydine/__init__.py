"""pydine: how much X tells about Y, alone or given Z, with normalizing flows (DINE).

`mutual_information` answers most questions; `DINE` is the estimator behind it. Values are in nats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydine._version import __version__

if TYPE_CHECKING:
    from pydine.answers.policy import DeterminedWarning
    from pydine.inputs.checks import TiesWarning
    from pydine.questions.causal_graph import causal_graph
    from pydine.questions.comparing import compare, compare_groups
    from pydine.questions.correlating import corr
    from pydine.questions.estimator import DINE
    from pydine.questions.explanation import why
    from pydine.questions.independence import independence_test
    from pydine.questions.interactions import interaction
    from pydine.questions.lags import lagged_information, transfer_information
    from pydine.questions.mutual_information import mutual_information, pointwise_information
    from pydine.questions.pairwise import pairwise_information
    from pydine.questions.planning import detectable_information, rows_needed
    from pydine.questions.selection import ConditionalSelector, mutual_information_score
    from pydine.questions.streamed.refining import SampledWarning
    from pydine.questions.synergies import synergies
    from pydine.results import InformationEstimate, PointwiseInformation
    from pydine.results.contrasts import Difference
    from pydine.results.graphs import CausalGraph
    from pydine.results.independence import IndependenceTestResult
    from pydine.results.interactions import Interaction
    from pydine.results.lags import LaggedInformation, TransferInformation
    from pydine.results.pairs import PairwiseInformation
    from pydine.results.power import Power
    from pydine.results.synergies import Synergies
    from pydine.work.cache import UnitCache

__all__ = [
    "DINE",
    "CausalGraph",
    "ConditionalSelector",
    "DeterminedWarning",
    "Difference",
    "Explanation",
    "IndependenceTestResult",
    "InformationEstimate",
    "Interaction",
    "LaggedInformation",
    "PairwiseInformation",
    "PointwiseInformation",
    "Power",
    "Ranking",
    "SampledWarning",
    "Synergies",
    "TiesWarning",
    "TransferInformation",
    "UnitCache",
    "WideInformation",
    "__version__",
    "causal_graph",
    "compare",
    "compare_groups",
    "corr",
    "detectable_information",
    "independence_test",
    "interaction",
    "lagged_information",
    "mutual_information",
    "mutual_information_score",
    "pairwise_information",
    "pointwise_information",
    "rank",
    "rows_needed",
    "synergies",
    "transfer_information",
    "why",
    "wide_information",
]

# Names are imported when they are first used: Numba and scikit-learn take their time, and `import pydine` should not.
_HOMES = {
    "CausalGraph": "pydine.results.graphs",
    "ConditionalSelector": "pydine.questions.selection",
    "DINE": "pydine.questions.estimator",
    "DeterminedWarning": "pydine.answers.policy",
    "Difference": "pydine.results.contrasts",
    "Explanation": "pydine.results.explanation",
    "IndependenceTestResult": "pydine.results.independence",
    "InformationEstimate": "pydine.results",
    "LaggedInformation": "pydine.results.lags",
    "Interaction": "pydine.results.interactions",
    "PairwiseInformation": "pydine.results.pairs",
    "PointwiseInformation": "pydine.results",
    "Power": "pydine.results.power",
    "Ranking": "pydine.results.ranking",
    "SampledWarning": "pydine.questions.streamed.refining",
    "Synergies": "pydine.results.synergies",
    "TiesWarning": "pydine.inputs.checks",
    "TransferInformation": "pydine.results.lags",
    "UnitCache": "pydine.work.cache",
    "WideInformation": "pydine.results.wide",
    "causal_graph": "pydine.questions.causal_graph",
    "independence_test": "pydine.questions.independence",
    "lagged_information": "pydine.questions.lags",
    "compare": "pydine.questions.comparing",
    "compare_groups": "pydine.questions.comparing",
    "corr": "pydine.questions.correlating",
    "detectable_information": "pydine.questions.planning",
    "interaction": "pydine.questions.interactions",
    "mutual_information": "pydine.questions.mutual_information",
    "mutual_information_score": "pydine.questions.selection",
    "pairwise_information": "pydine.questions.pairwise",
    "pointwise_information": "pydine.questions.mutual_information",
    "rank": "pydine.questions.ranking",
    "transfer_information": "pydine.questions.lags",
    "rows_needed": "pydine.questions.planning",
    "synergies": "pydine.questions.synergies",
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

"""Frozen answers: an estimate, a test, the information of single rows and of all pairs, a causal graph."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydine.results.estimates import ConfidenceInterval, InformationEstimate, PointwiseInformation, default_names

if TYPE_CHECKING:
    from pydine.results.graphs import AbsentEdge, CausalGraph, GraphEdge
    from pydine.results.independence import IndependenceTestResult
    from pydine.results.pairs import PairwiseInformation
    from pydine.results.wide import WideInformation

__all__ = [
    "AbsentEdge",
    "CausalGraph",
    "ConfidenceInterval",
    "GraphEdge",
    "IndependenceTestResult",
    "InformationEstimate",
    "PairwiseInformation",
    "PointwiseInformation",
    "WideInformation",
    "default_names",
]

# Imported when they are first asked for: most questions give none of them.
_HOMES = {
    **dict.fromkeys(("AbsentEdge", "CausalGraph", "GraphEdge"), "pydine.results.graphs"),
    "IndependenceTestResult": "pydine.results.independence",
    "PairwiseInformation": "pydine.results.pairs",
    "WideInformation": "pydine.results.wide",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pydine.results' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

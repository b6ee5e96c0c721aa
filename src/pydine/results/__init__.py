"""Frozen answers: an estimate, a test, the information of single rows and of all pairs, a causal graph."""

from pydine.results.estimates import (
    ConfidenceInterval,
    InformationEstimate,
    PointwiseInformation,
    default_names,
)
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

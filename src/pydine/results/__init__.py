"""Frozen answers: an estimate, a test, the information of single rows and that of all pairs."""

from pydine.results.estimates import (
    ConfidenceInterval,
    IndependenceTestResult,
    InformationEstimate,
    PointwiseInformation,
    default_names,
)
from pydine.results.pairs import PairwiseInformation
from pydine.results.wide import WideInformation

__all__ = [
    "ConfidenceInterval",
    "IndependenceTestResult",
    "InformationEstimate",
    "PairwiseInformation",
    "PointwiseInformation",
    "WideInformation",
    "default_names",
]

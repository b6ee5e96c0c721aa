"""Frozen answers: an estimate and single rows here, every other one in its module, imported where it is given."""

from pydine.results.estimates import ConfidenceInterval, InformationEstimate, PointwiseInformation, default_names

__all__ = ["ConfidenceInterval", "InformationEstimate", "PointwiseInformation", "default_names"]

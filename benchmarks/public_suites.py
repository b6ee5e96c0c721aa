"""Figures of a test on a public suite, beside those that were published with it: shared by `public_*.py`."""

import common  # noqa: F401

# isort: split

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

import pydine
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Outcome

LEVEL = 0.05


def tested(data: Dataset) -> Outcome:
    return Outcome(float(pydine.independence_test(data.x, data.y, data.z, method="analytic", n_jobs=1).pvalue))


def area(dependent: NDArray[np.float64], independent: NDArray[np.float64]) -> float:
    """The area under the ROC curve: how often a p-value of the first sample is below one of the second."""
    if not (len(dependent) and len(independent)):
        return np.nan
    ranks = rankdata(np.concatenate([independent, dependent]))
    below = ranks[: len(independent)].sum() - 0.5 * len(independent) * (len(independent) + 1.0)
    return float(below / (len(independent) * len(dependent)))


def area_error(found: float, positives: int, negatives: int) -> float:
    """Its standard error (Hanley and McNeil 1982)."""
    one, two = found / (2.0 - found), 2.0 * found**2 / (1.0 + found)
    spread = (positives - 1.0) * (one - found**2) + (negatives - 1.0) * (two - found**2)
    return float(np.sqrt((found * (1.0 - found) + spread) / (positives * negatives)))


def figures(rows: pd.DataFrame) -> dict[str, float]:
    """Type I error, power, F1 and the area under the ROC curve, with standard errors, of rows with `depends`."""
    dependent, independent = (rows.estimate[rows.depends == kind].to_numpy() for kind in (1, 0))
    level, power = float(np.mean(independent <= LEVEL)), float(np.mean(dependent <= LEVEL))
    right, wrong, missed = power * len(dependent), level * len(independent), (1.0 - power) * len(dependent)
    found = area(dependent, independent)
    return {
        "datasets": len(rows),
        "type I": level,
        "power": power,
        "F1": 2.0 * right / max(2.0 * right + wrong + missed, 1.0),
        "AUC": found,
        "its error": area_error(found, len(dependent), len(independent)),
    }

"""Other people's tests of conditional independence on columns of any kind, for mixed_level.py; all are optional.

tigramite's RegressionCI (linear and logistic regressions), pgmpy's Pillai trace (random forests), both with their
defaults, and a chi-squared test of bins. A package that is not installed gives "not run". The group `peers` of
pyproject.toml has them.
"""

import one_thread  # noqa: F401

# isort: split

import warnings

import numpy as np
import pandas as pd
from scipy.stats import chi2

from mixed_tasks import Column, MixedData

BINS = 4


def columns_of(z: Column | dict[str, Column] | None) -> list[Column]:
    if z is None:
        return []
    if isinstance(z, dict):
        return list(z.values())
    return list(z.T) if z.ndim == 2 else [z]


def is_label(column: Column) -> bool:
    return column.dtype.kind in "bU"


def regression(data: MixedData) -> float:
    """RegressionCI's p-value; labels are discrete to it, counts continuous."""
    from tigramite.independence_tests.regressionCI import RegressionCI

    parts = [[data.x], [data.y], columns_of(data.z) or [np.zeros(len(data.x))]]
    numbers = [np.column_stack([_codes(c) if is_label(c) else c.astype(float) for c in part]) for part in parts]
    kinds = [np.column_stack([np.full(len(c), int(is_label(c))) for c in part]) for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = RegressionCI(significance="analytic")
        return float(test.run_test_raw(*numbers, *kinds)[1])


def pillai(data: MixedData) -> float:
    """The p-value of pgmpy's test; labels are categories to it."""
    from pgmpy.ci_tests import PillaiTrace

    parts = {"x": data.x, "y": data.y, **{f"z{i}": c for i, c in enumerate(columns_of(data.z))}}
    frame = pd.DataFrame(
        {n: pd.Categorical(c.astype(str)) if is_label(c) else c.astype(float) for n, c in parts.items()}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = PillaiTrace(frame)
        test("x", "y", [name for name in frame if name.startswith("z")])
        return float(test.p_value_)


def binned(data: MixedData) -> float:
    """Pearson's statistics of x and y within cells of z, in at most so many bins a column, summed."""
    cells = np.zeros(len(data.x), dtype=int)
    for part in columns_of(data.z):
        cells = np.unique(cells * 10 * BINS + _bins(part), return_inverse=True)[1]
    x, y = _bins(data.x), _bins(data.y)
    counts = np.zeros((cells.max() + 1, x.max() + 1, y.max() + 1))
    np.add.at(counts, (cells, x, y), 1.0)
    of_x, of_y, total = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    expected = of_x[:, :, None] * of_y[:, None, :] / total[:, None, None]
    is_there = expected > 0.0
    statistic = ((counts - expected)[is_there] ** 2 / expected[is_there]).sum()
    freedom = (((of_x > 0).sum(axis=1) - 1) * ((of_y > 0).sum(axis=1) - 1)).sum()
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def _codes(column: Column) -> np.ndarray:
    return np.unique(column, return_inverse=True)[1]


def _bins(column: Column) -> np.ndarray:
    codes = _codes(column)
    return (
        codes if is_label(column) or codes.max() < 2 * BINS else pd.qcut(column, BINS, labels=False, duplicates="drop")
    )
